"""Cholesky's method for matrices that rounding may have left without a positive eigenvalue."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["Cholesky"]


class Cholesky:
    """A factored matrix, its diagonal scaled to 1, with a ridge of rounding size where needed.

    Parameters
    ----------
    matrix : ndarray, shape (d, d)
        Symmetric, with a diagonal that is not negative.
    """

    def __init__(self, matrix: Floats) -> None:
        diagonal = np.diagonal(matrix)
        self._scale = 1.0 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
        scaled = matrix * self._scale * self._scale[:, None]
        ridge = 0.0
        while True:
            try:
                self._factor = cho_factor(scaled + ridge * np.eye(len(scaled)))
                return
            except LinAlgError:
                ridge = max(1e-15, 10 * ridge)

    def solve(self, right: Floats) -> Floats:
        """Return the solution for a right-hand side, (d,)."""
        solution: Floats = self._scale * cho_solve(self._factor, self._scale * right)
        return solution
