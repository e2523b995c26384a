"""Driver of l2-penalised multinomial logistic regression: choice of solver and fallbacks."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.certified.design.softmax_products import BlockRows, SparseRows, WrittenRows
from separable.certified.duality.l2_certifier import CertifiedSolution
from separable.certified.duality.softmax_l2_certifier import certify_softmax
from separable.certified.duality.softmax_unpenalized import certify_softmax_unpenalized
from separable.certified.solvers.dual_cd import Start
from separable.certified.solvers.incumbent import better
from separable.certified.solvers.l2_driver import (
    FALLBACK_PASSES,
    FLOAT32_TOL,
    MAX_START_GAP,
    TOL_LARGE,
    TOL_SMALL,
    L2Solver,
    Solved,
)
from separable.certified.solvers.newton_cg import Count
from separable.certified.solvers.parallel import parallel_map
from separable.certified.solvers.softmax_dual_cd import descend, most_models
from separable.certified.solvers.softmax_newton import MultinomialObjective, multinomial_newton
from separable.certified.solvers.softmax_newton_steps import (
    MAX_HESSIAN_SIZE,
    ConjugateSteps,
    direct_step,
)
from separable.certified.solvers.stopping import StoppingRule
from separable.losses.softmax import totals

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from separable.certified.design.softmax_products import MultinomialRows
    from separable.certified.problem import Lane, Problem
    from separable.certified.solvers.parallel import Cancellation
    from separable.typing import Floats

    OnPass = Callable[[int, float], bool]

__all__ = ["MultinomialSolver"]

#: Maximum number of weights without a penalty.
MAX_UNPENALIZED_SIZE = 4000
#: Dense rows with more columns start with dual coordinate descent; its passes before the fallback.
MAX_NEWTON_COLUMNS, FALLBACK_PASSES_DENSE = 512, 30
#: Warm start for large C: the ratios of the smaller C, their minimum, their tol and maximum passes.
WARM_START_RATIOS, LARGE_C, WARM_START_TOL, WARM_START_PASSES = (0.01, 0.1), 5.0, 1e-2, 20


@dataclass(frozen=True)
class _Classes:
    """The classes present in a lane, and their objective.

    Parameters
    ----------
    present : ndarray of int
        Their codes.
    objective : MultinomialObjective
    n_classes : int
        Of the problem.
    """

    present: NDArray[np.intp]
    objective: MultinomialObjective
    n_classes: int

    @classmethod
    def of(cls, problem: Problem, lane: Lane) -> _Classes:
        """Return those of the training rows; without a penalty c is the sample weight."""
        penalty = 1.0
        if math.isinf(lane.C):
            lane, penalty = replace(lane, C=problem.value), 0.0
        y, c = problem.target.astype(np.int32, copy=False), problem.costs(lane)
        present = np.flatnonzero(totals(y, c, problem.n_classes) > 0)
        index = np.zeros(problem.n_classes, np.int32)
        index[present] = np.arange(len(present), dtype=np.int32)
        objective = MultinomialObjective(index[y], c, len(present), problem.fit_intercept, penalty)
        return cls(present, objective, problem.n_classes)

    def spread(self, columns: Floats, empty: float = 0.0) -> Floats:
        """Return columns of these classes as columns of all classes."""
        if len(self.present) == self.n_classes:
            return columns
        every = np.full((len(columns), self.n_classes), empty)
        every[:, self.present] = columns
        return every


class MultinomialSolver(L2Solver):
    """Solver of l2-penalised multinomial logistic regression.

    Parameters
    ----------
    problem : Problem
        With ``n_classes``.
    solver_options : SolverOptions
    """

    @cached_property
    def is_second_order(self) -> bool:
        """Whether the default tol is that of small problems."""
        return self.problem.is_small or self._size <= MAX_HESSIAN_SIZE

    @property
    def tol(self) -> float:
        """The requested relative gap."""
        if self.solver_options.tol is not None:
            return self.solver_options.tol
        return TOL_SMALL if self.is_second_order else TOL_LARGE

    @property
    def _size(self) -> int:
        """Number of weights of all classes, in the row space if that is smaller."""
        return self.problem.n_classes * (min(self.problem.rows.shape) + 1)

    def _blocks(self, lanes: Sequence[Lane]) -> Iterator[list[int]]:
        """Yield blocks of lanes of one or more folds, from small to large C."""
        folds = sorted({lane.fold for lane in lanes})
        width = most_models(self._pass_type, self.problem.n_classes) if self._passes else 1
        order = sorted(range(len(lanes)), key=lambda k: (lanes[k].C, k))
        for first in range(0, len(folds), width):
            part = folds[first : first + width]
            yield [k for k in order if lanes[k].fold in part]

    @property
    def _passes(self) -> bool:
        """Whether dual coordinate descent is the first choice."""
        rows = self.problem.rows
        return not self.problem.is_small and (
            rows.is_sparse or rows.n_features > MAX_NEWTON_COLUMNS
        )

    @property
    def _fallback_pass(self) -> int:
        """Passes before falling back to another solver."""
        return FALLBACK_PASSES if self.problem.rows.is_sparse else FALLBACK_PASSES_DENSE

    def _prepare(self) -> None:
        _ = self._rows
        if self._passes:
            _ = self._passed

    @cached_property
    def _rows(self) -> MultinomialRows:
        problem = self.problem
        if problem.is_small:
            return WrittenRows(problem)
        if problem.rows.is_sparse:
            return SparseRows(problem)
        return BlockRows(problem, self._pass_type)

    @property
    def _pass_type(self) -> np.dtype[Any]:
        return np.dtype(np.float64 if self.tol < FLOAT32_TOL else np.float32)

    def _solve(
        self, lanes: Sequence[Lane], blocks: list[list[int]], start: Start | None, end: Cancellation
    ) -> Iterator[Solved]:
        """Yield the batches of all blocks, one C at a time: models of many classes are large."""
        learn = partial(self._learn_chain_of, lanes, start=start, end=end)
        if self.solver_options.n_jobs == 1 or len(blocks) == 1:
            for block in blocks:
                yield from learn(block)
            return
        self._prepare()
        for parts in parallel_map(
            blocks, lambda block: list(learn(block)), self.solver_options.n_jobs, end
        ):
            yield from parts

    def _learn_chain_of(
        self, lanes: Sequence[Lane], block: list[int], *, start: Start | None, end: Cancellation
    ) -> Iterator[Solved]:
        """Solve a path of C, each warm-started from the one before."""
        K, on_pass = self.problem.n_classes, partial(end.report, self.solver_options.callback)
        last: Solved | None = None
        for _, same in groupby(block, key=lambda k: lanes[k].C):
            end.raise_if_abandoned()
            lane_indices = list(same)
            current, before = [lanes[k] for k in lane_indices], start
            if start is not None:
                columns = [k * K + one for k in lane_indices for one in range(K)]
                before = start.take(columns)
            if last is not None:
                before = self._after(last, [lanes[k] for k in last.lane_indices], current)
            earlier = np.zeros(len(current), np.int64)
            if before is None:
                before, earlier = self._warm_start(current, on_pass)
            last = self._learn_lanes(current, lane_indices, before, on_pass, end)
            last = replace(last, passes=last.passes + earlier)
            yield last

    def _warm_start(
        self, lanes: list[Lane], on_pass: OnPass
    ) -> tuple[Start | None, NDArray[np.int64]]:
        """Return a warm start for lanes of large C from smaller ones, and its passes."""
        start: Start | None = None
        passes = np.zeros(len(lanes), np.int64)
        most = len(WARM_START_RATIOS) * WARM_START_PASSES + self._fallback_pass
        C = lanes[0].C
        if not self._passes or not math.isfinite(C) or self.solver_options.max_iter < most:
            return start, passes
        for share in WARM_START_RATIOS:
            if share * C < LARGE_C:
                continue
            smaller = [replace(lane, C=share * lane.C) for lane in lanes]
            found, taken = descend(
                self.problem,
                self._passed,
                smaller,
                tol=WARM_START_TOL,
                max_iter=WARM_START_PASSES,
                seed=self.solver_options.seed,
                start=start,
                on_pass=on_pass,
            )
            start = self._grown(found, 1.0 / share if share == WARM_START_RATIOS[-1] else 10.0)
            passes += taken
        return start, passes

    def _after(self, last: Solved, before: list[Lane], lanes: list[Lane]) -> Start | None:
        """Return the warm start from lanes of another C, at the same probabilities."""
        if [lane.fold for lane in before] != [lane.fold for lane in lanes]:
            return None
        grown = 1.0
        if not any(math.isinf(lane.C) for lane in (*before, *lanes)):
            grown = lanes[0].C / before[0].C
        return self._grown(last.solution, grown)

    def _grown(self, found: CertifiedSolution, times: float) -> Start:
        """Return the warm start for C multiplied by ``times``, at the same probabilities."""
        return Start(found.dual * times, found.intercept, found.weights)

    def _learn_lanes(
        self,
        lanes: list[Lane],
        lane_indices: list[int],
        start: Start | None,
        on_pass: OnPass,
        end: Cancellation,
    ) -> Solved:
        """Solve lanes of one C, side by side if by dual coordinate descent."""
        if self._passes and math.isfinite(lanes[0].C):
            return self._learn_side_by_side(lanes, lane_indices, start, on_pass, end)
        K = self.problem.n_classes
        weights = None if start is None else start.weights
        if start is not None and weights is None:
            weights = self.problem.rmatvec(start.dual)
        found, passes, solvers = [], np.zeros(len(lanes), np.int64), []
        for at, lane in enumerate(lanes):
            first = None if weights is None else weights[:, at * K : (at + 1) * K]
            one, passes[at], solver = self._learn_one(lane, first, on_pass)
            found.append(one)
            solvers.append(solver)
        return Solved(lane_indices, CertifiedSolution.side_by_side(found), passes, solvers)

    def _learn_side_by_side(
        self,
        lanes: list[Lane],
        block: list[int],
        start: Start | None,
        on_pass: OnPass,
        end: Cancellation,
    ) -> Solved:
        """Solve lanes by dual coordinate descent; fall back to Newton-CG if it did not converge."""
        most = self.solver_options.max_iter
        found, passes = descend(
            self.problem,
            self._passed,
            lanes,
            tol=self.tol,
            max_iter=min(self._fallback_pass, most),
            seed=self.solver_options.seed,
            start=start,
            on_pass=on_pass,
        )
        parts = [found.lane(k) for k in range(len(lanes))]
        solvers = ["descent"] * len(lanes)
        for k, one in enumerate(parts):
            if (
                one.certificates[0].converged
                or most <= self._fallback_pass
                or end.stop_requested.is_set()
            ):
                continue
            lost = not one.certificates[0].relative_gap <= MAX_START_GAP
            other, steps, solver = self._learn_one(lanes[k], None if lost else one.weights, on_pass)
            passes[k] += steps
            if other.is_better_than(one):
                solvers[k] = solver
            parts[k] = better(one, other)
        return Solved(block, CertifiedSolution.side_by_side(parts), passes, solvers)

    def _learn_one(
        self, lane: Lane, weights: Floats | None, on_pass: OnPass
    ) -> tuple[CertifiedSolution, int, str]:
        """Solve one lane by Newton's method; continue in float64 if float32 did not converge."""
        run = _Run(self.problem, self._rows, lane, self.tol, on_pass)
        if math.isinf(lane.C):
            self._refuse_large()
            run = replace(run, x=self._exact_rows)
            return *run.direct(weights, self.solver_options.max_iter), "newton"
        if self._size <= MAX_HESSIAN_SIZE and self.problem.is_small:
            return *run.direct(weights, self.solver_options.max_iter), "newton"
        found, products = run.conjugate(weights, self.solver_options.max_iter)
        left = self.solver_options.max_iter - products
        if not found.certificates[0].converged and left > 0 and not run.is_stopped:
            again = replace(run, x=self._exact_rows)
            other, more = again.conjugate(found.weights, left)
            products += more
            found = other if other.is_better_than(found) else found
        return found, products, "newton-cg"

    @property
    def _exact_rows(self) -> MultinomialRows:
        if isinstance(self._rows, BlockRows):
            return BlockRows(self.problem, np.dtype(np.float64))
        return self._rows

    def _refuse_large(self) -> None:
        n, d = self.problem.rows.shape
        if self._size > MAX_UNPENALIZED_SIZE:
            raise ValueError(
                f"C=inf, no penalty, is solved for {self.problem.n_classes} classes together with "
                f"up to {MAX_UNPENALIZED_SIZE // self.problem.n_classes - 1} columns or rows; "
                f"these are {n} x {d}. Choose a finite C, such as 1e6, or fewer columns."
            )


@dataclass
class _Run:
    """Newton's method on one lane."""

    problem: Problem
    x: MultinomialRows
    lane: Lane
    tol: float
    on_pass: OnPass
    is_stopped: bool = False

    def __post_init__(self) -> None:
        self._classes = _Classes.of(self.problem, self.lane)

    def direct(self, weights: Floats | None, max_iter: int) -> tuple[CertifiedSolution, int]:
        """Run Newton's method with the full Hessian; return the solution and its steps."""
        stopping_rule = self._stopping_rule(self.on_pass)
        found = self._newton(direct_step, weights, stopping_rule, max_iter)
        return found, stopping_rule.steps

    def conjugate(self, weights: Floats | None, max_iter: int) -> tuple[CertifiedSolution, int]:
        """Run Newton-CG; return the solution and its Hessian-vector products."""
        stopping_rule = self._stopping_rule(None)
        count = Count(max_iter, stopping_rule, self.on_pass)
        found = self._newton(
            ConjugateSteps(count.one), weights, stopping_rule, max_iter, lambda: count.stopped
        )
        self.is_stopped = count.stopped
        return found, count.products

    def _newton(
        self,
        make_step: Any,
        weights: Floats | None,
        stopping_rule: StoppingRule,
        max_iter: int,
        is_stopped: Callable[[], bool] = bool,
    ) -> CertifiedSolution:
        classes = self._classes
        first = None
        if weights is not None:
            current = weights[:, classes.present]
            first = self.x.start(current - current.mean(axis=1, keepdims=True))
        with np.errstate(over="ignore", under="ignore", invalid="ignore", divide="ignore"):
            p, u = multinomial_newton(
                self.x,
                classes.objective,
                make_step,
                start=first,
                stopping_rule=stopping_rule,
                max_iter=max_iter,
                is_stopped=is_stopped,
            )
            return stopping_rule.end(p, self.x.weights(u))

    def _stopping_rule(self, on_step: OnPass | None) -> StoppingRule:
        """Return the stopping rule, which certifies the weights or those of the dual point."""
        to_rounding = self.problem.is_small
        return StoppingRule(self._certify, tol=self.tol, to_rounding=to_rounding, on_step=on_step)

    def _certify(self, p: Floats, weights: Floats) -> CertifiedSolution:
        problem, lane, classes = self.problem, self.lane, self._classes
        if math.isinf(lane.C):
            return self._unpenalised(p, weights)
        probabilities, every = classes.spread(p), classes.spread(weights)
        found = certify_softmax(problem, [lane], probabilities, self.tol, every)
        if found.certificates[0].converged:
            return found
        other = certify_softmax(problem, [lane], probabilities, self.tol)
        return other if other.is_better_than(found) else found

    def _unpenalised(self, p: Floats, weights: Floats) -> CertifiedSolution:
        classes = self._classes
        found = certify_softmax_unpenalized(
            self.problem, self.x, classes.objective, p, weights, self.tol
        )
        return CertifiedSolution(
            classes.spread(found.weights),
            classes.spread(found.intercept[None, :], -np.inf)[0],
            classes.spread(found.scores, -np.inf),
            found.certificates,
            classes.spread(found.dual),
            classes.n_classes,
        )
