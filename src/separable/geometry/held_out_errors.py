"""Held-out errors of a ridge classifier, and the exact paired test of two of them (McNemar).

Verdicts concern only the given rows; the held-out error shows whether they generalize. The
classifier: targets are class indicators, columns are standardized, and the largest score is the
prediction. The test: only discordant rows matter. With b rows that are correct only with the
features and w that are wrong only with them, b of b + w is binomial with probability 1/2 under the
null hypothesis.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import bdtr, bdtrc

from separable.estimator import Estimator

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.typing import Floats

    Wrong = NDArray[np.bool_]

__all__ = ["HELPS", "NO_HELP", "UNDECIDED", "PairedErrors", "RidgeClasses"]

#: Regularization parameter, for columns with mean square 1.
RIDGE_ALPHA = 1.0
#: Outcomes of a comparison.
HELPS, NO_HELP, UNDECIDED = "helps", "does not help", "too few rows"
#: One-sided significance level.
SIGNIFICANCE = 0.025
#: The corresponding number of standard errors.
STANDARD_ERRORS = 2.0
#: Features help only if they can avoid at least this fraction of the errors.
MIN_REDUCTION = 0.5
#: Minimum number of discordant rows for a significant result.
MIN_DISCORDANT = 6


class RidgeClasses(Estimator):
    """Ridge regression on class indicators, with the fit and predict of scikit-learn.

    Examples
    --------
    >>> rows = np.array([[0.0], [1.0], [3.0], [4.0]])
    >>> RidgeClasses().fit(rows, np.array([0, 0, 1, 1])).predict(rows)
    array([0, 0, 1, 1])
    """

    _estimator_type = "classifier"

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
        products[np.diag_indices(len(products))] += RIDGE_ALPHA
        right = scale[:, None] * np.asarray(X.T @ target)
        result: Floats = scale[:, None] * cho_solve(cho_factor(products), right)
        return result

    def _by_rows(self, X: Any, target: Floats, scale: Floats) -> Floats:
        """Solve by u = Z'(ZZ' + alpha)^-1 t."""
        wide = X.multiply(scale**2).tocsr() if _is_sparse(X) else X * scale**2
        products = _dense(wide @ X.T)
        products -= products.mean(axis=0)
        products -= products.mean(axis=1, keepdims=True)
        products[np.diag_indices(len(products))] += RIDGE_ALPHA
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


@dataclass(frozen=True)
class PairedErrors:
    """Held-out errors on the same rows.

    Parameters
    ----------
    before, after : ndarray of bool, shape (n,)
        Whether each row is misclassified without and with features.
    """

    before: Wrong
    after: Wrong

    @property
    def better(self) -> int:
        """Number of rows that are correct only with the features."""
        return int((self.before & ~self.after).sum())

    @property
    def worse(self) -> int:
        """Number of rows that are wrong only with the features."""
        return int((~self.before & self.after).sum())

    def compare(self, guess: float, added: bool) -> str:
        """Return the outcome: the features help, do not help, or there are too few rows.

        Parameters
        ----------
        guess : float
            Error rate of always predicting the most frequent class.
        added : bool
            Whether there are features; without, the comparison is with guessing alone.

        Examples
        --------
        >>> before, after = np.zeros((2, 9), bool)
        >>> before[:5] = after[:1] = True
        >>> PairedErrors(before, after).compare(4 / 9, True)
        'too few rows'
        >>> PairedErrors(np.tile(before, 4), np.tile(after, 4)).compare(4 / 9, True)
        'helps'
        >>> PairedErrors(np.tile(before, 9), np.tile(before, 9)).compare(4 / 9, True)
        'does not help'
        """
        against = [self._against_guessing(guess)] + ([self._against_before()] if added else [])
        if NO_HELP in against:
            return NO_HELP
        return UNDECIDED if UNDECIDED in against else HELPS

    def _against_guessing(self, guess: float) -> str:
        n, wrong = len(self.after), int(self.after.sum())
        if bdtr(wrong, n, guess) <= SIGNIFICANCE:
            return HELPS
        is_high = bdtrc(wrong - 1, n, MIN_REDUCTION * guess) <= SIGNIFICANCE
        return NO_HELP if is_high else UNDECIDED

    def _against_before(self) -> str:
        decisive = self.better + self.worse
        if decisive and bdtrc(self.better - 1, decisive, 0.5) <= SIGNIFICANCE:
            return HELPS
        if decisive and bdtrc(self.worse - 1, decisive, 0.5) <= SIGNIFICANCE:
            return NO_HELP
        n = len(self.after)
        most = (self.better - self.worse + STANDARD_ERRORS * sqrt(decisive + 1)) / n
        return NO_HELP if most < MIN_REDUCTION * float(self.before.mean()) else UNDECIDED

    def rows_needed(self) -> int:
        """Return the approximate number of rows needed for a significant result."""
        n, decisive = len(self.after), max(1, self.better + self.worse)
        gain = (self.better - self.worse) / n
        fraction = decisive / n
        clear = [ceil(MIN_DISCORDANT / fraction)]
        if gain > 0:
            clear.append(ceil(STANDARD_ERRORS**2 * fraction / gain**2))
        else:
            margin = MIN_REDUCTION * float(self.before.mean()) - gain
            clear.append(ceil(STANDARD_ERRORS**2 * fraction / margin**2) if margin > 0 else 4 * n)
        return max(2 * n, *clear)
