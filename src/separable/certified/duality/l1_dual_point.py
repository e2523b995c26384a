"""A dual point refined on the support, where the residual is too inaccurate.

If columns share a large common part, rounding of the weights moves all scores together, and the
correlations of the residual by much more. The refined dual point is the nearest one, in the metric
of the curvature, with the optimal correlations l1 sign(w) + l2 w on the support.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import LinAlgError

from separable.linalg.lstsq import lstsq

if TYPE_CHECKING:
    from separable.typing import Floats


__all__ = ["MAX_CELLS", "fitted_dual"]

#: Maximum number of cells of the support.
MAX_CELLS = 4_000_000
#: Steps of iterative refinement.
REFINEMENTS = 2


def fitted_dual(
    x: Floats, h: Floats, z: Floats, correlation: Floats, *, is_centred: bool
) -> Floats:
    """Return the dual point nearest to z with the given correlations.

    Parameters
    ----------
    x : ndarray, shape (m, n)
        The columns of the support.
    h : ndarray, shape (n,)
        Curvatures of the losses; rows of curvature 0 do not move.
    z : ndarray, shape (n,)
    correlation : ndarray, shape (m,)
        The target value of Xz.
    is_centred : bool
        Whether z must sum to 0.

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
