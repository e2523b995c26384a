"""Rows of JSON as typed columns, each cell in the same way alone and among others."""

from __future__ import annotations

from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.columns import Categories, Columns, Numbers, number_text
from separable.data.ingest.conversions.applying import convert
from separable.data.ingest.dates import Booleans, TypedColumns
from separable.data.table import CellError, TableError, list_names
from separable.features.table.unconvertible import without_unconvertible

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from separable.data.ingest.dates import TypedColumn
    from separable.features.table.column_states import ColumnEncoder
    from separable.features.table.unconvertible import UnconvertibleCells
    from separable.model.input_schema import InputColumn
    from separable.typing import Floats

__all__ = ["json_columns"]

#: Names of the types of JSON that are no value of a cell.
NESTED: dict[type, str] = {list: "a list", dict: "an object"}


def json_columns(
    data: list[dict[str, Any]] | Mapping[str, list[Any]],
    columns: Sequence[InputColumn],
    encoders: Mapping[str, ColumnEncoder],
) -> tuple[TypedColumns, list[UnconvertibleCells]]:
    """Return decoded JSON as typed columns, and the cells that were made missing for that.

    Parameters
    ----------
    data : list of dict or dict of lists
        At least one row.
    columns : sequence of InputColumn
        Columns of the model; others of the data are ignored.
    encoders : mapping of str to ColumnEncoder
        Those of its table encoder, if it has one.

    Raises
    ------
    TableError
        A row lacks a column.
    CellError
        A value is a list or an object.
    """
    values = _by_column(data, [column.name for column in columns])
    typed = TypedColumns(Columns(values, len(next(iter(values.values()), ()))))
    found: list[UnconvertibleCells] = []
    for column in columns:
        encoder = encoders.get(column.name)
        one, cells = _typed(column, values[column.name], encoder if column.converted else None)
        typed.put(column.name, one)
        found += cells
    return typed, found


def _by_column(data: Any, names: list[str]) -> dict[str, Sequence[Any]]:
    """Return the values of each column."""
    if isinstance(data, list):
        return _of_records(data, names)
    absent = [name for name in names if name not in data]
    if absent:
        raise TableError(_lacking(absent, list(data)))
    return {name: data[name] for name in names}


def _of_records(records: list[dict[str, Any]], names: list[str]) -> dict[str, Sequence[Any]]:
    if len(names) == 1:
        names = names * 2  # itemgetter returns a tuple of two names and more
    try:
        return dict(zip(names, zip(*map(itemgetter(*names), records), strict=True), strict=True))
    except KeyError:
        row = next(i for i, record in enumerate(records) if any(n not in record for n in names))
        absent = [name for name in dict.fromkeys(names) if name not in records[row]]
        raise TableError(_lacking(absent, list(records[row])), row=row) from None


def _lacking(absent: list[str], present: list[str]) -> str:
    return (
        f"it lacks {len(absent)} column(s) that the model reads: {list_names(absent, 5)}. It has "
        f"{list_names(present, 10)}. Add them, null where the value is not known."
    )


def _typed(
    column: InputColumn, values: Sequence[Any], converting: ColumnEncoder | None
) -> tuple[TypedColumn, Sequence[UnconvertibleCells]]:
    """Return numbers, booleans, or the texts of other values."""
    kinds = set(map(type, values)) - {type(None)}
    if kinds <= {int, float}:
        return Numbers(_floats(values)), ()
    if kinds == {bool} and column.kind == "boolean":
        return Booleans(np.array(values, dtype=np.float64)), ()
    nested = kinds & NESTED.keys()
    if nested:
        row = next(i for i, value in enumerate(values) if type(value) in nested)
        raise CellError(
            column.name, row, f"it is {NESTED[type(values[row])]}. Send a number, a text or null."
        )
    if converting is not None and column.kind == "number" and kinds & {int, float}:
        return _numbers_and_texts(converting, values)
    return _categories(values if kinds == {str} else [_text(value) for value in values]), ()


def _numbers_and_texts(
    encoder: ColumnEncoder, values: Sequence[Any]
) -> tuple[Numbers, Sequence[UnconvertibleCells]]:
    """Return numbers as they are, and the numbers of texts such as ``$1,200``."""
    are_numbers = np.array([type(value) in (int, float) for value in values])
    texts = [
        None if plain else _text(value) for value, plain in zip(values, are_numbers, strict=True)
    ]
    alone = TypedColumns(Columns({encoder.name: texts}, len(texts)))
    alone.put(encoder.name, _categories(texts))
    readable, cells = without_unconvertible([encoder], alone)
    (column,) = readable.parsed([encoder.name])
    converted = convert(encoder.name, column, getattr(encoder, "conversion", None))
    assert isinstance(converted, Numbers)
    plain = [value if each else None for value, each in zip(values, are_numbers, strict=True)]
    return Numbers(np.where(are_numbers, _floats(plain), converted.values)), cells


def _categories(texts: Sequence[str | None]) -> Categories:
    levels = dict.fromkeys(texts)
    levels.pop(None, None)
    code_of = dict(zip(chain(levels, [None]), chain(range(len(levels)), [-1]), strict=True))
    codes = np.fromiter(map(code_of.__getitem__, texts), np.int32, len(texts))
    return Categories(codes, tuple(level for level in levels if level is not None))


def _floats(values: Sequence[Any]) -> Floats:
    """Return numbers, NaN for null, and infinity for an integer beyond float64."""
    try:
        return np.array(values, dtype=np.float64)
    except OverflowError:
        return np.array([_float(value) for value in values])


def _float(value: Any) -> float:
    try:
        return np.nan if value is None else float(value)
    except OverflowError:
        return np.inf if value > 0 else -np.inf


def _text(value: Any) -> str | None:
    """Return a value as a level, as a column of such values has it."""
    if value is None or isinstance(value, str):
        return value
    return str(value) if isinstance(value, bool) else number_text(_float(value))
