"""`check`: problems of a table before a model is trained on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from separable.data.checks import (
    column_checks,
    conversion_checks,
    duplicate_rows,
    leakage,
    numbers,
    target_column,
)
from separable.data.checks.duplicate_rows import duplicates_between
from separable.data.checks.findings import Finding, Findings
from separable.data.checks.table_view import TableView, target_of
from separable.data.columns import Categories, as_columns
from separable.data.dataset import column_name
from separable.data.ingest.conversions.guessing import converted_columns, guess_conversions
from separable.data.ingest.conversions.target_conversion import guess_target
from separable.data.ingest.dates import typed_column
from separable.data.ingest.in_memory import table_or_rows
from separable.data.io.sources import is_file_source
from separable.data.rows import Rows
from separable.data.table import TableError, require_columns

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from separable.data.ingest.conversions.guessing import ConversionGuess, Given

__all__ = ["Finding", "Findings", "check", "duplicates_between"]

#: In reporting order.
CHECKS = (
    conversion_checks.header_lines,
    leakage.leakage,
    column_checks.identifiers,
    duplicate_rows.duplicate_rows,
    duplicate_rows.contradicting_rows,
    target_column.missing_target,
    target_column.small_sample,
    target_column.imbalance,
    target_column.drifting_target,
    column_checks.groups,
    conversion_checks.typos,
    conversion_checks.missing_classes,
    conversion_checks.totals,
    conversion_checks.not_converted,
    column_checks.mixed_types,
    numbers.missing_as_numbers,
    numbers.missing_as_zero,
    numbers.outliers,
    column_checks.spellings,
    column_checks.mojibake,
    numbers.dates_as_numbers,
    conversion_checks.several_labels,
    conversion_checks.unsure_conversions,
    conversion_checks.words_as_missing,
    column_checks.codes,
    column_checks.constant_columns,
    column_checks.empty_columns,
    column_checks.duplicate_columns,
)


def check(
    data: Any,
    target: str | int | None = None,
    *,
    weight: str | None = None,
    group: str | None = None,
    time: str | None = None,
    drop: Sequence[str] = (),
    task: Literal["classification", "regression"] | None = None,
    asked: Sequence[str] = (),
    conversions: Mapping[str, Given] | None = None,
) -> Findings:
    """Check a table for problems that make a model, or its measured error, wrong.

    Each finding names a problem, its consequence and the remedy. Checks are tuned to report little.
    In tables of more than 100 000 rows, columns are compared with each other and with the target on
    a fixed sample of 100 000 rows; duplicate rows are searched in all rows.

    Parameters
    ----------
    data : path, table or whatever `read` takes
        Includes the target as a column.
    target : str or int, optional
        Column to predict, by name or by its 1-based number (-1 is the last).
    weight, group, time : str, optional
        Columns with sample weights, groups and times. They are not features, so they are not
        checked, and `check` does not suggest adding a group or a time.
    drop : sequence of str
        Other columns that are not features.
    task : "classification" or "regression", optional
        Task; inferred from the target by default.
    asked : sequence of str
        Columns whose type the user chose: it is not questioned.
    conversions : mapping of str to conversion, optional
        Conversions of text columns, as `TableEncoder` takes them; others are guessed.

    Returns
    -------
    Findings
        A sequence of `Finding`, warnings first.

    Examples
    --------
    >>> from separable.data import check
    >>> table = {
    ...     "age": [31, 44, 19, 25] * 30,
    ...     "paid": [0, 1, 1, 0] * 30,
    ...     "country": ["Italy"] * 120,
    ...     "member": ["no", "yes", "yes", "no"] * 30,
    ... }
    >>> for finding in check(table, "member"):
    ...     print(finding)
    warning: 'paid' encodes the target 'member': the values correspond one to one. A model would
    learn nothing else. Leave it out.
    ...
    note: 'country': the same value in every row, so nothing can be learned.
    """
    columns = as_columns(_table(data))
    where = "The table"
    name = None if target is None else column_name(target, columns.names, where)
    apart = [each for each in (weight, group, time) if each is not None]
    require_columns([*apart, *drop, *asked, *(conversions or {})], columns.names, where)
    left_out = {name, *apart, *drop}
    converted = [each for each in columns.names if each not in {*left_out, *asked}]
    guesses = guess_conversions(columns, conversions, converted)
    columns = converted_columns(columns, {**guesses, **_target_guess(columns, name, task, asked)})
    split = {"group": group, "time": time}
    view = TableView(
        columns,
        [each for each in columns.names if each not in left_out],
        None if name is None else target_of(columns, name, task),
        frozenset(asked),
        frozenset(how for how, given in split.items() if given is not None),
        guesses,
    )
    with np.errstate(over="ignore", invalid="ignore"):  # infinite and very large values
        findings = [finding for each in CHECKS for finding in each(view)] if view.n_rows else []
    return Findings(findings, view.n_rows, len(view.sample))


def _target_guess(
    columns: Any, name: str | None, task: str | None, asked: Sequence[str]
) -> dict[str, ConversionGuess]:
    """Return the conversion of a target such as ``$1,200`` to numbers, if it has one."""
    if name is None or task == "classification" or name in asked:
        return {}
    column = typed_column(columns, name)
    if not isinstance(column, Categories):
        return {}
    guess = guess_target(name, column, {}, sure=False)
    return {} if guess is None or guess.conversion is None else {name: guess}


def _table(data: Any) -> Any:
    if is_file_source(data):
        from separable.data.io.reading import read

        data = read(data)
        if data.table is None:
            raise TableError("Sparse rows have no named columns, which check needs.")
        return data.table
    findings = table_or_rows(data)
    if isinstance(findings, Rows):
        raise TableError("A sparse matrix has no named columns, which check needs.")
    return findings
