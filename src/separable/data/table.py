"""Tables: column types, errors, and formatting of names in messages."""

from __future__ import annotations

import difflib
import math
import re
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from separable.errors import InputError, by_spelling

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pyarrow as pa

    from separable.errors import Part


__all__ = [
    "COLUMNS_REMEDY",
    "MISSING",
    "CellError",
    "ColumnType",
    "NotANumberError",
    "TableError",
    "checked_markers",
    "did_you_mean",
    "file_position",
    "headerless_hint",
    "is_missing",
    "is_number",
    "list_names",
    "missing_counts",
    "plain_number",
    "require_columns",
]

ColumnType = Literal["number", "category", "boolean", "date"]

_NUMBER = re.compile(r"[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|inf|infinity)", re.ASCII | re.I)

_EXACT = 2**53  # integers up to here are exact floats

#: Texts that denote a missing value, after trimming.
MISSING = ("", "NA", "N/A", "NaN", "nan", "NAN", "null", "NULL", "Null", "None", "?", "-")


#: Remedy for a column that cannot be read; a command reads all columns.
COLUMNS_REMEDY = by_spelling(
    "name the columns to read: columns=[...].", "leave the column out of the file."
)


class TableError(InputError):
    """A table that cannot be used. The message says where, what and the remedy."""


class CellError(TableError):
    """A single value that cannot be used.

    Parameters
    ----------
    column : str
        Its column.
    row : int
        Its row, counted from 0.
    *problem : str or Option
        Problem and remedy.
    value : object, optional
        The value.
    """

    column: str
    row: int

    def __init__(self, column: str, row: int, *problem: Part, value: Any = None) -> None:
        super().__init__(*problem, column=column, row=row, value=value)


class NotANumberError(TableError):
    """A text in a column that must be numeric; ``column`` names it."""

    column: str


def file_position(file: str, line: int, column: int | None = None) -> str:
    """Return a location in a file as editors and compilers write it.

    Parameters
    ----------
    file : str
    line : int
        Counted from 1.
    column : int, optional
        Byte of the line, as UTF-8, counted from 1.

    Examples
    --------
    >>> file_position("reviews.csv", 17, 3)
    'reviews.csv:17:3'
    """
    return f"{file}:{line}" if column is None else f"{file}:{line}:{column}"


def missing_counts(table: pa.Table) -> dict[str, int]:
    """Return the number of missing values per column, without columns that have none."""
    pairs = zip(table.column_names, table.itercolumns(), strict=True)
    counts = {name: column.null_count for name, column in pairs}
    return {name: count for name, count in counts.items() if count}


def require_columns(names: Iterable[str], present: Iterable[str], where: str) -> None:
    """Raise if a name is not a column, with suggestions.

    Parameters
    ----------
    names : iterable of str
        Requested names.
    present : iterable of str
        Existing names.
    where : str
        Start of the message: a file or "the table".
    """
    columns = list(present)
    known = set(columns)
    for name in names:
        if name not in known:
            raise TableError(
                f"{where} has no column {name!r}{did_you_mean(name, columns)}. "
                f"Its columns are {list_names(columns)}.{headerless_hint(columns)}"
            )


#: Rows in which the names of columns are looked for.
TITLE_ROWS = 20


def lines_above_names(table: Any, name: str) -> int | None:
    """Return how many lines are above the one that holds a name which is no column.

    Parameters
    ----------
    table : pyarrow.Table
    name : str

    Returns
    -------
    int or None
        The number of lines above it; None if the name is a column, or in none of the first rows.
    """
    columns = table.column_names
    if name in columns:
        return None
    header = int(columns != [f"c{number}" for number in range(1, len(columns) + 1)])
    for index, row in enumerate(table.slice(0, TITLE_ROWS).to_pylist()):
        if any(str(value).strip() == name for value in row.values()):
            return int(index + header)
    return None


def did_you_mean(name: str, candidates: Iterable[str]) -> str:
    """Return a clause with similar names, or an empty text."""
    by_lower = {candidate.lower(): candidate for candidate in candidates}
    close = difflib.get_close_matches(name.lower(), by_lower, n=3)
    meant = " or ".join(repr(by_lower[match]) for match in close)
    return f" (did you mean {meant}?)" if meant else ""


def list_names(names: Iterable[str], limit: int = 20) -> str:
    """Return quoted names separated by commas, at most ``limit``."""
    quoted = [repr(name) for name in names]
    more = f" and {len(quoted) - limit} more" if len(quoted) > limit else ""
    return ", ".join(quoted[:limit]) + more


def is_number(text: str) -> bool:
    """Return whether a text is a decimal number or infinity."""
    return _NUMBER.fullmatch(text) is not None


def plain_number(value: Any) -> float | None:
    """Return an int or a float as a float, None as NaN.

    None: the value is of another type, or an integer that float64 may round.
    """
    if type(value) is float:
        return value
    if value is None:
        return math.nan
    return float(value) if type(value) is int and abs(value) <= _EXACT else None


def headerless_hint(columns: list[str]) -> str:
    """Return a hint if there is no header line, or if it looks like data."""
    if columns and columns == [f"c{number}" for number in range(1, len(columns) + 1)]:
        return (
            " A table without a header line has columns 'c1', 'c2', ...: add the header line, "
            "or use these names."
        )
    if sum(is_number(name) for name in columns) * 2 < max(len(columns), 1):
        return ""
    return " The first line looks like data, not names: a header line may be missing."


def is_missing(value: Any) -> bool:
    """Return whether an object is None, NaN, NaT or pandas' NA."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return bool(np.isnat(value))
    return bool(isinstance(value, (float, np.floating)) and value != value)


def checked_markers(missing: Iterable[str] | None) -> tuple[str, ...]:
    """Return the missing-value markers, trimmed: `MISSING` if None."""
    if missing is None:
        return MISSING
    if isinstance(missing, str) or not all(isinstance(marker, str) for marker in missing):
        raise ValueError(
            "The 'missing' parameter must be a list of texts, such as ['', 'NA']. Got "
            f"{missing!r} instead."
        )
    return tuple(dict.fromkeys(marker.strip() for marker in missing))
