"""The ellipses of a normal distribution or a quadratic."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from separable.typing import Floats


__all__ = ["check_covariance", "ellipse"]


def ellipse(centre: Floats, covariance: Floats, radius: float, n: int = 241) -> Floats:
    """Return n points z with (z - m)'S^-1 (z - m) = radius^2, the first again at the end.

    Examples
    --------
    >>> import numpy as np
    >>> ellipse(np.zeros(2), np.diag([1.0, 4.0]), 3.0, n=5).round(9) + 0.0
    array([[ 3.,  0.],
           [ 0.,  6.],
           [-3.,  0.],
           [ 0., -6.],
           [ 3.,  0.]])
    """
    angle = np.linspace(0, 2 * np.pi, n)
    circle = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    points: Floats = centre + radius * circle @ np.linalg.cholesky(covariance).T
    return points


def check_covariance(covariance: object, name: str) -> Floats:
    """Return a 2 x 2 matrix that is symmetric and positive definite, or refuse it."""
    matrix = np.asarray(covariance, dtype=np.float64)
    if matrix.shape != (2, 2) or not np.isfinite(matrix).all():
        raise ValueError(f"{name} must be 2 x 2 finite numbers. Got {np.asarray(covariance)!r}.")
    if matrix[0, 1] != matrix[1, 0] or matrix[0, 0] <= 0 or np.linalg.det(matrix) <= 0:
        raise ValueError(f"{name} must be symmetric and positive definite. Got {matrix.tolist()}.")
    return matrix
