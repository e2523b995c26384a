"""A dual point that fits weights better than the slopes of the losses do.

Where columns have a large common part, rounding of weights moves all scores together, and pulls of
the slopes on columns by much more. The same weights are proved by the nearest dual point, in the
curvature of the losses, whose pulls on columns with a weight are what the penalty says, l1 sign(w)
+ l2 w.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import LinAlgError

from separable.linalg.lstsq import lstsq

if TYPE_CHECKING:
    from separable.typing import Floats


__all__ = ["MAX_CELLS", "fitted_dual"]

#: Numbers of the columns that have a weight, at most.
MAX_CELLS = 4_000_000
#: A second time, for rounding of the first.
REFINEMENTS = 2


def fitted_dual(
    x: Floats, h: Floats, z: Floats, correlation: Floats, *, is_centred: bool
) -> Floats:
    """Return z moved so that its pulls on columns are as said.

    Parameters
    ----------
    x : ndarray, shape (m, n)
        The columns with a weight.
    h : ndarray, shape (n,)
        Curvatures of the losses; where they are 0 nothing moves.
    z : ndarray, shape (n,)
    correlation : ndarray, shape (m,)
        What Xz is to be.
    is_centred : bool
        Whether z is to have a sum of 0.

    Examples
    --------
    >>> fitted_dual(np.array([[1.0, 1.0]]), np.ones(2), np.array([0.5, 0.7]), np.ones(1),
    ...             is_centred=False)
    array([0.4, 0.6])
    """
    if is_centred:
        x, correlation = np.vstack([x, np.ones(len(z))]), np.append(correlation, 0.0)
    size = np.sqrt(np.einsum("ij,ij->i", x, x))
    size[size == 0] = 1.0
    root = np.sqrt(h)
    scaled = x * root / size[:, None]
    for _ in range(REFINEMENTS):
        try:
            by = lstsq(scaled, (correlation - x @ z) / size)
        except (LinAlgError, ValueError):
            break
        z = z + root * by
    return z
