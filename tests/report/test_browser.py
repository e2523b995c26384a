from __future__ import annotations

import csv
from contextlib import contextmanager

import numpy as np
import pytest

from separable.cli.app import run
from separable.report.page.page import render
from tests.report import specimens

#: A phone, and a desk.
WIDTHS = (375, 1280)


@pytest.fixture
def opened(browser, tmp_path):
    """Return a function that opens a page; whatever it asks for or says fails the test."""

    @contextmanager
    def opening(text, width=1280, **options):
        file = tmp_path / "report.html"
        if text is not None:
            file.write_text(text, encoding="utf-8")
        context = browser.new_context(
            offline=True, viewport={"width": width, "height": 800}, **options
        )
        page = context.new_page()
        said = []
        page.on("console", lambda message: said.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: said.append(f"error: {error}"))
        page.on("dialog", lambda dialog: (said.append("dialog"), dialog.dismiss()))
        page.on("request", lambda request: said.append(f"request: {request.url[:100]}"))
        page.goto(file.as_uri())
        assert said.pop(0) == f"request: {file.as_uri()[:100]}"
        if page.locator(".plot").count():
            page.wait_for_selector("body[data-drawn]", timeout=30_000)
        yield page
        context.close()
        assert said == []

    return opening


def check_charts(page):
    """Every place of a chart has one, with something drawn in it."""
    places = page.locator(".plot").count()
    assert places > 0
    assert page.locator(".plot[data-drawn] > svg, .plot[data-drawn] svg.marks").count() >= places
    for k in range(places):
        marks = page.locator(".plot").nth(k).locator("svg .role-mark :is(path, line, text)")
        assert marks.count() > 0


def fits(page):
    return page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("width", WIDTHS)
def test_hostile_contents_are_shown_and_not_run(opened, width):
    with opened(render(specimens.hostile()), width) as page:
        check_charts(page)
        assert page.title().startswith("Predicting </script>")
        assert page.locator("img, iframe, object, embed, link").count() == 0
        assert specimens.IMAGE in page.locator("#data").inner_text()
        assert fits(page)
        for each in page.locator("details").all():
            each.evaluate("each => each.open = true")
        assert fits(page)


def hostile_file(path):
    """Write rows whose names, classes and cells try to be more than text."""
    rng = np.random.default_rng(0)
    texts = [*specimens.HOSTILE[:6], specimens.LONG]
    names = [specimens.SCRIPT, "a.b[0]", "c:Q", specimens.RIGHT_TO_LEFT, "constructor", "y\"'<"]
    classes = (specimens.IMAGE, "__proto__", specimens.RIGHT_TO_LEFT)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        for k in range(150):
            a, b = rng.normal(size=2) + k % 3
            writer.writerow(
                [texts[k % 7], f"{a:.3f}", f"{b:.3f}", texts[k % 5], k % 4, classes[k % 3]]
            )
    return names[-1]


def test_a_model_trained_on_hostile_cells_has_a_page_that_runs_none(opened, tmp_path):
    target = hostile_file(tmp_path / "<b>rows.csv")
    options = ["--target", target, "--model", "logistic-regression"]
    paths = ["-o", tmp_path / "m.model", "--report", tmp_path / "report.html"]
    assert run(["train", str(tmp_path / "<b>rows.csv"), *options, *map(str, paths)]) == 0
    with opened(None) as page:
        check_charts(page)
        assert page.title() == f"Predicting {target}"
        assert fits(page)
        assert page.locator("#what-if input").count() >= 2
        assert page.locator(".plot svg text", has_text="a.b[0]").count() > 0
        assert page.locator(".plot svg text", has_text="c:Q").count() > 0


@pytest.mark.parametrize("kind", ["penguins", "reviews", "diabetes", "nothing"])
def test_a_page_fits_a_phone(opened, kind):
    with opened(render(getattr(specimens, kind)()), 375) as page:
        if kind != "nothing":
            check_charts(page)
        assert fits(page)


def test_charts_show_names_and_numbers(opened):
    given = specimens.penguins()
    figures = given.measured.figures
    names = {each.label for each in figures.classes}
    with opened(render(given)) as page:
        matrix = texts_of(page, "confusion")
        assert names <= set(matrix)
        assert sorted(str(n) for n in figures.confusion.flat) == sorted(
            text for text in matrix if text.isdigit()
        )
        assert names <= set(texts_of(page, "target"))
        assert {"LogisticRegressionCV", "LinearSVM", "Perceptron"} <= set(
            texts_of(page, "learners")
        )
        for k, label in enumerate(sorted(names)):
            best = given.model.top_weights(1).groups[2 * k].weights[0][0]
            assert best[:10] in " ".join(texts_of(page, f"weights-{k}")), label
        assert "null" not in page.locator("main").inner_text()
        point = page.locator("#chart-roc svg .mark-symbol path").first
        point.scroll_into_view_if_needed()
        point.hover(force=True)
        assert any(name in page.locator(".tip").inner_text() for name in names)


def texts_of(page, key):
    """Return what is written in a chart, without the marks around names."""
    found = page.locator(f"#chart-{key} svg text").all_text_contents()
    return [text.strip("\u2068\u2069") for text in found]


def test_pointing_at_a_chart_tells_its_values_as_text(opened):
    given = specimens.hostile()
    label = given.data.target_counts[0][0]
    with opened(render(given)) as page:
        bar = page.locator("#chart-target svg .mark-rect path").first
        bar.scroll_into_view_if_needed()
        bar.hover()
        tip = page.locator(".tip")
        assert tip.is_visible()
        assert label[:8] in tip.inner_text()
        assert "rows" in tip.inner_text()
        page.mouse.move(1, 1)
        assert tip.is_hidden()


def test_a_script_from_elsewhere_does_not_run(opened):
    text = render(specimens.nothing()).replace(
        "</main>", "<script>document.title = 'owned'</script></main>"
    )
    with pytest.raises(AssertionError, match="Content Security Policy"), opened(text) as page:
        assert page.title() == "Predicting y"


def test_a_keyboard_reaches_all_and_a_reader_finds_names(opened):
    with opened(render(specimens.penguins())) as page:
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.textContent") == "Skip to the report"
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "main"
        details = page.locator("#figure-confusion details")
        details.locator("summary").focus()
        page.keyboard.press("Enter")
        assert details.evaluate("each => each.open")
        assert details.locator("table").is_visible()
        assert page.locator("h1").count() == 1
        unnamed = page.evaluate(
            """[...document.querySelectorAll('input, select, textarea, [role=img], nav, figure')]
               .filter(each => !each.labels?.length && !each.ariaLabel
                 && !each.hasAttribute('aria-labelledby')).length"""
        )
        assert unnamed == 0


def test_wide_tables_can_be_scrolled_with_the_keyboard(opened):
    with opened(render(specimens.many_classes(14)), 375) as page:
        page.locator("#good details").evaluate("each => each.open = true")
        table = page.locator("#good details .scroll")
        page.wait_for_selector("#good details .scroll[tabindex='0'][role='region']")
        table.focus()
        page.keyboard.press("ArrowRight")
        for _ in range(100):  # scrolling is smooth
            if table.evaluate("each => each.scrollLeft") > 0:
                break
            page.wait_for_timeout(30)
        assert table.evaluate("each => each.scrollLeft") > 0
        page.set_viewport_size({"width": 1280, "height": 800})
        page.wait_for_selector("#good details .scroll:not([tabindex])")


def test_the_dark_changes_colours_and_paper_does_not(opened):
    text = render(specimens.penguins())
    seen = []
    for scheme in ("light", "dark"):
        with opened(text, color_scheme=scheme) as page:
            seen.append(page.evaluate("getComputedStyle(document.body).backgroundColor"))
            page.emulate_media(media="print")
            paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
            assert paper == "rgb(255, 255, 255)"
    assert seen[0] == "rgb(255, 255, 255)"
    assert seen[1] != seen[0]


def test_paper_shows_classes_and_columns_and_no_navigation(opened):
    with opened(render(specimens.many_classes(14))) as page:
        assert not page.locator("#good details table").is_visible()
        page.emulate_media(media="print")
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert page.locator("#good details table").is_visible()
        assert page.locator("nav").is_hidden()
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        assert not page.locator("#good details").evaluate("each => each.open")
