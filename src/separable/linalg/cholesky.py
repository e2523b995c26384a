"""Cholesky factorization of matrices that rounding may have made indefinite."""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError
from scipy.linalg.lapack import dpotrf, dpotrs

from separable.typing import Floats


class Cholesky:
    """Cholesky factor of a matrix scaled to unit diagonal, with a tiny ridge if necessary.

    Parameters
    ----------
    matrix : ndarray, shape (d, d)
        Symmetric, with a non-negative diagonal; ``LinAlgError`` if it is not finite.
    """

    def __init__(self, matrix: Floats) -> None:
        diagonal = np.diagonal(matrix)
        self._scale = 1.0 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
        scaled = np.empty_like(matrix, order="C")
        diagonal = np.where(diagonal > 0, 1.0, 0.0)
        ridge = 0.0
        while True:
            np.multiply(matrix, self._scale, out=scaled)
            scaled *= self._scale[:, None]
            np.fill_diagonal(scaled, diagonal + ridge)
            # in place: copies of large matrices would cost as much as their factor
            self._factor, failed = dpotrf(scaled.T, lower=1, clean=0, overwrite_a=1)
            if failed == 0:
                return
            if ridge > len(scaled):
                raise LinAlgError("The matrix is not finite.")
            ridge = max(1e-15, 10 * ridge)

    def solve(self, right: Floats) -> Floats:
        """Return the solution for a right-hand side, (d,), or for several, (d, k)."""
        scale = self._scale if right.ndim == 1 else self._scale[:, None]
        solution: Floats = scale * dpotrs(self._factor, scale * right, lower=1)[0]
        return solution

    def inverse_diagonal(self) -> Floats:
        """Return the diagonal of the inverse, (d,)."""
        inverse = dpotrs(self._factor, np.diag(self._scale), lower=1)[0]
        diagonal: Floats = self._scale * np.diagonal(inverse)
        return diagonal


class Bordered:
    """Linear system of weights and an intercept: [[A, m], [m', k]].

    Parameters
    ----------
    matrix : ndarray, shape (d, d)
    border : ndarray, shape (d,)
    fit_intercept : bool
        If False, only A is used, and the last unknown is 0.
    """

    def __init__(self, matrix: Floats, border: Floats, k: float, *, fit_intercept: bool) -> None:
        self._all = fit_intercept and k > 0
        if self._all:
            d = len(matrix)
            whole = np.empty((d + 1, d + 1))
            whole[:d, :d] = matrix
            whole[d, :d] = whole[:d, d] = border
            whole[d, d] = k
            matrix = whole
        self._factor = Cholesky(matrix)

    def solve(self, right: Floats, last: float) -> tuple[Floats, float]:
        """Return the unknowns of the weights and of the intercept."""
        if not self._all:
            return self._factor.solve(right), 0.0
        solution = self._factor.solve(np.append(right, last))
        return solution[:-1], float(solution[-1])
