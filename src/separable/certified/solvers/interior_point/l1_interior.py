"""Primal-dual interior point for l1 and elastic net penalties, few columns or few rows.

problem   minimise over w, (d, K), and b  sum_i c_i loss(y_i, w'x_i + b)
          + sum_jk (l1_j |w_jk| + l2_j w_jk^2 / 2)
given     columns x_j; a smooth loss of the scores of all rows, (n, K); K = 1, or classes jointly
returns   after each step w, a dual point z, and the complementarity gap
steps     0. sides: w = p - q of values above 0, or w = p where it may not be negative; each is
             paired with its price l1 + l2 w - g, or l1 - l2 w + g, for the correlation g = X'z.
             Rows of the squared hinge have a = y z, paired with the slack t = m - 1 + a / 2c of
             their margin m; of other losses z is minus the gradient
          1. residuals of prices, slacks and sum z = 0
          2. a step of `predictor_corrector`, with `_Equations`
source    K. Koh, S.-J. Kim, S. Boyd, An interior-point method for large-scale l1-regularized
          logistic regression, JMLR 8 (2007)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from separable.certified.solvers.interior_point import predictor_corrector
from separable.certified.solvers.interior_point.predictor_corrector import Point
from separable.linalg.cholesky import Cholesky
from separable.linalg.lstsq import lstsq
from separable.losses.row_losses import RowLosses
from separable.typing import Floats

TINY = 1e-300
#: Maximum change of scores in a step, or their size if that is more, for non-quadratic losses.
MAX_SCORE_STEP = 10.0
#: Larger weights overflow when squared.
MAX_WEIGHT = 1e150
#: Solves per system: one step of iterative refinement.
ROUNDS = 2
#: Products do not vanish before price residuals do: mu is at least this fraction of them.
MIN_CENTRING = 0.01


@dataclass(frozen=True)
class PenalizedColumns:
    """Columns with the l1 and l2 weights of their coefficients.

    Parameters
    ----------
    x : ndarray or sparse array, shape (d, n)
        In float64, no column without a value.
    l1, l2 : ndarray, shape (d,)
    """

    x: Any
    l1: Floats
    l2: Floats
    positive: bool

    @property
    def sign(self) -> Floats:
        """Signs of the positive and negative parts of a weight; empty without l1."""
        if self.positive:
            return np.ones((1, 1, 1))
        return np.array([1.0, -1.0])[: 2 * int(self.l1.any()), None, None]

    def squares(self, c: Floats) -> Floats:
        """Return sum_i c_ik x_ij^2, (d, K)."""
        square = self.x.multiply(self.x) if hasattr(self.x, "multiply") else self.x * self.x
        return np.asarray(square @ c)

    def times(self, root: Floats) -> Any:
        """Return the derivatives of R'(w'x) by w, (nK, dK), for R = ``root``, (n, K, K)."""
        n, K, _ = root.shape
        if K > 1:
            turned = root.transpose(0, 2, 1)[:, :, None, :]
            return (turned * self.x.T[:, None, :, None]).reshape(n * K, -1)
        if hasattr(self.x, "multiply"):
            return self.x.T.multiply(root[:, 0]).tocsr()
        return self.x.T * root[:, 0]


def interior_points(
    columns: PenalizedColumns, rows: RowLosses, *, fit_intercept: bool, start: Floats
) -> Iterator[tuple[Floats, Floats, float]]:
    """Yield w, z and the estimated relative gap after each step.

    Parameters
    ----------
    rows : RowLosses
        Each class has rows; costs are above 0.
    start : ndarray, shape (d, K)
        Weights of the expected size.
    """
    model = _Model(columns, rows, fit_intercept)
    for now in predictor_corrector.interior_points(model.system, model.first(start)):
        w = model.weights(now)
        if not np.abs(w).max() < MAX_WEIGHT:
            return
        primal = model.primal(now)
        yield w, model.dual(now), now.complementarity() / primal if primal > 0 else 0.0


class _Model:
    """The constants of the iteration."""

    def __init__(self, columns: PenalizedColumns, rows: RowLosses, fit_intercept: bool) -> None:
        self.columns, self.rows, self.fit_intercept = columns, rows, fit_intercept
        self.sign = columns.sign
        self.l1, self.l2 = columns.l1[:, None], columns.l2[:, None]
        self.has_slacks = not rows.loss.is_twice_differentiable

    def weights(self, now: Point) -> Floats:
        if not len(self.sign):
            w: Floats = now.free[0]
            return w
        return np.asarray((self.sign * now.pairs[0][0]).sum(axis=0))

    def scores(self, now: Point) -> Floats:
        scores: Floats = self.columns.x.T @ self.weights(now) + now.free[1]
        return scores

    def dual(self, now: Point) -> Floats:
        if self.has_slacks:
            return self.rows.y[:, None] * now.pairs[1][0]
        return -self.rows.expand(self.scores(now)).gradient

    def primal(self, now: Point) -> float:
        size = np.abs(self.weights(now))
        penalty = float((self.l1 * size + 0.5 * self.l2 * size * size).sum())
        return self.rows.total(self.scores(now)) + penalty

    def first(self, start: Floats) -> Point:
        """Return a strictly positive start: parts exceed weights by their coordinate steps."""
        own, rows, sign = self.columns, self.rows, self.sign
        scores, b = own.x.T @ start, np.zeros(start.shape[1])
        if self.fit_intercept:
            b = rows.best_intercepts(scores)
        model = rows.expand(scores + b)
        z = -model.gradient
        correlation = own.x @ z
        h = 2.0 * rows.c[:, None] if self.has_slacks else (model.root() ** 2).sum(axis=2)
        beyond = np.maximum(self.l1, np.abs(correlation))
        beyond /= np.maximum(own.squares(h) + self.l2, TINY)
        if own.positive or start.shape[1] > 1:  # together they must not lead far away
            unit = float(np.abs(z / h).mean()) if rows.loss.is_quadratic else 1.0
            beyond *= min(1.0, unit / (float(np.abs(own.x.T @ beyond).max()) + TINY))
        side = np.maximum(sign * start, 0.0) + beyond + TINY
        w = (sign * side).sum(axis=0) if len(sign) else start
        uphill = self.l2 * w - correlation
        least = np.maximum(self.l1, 0.1 * float(np.abs(uphill).mean()) + TINY)
        price = np.maximum(self.l1 + sign * uphill, least)
        pairs: tuple[tuple[Floats, Floats], ...] = ((side, price),)
        if self.has_slacks:
            y, c = rows.y[:, None], rows.c[:, None]
            over = y * (own.x.T @ w + b) - 1.0
            mu = float((side * price).mean()) if price.size else 1.0
            root = np.hypot(over, np.sqrt(2.0 * mu / c))
            # a (m - 1 + a / 2c) = mu, without taking like numbers from each other
            a = np.where(over > 0, 2.0 * mu / (np.abs(over) + root), c * (root - over))
            pairs = (*pairs, (a, mu / a))
        return Point((w, b), pairs)

    def system(self, now: Point) -> _System:
        return _System(self, now)

    def equations(self, root: Floats, stiff: Floats) -> _Equations:
        """Return the equations of a step, for a root of the Hessian and the diagonal D."""
        if self.rows.loss.is_quadratic:
            return _Equations(*self._constant, stiff.ravel())
        return _Equations(self.columns.times(root), self._border(root), None, stiff.ravel())

    def _border(self, root: Floats) -> Floats:
        """Return the derivatives by the intercepts; of jointly learned classes the last is 0."""
        n, K, _ = root.shape
        n_intercepts = max(1, K - 1) if self.fit_intercept and root.any() else 0
        return root.transpose(0, 2, 1).reshape(n * K, K)[:, :n_intercepts]

    @cached_property
    def _constant(self) -> tuple[Any, Floats, Floats | None]:
        """The derivatives, their border and their Gram matrix if the curvature is constant."""
        root = self.rows.expand(np.zeros((self.columns.x.shape[1], 1))).root()
        derivatives, border = self.columns.times(root), self._border(root)
        few = derivatives.shape[1] <= derivatives.shape[0]
        return derivatives, border, _gram(derivatives) if few else None


class _System:
    """The KKT system of a step; see `KktSystem`."""

    def __init__(self, model: _Model, now: Point) -> None:
        self._model, self.now = model, now
        self._w, self._scores = model.weights(now), model.scores(now)
        side, price = now.pairs[0]
        if not model.has_slacks:
            rows = model.rows.expand(self._scores)
            self._root, z = rows.root(), -rows.gradient
        else:
            y, half = model.rows.y[:, None], 0.5 / model.rows.c[:, None]
            a, t = now.pairs[1]
            self._slack, z = half * a + t, model.dual(now)
            self._root = np.sqrt(a / self._slack)[:, :, None]
            self._off = t - (y * self._scores - 1.0 + half * a)  # 1
        self._uphill = model.l2 * self._w - model.columns.x @ z
        self._missing = model.l1 + model.sign * self._uphill - price  # 1
        has_sides = len(model.sign) > 0
        give = (side / price).sum(axis=0)
        self._give = give if has_sides else np.ones_like(self._w)
        stiff = model.l2 + (1.0 / give if has_sides else np.zeros_like(self._w))
        self._equations = model.equations(self._root, np.maximum(stiff, TINY))
        self._total = -z.sum(axis=0)
        self.least_mu = 0.0
        if side.size:
            self.least_mu = MIN_CENTRING * float(np.abs(self._missing * side).mean())

    def solve(self, products: list[Floats], *, is_correction: bool = False) -> Point:
        """Return the step that changes the products as given."""
        model, keep = self._model, 0.0 if is_correction else 1.0
        side, price = self.now.pairs[0]
        missing = keep * self._missing
        pushed = np.zeros_like(self._scores)
        if model.has_slacks:
            a, y = self.now.pairs[1][0], model.rows.y[:, None]
            pushed = y * (products[1] + keep * a * self._off) / self._slack
            pushed /= np.maximum(self._root[:, :, 0], TINY)
        right = -keep * self._uphill
        if len(model.sign):
            right = (model.sign * (products[0] - side * missing) / price).sum(axis=0) / self._give
        dw, db, dz, slope = self._equations.solve(
            right.ravel(), pushed.ravel(), keep * self._total[: self._equations.n_intercepts]
        )
        dw, slope = dw.reshape(self._w.shape), slope.reshape(self._w.shape)
        db = np.append(db, np.zeros(self._w.shape[1] - len(db)))
        d_price = missing + model.sign * (model.l2 * dw - slope)
        pairs: tuple[tuple[Floats, Floats], ...] = (
            ((products[0] - side * d_price) / price, d_price),
        )
        if model.has_slacks:
            da = y * self._root[:, :, 0] * dz.reshape(self._scores.shape)
            moved = y * (model.columns.x.T @ dw + db)
            pairs = (*pairs, (da, moved + 0.5 * da / model.rows.c[:, None] - keep * self._off))
        return Point((dw, db), pairs)

    def longest(self, step: Point) -> float:
        """Return the step that moves the scores by MAX_SCORE_STEP, or by their own size."""
        if self._model.rows.loss.is_quadratic or self._model.has_slacks:
            return 1.0
        moved = float(np.abs(self._model.columns.x.T @ step.free[0] + step.free[1]).max())
        return max(MAX_SCORE_STEP, float(np.abs(self._scores).max())) / (moved + TINY)


class _Equations:
    """D dw - B'q = right,  q = pushed - B dw - E db,  E'q = total, in unknowns dw, db and q.

    B has the derivatives of the scaled scores by the weights, E by the intercepts. Eliminated to
    the size of dw or of q, whichever is smaller, and refined iteratively.

    Parameters
    ----------
    derivatives : ndarray or sparse array, shape (m, p)
        B.
    border : ndarray, shape (m, k)
        E, k = 0 without an intercept.
    gram : ndarray, shape (p, p), or None
        B'B if it is known.
    stiff : ndarray, shape (p,)
        The diagonal of D.
    """

    def __init__(
        self, derivatives: Any, border: Floats, gram: Floats | None, stiff: Floats
    ) -> None:
        self._b, self._border, self._stiff = derivatives, border, stiff
        self.n_intercepts = border.shape[1]
        m, p = derivatives.shape
        self._has_fewer_columns = p <= m
        if self._has_fewer_columns:
            k = self.n_intercepts
            matrix = np.empty((p + k, p + k))
            matrix[:p, :p] = _gram(derivatives) if gram is None else gram
            matrix[np.arange(p), np.arange(p)] += stiff
            matrix[:p, p:] = derivatives.T @ border
            matrix[p:, :p] = matrix[:p, p:].T
            matrix[p:, p:] = border.T @ border
            self._factor = Cholesky(matrix)
            return
        scale = 1.0 / np.sqrt(stiff)
        scaled = (
            derivatives.multiply(scale) if hasattr(derivatives, "multiply") else derivatives * scale
        )
        matrix = _gram(scaled.T)
        matrix[np.diag_indices(m)] += 1.0
        self._factor = Cholesky(matrix)
        self._even = self._factor.solve(border)

    def solve(
        self, right: Floats, pushed: Floats, total: Floats
    ) -> tuple[Floats, Floats, Floats, Floats]:
        """Return dw, db, q and B'q."""
        dw, db, q = np.zeros_like(right), np.zeros(self.n_intercepts), np.zeros_like(pushed)
        slope = np.zeros_like(right)
        for _ in range(ROUNDS):
            more = self._solve_once(
                right - self._stiff * dw + slope,
                pushed - q - self._b @ dw - self._border @ db,
                total - self._border.T @ q,
            )
            dw, db, q = dw + more[0], db + more[1], q + more[2]
            slope = self._b.T @ q
        return dw, db, q, slope

    def _solve_once(
        self, right: Floats, pushed: Floats, total: Floats
    ) -> tuple[Floats, Floats, Floats]:
        b, border = self._b, self._border
        if self._has_fewer_columns:
            known = np.concatenate([right + b.T @ pushed, border.T @ pushed - total])
            solution = self._factor.solve(known)
            dw, db = solution[: len(right)], solution[len(right) :]
            return dw, db, pushed - b @ dw - border @ db
        q = self._factor.solve(pushed - b @ (right / self._stiff))
        db = lstsq(border.T @ self._even, border.T @ q - total) if len(total) else total
        q = q - self._even @ db
        return (right + b.T @ q) / self._stiff, db, q


def _gram(b: Any) -> Floats:
    """Return B'B."""
    if not hasattr(b, "multiply"):
        products: Floats = b.T @ b
        return products
    products = np.zeros((b.shape[1],) * 2)
    (b.T @ b).todense(out=products)
    return products
