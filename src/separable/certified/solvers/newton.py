"""Newton's method on the primal for smooth losses, with line search, over (n, K) scores.

Steps are exact for few weights, and truncated conjugate gradients for many (Newton-CG).
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import cast

import numpy as np
from scipy.linalg import LinAlgError

from separable.certified.problem import Lane, Problem
from separable.certified.solvers.newton_system import class_system, diagonal_system, full_system
from separable.certified.solvers.objective import MIN_STEP, ROUNDING, Objective
from separable.certified.solvers.options import NewtonOptions
from separable.certified.solvers.solved import Goal, OneByOne, OnPass, Result, Start
from separable.certified.solvers.stopping import StoppingRule
from separable.data.rows import as_rows
from separable.linalg.design_matrix import DesignMatrix
from separable.losses.row_losses import RowModel
from separable.typing import Floats

Step = tuple[Floats, Floats, Floats, float]  # weights, intercepts, scores, squared residual


class NewtonSolver(OneByOne):
    """Newton's method for the lanes of a smooth loss, one by one.

    Parameters
    ----------
    is_truncated : bool, optional
        Whether steps are by conjugate gradients. None: chosen by size.
    """

    def __init__(
        self,
        problem: Problem,
        options: NewtonOptions | None = None,
        *,
        is_truncated: bool | None = None,
    ) -> None:
        self._problem, self._is_truncated = problem, is_truncated
        self._options = NewtonOptions() if options is None else options

    def prepare(self, goal: Goal) -> None:
        """Compute what threads share before they start."""
        del goal
        _ = self._x(is_truncated=bool(self._is_truncated)) if self._is_few else self._problem.x

    @property
    def _is_few(self) -> bool:
        return min(self._problem.rows.shape) <= self._options.max_gram_columns

    def _x(self, *, is_truncated: bool) -> DesignMatrix:
        """Return the design matrix; products alone need no dense rows."""
        n, d = self._problem.rows.shape
        if not self._is_few or (is_truncated and n >= d):
            return self._problem.x
        return self._problem.compact_x

    def solve(self, lanes: list[Lane], start: Start | None, goal: Goal, on_pass: OnPass) -> Result:
        """Solve one lane."""
        (lane,) = lanes
        weights = None if start is None else start.weights_of(self._problem)
        objective = Objective(self._problem, lane)
        is_truncated = self._truncates(objective)
        if not objective.penalty:
            self._check_unpenalized(objective)
            is_truncated = False
        elif weights is None:
            weights = self._guess(lane, goal)
        x = self._x(is_truncated=is_truncated)
        rule = StoppingRule(
            lambda dual, w: objective.certify(dual, w, goal.tol),
            tol=goal.tol,
            to_rounding=goal.to_rounding,
            on_step=None if is_truncated else on_pass,
        )
        options = self._options
        truncated = _Truncated(x, objective, options, rule, goal.max_iter, on_pass)
        make_step = truncated if is_truncated else _Exact(x, objective, options)
        first = None if weights is None else x.project(objective.start(weights))
        with np.errstate(over="ignore", under="ignore", invalid="ignore", divide="ignore"):
            dual, u = newton(x, objective, make_step, first, rule, goal.max_iter)
            solution = rule.end(dual, x.expand(u))
        steps = truncated.products if is_truncated else rule.steps
        return Result(solution, np.array([steps]), ["newton-cg" if is_truncated else "newton"])

    def _truncates(self, objective: Objective) -> bool:
        if self._is_truncated is not None:
            return self._is_truncated
        if objective.width == 1:
            return not self._is_few
        weights = objective.width * min(self._problem.rows.shape)
        work = self._problem.rows.n_rows * weights**2 / 2 + weights**3 / 3
        return work > self._options.max_exact_work

    def _check_unpenalized(self, objective: Objective) -> None:
        problem, K = self._problem, objective.width
        if not problem.loss.can_be_unpenalized:
            raise ValueError(
                f"C=inf needs the logistic loss, not {problem.loss.name!r}: choose a finite C."
            )
        n, d = problem.rows.shape
        options = self._options
        most = options.max_gram_columns if K == 1 else options.max_unpenalized_weights // K - 1
        if min(n, d) > most:
            raise ValueError(
                f"C=inf, no penalty, is solved {'' if K == 1 else f'for {K} classes together '}"
                f"with up to {most} columns or rows; these are {n} x {d}. Choose a finite C, such "
                "as 1e6, or fewer columns."
            )

    def _guess(self, lane: Lane, goal: Goal) -> Floats | None:
        """Return a warm start from a sample of the rows; None: too few rows."""
        options, problem, (n, d) = self._options, self._problem, self._problem.rows.shape
        every = options.sample_step
        if n * d <= options.sample_min_cells or n < options.sample_rows_per_column * every * d:
            return None
        sample = slice(None, None, every)
        weight, fold = problem.weight, problem.fold
        part = replace(
            problem,
            rows=as_rows(problem.rows.to_matrix()[sample], check_values=False),
            target=cast("Floats", np.ascontiguousarray(problem.target[sample])),
            weight=None if weight is None else np.ascontiguousarray(weight[sample]),
            fold=None if fold is None else np.ascontiguousarray(fold[sample]),
        )
        same = replace(lane, C=lane.C * every)
        if len(np.unique(part.target[part.costs(same) > 0])) < 2:
            return None
        goal = replace(goal, tol=options.sample_tol, to_rounding=False)
        solver = NewtonSolver(part, options, is_truncated=self._is_truncated)
        return solver.solve([same], None, goal, lambda _, __: False).solution.weights


def newton(
    x: DesignMatrix,
    objective: Objective,
    make_step: _Exact,
    start: Floats | None,
    stopping_rule: StoppingRule,
    max_iter: int,
) -> tuple[Floats, Floats]:
    """Minimise the objective at scores u_k.x_i + b_k over u and b.

    Steps: 1. gradient and curvature of each row; 2. the minimum of the quadratic model, exact or
    truncated; 3. the dual point of its linearised gradient, whose primal weights are those of the
    minimum up to the residual; 4. backtracking line search.

    Parameters
    ----------
    make_step : _Exact or _Truncated
        Returns the step of weights, intercepts and scores, and the squared norm of the residual,
        for the model of the rows, the gradient in weights and intercepts, and a bound on that norm.
    start : ndarray, shape (m, K), or None
        Weights.
    stopping_rule : StoppingRule
        Called after each step.
    max_iter : int
        Maximum number of steps.

    Returns
    -------
    dual : ndarray, shape (n, K)
        The dual point of the last weights.
    u : ndarray, shape (m, K)
    """
    options = make_step.options
    u = np.zeros((x.shape[1], objective.width)) if start is None else start
    s = x.matvec(u)
    b = objective.best_intercepts(s)
    s += b
    first = value = objective(u, s)
    idle = 0
    for _ in range(max_iter):
        model = make_step.expand(s)  # 1
        gradient = x.rmatvec(model.gradient) + objective.penalty * u
        total = model.gradient.sum(axis=0) if objective.fit_intercept else np.zeros(len(b))
        try:
            residual_tol = 2 * options.residual_fraction * stopping_rule.wanted * value
            du, db, ds, residual = make_step(model, gradient, total, residual_tol)  # 2
        except LinAlgError:
            break
        end, rest, seen = u + du, 0.5 * residual, np.inf
        dual, is_feasible = objective.dual_point(model, ds)  # 3
        if is_feasible and rest < options.max_estimated_gap * value:
            primal = objective(end, s + ds)
            gap = objective.rows.gap(dual, s + ds) + rest
            seen = gap / primal if primal > 0 else 0.0
        if stopping_rule(dual, lambda: x.expand(end), seen):  # noqa: B023
            break
        if make_step.is_stopped:
            break
        decrease = -float(np.vdot(gradient, du)) - float(total @ db)
        length, new = objective.backtrack(u, du, s, ds, value, decrease)  # 4
        if length < MIN_STEP or not math.isfinite(new):
            break
        u, b = u + length * du, b + length * db
        s = x.matvec(u) + b
        idle = 0 if new < value - ROUNDING * value else idle + 1
        value = new
        is_separable = not objective.penalty and value < options.separable_ratio * first
        if idle >= options.max_idle_steps or is_separable:
            break
    return objective.rows.expand(s).dual, u


class _Exact:
    """Exact Newton steps."""

    is_stopped = False

    def __init__(self, x: DesignMatrix, objective: Objective, options: NewtonOptions) -> None:
        self._x, self._objective, self.options = x, objective, options

    def expand(self, s: Floats) -> RowModel:
        """Return the second-order model of the losses at scores s."""
        return self._objective.rows.expand(s)

    def __call__(
        self, model: RowModel, gradient: Floats, total: Floats, residual_tol: float
    ) -> Step:
        """Return the step of weights, intercepts and scores, and the squared residual."""
        del residual_tol
        du, db = full_system(self._x, self._objective, model)(-gradient, -total)
        return du, db, self._x.matvec(du) + db, 0.0


class _Truncated(_Exact):
    """Newton steps by preconditioned conjugate gradients, with a count of Hessian products.

    Parameters
    ----------
    on_pass : callable
        Called with the number of products and the relative gap so far; returning True stops.
    """

    def __init__(
        self,
        x: DesignMatrix,
        objective: Objective,
        options: NewtonOptions,
        stopping_rule: StoppingRule,
        max_products: int,
        on_pass: OnPass,
    ) -> None:
        super().__init__(x, objective, options)
        self._rule, self._most, self._on_pass = stopping_rule, max_products, on_pass
        self._curvature: Floats | None = None
        self.products, self.is_stopped = 0, False

    def expand(self, s: Floats) -> RowModel:
        """Return the model of the losses, with curvature that does not fall too fast."""
        model = self._objective.rows.expand(s)
        if self._curvature is not None:
            kept = np.maximum(model.curvature, self.options.curvature_decay * self._curvature)
            model = replace(model, curvature=kept)
        self._curvature = model.curvature
        return model

    def __call__(
        self, model: RowModel, gradient: Floats, total: Floats, residual_tol: float
    ) -> Step:
        """Return a step whose residual is small, relative to the gradient or absolute."""
        x, penalty = self._x, self._objective.penalty
        is_many = x.shape[1] > self.options.max_gram_columns
        inverse = (diagonal_system if is_many else class_system)(x, self._objective, model)
        du, db = np.zeros_like(gradient), np.zeros_like(total)
        moved = np.zeros(model.gradient.shape)
        left, rest = -gradient, -total
        pu, pb = inverse(left, rest)
        size = float(np.vdot(left, pu)) + float(rest @ pb)
        enough = min(self.options.forcing_term, size**0.25 / (1.0 + size) ** 0.25) ** 2 * size
        while size > 0 and not self.is_stopped:
            ds = x.matvec(pu) + pb
            r = model.product(ds)
            image = x.rmatvec(r) + penalty * pu
            sums = r.sum(axis=0) if self._objective.fit_intercept else np.zeros_like(total)
            self._count()
            length = size / (float(np.vdot(pu, image)) + float(pb @ sums))
            if not math.isfinite(length):
                break
            du, db = du + length * pu, db + length * pb
            moved += length * ds
            left, rest = left - length * image, rest - length * sums
            mu, mb = inverse(left, rest)
            new = float(np.vdot(left, mu)) + float(rest @ mb)
            if new <= enough or float(np.vdot(left, left)) <= residual_tol:
                break
            pu, pb = mu + (new / size) * pu, mb + (new / size) * pb
            size = new
        return du, db, moved, float(np.vdot(left, left))

    def _count(self) -> None:
        self.products += 1
        stop = bool(self._on_pass(self.products, self._rule.reached))
        self.is_stopped = stop or self.products >= self._most
