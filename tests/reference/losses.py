"""Losses of rows in plain NumPy, as oracles of those of the compiled core."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from separable.typing import Floats


@dataclass(frozen=True)
class Hinge:
    """The hinge loss max(0, 1 - y s)."""

    name: str = "hinge"

    def total(self, y: Floats, s: Floats, c: Floats) -> float:
        return float(c @ np.maximum(0.0, 1.0 - y * s))

    def dual_total(self, y: Floats, c: Floats, z: Floats) -> float:
        del c
        return float((y * z).sum())

    def gap(self, y: Floats, s: Floats, c: Floats, z: Floats) -> Floats:
        left, a = y * (y - s), y * z
        return np.where(left > 0, (c - a) * left, -a * left)

    def clip_dual(self, y: Floats, c: Floats, z: Floats) -> Floats:
        return y * np.clip(y * z, 0.0, c)

    def best_intercept(self, y: Floats, s: Floats, c: Floats) -> float:
        # the derivative is -(cost of positives below the margin) + (cost of negatives above it)
        return zero_crossing(y - s, c, -float(c[y > 0].sum()))


@dataclass(frozen=True)
class SquaredHinge:
    """The squared hinge loss max(0, 1 - y s)^2."""

    name: str = "squared_hinge"

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


@dataclass(frozen=True)
class Logistic:
    """The logistic loss log(1 + e^(-y s))."""

    name: str = "log_loss"

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


@dataclass(frozen=True)
class EpsilonInsensitive:
    """The epsilon-insensitive loss max(0, |y - s| - epsilon)."""

    epsilon: float = 0.1
    name: str = "epsilon_insensitive"

    def total(self, y: Floats, s: Floats, c: Floats) -> float:
        return float(c @ np.maximum(0.0, np.abs(y - s) - self.epsilon))

    def dual_total(self, y: Floats, c: Floats, z: Floats) -> float:
        del c
        return float((y * z - self.epsilon * np.abs(z)).sum())

    def gap(self, y: Floats, s: Floats, c: Floats, z: Floats) -> Floats:
        r = y - s
        size, a = np.abs(r), np.abs(z)
        over = size - self.epsilon
        against = np.where(r * z < 0, 2.0 * a * size, 0.0)
        return np.where(over > 0, (c - a) * over, -a * over) + against

    def clip_dual(self, y: Floats, c: Floats, z: Floats) -> Floats:
        del y
        return np.clip(z, -c, c)

    def best_intercept(self, y: Floats, s: Floats, c: Floats) -> float:
        r = y - s
        points = np.concatenate([r - self.epsilon, r + self.epsilon])
        return zero_crossing(points, np.concatenate([c, c]), -float(c.sum()))


@dataclass(frozen=True)
class SquaredError:
    """The squared error (y - s)^2 / 2."""

    name: str = "squared_error"

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


def zero_crossing(points: Floats, weights: Floats, start: float) -> float:
    """Return the root of a step function: ``start`` < 0, plus each weight beyond its point."""
    order = np.argsort(points)
    reached = np.cumsum(weights[order]) + start >= 0
    return float(points[order[int(np.argmax(reached))]]) if reached.any() else float(points.max())


def of_name(name: str, epsilon: float = 0.0) -> Any:
    """Return the loss of a name of the compiled core."""
    if name == "epsilon_insensitive":
        return EpsilonInsensitive(epsilon)
    others = [Hinge(), SquaredHinge(), Logistic(), SquaredError()]
    return next(loss for loss in others if loss.name == name)
