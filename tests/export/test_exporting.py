"""`separable.export.export`: what it takes, returns, writes and refuses."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from separable import (
    DictEncoder,
    LinearModel,
    OneHotEncoder,
    Perceptron,
    TableClassifier,
    TableEncoder,
    TextEncoder,
    VotedPerceptron,
    load,
)
from separable.export import LANGUAGES, ExportError, export
from tests.export import models
from tests.export.running import self_test, tool

EVERY = pytest.mark.parametrize("language", LANGUAGES)
TEXT_REFUSED = pytest.mark.parametrize(
    ("language", "called"), [("c", "C"), ("sql", "SQL"), ("onnx", "ONNX")]
)


@pytest.fixture
def plain():
    return LinearModel([[1.0, -2.0]], [0.5], ["a", "b"], "logistic", ["p", "q"])


def rows_tested(code):
    """Return the test rows of an exported Python module."""
    module = {"__name__": "model"}
    exec(code, module)
    assert module["self_test"]() == []
    return module["TESTS"]


@EVERY
def test_a_file_is_written_and_returned(language, plain, tmp_path):
    made = export(plain, to=language, path=tmp_path / "model")
    assert isinstance(made, bytes if language == "onnx" else str)
    written = (tmp_path / "model").read_bytes()
    assert written == (made if language == "onnx" else made.encode())


@EVERY
def test_the_same_model_gives_the_same_bytes_also_from_a_file(language, tmp_path):
    model, _ = models.penguins()
    model.save(tmp_path / "m.safetensors")
    assert export(model, to=language) == export(load(tmp_path / "m.safetensors"), to=language)


def test_a_file_that_cannot_be_written(plain, tmp_path):
    with pytest.raises(FileNotFoundError):
        export(plain, to="python", path=tmp_path / "no" / "model.py")


def test_learners_and_tables_of_learners_are_taken():
    table = {"x": [0.0, 1.0, 2.0, 3.0], "y": ["a", "a", "b", "b"]}
    assert "CLASSES = ['a', 'b']" in export(
        TableClassifier(Perceptron()).fit(table, "y"), to="python"
    )
    learner = Perceptron().fit([[0.0], [1.0]], ["a", "b"])
    assert rows_tested(export(learner, to="python"))


# --- test rows ---

TABLE = {"x": [1.5, None, 3.0], "c": ["a", "b", None], "d": ["2024-01-31", "2023-01-01", None]}


@pytest.mark.parametrize(
    "given",
    [
        TABLE,
        [dict(zip(TABLE, row, strict=True)) for row in zip(*TABLE.values(), strict=True)],
        pd.DataFrame(TABLE).assign(d=pd.to_datetime(pd.Series(TABLE["d"]))),
        pl.DataFrame(TABLE),
        pa.table(TABLE),
        [{"x": 1.5, "c": "a", "d": "2024-01-31"}, {"c": "b", "d": "2023-01-01"}, {"x": 3.0}],
    ],
    ids=["columns", "records", "pandas", "polars", "arrow", "records with gaps"],
)
def test_rows_of_tables(given):
    model = models.random_model(TableEncoder().fit(TABLE), 1, "logistic")
    found = [test["row"] for test in rows_tested(export(model, to="python", rows=given))]
    dates = [row.pop() for row in found]
    assert found == [[1.5, "a"], [None, "b"], [3.0, None]]
    assert [date and date[:10] for date in dates] == ["2024-01-31", "2023-01-01", None]


def test_at_most_20_rows_are_taken():
    model, rows = models.digits()
    assert len(rows_tested(export(model, to="python", rows=np.array(rows)))) == 20


def test_rows_of_numbers(plain):
    for given in (
        np.eye(2),
        [[1, 0], [0, 1]],
        sparse.csr_array(np.eye(2)),
        pd.DataFrame(np.eye(2), columns=["p", "q"]),
        [{"q": 0, "p": 1}, {"p": 0, "q": 1}],
    ):
        tests = rows_tested(export(plain, to="python", rows=given))
        assert [test["row"] for test in tests] == [[1, 0], [0, 1]]
        assert [test["scores"] for test in tests] == [[1.5], [-1.5]]


def test_rows_of_texts_and_records_and_levels():
    model, _ = models.texts("words")
    assert [t["row"] for t in rows_tested(export(model, to="python", rows=["good", ""]))] == [
        "good",
        "",
    ]
    model, _ = models.records()
    (test,) = rows_tested(export(model, to="python", rows=[{"age": 2}]))
    assert test["row"] == [["age", 2]]
    model, rows = models.infrequent()
    found = rows_tested(export(model, to="python", rows=np.array(rows, dtype=object)))
    assert [tuple(test["row"]) for test in found] == rows


def test_rows_that_lack_columns_or_cannot_be_predicted(plain):
    with pytest.raises(ValueError, match="The rows lack 'q', which the model takes"):
        export(plain, to="python", rows=[{"p": 1}])
    model = models.random_model(TableEncoder().fit(TABLE), 1, "logistic")
    with pytest.raises(ValueError, match="The rows lack 'x', 'c', 'd'"):
        export(model, to="python", rows=[{"z": 1}])
    with pytest.raises(ValueError, match="'many' is not a number"):
        export(model, to="python", rows=[{"x": "many", "c": "a", "d": None}])


@pytest.mark.parametrize(
    "row",
    [
        {"tags": {"y", "x"}, "age": np.int64(2)},
        {"tags": np.array(["x"]), "age": np.float64(1.5), "city": np.str_("Rome")},
        {"tags": ("x", "y"), "age": Decimal("2.5")},
    ],
)
def test_dicts_to_test_with_become_plain(row, tmp_path):
    model, _ = models.records()
    for language in ("python", "js"):
        self_test(language, model, tmp_path, rows=[row])
    module = {"__name__": "model"}
    exec(export(model, to="python", rows=[row]), module)
    score = model.decision_function([row])[0].tolist()
    assert module["TESTS"][0]["scores"] == pytest.approx(score, rel=1e-12)


def test_no_table_has_so_many_columns():
    model = LinearModel(np.ones((1, 1601)), [0.0], None, "identity")
    with pytest.raises(ExportError, match="takes 1601 columns, and a table of PostgreSQL"):
        export(model, to="sql")
    assert export(model, to="c")


def test_a_model_is_left_as_it_was():
    """Rows with unseen levels are neither counted in its ledger nor warned of."""
    model = models.random_model(TableEncoder().fit(TABLE), 1, "logistic")
    export(model, to="python")
    assert model.encoder.unseen_ == {}
    records, _ = models.records()
    before = records.encoder.unseen_
    export(records, to="python")
    assert records.encoder.unseen_ == before
    encoder = OneHotEncoder(handle_unknown="warn", drop="first").fit([["a"], ["b"], ["c"]])
    assert rows_tested(export(models.random_model(encoder), to="python"))


def test_python_of_long_ago_can_read_it():
    for make in (models.penguins, models.text_column, models.records, models.infrequent):
        ast.parse(export(make()[0], to="python"), feature_version=(3, 8))


def test_pandas_na_is_missing():
    model = models.random_model(TableEncoder().fit(TABLE), 1, "logistic")
    module = {"__name__": "model"}
    exec(export(model, to="python"), module)
    assert module["scores"]([pd.NA, pd.NA, pd.NaT]) == module["scores"]([None, None, None])


def test_a_page_runs_it_too(tmp_path):
    """There is neither ``module`` nor ``require`` in a page."""
    file = tmp_path / "m.js"
    file.write_text(export(models.text_column()[0], to="js"))
    script = (
        f"const code = require('fs').readFileSync({str(file)!r}, 'utf8');"
        "console.log(require('vm').runInNewContext(`${code}; separableModel.selfTest().length`))"
    )
    line = [tool("node"), "-e", script]
    assert subprocess.run(line, capture_output=True, text=True, check=True).stdout == "0\n"


def test_dates_of_javascript(tmp_path):
    table = {"d": ["2024-01-31 10:00", "2023-01-01 09:30", None]}
    model = models.random_model(TableEncoder().fit(table), 1, "identity")
    file = tmp_path / "m.js"
    file.write_text(export(model, to="js"))
    script = (
        f"const m = require({str(file)!r});"
        "const day = new Date(Date.UTC(2024, 0, 31, 10));"
        "console.log(m.predict([day]) === m.predict(['2024-01-31T10:00']),"
        "m.predict([new Date(NaN)]) === m.predict([null]))"
    )
    line = [tool("node"), "-e", script]
    assert subprocess.run(line, capture_output=True, text=True, check=True).stdout == "true true\n"


def test_a_changed_file_fails_its_test(plain, tmp_path):
    with pytest.raises(AssertionError, match="FAILED"):
        self_test_of(export(plain, to="python").replace("[-2.0]", "[-2.5]"), tmp_path)


def self_test_of(code, folder):
    (folder / "m.py").write_text(code)
    done = subprocess.run(
        [sys.executable, "-I", folder / "m.py"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


# --- refusals ---


def test_an_unknown_language(plain):
    with pytest.raises(
        ValueError, match=r"must be one of 'onnx', .* Got 'pyhton' instead \(did you"
    ):
        export(plain, to="pyhton")


def test_a_learner_that_is_not_fitted():
    with pytest.raises(ExportError, match=r"got Perceptron\. Fit it first"):
        export(Perceptron(), to="c")


@pytest.mark.parametrize("option", [{"table": "t"}, {"keep": ["id"]}])
def test_options_of_other_languages(plain, option):
    with pytest.raises(ValueError, match="is for SQL, and to='c'"):
        export(plain, to="c", **option)


@EVERY
def test_votes_are_refused(language):
    voted = VotedPerceptron().fit([[0.0], [1.0], [3.0]], [0, 1, 1])
    with pytest.raises(ExportError, match=r"models that vote.* Train an AveragedPerceptron"):
        export(voted, to=language)


@TEXT_REFUSED
def test_texts_are_refused(language, called):
    with pytest.raises(
        ExportError, match=f"takes texts, and {called} has neither Python's letters"
    ):
        export(models.texts("words")[0], to=language)
    with pytest.raises(ExportError, match="has a column of texts, 'review', and"):
        export(models.text_column()[0], to=language)


@TEXT_REFUSED
def test_records_are_refused(language, called):
    with pytest.raises(ExportError, match=f"DictEncoder, .* as rows in {called} have"):
        export(models.records()[0], to=language)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"tokenizer": str.split, "token_pattern": None}, "'tokenizer' is a function"),
        ({"analyzer": lambda text: text.split()}, "'analyzer' is a function"),
        ({"preprocessor": str.upper}, "'preprocessor' is a function"),
        ({"dtype": np.float32}, "rounds to float32"),
    ],
)
def test_texts_that_nobody_can_have(options, problem):
    model = models.random_model(TextEncoder(**options).fit(["a good film"]), 1)
    with pytest.raises(ExportError, match=problem):
        export(model, to="python")


def test_files_as_texts(tmp_path):
    (tmp_path / "text").write_text("a good film")
    encoder = TextEncoder(input="filename").fit([tmp_path / "text"])
    with pytest.raises(ExportError, match="opens no files"):
        export(models.random_model(encoder), to="python")


def test_an_infinite_idf():
    encoder = TextEncoder(vocabulary=["good", "bad"], smooth_idf=False).fit(["good"])
    with pytest.raises(ExportError, match="idf of the term 'bad' is infinite"):
        export(models.random_model(encoder), to="python")


def test_a_pattern_of_ones_own_is_for_python():
    model = models.random_model(TextEncoder(token_pattern=r"[a-z]+").fit(["a good-film"]), 1)
    assert rows_tested(export(model, to="python"))
    with pytest.raises(
        ExportError, match=r"token_pattern '\[a-z\]\+' is a regular expression of Python"
    ):
        export(model, to="js")


def test_classes_and_levels_beyond_2_to_the_53(plain):
    big = LinearModel([[1.0]], [0.0], [1, 2**53 + 1], "score")
    assert str(2**53 + 1) in export(big, to="python")
    with pytest.raises(ExportError, match="9007199254740993 is beyond"):
        export(big, to="js")
    encoder = OneHotEncoder().fit(np.array([[2**60], [1]], dtype=object))
    with pytest.raises(ExportError, match="of type int, which other languages"):
        export(models.random_model(encoder), to="python")


def test_none_and_nan_as_two_levels():
    encoder = OneHotEncoder().fit(np.array([[None], [np.nan], ["a"]], dtype=object))
    with pytest.raises(ExportError, match="both None and NaN as levels"):
        export(models.random_model(encoder), to="python")


@pytest.mark.parametrize("language", ["sql", "onnx"])
def test_levels_of_two_types(language):
    encoder = OneHotEncoder(categories=[["a", 1]]).fit(np.array([["a"], [1]], dtype=object))
    with pytest.raises(ExportError, match="has texts and numbers as levels"):
        export(models.random_model(encoder), to=language)


def test_a_threshold_below_0_of_sparse_rows():
    model = models.random_model(TextEncoder().fit(["a good film"]), threshold=-1.0)
    with pytest.raises(ExportError, match="threshold -1 is below 0"):
        export(model, to="python")


def test_too_many_classes_for_sql():
    n = 201
    model = LinearModel(np.eye(n, 2), np.zeros(n), list(range(n)), "score")
    with pytest.raises(ExportError, match="201 classes"):
        export(model, to="sql")


def test_names_out_of_sql(plain):
    with pytest.raises(ExportError, match="not all different in SQL"):
        export(plain, to="sql", keep=["Score"])
    with pytest.raises(ExportError, match="empty name"):
        export(LinearModel([[1.0]], [0.0], None, "identity", [""]), to="sql")


def test_without_onnx(plain, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r"needs onnx, .*Run: pip install onnx$"):
        export(plain, to="onnx")


def test_metadata_of_onnx():
    onnx = pytest.importorskip("onnx")
    model, _ = models.penguins()
    known = {
        each.key: each.value
        for each in onnx.load_from_string(export(model, to="onnx")).metadata_props
    }
    assert known["separable.learner"] == "LogisticRegression"
    columns = json.loads(known["separable.columns"])
    assert columns[0] == {"column": "island", "input": "island", "takes": "text", "missing": ""}
    assert json.loads(known["separable.classes"]) == ["Adelie", "Chinstrap", "Gentoo"]


def test_a_model_of_one_class(tmp_path):
    model = LinearModel([[1.0, 2.0]], [0.0], ["only"], "logistic", ["p", "q"])
    for language in LANGUAGES:
        self_test(language, model, tmp_path)


def test_booleans_and_numbers_as_classes(tmp_path):
    for classes in ([False, True], [-1, 1], [0.5, 1.5]):
        model = LinearModel([[1.0, 2.0]], [0.0], classes, "logistic", ["p", "q"])
        for language in LANGUAGES:
            self_test(language, model, tmp_path)


def test_a_dict_encoder_from_a_file(tmp_path):
    encoder = DictEncoder().fit([{"a": 1, "b": "x"}, {"b": ["y", "z"]}])
    model = models.random_model(encoder, 1, "logistic")
    model.save(tmp_path / "m")
    assert export(load(tmp_path / "m"), to="js") == export(model, to="js")
