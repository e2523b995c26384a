"""Exported code converts columns as `predict` does, and refuses what it refuses."""

from __future__ import annotations

import warnings
from functools import cache

import numpy as np
import pytest

from separable import LogisticRegression, TableClassifier, load
from separable.export import ExportError, export
from tests.export.running import REFUSED, answers, self_test

#: Columns that every language converts.
COMMON = {
    "usd": ["$1,133.98", "(1,200)", "$5", "n/a"],
    "eur": ["1.234,50 EUR", "12,00 EUR", "3 EUR", "5"],
    "pct": ["38.4%", "5%", "1.25%", "100%"],
    "kg": ["12 kg", "13.5 kg", "9 kg", "8 Kg"],
    "unk": ["1", "2", "3", "unknown"],
    "dmy": ["05.03.2024 10:20", "06.03.2024", "17.03.2024", "unknown"],
    "us": ["3/5/24", "3/15/24", "12/31/23", None],
    "ymd": ["2024/3/5", "2024-03-17 9:05", "2023-01-01", "unknown"],
    "chf": ["12.-", "1'200.50", "9.--", "5"],
    "inr": ["\u20b91,20,000", "\u20b95", "\u20b912,34,567", "n/a"],
    "sp": ["1\u202f234,5", "22\u00a0000", "3,5", "4"],
    "time": ["14:30", "9:05", "23:59:10.5", "n/a"],
}
#: Columns that SQL refuses.
WORDS = {
    "name": ["5 Mar 2024", "Mar 7, 2024 2:05 pm", "2024-03-05", "1/31/2024"],
    "ampm": ["2:30 PM", "9:05 AM", "12:00 PM", "-"],
    "dur": ["1h 30m", "45m", "2h", "1 day"],
}
ODD = [
    "$1,133.98", "(1,200)", "-$5", "$-5.", "$ 12", "1200-", "12$", "abc", "", "1,23", "($5", "$.5",
    "5e3", " 1\u00a0234", "1.234,5 EUR", "7%", "12", "3.5 kg", "5-kg", "5 kg-", "0,123", "1$2",
    "--5", "1,234,567.89", "1234,567", "12 34", "05.03.2024", "5/3/24", "31.12.1999 14:30",
    "5 Mar 2024", "March 5, 2024", "31.02.2024", "1/2.2024", "3/5/24 2:30 PM", "2024/3/5",
    "2024.3.5 7:05:01", "29/02/2023", "1/1/68", "1/1/69", "14:30", "2:30 PM", "1:02:03.5",
    "1h 30m", "1h30m", "2 days 3 hours", "90 min", "-1:30", "12:00 am", "13:00 am", "N/A",
    "Unknown ", None, "sept 5, 2024", "5-Sep-2024", "\u22125", "99:59", "1 h 5", "2024-03-05",
    "2024-03-05 10:00", "10,000.5", "1 000 000,25", "3/5/2024, 9:05", "1.5.24 23:59:59.5",
    "x" * 300, "1,20,000", "12,34,56,789.5", "1,2,345", "100,20,000", "1,20,000,000", "5.-", "5,-",
    "5.--", "12.\u2013 kg", "5.-3", "5.---", "-5.-", ".-", "\u20135", "5;", "5-Sep-24", "1,20,00",
    "5 Mar 68", "5.-kg", "$1,20,000.50",
]  # fmt: skip


TABLES = {"common": COMMON, "words": WORDS, "all": {**COMMON, **WORDS}}


@cache
def model_of(kind):
    columns = TABLES[kind]
    table = {name: values * 6 for name, values in columns.items()}
    target = ["a", "b", "b", "a"] * 6
    target[0] = "b"
    return TableClassifier(LogisticRegression()).fit(table, target).model_


def rows_of(kind):
    columns = TABLES[kind]
    first = {name: values[0] for name, values in columns.items()}
    return [
        list({**first, name: odd}.values())
        for at, name in enumerate(columns)
        for odd in ODD[at % 3 :: 3]  # each text in a third of the columns
    ]


@cache
def expected(kind):
    return said(model_of(kind), rows_of(kind), TABLES[kind])


def said(model, rows, columns):
    scores = []
    for row in rows:
        try:
            scores.append(model.decision_function([dict(zip(columns, row, strict=True))]).item())
        except ValueError:
            scores.append(REFUSED)
    return scores


@pytest.mark.slow
@pytest.mark.parametrize("language", ["python", "js", "c", "sql"])
@pytest.mark.parametrize("kind", ["common", "words"])
def test_exports_agree_with_predict_on_nasty_rows(language, kind, tmp_path):
    model, rows = model_of(kind), rows_of(kind)
    if language == "sql" and kind == "words":
        with pytest.raises(ExportError, match="'name' is converted from texts with names of mon"):
            export(model, to="sql")
        return
    self_test(language, model, tmp_path)
    scores = expected(kind)
    found = [a if a == REFUSED else a.scores[0] for a in answers(language, model, rows, tmp_path)]
    assert 0 < scores.count(REFUSED) < len(rows)
    for row, one, other in zip(rows, found, scores, strict=True):
        assert (one == REFUSED) == (other == REFUSED), row
        assert one == other or abs(one - other) <= 1e-9 * (1 + abs(other)), row


def test_onnx_takes_the_converted_value_and_says_so(tmp_path):
    onnx = pytest.importorskip("onnx")
    model = model_of("all")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        self_test("onnx", model, tmp_path)
    made = onnx.load_from_string(export(model, to="onnx"))
    columns = next(p.value for p in made.metadata_props if p.key == "separable.columns")
    assert '"converted_from": {"kind": "number", "decimal": ",", "group": "."' in columns


def test_a_loaded_model_converts_as_the_saved_one(tmp_path):
    columns = TABLES["all"]
    model, rows = model_of("all"), rows_of("all")[::20]
    model.save(tmp_path / "m")
    again = load(tmp_path / "m")
    assert said(again, rows, columns) == said(model, rows, columns)
    table = dict(columns)
    np.testing.assert_array_equal(again.decision_function(table), model.decision_function(table))
    parts = model.explain(table).by_column()
    total = sum(each[:, 0] if each.ndim > 1 else each for each in parts.values())
    np.testing.assert_allclose(
        total + model.intercept[0], model.decision_function(table), rtol=1e-12, atol=1e-12
    )
