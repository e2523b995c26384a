"""Anything tabular to columns."""

from __future__ import annotations

import datetime as dt
import subprocess
import sys
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from separable.data.columns import Categories, Columns, Numbers, as_columns
from separable.data.table import TableError


def plain(columns: Columns) -> dict[str, list[object]]:
    """Columns as Python lists, None where missing."""
    out: dict[str, list[object]] = {}
    for name, column in columns.items():
        if isinstance(column, Numbers):
            assert column.values.dtype == np.float64
            out[name] = [None if np.isnan(v) else v for v in column.values.tolist()]
        else:
            assert column.codes.dtype == np.int32
            out[name] = [None if c < 0 else column.levels[c] for c in column.codes.tolist()]
    return out


EXPECTED = {
    "x": [1.5, None, -2.0],
    "n": [1.0, 2.0, 3.0],
    "city": ["Rome", None, "Oslo"],
    "member": ["True", "False", "True"],
}
RAW = {
    "x": [1.5, None, -2.0],
    "n": [1, 2, 3],
    "city": ["Rome", None, "Oslo"],
    "member": [True, False, True],
}


@pytest.mark.parametrize(
    "make",
    [
        dict,
        lambda raw: [dict(zip(raw, row, strict=True)) for row in zip(*raw.values(), strict=True)],
        pa.table,
        lambda raw: pa.table(raw).to_batches()[0],
        lambda raw: pa.concat_tables([pa.table(raw).slice(0, 1), pa.table(raw).slice(1)]),
        lambda raw: pa.table({k: [None, *v] for k, v in raw.items()}).slice(1),
        pd.DataFrame,
        pl.DataFrame,
        lambda raw: {k: pa.array(v) for k, v in raw.items()},
        lambda raw: {k: np.array(v, dtype=object) for k, v in raw.items()},
        lambda raw: dict(pd.DataFrame(raw).items()),
        lambda raw: {k: pl.Series(v) for k, v in raw.items()},
    ],
)
def test_every_kind_of_table_gives_the_same_columns(make):
    columns = as_columns(make(RAW))
    assert columns.n_rows == 3
    assert columns.names == tuple(RAW)
    assert plain(columns) == EXPECTED


def test_columns_are_passed_through():
    columns = as_columns(RAW)
    assert as_columns(columns) is columns


def test_a_pandas_index_is_not_a_column():
    frame = pd.DataFrame(RAW, index=pd.Index([7, 3, 5], name="id"))
    assert as_columns(frame).names == tuple(RAW)
    assert as_columns(frame.iloc[[2, 0]]).names == tuple(RAW)


@pytest.mark.parametrize(
    "values",
    [
        pd.Series(["b", None, "a"], dtype="category"),
        pd.Series(["b", pd.NA, "a"], dtype="string"),
        pl.Series(["b", None, "a"], dtype=pl.Categorical),
        pl.Series(["b", None, "a"], dtype=pl.Enum(["a", "b", "unused"])),
        pa.array(["b", None, "a"], pa.large_string()),
        pa.array(["b", None, "a"], pa.string_view()),
        pa.array(["b", None, "a"]).dictionary_encode(),
        ["b", float("nan"), "a"],
        ["b", pd.NA, "a"],
        pa.DictionaryArray.from_arrays(pa.array([0, 1, 2]), pa.array(["b", None, "a"])),
        pa.DictionaryArray.from_arrays(
            pa.array([1, None, 2], pa.int8()), pa.array(["b", "b", "a"])
        ),
    ],
)
def test_ways_to_write_categories(values):
    column = as_columns({"c": values})["c"]
    assert isinstance(column, Categories)
    assert len(set(column.levels)) == len(column.levels)
    assert plain(as_columns({"c": values})) == {"c": ["b", None, "a"]}


@pytest.mark.parametrize(
    "values",
    [
        np.array([1, 2], dtype=np.int8),
        np.array([1, 2], dtype=np.float32),
        [np.float32(1), np.int64(2)],
        [Decimal(1), Decimal("2.0")],
        pa.array([1, 2], pa.uint8()),
        pa.array([Decimal(1), Decimal(2)], pa.decimal128(5, 2)),
        pa.array([1, 2], pa.int64()).dictionary_encode(),
        pd.Series([1, 2], dtype="Int64"),
    ],
)
def test_ways_to_write_numbers(values):
    assert plain(as_columns({"x": values})) == {"x": [1.0, 2.0]}


def test_a_column_of_nothing_is_a_column_of_missing_numbers():
    assert plain(as_columns({"x": [None, None]})) == {"x": [None, None]}
    assert plain(as_columns(pa.table({"x": pa.nulls(2)}))) == {"x": [None, None]}


def test_dates_are_texts():
    day = dt.date(2024, 2, 29)
    assert plain(as_columns(pa.table({"d": [day]}))) == {"d": ["2024-02-29"]}
    assert plain(as_columns({"d": [day]})) == {"d": ["2024-02-29"]}
    assert plain(as_columns({"d": np.array([day], "M8[D]")})) == {"d": ["2024-02-29"]}


def test_mixed_values_are_texts():
    assert plain(as_columns({"x": [1, "a", True]})) == {"x": ["1", "a", "True"]}


def test_a_row_without_a_key_misses_the_value():
    assert plain(as_columns([{"a": 1}, {"a": 2, "b": "x"}])) == {"a": [1.0, 2.0], "b": [None, "x"]}


def test_numbers_as_categories():
    column = Numbers(np.array([2.0, np.nan, 0.5, 2.0, -3.0, 1e20])).as_categories()
    texts = [None if code < 0 else column.levels[code] for code in column.codes.tolist()]
    assert texts == ["2", None, "0.5", "2", "-3", "1e+20"]
    assert Numbers(np.zeros(0)).as_categories().levels == ()


def test_only_columns_asked_for_are_converted():
    columns = as_columns({"x": [1.0], "nested": [[1, 2]]})
    assert isinstance(columns["x"], Numbers)
    with pytest.raises(TableError, match="Column 'nested' holds a list in row 0"):
        columns["nested"]
    with pytest.raises(TableError, match=r"Column 'nested' holds list.*neither numbers nor text"):
        as_columns(pa.table({"nested": [[1, 2]]}))["nested"]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (np.zeros((3, 2)), r"named columns, got ndarray of shape \(3, 2\)"),
        ("data.csv", "named columns, got str"),
        ({"x": 3}, "Column 'x' is a single value, 3.*a list with one dict"),
        ({"x": "abc"}, "Column 'x' is a single value"),
        ({"x": [1], "y": [1, 2]}, "differ in length: 'x' has 1, 'y' has 2"),
        ([{"x": 1}, [2]], "row 1 is a list"),
        (pa.table([[1], [2]], names=["x", "x"]), "more than once: 'x'"),
        (pd.DataFrame([[1, 2]], columns=["x", "x"]), "more than once: 'x'"),
        ({1: [1, 2], "1": [3, 4]}, "more than once: '1'. Rename them"),
        ([{1: 1}, {"1": 3}], "more than once: '1'"),
    ],
)
def test_what_is_not_a_table(data, message):
    with pytest.raises(TableError, match=message):
        as_columns(data)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.zeros((2, 2)), "Column 'x' has 2 dimensions"),
        ([np.complex128(1), np.complex128(2)], "Column 'x' holds complex numbers"),
        (np.array([1j, 2j]), "Column 'x' holds complex numbers"),
        (pd.Series([1j, 2j]), "Column 'x' holds complex numbers"),
        ([{"a": 1}, None], "Column 'x' holds a dict in row 0"),
    ],
)
def test_what_is_not_a_column(values, message):
    with pytest.raises(TableError, match=message):
        as_columns({"x": values})["x"]


def test_pandas_columns_of_several_kinds_are_read_one_by_one():
    frame = pd.DataFrame({"a": [1, 2, 3], "m": [1, "x", None], "z": [1j, 2j, 3j]}, index=[7, 8, 9])
    columns = as_columns(frame)
    assert (columns.names, columns.n_rows) == (("a", "m", "z"), 3)
    assert plain(as_columns(frame[["a", "m"]])) == {"a": [1.0, 2.0, 3.0], "m": ["1", "x", None]}
    with pytest.raises(TableError, match="Column 'z' holds complex numbers"):
        columns["z"]
    assert plain(as_columns(pd.DataFrame({"x": [10**400, 1]}, dtype=object))) == {
        "x": [np.inf, 1.0]
    }


def test_a_whole_number_beyond_float64_is_infinite():
    assert plain(as_columns({"x": [10**400]})) == {"x": [np.inf]}


@pytest.mark.slow
def test_polars_and_arrow_import_no_pandas():
    script = (
        "import os, sys, polars, io; from separable.data.columns import as_columns;"
        "from separable.data import read;"
        "dict(as_columns(polars.DataFrame({'x': [1, None], 'c': ['a', None], 'b': [True, None]})));"
        "dict(as_columns(read(io.BytesIO(b'a,b\\n1,x\\nNA,?\\n')).table));"
        # at once: threads of polars and pyarrow sometimes abort an interpreter that shuts down
        "os._exit(any(name in sys.modules for name in ('pandas', 'scipy', 'sklearn')))"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


# --- moments and durations: one text, whatever the unit ---


MOMENTS = [dt.datetime(2020, 1, 2), dt.datetime(2020, 1, 2, 3, 4, 5, 500_000), None]


@pytest.mark.parametrize(
    "column",
    [
        MOMENTS,
        [None if m is None else np.datetime64(m) for m in MOMENTS[:2]] + [np.datetime64("NaT")],
        np.array(MOMENTS, "datetime64[ns]"),
        np.array(MOMENTS, "datetime64[us]"),
        pa.array(MOMENTS, pa.timestamp("ms")),
        pa.array(MOMENTS, pa.timestamp("ns")),
        pd.Series(MOMENTS),
        pd.Series(MOMENTS).dt.tz_localize("Europe/Rome"),
        pl.Series(MOMENTS),
    ],
)
def test_moments_as_categories_are_the_same_texts(column):
    result = as_columns({"when": column})["when"]
    assert [None if c < 0 else result.levels[c] for c in result.codes] == [
        "2020-01-02",
        "2020-01-02 03:04:05.5",
        None,
    ]


@pytest.mark.parametrize(
    "column",
    [
        [dt.timedelta(hours=1), None],
        np.array([3600, "NaT"], "timedelta64[s]"),
        pa.array([3600 * 10**9, None], pa.duration("ns")),
        pl.Series([dt.timedelta(hours=1), None]),
        pd.Series([dt.timedelta(hours=1), None]),
    ],
)
def test_durations_are_numbers_of_seconds(column):
    np.testing.assert_array_equal(as_columns({"t": column})["t"].values, [3600, np.nan])


def test_times_are_the_same_texts_from_arrow_and_from_python():
    times = [dt.time(1), dt.time(2, 30)]
    for column in (times, pa.array(times, pa.time64("ns")), pl.Series(times)):
        assert as_columns({"t": column})["t"].levels == ("01:00:00", "02:30:00")
