"""Base class of the certified regressors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.base import RegressorMixin

from separable.certified.estimators.base import CertifiedEstimator, FoldData, read_rows
from separable.fitting.targets import check_numbers, check_sample_weight

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from separable.model.linear_model import Link

__all__ = ["CertifiedRegressor"]


class CertifiedRegressor(RegressorMixin, CertifiedEstimator):
    """A regressor with a certificate."""

    def _fold_data(self, X: Any, y: Any, sample_weight: Any) -> FoldData:
        rows = read_rows(X)
        numbers = check_numbers(y, rows.n_rows, type(self).__name__)
        weight = None if sample_weight is None else check_sample_weight(sample_weight, numbers)
        return FoldData(rows, numbers, None, weight)

    def _link(self) -> Link:
        return "identity"

    @property
    def coef_(self) -> NDArray[np.float64]:
        """Weights, (d,)."""
        weights: NDArray[np.float64] = self._weights_only().weights[0]
        return weights

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return w.x + b for each row."""
        return self._weights_only().predict(self._check_rows(X))
