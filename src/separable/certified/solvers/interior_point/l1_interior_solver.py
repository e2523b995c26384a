"""Interior point for l1 and elastic net penalties on a working set of columns, then sweeps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separable.certified.duality.certificate import CertifiedSolution
from separable.certified.problem import Lane
from separable.certified.solvers.coordinate_descent import ROUNDING, TIGHTEN, CoordinateSolver
from separable.certified.solvers.interior_point.l1_interior import PenalizedColumns, interior_points
from separable.certified.solvers.objective import Objective
from separable.certified.solvers.options import L1Options
from separable.certified.solvers.parallel import Cancellation
from separable.certified.solvers.solved import Goal, OneByOne, Result, Start


class L1InteriorPointSolver(OneByOne):
    """An interior point for lanes on which coordinate descent does not converge.

    Parameters
    ----------
    coordinates : CoordinateSolver
        Has the columns; its sweeps set small weights to 0 in the end.
    """

    def __init__(self, coordinates: CoordinateSolver, options: L1Options | None = None) -> None:
        self._coordinates, self._problem = coordinates, coordinates.problem
        self._options = L1Options() if options is None else options

    def prepare(self, goal: Goal) -> None:
        """Compute what threads share before they start."""
        self._coordinates.prepare(goal)

    def solve(
        self, lanes: list[Lane], start: Start | None, goal: Goal, on_pass: Cancellation
    ) -> Result:
        """Solve one lane; sweeps continue it, with what is left if the interior point failed."""
        (lane,), own = lanes, self._coordinates
        none = np.zeros((self._problem.rows.n_features, own.width))
        weights = none if start is None or start.weights is None else start.weights
        dual = np.zeros((self._problem.rows.n_rows, own.width)) if start is None else start.dual
        best, steps = own.certify(lane, weights, dual), 0
        for support in self._screened_columns(best):
            best, more = self._run(lane, best, support, on_pass)
            steps += more
            if best.certificates[0].converged or on_pass.stop_requested:
                break
        if not on_pass.stop_requested:
            most = self._options.polishing_sweeps
            if best.certificates[0].converged:
                best = self._without_zeros(lane, best)
            else:
                most = max(most, goal.max_iter - steps)
            goal = replace(goal, max_iter=most)
            one, more = own.resume(lane, best.weights, goal, on_pass)
            steps += more
            if one.certificates[0].converged or one.is_better_than(best):
                best = one
        return Result(best, np.array([steps]), ["interior-point"])

    def _screened_columns(self, found: CertifiedSolution) -> Iterator[NDArray[np.intp]]:
        """Yield working sets: the screened columns if these are few, then all non-zero columns."""
        values, options = self._coordinates.columns.rows, self._options
        if values.indptr is not None:
            columns = np.flatnonzero(np.diff(values.indptr))
        else:
            columns = np.flatnonzero(values.values.any(axis=1))
        least = options.screening_ratio * self._problem.column_penalty.l1
        correlation = np.abs(self._problem.x.rmatvec(found.dual)).max(axis=1)
        part = columns[(found.weights.any(axis=1) | (correlation > least))[columns]]
        if 0 < len(part) < options.max_screened_fraction * len(columns):
            yield part
        yield columns

    def _run(
        self, lane: Lane, best: CertifiedSolution, support: NDArray[np.intp], on_pass: Cancellation
    ) -> tuple[CertifiedSolution, int]:
        """Return the best certified point of the interior point on a working set, and its steps."""
        own, tol, options = self._coordinates, self._coordinates.tol, self._options
        objective = Objective(self._problem, lane)
        used, present = np.flatnonzero(objective.rows.c), objective.present
        is_near = best.certificates[0].relative_gap <= options.max_start_gap
        start = own.as_read(best.weights if is_near else np.zeros_like(best.weights))
        points = interior_points(
            self._penalized_columns(used, support),
            objective.rows.take(used),
            fit_intercept=self._problem.fit_intercept,
            start=np.ascontiguousarray(start[np.ix_(support, present)]),
        )
        steps, wanted, aim = 0, tol, min(own.aim(1), TIGHTEN * tol)
        for steps, (w, z, seen) in enumerate(points, start=1):
            gap = min(best.certificates[0].relative_gap, 1.0)
            if on_pass(steps, gap) or steps >= options.max_interior_steps:
                break
            if seen > wanted:
                continue
            wanted = min(wanted, seen) * TIGHTEN
            weights, dual = np.zeros_like(best.weights), np.zeros_like(best.dual)
            weights[np.ix_(support, present)] = w
            dual[np.ix_(used, present)] = z
            one = own.certify(lane, own.as_problem(weights), dual)
            best = one if one.is_better_than(best) else best
            if best.certificates[0].relative_gap <= aim or seen < ROUNDING:
                break
        return best, steps

    def _penalized_columns(
        self, used: NDArray[np.intp], support: NDArray[np.intp]
    ) -> PenalizedColumns:
        own, penalty = self._coordinates, self._problem.column_penalty
        rows = own.columns.rows
        x: Any = rows.to_matrix() if rows.is_sparse else rows.values
        if len(used) < rows.n_features or len(support) < rows.n_rows:
            x = x[support][:, used]
        if rows.is_sparse and own.width > 1:
            x = np.asarray(x.todense())
        l1, l2 = own.columns.penalty(penalty.l1, penalty.l2)
        return PenalizedColumns(x.astype(np.float64), l1[support], l2[support], penalty.positive)

    def _without_zeros(self, lane: Lane, found: CertifiedSolution) -> CertifiedSolution:
        """Return the weights with those set to 0 that the dual point rules out, if converged."""
        penalty, correlation = self._problem.column_penalty, self._problem.x.rmatvec(found.dual)
        size = correlation if penalty.positive else np.abs(correlation)
        weights = np.where(size < self._options.zero_ratio * penalty.l1, 0.0, found.weights)
        one = self._coordinates.certify(lane, weights, found.dual)
        return one if one.certificates[0].converged else found
