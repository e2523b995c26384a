"""Primal-dual interior point for piecewise linear losses: hinge and epsilon-insensitive.

problem   the dual: minimise over the box 0 <= a <= c
              1/2 |v|^2 + q.a,   v = Z'z,  z = sum of sign a,  and sum z = 0 with an intercept
given     Z by its products; targets and costs; the loss, which gives each variable its sign and q
returns   z, feasible but for the sum, which the certificate repairs, and weights
steps     0. start on the path: r = sign score + q = s - t,  a s = (c - a) t = mu
          1. residuals of  sign (Zw + b) + q - s + t = 0,  a s = mu,  (c - a) t = mu
          2. eliminate a, then z or w: equations of the size of the columns or of the rows (`kkt`)
          3. a step of `predictor_corrector`
          4. guess which variables are at a bound, and solve for the others as if they were free
source    M. C. Ferris, T. S. Munson, Interior-point methods for massive support vector machines,
          SIAM J. Optim. 13 (2003)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import islice

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError

from separable.certified.duality.gap import certify_better
from separable.certified.problem import Lane, Problem
from separable.certified.solvers.interior_point.kkt import KktSystems
from separable.certified.solvers.interior_point.predictor_corrector import Point, interior_points
from separable.certified.solvers.options import InteriorPointOptions
from separable.certified.solvers.solved import Goal, OneByOne, OnPass, Result, Start
from separable.certified.solvers.stopping import StoppingRule
from separable.linalg.design_matrix import DesignMatrix
from separable.linalg.lstsq import lstsq
from separable.losses.loss import Loss
from separable.typing import Floats

Pairs = tuple[tuple[Floats, Floats], ...]


class InteriorPointSolver(OneByOne):
    """An interior point for the lanes of a piecewise linear loss, one by one."""

    def __init__(self, problem: Problem, options: InteriorPointOptions | None = None) -> None:
        self._problem = problem
        self._options = InteriorPointOptions() if options is None else options

    def prepare(self, goal: Goal) -> None:
        """Compute what threads share before they start."""
        del goal
        self._systems.prepare()

    @cached_property
    def _systems(self) -> KktSystems:
        return KktSystems(self._problem.x.spread(centred=self._problem.fit_intercept))

    def solve(self, lanes: list[Lane], start: Start | None, goal: Goal, on_pass: OnPass) -> Result:
        """Solve one lane; each step takes two to four passes over the rows."""
        del start  # a point close to a vertex is no start of an interior point
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
        with np.errstate(over="ignore", under="ignore", invalid="ignore", divide="ignore"):
            solution = rule.end(*self._run(lane, rule, goal.max_iter))
        is_done = np.array([solution.certificates[0].converged])
        return Result(solution, np.array([rule.steps]), ["interior-point"], is_done)

    def _run(self, lane: Lane, rule: StoppingRule, max_iter: int) -> tuple[Floats, Floats]:
        """Return the dual variables and weights of the last step, or of the best before rounding.

        ``rule`` is called after each step; it also certifies guesses of active bounds (step 4).
        """
        problem, options, loss = self._problem, self._options, self._problem.loss
        fit_intercept, c = problem.fit_intercept, problem.costs(lane)
        rows = _Used(self._systems.x, c > 0)
        y, c = problem.targets(lane)[rows.used], c[rows.used]
        w = np.zeros(problem.rows.n_features)
        b = loss.best_intercept(y, np.zeros_like(y), c) if fit_intercept else 0.0
        scores = np.full(len(y), b)
        box = _Box.of(loss, y, c, scores)
        pairs = box.on_path(scores)  # 0
        z = box.dual(pairs)
        best, least, idle = (z, w), np.inf, 0
        points = interior_points(
            lambda now: _System(rows, self._systems, box, now, fit_intercept=fit_intercept),
            Point((w, b, np.zeros_like(w)), pairs),
        )
        for now in islice(points, max_iter):  # 3
            (w, b, _), z = now.free, box.dual(now.pairs)
            missing = rows.rmatvec(z) - w
            gap = float(np.maximum(loss.gap(y, rows.matvec(w, b), c, z), 0.0).sum())
            gap += 0.5 * float(missing @ missing)
            primal = loss.total(y, rows.matvec(w, b), c) + 0.5 * float(w @ w)
            seen = gap / primal if primal > 0 else 0.0
            if rule(rows.full(z), lambda: w, seen):  # noqa: B023
                return rows.full(z), w
            idle = 0 if seen < 0.9 * least else idle + 1
            if seen < least:
                best, least = (z, w), seen
            has_diverged = least < options.near and not seen < options.diverged * least
            if idle >= options.max_stalled_steps or has_diverged:
                break
            if rule.wants_more and seen < options.near:  # 4
                most = options.max_crossover
                exact = _solve_free(rows, box, now.pairs, most, fit_intercept=fit_intercept)
                if exact is not None:
                    rule.consider(rows.full(exact[0]), exact[1])
                    if rule.is_done:
                        break
        return rows.full(best[0]), best[1]


@dataclass(frozen=True)
class _Box:
    """The variables of a loss: k blocks, each with one a row.

    Parameters
    ----------
    sign, linear : ndarray, shape (k, n)
        How a variable enters z, and q.
    most : ndarray, shape (n,)
        c, above 0.
    unit : float
        Typical size of the scores.
    """

    sign: Floats
    linear: Floats
    most: Floats
    unit: float

    @classmethod
    def of(cls, loss: Loss, y: Floats, c: Floats, scores: Floats) -> _Box:
        """Return the variables of a loss, for a start at some scores."""
        if loss.is_regression:
            up, off = np.ones_like(y), float(np.abs(y - scores).mean())
            linear = np.stack([loss.epsilon - y, loss.epsilon + y])
            return cls(np.stack([up, -up]), linear, c, off + loss.epsilon or 1.0)
        return cls(y[None, :], np.full((1, len(y)), -1.0), c, 1.0)

    def on_path(self, scores: Floats) -> Pairs:
        """Return pairs with s - t = r and a s = (c - a) t = mu, for mu = unit mean(c).

        c - a is kept on its own: near 0 the difference has no digits.
        """
        r = self.sign * scores + self.linear
        mu = self.unit * float(self.most.mean())
        k = mu / self.most
        # the smaller of a and c - a, so that no digits are lost: |r| x^2 - (|r| + 2k) x + k = 0
        size = np.abs(r)
        share = 2 * k / (size + 2 * k + np.hypot(size, 2 * k))
        near, far = self.most * share, self.most * (1 - share)
        a, room = np.where(r > 0, near, far), np.where(r > 0, far, near)
        return (a, mu / a), (room, mu / room)

    def dual(self, pairs: Pairs) -> Floats:
        """Return z of each row."""
        z: Floats = (self.sign * pairs[0][0]).sum(axis=0)
        return z


class _System:
    """The linear system of a step, reduced to w, b and z (step 2).

    The third free value is what w lacks to be Z'z; each step removes its share of it.
    """

    least_mu = 0.0

    def __init__(
        self, rows: _Used, systems: KktSystems, box: _Box, now: Point, *, fit_intercept: bool
    ) -> None:
        self._rows, self._sign = rows, box.sign
        (w, b, _), ((a, s), (room, t)) = now.free, now.pairs
        z = box.dual(now.pairs)
        self._inverse = 1.0 / (s / a + t / room)
        curvature = rows.full(self._inverse.sum(axis=0))
        self._equations = systems.equations(curvature, fit_intercept=fit_intercept)
        self.now = Point((w, b, rows.rmatvec(z) - w), now.pairs)
        self._total = float(z.sum())
        self._away = box.sign * rows.matvec(w, b) + box.linear - s + t  # 1

    def solve(self, products: list[Floats], *, is_correction: bool = False) -> Point:
        """Return the step that changes the products as given."""
        (a, s), (room, t) = self.now.pairs
        lower, upper = products
        missing, total = np.zeros(len(self.now.free[0])), 0.0
        push = lower / a - upper / room
        if not is_correction:
            missing, total, push = self.now.free[2], self._total, push - self._away
        moved = (self._sign * self._inverse * push).sum(axis=0)
        dw, db = self._equations.solve(missing, self._rows.full(moved), total)
        da = self._inverse * (push - self._sign * self._rows.matvec(dw, db))
        pairs = (da, (lower - s * da) / a), (-da, (upper + t * da) / room)
        return Point((dw, db, -missing), pairs)

    def longest(self, step: Point) -> float:
        """Return no limit."""
        del step
        return 1.0


class _Used:
    """The rows of positive cost."""

    def __init__(self, x: DesignMatrix, used: NDArray[np.bool_]) -> None:
        self._x, self._n = x, len(used)
        self._all = bool(used.all())
        self.used: NDArray[np.intp] | slice = slice(None) if self._all else np.flatnonzero(used)

    def full(self, r: Floats) -> Floats:
        """Return values of all rows, 0 for rows of cost 0."""
        if self._all:
            return r
        full = np.zeros(self._n)
        full[self.used] = r
        return full

    def matvec(self, u: Floats, b: float) -> Floats:
        return (self._x.matvec(u) + b)[self.used]

    def rmatvec(self, r: Floats) -> Floats:
        return self._x.rmatvec(self.full(r))

    def take(self, chosen: NDArray[np.intp]) -> Floats:
        return self._x.take(chosen if isinstance(self.used, slice) else self.used[chosen])


def _solve_free(
    rows: _Used, box: _Box, pairs: Pairs, most: int, *, fit_intercept: bool
) -> tuple[Floats, Floats] | None:
    """Return z and w if the variables that seem to be at a bound are there.

    None: there are more than ``most`` unknowns, or there is no solution.

    Unknowns w, b and z of free rows:  w - Z_f'z_f = v of the others,  Z_f w + b = score at the
    corner,  sum z_f = - sum of the others. A solution of least size, where there are many.
    """
    (a, s), (room, t) = pairs
    low, high = a * box.unit <= s * box.most, room * box.unit <= t * box.most
    free = ~(low | high)
    fixed = np.where(high, box.sign * box.most, 0.0).sum(axis=0)
    chosen = np.flatnonzero(free.any(axis=0))
    m, f = len(rows.rmatvec(fixed)), len(chosen)
    if f == 0 or m + f + 1 > most:
        return None
    block = np.argmax(free[:, chosen], axis=0)
    corner = -(box.sign * box.linear)[block, chosen]
    some = rows.take(chosen)
    fixed[chosen] = 0.0
    border = 1.0 if fit_intercept else 0.0
    matrix = np.zeros((m + f + 1, m + f + 1))
    matrix[:m, :m] = np.eye(m)
    matrix[:m, m : m + f] = -some.T
    matrix[m : m + f, :m] = some
    matrix[m : m + f, -1] = matrix[-1, m : m + f] = border
    right = np.concatenate([rows.rmatvec(fixed), corner, [-border * float(fixed.sum())]])
    try:
        solution = _least(matrix, right)
    except LinAlgError:
        return None
    fixed[chosen] = solution[m : m + f]
    return fixed, solution[:m]


def _least(matrix: Floats, right: Floats) -> Floats:
    """Solve by equilibrated least squares with one step of iterative refinement."""
    columns = 1.0 / np.maximum(np.abs(matrix).max(axis=0), 1e-300)
    lines = 1.0 / np.maximum(np.abs(matrix * columns).max(axis=1), 1e-300)
    scaled = matrix * columns * lines[:, None]
    solution = np.zeros(len(right))
    for _ in range(2):
        left = (right - matrix @ solution) * lines
        solution += columns * lstsq(scaled, left, cond=1e-14)
    return solution
