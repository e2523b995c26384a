"""Cells that the encoder of their column cannot convert, taken for missing ones.

A service answers such a row and lists the cell, where a command ends with an error.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.columns import Categories, Numbers, as_columns
from separable.data.ingest.conversions.applying import unread_levels
from separable.data.ingest.dates import TypedColumns, read_boolean, read_date
from separable.data.table import is_number
from separable.features.encoding_report import EXAMPLES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from separable.features.table.column_states import ColumnEncoder

__all__ = ["UnconvertibleCells", "without_unconvertible"]

#: What reads a text as a value of a column type, without a conversion: None if it is not one.
READS: dict[str, Callable[[str], float | None]] = {
    "number": lambda text: (is_number(text) and math.isfinite(float(text))) or None,
    "date": read_date,
    "boolean": read_boolean,
}


@dataclass(frozen=True, slots=True)
class UnconvertibleCells:
    """Cells of one column that its encoder cannot convert.

    Parameters
    ----------
    column : str
    rows : ndarray of int
        All rows with such a cell.
    examples : tuple of str
        Values of the first of them.
    """

    column: str
    rows: NDArray[np.intp]
    examples: tuple[str, ...]


def without_unconvertible(
    encoders: Iterable[ColumnEncoder], data: Any
) -> tuple[TypedColumns, tuple[UnconvertibleCells, ...]]:
    """Return a table whose unconvertible cells are missing, and these cells.

    Texts that are neither a number, a date nor a boolean in a column of that type count, and
    infinity, and numbers in columns of dates and booleans.

    Parameters
    ----------
    encoders : iterable of ColumnEncoder
    data : pyarrow Table, data frame, dict of columns or list of dicts
        It must have the columns of the encoders.
    """
    columns = as_columns(data)
    typed = columns if isinstance(columns, TypedColumns) else TypedColumns(columns)
    found = []
    for encoder in encoders:
        if encoder.kind not in READS:
            continue
        (column,) = typed.parsed([encoder.name])
        if isinstance(column, Numbers) and encoder.kind != "number":
            column = column.as_categories()
        if not isinstance(column, Categories):
            continue
        unread = np.append(_unread(encoder, column.levels), False)[column.codes]
        if unread.any():
            rows = np.flatnonzero(unread)
            examples = tuple(column.levels[code] for code in column.codes[rows[:EXAMPLES]].tolist())
            found.append(UnconvertibleCells(encoder.name, rows, examples))
            codes = np.where(unread, np.int32(-1), column.codes)
            typed.put(encoder.name, Categories(codes, column.levels))
    return typed, tuple(found)


def _unread(encoder: ColumnEncoder, levels: tuple[str, ...]) -> NDArray[np.bool_]:
    """Return which texts the encoder cannot convert."""
    conversion = getattr(encoder, "conversion", None)
    if conversion is not None:
        return unread_levels(levels, conversion)
    reads = READS[encoder.kind]
    return np.array([reads(level) is None for level in levels], dtype=np.bool_)
