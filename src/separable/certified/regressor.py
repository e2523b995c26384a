"""What the certified regressors share: numbers to predict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.base import RegressorMixin

from separable.certified.estimator import CertifiedEstimator, Lesson, present_rows, read_rows
from separable.fitting.targets import check_numbers, weigh_rows

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from separable.model.linear_model import Link

__all__ = ["CertifiedRegressor"]


class CertifiedRegressor(RegressorMixin, CertifiedEstimator):
    """A regressor with a certificate."""

    def _read(self, X: Any, y: Any, sample_weight: Any) -> Lesson:
        rows = read_rows(X)
        numbers = check_numbers(y, rows.n_rows, type(self).__name__)
        rows, numbers, weight, given = present_rows(
            rows, numbers, weigh_rows(sample_weight, None, numbers)
        )
        return Lesson(rows, numbers, weight, None, given)

    def _link(self) -> Link:
        return "identity"

    @property
    def coef_(self) -> NDArray[np.float64]:
        """Weights, (d,)."""
        weights: NDArray[np.float64] = self._weights_only().weights[0]
        return weights

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return w.x + b for each row."""
        return self._weights_only().predict(self._finite_rows(X))
