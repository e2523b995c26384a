"""Incumbents: the best known primal and dual points of each lane.

A solver that did not converge may end above points that are free: the intercept-only model, the
warm start, or the weights of a smaller C. The incumbent of a lane is the point of lowest primal
among these and the solution, with the highest dual value proved. Both bound the same optimum, so
they need not belong together.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from separable.certified.duality.certificate import Certificate, CertifiedSolution
from separable.certified.problem import Lane, Problem
from separable.certified.solvers.objective import Objective
from separable.certified.solvers.solved import Solved, Start
from separable.typing import Floats

#: Rounding of a difference of two objectives, relative to the larger.
ROUNDING = 1e-13


def better(first: CertifiedSolution, second: CertifiedSolution) -> CertifiedSolution:
    """Return the weights of lower primal with the higher dual value, for one lane.

    A solution that has both is returned as it is. If either has converged, the one with the
    smaller gap is returned.
    """
    one, two = first.certificates[0], second.certificates[0]
    lower = second if _less(two.primal, one.primal) else first
    proof = second if _less(-two.dual, -one.dual) else first
    if lower is proof:
        return lower
    if one.converged or two.converged:
        return first if _less(one.gap, two.gap) else second
    return _combined(lower, proof.certificates[0].dual, proof.dual)


def _less(x: float, y: float) -> bool:
    """Return whether x < y; NaN counts as the largest value."""
    return x < y or (math.isnan(y) and not math.isnan(x))


def _combined(found: CertifiedSolution, value: float, dual: Floats) -> CertifiedSolution:
    """Return the weights with another dual point of a given dual value."""
    certificate = found.certificates[0]
    gap = max(certificate.primal - value, 0.0) + ROUNDING * abs(certificate.primal)
    proof = replace(certificate, dual=value, gap=min(gap, certificate.primal))
    return replace(found, certificates=[proof], dual=dual)


@dataclass(frozen=True)
class _Point:
    """Weights of one lane with their intercepts and the scores of all rows."""

    weights: NDArray[np.float64]
    intercept: Floats
    scores: Floats


class Incumbents:
    """Replacement of solutions by better known points, for the lanes of a problem.

    Parameters
    ----------
    start : Start, optional
        The warm start.
    """

    def __init__(self, problem: Problem, lanes: Sequence[Lane], start: Start | None) -> None:
        self._problem, self._lanes, self._start = problem, lanes, start
        self._last: Solved | None = None

    def improve(self, solved: Solved) -> Solved:
        """Return the batch with each lane that did not converge replaced by its incumbent."""
        proofs = solved.solution.certificates
        poor = [k for k, one in enumerate(proofs) if self._may_improve(solved.lane_indices[k], one)]
        if poor:
            parts = [solved.solution.lane(k) for k in range(len(proofs))]
            for k in poor:
                parts[k] = self._incumbent(parts[k], solved, solved.lane_indices[k])
            whole = type(parts[0]).side_by_side(parts)
            solved = replace(solved, solution=whole)
        self._last = solved
        return solved

    def _may_improve(self, number: int, proof: Certificate) -> bool:
        return math.isfinite(self._lanes[number].C) and not proof.converged

    def _incumbent(
        self, found: CertifiedSolution, solved: Solved, number: int
    ) -> CertifiedSolution:
        objective, best = Objective(self._problem, self._lanes[number]), found
        with np.errstate(over="ignore", invalid="ignore"):
            for point in self._points(objective, solved, number):
                primal = self._problem.value * self._primal(objective, point)
                if _less(primal, best.certificates[0].primal):
                    best = _moved(best, point, primal)
        if not best.certificates[0].dual >= 0:  # the dual value of 0, as losses are non-negative
            best = _combined(best, 0.0, np.zeros_like(best.dual))
        return best

    def _points(self, objective: Objective, solved: Solved, number: int) -> Iterator[_Point]:
        """Yield the other known points: intercept only, warm start, and smaller C."""
        lane, width, (n, d) = objective.lane, solved.solution.width, self._problem.rows.shape
        yield self._with_intercepts(objective, np.zeros((d, width)), np.zeros((n, width)))
        if self._start is not None:
            columns = list(range(number * width, (number + 1) * width))
            start = self._start.take(columns)
            u = self._problem.column_penalty.feasible(start.weights_of(self._problem))
            scores = self._problem.x.matvec(np.ascontiguousarray(u))
            yield self._with_intercepts(objective, u, scores)
        for other in (self._last, solved):
            for k, place in enumerate(() if other is None else other.lane_indices):
                mine = self._lanes[place]
                same = (mine.target, mine.fold) == (lane.target, lane.fold)
                if other is not None and same and mine.C < lane.C:
                    one = other.solution.lane(k)
                    yield _Point(one.weights.astype(np.float64), one.intercept, one.scores)

    def _with_intercepts(self, objective: Objective, u: Floats, scores: Floats) -> _Point:
        """Return weights and their scores with the best intercepts; absent classes score -inf."""
        present = objective.present
        b = objective.best_intercepts(scores[:, present])
        return _Point(
            objective.spread(u[:, present]),
            objective.spread(b[None, :], -np.inf)[0],
            objective.spread(scores[:, present] + b, -np.inf),
        )

    def _primal(self, objective: Objective, point: _Point) -> float:
        used = np.flatnonzero(objective.rows.c)
        scores = point.scores[np.ix_(used, objective.present)]
        penalty = self._problem.column_penalty.value(point.weights)
        return objective.rows.take(used).total(scores) + float(penalty.sum())


def _moved(found: CertifiedSolution, point: _Point, primal: float) -> CertifiedSolution:
    """Return another point with the proved dual value."""
    proof = found.certificates[0]
    moved = replace(
        found,
        weights=point.weights,
        intercept=point.intercept,
        scores=point.scores,
        certificates=[replace(proof, primal=primal)],
    )
    return _combined(moved, proof.dual, found.dual)
