"""Learning lanes under a penalty with corners: coordinate descent along chains of strengths."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from separable._core import native
from separable.certified.design.column_reader import ReadColumns
from separable.certified.duality.l1_certifier import SparseWeights, certify_l1, corner_and_curve
from separable.certified.duality.l1_dual_point import MOST_FITTED, fitted_dual
from separable.certified.duality.l2_certifier import CertifiedSolution
from separable.certified.solvers.interior_point.l1_interior import Corners, interior_points
from separable.certified.solvers.l2_driver import (
    FEW,
    SINGLE,
    TOL_FEW,
    TOL_MANY,
    Solved,
    SolverOptions,
)
from separable.certified.solvers.parallel import End, shared_out
from separable.linalg.blas import one_blas_thread

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from separable.certified.problem import Lane, Problem
    from separable.certified.solvers.dual_cd import Start
    from separable.data.rows import Rows
    from separable.typing import Floats


__all__ = ["CLOSER", "INSIDE", "PATIENCE", "ROUNDING", "STEPS", "L1Solver", "patience"]

#: The relative gap at which small problems are solved to rounding.
ROUNDING = 1e-14
#: Numbers of a problem that is small enough for that with many strengths.
SMALL_CHAIN = 100_000
#: Of the relative gap asked for: what the engine aims at, and again after a certificate missed.
AIM, CLOSER = 0.9, 0.1
#: How often it is sent back to come closer.
TRIES = 4
#: Where fewer sweeps are asked for than this, no other engine takes over.
PATIENCE = 100
#: Most steps of the interior point that does, and sweeps from its end: small weights become 0.
STEPS, POLISH = 100, 40
#: Columns pulled by this share of their penalty are looked at first, where they are much fewer.
LIKELY, MUCH_FEWER = 0.5, 0.5
#: The relative gap up to which it starts from the weights found so far.
NEAR = 0.01
#: A weight whose column is pulled less than this share of its penalty is 0 at the optimum.
INSIDE = 0.999
#: What is too large for it: rows or columns, whichever are fewer; numbers; products of a step.
MOST_EQUATIONS, MOST_NUMBERS, MOST_PRODUCTS = 2000, 20_000_000, 1e10
#: Numbers of the tables that are judged at a time.
TABLES = 1 << 22
#: Models that are judged at a time, at least.
LEAST_LANES = 8


@dataclass(frozen=True)
class _Path:
    """Weights along a chain of strengths, as columns are read: those that are not 0."""

    start: NDArray[np.int64]
    column: NDArray[np.int64]
    weight: Floats
    intercept: Floats
    gap: Floats
    sweeps: NDArray[np.int64]

    def some(self, lanes: slice, columns: ReadColumns) -> SparseWeights:
        """Return the weights of some strengths, of the problem's columns."""
        first, last, _ = lanes.indices(len(self.intercept))
        start = self.start[first : last + 1]
        part = slice(start[0], start[-1])
        column, weight = self.column[part], self.weight[part]
        if columns.factor is not None:
            weight = weight / columns.factor[column]
        return SparseWeights(start, column, weight, columns.rows.n_rows)


@dataclass(frozen=True)
class L1Solver:
    """Learns lanes of one problem with an l1 or elastic net penalty, or weights that are not < 0.

    Lanes of one class and fold are a chain from small to large C, each starting from the weights of
    the one before.

    Parameters
    ----------
    problem : Problem
        The loss is squared error, log loss or squared hinge.
    solver_options : Request
    """

    problem: Problem
    solver_options: SolverOptions = field(default_factory=SolverOptions)

    @property
    def tol(self) -> float:
        """The relative gap asked for."""
        if self.solver_options.tol is not None:
            return self.solver_options.tol
        few = min(self.problem.rows.shape) <= FEW or self.problem.is_small
        return TOL_FEW if few else TOL_MANY

    def solve(self, lanes: Sequence[Lane], start: Start | None = None) -> Iterator[Solved]:
        """Yield the models of all lanes, some at a time, in an order that depends on lanes alone.

        Parameters
        ----------
        lanes : sequence of Lane
        start : Start, optional
            Where each chain starts.
        """
        for lane in lanes:
            if math.isinf(lane.strength):
                raise ValueError(
                    "C=inf, no penalty, has no l1 part to learn with. Choose a finite C, such as "
                    "1e6, or l1_ratio=0."
                )
        chains = list(_chains(lanes))
        end = End()
        if self.solver_options.n_jobs > 1 and len(chains) > 1:
            _ = self._columns
        with one_blas_thread():
            if self.solver_options.n_jobs == 1 or len(chains) == 1:
                for chain in chains:
                    yield from self._learn(lanes, chain, start, end)
                return
            learn = partial(self._learned, lanes, start=start, end=end)
            for some in shared_out(chains, learn, self.solver_options.n_jobs, end):
                yield from some

    def _learned(
        self, lanes: Sequence[Lane], chain: list[int], *, start: Start | None, end: End
    ) -> list[Solved]:
        return list(self._learn(lanes, chain, start, end))

    def _learn(
        self, lanes: Sequence[Lane], chain: list[int], start: Start | None, end: End
    ) -> Iterator[Solved]:
        """Learn a chain, and judge it some lanes at a time."""
        mine = [lanes[k] for k in chain]
        aim = self._aim(len(mine))
        path = self._descend(mine, self._first_weights(start, chain[0]), aim, end)
        n, d = self.problem.rows.shape
        pulls = d if self.problem.penalty.l1_ratio < 1 or not self._columns.rows.is_sparse else 0
        width = max(LEAST_LANES, TABLES // (pulls + 3 * n))
        for first in range(0, len(chain), width):
            some = slice(first, first + width)
            sweeps = path.sweeps[some].copy()
            found = self._certify(mine[some], path.some(some, self._columns))
            found = self._closer(mine[some], found, sweeps, aim, end, self._patience)
            solution, engines = self._taken_over(mine[some], found, sweeps, aim, end)
            yield Solved(chain[some], solution, np.maximum(sweeps, 1), engines)

    def _closer(
        self,
        lanes: list[Lane],
        found: CertifiedSolution,
        sweeps: NDArray[np.int64],
        aim: float,
        end: End,
        most: int,
    ) -> CertifiedSolution:
        """Learn lanes further whose certificate misses.

        ``sweeps`` are those made so far, of ``most``; more are added.
        """
        last = found.weights.copy()  # not those of the judgement, which may stay the best
        for _ in range(TRIES):
            short = [
                k
                for k, one in enumerate(found.certificates)
                if not one.converged and sweeps[k] < most
            ]
            aim *= CLOSER
            if not short or end.asked.is_set():
                break
            parts = [found.lane(k) for k in range(len(lanes))]
            for k in short:
                left = most - int(sweeps[k])
                path = self._descend([lanes[k]], self._as_read(last[:, k]), aim, end, left)
                sweeps[k] += path.sweeps[0]
                one = self._certify([lanes[k]], path.some(slice(0, 1), self._columns))
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
        """Return the weights of columns as they are read."""
        factor = self._columns.factor
        return u if factor is None else u * factor

    def _as_problem(self, u: Floats) -> Floats:
        """Return the weights of the problem's columns, (d, 1), of those of columns as read."""
        factor = self._columns.factor
        return u if factor is None else u / factor[:, None]

    # ------------------------------------------------------------------ where sweeps do not do

    @cached_property
    def _patience(self) -> int:
        """Sweeps after which an interior point takes over; all of them where none does."""
        return patience(self.problem.rows, self.solver_options.max_iter)

    def _taken_over(
        self,
        lanes: list[Lane],
        found: CertifiedSolution,
        sweeps: NDArray[np.int64],
        aim: float,
        end: End,
    ) -> tuple[CertifiedSolution, list[str]]:
        """Learn lanes that sweeps leave without a certificate by an interior point."""
        engines = ["coordinates"] * len(lanes)
        short = [k for k, one in enumerate(found.certificates) if not one.converged]
        if not short or self._patience >= self.solver_options.max_iter or end.asked.is_set():
            return found, engines
        parts = [found.lane(k) for k in range(len(lanes))]
        for k in short:
            made = sweeps[k : k + 1]
            parts[k] = self._proved(lanes[k], parts[k])
            if not parts[k].certificates[0].converged:
                parts[k] = self._learn_inside(lanes[k], parts[k], made, aim, end)
                engines[k] = "interior-point"
        return CertifiedSolution.side_by_side(parts), engines

    def _learn_inside(
        self, lane: Lane, found: CertifiedSolution, sweeps: NDArray[np.int64], aim: float, end: End
    ) -> CertifiedSolution:
        """Return what an interior point finds; where that is no better, what more sweeps do."""
        best = found
        for there in self._columns_inside(found):
            best, steps = self._best_inside(lane, best, there, min(aim, CLOSER * self.tol), end)
            sweeps += steps
            if best.certificates[0].converged or end.asked.is_set():
                break
        if best.certificates[0].converged:
            return self._polished(lane, best, aim, end)
        best = self._closer([lane], best, sweeps, aim, end, self.solver_options.max_iter)
        return self._proved(lane, best)

    def _columns_inside(self, found: CertifiedSolution) -> Iterator[NDArray[np.intp]]:
        """Yield the columns that may have a weight: first those that seem to, then all."""
        pull = self.problem.along(found.dual)[:, 0]
        corner, _ = corner_and_curve(self.problem)
        close = (found.weights[:, 0] != 0) | (np.abs(pull) > LIKELY * corner)
        some = self._filled[close[self._filled]]
        if 0 < len(some) < MUCH_FEWER * len(self._filled):
            yield some
        yield self._filled

    def _best_inside(
        self, lane: Lane, best: CertifiedSolution, there: NDArray[np.intp], aim: float, end: End
    ) -> tuple[CertifiedSolution, int]:
        """Return the best of what was found and the points of an interior method, and its steps."""
        problem = self.problem
        c = problem.costs(lane)
        used = np.flatnonzero(c)
        points = interior_points(
            self._corners(used, there),
            problem.loss,  # type: ignore[arg-type]
            problem.targets(lane)[used],
            c[used],
            fit_intercept=problem.fit_intercept,
            start=self._as_read(self._start_inside(best)[:, 0])[there],
        )
        steps, wanted = 0, self.tol
        for steps, (w, some, seen) in enumerate(points, start=1):
            gap = min(best.certificates[0].relative_gap, 1.0)
            if end.tell(self.solver_options.callback, steps, gap) or steps >= STEPS:
                break
            if seen > wanted:
                continue
            wanted = min(wanted, seen) * CLOSER
            weights, z = np.zeros((problem.rows.n_features, 1)), np.zeros((len(c), 1))
            weights[there, 0], z[used, 0] = w, some
            one = self._certify([lane], self._as_problem(weights), z)
            best = one if one.is_better_than(best) else best
            if best.certificates[0].relative_gap <= aim or seen < ROUNDING:
                break
        return best, steps

    def _start_inside(self, found: CertifiedSolution) -> Floats:
        """Return the weights to start from: what is far from the optimum is worse than none."""
        near = found.certificates[0].relative_gap <= NEAR
        return found.weights if near else np.zeros_like(found.weights)

    def _polished(
        self, lane: Lane, best: CertifiedSolution, aim: float, end: End
    ) -> CertifiedSolution:
        """Return what some more sweeps find, where small weights become 0, if it converged too."""
        if end.asked.is_set():
            return best
        best = self._cleared(lane, best)
        path = self._descend([lane], self._as_read(best.weights[:, 0]), aim, end, POLISH)
        one = self._certify([lane], path.some(slice(0, 1), self._columns))
        if not one.certificates[0].converged:
            one = self._proved(lane, one)
        return one if one.certificates[0].converged else best

    def _cleared(self, lane: Lane, found: CertifiedSolution) -> CertifiedSolution:
        """Return weights without those that the dual point says are 0, if they converged too."""
        pull = self.problem.along(found.dual)[:, 0]
        corner, _ = corner_and_curve(self.problem)
        within = (pull if self.problem.penalty.positive else np.abs(pull)) < INSIDE * corner
        weights = np.where(within[:, None], 0.0, found.weights)
        one = self._certify([lane], weights, found.dual)
        return one if one.certificates[0].converged else found

    def _proved(self, lane: Lane, found: CertifiedSolution) -> CertifiedSolution:
        """Return what a dual point proves that fits the weights better, if it is more."""
        problem, u = self.problem, found.weights[:, 0]
        there = np.flatnonzero(u)
        if not 0 < len(there) * problem.rows.n_rows <= MOST_FITTED:
            return found
        y, c = problem.targets(lane), problem.costs(lane)
        slope, h = problem.loss.slopes(y, found.scores[:, 0], c)  # type: ignore[attr-defined]
        corner, curve = corner_and_curve(problem)
        x = self._columns.take(there).written_out()
        pull = corner * np.sign(u[there]) + curve * u[there]
        z = fitted_dual(x, h, -slope, pull, is_centred=problem.fit_intercept)
        one = self._certify([lane], found.weights, z[:, None])
        return one if one.is_better_than(found) else found

    @cached_property
    def _filled(self) -> NDArray[np.intp]:
        """The columns that have a value."""
        values = self._columns.rows
        if values.indptr is not None:
            return np.flatnonzero(np.diff(values.indptr))
        return np.flatnonzero(values.values.any(axis=1))

    def _corners(self, used: NDArray[np.intp], there: NDArray[np.intp]) -> Corners:
        rows = self._columns.rows
        x: Any = rows.to_matrix() if rows.is_sparse else rows.values
        l1, l2 = self._penalties
        whole = len(used) == rows.n_features and len(there) == rows.n_rows
        x = x if whole else x[there][:, used]
        return Corners(x.astype(np.float64), l1[there], l2[there], self.problem.penalty.positive)

    # ------------------------------------------------------------------ the engine

    def _aim(self, n_strengths: int) -> float:
        """Return the relative gap that the engine aims at: rounding, where that costs little."""
        n, d = self.problem.rows.shape
        if self.problem.is_small and (n_strengths == 1 or n * d <= SMALL_CHAIN):
            return min(self.tol, ROUNDING)
        return AIM * self.tol

    @cached_property
    def _columns(self) -> ReadColumns:
        exact = self.problem.is_small or self.tol < SINGLE
        dtype = np.dtype(np.float64) if exact else self.problem.rows.values.dtype
        return ReadColumns.of(self.problem, dtype)

    @cached_property
    def _penalties(self) -> tuple[Floats, Floats]:
        return self._columns.penalty(*corner_and_curve(self.problem))

    def _first_weights(self, start: Start | None, k: int) -> Floats:
        """Return the weights that a chain starts from, of columns as they are read."""
        weights = np.zeros(self.problem.rows.n_features)
        if start is None:
            return weights
        corner, curve = corner_and_curve(self.problem)
        if start.weights is not None:
            weights = np.ascontiguousarray(start.weights[:, k], dtype=np.float64)
        elif curve > 0:
            pull = self.problem.along(start.dual[:, k : k + 1])[:, 0]
            weights = np.sign(pull) * np.maximum(np.abs(pull) - corner, 0.0) / curve
        if self.problem.penalty.positive:
            weights = np.maximum(weights, 0.0)
        return self._as_read(weights)

    def _descend(
        self, lanes: list[Lane], start: Floats, aim: float, end: End, most: int | None = None
    ) -> _Path:
        """Learn a chain of lanes, from small to large C."""
        problem, solver_options = self.problem, self.solver_options
        one = replace(lanes[0], strength=problem.value)  # costs as if C were 1
        told: Any = None
        if solver_options.callback is not None or solver_options.n_jobs > 1:
            told = partial(end.tell, solver_options.callback)
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
                np.array([lane.strength / problem.value for lane in lanes]),
                np.ascontiguousarray(start),
                0.0,
                aim,
                self._patience if most is None else most,
                told,
            )
        )


def patience(rows: Rows, max_iter: int) -> int:
    """Return the sweeps after which an interior point takes over; all of them where none does.

    They go over few columns of many, and so cost less than its steps: they are given most of all.
    """
    few = min(rows.shape)
    numbers = rows.values.size
    suits = few <= MOST_EQUATIONS and numbers <= MOST_NUMBERS and numbers * few <= MOST_PRODUCTS
    return max_iter - min(STEPS, max_iter // 2) if suits and max_iter > PATIENCE else max_iter


def _chains(lanes: Sequence[Lane]) -> Iterator[list[int]]:
    """Yield lanes of one class and fold, by number, from small to large C."""
    chains: dict[tuple[int, int], list[int]] = {}
    for k in sorted(range(len(lanes)), key=lambda k: (lanes[k].strength, k)):
        chains.setdefault((lanes[k].target, lanes[k].fold), []).append(k)
    yield from chains.values()
