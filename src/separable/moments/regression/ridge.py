"""Ridge regression: least squares with a penalty on the size of the weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from separable.model.parameters import BOOL, NOT_NEGATIVE, Requirement
from separable.moments.regression.base_squares import SquaresRegressor

if TYPE_CHECKING:
    from separable.moments.base import Solution
    from separable.statistics.moments import Moments
    from separable.statistics.weighted_rows import Data

__all__ = ["Ridge"]


class Ridge(SquaresRegressor):
    """Ridge regression: minimises sum_i c_i (w.x_i + b - y_i)^2 + alpha |w|^2, exactly.

    The intercept b is never penalised. A penalty is d more rows sqrt(alpha) e_j of target 0, so
    it is solved as least squares are: by Cholesky's method on columns scaled to length 1, those
    rows included; where the condition number asks for it refined against the rows with residuals
    in twice the digits, and beyond that by Householder's method on the rows. With more columns than
    rows it is solved on the n x n side. alpha = 0 is ``LeastSquares``, with its warnings.

    Parameters
    ----------
    alpha : float, default 1.0
        Strength of the penalty, at least 0. It is in the units of the columns squared: scale
        columns alike before, for example with ``sklearn.preprocessing.StandardScaler``.
    fit_intercept : bool, default True
        Learn b.

    Attributes
    ----------
    coef_ : ndarray of shape (d,) or (t, d)
    intercept_ : ndarray of shape (t,)
    condition_number_ : float
        Of the centred columns with the rows of the penalty, scaled to length 1.
    evidence_ : dict
        ``rows_seen``, ``condition_number``, ``rank``, ``residual_squares`` (without the penalty),
        ``r2``, ``solved_by``, ``digits`` (estimated correct digits of standardised weights).

    Examples
    --------
    >>> from separable import Ridge
    >>> shrunk = Ridge(alpha=2.0).fit([[0], [1], [2]], [1, 3, 5])
    >>> shrunk.coef_, shrunk.intercept_
    (array([1.]), array([2.]))
    """

    _requirements: ClassVar[dict[str, Requirement]] = {
        "alpha": NOT_NEGATIVE,
        "fit_intercept": BOOL,
    }

    def __init__(self, alpha: float = 1.0, fit_intercept: bool = True) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept

    @property
    def condition_number_(self) -> float:
        """Condition number of the columns with the rows of the penalty, scaled to length 1."""
        return float(self._learned("condition_number"))

    def _penalty(self) -> float:
        return float(self.alpha)

    def _solve(self, sums: Moments, data: Data | None) -> Solution:
        return self._solve_squares(sums, data, self._penalty())

    def _solve_rows(self, data: Data) -> Solution | None:
        return self._solve_wide(data, self._penalty())
