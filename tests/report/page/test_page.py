from __future__ import annotations

import base64
import hashlib
import json
import re
import zlib
from dataclasses import replace
from html.parser import HTMLParser

import altair as alt
import numpy as np
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score
from statsmodels.stats.proportion import proportion_confint

from separable import LinearModel, VotedPerceptron
from separable.errors import Absent
from separable.model.metrics.metric_case import case_of
from separable.plot.displays.ranking_curves import ranked
from separable.report.charts.chart import thinned
from separable.report.charts.classification_charts import roc
from separable.report.page import page
from separable.report.page.page import LARGEST, render
from separable.report.page.wording import (
    MINUS,
    NONE,
    as_percent,
    clean,
    distinct,
    number,
    plural,
    shortened,
)
from tests.report import specimens

KINDS = {
    "penguins": specimens.penguins,
    "reviews": specimens.reviews,
    "diabetes": specimens.diabetes,
    "curved": specimens.curved,
    "many_rows": lambda: specimens.diabetes(20_000),
    "many_classes": lambda: specimens.many_classes(14),
    "too_many_classes": lambda: specimens.many_classes(40),
    "nothing": specimens.nothing,
    "hostile": specimens.hostile,
}
PAGES: dict[str, str] = {}
PARSED: dict[str, Parsed] = {}

#: Elements that a page is made of.
TAGS = {
    *("html", "head", "meta", "title", "style", "script", "noscript", "body", "header", "nav"),
    *("main", "footer", "section", "article", "div", "span", "p", "a", "h1", "h2", "h3", "h4"),
    *("ol", "ul", "li", "dl", "dt", "dd", "figure", "figcaption", "details", "summary", "pre"),
    *("table", "caption", "thead", "tbody", "tr", "th", "td", "code", "mark", "bdi", "strong"),
    *("svg", "rect", "circle", "line", "path"),
}


class Parsed(HTMLParser):
    """Elements with their attributes, and the text in each element."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self.words: list[str] = []
        self.inside = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self.inside = tag
        if tag == "script":
            self.scripts.append((dict(attrs), ""))

    def handle_endtag(self, tag):
        self.inside = ""

    def handle_data(self, data):
        if self.inside == "script":
            attributes, text = self.scripts[-1]
            self.scripts[-1] = (attributes, text + data)
        elif self.inside != "style":
            self.words.append(data)

    @property
    def text(self):
        return re.sub("[ \n]+", " ", " ".join(self.words))

    @property
    def ids(self):
        return [attributes["id"] for _, attributes in self.elements if "id" in attributes]

    def data(self, name):
        return json.loads(self.script(name))

    def script(self, name):
        (text,) = (text for attributes, text in self.scripts if attributes.get("id") == name)
        return text

    def unpacked(self, name):
        return zlib.decompress(base64.b64decode(self.script(name))).decode()


def page_of(kind):
    if kind not in PAGES:
        PAGES[kind] = render(KINDS[kind]())
    return PAGES[kind]


def parsed(kind):
    if kind not in PARSED:
        PARSED[kind] = Parsed(page_of(kind))
    return PARSED[kind]


@pytest.fixture(scope="module", autouse=True)
def _forgetting():
    yield
    PAGES.clear()
    PARSED.clear()


every_kind = pytest.mark.parametrize("kind", KINDS)


@every_kind
def test_a_page_is_made_of_known_parts_and_asks_for_nothing(kind):
    text = page_of(kind)
    assert len(text.encode()) <= LARGEST
    assert text.startswith("<!doctype html>")
    found = parsed(kind)
    assert {tag for tag, _ in found.elements} <= TAGS
    for tag, attributes in found.elements:
        assert not [name for name in attributes if name.startswith("on")], tag
        assert "src" not in attributes
        if "href" in attributes:
            assert attributes["href"].startswith("#")


@every_kind
def test_the_policy_allows_the_scripts_of_the_page_alone(kind):
    found = parsed(kind)
    (policy,) = (
        attributes["content"]
        for tag, attributes in found.elements
        if attributes.get("http-equiv") == "Content-Security-Policy"
    )
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    run = [text for attributes, text in found.scripts if attributes.get("type") is None]
    run += [found.unpacked(name) for name in ("library", "what-if-script") if name in found.ids]
    hashes = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in run]
    assert rules["script-src"].split() == [f"'sha256-{each}'" for each in hashes]
    assert rules["default-src"] == rules["connect-src"] == rules["base-uri"] == "'none'"
    assert rules["form-action"] == "'none'"
    assert "unsafe-eval" not in policy
    for attributes, text in found.scripts:
        if attributes.get("type") is not None:
            assert attributes["type"] in ("application/json", "text/plain")
            assert not set("<>&") & set(text)


@every_kind
def test_charts_are_valid_and_have_a_place_a_label_and_safe_fields(kind):
    found = parsed(kind)
    specs = found.data("charts")
    assert len(found.ids) == len(set(found.ids))
    plots = [each for _, each in found.elements if each.get("class") == "plot"]
    assert [each["id"] for each in plots] == [f"chart-{key}" for key in _in_order(specs, plots)]
    assert len(plots) == len(specs)
    for each in plots:
        assert each["role"] == "img"
        assert each["aria-label"].startswith("Chart: ")
    for spec in specs.values():
        kind_of = alt.LayerChart if "layer" in spec else alt.Chart
        kind_of.from_dict(_with_few_rows(spec), validate=True)
        assert spec["width"] == "container"
        fields = set(_found(spec, "field"))
        assert fields
        assert all(re.fullmatch("[a-z]", field) for field in fields)


def _with_few_rows(spec):
    """Return a chart without most of its data: the schema has little to say about these."""
    return {**spec, "datasets": {name: rows[:2] for name, rows in spec["datasets"].items()}}


def _in_order(specs, plots):
    order = [each["id"].removeprefix("chart-") for each in plots]
    assert set(order) == set(specs)
    return order


def _found(value, name):
    """Return what stands under a name, anywhere but in data."""
    if isinstance(value, list):
        return [each for part in value for each in _found(part, name)]
    if not isinstance(value, dict):
        return []
    here = [value[name]] if isinstance(value.get(name), str) else []
    parts = [part for key, part in value.items() if key not in ("data", "datasets")]
    return here + _found(parts, name)


@every_kind
def test_links_lead_to_places_of_the_page(kind):
    found = parsed(kind)
    ids = set(found.ids)
    for _, attributes in found.elements:
        if "href" in attributes:
            assert attributes["href"][1:] in ids
        for name in ("aria-labelledby", "aria-describedby"):
            assert attributes.get(name) is None or attributes[name] in ids


def test_the_same_contents_give_the_same_bytes():
    assert render(specimens.penguins()) == page_of("penguins")


def test_hostile_text_is_shown_and_nothing_else():
    found = parsed("hostile")
    for text in (specimens.SCRIPT, specimens.IMAGE, specimens.EXPRESSION, specimens.QUOTES):
        assert text in found.text
    assert "\ud800" not in page_of("hostile")
    assert "\x00" not in page_of("hostile")
    assert "\u202e" not in page_of("hostile")
    assert len(found.scripts) == 5  # charts, library, the form's data and script, the page's own
    assert found.script("charts").isascii()


def test_a_page_stays_small_whatever_it_says():
    text = render(specimens.largest())
    assert len(text.encode()) <= LARGEST


def test_long_cells_are_shortened():
    assert max(map(len, parsed("hostile").words)) <= 2 * 1500


def test_the_headline_is_the_figure_with_its_interval_beside_the_constant():
    contents = specimens.reviews()
    figures = contents.measured.figures
    low, high = proportion_confint(figures.correct, figures.rows, 0.05, "wilson")
    text = parsed("reviews").text
    assert f"{as_percent(figures.figures['accuracy'])} accuracy on {figures.rows} rows" in text
    assert f"interval: {as_percent(low)} to {as_percent(high)}" in text
    share = max(np.mean(contents.measured.y_true == label) for label in ("negative", "positive"))
    assert f"{as_percent(share)} accuracy of always predicting positive" in text
    fewer = 1 - (1 - figures.figures["accuracy"]) / (1 - share)
    assert f"The model makes {as_percent(fewer, 0)} fewer mistakes than the constant." in text


def test_weighted_rows_have_the_interval_of_their_mean():
    given = specimens.reviews()
    weight = np.linspace(0.1, 3.0, len(given.measured.y_true))
    measured = specimens.measured_of(given.measured.predictions, given.measured.y_true, weight)
    right = measured.predictions.predicted == measured.y_true
    mean = np.average(right, weights=weight)
    error = np.sqrt(np.sum((weight / weight.sum()) ** 2 * (right - mean) ** 2))
    text = Parsed(render(replace(given, measured=measured))).text
    ends = (as_percent(mean - 1.959964 * error), as_percent(mean + 1.959964 * error))
    assert "interval: {} to {}".format(*ends) in text


def test_a_model_that_is_not_better_is_said_not_to_be():
    given = specimens.reviews()
    truth = np.where(np.arange(len(given.measured.y_true)) % 2, "positive", "negative")
    text = Parsed(render(replace(given, measured=_with_truth(given, truth)))).text
    assert "not clearly better" in text
    flipped = np.where(given.measured.predictions.predicted == "positive", "negative", "positive")
    text = Parsed(render(replace(given, measured=_with_truth(given, flipped)))).text
    assert "worse than the constant prediction" in text


def _with_truth(given, truth):
    return specimens.measured_of(given.measured.predictions, truth)


def test_regression_tells_the_mean_distance():
    contents = specimens.diabetes()
    measured = contents.measured
    off = np.abs(measured.predictions.predicted - measured.y_true)
    always = np.abs(measured.y_true - measured.y_true.mean()).mean()
    text = parsed("diabetes").text
    assert f"{number(off.mean(), 3)} mean absolute error of the predictions of progression" in text
    assert f"{number(always, 3)} mean absolute error of always predicting" in text
    assert "Residuals" in text
    assert "Misclassifications" not in text


def test_errors_that_are_rounding_are_none():
    given = specimens.diabetes()
    truth = given.measured.predictions.predicted * (1 + 1e-15)
    found = Parsed(render(replace(given, measured=_with_truth(given, truth))))
    assert "0 mean absolute error of the predictions of progression" in found.text
    assert "The model makes no error on these rows." in found.text
    assert ".3~g" in _found(found.data("charts")["residuals"], "format")
    assert ".3~g" not in _found(found.data("charts")["predicted"], "format")


def test_curves_have_the_areas_of_scikit_learn():
    measured = specimens.reviews().measured
    truth, scores = measured.y_true == "positive", measured.predictions.scores
    text = parsed("reviews").text
    assert f"(AUC): {roc_auc_score(truth, scores):.3f}; chance is 0.5" in text
    assert f"Average precision: {average_precision_score(truth, scores):.3f}." in text


def test_a_thinned_curve_looks_the_same():
    rng = np.random.default_rng(0)
    x = np.sort(rng.random(200_000))
    y = np.clip(x + rng.normal(0, 0.1, len(x)), 0, 1)
    kept = thinned(x, y, 100)
    assert len(kept) <= 400
    columns = np.minimum((100 * (x - x[0]) / (x[-1] - x[0])).astype(int), 99)
    for column in range(100):
        whole, part = y[columns == column], y[kept][columns[kept] == column]
        assert (whole.min(), whole.max()) == (part.min(), part.max())
        assert (whole[0], whole[-1]) == (part[0], part[-1])
    assert thinned(x[:50], y[:50]).tolist() == list(range(50))


def test_curves_of_many_rows_stay_close_to_all_points():
    rng = np.random.default_rng(1)
    classes = np.array(["a", "b"])
    code = rng.integers(0, 2, 30_000)
    scores = rng.normal(code, 1.0)
    predictions = specimens.Predictions(classes[(scores > 0).astype(int)], scores, None, classes)
    case = case_of(classes[code], predictions)
    (points,) = (rows for rows in roc(case).spec["datasets"].values() if len(rows) > 2)
    assert len(points) < 600
    _, ours, others = ranked(case, 1)
    x, y = np.array([(point["x"], point["y"]) for point in points]).T
    away = np.interp(others / others[-1], x, y) - ours / ours[-1]
    assert np.abs(away).max() < 0.01


def test_absent_parts_say_why():
    contents = specimens.nothing()
    text = parsed("nothing").text
    for name in (
        "measured",
        "tried",
        "learning_curve",
        "regularization",
        "separability",
        "hard_rows",
    ):
        assert getattr(contents, name).reason in text
    assert contents.certificate.reason in text
    assert "library" not in parsed("nothing").ids  # no chart, no library


def test_many_classes_have_a_matrix_or_the_most_common_mistakes():
    few, many = parsed("many_classes"), parsed("too_many_classes")
    assert "confusion" in few.data("charts")
    assert "confusion" not in many.data("charts")
    matrix = specimens.many_classes(40).measured.figures.confusion
    wrong = matrix - np.diag(np.diag(matrix))
    i, j = np.unravel_index(wrong.argmax(), wrong.shape)
    assert f"class {i:03d} class {j:03d} {wrong[i, j]}" in many.text


def test_rows_of_one_class_have_no_curves_and_a_reason():
    given = specimens.reviews()
    predictions = given.measured.predictions
    some = given.measured.y_true == "positive"
    part = specimens.Predictions(
        predictions.predicted[some],
        predictions.scores[some],
        predictions.probabilities[some],
        predictions.classes,
    )
    measured = specimens.measured_of(part, given.measured.y_true[some])
    found = Parsed(render(replace(given, measured=measured)))
    assert "A curve needs rows of that class and of another" in found.text
    assert not {"roc", "precision-recall", "calibration"} & set(found.data("charts"))


def test_figures_without_rows_have_no_curves_but_the_matrix():
    given = specimens.reviews()
    none = specimens.Predictions(np.empty(0), None, None, given.measured.predictions.classes)
    measured = replace(given.measured, y_true=np.empty(0), predictions=none)
    found = Parsed(render(replace(given, measured=measured)))
    assert "confusion" in found.data("charts")
    assert "roc" not in found.data("charts")
    assert "only the metrics are known here" in found.text


def test_marks_of_words_do_not_hang_on_colour():
    found = parsed("reviews")
    marks = [attributes for tag, attributes in found.elements if tag == "mark"]
    assert marks
    for each in marks:
        sign = "+" if "up" in each["class"].split() else MINUS
        assert each["title"].startswith(sign)


def test_a_form_that_does_not_fit_is_left_out(monkeypatch):
    given = specimens.reviews()
    whole = len(page_of("reviews").encode())
    assert '<div id="what-if">' in page_of("reviews")
    monkeypatch.setattr(page, "LARGEST", whole - 1)
    smaller = render(given)
    assert len(smaller.encode()) < whole
    assert page.TOO_LARGE in Parsed(smaller).text


def test_a_title_is_taken_from_the_call_then_from_the_contents():
    given = specimens.nothing()
    assert "<h1>Predicting y</h1>" in render(given)
    named = replace(given, title="Named <b>")
    assert "<h1>Named &lt;b&gt;</h1>" in render(named)
    assert "<title>Other</title>" in render(named, title="Other")


def test_a_model_without_weights_says_so():
    model = LinearModel([[0.0]], [1.0], ["no", "yes"], "score")
    text = Parsed(render(replace(specimens.nothing(), model=model))).text
    assert "All weights of 1 feature are 0." in text


def test_many_classes_draw_the_weights_of_the_most_common_and_list_all():
    given = specimens.many_classes(14)
    found = parsed("many_classes")
    common = {label for label, _ in given.data.target_counts[:6]}
    drawn = {key for key in found.data("charts") if key.startswith("weights-")}
    assert drawn == {f"weights-{int(label.split()[1])}" for label in common}
    for k, label in enumerate(given.model.classes):
        best = int(given.model.weights[k].argmax())
        assert f"{label} pixel {best} {number(given.model.weights[k].max(), 3)}" in found.text


def test_a_voted_model_says_that_its_weights_vote():
    X, y = np.eye(4), [0, 0, 1, 1]
    given = replace(specimens.nothing(), model=VotedPerceptron().fit(X, y).model_)
    assert "a vote of many weight vectors over 4 features" in Parsed(render(given)).text


def test_a_strength_that_is_not_on_the_curve_is_not_marked():
    given = replace(specimens.nothing(), regularization=specimens.regularization_curve())
    for chosen, marked in ((1.0, 1), (7.0, 0)):
        curve = replace(given.regularization, chosen=chosen)
        spec = Parsed(render(replace(given, regularization=curve))).data("charts")["strengths"]
        lengths = sorted(map(len, spec["datasets"].values()))
        assert lengths == [marked, len(curve.values)]


def test_one_learner_alone_has_a_table_and_no_chart():
    tried = specimens.tried()
    given = replace(specimens.nothing(), tried=replace(tried, standings=tried.standings[:1]))
    found = Parsed(render(given))
    assert "learners" not in found.data("charts")
    assert "LogisticRegressionCV (chosen)" in found.text
    assert isinstance(given.regularization, Absent)


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (0.0, "0"),
        (822.0, "822"),
        (822.04, "822.0"),
        (-1234.567, f"{MINUS}1 235"),
        (0.00123456, "0.001235"),
        (99999.5, "100 000"),
        (1e-7, "1e-07"),
        (-2.5e-8, f"{MINUS}2.5e-08"),
        (1e12, "1e+12"),
        (float("inf"), "∞"),
        (float("nan"), NONE),
        (None, NONE),
    ],
)
def test_numbers(value, told):
    assert number(value).replace("\u202f", " ") == told


def test_names_are_clean_short_and_distinct():
    assert clean("a\x00b\u202ec\td\r\ne") == "a\ufffdb\ufffdc\td\ne"
    assert shortened("  two\n lines ") == "two lines"
    assert shortened("") == "(empty)"
    assert len(shortened("x" * 100_000, 20)) == 20
    assert shortened("\u05e9\u05dc") == "\u2068\u05e9\u05dc\u2069"
    assert distinct(["a" * 50, "a" * 51, "b"], 9) == ["aaaa…aaaa", "aaaa…aaaa (2)", "b"]
    assert plural(1, "class", "classes") == "1 class"


def test_the_chart_library_is_bundled_once_for_a_user(tmp_path, monkeypatch):
    import vl_convert

    from separable.report.page import page

    calls, bundled = [], page.chart_library()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(vl_convert, "javascript_bundle", lambda text: calls.append(text) or "code")
    library = page._compressed_library.__wrapped__
    first = library()
    assert zlib.decompress(first) == b"(() => {code})();"
    assert library() == first
    assert len(calls) == 1
    (kept,) = (tmp_path / "separable").iterdir()
    kept.write_bytes(b"damaged")
    assert library() == first
    assert len(calls) == 2
    kept.unlink()
    (tmp_path / "separable").rmdir()
    (tmp_path / "separable").write_text("a file in the place of the folder")
    assert library() == first
    assert bundled.startswith("(() => {")
