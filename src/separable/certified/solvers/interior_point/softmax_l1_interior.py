"""Interior point for l1-penalised multinomial logistic regression; see `l1_interior`.

problem   minimise over u, (d, K), and b  sum_i c_i softmax loss(y_i, x_i u + b)
          + sum_jk (l1_j |u_jk| + l2_j u_jk^2 / 2)
given     rows x_i, classes and costs
returns   after each step u, probabilities p, and the complementarity gap
steps     as there, with the curvature c_i (diag(p) - pp') of each row as the square of c_i^1/2
          (diag(p^1/2) - p p^1/2'): nK rows of dK columns, whose squares are all that counts
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import LinAlgError

from separable.certified.duality.softmax_l2_certifier import dual_points, softmax
from separable.certified.solvers.interior_point.l1_interior import (
    BOUNDARY_FRACTION,
    MAX_SCORE_STEP,
    MAX_WEIGHT,
    MIN_STEP,
    TINY,
    State,
)
from separable.linalg.cholesky import Cholesky
from separable.linalg.lstsq import lstsq
from separable.losses.softmax import best_intercepts, losses

if TYPE_CHECKING:
    from collections.abc import Iterator

    from separable.certified.duality.softmax_l2_certifier import RowClasses
    from separable.typing import Floats


__all__ = ["softmax_points", "suits_softmax"]

#: Maximum cells of the nK x dK matrix, and maximum size of the system.
MOST_NUMBERS, MOST_EQUATIONS = 6_000_000, 1500
#: Products do not vanish before what prices lack, times its side, does: the share of it to aim at.
MIN_CENTRING = 0.01
SIGN = np.array([1.0, -1.0])[:, None, None]


def suits_softmax(n_rows: int, n_columns: int, n_classes: int) -> bool:
    """Return whether a step is cheap enough."""
    few = n_classes * min(n_rows, n_columns)
    return few <= MOST_EQUATIONS and n_rows * n_columns * n_classes**2 <= MOST_NUMBERS


def softmax_points(
    x: Floats,
    rows: RowClasses,
    penalty: tuple[float, float],
    *,
    fit_intercept: bool,
    start: Floats,
) -> Iterator[tuple[Floats, Floats, float]]:
    """Yield weights, probabilities and the estimated relative gap after each step.

    Parameters
    ----------
    x : ndarray, shape (n, d)
    rows : RowClasses
        Each class has rows; costs are above 0.
    penalty : (float, float)
        l1, above 0, and l2.
    fit_intercept : bool
    start : ndarray, shape (d, K)
        Weights of the expected size.
    """
    work = _Work(x, rows, penalty, fit_intercept)
    now: State | None = work.first(start)
    while now is not None:
        with np.errstate(over="ignore", divide="ignore", invalid="ignore", under="ignore"):
            now = work.after(now)
        if now is not None:
            scores = work.scores(now)
            primal = work.primal(now, scores)
            yield now.w, softmax(scores), now.product() / primal if primal > 0 else 0.0


class _Work:
    def __init__(
        self, x: Floats, rows: RowClasses, penalty: tuple[float, float], fit_intercept: bool
    ) -> None:
        self._x, self._rows, self._fit_intercept = x, rows, fit_intercept
        self._l1, self._l2 = penalty

    def scores(self, now: State) -> Floats:
        scores: Floats = self._x @ now.w + now.b
        return scores

    def primal(self, now: State, scores: Floats) -> float:
        size = np.abs(now.w)
        penalty = self._l1 * size.sum() + 0.5 * self._l2 * (size * size).sum()
        return float(self._rows.c @ losses(self._rows.y, scores) + penalty)

    def first(self, start: Floats) -> State:
        """Return a strictly positive start: parts exceed weights by their coordinate steps."""
        rows, scores = self._rows, self._x @ start
        b = np.zeros(start.shape[1])
        if self._fit_intercept:
            b = best_intercepts(rows.y, scores, rows.c)
        probabilities = softmax(scores + b)
        correlation = self._x.T @ dual_points(rows, probabilities)
        curvature = (self._x**2).T @ (
            rows.c[:, None] * probabilities * (1.0 - probabilities)
        ) + self._l2
        beyond = np.maximum(self._l1, np.abs(correlation)) / np.maximum(curvature, TINY)
        moved = float(np.abs(self._x @ beyond).max(initial=0.0))
        side = (
            np.maximum(SIGN * start, 0.0)
            + beyond * min(1.0, MAX_SCORE_STEP / (moved + TINY))
            + TINY
        )
        w = (SIGN * side).sum(axis=0)
        price = np.maximum(self._l1 + SIGN * (self._l2 * w - correlation), self._l1)
        return State(w, b, side, price, np.empty(0), np.empty(0))

    def after(self, now: State) -> State | None:
        """Return the values after a step; None: there is none."""
        try:
            system = _System(self, now)
            step = system.step()
        except (LinAlgError, ValueError):  # numbers are not finite
            return None
        max_step = now.max_step(step)
        moved = float(np.abs(self._x @ step.w + step.b).max())
        length = BOUNDARY_FRACTION * max_step if max_step < 1 else 1.0
        longest = max(MAX_SCORE_STEP, float(np.abs(self.scores(now)).max()))
        length = min(length, longest / (moved + TINY))
        if not length > MIN_STEP:
            return None
        now = now.after(length, step)
        now.w = (SIGN * now.side).sum(axis=0)
        return now if np.abs(now.w).max() < MAX_WEIGHT else None


class _System:
    """The linear system of a step."""

    def __init__(self, work: _Work, now: State) -> None:
        self._now = now
        self._l2, x, rows = work._l2, work._x, work._rows
        probabilities = softmax(work.scores(now))
        z = dual_points(rows, probabilities)
        self._missing = work._l1 + SIGN * (self._l2 * now.w - x.T @ z) - now.price
        self._give = (now.side / now.price).sum(axis=0)
        self._stiff = (self._l2 + 1.0 / self._give).ravel()
        (n, d), K = x.shape, probabilities.shape[1]
        halves = np.sqrt(probabilities)
        root = -probabilities[:, :, None] * halves[:, None, :]  # (n, m, k)
        root[:, np.arange(K), np.arange(K)] += halves
        root *= np.sqrt(rows.c)[:, None, None]
        turned = root.transpose(0, 2, 1)  # (n, k, m)
        self._b = np.multiply(turned[:, :, None, :], x[:, None, :, None]).reshape(n * K, d * K)
        self._b0 = turned.reshape(n * K, K) if work._fit_intercept else np.zeros((n * K, 0))
        self._total = z.sum(axis=0)[: self._b0.shape[1]]
        self._has_fewer_columns = d <= n
        if self._has_fewer_columns:
            whole = np.hstack([self._b, self._b0])
            matrix = whole.T @ whole
            matrix[np.arange(d * K), np.arange(d * K)] += self._stiff
            self._factor = Cholesky(matrix)
            return
        matrix = (self._b / self._stiff) @ self._b.T
        matrix[np.diag_indices(n * K)] += 1.0
        self._factor = Cholesky(matrix)
        self._even = self._factor.solve(self._b0)

    def step(self) -> State:
        """Return a predictor-corrector step."""
        now = self._now
        guess = self._towards(-now.side * now.price)
        whole = now.product()
        left = now.after(now.max_step(guess), guess).product() / whole if whole > 0 else 0.0
        lack = float(np.abs(self._missing * now.side).mean())
        mu = max(whole / now.side.size * left**3, MIN_CENTRING * lack)
        return self._towards(mu - now.side * now.price - guess.side * guess.price)

    def _towards(self, sides: Floats) -> State:
        """Return the step for given changes of the complementary products."""
        now = self._now
        right = (SIGN * (sides - now.side * self._missing) / now.price).sum(axis=0) / self._give
        du, db, along = self._solved(right.ravel())
        dw = du.reshape(right.shape)
        price = self._missing + SIGN * (self._l2 * dw + along.reshape(right.shape))
        side = (sides - now.side * price) / now.price
        return State(dw, db if len(db) else np.zeros_like(now.b), side, price, now.a, now.t)

    def _solved(self, right: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the changes of weights and intercepts, and minus that of the correlations."""
        if self._has_fewer_columns:
            solution = self._factor.solve(np.append(right, self._total))
            du, db = solution[: len(right)], solution[len(right) :]
            return du, db, self._b.T @ (self._b @ du + self._b0 @ db)
        moved = self._factor.solve(self._b @ (right / self._stiff))
        db = lstsq(self._b0.T @ self._even, self._total - self._b0.T @ moved)
        moved = moved + self._even @ db
        along = self._b.T @ moved
        return (right - along) / self._stiff, db, along
