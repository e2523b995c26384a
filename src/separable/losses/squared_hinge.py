"""The squared hinge loss of the L2-loss support vector machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from separable.losses.base import SmoothLoss

__all__ = ["SquaredHinge"]


@dataclass(frozen=True)
class SquaredHinge(SmoothLoss):
    """The squared hinge loss max(0, 1 - y s)^2."""

    name: str = "squared_hinge"
    curvature: ClassVar[float | None] = 2.0
    is_twice_differentiable: ClassVar[bool] = False
