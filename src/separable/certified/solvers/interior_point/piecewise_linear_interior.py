"""Primal-dual interior point for piecewise linear losses and few columns.

problem   the dual of hinge and epsilon-insensitive losses: minimise over the box 0 <= a <= c
              1/2 |v|^2 + q.a,   v = U'z,  z = sum of sign a,  and sum z = 0 with an intercept
given     U by its products; targets and costs; the loss, which gives each variable its sign and q
returns   z, feasible but for the sum, which the certificate repairs, and weights
steps     0. start on the path: r = sign score + q = s - t,  a s = (c - a) t = mu
          1. residuals of  sign (Uw + b) + q - s + t = 0,  a s = mu,  (c - a) t = mu
          2. eliminate all but w and b: (I + U'D^-1 U) dw = ..., d x d, by Cholesky's method
          3. predict with mu = 0, then correct with the mu that this allows
          4. correct again, towards products a s and (c - a) t of one size, while steps grow longer
          5. step as far as the box allows
          6. guess which variables are at a bound, and solve for the others as if they were free
source    M. C. Ferris, T. S. Munson, Interior-point methods for massive support vector machines,
          SIAM J. Optim. 13 (2003); S. Mehrotra, SIAM J. Optim. 2 (1992); M. Colombo, J. Gondzio,
          Further development of multiple centrality correctors, Comput. Optim. Appl. 41 (2008)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import LinAlgError

from separable.certified.solvers.interior_point.kkt import KktRows
from separable.linalg.cholesky import Bordered
from separable.linalg.lstsq import lstsq
from separable.losses.epsilon_insensitive import EpsilonInsensitive

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.certified.design.row_products import RowProducts
    from separable.certified.solvers.interior_point.kkt import Equations
    from separable.certified.solvers.stopping import StoppingCriterion
    from separable.losses.base import Loss
    from separable.typing import Floats


__all__ = ["Fixed", "interior_point"]

#: Fraction of the step to the boundary.
BOUNDARY_FRACTION = 0.995
#: Maximum number of centrality corrections of a step.
MAX_CORRECTIONS = 3
#: Longer steps need no correction.
LONG_STEP = 0.9
#: Shortest step.
MIN_STEP = 1e-9
#: Steps without a 10 % smaller gap after which to stop; most fits need 30 in all.
MAX_STALLED_STEPS = 100
#: Crossover: the relative gap below which active bounds are guessed, and its maximum size.
CROSSOVER_GAP = 1e-2
MOST_UNKNOWNS = 600


@dataclass(frozen=True)
class Box:
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
    def of(cls, loss: Loss, y: Floats, c: Floats, scores: Floats) -> Box:
        """Return the variables of a loss, for a start at some scores."""
        if isinstance(loss, EpsilonInsensitive):
            up, off = np.ones_like(y), float(np.abs(y - scores).mean())
            linear = np.stack([loss.epsilon - y, loss.epsilon + y])
            return cls(np.stack([up, -up]), linear, c, off + loss.epsilon or 1.0)
        return cls(y[None, :], np.full((1, len(y)), -1.0), c, 1.0)

    def on_path(self, scores: Floats) -> State:
        """Return values with s - t = r and a s = (c - a) t = mu, for mu = unit mean(c)."""
        r = self.sign * scores + self.linear
        mu = self.unit * float(self.most.mean())
        k = mu / self.most
        # the smaller of a and c - a, so that no digits are lost: |r| x^2 - (|r| + 2k) x + k = 0
        size = np.abs(r)
        share = 2 * k / (size + 2 * k + np.hypot(size, 2 * k))
        near, far = self.most * share, self.most * (1 - share)
        a, room = np.where(r > 0, near, far), np.where(r > 0, far, near)
        return State(a, room, mu / a, mu / room)


@dataclass
class Step:
    """A change of all unknowns."""

    a: Floats
    s: Floats
    t: Floats
    w: Floats
    b: float

    def plus(self, share: float, other: Step) -> Step:
        """Return this step and a share of another."""
        return Step(
            self.a + share * other.a,
            self.s + share * other.s,
            self.t + share * other.t,
            self.w + share * other.w,
            self.b + share * other.b,
        )


@dataclass
class State:
    """a, c - a (on its own: near 0 the difference has no digits) and their multipliers s and t."""

    a: Floats
    room: Floats
    s: Floats
    t: Floats

    def mu(self) -> float:
        """Return the mean of the products."""
        return float(np.vdot(self.a, self.s) + np.vdot(self.room, self.t)) / (2 * self.a.size)

    def max_step(self, step: Step) -> float:
        """Return the longest step, at most 1, that keeps all values positive."""
        lowest = min(
            float((step.a / self.a).min()),
            -float((step.a / self.room).max()),
            float((step.s / self.s).min()),
            float((step.t / self.t).min()),
        )
        return 1.0 / max(1.0, -lowest)

    def after(self, length: float, step: Step) -> State:
        """Return the values after a step."""
        return State(
            self.a + length * step.a,
            self.room - length * step.a,
            self.s + length * step.s,
            self.t + length * step.t,
        )


@dataclass(frozen=True)
class Fixed:
    """Contribution of fixed rows to U'z and to the sum of z."""

    weights: Floats | float = 0.0
    total: float = 0.0


def interior_point(
    x: RowProducts,
    loss: Loss,
    y: Floats,
    c: Floats,
    *,
    fit_intercept: bool,
    stopping_rule: StoppingCriterion,
    max_iter: int,
    fixed: Fixed = Fixed(),  # noqa: B008
) -> tuple[Floats, Floats]:
    """Minimise 1/2 |w|^2 + sum_i c_i loss(y_i, w.x_i + b) over w and b.

    Parameters
    ----------
    x : RowProducts
    loss : Hinge or EpsilonInsensitive
    y, c : ndarray, shape (n,)
        Targets and costs; rows of cost 0 do not count.
    fit_intercept : bool
    stopping_rule : StoppingCriterion
        Called after each step.
    max_iter : int
        Maximum number of steps.
    fixed : Fixed
        Contribution of rows with fixed z.

    Returns
    -------
    z : ndarray, shape (n,)
    w : ndarray, shape (m,)
    """
    rows = _Used(x, c > 0)
    y, c = y[rows.used], c[rows.used]
    w = np.zeros(x.size)
    b = loss.best_intercept(y, rows.matvec(w, 0.0), c) if fit_intercept else 0.0
    scores = rows.matvec(w, b)
    box = Box.of(loss, y, c, scores)
    now = box.on_path(scores)  # 0
    z = (box.sign * now.a).sum(axis=0)
    least, idle = np.inf, 0
    for _ in range(max_iter):
        mu = now.mu()
        try:
            system = _System(rows, box, now, z, fit_intercept=fit_intercept)
        except LinAlgError:
            break
        missing, total = system.correlation + fixed.weights - w, float(z.sum()) + fixed.total
        step, max_step = _directed(system, box, now, mu, scores, missing, total)
        length = BOUNDARY_FRACTION * max_step if max_step < 1 else 1.0  # 5
        if not length > MIN_STEP:
            break
        now = now.after(length, step)
        w, b = w + length * step.w, b + length * step.b
        scores = rows.matvec(w, b)
        z = (box.sign * now.a).sum(axis=0)
        left = (1 - length) * missing if rows.is_exact else rows.rmatvec(z) + fixed.weights - w
        seen = _gap(loss, y, c, scores, z, w, left)
        if stopping_rule(rows.full(z), lambda: x.weights(w), seen):  # noqa: B023
            break
        idle = 0 if seen < 0.9 * least else idle + 1
        least = min(least, seen)
        if idle >= MAX_STALLED_STEPS:
            break
        if stopping_rule.wants_more and seen < CROSSOVER_GAP:  # 6
            exact = _solve_free(rows, box, now, fit_intercept=fit_intercept)
            if exact is not None:
                stopping_rule.consider(rows.full(exact[0]), x.weights(exact[1]))
                if stopping_rule.is_done:
                    break
    return rows.full(z), w


class _System:
    """The linear system of a step, reduced to w and b (step 2)."""

    def __init__(
        self, rows: _Used, box: Box, now: State, z: Floats, *, fit_intercept: bool
    ) -> None:
        self._rows, self._sign, self._now = rows, box.sign, now
        self._inverse = 1.0 / (now.s / now.a + now.t / now.room)
        curvature = self._inverse.sum(axis=0)
        self._equations, self.correlation = rows.equations(
            curvature, z, fit_intercept=fit_intercept
        )

    def solve(
        self,
        lower: Floats,
        upper: Floats,
        away: Floats | float = 0.0,
        missing: Floats | float = 0.0,
        total: float = 0.0,
    ) -> Step:
        """Return the step that adds to a s and (c - a) t what is said, and ends what else is."""
        now = self._now
        push = lower / now.a - upper / now.room - away
        moved = (self._sign * self._inverse * push).sum(axis=0)
        dw, db = self._equations.solve(
            missing + self._rows.rmatvec(moved), total + float(moved.sum())
        )
        da = self._inverse * (push - self._sign * self._rows.matvec(dw, db))
        return Step(da, (lower - now.s * da) / now.a, (upper + now.t * da) / now.room, dw, db)


def _directed(
    system: _System,
    box: Box,
    now: State,
    mu: float,
    scores: Floats,
    missing: Floats,
    total: float,
) -> tuple[Step, float]:
    """Return a predictor-corrector step, and its maximum length."""
    if not mu > 0:
        return Step(now.a, now.s, now.t, missing, 0.0), 0.0
    away = box.sign * scores + box.linear - now.s + now.t  # 1
    step = system.solve(-now.a * now.s, -now.room * now.t, away, missing, total)  # 3
    max_step = now.max_step(step)
    target = mu * (now.after(max_step, step).mu() / mu) ** 3
    more = system.solve(target - step.a * step.s, target + step.a * step.t)
    step, max_step = _best_step_length(now, step, more, max_step**2)
    for _ in range(MAX_CORRECTIONS):  # 4
        if max_step > LONG_STEP:
            break
        further = now.after(min(1.0, max(1.3 * max_step, max_step + 0.1)), step)
        more = system.solve(
            _towards(further.a * further.s, target), _towards(further.room * further.t, target)
        )
        tried, longer = _best_step_length(now, step, more, max_step)
        if longer < 1.02 * max_step:
            break
        step, max_step = tried, longer
    return step, max_step


def _towards(products: Floats, target: float) -> Floats:
    """Return the correction of complementary products outside the range around the target."""
    change = np.clip(products, 0.1 * target, 10 * target) - products
    return np.maximum(change, -10 * target)


def _best_step_length(now: State, step: Step, more: Step, least: float) -> tuple[Step, float]:
    """Return step + t more of the longest maximum length, t between ``least`` and 1."""
    best, furthest = step, 0.0
    for share in np.linspace(1.0, least, 4):
        tried = step.plus(float(share), more)
        max_step = now.max_step(tried)
        if max_step > furthest:
            best, furthest = tried, max_step
        if max_step > LONG_STEP:
            break
    return best, furthest


class _Used:
    """The rows of positive cost."""

    def __init__(self, x: RowProducts, used: NDArray[np.bool_]) -> None:
        self._x, self._n = x, len(used)
        self.is_exact = not isinstance(x, KktRows)
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
        return self._x.matvec(u, b)[self.used]

    def rmatvec(self, r: Floats) -> Floats:
        return self._x.rmatvec(self.full(r))

    def equations(self, c: Floats, r: Floats, *, fit_intercept: bool) -> tuple[Equations, Floats]:
        """Return the linear system of a step with curvatures c, and U'r."""
        if isinstance(self._x, KktRows):
            made = self._x.equations(self.full(c), fit_intercept=fit_intercept)
            return made, self.rmatvec(r)
        products, mixed, along = self._x.products(self.full(c), self.full(r))
        products[np.diag_indices(len(mixed))] += 1.0
        total = float(c.sum())
        return Bordered(products, mixed, total, fit_intercept=fit_intercept), along

    def rows(self, chosen: NDArray[np.intp]) -> Floats:
        return self._x.rows(chosen if isinstance(self.used, slice) else self.used[chosen])


def _gap(
    loss: Loss, y: Floats, c: Floats, scores: Floats, z: Floats, w: Floats, missing: Floats
) -> float:
    """Return the estimated relative gap of z and w."""
    gap = float(np.maximum(loss.gap(y, scores, c, z), 0.0).sum()) + 0.5 * float(missing @ missing)
    primal = loss.total(y, scores, c) + 0.5 * float(w @ w)
    return gap / primal if primal > 0 else 0.0


def _solve_free(
    rows: _Used, box: Box, now: State, *, fit_intercept: bool
) -> tuple[Floats, Floats] | None:
    """Return z and w if the variables that seem to be at a bound are there.

    None: too many are free, or there is no solution.

    Unknowns w, b and z of free rows:  w - U_f'z_f = v of the others,  U_f w + b = score at the
    corner,  sum z_f = - sum of the others. A solution of least size, where there are many.
    """
    low = now.a * box.unit <= now.s * box.most
    high = now.room * box.unit <= now.t * box.most
    free = ~(low | high)
    fixed = np.where(high, box.sign * box.most, 0.0).sum(axis=0)
    chosen = np.flatnonzero(free.any(axis=0))
    m, f = len(rows.rmatvec(fixed)), len(chosen)
    if f == 0 or m + f + 1 > MOST_UNKNOWNS:
        return None
    block = np.argmax(free[:, chosen], axis=0)
    corner = -(box.sign * box.linear)[block, chosen]
    some = rows.rows(chosen)
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
