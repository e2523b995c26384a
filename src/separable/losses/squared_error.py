"""The squared error of least squares, ridge, lasso and elastic net."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from separable.losses.base import SmoothLoss

if TYPE_CHECKING:
    from separable.typing import Floats

__all__ = ["SquaredError"]


@dataclass(frozen=True)
class SquaredError(SmoothLoss):
    """The squared error (y - s)^2 / 2."""

    name: str = "squared_error"
    curvature: ClassVar[float | None] = 1.0
    is_quadratic: ClassVar[bool] = True
    is_of_residuals: ClassVar[bool] = True

    def total(self, y: Floats, s: Floats, c: Floats) -> float:
        return 0.5 * float(c @ (y - s) ** 2)

    def dual_total(self, y: Floats, c: Floats, z: Floats) -> float:
        used = c > 0
        return float((z[used] * (y[used] - 0.5 * z[used] / c[used])).sum())

    def gap(self, y: Floats, s: Floats, c: Floats, z: Floats) -> Floats:
        ratio = np.divide(z, c, out=np.zeros_like(z), where=c > 0)
        return 0.5 * c * (y - s - ratio) ** 2

    def derivatives(self, y: Floats, s: Floats, c: Floats) -> tuple[Floats, Floats]:
        return c * (s - y), c

    def clip_dual(self, y: Floats, c: Floats, z: Floats) -> Floats:
        del y
        return np.where(c > 0, z, 0.0)

    def best_intercept(self, y: Floats, s: Floats, c: Floats) -> float:
        return float(c @ (y - s)) / float(c.sum())
