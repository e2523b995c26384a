"""Duplicate rows: within a table, with a contradicting target, or shared by two tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.checks.findings import Finding, quoted
from separable.data.checks.table_view import TableView, is_free_text, mixed, row_hashes
from separable.data.columns import Categories, as_columns, blocks_of
from separable.data.ingest.dates import typed_columns
from separable.data.ingest.in_memory import table_or_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from separable.data.checks.table_view import Hashes, Target
    from separable.data.columns import Columns
    from separable.data.ingest.dates import TypedColumn

__all__ = ["contradicting_rows", "duplicate_rows", "duplicates_between", "equal_by_chance"]

#: Fraction of duplicates that is worth a note, and a warning.
NOTE_FRACTION, WARNING_FRACTION = 0.01, 0.05

#: Bound on the error rate of any model that is worth a note, and a warning.
NOTE_ERROR_BOUND, WARNING_ERROR_BOUND = 0.002, 0.02

#: Minimum number of duplicates to report.
MIN_DUPLICATES = 10

EXAMPLES = 5


def duplicates_between(train: Any, test: Any) -> tuple[int, list[tuple[int, int]]]:
    """Count the rows of a test table that are also in the training table.

    Parameters
    ----------
    train, test : pyarrow.Table, data frame, dict of columns or list of dicts
        Columns that only one of them has are ignored.

    Returns
    -------
    count : int
        Rows of ``test`` that are also in ``train``, by 64-bit hashes.
    examples : list of (int, int)
        The first duplicates, as rows of ``train`` and ``test``, counted from 0.

    Examples
    --------
    >>> from separable.data import duplicates_between
    >>> train = {"age": [31, 44, 19], "city": ["Rome", "Oslo", None]}
    >>> test = {"age": [44, 19, 31], "city": ["Oslo", None, "Oslo"]}
    >>> duplicates_between(train, test)
    (2, [(1, 0), (2, 1)])
    """
    ours, theirs = as_columns(table_or_rows(train)), as_columns(table_or_rows(test))
    shared = [name for name in ours.names if name in theirs]
    if not shared:
        return 0, []
    both = zip(_all_typed(ours, shared), _all_typed(theirs, shared), strict=True)
    pairs = [_alike(*pair) for pair in both]
    known = row_hashes((pair[0] for pair in pairs), ours.n_rows)
    hashes = row_hashes((pair[1] for pair in pairs), theirs.n_rows)
    values, first = np.unique(known, return_index=True)
    if not len(values):
        return 0, []
    indices = np.minimum(np.searchsorted(values, hashes), len(values) - 1)
    rows = np.flatnonzero(values[indices] == hashes)
    examples = [(int(first[indices[row]]), int(row)) for row in rows[:EXAMPLES]]
    return len(rows), examples


def equal_by_chance(table: Any) -> float:
    """Return the probability that another row equals some row of a table by chance.

    The columns count as independent, so it is too small if they are not.

    Parameters
    ----------
    table : pyarrow.Table, data frame, dict of columns or list of dicts
    """
    columns = as_columns(table_or_rows(table))
    view = TableView(columns, list(columns.names), None)
    return float(min(1.0, columns.n_rows * 2.0 ** -_entropy(view)))


def _all_typed(table: Columns, names: Sequence[str]) -> list[TypedColumn]:
    blocks = blocks_of(names, table.n_rows)
    return [column for block in blocks for column in typed_columns(table, block)]


def duplicate_rows(view: TableView) -> Iterator[Finding]:
    """Find duplicate rows, target included, beyond what chance explains."""
    target = view.target
    if not view.names or view.n_rows < 2 or not _tell_rows_apart(view):
        return
    hashes = _with_target(view.row_hashes, target)
    _, first, inverse = np.unique(hashes, return_index=True, return_inverse=True)
    again = first[inverse] != np.arange(view.n_rows)
    count = int(np.count_nonzero(again))
    if count < max(MIN_DUPLICATES, NOTE_FRACTION * view.n_rows):
        return
    rows = np.flatnonzero(again)[:EXAMPLES]
    row, earlier = int(rows[0]), int(first[inverse[rows[0]]])
    yield Finding(
        "duplicate rows",
        "warning" if count >= WARNING_FRACTION * view.n_rows else "note",
        (),
        tuple(rows.tolist()),
        f"{count} of {view.n_rows} rows ({count / view.n_rows:.1%}) are duplicates (data row "
        f"{row + 1} repeats data row {earlier + 1}). A held-out set then has rows that the model "
        "was trained on, and the measured error is too small. Drop the duplicates, or keep rows "
        "of one origin together.",
    )


def contradicting_rows(view: TableView) -> Iterator[Finding]:
    """Find rows with the same features but different classes."""
    target = view.target
    if target is None or target.task != "classification" or not view.names:
        return
    rows = np.flatnonzero(target.codes >= 0)
    hashes = view.row_hashes[rows]
    order = np.lexsort((target.codes[rows], hashes))
    hashes, codes = hashes[order], target.codes[rows][order]
    if not len(hashes):
        return
    new_group = np.append(True, hashes[1:] != hashes[:-1])
    new_class = new_group | np.append(True, codes[1:] != codes[:-1])
    starts = np.flatnonzero(new_class)
    counts = np.diff(np.append(starts, len(hashes)))
    best = np.maximum.reduceat(counts, np.flatnonzero(new_group[starts]))
    wrong = len(hashes) - int(best.sum())
    if wrong < max(2, NOTE_ERROR_BOUND * len(hashes)):
        return
    split = np.flatnonzero(new_class & ~new_group)
    split = split[rows[order[split - 1]].argmin()]  # hashes differ between runs, row numbers do not
    pair = sorted((int(rows[order[index]]), int(codes[index])) for index in (split - 1, split))
    examples = tuple(row for row, _ in pair)
    first, second = (quoted(target.labels[code]) for _, code in pair)
    yield Finding(
        "contradicting rows",
        "warning" if wrong >= WARNING_ERROR_BOUND * len(hashes) else "note",
        (target.name,),
        examples,
        f"Rows with the same features have different targets (data rows {examples[0] + 1} and "
        f"{examples[1] + 1} are {first} and {second}): no model can be right in more than "
        f"{1 - wrong / len(hashes):.2%} of these rows. Add a column that distinguishes them, or "
        "correct the labels.",
    )


def _tell_rows_apart(view: TableView) -> bool:
    """Return whether the columns have enough entropy that equal rows are no accident."""
    return _entropy(view) > float(2 * np.log2(max(len(view.sample), 2)))


def _entropy(view: TableView) -> float:
    """Return the entropy of the rows in bits, of independent columns; texts are all different."""
    enough, entropy = float(4 * np.log2(max(len(view.sample), 2))), 0.0
    for name in view.names:
        column = view.parsed(name)
        if isinstance(column, Categories) and is_free_text(column):
            return enough
        fractions = np.bincount(view.codes(name)) / len(view.sample)
        fractions = fractions[fractions > 0]
        entropy -= float(np.sum(fractions * np.log2(fractions)))
        if entropy > enough:
            break
    return entropy


def _with_target(hashes: Hashes, target: Target | None) -> Hashes:
    return hashes if target is None else mixed(hashes ^ (target.codes + 1).astype(np.uint64))


def _alike(ours: TypedColumn, theirs: TypedColumn) -> tuple[TypedColumn, TypedColumn]:
    """Return two columns as the same type; as text if they differ."""
    if type(ours) is type(theirs):
        return ours, theirs
    first, second = (
        each if isinstance(each, Categories) else each.as_categories() for each in (ours, theirs)
    )
    return first, second
