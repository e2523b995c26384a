"""The driver of all problems with lanes: blocks, warm starts, fallbacks, best points."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from separable.certified.duality.certificate import CertifiedSolution
from separable.certified.problem import TOGETHER
from separable.certified.solvers.coordinate_descent import CoordinateDescent
from separable.certified.solvers.dual_cd import DualCdSolver
from separable.certified.solvers.incumbent import Incumbents, better
from separable.certified.solvers.interior_point.l1_interior_solver import L1InteriorPointSolver
from separable.certified.solvers.interior_point.piecewise_linear_interior import (
    InteriorPointSolver,
)
from separable.certified.solvers.lbfgs import LbfgsSolver
from separable.certified.solvers.newton import NewtonSolver
from separable.certified.solvers.parallel import Cancellation, parallel_map
from separable.certified.solvers.semismooth_newton import SemismoothNewtonSolver
from separable.certified.solvers.signed_newton import SignedNewtonSolver
from separable.certified.solvers.softmax_coordinate_descent import SoftmaxDescent
from separable.certified.solvers.solved import Goal, Solved, Start
from separable.linalg.blas import one_blas_thread

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from separable.certified.problem import Lane, Problem
    from separable.certified.solvers.options import SolverOptions
    from separable.certified.solvers.solved import Solver

__all__ = ["Driver"]

#: A smaller tol asks for all digits that there are.
ROUNDING_TOL = 1e-14
#: Weights with a larger relative gap are no warm start for the next solver.
MAX_START_GAP = 0.5
#: Above this relative gap, passes have left most of the way to the solvers for such points.
FAR = 1e-2


@dataclass(frozen=True)
class Driver:
    """Solver of the lanes of a problem by one or more solvers, one after the other.

    Parameters
    ----------
    order : tuple of str
        The solvers; see `policy`.
    passes : int
        Passes of the first solver, if there is another.
    far : tuple of str
        The solvers after the first where it ends above `FAR`; empty: those of ``order``.
    """

    problem: Problem
    solver_options: SolverOptions
    order: tuple[str, ...]
    passes: int = 1000
    far: tuple[str, ...] = ()

    @property
    def tol(self) -> float:
        """The requested relative gap."""
        return self.solver_options.requested_tol

    @cached_property
    def _solvers(self) -> dict[str, Solver]:
        return {}

    def solver(self, name: str) -> Solver:
        """Return the solver of a name, made when it is needed first."""
        if name not in self._solvers:
            self._solvers.setdefault(name, self._made(name))
        return self._solvers[name]

    def _made(self, name: str) -> Solver:
        options = self.solver_options
        if name == "lbfgs":
            return LbfgsSolver(self.problem, options.lbfgs)
        if name == "dual_cd":
            return DualCdSolver(self.problem, self.tol)
        if name == self.order[-1] and name.endswith("semismooth_newton"):  # nobody takes over
            patient = replace(options.semismooth_newton, max_idle=math.inf)
            return SemismoothNewtonSolver(self.problem, patient)
        if name == "semismooth_newton":
            return SemismoothNewtonSolver(self.problem, options.semismooth_newton)
        if name == "signed_newton":
            return SignedNewtonSolver(self.problem, options.signed_newton)
        if name == "interior_point":
            return InteriorPointSolver(self.problem, options.interior_point)
        if name in ("newton", "newton_cg"):
            is_exact = False if self.order == (name,) else None
            is_truncated = True if name == "newton_cg" else is_exact
            return NewtonSolver(self.problem, options.newton, is_truncated=is_truncated)
        if name == "coordinate_descent":
            kind = SoftmaxDescent if self.problem.n_classes > 2 else CoordinateDescent
            return kind(self.problem, self.tol)
        if name == "l1_interior_point":
            coordinates = self.solver("coordinate_descent")
            assert isinstance(coordinates, CoordinateDescent | SoftmaxDescent)
            return L1InteriorPointSolver(coordinates, options.l1)
        raise ValueError(f"There is no solver {name!r} of problems with an l2 penalty.")

    # ------------------------------------------------------------------ lanes

    def solve(self, lanes: Sequence[Lane], start: Start | None = None) -> Iterator[Solved]:
        """Yield the models of all lanes in batches; the order depends on the lanes only.

        Parameters
        ----------
        start : Start, optional
            Warm start of all lanes.
        """
        known, goal = Incumbents(self.problem, lanes, start), self._goal(lanes)
        end = Cancellation(self.solver_options.callback)
        order = self.order
        if goal.to_rounding and len(order) > 1:  # passes would not get there
            order = tuple(name for name in order if name != "dual_cd")
        finite = [k for k, lane in enumerate(lanes) if math.isfinite(lane.C)]
        unpenalized = [k for k, lane in enumerate(lanes) if not math.isfinite(lane.C)]
        with one_blas_thread():
            for chosen in (finite, unpenalized):
                if not chosen:
                    continue
                if chosen is unpenalized:  # no gap bounds the error of weights there
                    order, goal = self._unpenalized, replace(goal, to_rounding=True)
                run = _Run(self, lanes, order, start, goal, end)
                for solved in run.solve(chosen):
                    yield known.improve(solved)

    @property
    def _unpenalized(self) -> tuple[str, ...]:
        """The solver of C = inf, or one that says why there is none."""
        if self.order[0] in ("coordinate_descent", "l1_interior_point"):
            raise ValueError(
                "C=inf, no penalty, has no l1 part to learn with. Choose a finite C, such as "
                "1e6, or l1_ratio=0."
            )
        return ("newton",) if self.order[0] in ("lbfgs", "dual_cd") else self.order[-1:]

    def _goal(self, lanes: Sequence[Lane]) -> Goal:
        options = self.solver_options
        models = len({lane.target for lane in lanes})
        if any(lane.target == TOGETHER for lane in lanes):
            models = self.problem.n_classes
        to_rounding = self.tol < ROUNDING_TOL
        to_rounding |= options.tol is None and self.problem.is_tiny(models)
        is_silent = options.callback is None and options.n_jobs == 1
        return Goal(
            self.tol,
            options.max_iter,
            to_rounding,
            options.seed,
            options.certified,
            is_silent,
            options.scores_only and not to_rounding,
        )


@dataclass(frozen=True)
class _Run:
    """One run over the lanes of a problem."""

    driver: Driver
    lanes: Sequence[Lane]
    order: tuple[str, ...]
    start: Start | None
    goal: Goal
    end: Cancellation

    def solve(self, chosen: list[int]) -> Iterator[Solved]:
        """Yield the batches of all blocks, in their order."""
        first, n_jobs = self.driver.solver(self.order[0]), self.driver.solver_options.n_jobs
        blocks = first.blocks(self.lanes, chosen, n_jobs)
        if n_jobs == 1 or len(blocks) < 2:
            for block in blocks:
                yield from self._solve_block(block)
            return
        first.prepare(self.goal)
        for parts in parallel_map(
            blocks, lambda block: list(self._solve_block(block)), n_jobs, self.end
        ):
            yield from parts

    def _solve_block(self, block: list[list[int]]) -> Iterator[Solved]:
        """Solve the batches of a block, each warm-started from the one before."""
        last: Solved | None = None
        before: Solved | None = None
        for indices in block:
            self.end.raise_if_abandoned()
            start = self._start_of(indices, last)
            if last is not None and before is not None and start is not None:
                start = self._extrapolated(start, indices, last, before)
            before, last = last, self._solve_batch(indices, start)
            yield self._without_weights(last)

    def _without_weights(self, solved: Solved) -> Solved:
        """Drop weights that nobody needs: of many columns and classes they fill the memory."""
        solution = solved.solution
        if not self.goal.scores_only or solution.certificates:  # incumbents compare objectives
            return solved
        return replace(solved, solution=replace(solution, weights=solution.weights[:0].copy()))

    def _start_of(self, indices: list[int], last: Solved | None) -> Start | None:
        """Return the warm start of a batch: the batch before, at the same probabilities."""
        width = self.driver.problem.n_classes if self.lanes[indices[0]].target == TOGETHER else 1
        if last is not None:
            before = [self.lanes[k] for k in last.lane_indices]
            mine = [self.lanes[k] for k in indices]
            if [(one.target, one.fold) for one in before] == [(o.target, o.fold) for o in mine]:
                return Start.after(last.solution, mine[0].C / before[0].C)
            if (before[-1].target, before[-1].fold) == (mine[0].target, mine[0].fold):  # a path
                return Start.after(last.solution.lane(len(before) - 1), mine[0].C / before[-1].C)
        if self.start is None:
            return None
        return self.start.take([k * width + one for k in indices for one in range(width)])

    def _extrapolated(
        self, start: Start, indices: list[int], last: Solved, before: Solved
    ) -> Start:
        """Return the start on the line through the last two batches of a search, in log C.

        Of classes that can be separated, weights grow with log C.
        """
        three = [[self.lanes[k] for k in some.lane_indices] for some in (before, last)]
        three.append([self.lanes[k] for k in indices])
        models = [[(lane.target, lane.fold) for lane in some] for some in three]
        is_estimated = self.order[0] == "lbfgs" and not self.goal.certified
        if not is_estimated or models[0] != models[2] or models[1] != models[2]:
            return start
        first, second, third = (math.log(some[0].C) for some in three)
        step = min((third - second) / (second - first), 1.0)
        return start.beyond(before.solution, step)

    def _next_solvers(self, part: CertifiedSolution) -> tuple[str, ...]:
        """Return the solvers that go on from where the first one ended."""
        is_far = bool(part.certificates) and not part.certificates[0].relative_gap <= FAR
        return self.driver.far if is_far and self.driver.far else self.order[1:]

    def _solve_batch(self, indices: list[int], start: Start | None) -> Solved:
        """Solve a batch by the first solver, and what it leaves by the others, lane by lane."""
        options = self.driver.solver_options
        lanes, goal = [self.lanes[k] for k in indices], self.goal
        if len(self.order) > 1 and goal.max_iter > self.driver.passes:
            goal = replace(goal, max_iter=self.driver.passes)
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            result = self.driver.solver(self.order[0]).solve(lanes, start, goal, self.end)
            passes, names, done = result.passes, list(result.solvers), result.is_done
            can_continue = len(self.order) > 1 and (passes[~done] < options.max_iter).any()
            if not can_continue:
                return Solved(indices, result.solution, passes, names)
            parts = [result.solution.lane(k) for k in range(len(lanes))]
            for k in np.flatnonzero(~done).tolist():
                for name in self._next_solvers(parts[k]):
                    left = options.max_iter - int(passes[k])
                    if left <= 0 or done[k] or self.end.stop_requested:
                        break
                    known = parts[k].certificates
                    is_near = not known or known[0].relative_gap <= MAX_START_GAP
                    goal = replace(self.goal, max_iter=left, certified=True, scores_only=False)
                    before = Start.after(parts[k]) if is_near else None
                    other = self.driver.solver(name).solve([lanes[k]], before, goal, self.end)
                    passes[k] += other.passes[0]
                    done[k] = other.is_done[0]
                    if not known or other.solution.is_better_than(parts[k]):
                        names[k] = other.solvers[0]
                    parts[k] = better(parts[k], other.solution) if known else other.solution
        if not result.solution.certificates:  # as its other lanes
            parts = [
                replace(part, certificates=[], dual=np.empty((0, len(part.intercept))))
                for part in parts
            ]
        return Solved(indices, CertifiedSolution.side_by_side(parts), passes, names)
