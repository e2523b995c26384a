"""Type inference of text columns: number, boolean, date or category."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.arrow_arrays import bits, is_text, mask, strings
from separable.data.ingest.conversions.number_texts import grouped_by_points
from separable.data.reading_report import ColumnSource
from separable.data.table import COLUMNS_REMEDY, NotANumberError, TableError
from separable.errors import by_spelling

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from separable.data.table import ColumnType

    Texts = pa.ChunkedArray[Any] | pa.Array[Any]

    import pyarrow as pa

    from separable.data.io.readers import Options
    from separable.data.reading_report import ReadingReport


__all__ = [
    "ColumnPlan",
    "arrow_type",
    "column_type",
    "converted",
    "count_nulls",
    "guess",
    "sure_guesses",
    "with_given_types",
]

TRUE, FALSE = ("true", "True", "TRUE"), ("false", "False", "FALSE")

#: Further texts allowed in a column declared boolean.
MORE_TRUE = ("t", "T", "yes", "Yes", "YES", "y", "Y", "1")
MORE_FALSE = ("f", "F", "no", "No", "NO", "n", "N", "0")

#: float64 represents all integers of this many digits exactly.
EXACT_DIGITS = 15

#: Rows that suffice to recognize a column as text.
_FIRST_ROWS = 64

#: A character that no number contains, in any notation that Arrow reads.
_NO_NUMBER = r"[^0-9.,+\-eExXpPaAbBcCdDfFiInNtTyY()\s]"

_DAY = r"\d{4}-\d{2}-\d{2}"
_ZONE = r"(?:Z|[+-]\d{2}(?::?\d{2})?)"
_ZONED = rf"[T ]\d{{2}}:.*{_ZONE}$"
_MOMENT = rf"{_DAY}(?:[T ]\d{{2}}:\d{{2}}(?::\d{{2}}(?:\.\d{{1,9}})?)?)?"


@dataclass(frozen=True)
class ColumnPlan:
    """How a column is read.

    Parameters
    ----------
    type : {"number", "category", "boolean", "date"}
    arrow : pyarrow.DataType
        Storage type.
    why : str
        Reason for the type.
    given : bool
        Whether the user chose the type.
    by_text : bool
        Whether the column must be parsed as text first, then trimmed and converted.
    """

    type: ColumnType
    arrow: pa.DataType
    why: str
    given: bool = False
    by_text: bool = False


def guess(texts: Texts, decimal: str = ".") -> ColumnPlan:
    """Infer the type of a column.

    Parameters
    ----------
    texts : pyarrow array of string
        Trimmed; null where missing.
    decimal : {".", ","}
    """
    import pyarrow as pa

    present = texts.drop_null()
    if not len(present):
        return ColumnPlan("number", pa.float64(), "every value is missing")
    if converted(present, pa.float64(), decimal) is not None:
        code = _first_code(present) or (_first_group(present) if decimal == "." else None)
        if code is None:
            return ColumnPlan("number", pa.float64(), "every value is a number")
        text, reason = code
        if reason == GROUPED:
            return ColumnPlan("category", _held(present), f"{reason}: {text!r}")
        return ColumnPlan("category", _held(present), f"a code: {text!r} {reason}")
    if converted(present, pa.bool_()) is not None:
        return ColumnPlan("boolean", pa.bool_(), "every value is true or false")
    moment = _moment_type(present)
    if moment is not None:
        return ColumnPlan("date", moment, "every value is an ISO date")
    return ColumnPlan("category", _held(present), "text")


def sure_guesses(
    columns: Sequence[pa.ChunkedArray[Any]], present: NDArray[np.bool_]
) -> list[ColumnPlan | None]:
    """Infer the types that the first rows settle, for many columns at once; None for the others.

    A column is text if it has a value that cannot be a number, one that is not a boolean word, and
    one that does not start like a date. It is a date column if every value is a date without a
    time.

    Parameters
    ----------
    columns : sequence of pyarrow.ChunkedArray of string
        Trimmed, of equal length.
    present : ndarray of bool, of shape (n_columns, n_rows)
        Mask of the present values.
    """
    import pyarrow as pa
    from pyarrow import compute

    firsts = present[:, :_FIRST_ROWS]
    texts = _joined([column.slice(0, _FIRST_ROWS) for column in columns])

    def matrix(matches: Any) -> NDArray[np.bool_]:
        return bits(matches.combine_chunks(), 1).reshape(firsts.shape) & firsts

    no_number = matrix(compute.match_substring_regex(texts, _NO_NUMBER))
    no_word = firsts & ~matrix(compute.is_in(texts, value_set=strings(TRUE + FALSE)))
    no_date = firsts & ~matrix(compute.match_substring_regex(texts, f"^{_DAY}"))
    are_texts = no_number.any(axis=1) & no_word.any(axis=1) & no_date.any(axis=1)
    days = matrix(compute.match_substring_regex(texts, f"^{_DAY}$"))
    are_dates = firsts.any(axis=1) & (days == firsts).all(axis=1)
    if are_dates.any() and not _are_days(columns, are_dates, present):
        are_dates[:] = False
    plans: list[ColumnPlan | None] = [None] * len(columns)
    for index in np.flatnonzero(are_texts).tolist():
        held = _held(columns[index].filter(mask(present[index])))
        plans[index] = ColumnPlan("category", held, "text")
    for index in np.flatnonzero(are_dates).tolist():
        plans[index] = ColumnPlan("date", pa.date32(), "every value is an ISO date")
    return plans


def _are_days(columns: Any, chosen: NDArray[np.bool_], present: NDArray[np.bool_]) -> bool:
    """Return whether all values of the chosen columns are valid calendar days."""
    import pyarrow as pa

    texts = _joined([columns[index] for index in np.flatnonzero(chosen)])
    values = texts.filter(mask(present[chosen].reshape(-1)))
    return _all_match(values, f"^{_DAY}$") and converted(values, pa.date32()) is not None


def _joined(columns: Sequence[Any]) -> Any:
    """Return text columns concatenated."""
    import pyarrow as pa

    return pa.chunked_array([chunk for each in columns for chunk in each.chunks], pa.string())


def arrow_type(kind: ColumnType, texts: Texts) -> pa.DataType:
    """Return the storage type of a column whose type the user chose.

    Parameters
    ----------
    kind : {"number", "category", "boolean", "date"}
    texts : pyarrow array of string
        A sample of it, trimmed; null where missing.
    """
    import pyarrow as pa

    present = texts.drop_null()
    if kind == "number":
        return pa.float64()
    if kind == "boolean":
        return pa.bool_()
    if kind == "date":
        return _moment_type(present) or pa.timestamp("us")
    return _held(present)


def converted(
    texts: Texts, kind: pa.DataType, decimal: str = ".", *, given: bool = False
) -> Any | None:
    """Convert trimmed texts to another type; return None if one of them is invalid."""
    import pyarrow as pa
    from pyarrow import compute

    if pa.types.is_boolean(kind):
        return _booleans(texts, given)
    if decimal == "," and pa.types.is_floating(kind):
        if compute.any(compute.match_substring(texts, ".")).as_py():
            return None
        texts = compute.replace_substring(texts, ",", ".")
    try:
        if pa.types.is_timestamp(kind) and kind.tz is None and _with_zone(texts):
            return _in_utc(texts, kind) if given else None
        return texts.cast(kind)
    except pa.ArrowInvalid:
        return None


def _booleans(texts: Texts, given: bool) -> Any | None:
    import pyarrow as pa
    from pyarrow import compute

    known_words = TRUE + FALSE + (MORE_TRUE + MORE_FALSE) * given
    if len(texts) and texts[0].as_py() not in (None, *known_words):
        return None
    true = compute.is_in(texts, value_set=strings(TRUE + MORE_TRUE * given))
    false = compute.is_in(texts, value_set=strings(FALSE + MORE_FALSE * given))
    known = compute.or_(compute.or_(true, false), compute.is_null(texts))
    if not compute.all(known, min_count=0).as_py():
        return None
    return compute.if_else(compute.is_null(texts), pa.nulls(1, pa.bool_())[0], true)


def _first_code(texts: Texts) -> tuple[str, str] | None:
    """Return a text of digits that would not survive as a number, and the reason."""
    from pyarrow import compute

    led = texts.filter(compute.starts_with(texts, "0"))
    led = led.filter(compute.match_substring_regex(led, r"^0\d+$"))
    if len(led):
        return led[0].as_py(), "begins with 0"
    lengths: Any = compute.binary_length(texts)  # type: ignore[arg-type] # texts they are
    if compute.max(lengths).as_py() <= EXACT_DIGITS:
        return None
    long = texts.filter(compute.match_substring_regex(texts, rf"^\d{{{EXACT_DIGITS + 1},}}$"))
    if len(long):
        return long[0].as_py(), f"has more than {EXACT_DIGITS} digits"
    return None


#: Reason for text: the encoder converts it, by the whole column.
GROUPED = "points look like thousands marks"


def _first_group(texts: Texts) -> tuple[str, str] | None:
    """Return a number whose point is a thousands mark, and the reason, if the texts show that."""
    from pyarrow import compute

    if not grouped_by_points(texts):
        return None
    return texts.filter(compute.match_substring(texts, "."))[0].as_py(), GROUPED


def _moment_type(texts: Texts) -> pa.DataType | None:
    import pyarrow as pa

    if not len(texts) or not _all_match(texts[:1], rf"^{_MOMENT}{_ZONE}?$"):
        return None
    kinds = (
        (rf"^{_DAY}$", pa.date32()),
        (rf"^{_MOMENT}$", pa.timestamp("us")),
        (rf"^{_MOMENT}{_ZONE}$", pa.timestamp("us", "UTC")),
    )
    for pattern, kind in kinds:
        if _all_match(texts, pattern):
            fine = pa.timestamp("ns", getattr(kind, "tz", None))
            return next((k for k in (kind, fine) if converted(texts, k) is not None), None)
    return None


def _all_match(texts: Texts, pattern: str) -> bool:
    from pyarrow import compute

    return bool(compute.all(compute.match_substring_regex(texts, pattern)).as_py())


def _with_zone(texts: Texts) -> bool:
    from pyarrow import compute

    return bool(compute.any(compute.match_substring_regex(texts, _ZONED)).as_py())


def _in_utc(texts: Texts, kind: pa.TimestampType[Any, Any]) -> Any:
    """Return timestamps, those with an offset converted to UTC, as encoders expect them."""
    import pyarrow as pa
    from pyarrow import compute

    zoned = compute.match_substring_regex(texts, _ZONED)
    nothing = pa.nulls(1, pa.string())[0]
    present = compute.if_else(zoned, texts, nothing).cast(pa.timestamp(kind.unit, "UTC"))
    plain = compute.if_else(zoned, nothing, texts).cast(kind)
    return compute.coalesce(present.cast(kind), plain)


def _held(texts: Texts) -> pa.DataType:
    """Return the storage type of text: dictionary-encoded if values repeat."""
    import pyarrow as pa

    if len(texts) > 100 and 2 * len(texts.unique()) > len(texts):
        return pa.string()
    return pa.dictionary(pa.int32(), pa.string())


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
        "dates. Store one value per row, or ",
        COLUMNS_REMEDY,
    )


def with_given_types(table: pa.Table, where: str, options: Options) -> pa.Table:
    """Convert the columns whose type the user chose; numbers become text as in `columns`."""
    for name, kind in options.named_types.items():
        if name in table.column_names:
            column = table.column(name)
            new = _of_given_type(column, kind)
            if new is None:
                raise NotANumberError(
                    f"{_describe_values(column, kind)}. Correct it, or leave out ",
                    by_spelling(f"column_types[{name!r}]", f"--{kind} {name}"),
                    ".",
                    file=where,
                    column=name,
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
