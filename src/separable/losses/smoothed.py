"""Piecewise linear losses smoothed by a quadratic in the dual variable (Nesterov, 2005).

The hinge and the epsilon-insensitive loss of a row with cost c are the largest value over z in a
box of z r, with the residual r outside the zone without a loss. Minus width z^2 / (2 c) they have a
gradient, and the best z is a feasible dual point of the loss itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from separable.losses.loss import Loss
from separable.typing import Floats


@dataclass(frozen=True)
class SmoothedLoss(Loss):
    """A piecewise linear loss, smooth over residuals of a given width.

    Parameters
    ----------
    width : float
        The residual at which the dual variable reaches its bound.

    Examples
    --------
    >>> from separable.losses.loss import HINGE
    >>> loss = SmoothedLoss.of(HINGE, 0.5)
    >>> y, s, c = np.ones(3), np.array([0.0, 0.75, 2.0]), np.ones(3)
    >>> loss.dual(y, s, c)
    array([1. , 0.5, 0. ])
    >>> loss.total(y, s, c)  # 1 - 1/4, 1/16 and 0
    0.8125
    """

    width: float = 1.0

    @classmethod
    def of(cls, loss: Loss, width: float) -> SmoothedLoss:
        """Return a smoothed loss."""
        return cls(
            loss.name,
            loss.epsilon,
            curvature=1.0 / width,
            is_twice_differentiable=False,
            is_regression=loss.is_regression,
            is_of_residuals=True,
            width=width,
        )

    def _residuals(self, y: Floats, s: Floats) -> Floats:
        """Return the residuals outside the zone without a loss."""
        r = y - s
        return r - np.clip(r, -self.epsilon, self.epsilon) if self.epsilon else r

    def dual(self, y: Floats, s: Floats, c: Floats) -> Floats:
        """Return the best dual variable of each row, in the box of the loss."""
        return self.clip_dual(y, c, c * (self._residuals(y, s) / self.width))

    def total(self, y: Floats, s: Floats, c: Floats) -> float:
        """Return the sum of the losses."""
        z = self.dual(y, s, c)
        squares = np.divide(z * z, c, out=np.zeros_like(z), where=c > 0)
        return float(z @ self._residuals(y, s) - 0.5 * self.width * squares.sum())

    def derivatives(self, y: Floats, s: Floats, c: Floats) -> tuple[Floats, Floats]:
        """Return c times the first and second derivative in the score, for each row."""
        z = self.dual(y, s, c)
        is_inside = (np.abs(z) < c) & (z != 0)
        return -z, np.where(is_inside, c / self.width, 0.0)
