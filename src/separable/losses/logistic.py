"""The logistic loss of binary logistic regression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from separable.losses.base import SmoothLoss

if TYPE_CHECKING:
    from separable.typing import Floats

__all__ = ["Logistic"]


@dataclass(frozen=True)
class Logistic(SmoothLoss):
    """The logistic loss log(1 + e^(-y s))."""

    name: str = "log_loss"
    curvature: ClassVar[float | None] = 0.25
    can_be_unpenalized: ClassVar[bool] = True
    is_multinomial: ClassVar[bool] = True
    has_logarithms: ClassVar[bool] = True

    def total(self, y: Floats, s: Floats, c: Floats) -> float:
        return float(c @ np.logaddexp(0.0, -y * s))

    def dual_total(self, y: Floats, c: Floats, z: Floats) -> float:
        return -float((c * _entropy(y, c, z)).sum())

    def gap(self, y: Floats, s: Floats, c: Floats, z: Floats) -> Floats:
        m = y * s
        u = np.divide(y * z, c, out=np.zeros_like(c), where=c > 0)
        # c KL(u || sigma(-m)); a series near u = v, where the logarithms cancel
        v = 0.5 * (1.0 - np.tanh(0.5 * m))
        plain = c * (np.logaddexp(0.0, -m) + _entropy(y, c, z) + u * m)
        d = u - v
        room = v * (1.0 - v)
        with np.errstate(divide="ignore", invalid="ignore"):
            x = d / room
            series = c * d * x * (0.5 - (1.0 - 2.0 * v) * x / 6.0)
        return np.where((room > 0) & (np.abs(x) < 1e-3), np.maximum(series, 0.0), plain)

    def derivatives(self, y: Floats, s: Floats, c: Floats) -> tuple[Floats, Floats]:
        p = 0.5 * (1.0 - np.tanh(0.5 * y * s))
        return -c * y * p, c * p * (1.0 - p)

    def clip_dual(self, y: Floats, c: Floats, z: Floats) -> Floats:
        return y * np.clip(y * z, 0.0, c)

    def best_intercept(self, y: Floats, s: Floats, c: Floats) -> float:
        """Find the root of the derivative by Newton's method, safeguarded by bisection."""
        low = float(-s.max()) - 40.0
        high = float(-s.min()) + 40.0
        b = float(np.clip(0.0, low, high))
        for _ in range(200):
            p = 0.5 * (1.0 + np.tanh(0.5 * (s + b)))
            gradient = float(c @ (p - (y > 0)))
            if gradient > 0:
                high = b
            else:
                low = b
            curvature = float(c @ (p * (1.0 - p)))
            step = b - gradient / curvature if curvature > 0 else np.nan
            if abs(step - b) <= 4e-16 * max(abs(b), 1.0):  # converged to rounding
                break
            new = step if low < step < high else 0.5 * (low + high)
            if high - low <= 4e-16 * max(abs(low), abs(high)):
                break
            b = new
        return b


def _entropy(y: Floats, c: Floats, z: Floats) -> Floats:
    """Return the negative entropy u log u + (1 - u) log(1 - u) for u = y z / c."""
    u = np.clip(np.divide(y * z, c, out=np.zeros_like(c), where=c > 0), 0.0, 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        first = np.where(u > 0, u * np.log(u), 0.0)
        second = np.where(u < 1, (1.0 - u) * np.log1p(-u), 0.0)
    return first + second
