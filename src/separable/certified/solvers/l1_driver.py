"""Driver of l1 and elastic net problems: coordinate descent along a path of C, with fallback."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from separable._core import native
from separable.certified.design.column_reader import ReadColumns
from separable.certified.duality.l1_certifier import SparseWeights, certify_l1, l1_l2_weights
from separable.certified.duality.l1_dual_point import MAX_CELLS, fitted_dual
from separable.certified.duality.l2_certifier import CertifiedSolution
from separable.certified.solvers.interior_point.l1_interior import PenalizedColumns, interior_points
from separable.certified.solvers.l2_driver import (
    FLOAT32_TOL,
    MAX_SECOND_ORDER_SIZE,
    TOL_LARGE,
    TOL_SMALL,
    Solved,
)
from separable.certified.solvers.options import SolverOptions
from separable.certified.solvers.parallel import Cancellation, parallel_map
from separable.linalg.blas import one_blas_thread

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from separable.certified.problem import Lane, Problem
    from separable.certified.solvers.dual_cd import Start
    from separable.data.rows import Rows
    from separable.typing import Floats


__all__ = [
    "MAX_INTERIOR_STEPS",
    "MIN_ITER_FOR_FALLBACK",
    "ROUNDING",
    "TIGHTEN",
    "ZERO_RATIO",
    "L1Solver",
    "sweeps_before_fallback",
]

#: The relative gap to which small problems are solved.
ROUNDING = 1e-14
#: Paths of several C are solved to rounding up to this many cells.
SMALL_PATH = 100_000
#: Fractions of tol: the aim of the solver, and its factor after a certificate that misses.
AIM_FRACTION, TIGHTEN = 0.9, 0.1
#: Maximum number of times that the aim is tightened.
MAX_TIGHTENINGS = 4
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
#: Limits of the interior point: min(n, d), cells, and multiplications of a step.
MOST_EQUATIONS, MOST_NUMBERS, MOST_PRODUCTS = 2000, 20_000_000, 1e10
#: Maximum cells of the tables certified at a time.
MAX_TABLE_CELLS = 1 << 22
#: Minimum number of models certified at a time.
MIN_LANES = 8


@dataclass(frozen=True)
class _Path:
    """A regularization path: the non-zero weights for each C, in the scale of `ReadColumns`."""

    start: NDArray[np.int64]
    column: NDArray[np.int64]
    weight: Floats
    intercept: Floats
    gap: Floats
    sweeps: NDArray[np.int64]

    def part(self, lanes: slice, columns: ReadColumns) -> SparseWeights:
        """Return the weights of a slice of the path, for the problem's columns."""
        first, last, _ = lanes.indices(len(self.intercept))
        start = self.start[first : last + 1]
        part = slice(start[0], start[-1])
        column, weight = self.column[part], self.weight[part]
        if columns.factor is not None:
            weight = weight / columns.factor[column]
        return SparseWeights(start, column, weight, columns.rows.n_rows)


@dataclass(frozen=True)
class L1Solver:
    """Solver of l1, elastic net and non-negative problems.

    Lanes of one class and fold form a path from small to large C, each warm-started from the one
    before. Lanes that do not converge fall back to an interior point.

    Parameters
    ----------
    problem : Problem
        The loss is squared error, log loss or squared hinge.
    solver_options : SolverOptions
    """

    problem: Problem
    solver_options: SolverOptions = field(default_factory=SolverOptions)

    @property
    def tol(self) -> float:
        """The requested relative gap."""
        if self.solver_options.tol is not None:
            return self.solver_options.tol
        few = min(self.problem.rows.shape) <= MAX_SECOND_ORDER_SIZE or self.problem.is_small
        return TOL_SMALL if few else TOL_LARGE

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
        chains = list(_chains(lanes))
        end = Cancellation()
        if self.solver_options.n_jobs > 1 and len(chains) > 1:
            _ = self._columns
        with one_blas_thread():
            if self.solver_options.n_jobs == 1 or len(chains) == 1:
                for chain in chains:
                    yield from self._learn(lanes, chain, start, end)
                return
            learn = partial(self._learned, lanes, start=start, end=end)
            for part in parallel_map(chains, learn, self.solver_options.n_jobs, end):
                yield from part

    def _learned(
        self, lanes: Sequence[Lane], chain: list[int], *, start: Start | None, end: Cancellation
    ) -> list[Solved]:
        return list(self._learn(lanes, chain, start, end))

    def _learn(
        self, lanes: Sequence[Lane], chain: list[int], start: Start | None, end: Cancellation
    ) -> Iterator[Solved]:
        """Solve a path, and certify it in slices."""
        chain_lanes = [lanes[k] for k in chain]
        aim = self._aim(len(chain_lanes))
        path = self._descend(chain_lanes, self._first_weights(start, chain[0]), aim, end)
        n, d = self.problem.rows.shape
        correlations = (
            d if self.problem.penalty.l1_ratio < 1 or not self._columns.rows.is_sparse else 0
        )
        width = max(MIN_LANES, MAX_TABLE_CELLS // (correlations + 3 * n))
        for first in range(0, len(chain), width):
            part = slice(first, first + width)
            sweeps = path.sweeps[part].copy()
            found = self._certify(chain_lanes[part], path.part(part, self._columns))
            found = self._tighten(chain_lanes[part], found, sweeps, aim, end, self._fallback_pass)
            solution, solvers = self._fall_back(chain_lanes[part], found, sweeps, aim, end)
            yield Solved(chain[part], solution, np.maximum(sweeps, 1), solvers)

    def _tighten(
        self,
        lanes: list[Lane],
        found: CertifiedSolution,
        sweeps: NDArray[np.int64],
        aim: float,
        end: Cancellation,
        most: int,
    ) -> CertifiedSolution:
        """Continue lanes that did not converge, with a tighter aim.

        ``sweeps`` counts the sweeps of each lane, up to ``most``, and is updated.
        """
        last = found.weights.copy()  # a copy: those of the solution may remain the best
        for _ in range(MAX_TIGHTENINGS):
            short = [
                k
                for k, one in enumerate(found.certificates)
                if not one.converged and sweeps[k] < most
            ]
            aim *= TIGHTEN
            if not short or end.stop_requested.is_set():
                break
            parts = [found.lane(k) for k in range(len(lanes))]
            for k in short:
                left = most - int(sweeps[k])
                path = self._descend([lanes[k]], self._as_read(last[:, k]), aim, end, left)
                sweeps[k] += path.sweeps[0]
                one = self._certify([lanes[k]], path.part(slice(0, 1), self._columns))
                last[:, k] = one.weights[:, 0]
                if one.is_better_than(parts[k]):
                    parts[k] = one
            found = CertifiedSolution.side_by_side(parts)
        return found

    def _certify(
        self, lanes: list[Lane], weights: SparseWeights | Floats, z: Floats | None = None
    ) -> CertifiedSolution:
        return certify_l1(self.problem, lanes, z, weights, self.tol, self._columns)

    def _as_read(self, u: Floats) -> Floats:
        """Return the weights in the scale of `ReadColumns`."""
        factor = self._columns.factor
        return u if factor is None else u * factor

    def _as_problem(self, u: Floats) -> Floats:
        """Return the weights for the problem's columns, (d, 1)."""
        factor = self._columns.factor
        return u if factor is None else u / factor[:, None]

    # ------------------------------------------------------------------ fallback

    @cached_property
    def _fallback_pass(self) -> int:
        """Sweeps before falling back to an interior point; max_iter without a fallback."""
        return sweeps_before_fallback(self.problem.rows, self.solver_options.max_iter)

    def _fall_back(
        self,
        lanes: list[Lane],
        found: CertifiedSolution,
        sweeps: NDArray[np.int64],
        aim: float,
        end: Cancellation,
    ) -> tuple[CertifiedSolution, list[str]]:
        """Fall back to an interior point for lanes that did not converge."""
        solvers = ["coordinates"] * len(lanes)
        short = [k for k, one in enumerate(found.certificates) if not one.converged]
        if (
            not short
            or self._fallback_pass >= self.solver_options.max_iter
            or end.stop_requested.is_set()
        ):
            return found, solvers
        parts = [found.lane(k) for k in range(len(lanes))]
        for k in short:
            made = sweeps[k : k + 1]
            parts[k] = self._with_better_dual(lanes[k], parts[k])
            if not parts[k].certificates[0].converged:
                parts[k] = self._learn_by_interior_point(lanes[k], parts[k], made, aim, end)
                solvers[k] = "interior-point"
        return CertifiedSolution.side_by_side(parts), solvers

    def _learn_by_interior_point(
        self,
        lane: Lane,
        found: CertifiedSolution,
        sweeps: NDArray[np.int64],
        aim: float,
        end: Cancellation,
    ) -> CertifiedSolution:
        """Return the solution of the interior point; if it fails, of more sweeps."""
        best = found
        for support in self._screened_columns(found):
            best, steps = self._run_interior_point(
                lane, best, support, min(aim, TIGHTEN * self.tol), end
            )
            sweeps += steps
            if best.certificates[0].converged or end.stop_requested.is_set():
                break
        if best.certificates[0].converged:
            return self._polished(lane, best, aim, end)
        best = self._tighten([lane], best, sweeps, aim, end, self.solver_options.max_iter)
        return self._with_better_dual(lane, best)

    def _screened_columns(self, found: CertifiedSolution) -> Iterator[NDArray[np.intp]]:
        """Yield working sets: the screened columns, then all non-zero columns."""
        correlation = self.problem.rmatvec(found.dual)[:, 0]
        l1, _ = l1_l2_weights(self.problem)
        close = (found.weights[:, 0] != 0) | (np.abs(correlation) > SCREENING_RATIO * l1)
        part = self._nonzero_columns[close[self._nonzero_columns]]
        if 0 < len(part) < MAX_SCREENED_FRACTION * len(self._nonzero_columns):
            yield part
        yield self._nonzero_columns

    def _run_interior_point(
        self,
        lane: Lane,
        best: CertifiedSolution,
        support: NDArray[np.intp],
        aim: float,
        end: Cancellation,
    ) -> tuple[CertifiedSolution, int]:
        """Return the best certified point of the interior point on a working set, and its steps."""
        problem = self.problem
        c = problem.costs(lane)
        used = np.flatnonzero(c)
        points = interior_points(
            self._penalized_columns(used, support),
            problem.loss,  # type: ignore[arg-type]
            problem.targets(lane)[used],
            c[used],
            fit_intercept=problem.fit_intercept,
            start=self._as_read(self._interior_start(best)[:, 0])[support],
        )
        steps, wanted = 0, self.tol
        for steps, (w, part, seen) in enumerate(points, start=1):
            gap = min(best.certificates[0].relative_gap, 1.0)
            if end.report(self.solver_options.callback, steps, gap) or steps >= MAX_INTERIOR_STEPS:
                break
            if seen > wanted:
                continue
            wanted = min(wanted, seen) * TIGHTEN
            weights, z = np.zeros((problem.rows.n_features, 1)), np.zeros((len(c), 1))
            weights[support, 0], z[used, 0] = w, part
            one = self._certify([lane], self._as_problem(weights), z)
            best = one if one.is_better_than(best) else best
            if best.certificates[0].relative_gap <= aim or seen < ROUNDING:
                break
        return best, steps

    def _interior_start(self, found: CertifiedSolution) -> Floats:
        """Return the warm start: the weights if their gap is small, else 0."""
        near = found.certificates[0].relative_gap <= MAX_START_GAP
        return found.weights if near else np.zeros_like(found.weights)

    def _polished(
        self, lane: Lane, best: CertifiedSolution, aim: float, end: Cancellation
    ) -> CertifiedSolution:
        """Return the result of a few more sweeps, which set small weights to 0, if it converged."""
        if end.stop_requested.is_set():
            return best
        best = self._without_zeros(lane, best)
        path = self._descend([lane], self._as_read(best.weights[:, 0]), aim, end, POLISHING_SWEEPS)
        one = self._certify([lane], path.part(slice(0, 1), self._columns))
        if not one.certificates[0].converged:
            one = self._with_better_dual(lane, one)
        return one if one.certificates[0].converged else best

    def _without_zeros(self, lane: Lane, found: CertifiedSolution) -> CertifiedSolution:
        """Return the weights with those set to 0 that the dual point rules out, if converged."""
        correlation = self.problem.rmatvec(found.dual)[:, 0]
        l1, _ = l1_l2_weights(self.problem)
        within = (
            correlation if self.problem.penalty.positive else np.abs(correlation)
        ) < ZERO_RATIO * l1
        weights = np.where(within[:, None], 0.0, found.weights)
        one = self._certify([lane], weights, found.dual)
        return one if one.certificates[0].converged else found

    def _with_better_dual(self, lane: Lane, found: CertifiedSolution) -> CertifiedSolution:
        """Return the solution with a dual point refined on the support, if it is better."""
        problem, u = self.problem, found.weights[:, 0]
        support = np.flatnonzero(u)
        if not 0 < len(support) * problem.rows.n_rows <= MAX_CELLS:
            return found
        y, c = problem.targets(lane), problem.costs(lane)
        gradient, h = problem.loss.derivatives(y, found.scores[:, 0], c)  # type: ignore[attr-defined]
        l1, l2 = l1_l2_weights(problem)
        x = self._columns.take(support).written_out()
        correlation = l1 * np.sign(u[support]) + l2 * u[support]
        z = fitted_dual(x, h, -gradient, correlation, is_centred=problem.fit_intercept)
        one = self._certify([lane], found.weights, z[:, None])
        return one if one.is_better_than(found) else found

    @cached_property
    def _nonzero_columns(self) -> NDArray[np.intp]:
        """The columns with a non-zero value."""
        values = self._columns.rows
        if values.indptr is not None:
            return np.flatnonzero(np.diff(values.indptr))
        return np.flatnonzero(values.values.any(axis=1))

    def _penalized_columns(
        self, used: NDArray[np.intp], support: NDArray[np.intp]
    ) -> PenalizedColumns:
        rows = self._columns.rows
        x: Any = rows.to_matrix() if rows.is_sparse else rows.values
        l1, l2 = self._penalties
        whole = len(used) == rows.n_features and len(support) == rows.n_rows
        x = x if whole else x[support][:, used]
        return PenalizedColumns(
            x.astype(np.float64), l1[support], l2[support], self.problem.penalty.positive
        )

    # ------------------------------------------------------------------ coordinate descent

    def _aim(self, n_lanes: int) -> float:
        """Return the relative gap to aim at: rounding if that is cheap."""
        n, d = self.problem.rows.shape
        if self.problem.is_small and (n_lanes == 1 or n * d <= SMALL_PATH):
            return min(self.tol, ROUNDING)
        return AIM_FRACTION * self.tol

    @cached_property
    def _columns(self) -> ReadColumns:
        exact = self.problem.is_small or self.tol < FLOAT32_TOL
        dtype = np.dtype(np.float64) if exact else self.problem.rows.values.dtype
        return ReadColumns.of(self.problem, dtype)

    @cached_property
    def _penalties(self) -> tuple[Floats, Floats]:
        return self._columns.penalty(*l1_l2_weights(self.problem))

    def _first_weights(self, start: Start | None, k: int) -> Floats:
        """Return the first weights of a path, in the scale of `ReadColumns`."""
        weights = np.zeros(self.problem.rows.n_features)
        if start is None:
            return weights
        l1, l2 = l1_l2_weights(self.problem)
        if start.weights is not None:
            weights = np.ascontiguousarray(start.weights[:, k], dtype=np.float64)
        elif l2 > 0:
            correlation = self.problem.rmatvec(start.dual[:, k : k + 1])[:, 0]
            weights = np.sign(correlation) * np.maximum(np.abs(correlation) - l1, 0.0) / l2
        if self.problem.penalty.positive:
            weights = np.maximum(weights, 0.0)
        return self._as_read(weights)

    def _descend(
        self,
        lanes: list[Lane],
        start: Floats,
        aim: float,
        end: Cancellation,
        most: int | None = None,
    ) -> _Path:
        """Run coordinate descent along a path, from small to large C."""
        problem, solver_options = self.problem, self.solver_options
        one = replace(lanes[0], C=problem.value)  # costs as if C were 1
        on_sweep: Any = None
        if solver_options.callback is not None or solver_options.n_jobs > 1:
            on_sweep = partial(end.report, solver_options.callback)
        l1, l2 = self._penalties
        return _Path(
            *native.descend_path(
                self._columns.core,
                problem.loss.name,
                problem.targets(one),
                problem.costs(one),
                l1,
                l2,
                problem.penalty.positive,
                problem.fit_intercept,
                np.array([lane.C / problem.value for lane in lanes]),
                np.ascontiguousarray(start),
                0.0,
                aim,
                self._fallback_pass if most is None else most,
                on_sweep,
            )
        )


def sweeps_before_fallback(rows: Rows, max_iter: int) -> int:
    """Return the sweeps before falling back to an interior point; max_iter without a fallback.

    Sweeps over the active set cost less than interior-point steps, so they get most of max_iter.
    """
    few = min(rows.shape)
    numbers = rows.values.size
    suits = few <= MOST_EQUATIONS and numbers <= MOST_NUMBERS and numbers * few <= MOST_PRODUCTS
    return (
        max_iter - min(MAX_INTERIOR_STEPS, max_iter // 2)
        if suits and max_iter > MIN_ITER_FOR_FALLBACK
        else max_iter
    )


def _chains(lanes: Sequence[Lane]) -> Iterator[list[int]]:
    """Yield the lane indices of each class and fold, from small to large C."""
    chains: dict[tuple[int, int], list[int]] = {}
    for k in sorted(range(len(lanes)), key=lambda k: (lanes[k].C, k)):
        chains.setdefault((lanes[k].target, lanes[k].fold), []).append(k)
    yield from chains.values()
