"""Interior-point solver of piecewise linear losses, with working sets of rows."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from separable.certified.duality.gap import certify_better
from separable.certified.solvers.interior_point.kkt import KktRows, RowGram
from separable.certified.solvers.interior_point.piecewise_linear_interior import interior_point
from separable.certified.solvers.interior_point.working_set import part_of, solve_near_breakpoints
from separable.certified.solvers.options import InteriorPointOptions
from separable.certified.solvers.solved import OneByOne, Result
from separable.certified.solvers.stopping import StoppingRule

if TYPE_CHECKING:
    from separable.certified.duality.certificate import CertifiedSolution
    from separable.certified.problem import Lane, Problem
    from separable.certified.solvers.solved import Goal, OnPass, Start
    from separable.linalg.design_matrix import DesignMatrix
    from separable.typing import Floats

__all__ = ["InteriorPointSolver"]


class InteriorPointSolver(OneByOne):
    """An interior point for the lanes of a piecewise linear loss, one by one.

    Problems with fewer rows than columns are solved in the row space.

    Parameters
    ----------
    problem : Problem
    options : InteriorPointOptions, optional
    """

    def __init__(self, problem: Problem, options: InteriorPointOptions | None = None) -> None:
        self._problem = problem
        self._options = InteriorPointOptions() if options is None else options

    def prepare(self, goal: Goal) -> None:
        """Compute what threads share before they start."""
        del goal
        if self._is_large:
            self._gram.prepare()
        else:
            _ = self._problem.compact_x

    @property
    def _is_large(self) -> bool:
        """Whether the interior point chooses its linear solver at each step."""
        (n, d), options = self._problem.rows.shape, self._options
        if n * d <= options.sample.min_cells or self._has_many_rows:
            return False
        is_sparse = self._problem.rows.is_sparse
        return min(n, d) > (options.max_dense_size_sparse if is_sparse else options.max_dense_size)

    @property
    def _has_many_rows(self) -> bool:
        """Whether there are enough rows per column to warm-start on a sample."""
        if not self._options.sample.is_for(*self._problem.rows.shape):
            return False
        return self._problem.compact_x is self._problem.x

    @cached_property
    def _gram(self) -> RowGram:
        return RowGram(self._problem.x, self._options.kkt)

    def _products(self) -> DesignMatrix | KktRows:
        """Return the design matrix for one lane."""
        problem = self._problem
        return KktRows(problem.x, self._gram) if self._is_large else problem.compact_x

    def solve(self, lanes: list[Lane], start: Start | None, goal: Goal, on_pass: OnPass) -> Result:
        """Solve one lane; each step takes two to four passes over the rows."""
        (lane,) = lanes
        problem = self._problem
        if np.isinf(lane.C):
            raise ValueError(
                f"C=inf needs the logistic loss, not {problem.loss.name!r}: choose a finite C."
            )
        rule = StoppingRule(
            lambda z, w: certify_better(problem, lane, z[:, None], goal.tol, w[:, None]),
            tol=goal.tol,
            to_rounding=goal.to_rounding,
            on_step=on_pass,
        )
        weights = None if start is None else start.weights_of(problem)[:, 0]
        if weights is None:
            weights = self._guess(lane, goal)
        with np.errstate(over="ignore", under="ignore", invalid="ignore", divide="ignore"):
            solution = self._run(lane, rule, goal.max_iter, weights)
        is_done = np.array([solution.certificates[0].converged])
        return Result(solution, np.array([rule.steps]), ["interior-point"], is_done)

    def _run(
        self, lane: Lane, rule: StoppingRule, max_iter: int, start: Floats | None
    ) -> CertifiedSolution:
        problem, x = self._problem, self._products()
        y, c = problem.targets(lane), problem.costs(lane)
        if start is not None and self._has_many_rows:
            u = solve_near_breakpoints(
                problem, problem.x, y, c, start, stopping_rule=rule, max_iter=max_iter
            )
            if rule.is_done or rule.is_stopped:
                return rule.end(np.zeros_like(c), problem.x.expand(u))
        z, u = interior_point(
            x,
            problem.loss,
            y,
            c,
            fit_intercept=problem.fit_intercept,
            stopping_rule=rule,
            max_iter=max_iter - rule.steps,
            options=self._options,
        )
        return rule.end(z, x.expand(u))

    def _guess(self, lane: Lane, goal: Goal) -> Floats | None:
        """Return a warm start from a sample of the rows; None: too few rows."""
        if not self._has_many_rows:
            return None
        sample = self._options.sample
        part = part_of(self._problem, slice(None, None, sample.every))
        same = replace(lane, C=lane.C * sample.every)
        if len(np.unique(part.targets(same)[part.costs(same) > 0])) < 2:
            return None
        goal = replace(goal, tol=sample.tol, to_rounding=False)
        solver = InteriorPointSolver(part, self._options)
        result = solver.solve([same], None, goal, lambda _, __: False)
        return result.solution.weights[:, 0]
