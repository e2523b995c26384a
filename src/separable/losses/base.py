"""Base classes of the losses: value, derivatives, conjugate, duality gap, best intercept.

A row has a target y (a sign, or a number), a cost c and a score s; z is its signed dual variable.
The formulas are those of the compiled core, under the same names (``dual_loss.hpp``).
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, ClassVar, TypeGuard

from separable._core import native

if TYPE_CHECKING:
    from separable.typing import Floats

__all__ = [
    "Loss",
    "SmoothLoss",
    "is_smooth",
]


class Loss:
    """The interface that solvers and certificates use; its subclasses say what a loss can do."""

    #: The name of the loss in the compiled core.
    name: str
    #: Half the width of the zone without a loss.
    epsilon: float = 0.0
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

    @property
    def core(self) -> native.RowLoss:
        """The loss in the compiled core."""
        return _core(self.name, self.epsilon)

    def total(self, y: Floats, s: Floats, c: Floats) -> float:
        """Return sum_i c_i loss(y_i, s_i)."""
        return self.core.total(y, s, c)

    def dual_total(self, y: Floats, c: Floats, z: Floats) -> float:
        """Return the dual value, minus the sum of the conjugates of the rows."""
        return self.core.dual_total(y, c, z)

    def gap(self, y: Floats, s: Floats, c: Floats, z: Floats) -> Floats:
        """Return the Fenchel-Young gap of each row, non-negative."""
        return self.core.gap(y, s, c, z)

    def clip_dual(self, y: Floats, c: Floats, z: Floats) -> Floats:
        """Return z clipped to the domain of the conjugate."""
        return self.core.clip_dual(y, c, z)

    def best_intercept(self, y: Floats, s: Floats, c: Floats) -> float:
        """Return the intercept b that minimises sum_i c_i loss(y_i, s_i + b)."""
        return self.core.best_intercept(y, s, c)


class SmoothLoss(Loss):
    """A loss with a gradient and a curvature, for Newton's method."""

    #: Whether the second derivative is continuous.
    is_twice_differentiable: ClassVar[bool] = True

    def derivatives(self, y: Floats, s: Floats, c: Floats) -> tuple[Floats, Floats]:
        """Return c times the first and second derivative in the score, for each row."""
        return self.core.derivatives(y, s, c)


@cache
def _core(name: str, epsilon: float) -> native.RowLoss:
    return native.RowLoss(name, epsilon)


def is_smooth(loss: Loss) -> TypeGuard[SmoothLoss]:
    """Return whether a loss has a gradient."""
    return isinstance(loss, SmoothLoss)
