"""Column types of sources with a schema: Parquet, JSON and tables in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from separable.data.arrow_arrays import is_text
from separable.data.ingest.column_types import arrow_type, converted
from separable.data.reading_report import ColumnSource
from separable.data.table import NotANumberError, TableError

if TYPE_CHECKING:
    import pyarrow as pa

    from separable.data.io.tables import Options
    from separable.data.reading_report import ReadingReport
    from separable.data.table import ColumnType

__all__ = ["column_type", "count_nulls", "with_given_types"]


def column_type(field: pa.Field[Any], where: str, options: Options) -> ColumnSource:
    """Return the type of a column from its Arrow type."""
    requested = options.named_types.get(field.name)
    if requested is not None:
        return ColumnSource(field.name, requested, "given")
    return ColumnSource(field.name, _type_of(field, where), f"{field.type} in the source")


def _type_of(field: pa.Field[Any], where: str) -> ColumnType:
    from pyarrow import types

    kind = field.type
    if types.is_dictionary(kind):
        kind = kind.value_type
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return "number"
    if types.is_null(kind) or types.is_duration(kind):
        return "number"
    if types.is_boolean(kind):
        return "boolean"
    if types.is_timestamp(kind) or types.is_date(kind):
        return "date"
    if is_text(kind) or types.is_time(kind):
        return "category"
    raise TableError(
        f"{where}: column {field.name!r} holds {kind}, which is neither numbers nor text nor "
        "dates. Store one value per row, or name the columns to read: columns=[...]."
    )


def with_given_types(table: pa.Table, where: str, options: Options) -> pa.Table:
    """Convert the columns whose type the user chose; numbers become text as in `columns`."""
    for name, kind in options.named_types.items():
        if name in table.column_names:
            column = table.column(name)
            new = _of_given_type(column, kind)
            if new is None:
                raise NotANumberError(
                    f"{where}, column {name!r}: {_describe_values(column, kind)}. Correct it, or "
                    f"leave out column_types[{name!r}].",
                    name,
                )
            table = table.set_column(table.column_names.index(name), name, new)
    return table


def _of_given_type(column: Any, kind: ColumnType) -> Any | None:
    """Return a column as another type; None if a value is invalid."""
    import pyarrow as pa
    from pyarrow import types

    if types.is_dictionary(column.type):
        if kind == "category" and is_text(column.type.value_type):
            return column
        column = column.cast(column.type.value_type)
    if kind == "category":
        return column if is_text(column.type) else _as_texts(column)
    if types.is_null(column.type):
        return column.cast(arrow_type(kind, pa.nulls(0, pa.string())))
    if kind == "number" and types.is_duration(column.type):
        return column
    if kind == "number" and not (is_text(column.type) or types.is_temporal(column.type)):
        return column.cast(pa.float64(), safe=False)
    if kind == "date" and (types.is_timestamp(column.type) or types.is_date(column.type)):
        return column
    if kind == "boolean" and types.is_boolean(column.type):
        return column
    if kind == "boolean" and not types.is_temporal(column.type):
        column = _as_texts(column).cast(pa.string())
    if not is_text(column.type):
        return None
    column = column.cast(pa.string())
    return converted(column, arrow_type(kind, column), given=True)


def _as_texts(column: Any) -> Any:
    import pyarrow as pa

    from separable.data.arrow_arrays import mask, strings
    from separable.data.columns import Numbers, as_columns

    if pa.types.is_integer(column.type) or is_text(column.type):
        return column.cast(pa.string())
    categories = as_columns({"": column})[""]
    categories = categories.as_categories() if isinstance(categories, Numbers) else categories
    validity = mask(categories.codes >= 0).buffers()[1]  # pyarrow.array would import pandas
    codes = [validity, pa.py_buffer(categories.codes.astype("int32").tobytes())]
    indices = pa.Array.from_buffers(pa.int32(), len(categories.codes), codes)
    levels = pa.DictionaryArray.from_arrays(indices, strings(categories.levels))
    return pa.chunked_array([levels])


def _describe_values(column: Any, kind: ColumnType) -> str:
    if is_text(column.type):
        return f"a value is not {'a ' * (kind != 'boolean')}{kind}"
    return f"{column.type} is not {'a ' * (kind != 'boolean')}{kind}"


def count_nulls(table: pa.Table, report: ReadingReport) -> None:
    """Add the number of nulls of each column to the report."""
    for column in report.columns:
        count = table.column(column.name).null_count
        if count:
            column.missing[None] += count
