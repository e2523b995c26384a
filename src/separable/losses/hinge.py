"""The hinge loss of the support vector machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from separable.losses.base import Loss, zero_crossing

if TYPE_CHECKING:
    from separable.typing import Floats

__all__ = ["Hinge"]


@dataclass(frozen=True)
class Hinge(Loss):
    """The hinge loss max(0, 1 - y s)."""

    name: str = "hinge"
    is_of_residuals: ClassVar[bool] = True

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
