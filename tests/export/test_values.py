"""What missing, unseen and unusual values do, in every language as in ``predict``."""

from __future__ import annotations

import numpy as np
import pytest

from separable import LinearModel, OneHotEncoder, TableEncoder
from separable.export import LANGUAGES
from tests.export import models
from tests.export.running import REFUSED, agree, answers, expected

EVERY = pytest.mark.parametrize("language", LANGUAGES)
CODE = pytest.mark.parametrize("language", ["python", "js", "c"])


def only(rows, keep):
    return [row for row in rows if keep(row)]


@EVERY
@pytest.mark.parametrize("unseen", ["zero", "other", "error"])
def test_unseen_levels(language, unseen, tmp_path):
    model, rows = models.rare_levels(unseen)
    if language in ("sql", "onnx"):  # a column has one type there
        rows = only(rows, lambda row: not isinstance(row[0], (bool, int, float)))
    model = LinearModel(
        model.weights, model.intercept, model.classes, model.link, encoder=model.encoder
    )
    agree(model, rows, answers(language, model, rows, tmp_path))


@EVERY
def test_missing_values_where_training_had_none(language, tmp_path):
    table = {
        "number": [1.0, 2.0, 4.0],
        "level": ["a", "b", "a"],
        "flag": [True, False, True],
        "day": ["2024-01-31", "2023-02-28", "2020-02-29"],
    }
    model = models.random_model(TableEncoder().fit(table), 3, "softmax")
    rows = [(None,) * 4, *models.rows_of(table, model), (None, "c", None, "2024-12-31")]
    agree(model, rows, answers(language, model, rows, tmp_path))


@EVERY
def test_columns_that_only_tell_of_missing_values(language, tmp_path):
    """A constant with gaps gives an indicator and nothing else."""
    table = {"n": [5, None, 5], "b": [True, None, True], "c": ["x", "x", None], "z": [1, 2, 3]}
    model = models.random_model(TableEncoder().fit(table), 1, "logistic")
    rows = [*models.rows_of(table, model), (7, False, "x", 2.5)]
    agree(model, rows, answers(language, model, rows, tmp_path))


def numbers_model():
    return models.random_model(TableEncoder().fit({"x": [1.0, 2.0, None, 5.0]}), 1, "logistic")


READABLE = ["12", "-1.5", "+.5", "1.", "1e3", "1E-3", "007"]
UNREADABLE = [
    "",
    "abc",
    "1,5",
    "0x10",
    "1_000",
    " 1",
    "1 ",
    "1e",
    ".",
    "+",
    "nan",
    "NaN",
    "1\n",
    "٣",
    "inf",
    "-Infinity",
    "1e999",
    "1e5.0",
    "--1",
]


@CODE
def test_numbers_given_as_text(language, tmp_path):
    model = numbers_model()
    rows = [(text,) for text in [*READABLE, *UNREADABLE]]
    found = answers(language, model, rows, tmp_path)
    agree(model, rows, found)
    assert [each == REFUSED for each in found] == [False] * len(READABLE) + [True] * len(UNREADABLE)


def test_numbers_given_as_text_in_sql(tmp_path):
    """SQLite's CAST would take an empty text for 0, and 2024-01-31 for 2024."""
    model = numbers_model()
    texts = [*READABLE, *UNREADABLE, "2024-01-31", "1.2.3"]
    rows = [(text,) for text in texts if text != "1e999"]  # which is infinite
    found = answers("sql", model, rows, tmp_path)
    agree(model, rows, found)
    assert found.count(REFUSED) == len(UNREADABLE) + 1


def test_a_text_that_is_no_number_spoils_its_row_alone(tmp_path):
    model = models.random_model(
        TableEncoder().fit({"x": [1.0, 2.0, None], "y": [3.0, 5.0, 4.0], "c": ["a", "b", None]})
    )
    rows = [("1", "", "a"), ("", "3", "a"), (None, None, None), ("2", "4", "")]
    found = answers("sql", model, rows, tmp_path)
    agree(model, rows, found)
    assert [each == REFUSED for each in found] == [True, True, False, False]


@CODE
def test_very_large_numbers(language, tmp_path):
    model = models.random_model(TableEncoder().fit({"x": [1e-300, 3e-300, None]}), 1, "logistic")
    rows = [(1e-300,), (1e300,), (-1e308,), (0,), (5e-324,)]
    found = answers(language, model, rows, tmp_path)
    agree(model, rows, found)
    assert found[1] == REFUSED


@CODE
def test_scores_beyond_float64(language, tmp_path):
    model = LinearModel([[1e300, 1.0]], [0.0], None, "identity")
    rows = [(1.0, 2.0), (1e300, 0.0), (-1e300, 1.0)]
    found = answers(language, model, rows, tmp_path)
    agree(model, rows, found)
    assert [each == REFUSED for each in found] == [False, True, True]


@pytest.mark.parametrize("language", ["sql", "onnx"])
def test_scores_beyond_float64_are_infinite(language, tmp_path):
    model = LinearModel([[1e300, 1.0]], [0.0], None, "identity")
    (found,) = answers(language, model, [(1e300, 0.0)], tmp_path)
    assert found == REFUSED or found.scores == [np.inf]


@EVERY
def test_a_model_of_numbers_refuses_what_is_missing(language, tmp_path):
    model = LinearModel([[1.0, 2.0]], [0.5], ["a", "b"], "logistic", ["p", "q"])
    missing = np.nan if language in ("onnx", "c") else None
    rows = [(1.0, 2.0), (missing, 1.0)]
    if language == "c":
        rows[1] = (1.0, 1.0)  # the runner writes no NaN
    found = answers(language, model, rows, tmp_path)
    assert found[0] != REFUSED
    assert language == "c" or found[1] == REFUSED


WORDS = ["true", "TRUE", "Yes", " t ", "y\n", "1", "False", "no", "F", "n", "0", "\t0"]


@CODE
def test_words_for_booleans(language, tmp_path):
    model = models.random_model(TableEncoder().fit({"b": [True, False, None]}), 1, "logistic")
    rows = [(v,) for v in [*WORDS, True, False, 1, 0, 1.0, 0.0, 2, 0.5, "maybe", "", "11", "truee"]]
    found = answers(language, model, rows, tmp_path)
    agree(model, rows, found)
    assert found.count(REFUSED) == 6


def test_words_for_booleans_in_sql(tmp_path):
    model = models.random_model(TableEncoder().fit({"b": [True, False, None]}), 1, "logistic")
    rows = [(v,) for v in ["true", "TRUE", "Yes", " t ", "0", 1, 0, 1.0, None, "maybe", 2]]
    agree(model, rows, answers("sql", model, rows, tmp_path))


DATES = [
    "1970-01-01",
    "1969-12-31 23:59:59",
    "2000-02-29T12:00",
    "1900-03-01 00:00:00.5",
    "0001-01-01",
    "9999-12-31 23:59:59.999999",
    "2024-02-29",
    "2023-12-31T23:59:59.123456789",
]
OFFSETS = [
    "2024-01-01T00:30:00+01:00",
    "2024-01-01T23:30:00-0130",
    "2024-01-01 00:00Z",
    "2024-01-01T00:00:00.25+23:59",
]
NO_DATES = [
    "2023-02-29",
    "2024-13-01",
    "2024-00-10",
    "2024-01-32",
    "2024-1-1",
    "24-01-01",
    "0000-01-01",
    "2024-01-01T24:00",
    "2024-01-01T10",
    "2024-01-01T10:60",
    "2024-01-01T10:00:60",
    "2024-01-01Z",
    "2024-01-01+01:00",
    "2024-01-01T10:00:00.",
    "2024-01-01T10:00+24:00",
    "x",
    "",
    "2024-01-01 ",
    "0001-01-01T00:00+01:00",
    "9999-12-31T23:59-01:00",
    "2024/01/01",
    "\uff12\uff10\uff12\uff14-01-01",
    "2024-01-01T10:00:00.1234567890",
    20240101,
    True,
]


def dates_model():
    table = {
        "when": ["2024-01-31 10:00", "2023-05-02 22:30", None, "1999-12-31", "2023-07-09 00:00"]
    }
    return models.random_model(TableEncoder().fit(table), 3, "softmax")


@CODE
def test_dates(language, tmp_path):
    model = dates_model()
    rows = [(text,) for text in [*DATES, *OFFSETS, *NO_DATES, None]]
    found = answers(language, model, rows, tmp_path)
    agree(model, rows, found)
    assert found.count(REFUSED) == len(NO_DATES)


@pytest.mark.parametrize("language", ["sql", "onnx"])
def test_dates_without_an_offset(language, tmp_path):
    model = dates_model()
    dates = DATES if language == "sql" else [text for text in DATES if text < "9"]
    rows = [(text,) for text in [*dates, None]]
    agree(model, rows, answers(language, model, rows, tmp_path))


def test_dates_with_an_offset_and_others_that_are_none_have_no_score_in_sql(tmp_path):
    model = dates_model()
    rows = [(text,) for text in [*OFFSETS, *NO_DATES, "2024-01-01t10:00", "2024-01-01 10:00:00,5"]]
    assert answers("sql", model, rows, tmp_path) == [REFUSED] * len(rows)


@pytest.mark.parametrize("step", [389, pytest.param(97, marks=pytest.mark.long)])
def test_days_of_some_centuries(tmp_path, step):
    days = np.arange(np.datetime64("1599-12-01"), np.datetime64("2110-01-01"), step).astype(str)
    model = dates_model()
    rows = [(day,) for day in days.tolist()]
    for language in ("js", "c", "sql", "onnx"):
        agree(model, rows, answers(language, model, rows, tmp_path))


LEVELS = [
    7,
    7.0,
    -0.0,
    0,
    7.5,
    1e16,
    1e15,
    123456789012345680.0,
    1e-4,
    0.00012345,
    1e-5,
    1.5e-7,
    1e22,
    1e100,
    -2.5,
    0.1,
    1 / 3,
    5e-324,
    1.7976931348623157e308,
    2**53,
    2**53 - 1,
    100,
    True,
    False,
]


@CODE
def test_numbers_as_levels_are_written_as_python_writes_them(language, tmp_path):
    table = {"c": [*LEVELS, None], "x": list(range(len(LEVELS) + 1))}
    texts = [None if v is None else str(v) for v in table["c"]]
    from separable.data.columns import number_text

    texts += [number_text(float(v)) for v in LEVELS]
    encoder = TableEncoder(category=["c"]).fit({"c": texts, "x": list(range(len(texts)))})
    model = models.random_model(encoder, 1, "identity")
    rows = [(v, 1.0) for v in table["c"]]
    found = answers(language, model, rows, tmp_path)
    agree(model, rows, found)
    assert len({each.scores[0] for each in found}) > 15


@CODE
def test_none_and_nan_as_levels(language, tmp_path):
    table = np.array([["a", 1.0], ["b", np.nan], [None, 2.0]], dtype=object)
    model = models.random_model(OneHotEncoder().fit(table), 1, "score")
    rows = [("a", 1.0), ("b", 2.0), (None, 1.0)]
    agree(model, rows, answers(language, model, rows, tmp_path))
    (found,) = answers(language, model, [("a", None)], tmp_path)
    wanted, _ = expected(model, ("a", np.nan))
    np.testing.assert_allclose(found.scores, wanted.scores, rtol=1e-12)


@pytest.mark.parametrize("language", ["python", "js"])
def test_rows_by_name_and_what_is_not_there(language, tmp_path):
    import subprocess

    from separable.export import export
    from tests.export.running import tool

    model = models.random_model(
        TableEncoder().fit({"x": [1, 2, 3], "c": list("aba")}), 1, "logistic"
    )
    wanted = model.decision_function([{"x": 2, "c": "a"}]).tolist()
    file = tmp_path / f"model.{language}"
    file.write_text(export(model, to=language))
    if language == "js":
        script = (
            f"const m = require({str(file)!r}); const t = (f) => {{ try {{ return f(); }} "
            "catch (e) { return e.message; } };"
            "console.log(JSON.stringify([m.scores({c: 'a', x: 2, z: 1}), "
            "m.scores(new Map([['x', 2], ['c', 'a']])), m.scores([2, 'a']), "
            "t(() => m.scores({x: 2})), t(() => m.scores([1])), t(() => m.scores('ab'))]))"
        )
        import json

        done = subprocess.run(
            [tool("node"), "-e", script], capture_output=True, text=True, check=True
        )
        *found, lacks, short, text = json.loads(done.stdout)
        assert "Expected 2 values" in short
        assert "Expected an object" in text
    else:
        module = {"__name__": "model"}
        exec(file.read_text(), module)
        scores = module["scores"]
        found = [scores({"c": "a", "x": 2, "z": 1}), scores([2, "a"]), scores((2, "a"))]
        with pytest.raises(ValueError, match="lacks the column 'c'") as error:
            scores({"x": 2})
        lacks = str(error.value).replace("'", '"')
        with pytest.raises(ValueError, match="Expected a dict, or 2 values"):
            scores([1])
    for each in found:
        np.testing.assert_allclose(each, wanted, rtol=1e-12)
    assert 'lacks the column "c"' in lacks


def test_python_takes_dates_and_numbers_of_numpy():
    import datetime as dt

    from separable.export import export

    table = {"when": ["2024-01-31", "2023-05-02", "2020-01-01"], "x": [1, 2, 3], "c": list("1a1")}
    model = models.random_model(TableEncoder().fit(table), 1, "identity")
    module = {"__name__": "model"}
    exec(export(model, to="python"), module)
    whens = [dt.date(2024, 1, 31), dt.datetime(2024, 1, 31, tzinfo=dt.UTC), "2024-01-31"]
    rows = [{"when": when, "x": np.float32(2), "c": np.int64(1)} for when in whens]
    assert len({module["predict"](row) for row in rows}) == 1
    wanted = model.predict([{"when": "2024-01-31", "x": 2, "c": "1"}])
    np.testing.assert_allclose(module["predict"](rows[0]), wanted[0], rtol=1e-12)
