"""Engines behind one certificate: which one takes a problem, and which takes over."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.certified.duality.l2_certifier import CertifiedSolution
from separable.certified.solvers.dual_cd import PassedRows, Start, descend, most_lanes
from separable.certified.solvers.incumbent import better
from separable.certified.solvers.newton_cg import newton_cg
from separable.certified.solvers.parallel import Cancellation, parallel_map
from separable.certified.solvers.second_order import SecondOrderSolver
from separable.linalg.blas import one_blas_thread
from separable.losses.base import is_smooth

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from separable.certified.problem import Lane, Problem
    from separable.typing import Floats

    OnPass = Callable[[int, float], bool]

__all__ = ["L2Solver", "Solved", "SolverOptions"]

#: Up to so many columns, or rows, engines that solve d x d systems take a problem from the start.
MAX_SECOND_ORDER_SIZE = 512
#: Up to so many they take over where passes did not converge, and solve without a penalty.
MAX_FALLBACK_SIZE = 2000
#: Passes in float32 reach relative gaps down to this; smaller ones are asked of float64.
FLOAT32_TOL = 1e-7
#: Unknowns of the largest equations that an interior point solves.
MAX_KKT_SIZE = 4000
#: Passes after which another engine takes over; smooth losses and those with corners.
FALLBACK_PASSES = 60
#: Passes in float64 before an interior point: this times the cube of its unknowns over the numbers
#: of a pass, about a fifth of its time, and at most so many.
FLOAT64_PASS_FACTOR, MAX_FLOAT64_PASSES = 2e-2, 900
#: Weights with a larger relative gap are no start for another solver: it starts from 0.
MAX_START_GAP = 0.5
#: The requested relative gap by default, with few columns and with many.
TOL_SMALL, TOL_LARGE = 1e-6, 1e-4


@dataclass(frozen=True)
class SolverOptions:
    """How well and how long to solve.

    Parameters
    ----------
    tol : float or None
        The requested relative gap. None: 1e-6 with few columns, 1e-4 with many.
    max_iter : int
        Maximum number of passes over the rows.
    seed : int
        Of the order of rows.
    n_jobs : int
        Threads, each with its own blocks of lanes.
    callback : callable, optional
        Called with the number of a pass and the relative gap so far; returning True stops the
        solver.
    """

    tol: float | None = None
    max_iter: int = 1000
    seed: int = 0
    n_jobs: int = 1
    callback: Callable[[int, float], Any] | None = None


@dataclass(frozen=True)
class Solved:
    """Models of some lanes, with what proves them.

    Parameters
    ----------
    lane_indices : list of int
        Which lanes, by number.
    solution : CertifiedSolution
    passes : ndarray, shape (k,)
    solvers : list of str
        What ended each lane's work: "newton", "interior-point", "descent", "newton-cg".
    """

    lane_indices: list[int]
    solution: CertifiedSolution
    passes: NDArray[np.int64]
    solvers: list[str]


@dataclass(frozen=True)
class L2Solver:
    """Learns lanes of one problem.

    Parameters
    ----------
    problem : Problem
    solver_options : SolverOptions
    """

    problem: Problem
    solver_options: SolverOptions = field(default_factory=SolverOptions)

    @cached_property
    def is_second_order(self) -> bool:
        """Whether d x d engines take the problem from the start."""
        return min(self.problem.rows.shape) <= MAX_SECOND_ORDER_SIZE or self.problem.is_small

    @property
    def tol(self) -> float:
        """The requested relative gap."""
        if self.solver_options.tol is not None:
            return self.solver_options.tol
        return TOL_SMALL if self.is_second_order else TOL_LARGE

    def solve(self, lanes: Sequence[Lane], start: Start | None = None) -> Iterator[Solved]:
        """Yield the models of all lanes, some at a time, in an order that depends on lanes alone.

        Parameters
        ----------
        lanes : sequence of Lane
        start : Start, optional
            Where all lanes start.
        """
        blocks = list(self._blocks(lanes))
        with one_blas_thread():
            yield from self._solve(lanes, blocks, start, Cancellation())

    def _solve(
        self, lanes: Sequence[Lane], blocks: list[list[int]], start: Start | None, end: Cancellation
    ) -> Iterator[Solved]:
        """Yield what blocks learn, in their order."""
        if self.solver_options.n_jobs > 1 and len(blocks) > 1:
            self._prepare()
        learn = partial(self._learn, lanes, start=start, end=end)
        yield from parallel_map(blocks, learn, self.solver_options.n_jobs, end)

    def _blocks(self, lanes: Sequence[Lane]) -> Iterator[list[int]]:
        """Yield the lanes that one thread learns, by number: side by side those of like strength.

        Where each lane is learned by itself, those of one class and fold follow each other, from
        small to large C.
        """
        order = sorted(range(len(lanes)), key=lambda k: (lanes[k].C, k))
        chains: dict[tuple[int, int], list[int]] = {}
        for k in order:
            if self.is_second_order or math.isinf(lanes[k].C):
                chains.setdefault((lanes[k].target, lanes[k].fold), []).append(k)
        yield from chains.values()
        alone = {k for chain in chains.values() for k in chain}
        together = [k for k in order if k not in alone]
        width = most_lanes(self._pass_type)
        for first in range(0, len(together), width):
            yield together[first : first + width]

    def _prepare(self) -> None:
        """Make what threads share before they start."""
        if self.is_second_order:
            self._second_order.prepare()
        else:
            _ = self._passed

    @cached_property
    def _second_order(self) -> SecondOrderSolver:
        return SecondOrderSolver(self.problem)

    @cached_property
    def _passed(self) -> PassedRows:
        return PassedRows.of(self.problem, self._pass_type)

    @property
    def _pass_type(self) -> np.dtype[Any]:
        return np.dtype(np.float64 if self.tol < FLOAT32_TOL else np.float32)

    def _learn(
        self, lanes: Sequence[Lane], block: list[int], *, start: Start | None, end: Cancellation
    ) -> Solved:
        """Learn the lanes of a block."""
        mine = [lanes[k] for k in block]
        on_pass = partial(end.report, self.solver_options.callback)
        first = None if start is None else Start(start.dual[:, block], start.intercept[block])
        if self.is_second_order or math.isinf(mine[0].C):
            return self._learn_chain(mine, block, first, on_pass, end)
        return self._learn_side_by_side(mine, block, first, on_pass, end)

    def _learn_chain(
        self,
        lanes: list[Lane],
        block: list[int],
        start: Start | None,
        on_pass: OnPass,
        end: Cancellation,
    ) -> Solved:
        """Learn one lane after the other, each from the weights of the one before."""
        found: list[CertifiedSolution] = []
        passes = np.zeros(len(lanes), np.int64)
        solvers = []
        weights = None if start is None else self.problem.rmatvec(start.dual[:, :1])[:, 0]
        for k, lane in enumerate(lanes):
            end.raise_if_abandoned()
            one, passes[k], solver = self._learn_alone(lane, weights, on_pass)
            found.append(one)
            solvers.append(solver)
            weights = one.weights[:, 0]
        return Solved(block, CertifiedSolution.side_by_side(found), passes, solvers)

    def _learn_side_by_side(
        self,
        lanes: list[Lane],
        block: list[int],
        start: Start | None,
        on_pass: OnPass,
        end: Cancellation,
    ) -> Solved:
        """Learn lanes in one pass; those that it does not bring to an end go to another engine."""
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
        solvers, parts = ["descent"] * len(lanes), [found.lane(k) for k in range(len(lanes))]
        self._continue_in_float64(lanes, parts, passes, on_pass, end)
        for k in self._unfinished(parts, end):
            near = parts[k].certificates[0].relative_gap <= MAX_START_GAP
            first = parts[k].weights[:, 0] if near else None
            one, steps, solver = self._learn_alone(lanes[k], first, on_pass)
            passes[k] += steps
            if one.is_better_than(parts[k]):
                solvers[k] = solver
            parts[k] = better(parts[k], one)
        return Solved(block, CertifiedSolution.side_by_side(parts), passes, solvers)

    def _unfinished(self, parts: list[CertifiedSolution], end: Cancellation) -> list[int]:
        """Return the lanes that another solver is to finish."""
        if self.solver_options.max_iter <= self._fallback_pass or end.stop_requested.is_set():
            return []
        return [k for k, one in enumerate(parts) if not one.certificates[0].converged]

    def _continue_in_float64(
        self,
        lanes: list[Lane],
        parts: list[CertifiedSolution],
        passes: NDArray[np.int64],
        on_pass: OnPass,
        end: Cancellation,
    ) -> None:
        """Go on with passes in float64 while they are cheap beside an interior point.

        In float32, rows that cost much, or are long, hold a relative gap above what is requested.
        """
        most = min(self._float64_passes, self.solver_options.max_iter - self._fallback_pass)
        if is_smooth(self.problem.loss) or most <= 0:
            return
        left, width = self._unfinished(parts, end), most_lanes(np.dtype(np.float64))
        for first in range(0, len(left), width):
            part = left[first : first + width]
            start = CertifiedSolution.side_by_side([parts[k] for k in part])
            found, more = descend(
                self.problem,
                self._passed_float64,
                [lanes[k] for k in part],
                tol=self.tol,
                max_iter=most,
                seed=self.solver_options.seed,
                start=Start(start.dual, start.intercept),
                on_pass=on_pass,
            )
            passes[part] += more
            for at, k in enumerate(part):
                parts[k] = better(parts[k], found.lane(at))

    @cached_property
    def _passed_float64(self) -> PassedRows:
        return PassedRows.of(self.problem, np.dtype(np.float64))

    @cached_property
    def _float64_passes(self) -> int:
        """Passes that cost a part of the steps of an interior point."""
        equations = float(min(*self.problem.rows.shape, MAX_KKT_SIZE)) ** 3
        return int(
            min(
                FLOAT64_PASS_FACTOR * equations / max(1, self.problem.rows.values.size),
                MAX_FLOAT64_PASSES,
            )
        )

    @property
    def _fallback_pass(self) -> int:
        """Passes after which another engine takes over."""
        return FALLBACK_PASSES

    def _learn_alone(
        self, lane: Lane, weights: Floats | None, on_pass: OnPass
    ) -> tuple[CertifiedSolution, int, str]:
        """Learn one lane by Newton's method or an interior point."""
        n, d = self.problem.rows.shape
        smooth = is_smooth(self.problem.loss)
        if min(n, d) <= MAX_FALLBACK_SIZE or not smooth:
            solver = "newton" if smooth else "interior-point"
            run: Any = self._second_order.solve
        elif math.isinf(lane.C):
            raise ValueError(
                f"C=inf, no penalty, is solved with up to {MAX_FALLBACK_SIZE} columns or rows; "
                f"these are {n} x {d}. Choose a finite C, such as 1e6, or fewer columns."
            )
        else:
            solver, run = "newton-cg", partial(newton_cg, self.problem)
        solution, steps = run(
            lane,
            tol=self.tol,
            max_iter=self.solver_options.max_iter,
            start=weights,
            on_step=on_pass,
        )
        return solution, steps, solver
