"""Protocols of the losses: value, gradient and curvature, conjugate, duality gap, best intercept.

A row has a target y (a sign, or a number), a cost c and a score s; z is its signed dual variable.
The compiled core has the same losses under the same names (``dual_loss.hpp``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from separable.typing import Floats

__all__ = ["Loss", "PiecewiseLinearLoss", "SmoothLoss", "is_smooth", "zero_crossing"]


class Loss(Protocol):
    """The interface that solvers and certificates use."""

    @property
    def name(self) -> str:
        """The name of the loss in the compiled core."""

    @property
    def curvature(self) -> float | None:
        """The largest second derivative in the score; None if the loss is not smooth."""

    def total(self, y: Floats, s: Floats, c: Floats) -> float:
        """Return sum_i c_i loss(y_i, s_i)."""

    def dual_total(self, y: Floats, c: Floats, z: Floats) -> float:
        """Return the dual value, minus the sum of the conjugates of the rows."""

    def gap(self, y: Floats, s: Floats, c: Floats, z: Floats) -> Floats:
        """Return the Fenchel-Young gap of each row, non-negative up to rounding."""

    def clip_dual(self, y: Floats, c: Floats, z: Floats) -> Floats:
        """Return z clipped to the domain of the conjugate."""

    def best_intercept(self, y: Floats, s: Floats, c: Floats) -> float:
        """Return the intercept b that minimises sum_i c_i loss(y_i, s_i + b)."""


class PiecewiseLinearLoss(Loss, Protocol):
    """A piecewise linear loss of the residual y - s."""

    def residual_gap(self, y: Floats, r: Floats, c: Floats, z: Floats) -> Floats:
        """Return the gap of each row from its residual r = y - s."""


class SmoothLoss(Loss, Protocol):
    """A loss with a gradient and a curvature, for Newton's method."""

    def derivatives(self, y: Floats, s: Floats, c: Floats) -> tuple[Floats, Floats]:
        """Return c times the first and second derivative in the score, for each row."""


def is_smooth(loss: Loss) -> bool:
    """Return whether a loss has the derivatives of a `SmoothLoss`."""
    return hasattr(loss, "derivatives")


def zero_crossing(points: Floats, weights: Floats, start: float) -> float:
    """Return the root of a step function: ``start`` < 0, plus each weight beyond its point."""
    order = np.argsort(points)
    reached = np.cumsum(weights[order]) + start >= 0
    return float(points[order[int(np.argmax(reached))]]) if reached.any() else float(points.max())
