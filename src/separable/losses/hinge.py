"""The hinge loss of the support vector machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from separable.losses.base import Loss

__all__ = ["Hinge"]


@dataclass(frozen=True)
class Hinge(Loss):
    """The hinge loss max(0, 1 - y s)."""

    name: str = "hinge"
    is_of_residuals: ClassVar[bool] = True
