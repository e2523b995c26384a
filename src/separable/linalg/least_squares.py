"""Least squares of small matrices by LAPACK, which is never given NaN or infinity.

LAPACK's ``gelsd`` does not refuse them: it prints to the standard error of the process, where no
Python code can catch it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import LinAlgError
from scipy.linalg import lstsq as scipy_lstsq

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["lstsq"]


def lstsq(matrix: Floats, right: Floats, cond: float | None = None) -> Floats:
    """Return the x of smallest norm that minimises the norm of matrix x - right.

    Parameters
    ----------
    matrix : ndarray, shape (m, n)
    right : ndarray, shape (m,) or (m, k)
    cond : float, optional
        Singular values below this fraction of the largest count as 0. None: float64's precision.

    Returns
    -------
    ndarray, shape (n,) or (n, k)

    Raises
    ------
    LinAlgError
        The numbers are not finite, or the method does not converge.
    """
    if not (np.isfinite(matrix).all() and np.isfinite(right).all()):
        raise LinAlgError("Least squares of numbers that are not finite have no solution.")
    solution: Floats = scipy_lstsq(matrix, right, cond=cond, check_finite=False)[0]
    return solution
