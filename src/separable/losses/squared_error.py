"""The squared error of least squares, ridge, lasso and elastic net."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from separable.losses.base import SmoothLoss

__all__ = ["SquaredError"]


@dataclass(frozen=True)
class SquaredError(SmoothLoss):
    """The squared error (y - s)^2 / 2."""

    name: str = "squared_error"
    curvature: ClassVar[float | None] = 1.0
    is_quadratic: ClassVar[bool] = True
    is_of_residuals: ClassVar[bool] = True
