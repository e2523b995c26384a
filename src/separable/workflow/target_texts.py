"""A target that is written as text: ``$1,200``, ``38 %``, ``n/a`` among numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.arrow_arrays import is_text
from separable.data.columns import Categories, as_columns
from separable.data.ingest.conversions.applying import written_as
from separable.data.ingest.conversions.conversion import (
    MISSING_WORDS,
    NumberConversion,
    conversion_from_dict,
    conversion_to_dict,
)
from separable.data.ingest.conversions.target_conversion import converted_target, guess_target
from separable.data.table import CellError, TableError, is_number
from separable.errors import Message, Option
from separable.features.table.category_column import categories_of
from separable.model.words import counted
from separable.workflow.input_tables import naming_file

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa
    from numpy.typing import NDArray

    from separable.data.ingest.conversions.conversion import Conversion
    from separable.data.ingest.conversions.guessing import ConversionGuess, Given

__all__ = [
    "as_numbers",
    "conversion_record",
    "recorded_conversion",
    "target_guess",
    "with_converted_target",
    "with_target_values",
    "without_missing_words",
]

NO_REMEDY = Message()


def target_guess(
    table: pa.Table, name: str, given: Mapping[str, Given], where: str, *, sure: bool
) -> ConversionGuess | None:
    """Return the conversion of a text target to numbers; None if it needs none.

    Parameters
    ----------
    table : pyarrow.Table
    name : str
        The target.
    given : mapping of str to conversion
    where : str
        The file, to begin error messages.
    sure : bool
        Whether numbers are requested.
    """
    column = _texts_of(table, name)
    if column is None or (name in given and given[name] == "text"):
        return None
    guess = guess_target(name, column, given, sure=sure)
    if guess is not None and guess.conversion is None:
        raise TableError(
            f"the target column {name!r} holds {guess.reason}. Convert them to one unit "
            "in the file, or predict the texts as classes: ",
            Option("task", "classification"),
            ".",
            file=where,
        )
    return guess


def _texts_of(table: pa.Table, name: str) -> Categories | None:
    if name not in table.column_names:
        return None
    kind = table.schema.field(name).type
    if not is_text(getattr(kind, "value_type", kind)):
        return None
    return categories_of(as_columns(table.select([name]))[name])


def with_converted_target(
    table: pa.Table,
    name: str,
    conversion: Conversion | None,
    data: Any,
    remedy: Message = NO_REMEDY,
) -> pa.Table:
    """Return a table with a text target as numbers; an error names the line and adds the remedy."""
    column = _texts_of(table, name)
    if column is None:
        return table
    with naming_file(data):
        values = as_numbers(name, column, conversion, remedy)
    return with_target_values(table, name, values)


def as_numbers(
    name: str, column: Categories, conversion: Conversion | None, remedy: Message = NO_REMEDY
) -> NDArray[np.float64]:
    """Return a text target as numbers: by its conversion, or plain numbers if it has none."""
    try:
        return converted_target(name, column, conversion or NumberConversion())
    except CellError as error:
        such_as = "" if conversion is None else f" {written_as(conversion)}"
        raise error.with_problem(
            f"{error.value!r} is not a number{such_as}. Correct it, or leave it empty if it is "
            "missing.",
            *((" ", remedy) if remedy is not NO_REMEDY else ()),
        ) from None


def with_target_values(table: pa.Table, name: str, values: NDArray[np.float64]) -> pa.Table:
    """Return a table with other values of a column, NaN as missing."""
    import pyarrow as pa

    index = table.column_names.index(name)
    return table.set_column(index, name, pa.array(values, from_pandas=True))


def without_missing_words(table: pa.Table, name: str) -> tuple[pa.Table, str]:
    """Return a table whose classes are whole numbers, without words such as ``n/a``, and a remark.

    The table is returned unchanged, without a remark, if the target has other texts too.
    """
    column = _texts_of(table, name)
    if column is None:
        return table, ""
    lost = np.array([level.strip().lower() in MISSING_WORDS for level in column.levels], bool)
    others = [level for level, word in zip(column.levels, lost, strict=True) if not word]
    if not lost.any() or len(others) < 2 or not all(map(is_number, others)):
        return table, ""
    import pyarrow as pa

    codes = np.where(np.append(lost, True)[column.codes], -1, column.codes)
    count = int(np.count_nonzero(codes != column.codes))
    words = ", ".join(repr(level) for level, word in zip(column.levels, lost, strict=True) if word)
    indices: Any = pa.array(codes, mask=codes < 0)
    texts = pa.DictionaryArray.from_arrays(indices, pa.array(column.levels)).cast(pa.string())
    index = table.column_names.index(name)
    remark = f"{counted(count, 'target')} among numbers taken as missing: {words}."
    return table.set_column(index, name, texts), remark


def conversion_record(conversion: Conversion | None) -> dict[str, Any]:
    """Return a conversion of the target as the model file remembers it; empty if there is none."""
    return {} if conversion is None else {"target_conversion": conversion_to_dict(conversion)}


def recorded_conversion(record: Mapping[str, Any]) -> Conversion | None:
    """Return the conversion of the target in the training record of a model; None if none."""
    given = record.get("target_conversion")
    return conversion_from_dict(given) if isinstance(given, dict) else None
