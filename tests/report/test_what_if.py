"""The what-if form answers as the model does, in Node and in a browser."""

from __future__ import annotations

import base64
import hashlib
import json
import subprocess
from contextlib import contextmanager

import numpy as np
import pytest

from separable import LinearModel, TableEncoder, TextEncoder, VotedPerceptron
from separable.errors import Absent
from separable.features.text.text_plan import contributions_of_words
from separable.report.what_if import DATA_ID, FORM_ID, WhatIf, what_if
from tests.export import models
from tests.export.running import data_of, tool

HOSTILE = [
    "</script><script>alert(1)</script>",
    "<!-- <script>",
    "<img src=x onerror=alert(1)>",
    "\"quoted\" 'twice' `${alert(1)}`",
    "__proto__",
    "constructor",
    "toString",
    "emoji \U0001f600\U0001f468\u200d\U0001f469",
    "right-to-left \u202e\u05e9\u05dc\u05d5\u05dd",
    "new\nline \u2028 &amp; \\u0041",
    "",
]


def hostile():
    columns = HOSTILE[:-1]
    levels = [*HOSTILE, "plain"]
    table = {name: levels[i:] + levels[:i] for i, name in enumerate(columns)}
    table["<b>number</b>"] = [float(i) for i in range(len(levels))]
    encoder = TableEncoder(category=columns).fit(table)
    drawn = models.random_model(encoder, 3, "softmax")
    classes = sorted(HOSTILE[:3])
    model = LinearModel(drawn.weights, drawn.intercept, classes, "softmax", encoder=encoder)
    return model, models.rows_of(table, model)


def hashed_collisions():
    """Few columns and signs that cancel."""
    encoder = TextEncoder(n_features=3, ngram_range=(1, 2)).fit(models.REVIEWS)
    return models.random_model(encoder, 1, "logistic"), models.REVIEWS


CASES = {
    "table": lambda: models.census_case(1, "logistic"),
    "three classes": models.penguins,
    "calibrated": lambda: models.census_case(3, "score", calibrated=True),
    "regression": lambda: models.census_case(1, "identity"),
    "two numbers": lambda: models.census_case(2, "identity"),
    "threshold": lambda: models.census_case(1, "score", threshold=0.25),
    "threshold below 0": lambda: models.census_case(3, "softmax", threshold=-0.5),
    "one-hot": models.mushrooms,
    "levels of several types": lambda: models.typed_levels("error"),
    "no encoder": lambda: models.numbers(1, True),
    "no names": models.digits,
    "polynomial": lambda: models.polynomial(3),
    "curves": lambda: models.curves(1, "logistic"),
    "text column": models.text_column,
    "dicts": models.records,
    "hashed, colliding": hashed_collisions,
    "hostile": hostile,
    "text, pairs": lambda: models.texts("pairs"),
    "text, inside words": lambda: models.texts("inside words"),
    "text, hashed binary": lambda: models.texts("hashed binary"),
}


@pytest.fixture(scope="module", autouse=True)
def _forgetting():
    yield
    for function in vars(models).values():
        if hasattr(function, "cache_clear"):
            function.cache_clear()


def made_for(model, **options):
    made = what_if(model, **options)
    assert isinstance(made, WhatIf), made
    return made


# --- the answers, in Node ---

DRIVER = """
const { data, rows } = JSON.parse(require("fs").readFileSync(0, "utf8"));
const model = separableWhatIf.modelOf(data);
const { takes, steps } = model.MODEL;
const answers = rows.map((given) => {
  const row = takes === "record" ? new Map(given) : given;
  return model.intercept.map((_, k) => {
    const answer = separableWhatIf.explain(model, row, k);
    const step = steps.find(({ kind }) => kind === "text");
    const text = Array.isArray(row) ? row[steps.indexOf(step)] : row;
    const there = step && typeof text === "string";
    const words = there ? separableWhatIf.words(model, step, text, answer.parts) : null;
    const predicted = separableWhatIf.explain(model, row).k;
    return { ...answer, parts: [...answer.parts], words, predicted };
  });
});
console.log(JSON.stringify(answers));
"""


def in_node(made, rows, folder):
    file = folder / "what_if.js"
    file.write_text(f'"use strict";\n{made.script}\n{DRIVER}', encoding="utf-8")
    plain = [list(row.items()) if isinstance(row, dict) else row for row in rows]
    given = json.dumps({"data": made.data, "rows": plain}, allow_nan=False)
    done = subprocess.run([tool("node"), file], input=given, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def agrees(model, row, answers):
    """Compare what the page says of a row with what the model's explanation says."""
    explanation = model.explain(data_of(model, row))
    for k, answer in enumerate(answers):
        label = explanation._label(k)
        terms = explanation.terms(label=label)
        size = abs(terms.intercept) + sum(abs(term.contribution) for term in terms.shown)
        assert abs(answer["score"] - terms.score) <= 1e-9 * size
        assert answer["intercept"] == terms.intercept
        whole = explanation.contributions(label).to_matrix()
        wanted = np.asarray(whole.todense() if hasattr(whole, "todense") else whole)[0]
        found = np.zeros(model.n_features)
        for place, part in answer["parts"]:
            found[place] = part
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-15 * size)
        few = [term.contribution for term in terms.shown[:15]]
        np.testing.assert_allclose([t["part"] for t in answer["terms"]], few, rtol=1e-9)
        assert answer["others"]["count"] == max(0, len(terms.shown) - 15)
        shown = sum(few) + answer["others"]["part"] + terms.intercept
        assert abs(shown - terms.score) <= 1e-9 * size
        names = {t.feature for t in terms.shown}
        assert {t["name"] for t in answer["terms"]} <= names
        if model.classes is not None:
            assert answer["prediction"] == terms.predicted
            wanted_k = explanation._which(None)[0]
            assert answer["predicted"] == wanted_k


@pytest.mark.parametrize("name", CASES)
def test_contributions_are_those_of_the_model(name, tmp_path):
    model, rows = CASES[name]()
    rows = rows[:20]
    for row, answers in zip(rows, in_node(made_for(model), rows, tmp_path), strict=True):
        agrees(model, row, answers)


@pytest.mark.parametrize("name", ["pairs", "three", "stop words", "no accents"])
def test_words_are_marked_where_the_model_finds_them(name, tmp_path):
    model, rows = models.texts(name)
    for text, answers in zip(rows, in_node(made_for(model), rows, tmp_path), strict=True):
        spans = model.encoder.word_spans(text)
        for k, answer in enumerate(answers):
            if spans is None:
                assert answer["words"] is None
                continue
            terms = model.explain([text]).terms(label=model.classes[k].item())
            parts = {term.feature: term.contribution for term in terms.shown}
            shares = contributions_of_words(spans, model.encoder.ngram_range, parts)
            units = text.encode("utf-16-le")
            words = [
                units[2 * w["start"] : 2 * w["stop"]].decode("utf-16-le") for w in answer["words"]
            ]
            assert words == [text[span.start : span.end] for span in spans]
            found = [w["part"] for w in answer["words"]]
            np.testing.assert_allclose(found, shares, rtol=1e-9, atol=1e-12)


def test_words_of_hashed_texts_share_what_their_columns_add(tmp_path):
    model, rows = hashed_collisions()
    for answers in in_node(made_for(model), rows, tmp_path):
        words = sum(word["part"] for word in answers[0]["words"])
        assert words == pytest.approx(sum(part for _, part in answers[0]["parts"]), abs=1e-9)


def test_characters_have_no_words(tmp_path):
    model, rows = models.texts("characters")
    assert in_node(made_for(model), rows[:1], tmp_path)[0][0]["words"] is None


# --- the form itself ---


def test_a_form_starts_with_means_levels_and_words():
    table = {
        "age": [20.0, 40.0, None],
        "city": ["Oslo", "Rome", None],
        "glad": [True, False, True],
        "day": ["2020-01-01", "2020-01-03", "2020-01-02"],
        "hour": ["2020-01-01 10:00:00", "2020-01-01 12:00:00", None],
        "said": ["good", "bad bad", "good good bad"],
    }
    encoder = TableEncoder(text=["said"], category=["city"]).fit(table)
    made = made_for(models.random_model(encoder))
    fields = sorted(made.fields, key=lambda field: field.at)
    assert [(f.name, f.kind, f.start, f.missing) for f in fields] == [
        ("age", "number", 30.0, True),
        ("city", "category", "Oslo", True),
        ("glad", "boolean", False, False),
        ("day", "date", "2020-01-02", False),
        ("hour", "moment", "2020-01-01T11:00", True),
        ("said", "text", fields[5].start, False),
    ]
    assert sorted(fields[5].start.split()) == ["bad", "good"]
    assert made.data["start"] == [field.start for field in fields]


def test_a_form_starts_with_a_row_where_one_is_given():
    model, _ = models.census_case(1, "logistic")
    row = {
        "age": 33, "capital gain": None, "tiny": "3e-9", "huge": float("inf"),
        "workclass": "never met", "country": "country 1", "married": True, "union": None,
        "born": "1999-12-31T23:30:00-01:00", "hired": "2001-02-03",
    }  # fmt: skip
    start = {field.name: field.start for field in made_for(model, start_row=row).fields}
    assert start | {"huge": 0} == {
        "age": 33, "capital gain": None, "tiny": 3e-9, "huge": 0,
        "workclass": "never met", "country": "country 1", "married": True, "union": None,
        "born": "2000-01-01T00:30:00", "hired": "2001-02-03",
    }  # fmt: skip
    assert np.isfinite(start["huge"])


def test_texts_dicts_and_numbers_start_with_rows_too():
    assert made_for(models.texts("words")[0], start_row="so good").data["start"] == "so good"
    made = made_for(models.records()[0], start_row={"age": 2, "tags": ["x"], "odd": object()})
    assert made.data["start"] == [("age", 2), ("tags", ["x"])]
    assert {field.name: field.start for field in made.fields}["tags"] == ["x"]
    names = ["a", "b c", "select", "x0", "1", "é"]
    row = dict.fromkeys(names, 1.5) | {"a": float("nan")}
    assert made_for(models.numbers(1, True)[0], start_row=row).data["start"] == [0.0] + [1.5] * 5


def test_a_form_has_the_fields_with_the_largest_weights():
    weights = np.linspace(-1, 1, 301)
    made = made_for(LinearModel([weights], [0.0], None, "identity"))
    assert len(made.data["start"]) == 301
    fields = [field.at for field in made.fields]
    assert sorted(fields) == [*range(100), *range(201, 301)]
    sizes = np.abs(weights)[fields]
    assert (np.diff(sizes) <= 0).all()  # the largest first


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (
            LinearModel(np.ones((1, 37_501)), [0.0], None, "identity"),
            "take 300 kB; the what-if form",
        ),
        (VotedPerceptron().fit([[1.0], [2.0]], ["a", "b"]).model_, "models that vote"),
        (
            models.random_model(
                TextEncoder(token_pattern=r"[a-z]+", lowercase=False).fit(["a b", "c"])
            ),
            "regular expression of Python",
        ),
    ],
)
def test_why_there_is_no_form(model, reason):
    made = what_if(model)
    assert isinstance(made, Absent)
    assert reason in made.reason


def test_300_kb_of_weights_are_not_too_many():
    made_for(LinearModel(np.ones((1, 37_500)), [0.0], None, "identity"))


def test_code_holds_nothing_of_the_data():
    plain, odd = made_for(models.census_case(3, "softmax")[0]), made_for(hostile()[0])
    assert "workclass" not in plain.script
    for word in HOSTILE[:-1]:
        assert word == "__proto__" or word == "constructor" or word not in odd.script
    for made in (plain, odd):
        assert "</script" not in made.script
        assert "<!--" not in made.script
        assert "</style" not in made.style


# --- the form in a browser ---


def page_of(made):
    """Return a page whose policy lets nothing run but the script itself."""
    data = json.dumps(made.data, allow_nan=False).replace("<", "\\u003c")
    script, style = (
        base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        for text in (made.script, made.style)
    )
    policy = f"default-src 'none'; script-src 'sha256-{script}'; style-src 'sha256-{style}'"
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>What if</title>'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        f"<style>{made.style}</style></head><body>"
        f'<div id="{FORM_ID}"></div>'
        f'<script type="application/json" id="{DATA_ID}">{data}</script>'
        f"<script>{made.script}</script></body></html>"
    )


@pytest.fixture
def opened(browser, tmp_path):
    """Return a function that opens a form; what the page complains of fails the test."""

    @contextmanager
    def opening(made, width=1000):
        file = tmp_path / "page.html"
        file.write_text(page_of(made), encoding="utf-8")
        page = browser.new_page(viewport={"width": width, "height": 700})
        said = []
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("console", lambda message: said.append(message.text))
        page.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
        page.goto(file.as_uri())
        yield page
        assert said == []
        page.close()

    return opening


def settled(page):
    """Wait until the form has answered: where that took long, it waits for typing to pause."""
    page.wait_for_selector("form:not([aria-busy])")


def lines(page, caption):
    """Return the lines of a table of the form: name and number."""
    settled(page)
    table = page.locator("table", has=page.locator("caption", has_text=caption))
    cells = [row.locator("th, td").all_text_contents() for row in table.locator("tr").all()]
    return [(name, number.replace("\u2212", "-")) for name, number, _ in cells]


def contributions(page):
    return {name: float(number) for name, number in lines(page, "Contributions to the")}


@pytest.mark.parametrize("name", ["three classes", "text column", "hostile", "dicts"])
def test_the_browser_computes_what_the_model_does(name, opened):
    model, rows = CASES[name]()
    made = made_for(model)
    plain = [list(row.items()) if isinstance(row, dict) else row for row in rows[:10]]
    with opened(made) as page:
        found = page.evaluate(
            """(rows) => {
              const data = JSON.parse(document.getElementById("what-if-data").textContent);
              const model = separableWhatIf.modelOf(data);
              return rows.map((given) => {
                const row = model.MODEL.takes === "record" ? new Map(given) : given;
                return model.intercept.map((_, k) => {
                  const answer = separableWhatIf.explain(model, row, k);
                  const predicted = separableWhatIf.explain(model, row).k;
                  return { ...answer, parts: [...answer.parts], predicted };
                });
              });
            }""",
            plain,
        )
    for row, answers in zip(rows[:10], found, strict=True):
        agrees(model, row, answers)


def test_changing_fields_moves_the_contributions(opened):
    model, _ = models.penguins()
    columns = list(dict.fromkeys(model.encoder.sources))
    row = {
        "island": "Dream", "bill_length_mm": 50.5, "bill_depth_mm": 19.0, "flipper_length_mm": None,
        "body_mass_g": 3900.0, "sex": "male", "year": 2008.0,
    }  # fmt: skip
    start = {"island": "Torgersen", "bill_length_mm": 40.0, "year": None}
    with opened(made_for(model, start_row=start)) as page:
        before = contributions(page)
        assert "island=Torgersen" in before
        for name in columns:
            field = page.get_by_label(name, exact=True)
            if isinstance(row[name], str):
                field.select_option(label=row[name])
            else:
                field.fill("" if row[name] is None else str(row[name]))
        settled(page)
        terms = model.explain([row]).terms()
        assert page.get_by_role("status").text_content() == terms.predicted == "Chinstrap"
        found = contributions(page)
        assert found.pop("score, the sum") == pytest.approx(terms.score, abs=1e-3)
        assert found.pop("intercept") == pytest.approx(terms.intercept, abs=1e-3)
        wanted = {term.feature: term.contribution for term in terms.shown}
        assert found == pytest.approx(wanted, abs=1e-3)
        other = next(label for label in model.classes.tolist() if label != terms.predicted)
        page.get_by_label("Explain the score of").select_option(label=other)
        score = model.explain([row]).terms(label=other).score
        assert contributions(page)["score, the sum"] == pytest.approx(score, abs=1e-3)
        assert dict(lines(page, "Probabilities")).keys() == set(model.classes.tolist())
        page.get_by_role("button", name="Start again").click()
        page.locator("table").get_by_text("island=Torgersen").wait_for()
        page.get_by_label("Explain the score of").select_option(index=0)
        assert contributions(page) == before


def test_a_text_is_typed_and_its_words_are_marked(opened):
    encoder = TextEncoder().fit(["good film", "bad film", "dull"])
    weights = [[{"good": 2.0, "bad": -3.0}.get(name, 0.0) for name in encoder.feature_names]]
    model = LinearModel(weights, [0.5], ["no", "yes"], "logistic", encoder=encoder)
    with opened(made_for(model), width=375) as page:
        page.get_by_label("text").fill("So GOOD, not bad! <b>film</b>")
        settled(page)
        marks = page.locator("mark")
        assert marks.all_text_contents() == ["GOOD", "bad"]
        assert [mark.get_attribute("class") for mark in marks.all()] == [
            "what-if-up",
            "what-if-down",
        ]
        assert page.locator(".what-if-words").text_content() == "So GOOD, not bad! <b>film</b>"
        assert page.evaluate("document.documentElement.scrollWidth") == 375
        page.get_by_label("text").fill("")
        assert contributions(page) == {"intercept": 0.5, "score, the sum": 0.5}
        page.emulate_media(media="print")
        assert not page.locator("form").is_visible()


def test_a_value_that_cannot_be_used_is_told_beside_its_field(opened):
    model, _ = models.numbers(1, True)
    with opened(made_for(model)) as page:
        field = page.get_by_label("b c", exact=True)
        field.fill("")
        settled(page)
        told = page.locator(".what-if-field", has=field).get_by_role("alert")
        assert "is missing" in told.text_content()
        assert field.get_attribute("aria-invalid") == "true"
        field.fill("2")
        settled(page)
        assert not told.is_visible()
        assert field.get_attribute("aria-invalid") is None
        field.press_sequentially("e")
        settled(page)
        assert told.text_content() == "This is not a number."


def test_hostile_levels_can_be_chosen(opened):
    model, rows = hostile()
    columns = list(dict.fromkeys(model.encoder.sources))
    made = made_for(model)
    with opened(made) as page:
        assert page.locator("script").count() == 2
        assert page.locator("img, form b").count() == 0
        fields = page.locator(".what-if-field select").all()
        order = [field.at for field in made.fields if field.kind == "category"]
        for field, value in zip(fields, [rows[4][at] for at in order], strict=True):
            field.select_option(label=value.replace("\n", " ") or "(empty)")
        row = dict(zip(columns, [*rows[4][: len(fields)], 5.5], strict=True))
        settled(page)
        found = page.locator("table").last.locator("tr").last.locator("td").first.text_content()
        wanted = model.explain([row]).terms().score
        assert float(found.replace("\u2212", "-")) == pytest.approx(wanted, abs=2e-3)


def test_many_levels_are_typed(opened):
    levels = [f"level {i:03}" for i in range(100)]
    encoder = TableEncoder(category=["a"]).fit({"a": levels})
    model = models.random_model(encoder, 1, "logistic")
    with opened(made_for(model)) as page:
        page.get_by_label("a", exact=True).fill("level 042")
        assert "a=level 042" in contributions(page)
        page.get_by_label("a", exact=True).fill("another")
        assert contributions(page).keys() == {"intercept", "score, the sum"}
