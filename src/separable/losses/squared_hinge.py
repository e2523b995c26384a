"""The squared hinge loss of the L2-loss support vector machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from separable.losses.base import SmoothLoss

if TYPE_CHECKING:
    from separable.typing import Floats

__all__ = ["SquaredHinge"]


@dataclass(frozen=True)
class SquaredHinge(SmoothLoss):
    """The squared hinge loss max(0, 1 - y s)^2."""

    name: str = "squared_hinge"
    curvature: ClassVar[float | None] = 2.0
    is_twice_differentiable: ClassVar[bool] = False

    def total(self, y: Floats, s: Floats, c: Floats) -> float:
        return float(c @ np.maximum(0.0, 1.0 - y * s) ** 2)

    def dual_total(self, y: Floats, c: Floats, z: Floats) -> float:
        used = c > 0
        a = (y * z)[used]
        return float((a * (1.0 - a / (4 * c[used]))).sum())

    def gap(self, y: Floats, s: Floats, c: Floats, z: Floats) -> Floats:
        m, a = y * s, y * z
        half = np.divide(a, 2 * c, out=np.zeros_like(a), where=c > 0)
        return np.where(m < 1, c * (1 - m - half) ** 2, half * a / 2 + a * (m - 1))

    def derivatives(self, y: Floats, s: Floats, c: Floats) -> tuple[Floats, Floats]:
        left = 1.0 - y * s
        active = left > 0
        return np.where(active, -2.0 * c * y * left, 0.0), np.where(active, 2.0 * c, 0.0)

    def clip_dual(self, y: Floats, c: Floats, z: Floats) -> Floats:
        return np.where(c > 0, y * np.maximum(y * z, 0.0), 0.0)

    def best_intercept(self, y: Floats, s: Floats, c: Floats) -> float:
        """Scan the intervals on which the derivative 2 sum c (s + b - y) is linear."""
        points = y - s
        order = np.argsort(points)
        p, up = points[order], y[order] > 0
        cost = c[order]
        # left of all breakpoints every positive is active; a positive becomes inactive at its
        # breakpoint, a negative becomes active
        sign = np.where(up, -1.0, 1.0)
        weight = cost[up].sum() + np.concatenate([[0.0], np.cumsum(sign * cost)])
        moment = (cost * p)[up].sum() + np.concatenate([[0.0], np.cumsum(sign * cost * p)])
        b = np.divide(moment, weight, out=np.zeros_like(moment), where=weight > 0)
        low, high = np.concatenate([[-np.inf], p]), np.concatenate([p, [np.inf]])
        # rounding may put the minimum of every interval just outside it: take the closest
        outside = np.maximum(low - b, b - high)
        outside[weight <= 0] = np.inf
        piece = int(np.argmin(np.maximum(outside, 0.0)))
        return float(np.clip(b[piece], low[piece], high[piece]))
