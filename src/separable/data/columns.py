"""Tabular data as named columns: Arrow tables, data frames, dicts of columns, lists of dicts.

A column is ``Numbers`` or ``Categories``, held as NumPy arrays. Data frames are read through
``__arrow_c_stream__``; pandas and polars are never imported. Columns are converted on first access,
so an unused column costs nothing and cannot fail.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np

from separable.data.arrow_arrays import (
    bits,
    floats,
    integers,
    is_text,
    nulls,
    one_chunk,
    text_codes,
)
from separable.data.table import TableError, is_missing, list_names

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa
    from numpy.typing import NDArray


__all__ = [
    "Categories",
    "Column",
    "Columns",
    "Numbers",
    "as_columns",
    "blocks_of",
    "is_index",
    "number_text",
    "pandas_index_columns",
    "stacked",
    "table_of_stream",
    "with_text_names",
]

#: Values per block; a column with more is its own block.
BLOCK_VALUES = 1 << 16

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Numbers:
    """A column of numbers.

    Parameters
    ----------
    values : ndarray of float64
        One number per row; NaN where missing.
    """

    values: NDArray[np.float64]

    def as_categories(self) -> Categories:
        """Return the numbers as text, integers without a decimal point."""
        levels, codes = np.unique(self.values, return_inverse=True)  # NaN comes last, once
        missing = len(levels) > 0 and bool(np.isnan(levels[-1]))
        if missing:
            codes[codes == len(levels) - 1] = -1
            levels = levels[:-1]
        texts = tuple(number_text(level) for level in levels.tolist())
        return Categories(np.array(codes, dtype=np.int32), texts)


@dataclass(frozen=True, slots=True)
class Categories:
    """A column of categories.

    Parameters
    ----------
    codes : ndarray of int32
        Index of each row's level in ``levels``; -1 where missing.
    levels : tuple of str
        Distinct texts, in any order; not all need occur.
    """

    codes: NDArray[np.int32]
    levels: tuple[str, ...]


Column: TypeAlias = Numbers | Categories

#: Durations become seconds.
_A_SECOND = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}


def number_text(value: float) -> str:
    """Return a number as a level: integers without a decimal point."""
    return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)


class Columns(Mapping[str, Column]):
    """Named columns of equal length, each converted on first access.

    Parameters
    ----------
    raw : mapping of str to anything a column can be made from
    n_rows : int
    """

    def __init__(self, raw: Mapping[str, Any], n_rows: int) -> None:
        self._raw = raw
        self.n_rows = n_rows

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Column names, in order."""
        return tuple(self._raw)

    def raw(self, name: str) -> Any:
        """Return the source of a column before conversion."""
        return self._raw[name]

    def __getitem__(self, name: str) -> Column:
        return _column(name, self._raw[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._raw)

    def __len__(self) -> int:
        return len(self._raw)

    def __contains__(self, name: object) -> bool:
        return name in self._raw


def as_columns(data: Any) -> Columns:
    """Convert a table of any kind to columns.

    Parameters
    ----------
    data : pyarrow Table, data frame, dict of columns, list of dicts, or Columns
        A data frame is any object with ``__arrow_c_stream__`` (pandas, polars, DuckDB). In a list
        of dicts each dict is a row; a missing key is a missing value.

    Returns
    -------
    Columns
    """
    if isinstance(data, Columns):
        return data
    if isinstance(data, Mapping):
        return _columns_from_dict(data)
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes, bytearray, memoryview)):
        return _columns_from_records(data)
    if hasattr(data, "__arrow_c_stream__"):
        return _columns_from_stream(data)
    shape = f" of shape {data.shape}" if isinstance(data, np.ndarray) else ""
    raise TableError(
        f"Expected a table with named columns, got {type(data).__name__}{shape}. Pass a data "
        "frame, a pyarrow Table, a dict of columns or a list of dicts, one per row."
    )


def _columns_from_dict(data: Mapping[Any, Any]) -> Columns:
    _refuse_duplicates([str(name) for name in data])
    lengths = {}
    for name, values in data.items():
        if isinstance(values, (str, bytes)) or not hasattr(values, "__len__"):
            raise TableError(
                f"Column {name!r} is a single value, {values!r}, not a list of values. For one row "
                "pass a list with one dict."
            )
        lengths[str(name)] = len(values)
    if len(set(lengths.values())) > 1:
        lengths_text = ", ".join(
            f"{name!r} has {length}" for name, length in list(lengths.items())[:5]
        )
        raise TableError(
            f"The columns differ in length: {lengths_text}. Give all columns the same number of "
            "rows."
        )
    n_rows = next(iter(lengths.values()), 0)
    return Columns({str(name): values for name, values in data.items()}, n_rows)


def _columns_from_records(data: Sequence[Any]) -> Columns:
    for row, record in enumerate(data):
        if not isinstance(record, Mapping):
            raise TableError(
                f"Expected a list of dicts, one per row, but row {row} is a "
                f"{type(record).__name__}. Give each value its column name."
            )
    names = dict.fromkeys(name for record in data for name in record)
    _refuse_duplicates([str(name) for name in names])
    raw = {str(name): [record.get(name) for record in data] for name in names}
    return Columns(raw, len(data))


def _columns_from_stream(data: Any) -> Columns:
    import pyarrow as pa

    if not isinstance(data, pa.Table):
        data = with_text_names(data)
        try:
            data = table_of_stream(data)
        except (pa.ArrowException, ValueError, OverflowError, TypeError):
            if not hasattr(data, "items"):
                raise
            return _columns_from_dict(data)  # by column: only a column that is used can fail
    index = pandas_index_columns(data.schema.metadata or {})
    if index:
        data = data.drop_columns([name for name in index if name in data.column_names])
    names = data.column_names
    _refuse_duplicates(names)
    return Columns(dict(zip(names, data.itercolumns(), strict=True)), data.num_rows)


def with_text_names(data: Any) -> Any:
    """Return a frame of pandas with names of columns that are texts; pandas warns of others."""
    is_pandas = type(data).__module__.partition(".")[0] == "pandas"
    if not is_pandas or not hasattr(data, "set_axis") or not hasattr(data, "columns"):
        return data
    names = [str(name) for name in data.columns]
    if all(isinstance(name, str) for name in data.columns):
        return data
    return data.set_axis(names, axis=1)


def table_of_stream(data: Any) -> pa.Table:
    """Return an Arrow table of a stream, with plain strings: polars has views, also in levels."""
    import pyarrow as pa

    table = pa.RecordBatchReader.from_stream(data).read_all()
    for index, field in enumerate(table.schema):
        column: Any = table.column(index)
        if field.type == pa.string_view():
            column = column.cast(pa.string())
        elif pa.types.is_dictionary(field.type) and field.type.value_type == pa.string_view():
            arrays = [
                pa.DictionaryArray.from_arrays(each.indices, each.dictionary.cast(pa.string()))
                for each in column.chunks
            ]
            kind: Any = pa.dictionary(field.type.index_type, pa.string())
            column = pa.chunked_array(arrays, kind)
        else:
            continue
        table = table.set_column(index, field.name, column)
    return table


def _refuse_duplicates(names: list[str]) -> None:
    """Reject names that are equal as text."""
    if len(set(names)) == len(names):
        return
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise TableError(
            f"Column names appear more than once: {list_names(twice, 5)}. Rename them."
        )


def pandas_index_columns(metadata: Mapping[bytes, bytes]) -> set[str]:
    """Return the columns that hold a pandas index (row labels, not data)."""
    index = json.loads(metadata.get(b"pandas", b"{}")).get("index_columns", [])
    return {name for name in index if isinstance(name, str)}


#: Names that pandas and Parquet give to an index without a name.
_INDEX_NAME = re.compile(r"Unnamed: \d+|__index_level_\d+__")


def is_index(name: str, values: NDArray[np.float64]) -> bool:
    """Return whether a numeric column is an index of rows that was saved with a data frame.

    Parameters
    ----------
    name : str
    values : ndarray of float64
    """
    if _INDEX_NAME.fullmatch(name) is None or not np.all(values == np.floor(values)):
        return False
    return len(np.unique(values)) == len(values)


def _column(name: str, values: Any) -> Column:
    if hasattr(values, "__arrow_c_stream__") or hasattr(values, "__arrow_c_array__"):
        import pyarrow as pa

        try:
            return _column_from_arrow(name, values)
        except (pa.ArrowException, OverflowError):
            if isinstance(values, (pa.Array, pa.ChunkedArray)):
                raise
            # objects of mixed types, as pandas stores them: converted individually below
    if isinstance(values, np.ndarray):
        if values.ndim != 1:
            raise TableError(f"Column {name!r} has {values.ndim} dimensions; it must have 1.")
        if values.dtype.kind in "iuf":
            return Numbers(values.astype(np.float64))
        values = values.tolist() if values.dtype.kind not in "mM" else list(values)
    return _column_from_objects(name, list(values))


def _column_from_objects(name: str, values: list[Any]) -> Column:
    """Return numbers if every present value is one, else categories of the texts."""
    plain = _column_of_one_type(values)
    if plain is not None:
        return plain
    present = {type(value) for value in values if not is_missing(value)}
    numeric = (int, float, complex, Decimal, np.number, dt.timedelta)
    if all(issubclass(kind, numeric) and kind is not bool for kind in present):
        _refuse_complex(name, present)
        return Numbers(np.array([_to_float(value) for value in values], dtype=np.float64))
    _refuse_nested(name, values, present)
    code_of: dict[str, int] = {}
    codes = [-1 if is_missing(v) else code_of.setdefault(_text(v), len(code_of)) for v in values]
    return Categories(np.array(codes, dtype=np.int32), tuple(code_of))


def _column_of_one_type(values: list[Any]) -> Column | None:
    """Return a column of plain numbers, or of plain texts, or None; None is a missing value."""
    kinds = set(map(type, values)) - {type(None)}
    if kinds and kinds <= {int, float}:
        try:
            return Numbers(np.array(values, dtype=np.float64))
        except OverflowError:  # an integer beyond float64
            return None
    if kinds != {str}:
        return None
    levels = [level for level in dict.fromkeys(values) if level is not None]
    code_of = {level: code for code, level in enumerate(levels)} | {None: -1}
    codes = np.fromiter(map(code_of.__getitem__, values), np.int32, len(values))
    return Categories(codes, tuple(levels))


def _text(value: Any) -> str:
    """Return a value as a level; a timestamp as in `_moment_text`, in local time."""
    if isinstance(value, (dt.datetime, dt.time)):
        return _moment_text(str(value.replace(tzinfo=None)))
    return _moment_text(str(value)) if isinstance(value, np.datetime64) else str(value)


def _moment_text(text: str) -> str:
    """Return a timestamp as text independent of its unit: without trailing zeros."""
    text = text.replace("T", " ")
    text = text.rstrip("0").removesuffix(".") if "." in text else text
    return text.removesuffix(" 00:00:00").removesuffix(" 00:00")


def _to_float(value: Any) -> float:
    if is_missing(value):
        return np.nan
    if isinstance(value, np.timedelta64):
        return float(value / np.timedelta64(1, "s"))
    if isinstance(value, dt.timedelta):
        return value.total_seconds()
    try:
        return float(value)
    except OverflowError:  # an integer beyond float64
        return np.inf


def _refuse_complex(name: str, kinds: set[type]) -> None:
    if any(issubclass(kind, (complex, np.complexfloating)) for kind in kinds):
        raise TableError(
            f"Column {name!r} holds complex numbers. Store real and imaginary parts as columns."
        )


def _refuse_nested(name: str, values: list[Any], kinds: set[type]) -> None:
    nested = [kind for kind in kinds if issubclass(kind, (list, tuple, dict, set, np.ndarray))]
    if nested:
        row = next(i for i, value in enumerate(values) if type(value) is nested[0])
        raise TableError(
            f"Column {name!r} holds a {nested[0].__name__} in row {row}. Store one value per row."
        )


# --- Arrow ---


def _column_from_arrow(name: str, values: Any) -> Column:
    import pyarrow as pa
    from pyarrow import types

    array: Any = one_chunk(values)
    kind = array.type
    if types.is_null(kind):
        return Numbers(np.full(len(array), np.nan))
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return Numbers(floats(array))
    if types.is_boolean(kind):
        codes = np.where(nulls(array), -1, bits(array, 1)).astype(np.int32)
        return Categories(codes, ("False", "True"))
    if types.is_dictionary(kind):
        if not is_text(kind.value_type):
            return _column_from_arrow(name, array.dictionary_decode())
        return _column_from_dictionary(array)
    if is_text(kind):
        codes, levels = text_codes(array.cast(pa.large_string()))
        return Categories(codes, tuple(levels))
    if types.is_duration(kind):
        return Numbers(floats(array.cast(pa.int64())) / _A_SECOND[kind.unit])
    if types.is_temporal(kind):
        return _moments(array)
    raise TableError(
        f"Column {name!r} holds {kind}, which is neither numbers nor text. Leave it out or store "
        "one value per row."
    )


def _moments(array: Any) -> Categories:
    """Return dates and times as categories."""
    import pyarrow as pa
    from pyarrow import compute

    if getattr(array.type, "tz", None) is not None:
        array = compute.local_timestamp(array)
    codes, levels = text_codes(array.cast(pa.large_string()))
    return Categories(codes, tuple(_moment_text(level) for level in levels))


def _column_from_dictionary(array: Any) -> Categories:
    import pyarrow as pa

    codes = integers(array.indices.cast(pa.int32()))
    levels = array.dictionary.cast(pa.large_string()).to_pylist()
    if None in levels:  # a null may be one of the levels
        codes[codes == levels.index(None)] = -1
        levels = ["" if level is None else level for level in levels]
    if len(set(levels)) < len(levels):
        code_of: dict[str, int] = {}
        order = np.array([code_of.setdefault(level, len(code_of)) for level in levels])
        codes, levels = np.where(codes < 0, -1, order[codes]).astype(np.int32), list(code_of)
    return Categories(codes, tuple(levels))


def blocks_of(columns: Sequence[Item], n_rows: int) -> Iterator[Sequence[Item]]:
    """Yield columns in blocks, in order.

    Parameters
    ----------
    columns : sequence
        Columns, or one item per column, such as its name.
    n_rows : int
    """
    size = max(1, BLOCK_VALUES // max(n_rows, 1))
    for start in range(0, len(columns), size):
        yield columns[start : start + size]


def stacked(columns: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Return columns of equal length as the rows of a matrix; a single column is not copied."""
    if len(columns) == 1:
        return np.ascontiguousarray(columns[0]).reshape(1, -1)
    return np.concatenate(columns).reshape(len(columns), -1)
