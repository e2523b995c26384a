"""Second-order solvers for few columns or few rows: Newton and interior point."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from separable.certified.design.row_products import (
    DenseProducts,
    RowProducts,
    SparseProducts,
    row_products,
)
from separable.certified.design.row_space import RowSpace
from separable.certified.duality.l2_certifier import CertifiedSolution, certify
from separable.certified.duality.unpenalized import certify_unpenalized
from separable.certified.solvers.interior_point.kkt import KktRows, RowGram
from separable.certified.solvers.interior_point.piecewise_linear_interior import interior_point
from separable.certified.solvers.newton import Objective, newton
from separable.certified.solvers.stopping import StoppingRule
from separable.certified.solvers.working_set import part_of, solve_near_breakpoints
from separable.losses.base import is_smooth

if TYPE_CHECKING:
    from collections.abc import Callable

    from separable.certified.problem import Lane, Problem
    from separable.losses.base import SmoothLoss
    from separable.typing import Floats


__all__ = ["SecondOrderSolver"]

#: Warm-start on every 8th row if that leaves at least 20 rows per column.
SAMPLE_EVERY, ROWS_PER_COLUMN = 8, 20
#: Maximum min(n, d) for dense linear systems, for dense and sparse rows.
MAX_DENSE_SIZE, MAX_DENSE_SIZE_SPARSE = 2000, 512
#: The relative gap of the warm start.
SAMPLE_GAP = 1e-3


class SecondOrderSolver:
    """Newton's method for smooth losses, an interior point for piecewise linear ones.

    Problems with fewer rows than columns are solved in the row space.

    Parameters
    ----------
    problem : Problem
    """

    def __init__(self, problem: Problem) -> None:
        self._problem = problem

    @cached_property
    def _rows(self) -> RowProducts:
        n, d = self._problem.rows.shape
        return RowSpace(self._problem) if n < d else row_products(self._problem)

    @property
    def _is_large(self) -> bool:
        """Whether the interior point chooses its linear solver at each step."""
        rows, fewer = self._problem.rows, min(self._problem.rows.shape)
        if is_smooth(self._problem.loss) or self._problem.is_small or self._has_many_rows:
            return False
        return fewer > MAX_DENSE_SIZE or (rows.is_sparse and fewer > MAX_DENSE_SIZE_SPARSE)

    @cached_property
    def _gram(self) -> RowGram:
        return RowGram(self._problem)

    def _products(self) -> RowProducts:
        """Return the design matrix for one lane."""
        problem = self._problem
        if not self._is_large:
            return self._rows
        if problem.rows.is_sparse:
            return KktRows(SparseProducts(problem), self._gram)
        return KktRows(DenseProducts(problem, problem.blocks, None), self._gram)

    def prepare(self) -> None:
        """Compute what all lanes share before threads start."""
        if self._is_large:
            self._gram.prepare()
        else:
            _ = self._rows

    def solve(
        self,
        lane: Lane,
        *,
        tol: float,
        max_iter: int,
        start: Floats | None = None,
        on_step: Callable[[int, float], Any] | None = None,
        to_rounding: bool = False,
    ) -> tuple[CertifiedSolution, int]:
        """Solve one lane.

        Parameters
        ----------
        lane : Lane
            C = inf, no penalty, is for the logistic loss only.
        tol : float
            The requested relative gap; small problems of smooth losses are solved to rounding.
        max_iter : int
            Maximum number of steps.
        start : ndarray, shape (d,), optional
            Weights for the problem's columns.
        on_step : callable, optional
            Called with the number of a step and the relative gap so far; returning True stops the
            solver.
        to_rounding : bool, default False
            Solve piecewise linear losses to rounding.

        Returns
        -------
        solution : CertifiedSolution
            Of the one lane.
        steps : int
            Each takes two to four passes over the rows.
        """
        loss = self._problem.loss
        to_rounding = self._problem.is_small if is_smooth(loss) else to_rounding
        if np.isinf(lane.C) and loss.name != "log_loss":
            raise ValueError(
                f"C=inf needs the logistic loss, not {loss.name!r}: choose a finite C."
            )
        stopping_rule = self._stopping_rule(lane, tol, to_rounding=to_rounding, on_step=on_step)
        return self._run(lane, stopping_rule, max_iter, start)

    def _run(
        self, lane: Lane, stopping_rule: StoppingRule, max_iter: int, start: Floats | None
    ) -> tuple[CertifiedSolution, int]:
        problem, x = self._problem, self._products()
        penalised = bool(np.isfinite(lane.C))
        if start is None and penalised:
            start = self._guess(lane, max_iter)
        first = None if start is None else x.start(np.ascontiguousarray(start, dtype=np.float64))
        with np.errstate(over="ignore", under="ignore", invalid="ignore", divide="ignore"):
            if is_smooth(problem.loss):
                z, u = newton(
                    x,
                    self._objective(lane),
                    fit_intercept=problem.fit_intercept,
                    start=first,
                    stopping_rule=stopping_rule,
                    max_iter=max_iter,
                )
                return stopping_rule.end(z, x.weights(u)), stopping_rule.steps
            y, c = problem.targets(lane), problem.costs(lane)
            if first is not None and self._has_many_rows:
                u = solve_near_breakpoints(
                    problem, x, y, c, first, stopping_rule=stopping_rule, max_iter=max_iter
                )
                if stopping_rule.is_done or stopping_rule.is_stopped:
                    return stopping_rule.end(np.zeros_like(c), x.weights(u)), stopping_rule.steps
            z, u = interior_point(
                x,
                problem.loss,
                y,
                c,
                fit_intercept=problem.fit_intercept,
                stopping_rule=stopping_rule,
                max_iter=max_iter - stopping_rule.steps,
            )
            return stopping_rule.end(z, x.weights(u)), stopping_rule.steps

    @property
    def _has_many_rows(self) -> bool:
        """Whether there are enough rows per column to warm-start on a sample."""
        n, d = self._problem.rows.shape
        if self._problem.is_small or n < ROWS_PER_COLUMN * SAMPLE_EVERY * d:
            return False
        x = self._rows
        return isinstance(x, SparseProducts) or (
            isinstance(x, DenseProducts) and x.centre is None and not self._problem.rows.is_sparse
        )

    def _objective(self, lane: Lane) -> Objective:
        """Return the objective of Newton's method; without a penalty c is the sample weight."""
        problem, penalty = self._problem, 1.0
        if not np.isfinite(lane.C):
            lane, penalty = replace(lane, C=problem.value), 0.0
        loss = cast("SmoothLoss", problem.loss)
        return Objective(loss, problem.targets(lane), problem.costs(lane), penalty)

    def _stopping_rule(
        self,
        lane: Lane,
        tol: float,
        *,
        to_rounding: bool,
        on_step: Callable[[int, float], Any] | None = None,
    ) -> StoppingRule:
        """Return the stopping rule, which certifies the weights or those of the dual point."""
        problem = self._problem

        def penalised(z: Floats, weights: Floats) -> CertifiedSolution:
            solution = certify(problem, [lane], z[:, None], tol, weights[:, None])
            if solution.certificates[0].converged:
                return solution
            other = certify(problem, [lane], z[:, None], tol)
            return other if other.is_better_than(solution) else solution

        def unpenalised(z: Floats, weights: Floats) -> CertifiedSolution:
            return certify_unpenalized(problem, self._rows, self._objective(lane), z, weights, tol)

        certified_solution = penalised if np.isfinite(lane.C) else unpenalised
        return StoppingRule(certified_solution, tol=tol, to_rounding=to_rounding, on_step=on_step)

    def _guess(self, lane: Lane, max_iter: int) -> Floats | None:
        """Return a warm start from a sample of the rows; None: too few rows."""
        if not self._has_many_rows:
            return None
        part = part_of(self._problem, slice(None, None, SAMPLE_EVERY))
        same = replace(lane, C=lane.C * SAMPLE_EVERY)
        if len(np.unique(part.targets(same)[part.costs(same) > 0])) < 2:
            return None
        solver = SecondOrderSolver(part)
        stopping_rule = solver._stopping_rule(same, SAMPLE_GAP, to_rounding=False)
        solution, _ = solver._run(same, stopping_rule, max_iter, None)
        return solution.weights[:, 0]
