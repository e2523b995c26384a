"""The losses of one score a row: what each can do, and its formulas in the compiled core.

A row has a target y (a sign, or a number), a cost c and a score s; z is its signed dual variable.
The formulas are written once, under the same names, in ``dual_loss.hpp``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from separable._core import native
from separable.typing import Floats


@dataclass(frozen=True)
class Loss:
    """A loss, as solvers and certificates use it.

    Parameters
    ----------
    name : str
        The name of the loss in the compiled core.
    epsilon : float
        Half the width of the zone without a loss.
    curvature : float or None
        The largest second derivative in the score; None if the loss is not smooth.
    is_twice_differentiable : bool
        Whether the second derivative of a smooth loss is continuous.
    is_quadratic : bool
        Whether the second derivative is constant.
    is_regression : bool
        Whether the target is a number, not a sign.
    is_of_residuals : bool
        Whether it depends on the score through the residual y - s.
    is_multinomial : bool
        Whether it is the log loss, which learns two classes or more jointly.
    can_be_unpenalized : bool
        Whether it has certificates without a penalty, C = inf.
    has_logarithms : bool
        Whether the gaps of rows are differences of logarithms, which cancel.
    """

    name: str
    epsilon: float = 0.0
    curvature: float | None = None
    is_twice_differentiable: bool = True
    is_quadratic: bool = False
    is_regression: bool = False
    is_of_residuals: bool = False
    is_multinomial: bool = False
    can_be_unpenalized: bool = False
    has_logarithms: bool = False

    @property
    def is_smooth(self) -> bool:
        """Whether it has a gradient."""
        return self.curvature is not None

    @property
    def core(self) -> native.RowLoss:
        """The loss in the compiled core."""
        return _core(self.name, self.epsilon)

    def total(self, y: Floats, s: Floats, c: Floats) -> float:
        """Return sum_i c_i loss(y_i, s_i)."""
        return self.core.total(y, s, c)

    def derivatives(self, y: Floats, s: Floats, c: Floats) -> tuple[Floats, Floats]:
        """Return c times the first and second derivative in the score, for each row."""
        return self.core.derivatives(y, s, c)

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


@cache
def _core(name: str, epsilon: float) -> native.RowLoss:
    return native.RowLoss(name, epsilon)


#: log(1 + e^(-y s)).
LOGISTIC = Loss(
    "log_loss", curvature=0.25, is_multinomial=True, can_be_unpenalized=True, has_logarithms=True
)
#: max(0, 1 - y s).
HINGE = Loss("hinge", is_of_residuals=True)
#: max(0, 1 - y s)^2.
SQUARED_HINGE = Loss("squared_hinge", curvature=2.0, is_twice_differentiable=False)
#: (y - s)^2 / 2.
SQUARED_ERROR = Loss(
    "squared_error", curvature=1.0, is_quadratic=True, is_regression=True, is_of_residuals=True
)


def epsilon_insensitive(epsilon: float) -> Loss:
    """Return the loss max(0, |y - s| - epsilon)."""
    return Loss("epsilon_insensitive", epsilon, is_regression=True, is_of_residuals=True)
