"""Least squares of small matrices by LAPACK, which is never given NaN or infinity.

LAPACK's ``gelsd`` does not refuse them: it prints to the standard error of the process, where no
Python code can catch it.

Non-negative least squares: SciPy's, with the inputs that it does not survive kept from it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import LinAlgError
from scipy.linalg import lstsq as scipy_lstsq
from scipy.optimize import nnls

if TYPE_CHECKING:
    from separable.typing import Floats


__all__ = ["lstsq", "nonnegative_squares"]


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


def nonnegative_squares(
    matrix: Floats, target: Floats, max_iter: int | None = None
) -> tuple[Floats, float] | None:
    """Return the x >= 0 that minimises |matrix x - target|, and that norm.

    None where there is no column (SciPy 1.17 frees its memory twice then, and the process ends), a
    number is not finite, or the steps run out.

    Examples
    --------
    >>> x, left = nonnegative_squares(np.array([[1.0, 1.0], [0.0, 1.0]]), np.array([1.0, -1.0]))
    >>> x.tolist(), round(left, 6)
    ([1.0, 0.0], 1.0)
    >>> nonnegative_squares(np.zeros((2, 0)), np.ones(2)) is None
    True
    """
    if matrix.size == 0 or not (np.isfinite(matrix).all() and np.isfinite(target).all()):
        return None
    try:
        x, left = nnls(matrix, target, maxiter=max_iter)
    except RuntimeError:  # too many steps
        return None
    return np.asarray(x, dtype=np.float64), float(left)
