"""Certificates: a bound on suboptimality from a feasible dual point (the duality gap)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

__all__ = ["Certificate"]


@dataclass(frozen=True)
class Certificate:
    """A certificate of suboptimality: dual <= optimum <= primal.

    Parameters
    ----------
    primal : float
        The objective at the weights.
    dual : float
        The dual objective at a feasible point, a lower bound of the optimum.
    gap : float
        The duality gap, summed from non-negative terms of rows and columns.
    tol : float
        The requested relative gap.
    is_penalised : bool, default True
        Whether the objective has a penalty, which bounds the error of the weights.
    convexity : float, default 1.0
        The strong convexity constant: the l2 weight of the penalty, 0 without one.
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
        """Whether the requested relative gap was reached."""
        return self.relative_gap <= self.tol

    @property
    def is_local(self) -> bool:
        """Whether only a local optimum is claimed: the objective is not convex."""
        return False

    @property
    def distance(self) -> float:
        """A bound on the distance to the optimal weights, in penalised units.

        ``inf`` without an l2 penalty: then the objective is not strongly convex.
        """
        if not self.is_penalised or self.convexity == 0:
            return math.inf
        return math.sqrt(2.0 * self.gap / self.convexity)

    def times(self, value: float, *, convexity: float = 1.0) -> Certificate:
        """Return the certificate of the objective multiplied by ``value``.

        ``convexity`` is the factor of the strong convexity constant.
        """
        if value == convexity == 1:
            return self
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
