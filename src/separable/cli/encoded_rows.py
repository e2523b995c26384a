"""The encoder and its rows: fitted to some rows of the table, once for each use of numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from separable.cli.learners import Facts
from separable.cli.output import naming_file
from separable.cli.talk import step
from separable.data.columns import as_columns
from separable.features.table_encoder import TableEncoder

if TYPE_CHECKING:
    from separable.cli.problem import Problem
    from separable.cli.target import Rows as Places
    from separable.data.rows import Rows

__all__ = ["Encoded", "facts_of"]


class Encoded:
    """Some rows of a problem as numbers.

    Parameters
    ----------
    problem : Problem
    chosen : ndarray of int
        Which rows of the target; the encoder is fitted to these alone.
    """

    def __init__(self, problem: Problem, chosen: Places) -> None:
        self.problem, self.chosen = problem, chosen
        self._made: dict[bool, tuple[TableEncoder, Rows]] = {}

    def __call__(self, *, counts: bool = False) -> tuple[TableEncoder, Rows]:
        """Return the fitted encoder and the rows; with counts, numbers are left as they are."""
        if counts not in self._made:
            other = self._made.get(not counts)
            same = other is not None and not _has_numbers(other[0])  # nothing to scale
            self._made[counts] = other if other is not None and same else self._fit(counts)
        return self._made[counts]

    def _fit(self, counts: bool) -> tuple[TableEncoder, Rows]:
        problem, asked = self.problem, self.problem.asked
        encoder = TableEncoder(scale=not counts, n_jobs=asked.threads)
        encoder.set_params(**{kind: names or None for kind, names in asked.columns.items()})
        with step("Encoding"), naming_file(problem.data, problem.target.rows[self.chosen]):
            columns = as_columns(problem.take(self.chosen))
            rows = encoder.fit(columns).encode(columns)
        return encoder, rows


def _has_numbers(encoder: TableEncoder) -> bool:
    return any(each.kind in ("number", "date") for each in encoder.column_encoders)


def facts_of(problem: Problem, encoder: TableEncoder, rows: Rows) -> Facts:
    """Return what decides which learners suit the data."""
    is_regression = problem.task == "regression"
    classes = 0 if is_regression else len(np.unique(problem.target.values))
    deviation = float(np.std(problem.target.values)) if is_regression else 0.0
    return Facts(
        rows=rows.n_rows,
        features=rows.n_features,
        classes=classes,
        nonzeros=float(np.count_nonzero(rows.values)) / rows.n_rows,
        nonnegative=not len(rows.values) or bool(rows.values.min() >= 0),
        text=any(each.kind == "text" for each in encoder.column_encoders),
        deviation=deviation if 0.0 < deviation < np.inf else 1.0,
    )
