"""Ordinary least squares."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from separable.model.parameters import BOOL, Requirement
from separable.model.words import feature_name
from separable.moments.regression.base_squares import SquaresRegressor

if TYPE_CHECKING:
    from separable.moments.base import Solution
    from separable.moments.regression.least_squares_summary import Summary
    from separable.statistics.moments import Moments
    from separable.statistics.weighted_rows import Data

__all__ = ["LeastSquares"]


class LeastSquares(SquaresRegressor):
    """Ordinary least squares: minimizes sum_i c_i (w.x_i + b - y_i)^2, exactly.

    The weights are solved by Cholesky from the Gram matrix of the columns, centered and scaled to
    norm 1. For larger condition numbers they are improved by iterative refinement with residuals
    in twice the working precision; beyond that the rows are factored by Householder QR. Linearly
    dependent columns give the minimum-norm solution and a ``RankWarning`` that names them. Scaling
    or shifting a column changes no prediction, up to rounding.

    Parameters
    ----------
    fit_intercept : bool, default True
        Whether to learn b.

    Attributes
    ----------
    coef_ : ndarray of shape (d,) or (t, d)
    intercept_ : ndarray of shape (t,)
    condition_number_ : float
        Of the centered columns, scaled to norm 1: the factor by which a relative error of the data
        can grow in the weights. inf for linearly dependent columns.
    rank_ : int
        Of the centered columns.
    evidence_ : dict
        ``rows_seen``, ``condition_number``, ``rank``, ``residual_squares``, ``r2``, ``solved_by``,
        ``digits`` (estimated correct digits of standardized weights).

    Examples
    --------
    >>> from separable import LeastSquares
    >>> line = LeastSquares().fit([[0], [1], [2]], [1, 3, 5])
    >>> line.coef_, line.intercept_
    (array([2.]), array([1.]))
    """

    _requirements: ClassVar[dict[str, Requirement]] = {"fit_intercept": BOOL}

    def __init__(self, fit_intercept: bool = True) -> None:
        self.fit_intercept = fit_intercept

    @property
    def condition_number_(self) -> float:
        """Condition number of the centered columns, scaled to norm 1."""
        return float(self._complete().learned["condition_number"])

    @property
    def rank_(self) -> int:
        """Rank of the centered columns."""
        return int(self._learned("rank"))

    def summary(self, target: int = 0) -> Summary:
        """Return coefficients with standard errors, tests and intervals; R2, F, AIC and BIC.

        The summary prints as text and has ``to_dict()`` and ``to_html()``. A row of weight k
        counts as k rows.

        Parameters
        ----------
        target : int, default 0
            Index of the target.

        Returns
        -------
        Summary
        """
        from separable.moments.regression.least_squares_summary import summarise

        model, learned = self._weights_only(), self._solved().learned
        if "design" not in learned:
            raise ValueError(
                "There is no summary of a fit to fewer rows than columns: no rows are left to "
                "estimate errors from. Use fewer columns, or Ridge."
            )
        if not 0 <= target < model.n_scores:
            raise ValueError(f"target must be in 0 ... {model.n_scores - 1}. Got {target!r}.")
        names = [feature_name(None, j) for j in range(model.n_features)]
        return summarise(
            learned["design"],
            learned["kept"],
            learned["factor"],
            learned["rank"],
            model.weights[target],
            float(model.intercept[target]) if self.fit_intercept else None,
            float(learned["residual_squares"][target]),
            target,
            list(model.feature_names or names),
            "y" if model.n_scores == 1 else f"y{target + 1}",
        )

    # ------------------------------------------------------------------ solving

    def _penalty(self) -> float:
        return 0.0

    def _solve(self, sums: Moments, data: Data | None) -> Solution:
        return self._solve_squares(sums, data, 0.0)

    def _solve_rows(self, data: Data) -> Solution | None:
        return self._solve_wide(data, 0.0)
