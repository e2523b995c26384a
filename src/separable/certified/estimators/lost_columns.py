"""Columns from which a certified fit learns nothing, because a few values dominate them.

One cell of 1e20 among values around 1 leaves a column with a weight of 1e-20 or none, unless the
cell agrees with the class of its row. So the weights say whether something was learned from the
other values, and a fit that has not converged is told where to look first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from separable.certified.estimators.fitted import Fitted
from separable.certified.estimators.training_data import TrainingData
from separable.data.rows import Rows
from separable.model.predict.scores import linear_scores
from separable.statistics.dominant_columns import SQUARES, DominantValue, dominant_values
from separable.typing import Floats

#: What a column adds to scores, as a fraction of how much scores differ, is little up to here.
LITTLE = 1e-3

FAR_FROM_OTHERS = (
    "so far from the other values of the column that little or nothing is learned from them"
)


def dominated(training: TrainingData, extent: Floats | None = None) -> list[DominantValue]:
    """Return the columns of training rows that up to three values dominate.

    Parameters
    ----------
    training : TrainingData
    extent : ndarray, shape (d,), optional
        No value of a dense column is farther from its mean.
    """
    length = None if training.rows.is_sparse else extent
    return _as_given(dominant_values(training.rows, SQUARES, length), training)


def dominated_target(training: TrainingData) -> list[DominantValue]:
    """Return the number to predict that dominates the others, if there is one."""
    y = np.asarray(training.target, np.float64)[:, None]
    return _as_given(dominant_values(Rows(y, 1), SQUARES), training)


def _as_given(found: list[DominantValue], training: TrainingData) -> list[DominantValue]:
    """Return values with their rows among all that were given."""
    counted = training.given.counted
    return [one if counted is None else replace(one, row=int(counted[one.row])) for one in found]


def lost_columns(fitted: Fitted, training: TrainingData) -> list[DominantValue]:
    """Return the dominated columns whose other values add little or nothing to any score.

    All dominated columns where the fit has not converged.
    """
    found = dominated(training, fitted.problem.size.extent)
    if not found or not all(one.converged for one in fitted.certificates):
        return found
    published = fitted.published
    weights = np.ascontiguousarray(published.weights.T)
    if training.classes is None:  # what there is to predict; scores may all be the same
        spread = _deviation(np.asarray(training.target, np.float64)[:, None])
    else:
        scores = linear_scores(training.rows, weights, published.intercept)
        spread = np.maximum(_deviation(scores), 1.0)
    return [
        one for one in found if (np.abs(weights[:, one.column]) * one.rest <= LITTLE * spread).all()
    ]


def _deviation(values: Floats) -> Floats:
    """Return the median distance from the median, of each column."""
    found: Floats = np.median(np.abs(values - np.median(values, axis=0)), axis=0)
    return found


def first_remedy(found: list[DominantValue], name: Callable[[int], str]) -> str:
    """Return what to do first about a fit that has not converged; "" without dominant values."""
    if not found:
        return ""
    text = found[0].text(name)
    return f"{text[0].upper()}{text[1:]}, far from all others: correct that first."
