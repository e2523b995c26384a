"""Properties: whatever the model and the rows, exported code answers as the model does."""

from __future__ import annotations

import json
import subprocess

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from separable import DictEncoder, LinearModel, OneHotEncoder, TableEncoder, TextEncoder
from separable.export import ExportError, export
from tests.export import models
from tests.export.running import REFUSED, Answer, agree, answers, expected, tool

EXAMPLES = settings().max_examples
SLOW = settings(
    deadline=None,
    max_examples=EXAMPLES // 4,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)

texts = st.text(max_size=8)
floats = st.floats(-1e6, 1e6, allow_nan=False)
moments = st.datetimes().map(lambda moment: moment.isoformat(" "))
cells = {
    "number": st.one_of(floats, st.none(), st.integers(-1000, 1000)),
    "category": st.one_of(texts, st.none()),
    "boolean": st.one_of(st.booleans(), st.none()),
    "date": st.one_of(moments, st.none()),
}


@st.composite
def tables(draw, kinds=("number", "category", "boolean", "date")):
    """A table with its model; half of the rows are new to it."""
    picked = draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=4))
    names = draw(
        st.lists(texts.filter(str.strip), min_size=len(picked), max_size=len(picked), unique=True)
    )
    n = draw(st.integers(4, 12))
    columns = [draw(st.lists(cells[kind], min_size=n, max_size=n)) for kind in picked]
    table = dict(zip(names, columns, strict=True))
    asked = {kind: [n for n, k in zip(names, picked, strict=True) if k == kind] for kind in kinds}
    asked = {kind: of_kind or None for kind, of_kind in asked.items()}
    scale, min_count = draw(st.booleans()), draw(st.sampled_from([None, 2]))
    unseen = draw(st.sampled_from(["zero", "other"]))
    table["always"] = list(np.arange(n) * 1.5)
    asked["number"] = [*(asked.get("number") or []), "always"]
    half = {name: values[: n // 2] for name, values in table.items()}
    encoder = TableEncoder(**asked, scale=scale, min_count=min_count, unseen=unseen).fit(half)
    k = draw(st.sampled_from([1, 1, 3]))
    link = draw(st.sampled_from(["logistic", "score", "identity"]))
    model = models.random_model(encoder, k, link, seed=draw(st.integers(0, 9)))
    return model, models.rows_of(table, model)


def in_python(model, rows):
    """Run exported Python in this process: a process an example takes too long."""
    module = {"__name__": "model"}
    exec(export(model, to="python"), module)
    assert module["self_test"]() == []
    shares = module.get("probabilities")
    out = []
    for row in rows:
        try:
            found = module["scores"](row), module["predict"](row), shares(row) if shares else None
        except ValueError:
            out.append(REFUSED)
        else:
            out.append(Answer(*found))
    return out


@given(tables())
@SLOW
def test_tables_in_python(case):
    model, rows = case
    agree(model, rows, in_python(model, rows))


@given(tables())
@SLOW
def test_tables_in_sql(tmp_path, case):
    model, rows = case
    names = {name.lower() for name in dict.fromkeys(model.encoder.sources)}
    if len(names) < len(rows[0]) or any("\0" in name for name in names) or "the id" in names:
        return
    try:
        found = answers("sql", model, rows, tmp_path)
    except UnicodeEncodeError:
        return
    agree(model, rows, found)


def fits_onnx(row):
    """Whether onnxruntime can be given a row: no NUL, no text for missing, seconds in float64."""
    texts = [value for value in row if isinstance(value, str)]
    return not any(v == "" or "\0" in v or (v[4:5] == "-" and v > "3") for v in texts)


@given(tables())
@settings(SLOW, max_examples=EXAMPLES // 5)
def test_tables_in_onnx(tmp_path, case):
    pytest.importorskip("onnxruntime")
    model, rows = case
    has_nul = any("\0" in value for row in rows for value in row if isinstance(value, str))
    rows = [row for row in rows if fits_onnx(row)]
    refusal = ""
    try:
        export(model, to="onnx")
    except ExportError as error:
        refusal = str(error)
    if refusal:  # a level of the model
        assert has_nul
        assert "holds a NUL character" in refusal
        return
    if rows:
        agree(model, rows, answers("onnx", model, rows, tmp_path))


@st.composite
def text_models(draw):
    analyzer = draw(st.sampled_from(["word", "char", "char_wb"]))
    low = draw(st.integers(1, 3))
    options = {
        "analyzer": analyzer,
        "ngram_range": (low, low + draw(st.integers(0, 2))),
        "lowercase": draw(st.booleans()),
        "strip_accents": draw(st.sampled_from([None, "unicode", "ascii"])),
        "norm": draw(st.sampled_from(["l1", "l2", None])),
        "binary": draw(st.booleans()),
    }
    if draw(st.booleans()):
        options |= {"n_features": draw(st.integers(1, 40)), "alternate_sign": draw(st.booleans())}
    else:
        options |= {"use_idf": draw(st.booleans()), "sublinear_tf": draw(st.booleans())}
    if analyzer == "word":
        options["token_pattern"] = draw(st.sampled_from([r"(?u)\b\w\w+\b", r"(?u)\b\w+\b"]))
    alphabet = st.characters(blacklist_categories=["Cs"])
    new = draw(st.lists(st.text(alphabet, max_size=30), min_size=1, max_size=12))
    encoder = TextEncoder(**options).fit([*models.REVIEWS, *new[::2]])
    return models.random_model(encoder, 1, "identity"), new


@given(text_models())
@SLOW
def test_texts_in_python(case):
    model, rows = case
    agree(model, rows, in_python(model, rows))


@st.composite
def records(draw):
    value = st.one_of(st.none(), floats, texts, st.lists(texts, max_size=3))
    new = draw(st.lists(st.dictionaries(texts, value, max_size=4), min_size=2, max_size=8))
    new.insert(0, {"a": 1.0, "b": "c"})  # which is learned: there is a column
    return models.random_model(DictEncoder().fit(new[::2]), 3, "softmax"), new


@given(records())
@SLOW
def test_records_in_python(case):
    model, rows = case
    agree(model, rows, in_python(model, rows))


@given(st.data())
@SLOW
def test_levels_in_python(data):
    level = st.one_of(texts, st.integers(-5, 5), st.sampled_from([0.5, -2.0, None]))
    rows = data.draw(st.lists(st.tuples(texts, st.integers(-3, 3)), min_size=2, max_size=8))
    table = np.array(rows, dtype=object)
    drop = data.draw(st.sampled_from([None, "first", "if_binary"]))
    encoder = OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=2, drop=drop).fit(
        table
    )
    if not len(encoder.feature_names):
        return
    model = models.random_model(encoder, 1, "score")
    new = [*rows, *data.draw(st.lists(st.tuples(level, level), max_size=4))]
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        agree(model, new, in_python(model, new))


@pytest.mark.parametrize("step", [13, pytest.param(1, marks=pytest.mark.long)])
def test_many_models_in_javascript(tmp_path, step):
    """One process for many models and texts: letters from all over Unicode."""
    node = tool("node")
    rng = np.random.default_rng(0)
    points = np.concatenate([np.arange(0xD800), np.arange(0xE000, 0x110000)])
    letters = [chr(point) for point in points.tolist()]
    some = [*letters[:0x600], *letters[0x600::step]]
    lines = ["".join(some[i : i + 1500]) for i in range(0, len(some), 1500)]
    lines += [
        "".join(rng.choice(letters[:0x3000], 12)) + " ΣΑΣ Σ, aΣ.b ΑΣ\u0301 \u0130x"
        for _ in range(200)
    ]
    jobs, cases = [], []
    for name, options in models.TEXT_OPTIONS.items():
        vocabulary = {} if "n_features" in options else {"max_features": 3000}
        encoder = TextEncoder(**options, **vocabulary).fit([*lines[-200:], *models.REVIEWS])
        model = models.random_model(encoder, 1, "identity")
        file = tmp_path / f"{name.replace(' ', '_')}.js"
        file.write_text(export(model, to="js"))
        rows = (
            [*lines, *models.REVIEWS]
            if name in ("words", "inside words", "no accents")
            else lines[-60:]
        )
        cases.append((model, rows))
        jobs.append([str(file), rows])
    script = (
        "const jobs = JSON.parse(require('fs').readFileSync(0, 'utf8'));"
        "console.log(JSON.stringify(jobs.map(([file, rows]) => rows.map(require(file).predict))));"
    )
    done = subprocess.run(
        [node, "-e", script], input=json.dumps(jobs), capture_output=True, text=True, check=True
    )
    for (model, rows), found in zip(cases, json.loads(done.stdout), strict=True):
        wanted = model.decision_function(rows)
        sizes = np.abs(model.weights).max() * _lengths(model, rows) + np.abs(model.intercept).max()
        np.testing.assert_array_less(np.abs(np.array(found) - wanted), 1e-9 * sizes)


def _lengths(model, rows):
    encoded = model.encoder.encode(rows)
    return np.array([np.abs(encoded.slice(i, i + 1).values).sum() for i in range(len(rows))])


def test_random_tables_in_c_and_javascript(tmp_path):
    rng = np.random.default_rng(1)
    for seed in range(3):
        table = models.census(60, seed)
        keep = rng.choice(list(table), rng.integers(2, 6), replace=False).tolist()
        encoder = TableEncoder().fit({name: table[name][:30] for name in keep})
        model = models.random_model(encoder, int(rng.choice([1, 3])), "logistic", seed=seed)
        rows = models.rows_of(table, model)
        for language in ("c", "js"):
            agree(model, rows, answers(language, model, rows, tmp_path))


def test_expected_is_what_predict_says():
    """The oracle of these tests, against the model's own doors."""
    for case in (models.penguins, models.mushrooms, lambda: models.census_case(3, "softmax", -0.5)):
        model, rows = case()
        answer, _ = expected(model, rows[0])
        names = list(dict.fromkeys(model.encoder.sources))
        data = (
            [dict(zip(names, rows[0], strict=True))]
            if model.encoder.kind == "table"
            else np.array([rows[0]], dtype=object)
        )
        np.testing.assert_allclose(
            answer.scores, model.decision_function(data).reshape(-1), rtol=1e-12
        )
        assert answer.prediction == model.predict(data)[0]
    assert isinstance(model, LinearModel)
