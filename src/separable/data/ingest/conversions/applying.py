"""Conversion of a whole column: each distinct text is converted once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.arrow_arrays import bits, strings
from separable.data.columns import Categories, Numbers
from separable.data.ingest.conversions.conversion import (
    DateConversion,
    DurationConversion,
    NumberConversion,
    is_missing_word,
    normalized,
)
from separable.data.ingest.conversions.date_texts import dates_of_texts
from separable.data.ingest.conversions.duration_texts import durations_of_texts
from separable.data.ingest.conversions.number_texts import numbers_of_texts
from separable.data.ingest.dates import Dates
from separable.data.table import CellError
from separable.errors import Option

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.data.ingest.conversions.conversion import Conversion
    from separable.data.ingest.dates import TypedColumn

__all__ = ["convert", "texts_read", "unread_levels", "written_as"]

_NOUNS = {
    NumberConversion: "a number",
    DateConversion: "a date",
    DurationConversion: "a time or a duration",
}


def texts_read(texts: Any, conversion: Conversion) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return the values of normalized texts, and which texts could be read.

    Parameters
    ----------
    texts : pyarrow.Array of string
    conversion : Conversion

    Returns
    -------
    values : ndarray of float64 or of datetime64[us]
    read : ndarray of bool
        False for missing words too.
    """
    if isinstance(conversion, NumberConversion):
        return numbers_of_texts(texts, conversion)
    if isinstance(conversion, DateConversion):
        return dates_of_texts(texts, conversion)
    return durations_of_texts(texts, conversion)


def convert(name: str, column: TypedColumn, conversion: Conversion | None) -> TypedColumn:
    """Return a text column as numbers or dates; columns of another type are not changed.

    Parameters
    ----------
    name : str
    column : TypedColumn
    conversion : Conversion or None
        None: the column is not changed.

    Raises
    ------
    CellError
        A text that the conversion does not read and that is no missing word.
    """
    if conversion is None or not isinstance(column, Categories):
        return column
    values, read, missing = _levels_read(column.levels, conversion)
    _refuse_unread(name, column, ~read & ~missing, conversion)
    is_date = isinstance(conversion, DateConversion)
    nothing = np.array([np.datetime64("NaT", "us") if is_date else np.nan])
    values = np.concatenate([np.where(read & ~missing, values, nothing), nothing])
    taken = values[column.codes]  # -1 selects the missing value at the end
    return Dates(taken) if is_date else Numbers(taken)


def unread_levels(levels: tuple[str, ...], conversion: Conversion) -> NDArray[np.bool_]:
    """Return which texts a conversion neither reads nor takes for a missing value."""
    _, read, missing = _levels_read(levels, conversion)
    return ~read & ~missing


def _levels_read(
    levels: tuple[str, ...], conversion: Conversion
) -> tuple[NDArray[Any], NDArray[np.bool_], NDArray[np.bool_]]:
    """Return the values of texts, which could be read, and which are missing words."""
    texts = normalized(strings(levels))
    values, read = texts_read(texts, conversion)
    return values, read, bits(is_missing_word(texts, conversion.missing), 1)


def _refuse_unread(
    name: str, column: Categories, odd: NDArray[np.bool_], conversion: Conversion
) -> None:
    if not odd.any():
        return
    rows = np.flatnonzero(np.append(odd, False)[column.codes])
    if not len(rows):
        return
    row = int(rows[0])
    more = f" (and {len(rows) - 1} more of such values)" if len(rows) > 1 else ""
    level = column.levels[column.codes[row]]
    raise CellError(
        name,
        row,
        f"{level!r} is not {_NOUNS[type(conversion)]} "
        f"{written_as(conversion)}{more}. Correct it, leave it empty if it is missing, or train "
        "with the column as a category: ",
        Option("category", name),
        ".",
        value=level,
    )


def written_as(conversion: Conversion) -> str:
    """Return how texts of a conversion are written, as a phrase."""
    if isinstance(conversion, NumberConversion):
        before = (
            conversion.units[0] if conversion.units and not conversion.units[0].isalpha() else ""
        )
        before = "" if before == "%" else before
        group = conversion.group
        example = f"{before}1{group}234{conversion.decimal}5"
        after = conversion.units[0] if conversion.units and not before else ""
        example += "k" * conversion.magnitudes
        return f"such as '{example}{' ' * bool(after) if after != '%' else ''}{after}'"
    if isinstance(conversion, DateConversion):
        orders = {"ymd": "2024-01-31", "dmy": "31.1.2024 or 31/1/24", "mdy": "1/31/2024 or 1/31/24"}
        if conversion.month_names:
            orders["ymd"] = "31 Jan 2024"
        return f"such as {orders[conversion.order]}"
    return "such as 14:30" + " or 1h 30m" * conversion.words
