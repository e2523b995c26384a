"""What each alpha of a ridge regression reached on rows it has not seen."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin

from separable.fitting.choice import best_place, edge_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["Scores", "score_predictions"]


@dataclass(frozen=True)
class Scores:
    """What each alpha reached; larger is better.

    Parameters
    ----------
    alphas : ndarray, shape (A,)
    mean, standard_error : ndarray, shape (A,)
        Of the scores of the folds, or of the negative squared errors of rows left out. A scorer
        that was called once, for all rows left out, has a standard error of NaN.
    folds : ndarray, shape (A, F), or None
        Each fold's.
    chosen : int or None
        The place of the best alpha, where it was chosen by scores in other units.
    """

    alphas: Floats
    mean: Floats
    standard_error: Floats
    folds: Floats | None = None
    chosen: int | None = None

    @property
    def best(self) -> int:
        """The place of the best alpha; of those that tie, the largest."""
        return best_place(self.mean, self.alphas) if self.chosen is None else self.chosen

    def of_scaled_target(self, exponent: int) -> Scores:
        """Return the squared errors of y from those of y * 2^exponent; the best alpha stays."""
        if exponent == 0:
            return self
        if not np.isfinite(self.mean).all():
            return self  # refused by name
        with np.errstate(over="ignore", under="ignore"):
            return replace(
                self,
                mean=np.ldexp(self.mean, -2 * exponent),
                standard_error=np.ldexp(self.standard_error, -2 * exponent),
                folds=None if self.folds is None else np.ldexp(self.folds, -2 * exponent),
                chosen=self.best,
            )

    @property
    def edge(self) -> str | None:
        """Whether the best alpha is the smallest or the largest of several."""
        return edge_of(self.alphas, self.best)


class _Told(RegressorMixin, BaseEstimator):
    """A regressor whose rows are the predictions: what scorers are called with."""

    def predict(self, X: Any) -> Any:
        """Return what it is given."""
        return X


def score_predictions(
    scorer: Any, predicted: Floats, numbers: Floats, weight: Floats | None
) -> float:
    """Return the score of predictions, (n, t): negative mean squared error without a scorer."""
    if scorer is None:
        with np.errstate(over="ignore"):
            squares = ((predicted - numbers) ** 2).mean(axis=1)
        return -float(np.average(squares, weights=weight))
    if numbers.shape[1] == 1:
        predicted, numbers = predicted[:, 0], numbers[:, 0]
    if weight is None:
        return float(scorer(_Told(), predicted, numbers))
    return float(scorer(_Told(), predicted, numbers, sample_weight=weight))
