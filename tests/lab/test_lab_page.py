"""The page of the lab: its size, its policy, and what a browser does with it."""

from __future__ import annotations

import numpy as np
import pytest

from separable import LDA
from separable.datasets import PENGUINS, load
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
        ({"columns": ["bill_length_mm"] * 9}, f"at most {MAX_COLUMNS} columns"),
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
        page.wait_for_url("**at=35")


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
        separable = "Linearly separable, with products up to degree 2 (exact)"
        assert page.inner_text("#badge") == separable


@pytest.mark.slow
def test_rows_are_edited_with_keys(opened):
    with opened(lab(), "#example=or") as page:
        page.focus("#plane")
        page.keyboard.press("n")
        assert page.inner_text("#selected").startswith("Chosen: row 0, x1 0, x2 0, y = \u22121")
        page.keyboard.press("f")
        assert "y = 1" in page.inner_text("#selected")
        page.keyboard.press("Shift+ArrowRight")
        assert "x1 0," not in page.inner_text("#selected")
        page.keyboard.press("a")
        assert page.inner_text("#selected").startswith("Chosen: row 4, x1 0.5, x2 0.5")
        page.keyboard.press("p")
        page.keyboard.press("Delete")
        assert "of 4 rows wrong" in page.inner_text("#now")
        assert page.is_visible("#shared")
        page.keyboard.press("r")
        assert "load(" in page.inner_text("#python")


@pytest.mark.slow
def test_the_plane_of_one_column(opened):
    with opened(lab(), "#example=normals&learner=lda") as page:
        X, y, _ = load("normals")
        fitted = LDA().fit(X, y)
        weights = f"({fitted.intercept_[0]:.4g}, {fitted.coef_[0, 0]:.4g})"
        assert f"(b, w) = {weights}. 5 of 40 rows wrong." in page.inner_text("#now")
        green = colours(page, "#plane")
        assert green > 50  # the true boundary
        box = page.locator("#plane").bounding_box()
        page.mouse.click(box["x"] + 0.1 * box["width"], box["y"] + 0.1 * box["height"])
        assert "of 41 rows wrong" in page.inner_text("#now")
        assert colours(page, "#plane") == 0  # the truth of changed rows is not known
        for learner in ("perceptron", "voted", "sgd", "svm", "least_squares"):
            page.select_option("#learner", learner)
            page.select_option("#degree", "2")
            page.evaluate("document.getElementById('epoch').click()")
            assert page.inner_text("#now")


def colours(page, canvas):
    """Return how many pixels of a canvas have the colour of the truth and of proofs."""
    return page.evaluate(
        "(id) => { const c = document.querySelector(id); "
        "const copy = new OffscreenCanvas(c.width, c.height).getContext('2d', "
        "{ willReadFrequently: true }); copy.drawImage(c, 0, 0); "
        "const p = copy.getImageData(0, 0, c.width, c.height).data; let n = 0;"
        "for (let i = 0; i < p.length; i += 4) "
        "n += p[i] < 30 && Math.abs(p[i + 1] - 122) < 12 && Math.abs(p[i + 2] - 87) < 12; "
        "return n; }",
        canvas,
    )


@pytest.mark.slow
def test_columns_of_a_dropped_file_are_chosen(opened, tmp_path):
    rows = "".join(f"{i},{i % 7},{(i * i) % 11},{'uvw'[i % 3]}\n" for i in range(40))
    (tmp_path / "own.csv").write_text("id,a,b,kind\n" + rows)
    with opened(lab()) as page:
        page.set_input_files("#file", tmp_path / "own.csv")
        page.wait_for_selector("#choice:not([hidden])")
        assert page.input_value("#example") == "file"
        page.uncheck("#columns label:nth-child(1) input")
        page.check("#columns label:nth-child(3) input")
        page.select_option("#negative", "w")
        assert "w (\u22121)" in page.inner_text("#names")
        assert page.inner_text("#now").endswith("of 40 rows wrong.")
        page.uncheck("#columns label:nth-child(2) input")
        page.uncheck("#columns label:nth-child(3) input")
        assert "at least one column" in page.inner_text("#message")
        page.select_option("#example", "and")
        assert not page.is_visible("#choice")


@pytest.mark.slow
def test_standardized_units_bring_the_boundary_into_the_picture(opened):
    with opened(lab(), "#example=penguins&learner=perceptron&at=160") as page:
        assert "outside of the picture; with standardized units" in page.inner_text("#names")
        page.select_option("#units", "standard")
        page.click("#epoch")
        assert "outside" not in page.inner_text("#names")
        assert "0 of 274 rows wrong" in page.inner_text("#now")


@pytest.mark.slow
def test_a_right_row_that_changes_the_weights_is_marked_right(opened):
    with opened(lab(), "#example=clouds&learner=sgd&loss=log_loss&eta=0.1&at=60") as page:
        assert page.inner_text("#log tr:first-child td:nth-child(6)") == "\u2713"
        assert page.get_attribute("#log tr:first-child", "class") == "changed"


@pytest.mark.slow
def test_the_page_stays_usable_while_it_decides(opened):
    rng = np.random.default_rng(1)
    table = {f"x{j}": rng.normal(size=300).tolist() for j in range(8)}
    table["kind"] = rng.permutation(np.arange(300) % 2).astype(str).tolist()
    page_text = lab(table, "kind", columns=[f"x{j}" for j in range(8)])
    with opened(page_text, "#example=file&degree=2") as page:
        assert page.inner_text("#badge") == "Deciding \u2026"
        page.click("#step")
        assert page.inner_text("#now").startswith("Step 1 of")
        page.wait_for_selector("#badge:text('Not')", timeout=25_000)
        assert page.inner_text("#badge").startswith(("Not decided here", "Not linearly separable"))


@pytest.mark.slow
@pytest.mark.parametrize("settings", ["", "learner=voted&at=900", "degree=2", "learner=sgd"])
def test_a_step_at_1000_rows_is_painted_in_16_ms(opened, settings):
    rng = np.random.default_rng(0)
    y = np.arange(1000) % 2
    X = rng.normal(size=(1000, 2)) + 2 * y[:, None]
    table = {"a": X[:, 0].tolist(), "b": X[:, 1].tolist(), "kind": y.astype(str).tolist()}
    step = (
        "() => { const t = performance.now(); document.getElementById('step').click();"
        "for (const c of document.querySelectorAll('canvas:not([hidden])')) { "
        "const copy = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true }); "
        "copy.drawImage(c, 0, 0); copy.getImageData(0, 0, 1, 1); } return performance.now() - t; }"
    )
    with opened(lab(table, "kind"), f"#example=file&eta=0.1&{settings}") as page:
        page.wait_for_selector("#badge.no")
        assert min(page.evaluate(step) for _ in range(30)) < 16


@pytest.mark.slow
@pytest.mark.every_case
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_learner_fits_every_screen(opened, width, scheme):
    with opened(lab(), width=width, color_scheme=scheme) as page:
        for example in ("penguins", "words", "ring", "normals"):
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
