"""The epsilon-insensitive loss of support vector regression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from separable.losses.base import Loss

__all__ = ["EpsilonInsensitive"]


@dataclass(frozen=True)
class EpsilonInsensitive(Loss):
    """The epsilon-insensitive loss max(0, |y - s| - epsilon)."""

    epsilon: float = 0.1
    name: str = "epsilon_insensitive"
    is_of_residuals: ClassVar[bool] = True
