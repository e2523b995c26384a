"""The logistic loss of binary logistic regression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from separable.losses.base import SmoothLoss

__all__ = ["Logistic"]


@dataclass(frozen=True)
class Logistic(SmoothLoss):
    """The logistic loss log(1 + e^(-y s))."""

    name: str = "log_loss"
    curvature: ClassVar[float | None] = 0.25
    can_be_unpenalized: ClassVar[bool] = True
    is_multinomial: ClassVar[bool] = True
    has_logarithms: ClassVar[bool] = True
