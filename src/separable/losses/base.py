"""Base classes of the losses: value, derivatives, conjugate, duality gap, best intercept.

A row has a target y (a sign, or a number), a cost c and a score s; z is its signed dual variable.
The compiled core has the same losses under the same names (``dual_loss.hpp``).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar, TypeGuard

import numpy as np

if TYPE_CHECKING:
    from separable.typing import Floats

__all__ = [
    "Loss",
    "SmoothLoss",
    "is_smooth",
    "zero_crossing",
]


class Loss(ABC):
    """The interface that solvers and certificates use; its subclasses say what a loss can do."""

    #: The name of the loss in the compiled core.
    name: str
    #: The largest second derivative in the score; None if the loss is not smooth.
    curvature: ClassVar[float | None] = None
    #: Whether the second derivative is constant.
    is_quadratic: ClassVar[bool] = False
    #: Whether it has certificates without a penalty, C = inf.
    can_be_unpenalized: ClassVar[bool] = False
    #: Whether it depends on the score through the residual y - s.
    is_of_residuals: ClassVar[bool] = False
    #: Whether the gaps of rows are differences of logarithms, which cancel.
    has_logarithms: ClassVar[bool] = False
    #: Whether it is the log loss, which learns two classes or more jointly.
    is_multinomial: ClassVar[bool] = False

    @abstractmethod
    def total(self, y: Floats, s: Floats, c: Floats) -> float:
        """Return sum_i c_i loss(y_i, s_i)."""

    @abstractmethod
    def dual_total(self, y: Floats, c: Floats, z: Floats) -> float:
        """Return the dual value, minus the sum of the conjugates of the rows."""

    @abstractmethod
    def gap(self, y: Floats, s: Floats, c: Floats, z: Floats) -> Floats:
        """Return the Fenchel-Young gap of each row, non-negative up to rounding."""

    @abstractmethod
    def clip_dual(self, y: Floats, c: Floats, z: Floats) -> Floats:
        """Return z clipped to the domain of the conjugate."""

    @abstractmethod
    def best_intercept(self, y: Floats, s: Floats, c: Floats) -> float:
        """Return the intercept b that minimises sum_i c_i loss(y_i, s_i + b)."""


class SmoothLoss(Loss):
    """A loss with a gradient and a curvature, for Newton's method."""

    #: Whether the second derivative is continuous.
    is_twice_differentiable: ClassVar[bool] = True

    @abstractmethod
    def derivatives(self, y: Floats, s: Floats, c: Floats) -> tuple[Floats, Floats]:
        """Return c times the first and second derivative in the score, for each row."""


def is_smooth(loss: Loss) -> TypeGuard[SmoothLoss]:
    """Return whether a loss has a gradient."""
    return isinstance(loss, SmoothLoss)


def zero_crossing(points: Floats, weights: Floats, start: float) -> float:
    """Return the root of a step function: ``start`` < 0, plus each weight beyond its point."""
    order = np.argsort(points)
    reached = np.cumsum(weights[order]) + start >= 0
    return float(points[order[int(np.argmax(reached))]]) if reached.any() else float(points.max())
