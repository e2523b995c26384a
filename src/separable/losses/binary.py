"""The losses of the certified learners in NumPy, as the engines with few columns need them.

Each has the value, the dual value of a row and what a row adds to the gap, and finds the intercept
that minimises the sum of losses exactly. Rows have a target y (a sign, or a number), a cost c and a
score s; z is the dual variable with its sign. The compiled core has the same losses, under the same
names, for passes and for certificates of many lanes (``dual_loss.hpp``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol

import numpy as np

if TYPE_CHECKING:
    from separable.typing import Floats


__all__ = [
    "CorneredLoss",
    "Hinge",
    "Insensitive",
    "Logistic",
    "Loss",
    "SmoothLoss",
    "SquaredError",
    "SquaredHinge",
    "is_smooth",
]


class Loss(Protocol):
    """What engines and certificates ask of a loss."""

    @property
    def name(self) -> str:
        """What the compiled core calls it."""

    @property
    def curvature(self) -> float | None:
        """The largest second derivative by the score; None: there is a corner."""

    def total(self, y: Floats, s: Floats, c: Floats) -> float:
        """Return the sum of c times the loss of each row."""

    def dual_total(self, y: Floats, c: Floats, z: Floats) -> float:
        """Return the sum of the dual values of the rows."""

    def gap(self, y: Floats, s: Floats, c: Floats, z: Floats) -> Floats:
        """Return what each row adds to the gap, never negative but for rounding."""

    def cut(self, y: Floats, c: Floats, z: Floats) -> Floats:
        """Return z cut to the range in which its row has a dual value."""

    def best_intercept(self, y: Floats, s: Floats, c: Floats) -> float:
        """Return the b that minimises the total of s + b."""


class CorneredLoss(Loss, Protocol):
    """A loss of the residual y - s with corners."""

    def residual_gap(self, y: Floats, r: Floats, c: Floats, z: Floats) -> Floats:
        """Return what each row adds to the gap, from its residual."""


class SmoothLoss(Loss, Protocol):
    """A loss that Newton's method can take."""

    def slopes(self, y: Floats, s: Floats, c: Floats) -> tuple[Floats, Floats]:
        """Return c times the first and the second derivative by the score, of each row."""


def is_smooth(loss: Loss) -> bool:
    """Say whether Newton's method can take a loss."""
    return hasattr(loss, "slopes")


def _crossing(points: Floats, weights: Floats, start: float) -> float:
    """Return the point at which a slope that starts below 0 and grows by weights reaches 0."""
    order = np.argsort(points)
    reached = np.cumsum(weights[order]) + start >= 0
    return float(points[order[int(np.argmax(reached))]]) if reached.any() else float(points.max())


@dataclass(frozen=True)
class Hinge:
    """max(0, 1 - y s)."""

    name: str = "hinge"
    curvature: ClassVar[float | None] = None

    def total(self, y: Floats, s: Floats, c: Floats) -> float:
        return float(c @ np.maximum(0.0, 1.0 - y * s))

    def dual_total(self, y: Floats, c: Floats, z: Floats) -> float:
        del c
        return float((y * z).sum())

    def gap(self, y: Floats, s: Floats, c: Floats, z: Floats) -> Floats:
        return self.residual_gap(y, y - s, c, z)

    def residual_gap(self, y: Floats, r: Floats, c: Floats, z: Floats) -> Floats:
        left, a = y * r, y * z
        return np.where(left > 0, (c - a) * left, -a * left)

    def cut(self, y: Floats, c: Floats, z: Floats) -> Floats:
        return y * np.clip(y * z, 0.0, c)

    def best_intercept(self, y: Floats, s: Floats, c: Floats) -> float:
        # the slope is minus the cost of positives below their margin, plus that of negatives
        return _crossing(y - s, c, -float(c[y > 0].sum()))


@dataclass(frozen=True)
class SquaredHinge:
    """max(0, 1 - y s)^2."""

    name: str = "squared_hinge"
    curvature: ClassVar[float | None] = 2.0

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

    def slopes(self, y: Floats, s: Floats, c: Floats) -> tuple[Floats, Floats]:
        left = 1.0 - y * s
        active = left > 0
        return np.where(active, -2.0 * c * y * left, 0.0), np.where(active, 2.0 * c, 0.0)

    def cut(self, y: Floats, c: Floats, z: Floats) -> Floats:
        return np.where(c > 0, y * np.maximum(y * z, 0.0), 0.0)

    def best_intercept(self, y: Floats, s: Floats, c: Floats) -> float:
        """Scan the pieces on which the slope 2 sum c (s + b - y) over active rows is linear."""
        points = y - s
        order = np.argsort(points)
        p, up = points[order], y[order] > 0
        cost = c[order]
        # to the left of all points every positive is active; crossing one takes it out, crossing
        # the point of a negative brings it in
        sign = np.where(up, -1.0, 1.0)
        weight = cost[up].sum() + np.concatenate([[0.0], np.cumsum(sign * cost)])
        moment = (cost * p)[up].sum() + np.concatenate([[0.0], np.cumsum(sign * cost * p)])
        b = np.divide(moment, weight, out=np.zeros_like(moment), where=weight > 0)
        low, high = np.concatenate([[-np.inf], p]), np.concatenate([p, [np.inf]])
        # rounding may put every piece's minimum just outside it: the closest one is taken
        outside = np.maximum(low - b, b - high)
        outside[weight <= 0] = np.inf
        piece = int(np.argmin(np.maximum(outside, 0.0)))
        return float(np.clip(b[piece], low[piece], high[piece]))


@dataclass(frozen=True)
class Logistic:
    """log(1 + e^(-y s))."""

    name: str = "log_loss"
    curvature: ClassVar[float | None] = 0.25

    def total(self, y: Floats, s: Floats, c: Floats) -> float:
        return float(c @ np.logaddexp(0.0, -y * s))

    def dual_total(self, y: Floats, c: Floats, z: Floats) -> float:
        return -float((c * _entropy(y, c, z)).sum())

    def gap(self, y: Floats, s: Floats, c: Floats, z: Floats) -> Floats:
        m = y * s
        u = np.divide(y * z, c, out=np.zeros_like(c), where=c > 0)
        # c KL(u || sigma(-m)); as a series where u is close, for there the logarithms cancel
        v = 0.5 * (1.0 - np.tanh(0.5 * m))
        plain = c * (np.logaddexp(0.0, -m) + _entropy(y, c, z) + u * m)
        d = u - v
        room = v * (1.0 - v)
        with np.errstate(divide="ignore", invalid="ignore"):
            x = d / room
            series = c * d * x * (0.5 - (1.0 - 2.0 * v) * x / 6.0)
        return np.where((room > 0) & (np.abs(x) < 1e-3), np.maximum(series, 0.0), plain)

    def slopes(self, y: Floats, s: Floats, c: Floats) -> tuple[Floats, Floats]:
        p = 0.5 * (1.0 - np.tanh(0.5 * y * s))
        return -c * y * p, c * p * (1.0 - p)

    def cut(self, y: Floats, c: Floats, z: Floats) -> Floats:
        return y * np.clip(y * z, 0.0, c)

    def best_intercept(self, y: Floats, s: Floats, c: Floats) -> float:
        """Newton's method on the slope, kept within a bracket that every step narrows."""
        low = float(-s.max()) - 40.0
        high = float(-s.min()) + 40.0
        b = float(np.clip(0.0, low, high))
        for _ in range(200):
            p = 0.5 * (1.0 + np.tanh(0.5 * (s + b)))
            slope = float(c @ (p - (y > 0)))
            if slope > 0:
                high = b
            else:
                low = b
            curve = float(c @ (p * (1.0 - p)))
            step = b - slope / curve if curve > 0 else np.nan
            if abs(step - b) <= 4e-16 * max(abs(b), 1.0):  # one float from the last: rounding
                break
            new = step if low < step < high else 0.5 * (low + high)
            if high - low <= 4e-16 * max(abs(low), abs(high)):
                break
            b = new
        return b


def _entropy(y: Floats, c: Floats, z: Floats) -> Floats:
    """Return u log u + (1 - u) log(1 - u) for u = a / c."""
    u = np.clip(np.divide(y * z, c, out=np.zeros_like(c), where=c > 0), 0.0, 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        first = np.where(u > 0, u * np.log(u), 0.0)
        second = np.where(u < 1, (1.0 - u) * np.log1p(-u), 0.0)
    return first + second


@dataclass(frozen=True)
class Insensitive:
    """max(0, |y - s| - epsilon)."""

    epsilon: float = 0.1
    name: str = "epsilon_insensitive"
    curvature: ClassVar[float | None] = None

    def total(self, y: Floats, s: Floats, c: Floats) -> float:
        return float(c @ np.maximum(0.0, np.abs(y - s) - self.epsilon))

    def dual_total(self, y: Floats, c: Floats, z: Floats) -> float:
        del c
        return float((y * z - self.epsilon * np.abs(z)).sum())

    def gap(self, y: Floats, s: Floats, c: Floats, z: Floats) -> Floats:
        return self.residual_gap(y, y - s, c, z)

    def residual_gap(self, y: Floats, r: Floats, c: Floats, z: Floats) -> Floats:
        del y
        size, a = np.abs(r), np.abs(z)
        over = size - self.epsilon
        against = np.where(r * z < 0, 2.0 * a * size, 0.0)
        return np.where(over > 0, (c - a) * over, -a * over) + against

    def cut(self, y: Floats, c: Floats, z: Floats) -> Floats:
        del y
        return np.clip(z, -c, c)

    def best_intercept(self, y: Floats, s: Floats, c: Floats) -> float:
        r = y - s
        points = np.concatenate([r - self.epsilon, r + self.epsilon])
        return _crossing(points, np.concatenate([c, c]), -float(c.sum()))


@dataclass(frozen=True)
class SquaredError:
    """(y - s)^2 / 2."""

    name: str = "squared_error"
    curvature: ClassVar[float | None] = 1.0

    def total(self, y: Floats, s: Floats, c: Floats) -> float:
        return 0.5 * float(c @ (y - s) ** 2)

    def dual_total(self, y: Floats, c: Floats, z: Floats) -> float:
        used = c > 0
        return float((z[used] * (y[used] - 0.5 * z[used] / c[used])).sum())

    def gap(self, y: Floats, s: Floats, c: Floats, z: Floats) -> Floats:
        share = np.divide(z, c, out=np.zeros_like(z), where=c > 0)
        return 0.5 * c * (y - s - share) ** 2

    def slopes(self, y: Floats, s: Floats, c: Floats) -> tuple[Floats, Floats]:
        return c * (s - y), c

    def cut(self, y: Floats, c: Floats, z: Floats) -> Floats:
        del y
        return np.where(c > 0, z, 0.0)

    def best_intercept(self, y: Floats, s: Floats, c: Floats) -> float:
        return float(c @ (y - s)) / float(c.sum())
