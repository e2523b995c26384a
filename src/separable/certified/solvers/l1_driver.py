"""Driver of l1 and elastic net problems: coordinate descent along a path of C, with fallback.

Lanes of one class and fold form a path from small to large C, each warm-started from the one
before. Lanes that do not converge fall back to an interior point on a working set of columns.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.certified.duality.certificate import CertifiedSolution
from separable.certified.solvers.coordinate_descent import ROUNDING, TIGHTEN, CoordinatePath
from separable.certified.solvers.incumbent import Incumbents
from separable.certified.solvers.interior_point.l1_interior import PenalizedColumns, interior_points
from separable.certified.solvers.objective import Objective
from separable.certified.solvers.options import SolverOptions
from separable.certified.solvers.parallel import Cancellation, parallel_map
from separable.certified.solvers.softmax_coordinate_descent import SoftmaxPath
from separable.certified.solvers.solved import Solved, chains
from separable.linalg.blas import one_blas_thread

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from separable.certified.problem import Lane, Problem
    from separable.certified.solvers.solved import Start
    from separable.data.rows import Rows
    from separable.typing import Floats


__all__ = ["L1Solver", "sweeps_before_fallback"]

#: Without at least this max_iter there is no fallback.
MIN_ITER_FOR_FALLBACK = 100
#: Maximum steps of the interior point, and sweeps after it, which set small weights to 0.
MAX_INTERIOR_STEPS, POLISHING_SWEEPS = 100, 40
#: Screening: columns whose correlation exceeds this fraction of l1, if they are few enough.
SCREENING_RATIO, MAX_SCREENED_FRACTION = 0.5, 0.5
#: Weights with a larger relative gap are no warm start for the interior point.
MAX_START_GAP = 0.01
#: Weights of columns with a smaller correlation, relative to l1, are set to 0.
ZERO_RATIO = 0.999
#: Limits of the interior point: equations, cells of its matrix, and multiplications of a step.
MOST_EQUATIONS, MOST_NUMBERS, MOST_PRODUCTS = 2000, 20_000_000, 1e10


@dataclass(frozen=True)
class L1Solver:
    """Solver of l1, elastic net and non-negative problems, one-vs-rest or multinomial.

    Parameters
    ----------
    problem : Problem
        With a smooth loss; with ``n_classes`` > 2 the multinomial log loss.
    solver_options : SolverOptions
    """

    problem: Problem
    solver_options: SolverOptions = field(default_factory=SolverOptions)

    @property
    def tol(self) -> float:
        """The requested relative gap."""
        return self.solver_options.requested_tol

    @cached_property
    def _coordinates(self) -> CoordinatePath | SoftmaxPath:
        kind = SoftmaxPath if self.problem.n_classes > 2 else CoordinatePath
        return kind(self.problem, self.solver_options, self.tol, self._max_sweeps)

    @cached_property
    def _max_sweeps(self) -> int:
        """Sweeps before falling back to an interior point; max_iter without a fallback."""
        rows, n_classes = self.problem.rows, self.problem.n_classes
        return sweeps_before_fallback(rows, self.solver_options.max_iter, n_classes)

    def solve(self, lanes: Sequence[Lane], start: Start | None = None) -> Iterator[Solved]:
        """Yield the models of all lanes in batches; the order depends on the lanes only.

        Parameters
        ----------
        lanes : sequence of Lane
        start : Start, optional
            Warm start of each path.
        """
        for lane in lanes:
            if math.isinf(lane.C):
                raise ValueError(
                    "C=inf, no penalty, has no l1 part to learn with. Choose a finite C, such as "
                    "1e6, or l1_ratio=0."
                )
        paths, end, n_jobs = chains(lanes), Cancellation(), self.solver_options.n_jobs
        known = Incumbents(self.problem, lanes, start)
        learn = partial(self._learn, lanes, start, end)
        with one_blas_thread():
            if n_jobs == 1 or len(paths) == 1:
                batches = chain.from_iterable(map(learn, paths))
            else:
                _ = self._coordinates.columns
                parts = parallel_map(paths, lambda path: list(learn(path)), n_jobs, end)
                batches = chain.from_iterable(parts)
            for solved in batches:
                yield known.improve(solved)

    def _learn(
        self, lanes: Sequence[Lane], start: Start | None, end: Cancellation, indices: list[int]
    ) -> Iterator[Solved]:
        """Solve a path, slice by slice."""
        own = [lanes[k] for k in indices]
        path = self._coordinates.path(own, self._first_weights(start, indices[0]), end)
        first = 0
        for found, sweeps in path:
            part = slice(first, first + len(sweeps))
            first += len(sweeps)
            solution, solvers = self._fall_back(own[part], found, sweeps, end)
            sweeps = np.clip(sweeps, 1, self.solver_options.max_iter)
            yield Solved(indices[part], solution, sweeps, solvers)

    def _first_weights(self, start: Start | None, k: int) -> Floats:
        """Return the first weights of a path, (d, 1) or (d, K)."""
        K, penalty = self._coordinates.width, self.problem.column_penalty
        part = slice(k * K, (k + 1) * K)
        if start is not None and start.weights is not None:
            weights = np.array(start.weights[:, part], dtype=np.float64)
            return np.maximum(weights, 0.0) if penalty.positive else weights
        if start is not None and penalty.l2 > 0:
            dual = np.ascontiguousarray(start.dual[:, part])
            return penalty.minimizer(self.problem.x.rmatvec(dual))
        return np.zeros((self.problem.rows.n_features, K))

    # ------------------------------------------------------------------ fallback

    def _fall_back(
        self,
        lanes: list[Lane],
        found: CertifiedSolution,
        sweeps: NDArray[np.int64],
        end: Cancellation,
    ) -> tuple[CertifiedSolution, list[str]]:
        """Fall back to an interior point for lanes that did not converge; update ``sweeps``."""
        solvers = ["coordinates"] * len(lanes)
        short = [k for k, one in enumerate(found.certificates) if not one.converged]
        is_last = self._max_sweeps >= self.solver_options.max_iter
        if not short or is_last or end.stop_requested:
            return found, solvers
        parts = [found.lane(k) for k in range(len(lanes))]
        for k in short:
            parts[k] = self._coordinates.with_better_dual(lanes[k], parts[k])
            if not parts[k].certificates[0].converged:
                parts[k], steps = self._learn_by_interior_point(
                    lanes[k], parts[k], int(sweeps[k]), end
                )
                sweeps[k] += steps
                solvers[k] = "interior-point"
        return CertifiedSolution.side_by_side(parts), solvers

    def _learn_by_interior_point(
        self, lane: Lane, best: CertifiedSolution, sweeps: int, end: Cancellation
    ) -> tuple[CertifiedSolution, int]:
        """Return the solution of the interior point, continued by sweeps, and its steps.

        Sweeps set small weights to 0; if the interior point failed, they get what is left.
        """
        steps = 0
        for support in self._screened_columns(best):
            best, more = self._run_interior_point(lane, best, support, end)
            steps += more
            if best.certificates[0].converged or end.stop_requested:
                break
        if end.stop_requested:
            return best, steps
        most = POLISHING_SWEEPS
        if best.certificates[0].converged:
            best = self._without_zeros(lane, best)
        else:
            most = max(most, self.solver_options.max_iter - sweeps - steps)
        one, more = self._coordinates.resume(lane, best.weights, most, end)
        is_good = one.certificates[0].converged or one.is_better_than(best)
        return one if is_good else best, steps + more

    def _screened_columns(self, found: CertifiedSolution) -> Iterator[NDArray[np.intp]]:
        """Yield working sets: the screened columns, then all non-zero columns."""
        values = self._coordinates.columns.rows
        if values.indptr is not None:
            columns = np.flatnonzero(np.diff(values.indptr))
        else:
            columns = np.flatnonzero(values.values.any(axis=1))
        least = SCREENING_RATIO * self.problem.column_penalty.l1
        correlation = np.abs(self.problem.x.rmatvec(found.dual)).max(axis=1)
        part = columns[(found.weights.any(axis=1) | (correlation > least))[columns]]
        if 0 < len(part) < MAX_SCREENED_FRACTION * len(columns):
            yield part
        yield columns

    def _run_interior_point(
        self, lane: Lane, best: CertifiedSolution, support: NDArray[np.intp], end: Cancellation
    ) -> tuple[CertifiedSolution, int]:
        """Return the best certified point of the interior point on a working set, and its steps."""
        own, tol = self._coordinates, self.tol
        objective = Objective(self.problem, lane)
        used, present = np.flatnonzero(objective.rows.c), objective.present
        near = best.certificates[0].relative_gap <= MAX_START_GAP
        start = own.as_read(best.weights if near else np.zeros_like(best.weights))
        points = interior_points(
            self._penalized_columns(used, support),
            objective.rows.take(used),
            fit_intercept=self.problem.fit_intercept,
            start=np.ascontiguousarray(start[np.ix_(support, present)]),
        )
        steps, wanted, aim = 0, tol, min(own.aim(1), TIGHTEN * tol)
        for steps, (w, z, seen) in enumerate(points, start=1):
            gap = min(best.certificates[0].relative_gap, 1.0)
            if end.report(self.solver_options.callback, steps, gap) or steps >= MAX_INTERIOR_STEPS:
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
        own, penalty = self._coordinates, self.problem.column_penalty
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
        penalty, correlation = self.problem.column_penalty, self.problem.x.rmatvec(found.dual)
        size = correlation if penalty.positive else np.abs(correlation)
        weights = np.where(size < ZERO_RATIO * penalty.l1, 0.0, found.weights)
        one = self._coordinates.certify(lane, weights, found.dual)
        return one if one.certificates[0].converged else found


def sweeps_before_fallback(rows: Rows, max_iter: int, n_classes: int = 2) -> int:
    """Return the sweeps before falling back to an interior point; max_iter without a fallback.

    Sweeps over the active set cost less than interior-point steps, so they get most of max_iter.
    """
    K = n_classes if n_classes > 2 else 1
    few = K * min(rows.shape)
    numbers = rows.values.size if K == 1 else rows.n_rows * rows.n_features * K**2
    suits = few <= MOST_EQUATIONS and numbers <= MOST_NUMBERS and numbers * few <= MOST_PRODUCTS
    if not suits or max_iter <= MIN_ITER_FOR_FALLBACK:
        return max_iter
    return max_iter - min(MAX_INTERIOR_STEPS, max_iter // 2)
