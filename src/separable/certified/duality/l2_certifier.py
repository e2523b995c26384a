"""Judging dual points: made feasible, certified, and turned into weights."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from separable._core import native
from separable.certified.duality.certificate import Certificate
from separable.certified.problem import in_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from separable.certified.problem import Lane, Problem
    from separable.typing import Floats


__all__ = ["CertifiedSolution", "certify", "feasible"]


@dataclass(frozen=True)
class CertifiedSolution:
    """Weights of lanes with their certificates.

    Parameters
    ----------
    weights : ndarray of float32 or float64, shape (d, k)
        Of the problem's columns.
    intercept : ndarray, shape (k,)
    scores : ndarray, shape (n, k)
        Of all rows, those held out too, with the intercept.
    certificates : list of Certificate
        One a lane.
    dual : ndarray, shape (n, k)
        The feasible dual points that prove it, with the sign of the target.
    width : int, default 1
        Columns of a lane, side by side: 1, or one a class where they are learned together.
    """

    weights: NDArray[Any]
    intercept: Floats
    scores: Floats
    certificates: list[Certificate]
    dual: Floats
    width: int = 1

    def times(self, value: float) -> CertifiedSolution:
        """Return what is said of an objective that is so many times as large."""
        proofs = [one.times(value, convexity=value) for one in self.certificates]
        return replace(self, certificates=proofs, dual=value * self.dual)

    def lane(self, k: int) -> CertifiedSolution:
        """Return what is said of one lane."""
        one = slice(k * self.width, (k + 1) * self.width)
        return CertifiedSolution(
            self.weights[:, one],
            self.intercept[one],
            self.scores[:, one],
            self.certificates[k : k + 1],
            self.dual[:, one],
            self.width,
        )

    def is_better_than(self, other: CertifiedSolution) -> bool:
        """Return whether the first lane has the smaller gap: shares of huge primals say nothing."""
        mine, theirs = self.certificates[0].gap, other.certificates[0].gap
        return mine < theirs or (math.isnan(theirs) and not math.isnan(mine))

    @staticmethod
    def side_by_side(parts: Sequence[CertifiedSolution]) -> CertifiedSolution:
        """Return what is said of all lanes of several judgements."""
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
    """Return z cut to the range of its loss and, with an intercept, with a sum of 0 in each lane.

    Where the sum is not 0, the values of the heavier sign are scaled down. Columns are filled up to
    whole lines; those beyond the number of lanes are 0.
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
) -> CertifiedSolution:
    """Certify the weights of dual points, in float64 and from the rows alone.

    Parameters
    ----------
    problem : Problem
    lanes : sequence of Lane
    z : ndarray, shape (n, k)
        A dual point of each lane, with the sign of the target; made feasible here. Columns beyond
        the number of lanes do not count.
    tol : float
        The relative gap asked for.
    weights : ndarray of float32 or float64, shape (d, k), or None
        Weights to certify, as many columns as z; None: those of the dual points, Z'z.
    """
    k = len(lanes)
    dual = feasible(problem, lanes, z)
    v = problem.rmatvec(dual)
    u = v if weights is None else in_lines(weights)
    scores = problem.matvec(u)
    b, loss, value, gap = (
        np.array(sums)
        for sums in native.row_terms(problem.in_lanes(lanes), dual, scores, problem.fit_intercept)
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
    return CertifiedSolution(u[:, :k], b, scores, certificates, dual[:, :k])
