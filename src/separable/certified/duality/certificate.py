"""Certificates: a bound on suboptimality from a feasible dual point (the duality gap)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separable._notebook import html_table
from separable.typing import Floats


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

    def with_rounding(self, gap: float, error: float) -> Certificate:
        """Return the certificate with a gap that bounds rounding, and a relative error of dual."""
        dual = self.dual - error * abs(self.dual)
        return Certificate(self.primal, dual, gap, self.tol, self.is_penalised, self.convexity)

    def _repr_html_(self) -> str:
        rows = [
            ("the optimum is at least (dual)", f"{self.dual:.10g}"),
            ("and at most (primal)", f"{self.primal:.10g}"),
            ("relative gap", f"{self.relative_gap:.2g}"),
            ("requested", f"{self.tol:.2g}"),
        ]
        title = "Certificate: converged" if self.converged else "Certificate: not converged"
        return html_table(title, [("bound", "value"), *rows])

    def __add__(self, other: Certificate) -> Certificate:
        return Certificate(
            self.primal + other.primal,
            self.dual + other.dual,
            self.gap + other.gap,
            max(self.tol, other.tol),
            self.is_penalised and other.is_penalised,
            min(self.convexity, other.convexity),
        )


@dataclass(frozen=True)
class CertifiedSolution:
    """Weights of one or more lanes with their certificates.

    Parameters
    ----------
    weights : ndarray of float32 or float64, shape (d, k)
        For the problem's columns.
    intercept : ndarray, shape (k,)
    scores : ndarray, shape (n, k)
        Of all rows, including held-out rows, with the intercept.
    certificates : list of Certificate
        One for each lane.
    dual : ndarray, shape (n, k)
        The feasible dual points, with the sign of the target.
    width : int, default 1
        Columns of each lane: 1, or K if classes are learned jointly.
    """

    weights: NDArray[Any]
    intercept: Floats
    scores: Floats
    certificates: list[Certificate]
    dual: Floats
    width: int = 1

    def times(self, value: float) -> CertifiedSolution:
        """Return the solution of the objective multiplied by ``value``."""
        proofs = [one.times(value, convexity=value) for one in self.certificates]
        return replace(self, certificates=proofs, dual=value * self.dual)

    def lane(self, k: int) -> CertifiedSolution:
        """Return the solution of one lane."""
        one = slice(k * self.width, (k + 1) * self.width)
        return CertifiedSolution(
            self.weights[:, one],
            self.intercept[one],
            self.scores[:, one],
            self.certificates[k : k + 1],
            self.dual[:, one],
            self.width,
        )

    def take(self, lanes: list[int]) -> CertifiedSolution:
        """Return the solutions of some lanes, in the order given."""
        if lanes == list(range(len(self.certificates))):
            return self
        return CertifiedSolution.side_by_side([self.lane(k) for k in lanes])

    def is_better_than(self, other: CertifiedSolution) -> bool:
        """Return whether the first lane has the smaller absolute gap."""
        mine, theirs = self.certificates[0].gap, other.certificates[0].gap
        return mine < theirs or (math.isnan(theirs) and not math.isnan(mine))

    @staticmethod
    def side_by_side(parts: Sequence[CertifiedSolution]) -> CertifiedSolution:
        """Concatenate the lanes of several solutions."""
        if len(parts) == 1:
            return parts[0]
        return CertifiedSolution(
            np.concatenate([part.weights for part in parts], axis=1),
            np.concatenate([part.intercept for part in parts]),
            np.concatenate([part.scores for part in parts], axis=1),
            [one for part in parts for one in part.certificates],
            np.concatenate([part.dual for part in parts], axis=1),
            parts[0].width,
        )
