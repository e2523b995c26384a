"""Least squares and non-negative least squares of small matrices, with inputs checked first.

With NaN or infinity LAPACK's ``gelsd`` prints to the standard error of the process, where no Python
code can catch it. SciPy's ``nnls`` crashes on matrices without columns.
"""

from __future__ import annotations

from importlib import import_module

import numpy as np
from scipy.linalg import LinAlgError
from scipy.linalg import lstsq as scipy_lstsq

from separable.typing import Floats


def lstsq(matrix: Floats, right: Floats, cond: float | None = None) -> Floats:
    """Return the minimum-norm x that minimizes |matrix x - right|.

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
    """Return the x >= 0 that minimizes |matrix x - target|, and the norm.

    None if there are no columns (SciPy 1.17 frees memory twice and crashes), a number is not
    finite, or the iteration limit is reached.

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
        x, left = import_module("scipy.optimize").nnls(matrix, target, maxiter=max_iter)
    except RuntimeError:  # too many steps
        return None
    return np.asarray(x, dtype=np.float64), float(left)
