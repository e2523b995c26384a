"""Rows with their truth, and the predictions of a model for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.model.files.training_rows import NOT_RECORDED

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from separable.data.rows import Rows
    from separable.model.files.training_rows import TrainingRows
    from separable.model.kinds import Model
    from separable.model.metrics.metric_registry import Answers

__all__ = ["ScoredRows", "seen_in_training"]


@dataclass(frozen=True, eq=False)
class ScoredRows:
    """Rows with their truth, and the predictions of a model for them.

    Parameters
    ----------
    model : LinearModel or VotedModel
        The one that answers, with its encoder.
    rows : Rows
        As its weights take them.
    y_true : ndarray, shape (n,)
    predictions : Answers
    row_indices : ndarray of int, shape (n,)
        Of the rows in their file or table, counted from 0.
    weight : ndarray, shape (n,), or None
    raw : callable, optional
        Gives the raw values of a row by column, for its place among these rows.
    """

    model: Model
    rows: Rows
    y_true: NDArray[Any]
    predictions: Answers
    row_indices: NDArray[np.integer[Any]]
    weight: NDArray[np.float64] | None = None
    raw: Callable[[int], Mapping[str, Any]] | None = None

    def labels(self) -> NDArray[Any]:
        """Return the truth as labels of one type: those of the model, where it knows them all."""
        from separable.model.metrics.metric_case import ClassCase, case_of

        if self.predictions.classes is None:
            return self.y_true
        case = case_of(self.y_true, self.predictions)
        assert isinstance(case, ClassCase)
        known: NDArray[Any] = self.predictions.classes
        if case.y_true.max(initial=0) >= case.n_known:
            known = np.array([str(label) for label in case.labels])
        return known[case.y_true]


def seen_in_training(scored: ScoredRows, known: TrainingRows | None) -> dict[str, Any]:
    """Return whether a model was trained on rows, and what to say of it, for `Measured`.

    Parameters
    ----------
    scored : JudgedRows
    known : TrainingRows or None
        The rows that the model was trained on, where they are known.
    """
    if known is None:
        return {"is_new": None, "caution": NOT_RECORDED}
    result = known.find(scored.rows)
    return {"is_new": result.is_new, "seen": result.seen, "caution": result.text() or None}
