"""A bounded sample of a problem, to validate decisions about columns and the target on."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from separable.data.columns import as_columns
from separable.features.table.table_encoder import TableEncoder
from separable.workflow.holdout_splits import part_of

if TYPE_CHECKING:
    import pyarrow as pa

    from separable.workflow.target import Rows
    from separable.workflow.training_problem import Problem

__all__ = ["MOST_ROWS", "encoder_of", "narrow", "sampled_rows"]

#: Most rows of a sample, and most features of its columns.
MOST_ROWS, MOST_FEATURES = 3000, 300


def sampled_rows(problem: Problem, chosen: Rows) -> Rows:
    """Return at most `MOST_ROWS` of the chosen rows."""
    rows: Rows = chosen[part_of(problem, chosen, MOST_ROWS, problem.options.seed)]
    return rows


def narrow(problem: Problem, table: pa.Table, columns: list[str]) -> pa.Table:
    """Return the table without text and without columns that make many features.

    Parameters
    ----------
    problem : Problem
    table : pyarrow.Table
    columns : list of str
        Columns that are kept in any case.
    """
    encoder = encoder_of(problem, ())
    encoder.fit(as_columns(table))
    counts = Counter(encoder.sources)
    kept, total = [], 0
    for name in sorted(table.column_names, key=lambda each: (each not in columns, counts[each])):
        total += counts[name]
        if name in columns or total <= MOST_FEATURES:
            kept.append(name)
    return table.select([name for name in table.column_names if name in kept])


def encoder_of(problem: Problem, category: tuple[str, ...], names: Any = None) -> TableEncoder:
    """Return the encoder of a problem, for some of its columns, with more categories."""
    present = None if names is None else set(names)

    def of(given: Any) -> list[str]:
        return [name for name in given if present is None or name in present]

    given = {kind: of(names) for kind, names in problem.options.columns.items()}
    given["category"] = [*given["category"], *category]
    conversions = {name: problem.conversions[name] for name in of(problem.conversions)}
    given |= {each: of(names) for each, names in problem.options.constraints.items()}
    encoder = TableEncoder(conversions=conversions or None)
    return encoder.set_params(**{kind: names or None for kind, names in given.items()})
