"""Duality gap of l2-penalised binary problems: feasible dual points, weights, certificates."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from separable._core import native
from separable.certified.duality.certificate import Certificate
from separable.linalg.design_matrix import in_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from separable.certified.problem import Lane, Problem
    from separable.typing import Floats


__all__ = ["CertifiedSolution", "certify", "feasible"]


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


def feasible(problem: Problem, lanes: Sequence[Lane], z: Floats) -> Floats:
    """Project z onto the dual feasible set: clipped to the domain, with sum 0 for an intercept.

    If the sum is not 0, the values of the sign with the larger sum are scaled down. Columns are
    zero-padded to whole cache lines.
    """
    dual = in_lines(np.array(z, dtype=np.float64, order="C"))
    dual[:, len(lanes) :] = 0.0
    native.make_feasible(problem.in_lanes(lanes), dual, problem.fit_intercept)
    return dual


def certify(
    problem: Problem,
    lanes: Sequence[Lane],
    z: Floats,
    tol: float,
    weights: Floats | None = None,
    intercept: Floats | None = None,
) -> CertifiedSolution:
    """Compute the duality gap of weights and dual points, in float64 and from the rows alone.

    Parameters
    ----------
    problem : Problem
    lanes : sequence of Lane
    z : ndarray, shape (n, k)
        A dual point of each lane, with the sign of the target; made feasible here. Padding
        columns are ignored.
    tol : float
        The requested relative gap.
    weights : ndarray of float32 or float64, shape (d, k), or None
        Weights to certify, with as many columns as z; None: Z'z.
    intercept : ndarray, shape (k,), or None
        Intercepts to certify; None: the best ones.
    """
    k = len(lanes)
    dual = feasible(problem, lanes, z)
    v = problem.x.rmatvec(dual)
    u = v if weights is None else in_lines(weights)
    scores = problem.x.matvec(u)
    if intercept is not None:
        scores[:, :k] += intercept
    finds_best = problem.fit_intercept and intercept is None
    b, loss, value, gap = (
        np.array(sums)
        for sums in native.row_terms(problem.in_lanes(lanes), dual, scores, finds_best)
    )
    norm, dual_norm, away = (np.array(sums)[:k] for sums in native.lane_norms(u, v))
    primal, bound, gap = 0.5 * norm + loss, value - 0.5 * dual_norm, gap + 0.5 * away
    certificates = [
        Certificate(float(primal[lane]), float(bound[lane]), float(gap[lane]), tol).times(
            problem.value
        )
        for lane in range(k)
    ]
    scores = scores[:, :k]
    scores += b
    b = b if intercept is None else intercept
    return CertifiedSolution(u[:, :k], b, scores, certificates, dual[:, :k])
