"""Primal-dual interior point for piecewise linear losses and few columns.

problem   the dual of hinge and epsilon-insensitive losses: minimise over the box 0 <= a <= c
              1/2 |v|^2 + q.a,   v = U'z,  z = sum of sign a,  and sum z = 0 with an intercept
given     U by its products; targets and costs; the loss, which gives each variable its sign and q
returns   z, feasible but for the sum, which the certificate repairs, and weights
steps     0. start on the path: r = sign score + q = s - t,  a s = (c - a) t = mu
          1. residuals of  sign (Uw + b) + q - s + t = 0,  a s = mu,  (c - a) t = mu
          2. eliminate all but w and b: (I + U'D^-1 U) dw = ..., d x d, by Cholesky's method
          3. a step of `predictor_corrector`
          4. guess which variables are at a bound, and solve for the others as if they were free
source    M. C. Ferris, T. S. Munson, Interior-point methods for massive support vector machines,
          SIAM J. Optim. 13 (2003)
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import LinAlgError

from separable.certified.solvers.interior_point.kkt import KktRows
from separable.certified.solvers.interior_point.predictor_corrector import Point, interior_points
from separable.certified.solvers.options import InteriorPointOptions
from separable.certified.solvers.stopping import LooseStopping
from separable.linalg.cholesky import Bordered
from separable.linalg.lstsq import lstsq

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.certified.solvers.interior_point.kkt import Equations
    from separable.certified.solvers.stopping import StoppingRule
    from separable.linalg.design_matrix import DesignMatrix
    from separable.losses.loss import Loss
    from separable.typing import Floats

    Pairs = tuple[tuple[Floats, Floats], ...]


__all__ = ["Fixed", "interior_point"]


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


@dataclass(frozen=True)
class Fixed:
    """Contribution of fixed rows to U'z and to the sum of z."""

    weights: Floats | float = 0.0
    total: float = 0.0


def interior_point(
    x: DesignMatrix | KktRows,
    loss: Loss,
    y: Floats,
    c: Floats,
    *,
    fit_intercept: bool,
    stopping_rule: StoppingRule | LooseStopping,
    max_iter: int,
    fixed: Fixed = Fixed(),  # noqa: B008
    options: InteriorPointOptions = InteriorPointOptions(),  # noqa: B008
) -> tuple[Floats, Floats]:
    """Minimise 1/2 |w|^2 + sum_i c_i loss(y_i, w.x_i + b) over w and b.

    Parameters
    ----------
    x : RowProducts
    loss : Loss
        Piecewise linear.
    y, c : ndarray, shape (n,)
        Targets and costs; rows of cost 0 do not count.
    fit_intercept : bool
    stopping_rule : StoppingRule or LooseStopping
        Called after each step; only a StoppingRule certifies active bounds (step 4).
    max_iter : int
        Maximum number of steps.
    fixed : Fixed
        Contribution of rows with fixed z.
    options : InteriorPointOptions

    Returns
    -------
    z : ndarray, shape (n,)
    w : ndarray, shape (m,)
    """
    rows = _Used(x, c > 0)
    y, c = y[rows.used], c[rows.used]
    w = np.zeros(x.shape[1])
    b = loss.best_intercept(y, rows.matvec(w, 0.0), c) if fit_intercept else 0.0
    scores = rows.matvec(w, b)
    box = Box.of(loss, y, c, scores)
    pairs = box.on_path(scores)  # 0
    z = box.dual(pairs)
    best, least, idle = (z, w), np.inf, 0
    points = interior_points(
        lambda now: _System(rows, box, now, fixed, fit_intercept=fit_intercept),
        Point((w, b, np.zeros_like(w)), pairs),
    )
    for now in islice(points, max_iter):  # 3
        (w, b, missing), z = now.free, box.dual(now.pairs)
        if not rows.is_exact:
            missing = rows.rmatvec(z) + fixed.weights - w
        seen = _gap(loss, y, c, rows.matvec(w, b), z, w, missing)
        if stopping_rule(rows.full(z), lambda: x.expand(w), seen):  # noqa: B023
            break
        idle = 0 if seen < 0.9 * least else idle + 1
        if seen < least:
            best, least = (z, w), seen
        has_diverged = least < options.near and not seen < options.diverged * least
        if idle >= options.max_stalled_steps or has_diverged:
            break
        if isinstance(stopping_rule, LooseStopping) or not stopping_rule.wants_more:
            continue
        if seen < options.crossover_gap:  # 4
            exact = _solve_free(
                rows, box, now.pairs, options.max_crossover, fit_intercept=fit_intercept
            )
            if exact is not None:
                stopping_rule.consider(rows.full(exact[0]), x.expand(exact[1]))
                if stopping_rule.is_done:
                    break
    z, w = best
    return rows.full(z), w


class _System:
    """The linear system of a step, reduced to w and b (step 2).

    The third free value is what w lacks to be U'z; each step removes its share of it.
    """

    least_mu = 0.0

    def __init__(
        self, rows: _Used, box: Box, now: Point, fixed: Fixed, *, fit_intercept: bool
    ) -> None:
        self._rows, self._sign = rows, box.sign
        (w, b, _), ((a, s), (room, t)) = now.free, now.pairs
        z = box.dual(now.pairs)
        self._inverse = 1.0 / (s / a + t / room)
        curvature = self._inverse.sum(axis=0)
        self._equations, correlation = rows.equations(curvature, z, fit_intercept=fit_intercept)
        missing = correlation + fixed.weights - w
        self.now = Point((w, b, missing), now.pairs)
        self._total = float(z.sum()) + fixed.total
        self._away = box.sign * rows.matvec(w, b) + box.linear - s + t  # 1

    def solve(self, products: list[Floats], *, is_correction: bool = False) -> Point:
        """Return the step that changes the products as given."""
        (a, s), (room, t) = self.now.pairs
        lower, upper = products
        missing, total = np.zeros(self._rows.size), 0.0
        push = lower / a - upper / room
        if not is_correction:
            missing, total, push = self.now.free[2], self._total, push - self._away
        moved = (self._sign * self._inverse * push).sum(axis=0)
        dw, db = self._equations.solve(
            missing + self._rows.rmatvec(moved), total + float(moved.sum())
        )
        da = self._inverse * (push - self._sign * self._rows.matvec(dw, db))
        pairs = (da, (lower - s * da) / a), (-da, (upper + t * da) / room)
        return Point((dw, db, -missing), pairs)

    def longest(self, step: Point) -> float:
        """Return no limit."""
        del step
        return 1.0


class _Used:
    """The rows of positive cost."""

    def __init__(self, x: DesignMatrix | KktRows, used: NDArray[np.bool_]) -> None:
        self._x, self._n, self.size = x, len(used), x.shape[1]
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
        return (self._x.matvec(u) + b)[self.used]

    def rmatvec(self, r: Floats) -> Floats:
        return self._x.rmatvec(self.full(r))

    def equations(self, c: Floats, r: Floats, *, fit_intercept: bool) -> tuple[Equations, Floats]:
        """Return the linear system of a step with curvatures c, and U'r."""
        if isinstance(self._x, KktRows):
            made = self._x.equations(self.full(c), fit_intercept=fit_intercept)
            return made, self.rmatvec(r)
        full = self.full(c)
        products = self._x.gram(full)
        products[np.diag_indices(len(products))] += 1.0
        mixed, along = self._x.rmatvec(np.stack([full, self.full(r)], axis=1)).T
        total = float(c.sum())
        return Bordered(products, mixed, total, fit_intercept=fit_intercept), along

    def rows(self, chosen: NDArray[np.intp]) -> Floats:
        return self._x.take(chosen if isinstance(self.used, slice) else self.used[chosen])


def _gap(
    loss: Loss, y: Floats, c: Floats, scores: Floats, z: Floats, w: Floats, missing: Floats
) -> float:
    """Return the estimated relative gap of z and w."""
    gap = float(np.maximum(loss.gap(y, scores, c, z), 0.0).sum()) + 0.5 * float(missing @ missing)
    primal = loss.total(y, scores, c) + 0.5 * float(w @ w)
    return gap / primal if primal > 0 else 0.0


def _solve_free(
    rows: _Used, box: Box, pairs: Pairs, most: int, *, fit_intercept: bool
) -> tuple[Floats, Floats] | None:
    """Return z and w if the variables that seem to be at a bound are there.

    None: there are more than ``most`` unknowns, or there is no solution.

    Unknowns w, b and z of free rows:  w - U_f'z_f = v of the others,  U_f w + b = score at the
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
