"""L2-penalised logistic regression of dense rows: L-BFGS, then truncated Newton steps.

Folds and classes are lanes of the same passes over the rows (``logistic_objective.hpp``,
``lbfgs.hpp``); the values of C follow each other from small to large, each warm-started from the
one before. Weights are seen in coordinates u with w = A u, AA' = (I + a C Z'Z)^-1, in which every C
is well conditioned: a C Z'Z bounds the Hessian of the losses, or is close to it. A lane that needs
more passes goes on with Newton steps by conjugate gradients (``logistic_newton.hpp``), for which
a is the curvature of each row.

A lane stops at its duality gap, which a certificate confirms. In a search without ``tol`` it stops
at its estimated distance from the optimum, half the squared Newton decrement, relative to the loss
of the intercept-only model, and has no certificate: what a search compares is held-out loss.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import groupby
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from scipy.linalg import eigh, solve_triangular

from separable._core import native
from separable.certified.design.row_products import spread_blocks
from separable.certified.design.row_space import RowSpace
from separable.certified.design.softmax_products import hessian_product
from separable.certified.duality.l2_certifier import CertifiedSolution, certify
from separable.certified.duality.softmax_l2_certifier import (
    certify_at_own_probabilities,
    certify_softmax,
)
from separable.certified.problem import TOGETHER
from separable.certified.solvers.dual_cd import Start
from separable.certified.solvers.l2_driver import Solved
from separable.certified.solvers.parallel import Cancellation, parallel_map
from separable.linalg.blas import add_rows_to_scatter, fill_lower, one_blas_thread
from separable.linalg.lstsq import lstsq
from separable.losses.softmax import log_softmax, totals

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from separable.certified.problem import Lane, Problem
    from separable.certified.solvers.driver import Learns
    from separable.certified.solvers.options import SolverOptions
    from separable.losses.base import SmoothLoss
    from separable.typing import Floats

__all__ = ["DenseLogisticSolver"]

#: Maximum min(n, d) of the dense d x d preconditioner.
MAX_SIZE = 2000
#: Sparse rows with at least 1 / 8 of their values, one-hot tables for example, are spread into
#: tiles up to this many cells: 256 MB in float32.
DENSE_IS_FASTER, MAX_SPREAD_CELLS = 8, 1 << 26
#: The default relative gap of a fit.
TOL = 1e-6
#: Problems with at most this many products n d K go on to this gap, so that equal problems written
#: in other ways (weights for repeated rows) agree to more digits than the solver's tolerance.
TINY, TINY_TOL = 20_000, 1e-14
#: Distances from the optimum at which a lane of a search stops: relative to its null loss, and to
#: its objective, which keeps weights of large C from stopping early.
SEARCH_TOL, SEARCH_RATIO = 1e-5, 3e-4
TINY_SEARCH_TOL, TINY_SEARCH_RATIO = 1e-14, 1e-14
#: Mean curvature of a loss in its score, for the preconditioner: binary (the maximum), multinomial.
CURVATURE, JOINT_CURVATURE = 0.25, 0.15
#: The preconditioner is estimated from about this many rows, and this many for each column.
SAMPLE_ROWS, SAMPLE_ROWS_PER_COLUMN = 4096, 16
#: Gap to solve for, relative to the requested one.
FIRST_GAP = 0.5
#: Passes of L-BFGS before Newton's method, in a fit and in a search.
FALLBACK_PASSES, SEARCH_FALLBACK_PASSES = 60, 300
#: Passes of Newton's method with conjugate gradients before the fallback.
NEWTON_PASSES = 600
#: A Newton step is certified if its predicted decrease, relative to the value, is below this.
CERTIFIED_DECREASE = 1e-3
#: Fraction of the requested gap that the residual of a Newton step may cause.
RESIDUAL_FRACTION = 0.25
#: Shortest step of the line search, and the relative rounding error of the objective.
MIN_STEP, ROUNDING = 1e-10, 1e-15
#: Newton steps without progress after which to stop.
MAX_IDLE_STEPS = 3


@dataclass(frozen=True)
class DenseLogisticSolver:
    """Solver of l2-penalised logistic regression of dense rows.

    Parameters
    ----------
    problem : Problem
    solver_options : SolverOptions
    fallback : Learns
        Solver of lanes without a penalty, and of lanes that do not converge here.
    """

    problem: Problem
    solver_options: SolverOptions
    fallback: Learns

    @staticmethod
    def takes(problem: Problem) -> bool:
        """Return whether this is the first choice for a problem."""
        rows = problem.rows
        n, d = rows.shape
        if problem.loss.name != "log_loss" or not problem.penalty.is_smooth:
            return False
        if not rows.is_sparse:
            return min(n, d) <= MAX_SIZE
        is_dense = DENSE_IS_FASTER * rows.values.size >= n * d
        return is_dense and d <= min(n, MAX_SIZE) and n * d <= MAX_SPREAD_CELLS

    @property
    def tol(self) -> float:
        """The relative gap to solve for."""
        if self.solver_options.tol is not None:
            return self.solver_options.tol
        return TINY_TOL if self._is_tiny else TOL

    @property
    def _is_tiny(self) -> bool:
        n, d = self.problem.rows.shape
        return n * d * self._width <= TINY

    @property
    def _reported_tol(self) -> float:
        """The requested relative gap."""
        return TOL if self.solver_options.tol is None else self.solver_options.tol

    @property
    def _is_joint(self) -> bool:
        return self.problem.n_classes > 2

    @property
    def _width(self) -> int:
        """Columns of a lane."""
        return self.problem.n_classes if self._is_joint else 1

    @property
    def _is_certified(self) -> bool:
        return self.solver_options.certified

    def solve(self, lanes: Sequence[Lane], start: Start | None = None) -> Iterator[Solved]:
        """Yield the models of all lanes, one C at a time; the order depends on the lanes only."""
        penalised = [k for k, lane in enumerate(lanes) if math.isfinite(lane.C)]
        with one_blas_thread(), np.errstate(over="ignore", under="ignore", invalid="ignore"):
            yield from self._solve_blocks(lanes, penalised, start)
        others = [k for k, lane in enumerate(lanes) if not math.isfinite(lane.C)]
        if others:
            yield from self._fall_back(lanes, others, start)

    def _solve_blocks(
        self, lanes: Sequence[Lane], chosen: list[int], start: Start | None
    ) -> Iterator[Solved]:
        """Share out chains of lanes that differ in C alone over the threads."""
        chains: dict[tuple[int, int], list[int]] = {}
        for k in sorted(chosen, key=lambda k: (lanes[k].C, k)):
            chains.setdefault((lanes[k].fold, lanes[k].target), []).append(k)
        each, n_jobs = list(chains.values()), max(1, self.solver_options.n_jobs)
        blocks = [
            [k for chain in each[first::n_jobs] for k in chain]
            for first in range(min(n_jobs, len(each)))
        ]
        end = Cancellation()
        if len(blocks) == 1:
            yield from self._solve_block(lanes, blocks[0], start, end)
        elif blocks:
            _ = self._tiles, self._gram
            for parts in parallel_map(
                blocks, lambda block: list(self._solve_block(lanes, block, start, end)), n_jobs, end
            ):
                yield from parts

    def _solve_block(
        self, lanes: Sequence[Lane], block: list[int], start: Start | None, end: Cancellation
    ) -> Iterator[Solved]:
        """Solve lanes from small to large C, each warm-started from the one before."""
        order = sorted(block, key=lambda k: (lanes[k].C, k))
        kept: dict[tuple[int, int], Floats] = {}
        for _, group in groupby(order, key=lambda k: lanes[k].C):
            end.raise_if_abandoned()
            indices = list(group)
            batch = _Batch.of(self.problem, [lanes[k] for k in indices], self._size)
            for at, lane in enumerate(batch.lanes):
                before = kept.get((lane.fold, lane.target))
                if before is not None:
                    batch.weights[at] = before
                elif start is not None:
                    batch.set_weights(at, *self._start_of(start, indices[at]))
            yield self._solve_batch(batch, indices, end)
            for at, lane in enumerate(batch.lanes):
                kept[lane.fold, lane.target] = batch.weights[at].copy()

    def _start_of(self, start: Start, index: int) -> tuple[Floats, Floats]:
        """Return the starting weights of a lane, (m, K) in the columns of the tiles, and b."""
        K = self._width
        one = start.take(list(range(index * K, (index + 1) * K)))
        weights = self.problem.rmatvec(one.dual) if one.weights is None else one.weights
        weights = np.asarray(weights, dtype=np.float64)
        if self._space is None:
            centre = self._centre
            return weights, one.intercept + (0.0 if centre is None else centre @ weights)
        return self._space.starts(weights.T).T, np.zeros(len(one.intercept))

    # ------------------------------------------------------------------ one C

    def _solve_batch(self, batch: _Batch, indices: list[int], end: Cancellation) -> Solved:
        """Solve lanes of one C."""
        on_pass = partial(end.report, self.solver_options.callback)
        if not self._is_certified:
            solved = self._estimated(batch, indices, on_pass)
            if solved is not None:
                return solved
        return self._certified(batch, indices, on_pass, end)

    def _certified(
        self,
        batch: _Batch,
        indices: list[int],
        on_pass: Callable[[int, float], bool],
        end: Cancellation,
    ) -> Solved:
        """Solve for a duality gap by L-BFGS; continue with Newton steps where that misses."""
        most = self.solver_options.max_iter
        results = self._minimise(
            self._tiles,
            batch,
            (0.0, 0.0),
            FIRST_GAP * self.tol,
            min(FALLBACK_PASSES, most),
            on_pass,
        )
        passes = results[:, 3].astype(np.int64)
        solvers = ["lbfgs"] * len(indices)
        parts: list[CertifiedSolution] = []
        for k in range(len(indices)):
            one, best = batch.take(k), None
            can_continue = passes[k] < most and not end.stop_requested.is_set()
            if results[k, 4] or not can_continue:
                best = self._certify(one)
            if can_continue and not self._is_done(best):
                left = min(most - int(passes[k]), NEWTON_PASSES)
                best, more = self._newton(one, best, left, on_pass)
                passes[k], solvers[k] = passes[k] + more, "newton-cg"
                if not best.certificates[0].converged and not end.stop_requested.is_set():
                    best, more, solvers[k] = self._fall_back_from(best, one.lanes[0])
                    passes[k] += more
            assert best is not None
            parts.append(best if self._is_certified else _without_certificate(best))
        return Solved(indices, CertifiedSolution.side_by_side(parts), passes, solvers)

    def _is_done(self, one: CertifiedSolution | None) -> bool:
        return one is not None and one.certificates[0].relative_gap <= self.tol

    def _estimated(
        self, batch: _Batch, indices: list[int], on_pass: Callable[[int, float], bool]
    ) -> Solved | None:
        """Solve in float32 for an estimated distance from the optimum; None: not all lanes did."""
        most = min(SEARCH_FALLBACK_PASSES, self.solver_options.max_iter)
        tiles = (self._float64 if self._is_tiny else self._float32)[0]
        tols = (TINY_SEARCH_TOL, TINY_SEARCH_RATIO) if self._is_tiny else (SEARCH_TOL, SEARCH_RATIO)
        results = self._minimise(tiles, batch, tols, 0.0, most, on_pass)
        if not results[:, 4].all() and most < self.solver_options.max_iter:
            return None
        weights, b, scores = self._scores(batch)
        solution = CertifiedSolution(weights, b, scores, [], np.empty((0, len(b))), self._width)
        passes = results[:, 3].astype(np.int64)
        return Solved(indices, solution, passes, ["lbfgs"] * len(indices))

    def _newton(
        self,
        batch: _Batch,
        best: CertifiedSolution | None,
        most: int,
        on_pass: Callable[[int, float], bool],
    ) -> tuple[CertifiedSolution, int]:
        """Solve one lane by truncated Newton steps; return the best solution and the passes taken.

        Steps: 1. value, gradient and curvature of each row; 2. a step by conjugate gradients,
        preconditioned with the Hessian at the mean curvature of the classes; 3. the dual point of
        the step, whose weights are those at its end up to the residual; 4. line search.
        """
        lane, w = batch.lanes[0], batch.weights[0]
        C = lane.C / self.problem.value
        code = batch.code[0]
        gradient, curvature = np.zeros_like(w), np.zeros(self.problem.rows.n_rows)
        expand = partial(self._tiles.expand, C, lane.fold, lane.target, code)
        value, passes, idle = expand(w, gradient, curvature), 1, 0  # 1
        while passes < most and idle < MAX_IDLE_STEPS:
            total = C * float(curvature.sum())
            scale = 1.0 / math.sqrt(total) if self.problem.fit_intercept and total > 0 else 0.0
            basis = _inverse_root(self._weighted_gram(C * curvature))
            step = np.zeros_like(w)
            residual_tol = 2 * RESIDUAL_FRACTION * self.tol * value
            slope, residual, products = self._tiles.newton_step(  # 2
                C, basis, scale, gradient, value, residual_tol, most - passes, step
            )
            passes += int(products)
            if -slope <= CERTIFIED_DECREASE * value and residual <= 2 * self.tol * value:
                solution = self._certify_step(batch, step)  # 3
                best = solution if best is None or solution.is_better_than(best) else best
            reached = np.inf if best is None else best.certificates[0].relative_gap
            if reached <= self.tol or on_pass(passes, reached) or not slope < 0:
                break
            length, new = 1.0, np.inf  # 4
            while length >= MIN_STEP:
                new = expand(w + length * step, gradient, curvature)
                passes += 1
                if new <= value + 1e-4 * length * slope + ROUNDING * value:
                    break
                length *= 0.5
            if length < MIN_STEP:
                break
            w += length * step
            idle = 0 if new < value - ROUNDING * value else idle + 1
            value = new
        if best is None or not self._is_done(best):
            last = self._certify(batch)
            best = last if best is None or last.is_better_than(best) else best
        return best, passes

    def _minimise(
        self,
        tiles: Any,
        batch: _Batch,
        decrement_tols: tuple[float, float],
        gap_tol: float,
        most: int,
        on_pass: Callable[[int, float], bool],
    ) -> Floats:
        """Run L-BFGS; return value, gap, decrement, passes and convergence of each lane."""
        problem, C = self.problem, batch.lanes[0].C / self.problem.value
        curvature = JOINT_CURVATURE if self._is_joint else CURVATURE
        total = float(problem.rows.n_rows if problem.weight is None else problem.weight.sum())
        scale = 1.0 / math.sqrt(curvature * C * total) if problem.fit_intercept else 0.0
        results = np.zeros((len(batch.lanes), 5))
        reporter = None if self.solver_options.callback is None else on_pass
        tiles.solve(
            C,
            np.array([lane.fold for lane in batch.lanes], np.int32),
            np.array([lane.target for lane in batch.lanes], np.int32),
            batch.code,
            self._basis(curvature * C),
            scale,
            decrement_tols[0] * C * batch.null_loss,
            decrement_tols[1],
            gap_tol,
            most,
            reporter,
            batch.weights,
            results,
        )
        return results

    def _fall_back_from(
        self, best: CertifiedSolution, lane: Lane
    ) -> tuple[CertifiedSolution, int, str]:
        """Solve one lane by the fallback, started from a solution; return the better one."""
        start = Start(np.zeros(best.scores.shape), best.intercept, best.weights)
        other = next(iter(self.fallback.solve([lane], start)))
        if not other.solution.is_better_than(best):
            return best, int(other.passes[0]), "newton-cg"
        return other.solution, int(other.passes[0]), other.solvers[0]

    def _fall_back(
        self, lanes: Sequence[Lane], chosen: list[int], start: Start | None
    ) -> Iterator[Solved]:
        columns = [k * self._width + one for k in chosen for one in range(self._width)]
        before = None if start is None else start.take(columns)
        for solved in self.fallback.solve([lanes[k] for k in chosen], before):
            yield Solved(
                [chosen[k] for k in solved.lane_indices],
                solved.solution,
                solved.passes,
                solved.solvers,
            )

    # ------------------------------------------------------------------ solutions

    def _certify(self, batch: _Batch) -> CertifiedSolution:
        """Certify the weights of one lane with the dual point of their own probabilities."""
        problem, lane, tol = self.problem, batch.lanes[0], self._reported_tol
        weights, b, scores = self._scores(batch)
        if self._is_joint:
            return certify_at_own_probabilities(problem, lane, weights, b, scores, tol)
        y, c = problem.targets(lane), problem.costs(lane)
        p = 0.5 * (1.0 - np.tanh(0.5 * y * scores[:, 0]))
        z, curvature = c * y * p, c * p * (1.0 - p)
        if problem.fit_intercept and curvature.any():  # to first order, the dual of the best b
            z -= curvature * (z.sum() / curvature.sum())
            z = problem.loss.clip_dual(y, c, z)
        return certify(problem, [lane], z[:, None], tol, weights, b)

    def _certify_step(self, batch: _Batch, step: Floats) -> CertifiedSolution:
        """Certify the end of a Newton step with the dual point of the linearised gradient."""
        problem, tol, lane = self.problem, self._reported_tol, batch.lanes[0]
        _, _, scores = self._scores(batch)
        ahead = replace(batch, weights=batch.weights + step)
        weights, b, after = self._scores(ahead)
        with np.errstate(invalid="ignore"):
            ds = np.where(np.isfinite(after), after - scores, 0.0)
        if self._is_joint:
            label, c = problem.target.astype(np.int32, copy=False), problem.costs(lane)
            q = np.exp(log_softmax(scores)[0])
            ones = np.ones(len(q))
            p = q + hessian_product(ones, q, ds)
            if problem.fit_intercept:  # conjugate gradients leave a residual: class totals
                weighted = q * c[:, None]
                hessian = np.diag(weighted.sum(axis=0)) - weighted.T @ q
                db = lstsq(hessian, totals(label, c, self._width) - c @ p)
                p += hessian_product(ones, q, np.broadcast_to(db, q.shape))
            return certify_softmax(problem, [lane], np.maximum(p, 0.0), tol, weights, b)
        y, c = problem.targets(lane), problem.costs(lane)
        gradient, curvature = cast("SmoothLoss", problem.loss).derivatives(y, scores[:, 0], c)
        z = -(gradient + curvature * ds[:, 0])
        if problem.fit_intercept and curvature.any():
            z -= curvature * (z.sum() / curvature.sum())
        z = problem.loss.clip_dual(y, c, z)
        return certify(problem, [lane], z[:, None], tol, weights)

    def _scores(self, batch: _Batch) -> tuple[Floats, Floats, Floats]:
        """Return weights, intercepts and scores in the problem's columns; absent classes: -inf."""
        u, b, present = batch.columns(self._width)
        weights = np.ascontiguousarray(u if self._space is None else self._space.weights(u))
        scores = self.problem.matvec(weights)
        if self._space is not None:  # its columns are centred elsewhere
            b = b + (self._space.rows(np.arange(1)) @ u - scores[:1])[0]
        if self._centre is not None:
            b = b - self._centre @ weights
        b = np.where(present, b, -np.inf)
        scores += b
        return weights, b, scores

    # ------------------------------------------------------------------ rows

    @cached_property
    def _space(self) -> RowSpace | None:
        n, d = self.problem.rows.shape
        return RowSpace(self.problem) if n < d else None

    def _blocks(self) -> Iterator[tuple[int, Floats]]:
        """Yield the first row and the values of each block, centred and scaled."""
        if self._space is not None:
            yield 0, self._space.rows(np.arange(self.problem.rows.n_rows))
            return
        problem, scale = self.problem, self.problem.columns.scale
        blocks = spread_blocks(problem) if problem.rows.is_sparse else problem.blocks()
        for start, block in blocks:
            scaled = block if scale is None else block * scale
            if self._centre is not None:
                scaled = scaled - self._centre
            yield start, np.ascontiguousarray(scaled)

    @cached_property
    def _centre(self) -> Floats | None:
        """Means of sparse columns, which the problem leaves where they are, in its units."""
        problem = self.problem
        if not problem.rows.is_sparse or not problem.fit_intercept:
            return None
        mean: Floats = problem.rmatvec(np.ones((problem.rows.n_rows, 1)))[:, 0]
        return mean / problem.rows.n_rows

    @property
    def _size(self) -> int:
        return self.problem.rows.n_features if self._space is None else self._space.size

    def _tiled(self, *, is_float32: bool) -> tuple[native.LogisticLanes, Floats]:
        """Return the rows in tiles, and Z'Z with the weights of the rows.

        Correlations are estimated from a sample if there are many rows.
        """
        problem, m = self.problem, self._size
        label = np.ascontiguousarray(problem.target, dtype=np.int32)
        tiles = native.LogisticLanes(m, label, problem.weight, problem.fold, is_float32)
        step = max(1, problem.rows.n_rows // max(SAMPLE_ROWS, SAMPLE_ROWS_PER_COLUMN * m))
        gram, squares = np.zeros((m, m)), np.zeros(m)
        for start, block in self._blocks():
            tiles.set_rows(start, block)
            weighted = block
            if problem.weight is not None:
                weighted = block * np.sqrt(problem.weight[start : start + len(block), None])
            if step > 1:
                squares += np.einsum("ij,ij->j", weighted, weighted)
                weighted = np.ascontiguousarray(weighted[-start % step :: step])
            if len(weighted):
                add_rows_to_scatter(gram, weighted)
        fill_lower(gram)
        if step > 1:
            sampled = gram.diagonal().copy()
            root = np.sqrt(np.divide(squares, sampled, out=np.ones(m), where=sampled > 0))
            gram *= root
            gram *= root[:, None]
            gram[np.diag_indices(m)] = squares
        return tiles, gram

    @cached_property
    def _float64(self) -> tuple[native.LogisticLanes, Floats]:
        return self._tiled(is_float32=False)

    @cached_property
    def _float32(self) -> tuple[native.LogisticLanes, Floats]:
        return self._tiled(is_float32=True)

    @property
    def _tiles(self) -> native.LogisticLanes:
        return self._float64[0]

    @property
    def _gram(self) -> Floats:
        return (self._float64 if self._is_certified or self._is_tiny else self._float32)[1]

    def _weighted_gram(self, c: Floats) -> Floats:
        """Return Z'diag(c)Z."""
        gram, root = np.zeros((self._size, self._size)), np.sqrt(c)
        for start, block in self._blocks():
            add_rows_to_scatter(gram, block * root[start : start + len(block), None])
        fill_lower(gram)
        return gram

    @cached_property
    def _eigen(self) -> tuple[Floats, Floats]:
        values, vectors = eigh(self._gram, check_finite=False)
        return np.maximum(values, 0.0), vectors

    def _basis(self, curvature: float) -> Floats:
        """Return A with AA' = (I + curvature Z'Z)^-1."""
        if self._is_certified:
            return _inverse_root(curvature * self._gram)
        values, vectors = self._eigen  # many C: one decomposition for all
        return np.ascontiguousarray(vectors / np.sqrt(1.0 + curvature * values))


def _inverse_root(gram: Floats) -> Floats:
    """Return A with AA' = (I + gram)^-1; the diagonal of I + gram if it is singular."""
    matrix = gram.copy()
    matrix[np.diag_indices(len(matrix))] += 1.0
    size = np.sqrt(matrix.diagonal())  # equilibrated, as columns differ in scale
    try:
        factor = np.linalg.cholesky(matrix / size / size[:, None])
    except np.linalg.LinAlgError:
        return np.diag(1.0 / size)
    inverse = solve_triangular(factor, np.eye(len(matrix)), lower=True, check_finite=False)
    return np.ascontiguousarray(inverse.T / size[:, None])


@dataclass(frozen=True)
class _Batch:
    """Lanes of one C.

    Parameters
    ----------
    lanes : list of Lane
    code : ndarray of int32, shape (L, K) or (L, 0)
        The weight vector of each class, -1 if it is absent from the lane; no column if binary.
    null_loss : ndarray, shape (L,)
        Loss of the intercept-only model, for C = 1.
    weights : ndarray, shape (L, K, m + 1)
        One vector for each class present, with its intercept.
    """

    lanes: list[Lane]
    code: NDArray[np.int32]
    null_loss: Floats
    weights: Floats = field(repr=False)

    @classmethod
    def of(cls, problem: Problem, lanes: list[Lane], size: int) -> _Batch:
        """Return lanes with ``size`` weights for each class, all 0."""
        K = problem.n_classes if problem.n_classes > 2 else 0
        code = np.zeros((len(lanes), K), np.int32)
        null_loss = np.zeros(len(lanes))
        weight = np.ones(problem.rows.n_rows) if problem.weight is None else problem.weight
        label = problem.target.astype(np.int32, copy=False)
        for k, lane in enumerate(lanes):
            c = weight if problem.fold is None else np.where(problem.fold == lane.fold, 0.0, weight)
            of_class = totals(label, c, max(K, int(label.max(initial=0)) + 1))
            if lane.target != TOGETHER:
                positive = float(of_class[lane.target]) if lane.target < len(of_class) else 0.0
                of_class = np.array([positive, float(of_class.sum()) - positive])
            present = of_class > 0
            share = of_class[present] / of_class.sum()
            null_loss[k] = -float(of_class[present] @ np.log(share))
            if K:
                code[k] = np.where(present, np.cumsum(present) - 1, -1)
        return cls(lanes, code, null_loss, np.zeros((len(lanes), max(K, 1), size + 1)))

    def take(self, at: int) -> _Batch:
        """Return one lane; its weights are views."""
        one = slice(at, at + 1)
        return _Batch(self.lanes[one], self.code[one], self.null_loss[one], self.weights[one])

    def set_weights(self, at: int, weights: Floats, intercept: Floats) -> None:
        """Write the weights of a lane, (m, K), and its intercepts."""
        present = np.ones(1, np.bool_) if self.code.shape[1] == 0 else self.code[at] >= 0
        end = int(present.sum())
        self.weights[at, :end, :-1] = weights[:, present].T
        self.weights[at, :end, -1] = np.where(np.isfinite(intercept), intercept, 0.0)[present]

    def columns(self, width: int) -> tuple[Floats, Floats, NDArray[np.bool_]]:
        """Return weights, (m, L K), intercepts and which classes are present."""
        if width == 1:
            return self.weights[:, 0, :-1].T, self.weights[:, 0, -1], np.ones(len(self.lanes), bool)
        present = self.code >= 0
        every = np.zeros((len(self.lanes), width, self.weights.shape[2]))
        for k, some in enumerate(present):
            every[k, some] = self.weights[k, : int(some.sum())]
            every[k, some] -= every[k, some].mean(axis=0)  # softmax: sums over classes are free
        flat = every.reshape(-1, self.weights.shape[2])
        return flat[:, :-1].T, flat[:, -1], present.ravel()


def _without_certificate(one: CertifiedSolution) -> CertifiedSolution:
    empty = np.empty((0, len(one.intercept)))
    return CertifiedSolution(one.weights, one.intercept, one.scores, [], empty, one.width)
