"""The page of the lab: its size, its policy, and what a browser does with it."""

from __future__ import annotations

import pytest

from separable.datasets import PENGUINS
from separable.lab import lab
from separable.lab.data import MAX_COLUMNS

EVIL = "</script><img src=x onerror=document.title='run'><script>document.title='run'</script>"
WIDTHS = (375, 1280, 1920)


@pytest.fixture(scope="module")
def evil_page():
    rows = {EVIL: [1.0, 3, 4], "b": [2, 5, 4], "kind": ["x", EVIL, "x"]}
    return lab(rows, "kind")


def test_the_page_is_small_closed_and_escaped(evil_page):
    assert len(evil_page.encode()) < 1_500_000
    assert evil_page.count("<script") == evil_page.count("</script") == 2
    assert "default-src 'none'" in evil_page
    assert "connect-src 'none'" in evil_page
    assert "http://" not in evil_page
    assert "https://" not in evil_page


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"columns": ["sex", "bill_length_mm"]}, "'sex' has no numbers"),
        ({"columns": ["bill_length_mm"]}, f"from 2 to {MAX_COLUMNS} columns"),
        ({"columns": ["species", "bill_length_mm"]}, "cannot be a feature"),
        ({"columns": ["bill", "bill_length_mm"]}, "has no column 'bill'"),
    ],
)
def test_wrong_columns(options, message):
    with pytest.raises(ValueError, match=message):
        lab(PENGUINS, "species", **options)
    with pytest.raises(ValueError, match="both data and target"):
        lab(PENGUINS)


@pytest.mark.slow
def test_a_link_opens_a_moment(opened):
    with opened(lab(), "#example=and&learner=perceptron&eta=1&epochs=30&at=36") as page:
        assert page.inner_text("#badge") == "Linearly separable (exact)"
        now = page.inner_text("#now")
        assert "Step 36 of 36, 18 updates. (b, w) = (\u22124, 3, 2). 0 of 4 rows wrong." in now
        assert "at most 87 mistakes: 69 left" in now
        page.click("#back")
        assert "at=35" in page.evaluate("location.hash")


@pytest.mark.slow
def test_buttons_keys_and_the_mouse(opened):
    with opened(lab(), "#example=and") as page:
        page.click("#step")
        page.focus("#plane")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("e")
        assert page.inner_text("#now").startswith("Step 4 of 36")
        assert page.locator("#log tr").count() == 4
        box = page.locator("#plane").bounding_box()
        page.mouse.click(box["x"] + 0.5 * box["width"], box["y"] + 0.9 * box["height"])
        assert "of 5 rows wrong" in page.inner_text("#now")
        assert "load(" not in page.inner_text("#python")
        page.click("#reset")
        assert "of 4 rows wrong" in page.inner_text("#now")


@pytest.mark.slow
def test_xor_becomes_separable_with_products(opened):
    with opened(lab(), "#example=xor") as page:
        assert page.inner_text("#badge") == "Not linearly separable (exact)"
        assert "1·(row 0) + 1·(row 3) = 1·(row 1) + 1·(row 2)" in page.inner_text("#proofText")
        page.click("#quadratic")
        assert page.inner_text("#badge") == "Linearly separable (exact)"


@pytest.mark.slow
@pytest.mark.every_case
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_learner_fits_every_screen(opened, width, scheme):
    with opened(lab(), width=width, color_scheme=scheme) as page:
        for example in ("penguins", "words", "ring"):
            page.select_option("#example", example)
            for learner in page.locator("#learner option").all():
                page.select_option("#learner", learner.get_attribute("value"))
                page.evaluate("document.getElementById('epoch').click()")
                assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
                assert page.inner_text("#now")


@pytest.mark.slow
def test_nothing_of_a_hostile_file_runs(opened, evil_page, tmp_path):
    with opened(evil_page) as page:
        assert page.title() == "Linear models, step by step"
        assert page.locator("img").count() == 0
        file = tmp_path / "evil.csv"
        file.write_text(f'"{EVIL}",b,kind\n1,2,x\n3,5,"{EVIL}"\n4,4,x\n7,7.5,x\n')
        page.set_input_files("#file", file)
        page.wait_for_function("document.getElementById('now').textContent.includes('of 4 rows')")
        assert page.title() == "Linear models, step by step"
        assert page.locator("img").count() == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "message"),
    [("a,b,c\n" + "1,2,u\n" * 1_000_000, "larger than 2 MB"), ("a\n1\n", "no rows")],
    ids=["a million rows", "one row"],
)
def test_files_that_cannot_be_shown_leave_the_page_as_it_was(opened, tmp_path, text, message):
    (tmp_path / "bad.csv").write_text(text)
    with opened(lab()) as page:
        before = page.inner_text("#now")
        page.set_input_files("#file", tmp_path / "bad.csv")
        page.wait_for_selector("#message:not(:empty)")
        assert message in page.inner_text("#message")
        assert page.inner_text("#now") == before
