"""Non-negative least squares: SciPy's, with the inputs that it does not survive kept from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import nnls

if TYPE_CHECKING:
    from separable.geometry.cone_rows import Floats

__all__ = ["nonnegative_squares"]


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
