"""Columns that come with a type of their own: Parquet, JSON and tables in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from separable.data.arrow_arrays import is_text
from separable.data.column_guess import arrow_type, converted
from separable.data.report import ColumnFound
from separable.data.table import NotANumberError, TableError

if TYPE_CHECKING:
    import pyarrow as pa

    from separable.data.files import Options
    from separable.data.report import ReadingReport
    from separable.data.table import ColumnType

__all__ = ["column_type", "count_nulls", "with_given_types"]


def column_type(field: pa.Field[Any], where: str, options: Options) -> ColumnFound:
    """Say what a column of an Arrow type is."""
    given = options.named_types.get(field.name)
    if given is not None:
        return ColumnFound(field.name, given, "given")
    return ColumnFound(field.name, _type_of(field, where), f"{field.type} in the source")


def _type_of(field: pa.Field[Any], where: str) -> ColumnType:
    from pyarrow import types

    kind = field.type
    if types.is_dictionary(kind):
        kind = kind.value_type
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return "number"
    if types.is_null(kind):
        return "number"
    if types.is_boolean(kind):
        return "boolean"
    if types.is_timestamp(kind) or types.is_date(kind):
        return "date"
    if is_text(kind) or types.is_time(kind) or types.is_duration(kind):
        return "category"
    raise TableError(
        f"{where}: column {field.name!r} holds {kind}, which is neither numbers nor text nor "
        "dates. Give it one value a row, or name the columns to read: columns=[...]."
    )


def with_given_types(table: pa.Table, where: str, options: Options) -> pa.Table:
    """Convert columns whose type is given; numbers as text are as `columns` writes them."""
    import pyarrow as pa

    for name, kind in options.named_types.items():
        if name not in table.column_names:
            continue
        column: Any = table.column(name)
        new: Any
        place = table.column_names.index(name)
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if kind == "number" and not pa.types.is_string(column.type):
            new = column.cast(pa.float64())
        elif pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
            if kind == "category":
                continue
            column = column.cast(pa.string())
            new = converted(column, arrow_type(kind, column), given=True)
            if new is None:
                raise NotANumberError(
                    f"{where}, column {name!r}: a value is not {kind}. Correct it.", name
                )
        elif kind == "category":
            new = column.cast(pa.string())
        else:
            continue
        table = table.set_column(place, name, new)
    return table


def count_nulls(table: pa.Table, report: ReadingReport) -> None:
    """Tell the report how many values of each column are null."""
    for column in report.columns:
        count = table.column(column.name).null_count
        if count:
            column.missing[None] += count
