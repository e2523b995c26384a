"""Learning all classes together under a penalty with corners, along chains of strengths."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from separable.certified.duality.l1_certifier import corner_and_curve
from separable.certified.duality.softmax_l1_certifier import certify_softmax_l1
from separable.certified.duality.softmax_l2_certifier import RowClasses, feasible_of, points_of
from separable.certified.solvers.interior_point.softmax_l1_interior import (
    softmax_points,
    suits_softmax,
)
from separable.certified.solvers.l1_driver import (
    CLOSER,
    INSIDE,
    PATIENCE,
    ROUNDING,
    STEPS,
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
    from separable.certified.solvers.parallel import End
    from separable.typing import Floats


__all__ = ["L1MultinomialSolver"]

#: On the way to a strength others are learned, each at most so many times the one before,
GROWTH = 10.0
#: up to this relative gap, in so many steps at most.
LOOSE, MOST_STEPS = 0.1, 8


class L1MultinomialSolver(L1Solver):
    """Learns lanes of one problem, each all classes together, with an l1 or elastic net penalty.

    Lanes of one fold are a chain from small to large C, each starting from the weights of the one
    before.

    Parameters
    ----------
    problem : Problem
        With ``n_classes``; its loss is log loss.
    solver_options : Request
    """

    def _learn(
        self, lanes: Sequence[Lane], chain: list[int], start: Start | None, end: End
    ) -> Iterator[Solved]:
        """Learn a chain, one lane after the other."""
        weights = self._first_of(start, chain[0])
        last = lanes[chain[0]].strength if weights.any() else self._first_strength(lanes[chain[0]])
        for k in chain:
            end.leave_if_abandoned()
            found, passes = self._learn_one(lanes[k], weights, last, end)
            weights, last = found.weights, max(last, lanes[k].strength)
            engine = "coordinates"
            if not found.certificates[0].converged and self._passes < self.solver_options.max_iter:
                found, more, engine = self._learn_inside_together(lanes[k], found, end)
                passes, weights = passes + more, found.weights
            counted = min(max(math.ceil(passes), 1), self.solver_options.max_iter)
            yield Solved([k], found, np.array([counted]), [engine])

    def _first_of(self, start: Start | None, k: int) -> Floats:
        """Return the weights that a chain starts from, (d, K)."""
        d, K = self.problem.rows.n_features, self.problem.n_classes
        mine = slice(k * K, (k + 1) * K)
        corner, curve = corner_and_curve(self.problem)
        if start is not None and start.weights is not None:
            return np.asarray(start.weights[:, mine], dtype=np.float64)
        if start is not None and curve > 0:
            pull = self.problem.along(np.ascontiguousarray(start.dual[:, mine]))
            return np.sign(pull) * np.maximum(np.abs(pull) - corner, 0.0) / curve
        return np.zeros((d, K))

    def _first_strength(self, lane: Lane) -> float:
        """Return the C up to which all weights are 0."""
        problem, rows = self.problem, RowClasses.of(self.problem, lane)
        shares = feasible_of(
            rows, np.ones((len(rows.y), problem.n_classes)), fit_intercept=problem.fit_intercept
        )
        most = float(np.abs(problem.along(points_of(rows, shares))).max(initial=0.0))
        corner = corner_and_curve(problem)[0]
        return lane.strength * corner / most if most > 0 else lane.strength

    def _learn_one(
        self, lane: Lane, weights: Floats, last: float, end: End
    ) -> tuple[CertifiedSolution, float]:
        """Learn one lane, from weights of the strength ``last``; return passes too."""
        problem, tol = self.problem, self.tol

        def certify(p: Floats, u: Floats) -> CertifiedSolution:
            return certify_softmax_l1(problem, lane, p, tol, u)

        on_step = partial(end.tell, self.solver_options.callback)
        stopping_rule = StoppingRule(
            certify, tol=tol, to_rounding=problem.is_small, on_step=on_step
        )
        left = float(self._passes)
        with np.errstate(over="ignore", under="ignore", invalid="ignore", divide="ignore"):
            for strength in _between(last, lane.strength):
                near = L1Multinomial(
                    problem, self._columns, replace(lane, strength=strength), end.leave_if_abandoned
                )
                _, weights = near.learn(weights, Approach(stopping_rule), left / 2)
                left -= near.passes
            work = L1Multinomial(problem, self._columns, lane, end.leave_if_abandoned)
            p, u = work.learn(weights, stopping_rule, left)
            return stopping_rule.end(p, u), self._passes - left + work.passes

    @cached_property
    def _passes(self) -> int:
        """Passes after which an interior point takes over; all of them where none does."""
        most = self.solver_options.max_iter
        suits = suits_softmax(*self.problem.rows.shape, self.problem.n_classes)
        return most - min(STEPS, most // 2) if suits and most > PATIENCE else most

    def _learn_inside_together(
        self, lane: Lane, found: CertifiedSolution, end: End
    ) -> tuple[CertifiedSolution, float, str]:
        """Return the better of what passes found and an interior point does, its steps, its name.

        From where that ends passes go on, which make small weights 0.
        """
        problem, tol = self.problem, self.tol
        rows = RowClasses.of(problem, lane)
        there, used = np.flatnonzero(rows.there), np.flatnonzero(rows.c)
        place = np.zeros(len(rows.there), np.int32)
        place[there] = np.arange(len(there), dtype=np.int32)
        mine = RowClasses(place[rows.y[used]], rows.c[used], rows.there[there])
        corner, curve = corner_and_curve(problem)
        points = softmax_points(
            np.ascontiguousarray(self._columns.written_out().T[used]),
            mine,
            (corner, curve),
            fit_intercept=problem.fit_intercept,
            start=self._start_inside(found)[:, there],
        )
        best, steps, wanted = found, 0, tol
        u, p = np.zeros(found.weights.shape), np.zeros(found.dual.shape)
        for steps, (w, shares, seen) in enumerate(points, start=1):
            gap = min(best.certificates[0].relative_gap, 1.0)
            if end.tell(self.solver_options.callback, steps, gap) or steps >= STEPS:
                break
            u[:, there] = w
            p[np.ix_(used, there)] = shares
            if seen > wanted:
                continue
            wanted = min(wanted, seen) * CLOSER
            one = certify_softmax_l1(problem, lane, p, tol, u.copy())
            best = one if one.is_better_than(best) else best
            if best.certificates[0].relative_gap <= tol * CLOSER or seen < ROUNDING:
                break
        if end.asked.is_set():
            return best, steps, "interior-point"
        pull = problem.along(best.dual)
        cleared = np.where(np.abs(pull) < INSIDE * corner, 0.0, best.weights)
        one, more = self._learn_one(lane, cleared, lane.strength, end)
        is_good = one.certificates[0].converged or one.is_better_than(best)
        return one if is_good else best, steps + more, "interior-point"


class Approach:
    """Who sees the work on a strength on the way to another: soon satisfied.

    Parameters
    ----------
    stopping_rule : Watch
        Of the strength that is the aim; it counts steps.
    """

    def __init__(self, stopping_rule: StoppingRule) -> None:
        self._stopping_rule, self._left = stopping_rule, MOST_STEPS

    def __call__(self, p: Floats, weights: Callable[[], Floats], seen: float) -> bool:
        """Return whether to go on to the next strength."""
        del p, weights
        if self._stopping_rule.is_stopped or seen <= LOOSE or self._left == 0:
            return True
        self._left -= 1
        return self._stopping_rule.tell(np.inf)


def _between(first: float, last: float) -> Floats:
    """Return strengths between two, each at most GROWTH times the one before.

    Examples
    --------
    >>> _between(1.0, 100.0).tolist()
    [10.0]
    """
    steps = math.ceil(math.log(last / first, GROWTH)) if 0 < first < last else 0
    return first * (last / first) ** (np.arange(1, steps) / max(steps, 1))
