"""Driver of l1-penalised multinomial logistic regression along a path of C, with fallback."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from separable.certified.duality.l1_certifier import l1_l2_weights
from separable.certified.duality.softmax_l1_certifier import certify_softmax_l1
from separable.certified.duality.softmax_l2_certifier import RowClasses, dual_points, make_feasible
from separable.certified.solvers.interior_point.softmax_l1_interior import (
    softmax_points,
    suits_softmax,
)
from separable.certified.solvers.l1_driver import (
    MAX_INTERIOR_STEPS,
    MIN_ITER_FOR_FALLBACK,
    ROUNDING,
    TIGHTEN,
    ZERO_RATIO,
    L1Solver,
)
from separable.certified.solvers.l2_driver import Solved
from separable.certified.solvers.softmax_coordinate_descent import L1Multinomial
from separable.certified.solvers.stopping import StoppingRule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from separable.certified.duality.l2_certifier import CertifiedSolution
    from separable.certified.problem import Lane
    from separable.certified.solvers.dual_cd import Start
    from separable.certified.solvers.parallel import Cancellation
    from separable.typing import Floats


__all__ = ["L1MultinomialSolver"]

#: Continuation: maximum ratio of consecutive C on the way to a lane,
MAX_C_RATIO = 10.0
#: their relative gap, and their maximum number of steps.
PATH_GAP, MAX_PATH_STEPS = 0.1, 8


class L1MultinomialSolver(L1Solver):
    """Solver of multinomial logistic regression with an l1 or elastic net penalty.

    Lanes of one fold form a path from small to large C, each warm-started from the one before.

    Parameters
    ----------
    problem : Problem
        With ``n_classes``; its loss is log loss.
    solver_options : SolverOptions
    """

    def _learn(
        self, lanes: Sequence[Lane], chain: list[int], start: Start | None, end: Cancellation
    ) -> Iterator[Solved]:
        """Solve a path, one lane after the other."""
        weights = self._first_of(start, chain[0])
        last = lanes[chain[0]].C if weights.any() else self._largest_zero_c(lanes[chain[0]])
        for k in chain:
            end.raise_if_abandoned()
            found, passes = self._learn_one(lanes[k], weights, last, end)
            weights, last = found.weights, max(last, lanes[k].C)
            solver = "coordinates"
            if not found.certificates[0].converged and self._passes < self.solver_options.max_iter:
                found, more, solver = self._learn_jointly_by_interior_point(lanes[k], found, end)
                passes, weights = passes + more, found.weights
            counted = min(max(math.ceil(passes), 1), self.solver_options.max_iter)
            yield Solved([k], found, np.array([counted]), [solver])

    def _first_of(self, start: Start | None, k: int) -> Floats:
        """Return the first weights of a path, (d, K)."""
        d, K = self.problem.rows.n_features, self.problem.n_classes
        part = slice(k * K, (k + 1) * K)
        l1, l2 = l1_l2_weights(self.problem)
        if start is not None and start.weights is not None:
            return np.asarray(start.weights[:, part], dtype=np.float64)
        if start is not None and l2 > 0:
            correlation = self.problem.rmatvec(np.ascontiguousarray(start.dual[:, part]))
            return np.sign(correlation) * np.maximum(np.abs(correlation) - l1, 0.0) / l2
        return np.zeros((d, K))

    def _largest_zero_c(self, lane: Lane) -> float:
        """Return the largest C for which all weights are 0."""
        problem, rows = self.problem, RowClasses.of(self.problem, lane)
        probabilities = make_feasible(
            rows, np.ones((len(rows.y), problem.n_classes)), fit_intercept=problem.fit_intercept
        )
        most = float(np.abs(problem.rmatvec(dual_points(rows, probabilities))).max(initial=0.0))
        l1 = l1_l2_weights(problem)[0]
        return lane.C * l1 / most if most > 0 else lane.C

    def _learn_one(
        self, lane: Lane, weights: Floats, last: float, end: Cancellation
    ) -> tuple[CertifiedSolution, float]:
        """Solve one lane from the weights for C = ``last``; return the solution and its passes."""
        problem, tol = self.problem, self.tol

        def certify(p: Floats, u: Floats) -> CertifiedSolution:
            return certify_softmax_l1(problem, lane, p, tol, u)

        on_step = partial(end.report, self.solver_options.callback)
        stopping_rule = StoppingRule(
            certify, tol=tol, to_rounding=problem.is_small, on_step=on_step
        )
        left = float(self._passes)
        with np.errstate(over="ignore", under="ignore", invalid="ignore", divide="ignore"):
            for C in _between(last, lane.C):
                near = L1Multinomial(
                    problem, self._columns, replace(lane, C=C), end.raise_if_abandoned
                )
                _, weights = near.learn(weights, PathStopping(stopping_rule), left / 2)
                left -= near.passes
            work = L1Multinomial(problem, self._columns, lane, end.raise_if_abandoned)
            p, u = work.learn(weights, stopping_rule, left)
            return stopping_rule.end(p, u), self._passes - left + work.passes

    @cached_property
    def _passes(self) -> int:
        """Passes before falling back to an interior point; max_iter without a fallback."""
        most = self.solver_options.max_iter
        suits = suits_softmax(*self.problem.rows.shape, self.problem.n_classes)
        return (
            most - min(MAX_INTERIOR_STEPS, most // 2)
            if suits and most > MIN_ITER_FOR_FALLBACK
            else most
        )

    def _learn_jointly_by_interior_point(
        self, lane: Lane, found: CertifiedSolution, end: Cancellation
    ) -> tuple[CertifiedSolution, float, str]:
        """Fall back to an interior point; return the better solution, its steps and its solver.

        Passes after it set small weights to 0.
        """
        problem, tol = self.problem, self.tol
        rows = RowClasses.of(problem, lane)
        present, used = np.flatnonzero(rows.present), np.flatnonzero(rows.c)
        index = np.zeros(len(rows.present), np.int32)
        index[present] = np.arange(len(present), dtype=np.int32)
        part = RowClasses(index[rows.y[used]], rows.c[used], rows.present[present])
        l1, l2 = l1_l2_weights(problem)
        points = softmax_points(
            np.ascontiguousarray(self._columns.written_out().T[used]),
            part,
            (l1, l2),
            fit_intercept=problem.fit_intercept,
            start=self._interior_start(found)[:, present],
        )
        best, steps, wanted = found, 0, tol
        u, p = np.zeros(found.weights.shape), np.zeros(found.dual.shape)
        for steps, (w, probabilities, seen) in enumerate(points, start=1):
            gap = min(best.certificates[0].relative_gap, 1.0)
            if end.report(self.solver_options.callback, steps, gap) or steps >= MAX_INTERIOR_STEPS:
                break
            u[:, present] = w
            p[np.ix_(used, present)] = probabilities
            if seen > wanted:
                continue
            wanted = min(wanted, seen) * TIGHTEN
            one = certify_softmax_l1(problem, lane, p, tol, u.copy())
            best = one if one.is_better_than(best) else best
            if best.certificates[0].relative_gap <= tol * TIGHTEN or seen < ROUNDING:
                break
        if end.stop_requested.is_set():
            return best, steps, "interior-point"
        correlation = problem.rmatvec(best.dual)
        cleared = np.where(np.abs(correlation) < ZERO_RATIO * l1, 0.0, best.weights)
        one, more = self._learn_one(lane, cleared, lane.C, end)
        is_good = one.certificates[0].converged or one.is_better_than(best)
        return one if is_good else best, steps + more, "interior-point"


class PathStopping:
    """Stopping rule of the intermediate C of a continuation: a loose gap and few steps.

    Parameters
    ----------
    stopping_rule : StoppingRule
        The stopping rule of the lane; it counts steps.
    """

    def __init__(self, stopping_rule: StoppingRule) -> None:
        self._stopping_rule, self._left = stopping_rule, MAX_PATH_STEPS

    def __call__(self, p: Floats, weights: Callable[[], Floats], seen: float) -> bool:
        """Return whether to continue with the next C."""
        del p, weights
        if self._stopping_rule.is_stopped or seen <= PATH_GAP or self._left == 0:
            return True
        self._left -= 1
        return self._stopping_rule.report(np.inf)


def _between(first: float, last: float) -> Floats:
    """Return intermediate values of C, each at most MAX_C_RATIO times the one before.

    Examples
    --------
    >>> _between(1.0, 100.0).tolist()
    [10.0]
    """
    steps = math.ceil(math.log(last / first, MAX_C_RATIO)) if 0 < first < last else 0
    return first * (last / first) ** (np.arange(1, steps) / max(steps, 1))
