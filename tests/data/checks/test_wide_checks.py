"""Checks of tables with many columns: blocks of columns are looked at together."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from separable.data import check, duplicates_between
from separable.data import columns as columns_module
from separable.data.checks import (
    column_checks,
    leakage,
    numbers,
    table_view,
)
from separable.data.columns import as_columns
from separable.data.ingest.dates import typed_column
from separable.data.resources import in_threads


def _counted(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str) -> list[int]:
    """Count the calls of a function in the list that is returned."""
    calls: list[int] = []
    before = getattr(owner, name)

    def counting(*given: Any, **named: Any) -> Any:
        calls.append(1)
        return before(*given, **named)

    monkeypatch.setattr(owner, name, counting)
    return calls


def _wide(columns: int = 2000, rows: int = 40) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    table: dict[str, Any] = {f"c{index}": rng.normal(size=rows) for index in range(columns)}
    table["y"] = ["yes" if value > 0 else "no" for value in rng.normal(size=rows)]
    return table


def test_many_columns_are_checked_together(monkeypatch: pytest.MonkeyPatch) -> None:
    table = _wide()
    table["c900"] = [3.0 if label == "yes" else -2.0 for label in table["y"]]
    table["c1500"] = 7 - 2.5 * table["c30"]
    table["c1600"] = table["c31"].copy()
    table["c31"][4] = table["c1600"][4] = np.nan
    coded = _counted(monkeypatch, table_view, "codes_of")
    mixed = _counted(monkeypatch, table_view, "mixed")

    result = check(table, "y")

    pairs = {(each.kind, each.columns) for each in result}
    assert ("leakage", ("c900",)) in pairs
    duplicates = {columns for kind, columns in pairs if kind == "duplicate columns"}
    assert duplicates == {("c30", "c1500"), ("c31", "c1600")}
    assert len(coded) < 50
    assert len(mixed) < 50


def test_codes_of_many_columns_are_those_of_each() -> None:
    rng = np.random.default_rng(1)
    values = rng.integers(-3, 3, size=(500, 30)).astype(float)
    values[rng.random(values.shape) < 0.2] = np.nan
    values[rng.random(values.shape) < 0.1] = -0.0
    table = {f"c{index}": column for index, column in enumerate(values)}
    view = table_view.TableView(as_columns(table), list(table), None)
    for name, column in table.items():
        expected = np.unique(column, return_inverse=True)[1]
        np.testing.assert_array_equal(view.codes(name), expected)


def test_equal_rows_of_many_columns_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same in blocks of any size; values that change places make another row."""
    train = {name: np.asarray(column) for name, column in _wide(300).items()}
    test = {name: column[[5, 5, 7, 9]].copy() for name, column in train.items()}
    test["c3"][1] += 1
    test["c10"][2], test["c200"][2] = test["c200"][2], test["c10"][2]
    for size in (1, 1000, 1 << 16):
        monkeypatch.setattr(columns_module, "BLOCK_VALUES", size)
        assert duplicates_between(train, test) == (2, [(5, 0), (9, 3)])


def test_plain_numbers_are_taken_without_a_cast(monkeypatch: pytest.MonkeyPatch) -> None:
    """Columns of float64, with nulls or not; all others by the way that casts."""
    values = np.array([1.5, -0.0, np.inf, 1e-300])
    plain = pa.table({"a": values, "b": [1, 2, 3, 4], "c": [1.5, None, 2.5, 3.5]})
    sliced = pa.table({"d": np.arange(9.0)}).slice(3, 4)
    columns = {**as_columns(plain)._raw, **as_columns(sliced)._raw}
    cast = _counted(monkeypatch, columns_module, "floats")
    made = {name: typed_column(as_columns(columns), name).values for name in "abcd"}
    assert len(cast) == 1  # the whole numbers
    np.testing.assert_array_equal(np.signbit(made["a"]), np.signbit(values))
    np.testing.assert_array_equal(made["a"], values)
    np.testing.assert_array_equal(made["b"], [1, 2, 3, 4])
    np.testing.assert_array_equal(made["c"], [1.5, np.nan, 2.5, 3.5])
    np.testing.assert_array_equal(made["d"], [3, 4, 5, 6])
    made["d"][0] = 7  # a copy: the table stays as it is
    assert sliced["d"].to_pylist() == [3, 4, 5, 6]


def test_many_small_items_are_few_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    tasks = _counted(monkeypatch, ThreadPoolExecutor, "submit")
    assert in_threads(2, lambda item: item * item, range(10_001)) == [n * n for n in range(10_001)]
    assert len(tasks) < 200
    tasks.clear()
    assert in_threads(2, str, iter("abc")) == ["a", "b", "c"]
    assert len(tasks) == 3  # a few large items are shared out one by one


def _with_faults(columns: int, rows: int = 120) -> dict[str, Any]:
    """A wide table with one fault of each kind, and nothing else to find."""
    rng = np.random.default_rng(4)
    table: dict[str, Any] = {f"c{index}": rng.normal(5, 1, rows) for index in range(columns)}
    table["c3"] = np.full(rows, 2.5)
    table["c11"] = np.full(rows, np.nan)
    table["c17"] = np.where(np.arange(rows) == 70, 1.5, np.nan)
    table["c23"] = np.where(np.arange(rows) % 9 == 4, -999.0, table["c23"])
    table["c29"] = np.where(np.arange(rows) % 7 == 2, 0.0, table["c29"] + 20)
    table["c31"] = np.arange(rows) + 40.0
    table["c37"] = 20240100.0 + rng.integers(1, 29, rows)
    table["c41"][9] = 1e6
    table["y"] = rng.choice(["yes", "no"], rows).tolist()
    return table


@pytest.mark.slow
def test_faults_of_single_columns_are_found_among_many(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = {
        ("constant", "c3"),
        ("empty", "c11"),
        ("nearly empty", "c17"),
        ("missing as a number", "c23"),
        ("missing as zero", "c29"),
        ("identifier", "c31"),
        ("date as a number", "c37"),
        ("outlier", "c41"),
    }
    looked = [
        _counted(monkeypatch, numbers, "_sentinel_count"),
        _counted(monkeypatch, numbers, "_zero_is_apart"),
        _counted(monkeypatch, column_checks, "numbers_rows"),
        _counted(monkeypatch, column_checks, "numbers_rows"),
        _counted(monkeypatch, column_checks, "_by_appearance"),
        _counted(monkeypatch, leakage, "_is_recoded"),
    ]
    for columns in (60, 600):
        for calls in looked:
            calls.clear()
        result = check(_with_faults(columns), "y")
        kinds = {(each.kind, name) for each in result for name in each.columns if name != "y"}
        assert {pair for pair in kinds if pair[0] != "leakage"} == expected
        assert all(len(calls) <= 10 for calls in looked)


def test_blocks_do_not_change_findings(monkeypatch: pytest.MonkeyPatch) -> None:
    table = _with_faults(50)
    table["c45"] = 3 - 2 * table["c44"]
    table["b"] = [label == "yes" for label in table["y"]]
    table["k"] = ["red" if label == "yes" else "blue" for label in table["y"]]
    reports = []
    for size in (1, 500, 1 << 16):
        monkeypatch.setattr(columns_module, "BLOCK_VALUES", size)
        reports.append(check(table, "y").to_dict())
    assert reports[0] == reports[1] == reports[2]
    assert {"leakage", "duplicate columns"} <= {each["kind"] for each in reports[0]["findings"]}
