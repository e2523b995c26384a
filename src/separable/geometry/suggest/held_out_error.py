"""A ridge classifier for held-out errors.

Verdicts concern only the given rows; the held-out error shows whether they generalize. Targets are
class indicators, columns are standardized, and the largest score is the prediction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from sklearn.base import BaseEstimator, ClassifierMixin

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.typing import Floats


__all__ = ["RidgeClasses"]

#: Regularization parameter, for columns with mean square 1.
ALPHA = 1.0


class RidgeClasses(ClassifierMixin, BaseEstimator):
    """Ridge regression on class indicators, with the fit and predict of scikit-learn.

    Examples
    --------
    >>> rows = np.array([[0.0], [1.0], [3.0], [4.0]])
    >>> RidgeClasses().fit(rows, np.array([0, 0, 1, 1])).predict(rows)
    array([0, 0, 1, 1])
    """

    def fit(self, X: Any, y: NDArray[Any]) -> RidgeClasses:
        """Fit to the rows of a dense or sparse matrix."""
        self.classes_, label = np.unique(y, return_inverse=True)
        target = np.eye(len(self.classes_))[label]
        n, d = X.shape
        squares = np.asarray(X.multiply(X).sum(axis=0)).ravel() if _is_sparse(X) else (X**2).sum(0)
        scale = 1.0 / np.sqrt(np.where(squares > 0, squares / n, 1.0))
        self._mean, self._level = np.asarray(X.mean(axis=0)).ravel(), target.mean(axis=0)
        target -= self._level
        if n <= d:
            self.coef_ = self._by_rows(X, target, scale)
        else:
            self.coef_ = self._by_columns(X, target, scale)
        return self

    def _by_columns(self, X: Any, target: Floats, scale: Floats) -> Floats:
        """Solve (Z'Z + alpha) u = Z't for centred and scaled columns Z."""
        n = X.shape[0]
        products = _dense(X.T @ X) - n * np.outer(self._mean, self._mean)
        products *= scale * scale[:, None]
        products[np.diag_indices(len(products))] += ALPHA
        right = scale[:, None] * np.asarray(X.T @ target)
        result: Floats = scale[:, None] * cho_solve(cho_factor(products), right)
        return result

    def _by_rows(self, X: Any, target: Floats, scale: Floats) -> Floats:
        """Solve by u = Z'(ZZ' + alpha)^-1 t."""
        wide = X.multiply(scale**2).tocsr() if _is_sparse(X) else X * scale**2
        products = _dense(wide @ X.T)
        products -= products.mean(axis=0)
        products -= products.mean(axis=1, keepdims=True)
        products[np.diag_indices(len(products))] += ALPHA
        dual = np.asarray(cho_solve(cho_factor(products), target))
        dual -= dual.mean(axis=0)
        return np.asarray(wide.T @ dual)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each row."""
        scores = np.asarray(X @ self.coef_) + (self._level - self._mean @ self.coef_)
        result: NDArray[Any] = self.classes_[scores.argmax(axis=1)]
        return result


def _is_sparse(X: Any) -> bool:
    return not isinstance(X, np.ndarray)


def _dense(products: Any) -> Floats:
    """Return products of columns or of rows as an array."""
    return np.asarray(products.todense() if _is_sparse(products) else products, dtype=np.float64)
