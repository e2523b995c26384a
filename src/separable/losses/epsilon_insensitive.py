"""The epsilon-insensitive loss of support vector regression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from separable.losses.base import Loss, zero_crossing

if TYPE_CHECKING:
    from separable.typing import Floats

__all__ = ["EpsilonInsensitive"]


@dataclass(frozen=True)
class EpsilonInsensitive(Loss):
    """The epsilon-insensitive loss max(0, |y - s| - epsilon)."""

    epsilon: float = 0.1
    name: str = "epsilon_insensitive"
    is_of_residuals: ClassVar[bool] = True

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
