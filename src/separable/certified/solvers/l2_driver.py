"""Driver of l2-penalised binary problems and SVR: choice of solver and fallbacks."""

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
from separable.certified.solvers.options import SolverOptions
from separable.certified.solvers.parallel import Cancellation, parallel_map
from separable.certified.solvers.second_order import SecondOrderSolver
from separable.certified.solvers.semismooth_newton import (
    NewtonRows,
    NewtonStart,
    semismooth_newton,
)
from separable.linalg.blas import one_blas_thread
from separable.losses.base import is_smooth

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from separable.certified.problem import Lane, Problem
    from separable.typing import Floats

    OnPass = Callable[[int, float], bool]

__all__ = ["L2Solver", "Solved"]

#: Second-order solvers (d x d systems) are first choice up to this min(n, d).
MAX_SECOND_ORDER_SIZE = 512
#: They are the fallback of dual coordinate descent, and solve C = inf, up to this min(n, d).
MAX_FALLBACK_SIZE = 2000
#: The smallest tol for passes in float32; smaller ones need float64.
FLOAT32_TOL = 1e-7
#: Passes of dual coordinate descent before falling back to another solver.
FALLBACK_PASSES = 60
#: What `Solved` calls the solvers of a path.
ENGINES = {"semismooth_newton": "semismooth-newton", "interior_point": "interior-point"}
#: Weights with a larger relative gap are no warm start for the fallback.
MAX_START_GAP = 0.5
#: A smaller tol asks for all digits that there are.
ROUNDING_TOL = 1e-14
#: At the default tol, piecewise linear losses go on to rounding up to this many cells times
#: classes: scikit-learn's checks compare weights of small problems to seven digits.
MAX_CELLS_TO_ROUNDING = 20_000
#: The default tol; of smooth losses with many columns.
TOL_SMALL, TOL_LARGE = 1e-6, 1e-4


@dataclass(frozen=True)
class Solved:
    """A batch of solved lanes.

    Parameters
    ----------
    lane_indices : list of int
        Indices of the lanes.
    solution : CertifiedSolution
    passes : ndarray, shape (k,)
    solvers : list of str
        The solver of each lane: "newton", "semismooth-newton", "interior-point", "descent" or
        "newton-cg".
    """

    lane_indices: list[int]
    solution: CertifiedSolution
    passes: NDArray[np.int64]
    solvers: list[str]


@dataclass(frozen=True)
class L2Solver:
    """Solver of l2-penalised binary classification and support vector regression.

    Parameters
    ----------
    problem : Problem
    solver_options : SolverOptions
    order : tuple of str
        The solvers of a piecewise linear loss; see `policy`.
    """

    problem: Problem
    solver_options: SolverOptions = field(default_factory=SolverOptions)
    order: tuple[str, ...] = ("semismooth_newton", "interior_point")

    @cached_property
    def is_second_order(self) -> bool:
        """Whether lanes are solved one by one, by a second-order solver."""
        if not self._is_smooth:
            return self.order[0] != "dual_cd"
        if self.solver_options.force is not None:
            return self.solver_options.force != "dual_cd"
        return min(self.problem.rows.shape) <= MAX_SECOND_ORDER_SIZE or self.problem.is_small

    @property
    def _is_smooth(self) -> bool:
        return is_smooth(self.problem.loss)

    @property
    def tol(self) -> float:
        """The requested relative gap."""
        if self.solver_options.tol is not None:
            return self.solver_options.tol
        return TOL_SMALL if self.is_second_order or not self._is_smooth else TOL_LARGE

    def _goes_to_rounding(self, lanes: Sequence[Lane]) -> bool:
        """Whether a piecewise linear loss is solved to rounding: asked for, or cheap."""
        if self.tol < ROUNDING_TOL:
            return True
        cells = self.problem.rows.n_rows * self.problem.rows.n_features
        models = len({lane.target for lane in lanes})
        return self.solver_options.tol is None and cells * models <= MAX_CELLS_TO_ROUNDING

    def solve(self, lanes: Sequence[Lane], start: Start | None = None) -> Iterator[Solved]:
        """Yield the models of all lanes in batches; the order depends on the lanes only.

        Parameters
        ----------
        lanes : sequence of Lane
        start : Start, optional
            Warm start of all lanes.
        """
        blocks = list(self._blocks(lanes))
        with one_blas_thread():
            yield from self._solve(lanes, blocks, start, Cancellation())

    def _solve(
        self, lanes: Sequence[Lane], blocks: list[list[int]], start: Start | None, end: Cancellation
    ) -> Iterator[Solved]:
        """Yield the batches of all blocks, in their order."""
        if self.solver_options.n_jobs > 1 and len(blocks) > 1:
            self._prepare()
        to_rounding = self._goes_to_rounding(lanes)
        learn = partial(self._learn, lanes, start=start, to_rounding=to_rounding, end=end)
        yield from parallel_map(blocks, learn, self.solver_options.n_jobs, end)

    def _blocks(self, lanes: Sequence[Lane]) -> Iterator[list[int]]:
        """Yield blocks of lanes, each for one thread: lanes of similar C side by side.

        Lanes solved one by one form a path for each class and fold, from small to large C.
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
        """Compute what threads share before they start."""
        if not self._is_smooth and self.is_second_order:
            _ = self._newton_rows
        elif self.is_second_order:
            self._second_order.prepare()
        else:
            _ = self._passed

    @cached_property
    def _second_order(self) -> SecondOrderSolver:
        return SecondOrderSolver(self.problem)

    @cached_property
    def _newton_rows(self) -> NewtonRows:
        return NewtonRows.of(self.problem)

    @cached_property
    def _passed(self) -> PassedRows:
        return PassedRows.of(self.problem, self._pass_type)

    @property
    def _pass_type(self) -> np.dtype[Any]:
        return np.dtype(np.float64 if self.tol < FLOAT32_TOL else np.float32)

    def _learn(
        self,
        lanes: Sequence[Lane],
        block: list[int],
        *,
        start: Start | None,
        to_rounding: bool,
        end: Cancellation,
    ) -> Solved:
        """Solve the lanes of a block."""
        mine = [lanes[k] for k in block]
        on_pass = partial(end.report, self.solver_options.callback)
        first = None if start is None else Start(start.dual[:, block], start.intercept[block])
        if not self._is_smooth and self.is_second_order:
            return self._learn_path(mine, block, first, on_pass, end, to_rounding=to_rounding)
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
        """Solve a path: each lane is warm-started from the one before."""
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

    def _learn_path(
        self,
        lanes: list[Lane],
        block: list[int],
        start: Start | None,
        on_pass: OnPass,
        end: Cancellation,
        *,
        to_rounding: bool,
    ) -> Solved:
        """Solve a path of a piecewise linear loss."""
        found: list[CertifiedSolution] = []
        passes = np.zeros(len(lanes), np.int64)
        solvers, first = [], None
        if start is not None:
            weights = self.problem.rmatvec(start.dual[:, :1])[:, 0]
            first = NewtonStart(weights, float(start.intercept[0]), start.dual[:, 0])
        for k, lane in enumerate(lanes):
            end.raise_if_abandoned()
            one, passes[k], solver = self._solve_piecewise(
                lane, self.order, first, on_pass, to_rounding=to_rounding
            )
            found.append(one)
            solvers.append(solver)
            if k + 1 < len(lanes):
                first = NewtonStart.after(one, lanes[k + 1].C / lane.C)
        return Solved(block, CertifiedSolution.side_by_side(found), passes, solvers)

    def _solve_piecewise(
        self,
        lane: Lane,
        order: tuple[str, ...],
        start: NewtonStart | None,
        on_pass: OnPass,
        *,
        to_rounding: bool,
    ) -> tuple[CertifiedSolution, int, str]:
        """Solve one lane of a piecewise linear loss by one solver after the other."""
        best, steps, solver = None, 0, ""
        most = self.solver_options.max_iter
        for name in order:
            if name == "semismooth_newton":
                one, more, is_done = semismooth_newton(
                    self.problem,
                    self._newton_rows,
                    lane,
                    tol=self.tol,
                    to_rounding=to_rounding,
                    max_iter=most,
                    start=start,
                    on_step=on_pass,
                )
            else:
                one, more = self._second_order.solve(
                    lane,
                    tol=self.tol,
                    to_rounding=to_rounding,
                    max_iter=most,
                    start=None if start is None else start.weights,
                    on_step=on_pass,
                )
                is_done = True
            steps += more
            if best is None or one.is_better_than(best):
                solver = ENGINES[name]
            best = one if best is None else better(best, one)
            if is_done:
                break
        assert best is not None
        return best, steps, solver

    def _learn_side_by_side(
        self,
        lanes: list[Lane],
        block: list[int],
        start: Start | None,
        on_pass: OnPass,
        end: Cancellation,
    ) -> Solved:
        """Solve lanes by dual coordinate descent; fall back if it did not converge."""
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
        for k in self._unfinished(parts, end):
            near = parts[k].certificates[0].relative_gap <= MAX_START_GAP
            if self._is_smooth:
                first = parts[k].weights[:, 0] if near else None
                one, steps, solver = self._learn_alone(lanes[k], first, on_pass)
            else:
                one, steps, solver = self._solve_piecewise(
                    lanes[k],
                    self.order[1:],
                    NewtonStart.after(parts[k]) if near else None,
                    on_pass,
                    to_rounding=self.tol < ROUNDING_TOL,
                )
            passes[k] += steps
            if one.is_better_than(parts[k]):
                solvers[k] = solver
            parts[k] = better(parts[k], one)
        return Solved(block, CertifiedSolution.side_by_side(parts), passes, solvers)

    def _unfinished(self, parts: list[CertifiedSolution], end: Cancellation) -> list[int]:
        """Return the lanes to fall back for."""
        if self.solver_options.max_iter <= self._fallback_pass or end.stop_requested.is_set():
            return []
        return [k for k, one in enumerate(parts) if not one.certificates[0].converged]

    @property
    def _fallback_pass(self) -> int:
        """Passes before falling back to another solver."""
        if self.solver_options.force == "dual_cd":
            return self.solver_options.max_iter
        return FALLBACK_PASSES

    def _learn_alone(
        self, lane: Lane, weights: Floats | None, on_pass: OnPass
    ) -> tuple[CertifiedSolution, int, str]:
        """Solve one lane of a smooth loss by Newton's method or Newton-CG."""
        n, d = self.problem.rows.shape
        use_cg = min(n, d) > MAX_FALLBACK_SIZE or self.solver_options.force == "newton_cg"
        if use_cg and math.isinf(lane.C):
            raise ValueError(
                f"C=inf, no penalty, is solved with up to {MAX_FALLBACK_SIZE} columns or rows; "
                f"these are {n} x {d}. Choose a finite C, such as 1e6, or fewer columns."
            )
        run: Any = partial(newton_cg, self.problem) if use_cg else self._second_order.solve
        solution, steps = run(
            lane,
            tol=self.tol,
            max_iter=self.solver_options.max_iter,
            start=weights,
            on_step=on_pass,
        )
        return solution, steps, "newton-cg" if use_cg else "newton"
