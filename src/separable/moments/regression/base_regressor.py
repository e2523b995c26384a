"""Base class of the moment regressors: one or several targets."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from sklearn.base import RegressorMixin

from separable.data.rows import Rows
from separable.fitting.targets import check_targets, weigh_rows
from separable.moments.base import MomentEstimator
from separable.statistics.dominant_columns import (
    SQUARES,
    DominantValueWarning,
    dominant_values,
    message,
)
from separable.statistics.moments import Moments
from separable.statistics.weighted_rows import Data, checked_rows

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from separable.model.linear_model import Link

__all__ = ["MomentRegressor"]


class MomentRegressor(RegressorMixin, MomentEstimator[Moments]):
    """Base of regressors that need the rows only through sums."""

    def _new_sums(self) -> Moments:
        return Moments("numbers", owner=type(self).__name__, instead=self._instead)

    def _sums_of(self, data: Data) -> Moments:
        return self._new_sums().add_data(data, is_whole=True)

    def _read(self, X: Any, y: Any, sample_weight: Any) -> Data:
        rows = checked_rows(X)
        numbers = check_targets(y, rows.n_rows, type(self).__name__)
        return Data(rows, numbers, weigh_rows(sample_weight, None, numbers), X)

    def _link(self) -> Link:
        return "identity"

    def _warn_of_dominant_values(self, data: Data, sums: Moments | None) -> None:
        super()._warn_of_dominant_values(data, sums)
        numbers = data.present().numbers
        dominant = dominant_values(Rows(numbers, numbers.shape[1]), SQUARES)
        if dominant:
            kept = data.counted.rows
            dominant = [
                value if kept is None else replace(value, row=int(kept[value.row]))
                for value in dominant
            ]
            several = numbers.shape[1] > 1
            text = message(dominant, lambda t: f"target {t}" if several else "y")
            warnings.warn(text, DominantValueWarning, stacklevel=3)

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Add rows to the training data.

        The result equals one ``fit`` on all rows. Only the sums are updated; the model is solved
        when it is next needed.

        Parameters
        ----------
        X : array-like, sparse matrix or numeric data frame of shape (n, d)
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,), optional
            As in ``fit``.

        Returns
        -------
        self
        """
        return self._add(X, y, sample_weight)

    @property
    def coef_(self) -> NDArray[np.float64]:
        """Weights, (d,), or (t, d) for several targets."""
        weights = self._weights_only().weights
        value: NDArray[np.float64] = weights[0] if len(weights) == 1 else weights
        return value

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return w.x + b for each row: (n,), or (n, t) for several targets."""
        return self._weights_only().predict(self._check_rows(X))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
