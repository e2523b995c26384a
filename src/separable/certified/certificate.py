"""Certificates: a bound on how far a fit is from the optimum, from the data and a dual point."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.certified.losses import Loss

    Floats = NDArray[np.float64]

__all__ = ["Certificate", "certify"]


@dataclass(frozen=True)
class Certificate:
    """dual <= optimum <= primal, so that the primal is at most ``gap`` above the optimum.

    Parameters
    ----------
    primal : float
        The objective at the weights of the model.
    dual : float
        The dual objective at a feasible point: no weights have a lower objective.
    gap : float
        Their difference, summed row by row from terms that are not negative.
    tol : float
        The relative gap that was asked for.
    """

    primal: float
    dual: float
    gap: float
    tol: float

    @property
    def relative_gap(self) -> float:
        """The gap over the primal; 0 if both are 0."""
        if self.gap == 0:
            return 0.0
        return self.gap / self.primal if self.primal > 0 else float("inf")

    @property
    def converged(self) -> bool:
        """Whether the relative gap asked for was reached."""
        return self.relative_gap <= self.tol

    @property
    def distance(self) -> float:
        """The optimal weights are no further than this from those found, in penalised units."""
        return math.sqrt(2.0 * self.gap)

    def times(self, value: float) -> Certificate:
        """Return the certificate of an objective that is so many times as large."""
        return Certificate(value * self.primal, value * self.dual, value * self.gap, self.tol)

    def __add__(self, other: Certificate) -> Certificate:
        return Certificate(
            self.primal + other.primal,
            self.dual + other.dual,
            self.gap + other.gap,
            max(self.tol, other.tol),
        )


def certify(
    loss: Loss,
    y: Floats,
    c: Floats,
    z: Floats,
    v: Floats,
    w: Floats,
    scores: Floats,
    tol: float,
    *,
    fit_intercept: bool,
) -> tuple[Certificate, float]:
    """Return the certificate of the weights w, and their best intercept.

    Parameters
    ----------
    loss : Loss
    y, c : ndarray, shape (n,)
        Targets and costs; rows of cost 0 do not count.
    z : ndarray, shape (n,)
        A feasible dual point, signed: v = sum z_i x_i and, with an intercept, sum z_i = 0.
    v : ndarray, shape (d,)
        Its weights.
    w, scores : ndarray, shapes (d,) and (n,)
        The weights to certify, v or others, and their scores w.x_i.
    """
    b = loss.best_intercept(y, scores, c) if fit_intercept else 0.0
    s = scores + b
    primal = 0.5 * float(w @ w) + loss.total(y, s, c)
    dual = loss.dual_total(y, c, z) - 0.5 * float(v @ v)
    away = w - v
    gap = float(np.maximum(loss.gap(y, s, c, z), 0.0).sum()) + 0.5 * float(away @ away)
    return Certificate(primal, dual, gap, tol), b
