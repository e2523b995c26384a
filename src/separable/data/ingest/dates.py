"""Date and boolean columns, recognized by type or parsed from text."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.arrow_arrays import (
    as_arrow,
    bits,
    flat,
    float_columns,
    is_float_column,
    nulls,
    one_chunk,
)
from separable.data.columns import Categories, Column, Columns, Numbers
from separable.data.table import CellError

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import NDArray

__all__ = [
    "ISO_DATE",
    "Booleans",
    "Dates",
    "TypedColumn",
    "TypedColumns",
    "are_yes_and_no",
    "booleans_from",
    "dates_from",
    "is_date",
    "read_boolean",
    "read_date",
    "typed_column",
    "typed_columns",
]

#: ISO 8601 dates, with or without a time.
ISO_DATE = r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?"
_DATE = re.compile(ISO_DATE, re.ASCII)
_WORDS = {
    **dict.fromkeys(("true", "yes", "t", "y", "1"), 1.0),
    **dict.fromkeys(("false", "no", "f", "n", "0"), 0.0),
}
#: Words of which a text column with both meanings is boolean; t and f alone may be other levels.
_YES_NO = ({"yes", "no", "y", "n"}, {"true", "false", "t", "f"})
_EPOCH = dt.datetime(1970, 1, 1)


@dataclass(frozen=True, slots=True)
class Dates:
    """A column of dates.

    Parameters
    ----------
    values : ndarray of datetime64[us]
        Local time if the column has a time zone, UTC for texts with an offset; NaT where missing.
    """

    values: NDArray[np.datetime64]

    def as_categories(self) -> Categories:
        """Return the dates as text."""
        values, inverse = np.unique(self.values, return_inverse=True)
        present = ~np.isnat(values)
        codes = np.where(present[inverse], inverse, -1).astype(np.int32)
        texts = np.datetime_as_string(values[present]).tolist()
        return Categories(codes, tuple(text.replace("T", " ") for text in texts))


@dataclass(frozen=True, slots=True)
class Booleans:
    """A column of booleans.

    Parameters
    ----------
    values : ndarray of float64
        1 for true, 0 for false, NaN where missing.
    """

    values: NDArray[np.float64]

    def as_categories(self) -> Categories:
        """Return the booleans as the levels False and True."""
        codes = np.where(np.isnan(self.values), -1, self.values).astype(np.int32)
        return Categories(codes, ("False", "True"))


TypedColumn = Column | Dates | Booleans


class TypedColumns(Columns):
    """Columns that are parsed once, for tables that are read twice.

    Parameters
    ----------
    columns : Columns
    """

    def __init__(self, columns: Columns) -> None:
        super().__init__({name: columns.raw(name) for name in columns.names}, columns.n_rows)
        self._columns = columns
        self._known: dict[str, TypedColumn] = {}

    def parsed(self, names: Sequence[str]) -> list[TypedColumn]:
        """Return parsed columns; each is converted on first access."""
        new = [name for name in names if name not in self._known]
        if new:
            self._known.update(zip(new, typed_columns(self._columns, new), strict=True))
        return [self._known[name] for name in names]

    def put(self, name: str, column: TypedColumn) -> None:
        """Take a parsed column instead of the raw one."""
        self._known[name] = column

    def __getitem__(self, name: str) -> Column:
        (column,) = self.parsed([name])
        return super().__getitem__(name) if isinstance(column, (Dates, Booleans)) else column


def typed_column(columns: Columns, name: str) -> TypedColumn:
    """Return a column as numbers, categories, dates or booleans, by its type.

    Parameters
    ----------
    columns : Columns
    name : str

    Returns
    -------
    Numbers, Categories, Dates or Booleans
    """
    return typed_columns(columns, [name])[0]


def typed_columns(columns: Columns, names: Sequence[str]) -> list[TypedColumn]:
    """Return `typed_column` for each name; float64 columns are converted together.

    Parameters
    ----------
    columns : Columns
    names : sequence of str
        All are held in memory at once: process a long table in blocks (`blocks_of`).

    Returns
    -------
    list of Numbers, Categories, Dates or Booleans
    """
    if isinstance(columns, TypedColumns):
        return columns.parsed(names)
    raw = [columns.raw(name) for name in names]
    are_floats = [hasattr(each, "__arrow_c_stream__") and is_float_column(each) for each in raw]
    floats = [column for column, is_float in zip(raw, are_floats, strict=True) if is_float]
    numbers = iter(map(Numbers, float_columns(floats)) if floats else ())
    return [
        next(numbers) if is_float else _typed(columns, name, column)
        for name, column, is_float in zip(names, raw, are_floats, strict=True)
    ]


def _typed(columns: Columns, name: str, raw: Any) -> TypedColumn:
    if hasattr(raw, "__arrow_c_stream__") or hasattr(raw, "__arrow_c_array__"):
        parsed = _from_arrow(raw)
    elif isinstance(raw, np.ndarray) and raw.ndim == 1 and raw.dtype.kind in "bM":
        parsed = _from_numpy(raw)
    elif isinstance(raw, (list, tuple)) or (isinstance(raw, np.ndarray) and raw.dtype.kind == "O"):
        parsed = _from_objects(raw)
    else:
        parsed = None
    return columns[name] if parsed is None else parsed


def _from_numpy(raw: NDArray[Any]) -> Dates | Booleans:
    if raw.dtype.kind == "b":
        return Booleans(raw.astype(np.float64))
    return Dates(raw.astype("datetime64[us]"))


def _from_objects(raw: Any) -> Dates | Booleans | None:
    kinds = set(map(type, raw))
    lost = {kind for kind in kinds if kind in (type(None), float) or kind.__name__ == "NaTType"}
    present = kinds - lost
    if not present or (float in lost and any(isinstance(v, float) and v == v for v in raw)):
        return None
    if present <= {bool, np.bool_}:
        return Booleans(np.array([float(v) if type(v) not in lost else np.nan for v in raw]))
    if all(issubclass(kind, dt.date) for kind in present):
        dates = [np.datetime64("NaT") if type(v) in lost else _naive(v) for v in raw]
        return Dates(np.array(dates, dtype="datetime64[us]"))
    return None


def _naive(value: dt.date) -> dt.date:
    return value.replace(tzinfo=None) if isinstance(value, dt.datetime) else value


def _from_arrow(raw: Any) -> Dates | Booleans | None:
    import pyarrow as pa
    from pyarrow import types

    try:
        array = as_arrow(raw)
    except (pa.ArrowException, OverflowError):
        return None
    kind = array.type
    if types.is_boolean(kind):
        array = one_chunk(array)
        values = bits(array, 1).astype(np.float64)
        values[nulls(array)] = np.nan
        return Booleans(values)
    if not (types.is_timestamp(kind) or types.is_date(kind)):
        return None
    if getattr(kind, "tz", None) is not None:
        from pyarrow import compute

        array = compute.local_timestamp(array)
    moments = one_chunk(array).cast(pa.timestamp("us"), safe=False)
    dates = flat(moments, "datetime64[us]").copy()
    dates[nulls(moments)] = np.datetime64("NaT")
    return Dates(dates)


# --- from texts ---


def is_date(text: str) -> bool:
    """Return whether a text is an ISO 8601 date, with or without a time."""
    return _DATE.fullmatch(text) is not None and read_date(text) is not None


def read_date(value: Any) -> int | None:
    """Return a date or its text as microseconds since 1970-01-01; None if invalid."""
    if isinstance(value, str):
        if _DATE.fullmatch(value) is None:
            return None
        try:
            value = dt.datetime.fromisoformat(value)
            if value.tzinfo is not None:  # as files are read: offsets may differ between rows
                value = value.astimezone(dt.UTC)
        except (ValueError, OverflowError):
            return None
    if isinstance(value, dt.datetime):
        if value != value:  # pandas' NaT
            return None
    elif isinstance(value, dt.date):
        value = dt.datetime(value.year, value.month, value.day)
    else:
        return None
    since: dt.timedelta = value.replace(tzinfo=None) - _EPOCH
    return since // dt.timedelta(microseconds=1)


def read_boolean(text: str) -> float | None:
    """Return 1 or 0 for a word that means true or false, else None."""
    return _WORDS.get(text.strip().lower())


def are_yes_and_no(levels: Collection[str]) -> bool:
    """Return whether texts are yes and no, Y and N, or true and false, and both occur."""
    if not 2 <= len(levels) <= 16:
        return False
    words = {level.strip().lower() for level in levels}
    if not any(words <= pair for pair in _YES_NO) or words == {"t", "f"}:
        return False
    return len({read_boolean(word) for word in words}) == 2


def dates_from(name: str, column: TypedColumn) -> NDArray[np.datetime64]:
    """Return a column as dates, NaT where missing; reject other values, naming the row."""
    if isinstance(column, Dates):
        return column.values
    if isinstance(column, Numbers):
        return (
            np.full(len(column.values), np.datetime64("NaT", "us"))
            if np.isnan(column.values).all()
            else _refuse_numbers(name, column)
        )
    texts = column if isinstance(column, Categories) else column.as_categories()
    read = [read_date(level) for level in texts.levels]
    _refuse_unread(name, texts, read, "a date such as 2024-01-31 or 2024-01-31 18:30")
    whole = np.array([*(0 if each is None else each for each in read), 0], dtype=np.int64)
    dates = whole.view("datetime64[us]")[texts.codes]
    dates[texts.codes < 0] = np.datetime64("NaT")
    return dates


def booleans_from(name: str, column: TypedColumn) -> NDArray[np.float64]:
    """Return a column as 1 and 0, NaN where missing; reject other values, naming the row."""
    if isinstance(column, Booleans):
        return column.values
    if isinstance(column, Dates):
        raise CellError(name, 0, "a date is neither true nor false. Use the column as a date.")
    texts = column if isinstance(column, Categories) else column.as_categories()
    read = [read_boolean(level) for level in texts.levels]
    _refuse_unread(name, texts, read, "true or false, yes or no, 1 or 0")
    values = np.array([*(np.nan if each is None else each for each in read), np.nan])
    return values[texts.codes]


def _refuse_unread(name: str, texts: Categories, read: Sequence[float | None], wanted: str) -> None:
    odd = np.flatnonzero([each is None for each in read])
    bad = np.flatnonzero(np.isin(texts.codes, odd)) if len(odd) else odd
    if len(bad):
        row = int(bad[0])
        raise CellError(
            name,
            row,
            f"{texts.levels[texts.codes[row]]!r} is not {wanted}. Correct it, leave it empty if it "
            "is missing, or train with the column as a category.",
        )


def _refuse_numbers(name: str, column: Numbers) -> NDArray[np.datetime64]:
    row = int(np.flatnonzero(~np.isnan(column.values))[0])
    raise CellError(
        name,
        row,
        f"{column.values[row]:g} is a number, not a date. Write dates as 2024-01-31, or train with "
        "the column as a number.",
    )
