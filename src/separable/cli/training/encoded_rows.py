"""The encoder and its rows: fitted to some rows of the table, once for each use of numbers.

How a learner wants its numbers: standardised, or as counts; and what is told of it.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.cli.io.output import naming_file
from separable.cli.render.messages import step
from separable.cli.training.learners import LEARNERS, Facts
from separable.data.columns import as_columns
from separable.data.table import CellError
from separable.features.table.table_encoder import TableEncoder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from separable.cli.training.target import Rows as RowIndices
    from separable.cli.training.training_table import Problem
    from separable.data.rows import Rows
    from separable.model.kinds import Model

__all__ = ["Encoded", "adds_counts", "facts_of", "notes_on_numbers", "refuse_negative"]


class Encoded:
    """Some rows of a problem as numbers.

    Parameters
    ----------
    problem : Problem
    chosen : ndarray of int
        Which rows of the target; the encoder is fitted to these alone.
    """

    def __init__(self, problem: Problem, chosen: RowIndices) -> None:
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
        problem, options = self.problem, self.problem.options
        encoder = TableEncoder(scale=not counts, n_jobs=options.threads)
        encoder.set_params(**{kind: names or None for kind, names in options.columns.items()})
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


def adds_counts(estimator: Any) -> bool:
    """Return whether a learner takes only values >= 0, so that numbers must not be centred."""
    tags = getattr(estimator, "__sklearn_tags__", None)
    return tags is not None and bool(tags().input_tags.positive_only)


def refuse_negative(rows: Rows, encoder: TableEncoder, learner: str) -> None:
    """Refuse the first number below 0, for a learner that adds up counts."""
    negative = np.flatnonzero(rows.values.reshape(-1) < 0)
    if not len(negative):
        return
    index = int(negative[0])
    if rows.indptr is None or rows.indices is None:
        row, feature = divmod(index, rows.n_features)
    else:
        row = int(np.searchsorted(rows.indptr, index, side="right")) - 1
        feature = int(rows.indices[index])
    column, name = encoder.sources[feature], LEARNERS[learner].load().__name__
    quoted = shlex.quote(column)
    raise CellError(
        column,
        row,
        f"{rows.values.reshape(-1)[index]:g} is negative, and {name} models counts. Ignore the "
        f"column (--drop {quoted}), use it as a category (--category {quoted}), or train with "
        "--model bernoulli-nb, which only uses whether a number is above its mean.",
    )


def notes_on_numbers(learner: str, encoder: TableEncoder, model: Model) -> Iterator[str]:
    """Tell how numbers are used where it is not as usual."""
    if "number" not in encoder.column_types.values():
        return
    name = LEARNERS[learner].load().__name__
    if not encoder.scale:
        yield f"{name} models counts, so numbers are not standardized."
    elif model.threshold is not None:
        yield f"{name} only uses whether a number is above its training mean."
