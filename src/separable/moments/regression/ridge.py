"""Ridge regression: least squares with an l2 penalty."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from separable.accepted_parameters import accepts
from separable.fitting.base import with_parameters
from separable.model.parameters import BOOL, NOT_NEGATIVE, Requirement
from separable.moments.base import Solution
from separable.moments.regression.base_squares import SquaresRegressor
from separable.moments.regression.row_side import RowSide
from separable.moments.regression.sparse_ridge import (
    SparseRidge,
    is_sparse_and_large,
    may_stop_early,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from separable.statistics.weighted_rows import Data
    from separable.typing import Floats

__all__ = ["Ridge"]

#: Largest condition number of UU' + alpha I for which eigenvalues keep nine digits.
MAX_CONDITION = 1e6


@accepts("copy_X", "max_iter", "tol", "solver", "random_state")
@with_parameters
class Ridge(SquaresRegressor):
    """Ridge regression: minimizes sum_i c_i (w.x_i + b - y_i)^2 + alpha |w|^2, exactly.

    The intercept b is never penalized. The penalty is equivalent to d augmented rows
    sqrt(alpha) e_j with target 0, so the solution follows ``LeastSquares``: Cholesky on columns
    scaled to norm 1, augmented rows included; for larger condition numbers iterative refinement
    with residuals in twice the working precision; beyond that Householder QR of the rows. With
    more columns than rows the dual, n x n, is solved. More than 600 sparse columns are solved by
    conjugate gradients, refined to the same precision, without products of columns: there are no
    sums to merge, and ``condition_number_`` is NaN. alpha = 0 is ``LeastSquares``, with its
    warnings.

    Parameters
    ----------
    alpha : float
        Regularization parameter, at least 0, in squared units of the columns. Scale the columns
        first, for example with ``sklearn.preprocessing.StandardScaler``.
    positive : bool
        Weights of at least 0: the columns whose weights are above 0 are found by an active set,
        then solved as without the constraint. ``condition_number_`` is of these columns.

    Attributes
    ----------
    coef_ : ndarray of shape (d,) or (t, d)
    intercept_ : float or ndarray of shape (t,)
    condition_number_ : float
        Of the centered columns with the augmented rows, scaled to norm 1.
    evidence_ : dict
        ``rows_seen``, ``condition_number``, ``rank``, ``residual_squares`` (without the penalty),
        ``r2``, ``solved_by``, ``digits`` (estimated correct digits of standardized weights). With
        conjugate gradients also ``n_iter`` and ``relative_residual``,
        |X'C(y - Xw - b) - alpha w| / |X'C(y - mean)|, columns about their means, at the weights of
        the model.

    Examples
    --------
    >>> from separable import Ridge
    >>> shrunk = Ridge(alpha=2.0).fit([[0], [1], [2]], [1, 3, 5])
    >>> shrunk.coef_, shrunk.intercept_
    (array([1.]), np.float64(2.0))
    """

    alpha: float = 1.0
    fit_intercept: bool = True
    _: KW_ONLY
    positive: bool = False

    _column_target = "intercept"
    _requirements: ClassVar[dict[str, Requirement]] = {
        "alpha": NOT_NEGATIVE,
        "fit_intercept": BOOL,
        "positive": BOOL,
    }

    def _is_positive(self) -> bool:
        return bool(self.positive)

    def _penalty(self) -> float:
        return float(self.alpha)

    def _solves_together(self, data: Data) -> bool:
        if self.positive:
            return False
        return data.is_wide or (self.alpha > 0 and is_sparse_and_large(data))

    def _solve_together(self, data: Data, candidates: Sequence[Ridge]) -> list[Solution] | None:
        """Solve for the alphas of all candidates: by lanes, or by one spectrum of wide rows."""
        alphas = np.array([each.alpha for each in candidates], dtype=np.float64)
        if is_sparse_and_large(data):
            return self._solve_lanes(data, alphas) if alphas.all() else None
        return self._solve_spectrum(data, alphas) if data.is_wide else None

    def _solve_spectrum(self, data: Data, alphas: Floats) -> list[Solution] | None:
        """Solve for all alphas from the eigenvalues of the inner products of rows."""
        side = RowSide(data, fit_intercept=bool(self.fit_intercept))
        spectrum = side.spectrum(apart=False)
        values, ordered = spectrum.values, np.sort(spectrum.values)
        least = ordered[min(int(self.fit_intercept), len(values) - 1)]  # centring makes one 0
        solutions = []
        for alpha in alphas.tolist():
            solution = None
            if alpha > 0 and ordered[-1] <= MAX_CONDITION * (least + alpha):
                dual = spectrum.vectors @ (spectrum.projection / (values + alpha)[:, None])
                weights = side.back(dual)
                learned = {"condition_number": np.nan, "rank": None}
                evidence = {"rows_seen": data.rows.n_rows, "solved_by": "eigenvalues"}
                solution = Solution(weights, side.intercept(weights), evidence, learned)
            solutions.append(solution or self._solve_wide(data, alpha, side))
        return [one for one in solutions if one is not None]

    def _solve_lanes(self, data: Data, alphas: Floats) -> list[Solution] | None:
        """Solve for all alphas as lanes of conjugate gradients."""
        lanes = SparseRidge(data, fit_intercept=bool(self.fit_intercept)).lanes(alphas)
        if lanes is None or not (lanes.converged or may_stop_early(data)):
            return None
        learned = {"condition_number": np.nan, "rank": None}
        evidence = {"rows_seen": data.rows.n_rows, "solved_by": "conjugate gradients"}
        return [
            Solution(w, b, evidence | {"converged": lanes.converged}, learned)
            for w, b in zip(lanes.weights, lanes.intercept, strict=True)
        ]
