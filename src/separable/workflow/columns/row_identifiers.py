"""Columns that number or identify the rows: they are left out of training unless named."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from separable.data.arrow_arrays import floats
from separable.data.checks.column_checks import (
    FEWEST,
    counts_rows,
    identifies_rows,
    names_rows,
    numbers_rows,
    words_of,
)
from separable.data.columns import Numbers, as_columns
from separable.errors import Message, Option

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from separable.workflow.options import ProblemOptions

__all__ = ["left_out_notes", "row_identifiers"]

#: Words in the name of a sequence that may mean something for new rows: time goes on.
TIME_WORDS = {
    "year", "quarter", "month", "week", "day", "date", "hour", "minute", "second", "time", "age",
    "period", "trend", "step", "epoch", "lag",
}  # fmt: skip

TIME_LETTERS = ("t", "T")

#: Fewest rows whose numbering is recognized by name and values.
FEWEST_NAMED = 8

#: An integer column named "id" identifies rows if this fraction of its values is distinct.
MIN_DISTINCT = 0.1


def row_identifiers(features: pa.Table, options: ProblemOptions) -> dict[str, str]:
    """Return integer columns that number or identify the rows, each with the reason.

    Columns that the user named are not questioned, and some column always remains.
    """
    named = {name for names in options.columns.values() for name in names}
    named |= set(options.conversions)
    left_out: dict[str, str] = {}
    for name in features.column_names:
        reason = None if name in named else _reason(features, name)
        if reason is not None:
            left_out[name] = reason
    remaining = set(features.column_names) - set(options.columns["drop"]) - left_out.keys()
    return left_out if remaining else {}


def _reason(features: pa.Table, name: str) -> str | None:
    import pyarrow as pa

    kind, words = features.schema.field(name).type, words_of(name)
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        return None
    if words & TIME_WORDS or name in TIME_LETTERS:
        return None
    if features.num_rows < (FEWEST_NAMED if names_rows(name) else FEWEST):
        return None
    if not names_rows(name) and not _begins_to_count(features, name):
        return None
    column = as_columns(features.select([name]))[name]
    if not isinstance(column, Numbers):
        return None
    if counts_rows(column.values):
        return "numbers the rows"
    if identifies_rows(name, column.values) or _is_only_id(words, column.values):
        return "identifies the rows"
    return "numbers the rows (with gaps)" if numbers_rows(name, column.values) else None


def _begins_to_count(features: pa.Table, name: str) -> bool:
    """Return whether the first values are consecutive: a quick test."""
    first = floats(features.column(name)[:FEWEST_NAMED])
    return bool(np.all(np.diff(first) == 1))


def _is_only_id(words: set[str], values: NDArray[np.float64]) -> bool:
    """Return whether a column is named "id" and has many distinct integers."""
    if words != {"id"}:
        return False
    present = values[~np.isnan(values)]
    is_whole = bool(np.all((present == np.floor(present)) & (present >= 0)))
    return is_whole and len(np.unique(present)) > MIN_DISTINCT * len(present)


def left_out_notes(left_out: dict[str, str]) -> list[Message]:
    """Return a note on each column that is left out, with the option that keeps it."""
    return [
        Message(
            f"{name!r} {reason} and means nothing for new rows, so it is left out. To use it: ",
            Option("number", name),
            ".",
        )
        for name, reason in left_out.items()
    ]
