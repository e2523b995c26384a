"""Primal-dual interior point for l1 and elastic net penalties, few columns or few rows.

problem   minimise over w and b  sum_i c_i loss(y_i, w.x_i + b) + sum_j (l1_j |w_j| + l2_j w_j^2/2)
given     columns x_j; targets and costs; squared error, log loss or squared hinge
returns   after each step w, a dual point z, and the complementarity gap
steps     0. sides: w = p - q of values above 0, or w = p where it may not be negative; each has the
             price l1 + l2 w - g, or l1 - l2 w + g, above 0 too, for the correlation g = X'z. Rows
             of the squared hinge have a = y z and the slack t = m - 1 + a / 2c of their margin m;
             of other losses z is minus the gradient
          1. residuals of prices, slacks and sum z = 0; products of pairs are to be mu
          2. eliminate all but w and b, d x d, or all but z and b, n x n, whichever are fewer
          3. predict with mu = 0, then correct with the mu that this allows
          4. step as far as values stay above 0
source    S. Mehrotra, SIAM J. Optim. 2 (1992); K. Koh, S.-J. Kim, S. Boyd, An interior-point method
          for large-scale l1-regularized logistic regression, JMLR 8 (2007)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import LinAlgError

from separable.linalg.cholesky import Bordered, Cholesky
from separable.losses.logistic import Logistic
from separable.losses.squared_error import SquaredError
from separable.losses.squared_hinge import SquaredHinge

if TYPE_CHECKING:
    from collections.abc import Iterator

    from separable.losses.base import SmoothLoss
    from separable.typing import Floats


__all__ = [
    "BOUNDARY_FRACTION",
    "MAX_SCORE_STEP",
    "MAX_WEIGHT",
    "MIN_STEP",
    "TINY",
    "PenalizedColumns",
    "State",
    "interior_points",
]

#: Fraction of the step to the boundary.
BOUNDARY_FRACTION = 0.995
#: Shortest step.
MIN_STEP = 1e-8
TINY = 1e-300
#: Maximum change of scores in a step, for losses that are not quadratic.
MAX_SCORE_STEP = 10.0
#: Larger weights overflow when squared.
MAX_WEIGHT = 1e150
#: Solves per system: one step of iterative refinement.
ROUNDS = 2


@dataclass(frozen=True)
class PenalizedColumns:
    """Columns with the l1 and l2 weights of their coefficients.

    Parameters
    ----------
    x : ndarray or sparse array, shape (d, n)
        In float64, no column without a value.
    l1, l2 : ndarray, shape (d,)
    positive : bool
    """

    x: Any
    l1: Floats
    l2: Floats
    positive: bool

    @property
    def sign(self) -> Floats:
        """Signs of the positive and negative parts of a weight; empty without l1."""
        if self.positive:
            return np.ones((1, 1))
        return np.array([[1.0], [-1.0]]) if self.l1.any() else np.zeros((0, 1))

    def squares(self, c: Floats) -> Floats:
        """Return sum_i c_i x_ij^2."""
        square = self.x.multiply(self.x) if hasattr(self.x, "multiply") else self.x * self.x
        return np.asarray(square @ c)

    def of_columns(self, h: Floats) -> Floats:
        """Return XHX', (d, d)."""
        return _gram(self.x.T, np.sqrt(h))

    def of_rows(self, stiff: Floats) -> Floats:
        """Return X'DX, (n, n)."""
        return _gram(self.x, np.sqrt(stiff))


def _gram(x: Any, root: Floats) -> Floats:
    if not hasattr(x, "multiply"):
        scaled = x * root[:, None]
        products: Floats = scaled.T @ scaled
        return products
    scaled = x.multiply(root[:, None]).tocsr()
    products = np.zeros((x.shape[1],) * 2)
    (scaled.T @ scaled).todense(out=products)
    return products


@dataclass
class State:
    """Parts of weights and multipliers, (k, d); dual values and slacks of rows, (n,) or empty."""

    w: Floats
    b: Any
    side: Floats
    price: Floats
    a: Floats
    t: Floats

    @property
    def pairs(self) -> tuple[tuple[Floats, Floats], tuple[Floats, Floats]]:
        """Complementary pairs."""
        return (self.side, self.price), (self.a, self.t)

    def product(self) -> float:
        """Return the complementarity gap."""
        return float(sum(np.vdot(x, y) for x, y in self.pairs))

    def after(self, length: float, step: State) -> State:
        """Return the values after a step."""
        pairs = zip(self.values(), step.values(), strict=True)
        return State(*(now + length * by for now, by in pairs))

    def max_step(self, step: State) -> float:
        """Return the longest step, at most 1, that keeps all values positive."""
        lowest = min(
            float((by / now).min(initial=0.0))
            for now, by in zip(self.values()[2:], step.values()[2:], strict=True)
        )
        return 1.0 / max(1.0, -lowest)

    def values(self) -> tuple[Any, ...]:
        """Return all values."""
        return self.w, self.b, self.side, self.price, self.a, self.t


def interior_points(
    columns: PenalizedColumns,
    loss: SmoothLoss,
    y: Floats,
    c: Floats,
    *,
    fit_intercept: bool,
    start: Floats,
) -> Iterator[tuple[Floats, Floats, float]]:
    """Yield w, z and the estimated relative gap after each step.

    Parameters
    ----------
    columns : Corners
    loss : SquaredError, Logistic or SquaredHinge
    y, c : ndarray, shape (n,)
        Targets and costs, all above 0.
    fit_intercept : bool
    start : ndarray, shape (d,)
        Weights of the expected size.
    """
    work = _Work(columns, loss, y, c, fit_intercept)
    now: State | None = work.first(start)
    while now is not None:
        now, z = _next(work, now)
        if now is not None:
            primal = work.primal(now)
            yield now.w, z, now.product() / primal if primal > 0 else 0.0


def _next(work: _Work, now: State) -> tuple[State | None, Floats]:
    """Return the state after a step, None if there is none, and its z."""
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        try:
            system = _System(work, now)
        except LinAlgError:
            return None, now.a
        step = system.step()
        max_step = now.max_step(step)
        length = BOUNDARY_FRACTION * max_step if max_step < 1 else 1.0  # 4
        moved = float(np.abs(work.columns.x.T @ step.w + step.b).max())
        length = min(length, work.longest / (moved + TINY))
        if not length > MIN_STEP:  # nor where numbers overflow
            return None, now.a
        z = system.z + length * system.moved(step)
        now = now.after(length, step)
        if len(work.columns.sign):
            now.w = (work.columns.sign * now.side).sum(axis=0)
        return (now if np.abs(now.w).max() < MAX_WEIGHT else None), z


@dataclass(frozen=True)
class _Work:
    """The constants of the iteration."""

    columns: PenalizedColumns
    loss: SmoothLoss
    y: Floats
    c: Floats
    fit_intercept: bool

    @property
    def has_slacks(self) -> bool:
        return isinstance(self.loss, SquaredHinge)

    @property
    def longest(self) -> float:
        """Maximum change of scores in a step."""
        return MAX_SCORE_STEP if isinstance(self.loss, Logistic) else np.inf

    @cached_property
    def products(self) -> Floats | None:
        """XHX' if the curvature is constant."""
        if isinstance(self.loss, SquaredError):
            return self.columns.of_columns(self.c)
        return None

    def scores(self, now: State) -> Floats:
        scores: Floats = self.columns.x.T @ now.w + now.b
        return scores

    def primal(self, now: State) -> float:
        own = self.columns
        size = np.abs(now.w)
        penalty = float(own.l1 @ size + 0.5 * (own.l2 @ (size * size)))
        return self.loss.total(self.y, self.scores(now), self.c) + penalty

    def first(self, start: Floats) -> State:
        """Return a strictly positive start: parts exceed weights by their coordinate steps."""
        own, loss = self.columns, self.loss
        sign = own.sign
        scores = own.x.T @ start
        b = loss.best_intercept(self.y, scores, self.c) if self.fit_intercept else 0.0
        gradient, h = loss.derivatives(self.y, scores + b, self.c)
        correlation = -(own.x @ gradient)
        curvature = own.squares(2 * self.c if self.has_slacks else h) + own.l2
        beyond = np.maximum(own.l1, np.abs(correlation)) / np.maximum(curvature, TINY)
        if own.positive:  # together they must not lead far away
            beyond *= min(
                1.0, self._unit(scores + b) / (float(np.abs(own.x.T @ beyond).max()) + TINY)
            )
        side = np.maximum(sign * start, 0.0) + beyond + TINY
        w = (sign * side).sum(axis=0) if len(sign) else start
        uphill = own.l2 * w - correlation
        least = np.maximum(own.l1, 0.1 * float(np.abs(uphill).mean()) + TINY)
        price = np.maximum(own.l1 + sign * uphill, least)
        if not self.has_slacks:
            return State(w, b, side, price, np.empty(0), np.empty(0))
        over = self.y * (own.x.T @ w + b) - 1.0
        mu = float((side * price).mean()) if price.size else 1.0
        root = np.hypot(over, np.sqrt(2.0 * mu / self.c))
        # a (m - 1 + a / 2c) = mu, without taking like numbers from each other
        a = np.where(over > 0, 2.0 * mu / (np.abs(over) + root), self.c * (root - over))
        return State(w, b, side, price, a, mu / a)

    def _unit(self, scores: Floats) -> float:
        """Return the size that scores have."""
        if isinstance(self.loss, SquaredError):
            return float(np.abs(self.y - scores).mean())
        return 1.0


class _System:
    """The linear system of a step (2)."""

    def __init__(self, work: _Work, now: State) -> None:
        own = work.columns
        self._work, self._now, self._sign = work, now, own.sign
        scores = work.scores(now)
        if work.has_slacks:
            self._room = now.a / (2 * work.c) + now.t
            self.z, self._h = work.y * now.a, now.a / self._room
            self._off = now.t - (work.y * scores - 1.0 + now.a / (2 * work.c))  # 1
        else:
            gradient, self._h = work.loss.derivatives(work.y, scores, work.c)
            self.z = -gradient
        self._uphill = own.l2 * now.w - own.x @ self.z
        self._missing = own.l1 + self._sign * self._uphill - now.price  # 1
        give = (now.side / now.price).sum(axis=0)
        self._give = give if len(self._sign) else np.ones_like(own.l1)
        stiff = own.l2 + (1.0 / give if len(self._sign) else 0.0)
        self._stiff = np.maximum(stiff, TINY)
        self._has_fewer_columns = len(own.l1) <= len(work.y)
        if self._has_fewer_columns:
            matrix = own.of_columns(self._h) if work.products is None else work.products.copy()
            matrix[np.diag_indices(len(matrix))] += self._stiff
            border, corner = own.x @ self._h, float(self._h.sum())
            self._equations = Bordered(matrix, border, corner, fit_intercept=work.fit_intercept)
            return
        self._root = np.sqrt(self._h)
        matrix = own.of_rows(1.0 / self._stiff) * self._root
        matrix *= self._root[:, None]
        matrix[np.diag_indices(len(matrix))] += 1.0
        self._factor = Cholesky(matrix)
        self._even = self._root * self._factor.solve(self._root)

    def step(self) -> State:
        """Return a step, predicted and corrected (3)."""
        now = self._now
        guess = self._towards(-now.side * now.price, -now.a * now.t)
        whole = now.product()
        count = max(1, now.side.size + now.a.size)
        left = now.after(now.max_step(guess), guess).product() / whole if whole > 0 else 0.0
        mu = whole / count * left**3
        return self._towards(
            mu - now.side * now.price - guess.side * guess.price,
            mu - now.a * now.t - guess.a * guess.t,
        )

    def moved(self, step: State) -> Floats:
        """Return the change of z."""
        work = self._work
        if work.has_slacks:
            return work.y * step.a
        change: Floats = -self._h * (work.columns.x.T @ step.w + step.b)
        return change

    def _towards(self, sides: Floats, rows: Floats) -> State:
        """Return the step for given changes of the complementary products."""
        work, now, own = self._work, self._now, self._work.columns
        pushed = np.zeros_like(self._h)
        if work.has_slacks:
            pushed = work.y * (rows + now.a * self._off) / self._room
        if len(self._sign):
            right = (self._sign * (sides - now.side * self._missing) / now.price).sum(axis=0)
            right /= self._give
        else:
            right = -self._uphill
        dw, db, dz = self._solved(right, pushed)
        price = self._missing + self._sign * (own.l2 * dw - own.x @ dz)
        side = (sides - now.side * price) / now.price
        if not work.has_slacks:
            return State(dw, db, side, price, now.a, now.t)
        da = work.y * dz
        moved = work.y * (own.x.T @ dw + db)
        return State(dw, db, side, price, da, moved + da / (2 * work.c) - self._off)

    def _solved(self, right: Floats, pushed: Floats) -> tuple[Floats, float, Floats]:
        """Return the changes of w, b and z: D dw - X dz = right, dz = pushed - H (X'dw + db).

        Solved again for what is left, which costs little beside the factor.
        """
        own, h = self._work.columns, self._h
        total = -float(self.z.sum())
        dw, db, dz = np.zeros_like(right), 0.0, np.zeros_like(pushed)
        for _ in range(ROUNDS):
            rest = right - self._stiff * dw + own.x @ dz
            lacking = pushed - dz - h * (own.x.T @ dw + db)
            missing = total - float(dz.sum()) if self._work.fit_intercept else 0.0
            solve = self._by_columns if self._has_fewer_columns else self._by_rows
            more = solve(rest, lacking, missing)
            dw, db, dz = dw + more[0], db + more[1], dz + more[2]
        return dw, db, dz

    def _by_columns(
        self, right: Floats, pushed: Floats, total: float
    ) -> tuple[Floats, float, Floats]:
        own = self._work.columns
        dw, db = self._equations.solve(right + own.x @ pushed, float(pushed.sum()) - total)
        return dw, db, pushed - self._h * (own.x.T @ dw + db)

    def _by_rows(self, right: Floats, pushed: Floats, total: float) -> tuple[Floats, float, Floats]:
        """Solve (1/H + X'D^-1 X) dz + db = pushed / H - X'D^-1 right, sum dz = total."""
        own = self._work.columns
        known = np.divide(pushed, self._root, out=np.zeros_like(pushed), where=self._root > 0)
        known -= self._root * (own.x.T @ (right / self._stiff))
        dz = self._root * self._factor.solve(known)
        whole, db = float(self._even.sum()), 0.0
        if self._work.fit_intercept and whole > 0:
            db = (float(dz.sum()) - total) / whole
            dz = dz - db * self._even
        return (right + own.x @ dz) / self._stiff, db, dz
