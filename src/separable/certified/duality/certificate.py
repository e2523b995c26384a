"""Certificates: a bound on how far a fit is from the optimum, from the data and a dual point."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

__all__ = ["Certificate"]


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
    is_penalised : bool, default True
        Whether the objective has its penalty, so that weights are known as well as it is.
    convexity : float, default 1.0
        The objective grows at least by half of this times the squared distance from the optimum:
        the l2 part of the penalty; 0 without one.
    """

    primal: float
    dual: float
    gap: float
    tol: float
    is_penalised: bool = True
    convexity: float = 1.0

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
    def is_local(self) -> bool:
        """Whether only a local optimum is claimed, as of an objective that is not convex."""
        return False

    @property
    def distance(self) -> float:
        """The optimal weights are no further than this from those found, in penalised units.

        Without a penalty, or an l2 part of it: ``inf``, as a flat objective says nothing about
        weights.
        """
        if not self.is_penalised or self.convexity == 0:
            return math.inf
        return math.sqrt(2.0 * self.gap / self.convexity)

    def times(self, value: float, *, convexity: float = 1.0) -> Certificate:
        """Return the certificate of an objective that is so many times as large.

        ``convexity`` says how many times as convex it is: as many, where the unit of weights stays.
        """
        return replace(
            self,
            primal=value * self.primal,
            dual=value * self.dual,
            gap=value * self.gap,
            convexity=convexity * self.convexity,
        )

    def __add__(self, other: Certificate) -> Certificate:
        return Certificate(
            self.primal + other.primal,
            self.dual + other.dual,
            self.gap + other.gap,
            max(self.tol, other.tol),
            self.is_penalised and other.is_penalised,
            min(self.convexity, other.convexity),
        )
