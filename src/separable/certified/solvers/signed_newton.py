"""Newton's method for ridge penalties with weights of one sign, on one lane.

Steps minimise the quadratic model under the sign constraints, by block principal pivoting over the
columns at 0 (Kim and Park, 2011), with a line search. The hinge loss is not smooth: there they
minimise augmented Lagrangians, whose multipliers are the dual point (Rockafellar, 1976).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError

from separable.certified.duality.gap import certify
from separable.certified.problem import Lane, Problem
from separable.certified.solvers.options import SignedNewtonOptions
from separable.certified.solvers.solved import Goal, OneByOne, OnPass, Result, Start
from separable.certified.solvers.stopping import StoppingRule
from separable.linalg.cholesky import Cholesky
from separable.penalties.signed_ridge import SignedRidgePenalty
from separable.typing import Floats


class SignedNewtonSolver(OneByOne):
    """Newton's method under sign constraints, for smooth losses and the hinge loss.

    Parameters
    ----------
    problem : Problem
        With a `SignedRidgePenalty`.
    """

    def __init__(self, problem: Problem, options: SignedNewtonOptions | None = None) -> None:
        self._problem = problem
        self._options = SignedNewtonOptions() if options is None else options

    def prepare(self, goal: Goal) -> None:
        """Compute what threads share before they start."""
        del goal
        _ = self._problem.x

    def solve(self, lanes: list[Lane], start: Start | None, goal: Goal, on_pass: OnPass) -> Result:
        """Solve one lane."""
        (lane,) = lanes
        problem = self._problem
        if not math.isfinite(lane.C):
            raise ValueError("Weights of one sign need a penalty: choose a finite C, such as 1e6.")
        rule = StoppingRule(
            lambda dual, weights: certify(problem, [lane], dual, goal.tol, weights),
            tol=goal.tol,
            to_rounding=goal.to_rounding,
            on_step=on_pass,
        )
        search = _Search(problem, lane, rule, self._options, goal.max_iter)
        if start is not None:
            weights = search.penalty.feasible(start.weights_of(problem)[:, 0])
            search.move(weights, search.x @ weights)
        run = search.run_smooth if problem.loss.is_smooth else search.run_hinge
        dual = run()
        solution = rule.end(dual[:, None], search.u[:, None])
        return Result(solution, np.array([rule.steps]), ["signed-newton"])


class _Losses(Protocol):
    """Smooth losses of the rows."""

    def total(self, s: Floats) -> float:
        """Return the sum of the losses."""

    def derivatives(self, s: Floats) -> tuple[Floats, Floats]:
        """Return first and second derivatives."""


@dataclass(frozen=True)
class _Smooth:
    """The losses of a lane."""

    problem: Problem
    lane: Lane

    def total(self, s: Floats) -> float:
        return self.problem.row_losses(self.lane).total(s[:, None])

    def derivatives(self, s: Floats) -> tuple[Floats, Floats]:
        model = self.problem.row_losses(self.lane).expand(s[:, None])
        return model.gradient[:, 0], model.curvature[:, 0]


@dataclass(frozen=True)
class _Lagrangian:
    """Augmented Lagrangian of hinge losses c max(0, 1 - y s) at multipliers a, from 0 to c."""

    y: Floats
    c: Floats
    a: Floats
    sigma: float

    def multipliers(self, s: Floats) -> Floats:
        """Return the next multipliers."""
        return np.clip(self.a + self.sigma * (1.0 - self.y * s), 0.0, self.c)

    def total(self, s: Floats) -> float:
        step = self.multipliers(s) - self.a
        margin = self.y * s + step / self.sigma
        hinge = self.c * np.maximum(1.0 - margin, 0.0)
        return float((hinge + step * (self.a + 0.5 * step) / self.sigma).sum())

    def derivatives(self, s: Floats) -> tuple[Floats, Floats]:
        after = self.a + self.sigma * (1.0 - self.y * s)
        inside = (after > 0) & (after < self.c)
        return -self.y * np.clip(after, 0.0, self.c), np.where(inside, self.sigma, 0.0)


@dataclass(frozen=True)
class _Step:
    """A step of weights and intercept.

    Parameters
    ----------
    weights : ndarray, shape (d,)
    decrease : float
        Of the quadratic model.
    residual : float
        What the weights where it starts add to the duality gap, roughly.
    """

    weights: Floats
    intercept: float
    decrease: float
    residual: float


class _Search:
    """The current weights, scores and intercept of a lane."""

    def __init__(
        self,
        problem: Problem,
        lane: Lane,
        rule: StoppingRule,
        options: SignedNewtonOptions,
        max_steps: int,
    ) -> None:
        penalty = problem.column_penalty
        assert isinstance(penalty, SignedRidgePenalty)
        self.problem, self.lane, self.rule, self.penalty = problem, lane, rule, penalty
        self.options, self.max_steps = options, max_steps
        self.x = _Products(problem, options)
        self.u, self.s = np.zeros(problem.rows.n_features), np.zeros(problem.rows.n_rows)
        self.move(self.u, self.s)

    def move(self, u: Floats, s: Floats) -> None:
        """Continue at other weights, with their best intercept."""
        self.u, self.s = u, s
        if self.problem.fit_intercept:
            b = self.problem.row_losses(self.lane).best_intercepts(s[:, None])
            self.s = s + float(b[0])

    # ------------------------------------------------------------------ the two methods

    def run_smooth(self) -> Floats:
        """Take steps until the gap is small; return the dual point."""
        losses = _Smooth(self.problem, self.lane)
        while True:
            gradient, curvature = losses.derivatives(self.s)
            value = 0.5 * float(self.u @ self.u) + losses.total(self.s)
            step = self._step(gradient, curvature)
            decrease = math.inf if step is None else step.decrease
            seen = decrease / value if value > 0 else 0.0
            stops = self.rule(-gradient[:, None], lambda: self.u[:, None], seen)
            if stops or step is None or self.rule.steps >= self.max_steps:
                return -gradient
            if not self._advance(losses, step, value):
                return -gradient

    def run_hinge(self) -> Floats:
        """Take steps on augmented Lagrangians, with more and more weight on their constraints."""
        problem, lane, options = self.problem, self.lane, self.options
        y, c = problem.targets(lane), problem.costs(lane)
        a, unit = np.zeros_like(c), float(c[c > 0].mean())
        sigma, most = options.sigma * unit, options.max_sigma * unit
        for _ in range(options.max_rounds):
            losses = _Lagrangian(y, c, a, sigma)
            for _ in range(options.max_inner_steps):
                gradient, curvature = losses.derivatives(self.s)
                value = 0.5 * float(self.u @ self.u) + losses.total(self.s)
                step = self._step(gradient, curvature, sigma)
                if step is None or step.residual <= options.inner_tol * self.rule.tol * value:
                    break
                if self.rule.report(math.inf) or not self._advance(losses, step, value):
                    break
            a, sigma = losses.multipliers(self.s), min(sigma * options.growth, most)
            loss = float((c * np.maximum(1.0 - y * self.s, 0.0)).sum())
            primal = 0.5 * float(self.u @ self.u) + loss
            dual = float(a.sum()) - float(self.penalty.conjugate(problem.x.rmatvec(
                np.ascontiguousarray((y * a)[:, None]))[:, 0]))  # fmt: skip
            seen = max(primal - dual, 0.0) / primal if primal > 0 else 0.0
            stops = self.rule((y * a)[:, None], lambda: self.u[:, None], seen)
            if stops or self.rule.steps >= self.max_steps:
                break
        return np.asarray(y * a)

    # ------------------------------------------------------------------ steps

    def _step(self, gradient: Floats, curvature: Floats, least: float = 1e-12) -> _Step | None:
        """Return the Newton step; None: the system has no finite solution."""
        has_b = self.problem.fit_intercept
        g = self.u + self.x.T(gradient)
        gb = float(gradient.sum()) if has_b else 0.0
        system = self.x.system(curvature, least, has_intercept=has_b)
        right = np.append(-g, -gb) if has_b else -g
        low, high = self.penalty.bounds
        low, high = low - self.u, high - self.u
        if has_b:
            low, high = np.append(low, -np.inf), np.append(high, np.inf)
        try:
            step = _bounded_minimum(system, right, low, high, self.options)
        except LinAlgError:
            return None
        if not np.isfinite(step).all():
            return None
        decrease = float(right @ step) - 0.5 * float(step @ system.product(step))
        residual = float(self.penalty.gap(self.u, self.u - g)) + abs(gb)
        b = float(step[-1]) if has_b else 0.0
        return _Step(step[: len(g)], b, max(decrease, 0.0), residual)

    def _advance(self, losses: _Losses, step: _Step, value: float) -> bool:
        """Take a step with a line search; return whether the objective decreased."""
        du, decrease = step.weights, step.decrease
        ds = self.x @ du + step.intercept
        length = 1.0
        while length > self.options.least_length:
            u, s = self.u + length * du, self.s + length * ds
            new = 0.5 * float(u @ u) + losses.total(s)
            if new <= value - 1e-4 * length * decrease + 1e-15 * abs(value):
                self.u, self.s = self.penalty.feasible(u), s
                return new < value
            length *= 0.5
        return False


class _Products:
    """Products with the rows, and systems of quadratic models."""

    def __init__(self, problem: Problem, options: SignedNewtonOptions) -> None:
        self._x, self._options = problem.x, options

    def __matmul__(self, u: Floats) -> Floats:
        return np.asarray(self._x.matvec(np.ascontiguousarray(u[:, None]))[:, 0])

    def T(self, r: Floats) -> Floats:  # noqa: N802 # as in X.T @ r
        """Return X'r."""
        return np.asarray(self._x.rmatvec(np.ascontiguousarray(r[:, None]))[:, 0])

    def system(self, c: Floats, least: float, *, has_intercept: bool) -> _Matrix | _Operator:
        """Return I + X'CX, with a last row and column for the intercept.

        Its curvature is at least ``least``.
        """
        total = max(float(c.sum()), least) if has_intercept else 0.0
        border = self.T(c) if has_intercept else None
        if self._x.shape[1] > self._options.max_dense:
            return _Operator(self, c, border, total, self._options)
        d = self._x.shape[1]
        matrix = np.empty((d + has_intercept,) * 2)
        matrix[:d, :d] = self._x.gram(c)
        matrix[range(d), range(d)] += 1.0
        if border is not None:
            matrix[d, :d] = matrix[:d, d] = border
            matrix[d, d] = total
        return _Matrix(matrix)


@dataclass(frozen=True)
class _Matrix:
    """A system with a dense matrix."""

    matrix: Floats

    def product(self, step: Floats) -> Floats:
        return np.asarray(self.matrix @ step)

    def solve(self, free: NDArray[np.bool_], right: Floats) -> Floats:
        """Return the solution over the free variables, 0 elsewhere."""
        some = np.flatnonzero(free)
        part = self.matrix if len(some) == len(free) else self.matrix[np.ix_(some, some)]
        made = np.zeros(len(free))
        made[some] = Cholesky(part.copy()).solve(right[some])
        return made


@dataclass(frozen=True)
class _Operator:
    """A system with too many columns for a matrix: conjugate gradients over the free variables."""

    x: _Products
    c: Floats
    border: Floats | None
    total: float
    options: SignedNewtonOptions

    def product(self, step: Floats) -> Floats:
        if self.border is None:
            return step + self.x.T(self.c * (self.x @ step))
        u, b = step[:-1], float(step[-1])
        made = u + self.x.T(self.c * (self.x @ u)) + self.border * b
        return np.append(made, self.border @ u + self.total * b)

    def solve(self, free: NDArray[np.bool_], right: Floats) -> Floats:
        """Return the solution over the free variables, 0 elsewhere."""
        made, rest = np.zeros(len(free)), np.where(free, right, 0.0)
        direction, square = rest.copy(), float(rest @ rest)
        end = self.options.cg_tol**2 * square
        for _ in range(self.options.max_cg_steps):
            if square <= end:
                break
            image = np.where(free, self.product(direction), 0.0)
            length = square / float(direction @ image)
            made += length * direction
            rest -= length * image
            last, square = square, float(rest @ rest)
            direction = rest + (square / last) * direction
        return made


def _bounded_minimum(
    system: _Matrix | _Operator,
    right: Floats,
    low: Floats,
    high: Floats,
    options: SignedNewtonOptions,
) -> Floats:
    """Return the minimum of 1/2 x'Hx - right'x with low <= x <= high; 0 is within.

    At most one bound of a variable is finite. All variables that violate their sign change sides
    at once. That may cycle: then projected Newton steps, each of which decreases the value, go on.
    """
    bound = np.where(np.isfinite(low), low, np.where(np.isfinite(high), high, 0.0))
    side = np.where(np.isfinite(low), 1.0, np.where(np.isfinite(high), -1.0, 0.0))
    slack = options.slack * float(np.abs(right).max(initial=0.0))
    held = (side != 0) & (bound == 0) & (side * right < 0)
    for _ in range(options.max_pivots):
        fixed = np.where(held, bound, 0.0)
        rest = right - system.product(fixed) if fixed.any() else right
        step = fixed + system.solve(~held, rest)
        gradient = system.product(step) - right
        wrong = np.where(held, side * gradient < -slack, side * (step - bound) < -options.slack)
        if not wrong.any():
            return np.clip(step, low, high)
        held = held ^ wrong
    return _projected_newton(system, right, low, high, options)


def _projected_newton(
    system: _Matrix | _Operator,
    right: Floats,
    low: Floats,
    high: Floats,
    options: SignedNewtonOptions,
) -> Floats:
    """Return the minimum as `_bounded_minimum` does, or a point below 0, by projected steps."""
    x, gradient = np.zeros_like(right), -right
    slack = options.slack * float(np.abs(right).max(initial=0.0))
    for _ in range(options.max_projected):
        held = ((x <= low) & (gradient > 0)) | ((x >= high) & (gradient < 0))
        if np.abs(gradient[~held]).max(initial=0.0) <= slack:
            break
        while True:
            step = system.solve(~held, -gradient)
            blocked = ~held & (((x <= low) & (step < 0)) | ((x >= high) & (step > 0)))
            if not blocked.any():
                break
            held |= blocked
        found = _projected_step(system, x, gradient, step, low, high)
        if found is None:
            break
        x, gradient = found
    return x


def _projected_step(
    system: _Matrix | _Operator,
    x: Floats,
    gradient: Floats,
    step: Floats,
    low: Floats,
    high: Floats,
) -> tuple[Floats, Floats] | None:
    """Return the next point and its gradient: the end of the step, cut off at the bounds.

    Shorter steps are tried, at last one to the first bound, until the value decreases; None: never.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        room = np.where(step < 0, (low - x) / step, np.where(step > 0, (high - x) / step, np.inf))
    first = min(1.0, float(np.nanmin(room, initial=1.0)))
    for length in (1.0, 0.5, 0.25, 0.1, 0.03, first):
        new = np.clip(x + length * step, low, high)
        moved = new - x
        image = system.product(moved)
        if float(gradient @ moved) + 0.5 * float(moved @ image) < 0:
            return new, gradient + image
    return None
