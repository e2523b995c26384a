"""Leave-one-out of smooth losses from one fit: one Newton step, more where it is long.

The problem, for each row i, in the terms of `changes`: minimise the objective without it. Given is
the optimum of all rows, K scores a row (one, or those of classes learned jointly), with gradients
g_i, (K,), and curvatures W_i, (K, K), of the losses there.

1. A = sum_j W_j (x) x_j x_j' + l2, factored once. Without row i it is A - W_i (x) x_i x_i', whose
   inverse follows, by Woodbury's identity, from T_i = A^-1 (1 (x) x_i) and the leverage
   H_i = (1 (x) x_i)' T_i, (K, K).
2. Newton's step: delta_i = -(A - W_i (x) x_i x_i')^-1 (p_i - g_i (x) x_i), where p_i is what else
   changes. With one score and without that it moves by g_i h_i / (1 - k_i h_i).
3. Curvatures have changed little where no score has: |x_j.delta_i|^2 <= |H_j| |delta_i|_A^2. That
   bound is the reach of row i. The first step is exact for squared errors, and for squared hinges
   as long as the rows inside the margin are the same.
4. Rows of a longer reach take more steps, with updated gradients and the matrix of step 1, until
   their scores converge; rows that do not converge are doubtful.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from separable.certified.loo.changes import Changes, Deviations
from separable.certified.loo.loo_rows import LeftOutRows, parts_of, row_dots
from separable.linalg.cholesky import Cholesky
from separable.losses.row_losses import RowLosses
from separable.typing import Floats, Indices


@dataclass(frozen=True)
class SmoothOptions:
    """When steps are taken, and when they are doubtful.

    Parameters
    ----------
    max_leverage, max_leverage_squared : float
        Rows with a larger eigenvalue of H W need a refit; of squared errors, whose step is exact
        but for digits.
    one_step_bound, max_step : float
        A reach up to which one step will do, and one that is doubtful without another.
    max_steps, score_tol
        Maximum steps, and the change of a score at which they stop.
    max_work : float
        Numbers that more steps may multiply: beyond that only the farthest rows take them.
    max_rounds, round_tol
        Rounds of the equations with deviations that change.
    """

    max_leverage: float = 0.9
    max_leverage_squared: float = 1.0 - 1e-6
    one_step_bound: float = 0.03
    max_step: float = 0.5
    max_steps: int = 12
    score_tol: float = 1e-5
    max_work: float = 2e9
    max_rounds: int = 20
    round_tol: float = 1e-12


@dataclass(frozen=True)
class SmoothFit:
    """A model of K scores a row, fitted to all rows.

    Parameters
    ----------
    rows : LeftOutRows
        Of the columns whose weights are free to move.
    s : ndarray, shape (n, K)
        Scores.
    weights : ndarray, shape (d, K)
        Of the problem's columns.
    l1_sign : ndarray, shape (d, K)
        l1 times the sign of each weight.
    l2 : float
        l2; 0: no penalty.
    """

    rows: LeftOutRows
    losses: RowLosses
    s: Floats
    weights: Floats
    l1_sign: Floats
    l2: float
    changes: Changes
    options: SmoothOptions = SmoothOptions()

    @property
    def is_quadratic(self) -> bool:
        """Whether one step is exact."""
        return self.losses.loss.is_quadratic


def left_out_smooth(
    fit: SmoothFit, check: Callable[[Indices, Floats, Floats], Floats] | None = None
) -> tuple[Floats, Floats]:
    """Return the scores of each row without it, (n, K), and how doubtful they are, (n,).

    Parameters
    ----------
    check : callable, optional
        Called with some rows, these written out and their steps, (B, m) each; says how doubtful
        each of these is for other reasons.
    """
    steps, options, (n, K) = Steps(fit), fit.options, fit.s.shape
    moved, step_bound, own, widest = np.empty((n, K)), np.empty(n), np.empty(n), 0.0
    doubt = np.zeros(n)
    for part in parts_of(np.arange(n), K * max(K, fit.rows.size)):
        x, delta, h, doubt[part] = steps.first(part)
        moved[part] = _scores(x, delta)
        step_bound[part] = steps.length(delta)
        own[part], reach = steps.eigenvalues(part, h)
        widest = max(widest, reach)
        if check is not None:
            doubt[part] += check(part, x, delta[:, 0])
    alone = own > (options.max_leverage_squared if fit.is_quadratic else options.max_leverage)
    if not fit.is_quadratic:
        step_bound *= np.sqrt(widest)
        chosen = np.flatnonzero((step_bound > options.one_step_bound) & ~alone)
        most = int(options.max_work / (n * fit.rows.size * K))
        chosen = np.sort(chosen[np.argsort(-step_bound[chosen], kind="stable")[:most]])
        far = step_bound > options.max_step
        doubt[far] += step_bound[far]
        for part in parts_of(chosen, K * fit.rows.size):
            moved[part], doubt[part] = steps.more(part, check)
    doubt[alone | steps.lost | ~np.isfinite(doubt)] = np.inf
    return fit.s + moved, doubt


def _scores(x: Floats, delta: Floats) -> Floats:
    """Return the changes of scores of rows, (B, K), by steps of theirs, (B, K, m)."""
    scores: Floats = np.einsum("im,ikm->ik", x, delta)
    return scores


class Steps:
    """Newton's steps of the objectives without one row."""

    def __init__(self, fit: SmoothFit) -> None:
        self._fit, self._options = fit, fit.options
        rows, changes, K = fit.rows, fit.changes, fit.s.shape[1]
        model = fit.losses.expand(fit.s)
        self.gradient, self._curvature = model.gradient, model.hessians()
        self._share = 1.0 if changes.share is None else float(np.median(changes.share))
        self._matrix = self._full_matrix()  # 1
        self._inverse = Cholesky(self._matrix).solve(np.eye(len(self._matrix)))
        none = np.zeros(rows.n_rows)
        sums = np.stack([rows.sums(none, self.gradient[:, k])[1] for k in range(K)])
        self._penalty = fit.l2 * fit.weights + fit.l1_sign
        self._rest = sums + rows.many_weights(self._penalty.T)  # 0 at the optimum
        self._by_class: Floats | None = None
        if changes.factor is not None:
            by = [changes.sums_by_class(rows, self.gradient[:, k]) for k in range(K)]
            self._by_class = np.stack(by, axis=1)
        self._deviations = Deviations(rows, changes) if changes.is_standardized else None

    def _full_matrix(self) -> Floats:
        """Return A, (K m, K m).

        What adds the same to the scores of all classes moves no probability. Where it is not
        penalised it gets a curvature here: no gradient has such a component.
        """
        fit, rows, none = self._fit, self._fit.rows, np.zeros(self._fit.rows.n_rows)
        K, m = self._curvature.shape[1], rows.size
        weights = np.arange(m - rows.has_last)
        whole = np.empty((K, m, K, m))
        for a in range(K):
            for b in range(a, K):
                products = rows.sums(np.abs(self._curvature[:, a, b]), none)[0]
                whole[a, :, b] = whole[b, :, a] = products if a == b else -products
            whole[a, weights, a, weights] += self._share * fit.l2
        if K > 1:
            size = np.einsum("kjkj->j", whole) / K
            for at in np.arange(m) if fit.l2 == 0 else np.arange(len(weights), m):
                whole[:, at, :, at] += size[at]
        return whole.reshape(K * m, K * m)

    def first(self, part: Indices) -> tuple[Floats, Floats, Floats, Floats]:
        """Return rows, first steps, (B, K, m), leverages, and what is unsettled of the steps."""
        x = self._fit.rows.take(part)
        t, h = self._leverages(x)
        correlation, extra = self._correlation(part)
        correlation -= self._own(part, x)  # 2
        delta = self._solve(part, x, t, h, -correlation)
        unsettled, tol = np.zeros(len(part)), self._options.round_tol
        for _ in range(self._options.max_rounds):
            if extra is None:
                break
            last, delta = delta, self._solve(part, x, t, h, -(correlation + extra * delta))
            size, away = (np.einsum("ikm,ikm->i", each, each) for each in (delta, delta - last))
            ratio = np.sqrt(away / np.maximum(np.maximum(size, away), np.finfo(np.float64).tiny))
            unsettled = np.where(away > tol**2 * size, ratio, 0.0)
            if not unsettled.any():
                break
        return x, delta, h, unsettled

    @property
    def lost(self) -> NDArray[np.bool_]:
        """Rows without which a column is constant."""
        none = np.zeros(self._fit.rows.n_rows, np.bool_)
        return none if self._deviations is None else self._deviations.lost

    def length(self, delta: Floats) -> Floats:
        """Return |delta|_A."""
        flat = delta.reshape(len(delta), -1)
        return np.sqrt(np.maximum(row_dots(flat @ self._matrix, flat), 0.0))

    def eigenvalues(self, part: Indices, h: Floats) -> tuple[Floats, float]:
        """Return the largest eigenvalue of H W of each row, and the largest of any H.

        What adds the same to all classes does not count.
        """
        K = h.shape[1]
        if K == 1:
            return self._curvature[part, 0, 0] * h[:, 0, 0], float(h.max())
        own = np.linalg.eigvals(h @ self._curvature[part]).real.max(axis=1)
        apart = np.eye(K) - 1.0 / K
        return own, float(np.linalg.eigvalsh(apart @ h @ apart)[:, -1].max())

    def more(
        self, chosen: Indices, check: Callable[[Indices, Floats, Floats], Floats] | None
    ) -> tuple[Floats, Floats]:
        """Return how far the scores of some rows move by many steps, and how doubtful that is."""
        options, fit = self._options, self._fit
        x, delta, h, _ = self.first(chosen)
        t = self._leverages(x)[0]
        correlation, extra = self._correlation(chosen)
        correlation -= self._own(chosen, x)
        last = np.maximum(np.abs(_scores(x, delta)).max(axis=1), options.score_tol)
        doubt, going = np.zeros(len(chosen)), np.ones(len(chosen), np.bool_)
        l2, m = self._share * fit.l2, fit.rows.size - fit.rows.has_last
        for _ in range(options.max_steps):
            at = np.flatnonzero(going)
            gradient = correlation[at] + self._bent(chosen[at], delta[at])
            gradient[:, :, :m] += l2 * delta[at, :, :m]
            if extra is not None:
                gradient += extra[at] * delta[at]
            step = self._solve(chosen[at], x[at], t[at], h[at], -gradient)
            size = np.abs(_scores(x[at], step)).max(axis=1)
            # a step that is longer than the one before is not taken: the model does not hold
            good = size <= 0.7 * last[at]
            delta[at[good]] += step[good]
            last[at] = size
            is_short = size <= options.score_tol
            doubt[at] = np.where(is_short, 0.0, np.maximum(size, options.max_step * ~good))
            going[at] = good & ~is_short
            if not going.any():
                break
        if check is not None:
            doubt += check(chosen, x, delta[:, 0])
        return _scores(x, delta), doubt

    # ------------------------------------------------------------------ equations

    def _own(self, part: Indices, x: Floats) -> Floats:
        """Return the gradients of the rows' own losses, (B, K, m)."""
        gradient = self._fit.changes.own(part)[:, None] * self.gradient[part]
        own: Floats = gradient[:, :, None] * x[:, None]
        return own

    def _leverages(self, x: Floats) -> tuple[Floats, Floats]:
        """Return T of some rows, (B, K, K m), and H, (B, K, K)."""
        m = x.shape[1]
        K = len(self._inverse) // m
        t = np.stack([x @ self._inverse[k * m : (k + 1) * m] for k in range(K)], axis=1)
        return t, np.einsum("ikam,im->ika", t.reshape(len(x), K, K, m), x)

    def _solve(self, part: Indices, x: Floats, t: Floats, h: Floats, right: Floats) -> Floats:
        """Return (A - W_i (x) x_i x_i')^-1 of a right-hand side a row, (B, K, m)."""
        found = right.reshape(len(right), -1) @ self._inverse
        scores, w = _scores(x, found.reshape(right.shape)), self._curvature[part]
        with np.errstate(divide="ignore", invalid="ignore"):
            if w.shape[1] == 1:
                moved = scores / (1.0 - h[:, 0] * w[:, 0])
            else:
                across = np.eye(w.shape[1]) - h @ w
                moved = np.asarray(np.linalg.solve(across, scores[:, :, None])[:, :, 0], np.float64)
            found += np.einsum("ik,ikm->im", np.einsum("ika,ia->ik", w, moved), t)
        return found.reshape(right.shape)

    def _correlation(self, part: Indices) -> tuple[Floats, Floats | None]:
        """Return the gradient without the row's own loss, and the l2 term that is not in A."""
        fit, changes, rows = self._fit, self._fit.changes, self._fit.rows
        correlation = np.tile(self._rest, (len(part), 1, 1))
        if changes.factor is not None and self._by_class is not None:
            correlation += np.tensordot(changes.factor[part] - 1.0, self._by_class, axes=1)
        share = changes.shares(part)[:, None]
        if self._deviations is None:
            if changes.share is None:
                return correlation, None
            correlation += (share - 1.0)[:, None] * rows.many_weights(self._penalty.T)
            if not fit.l2 or np.ptp(changes.share) == 0:
                return correlation, None
            squared = np.ones((len(part), rows.size - rows.has_last))
        else:
            squared = self._deviations.without(part)
            for k in range(correlation.shape[1]):
                correlation[:, k] += rows.many_weights(
                    fit.l2 * (share * squared - 1.0) * fit.weights[:, k]
                    + (share * np.sqrt(squared) - 1.0) * fit.l1_sign[:, k]
                )
            if not fit.l2 or not rows.has_columns:
                return correlation, None
        extra = np.zeros((len(part), 1, rows.size))
        extra[:, 0, : squared.shape[1]] = fit.l2 * (share * squared - self._share)
        return correlation, extra

    def _bent(self, part: Indices, delta: Floats) -> Floats:
        """Return the change of the gradient of all other rows, (B, K, m)."""
        fit, (B, K, _) = self._fit, delta.shape
        bent = np.zeros((B, K, fit.rows.size))
        position = np.full(fit.rows.n_rows, -1)
        position[part] = np.arange(B)
        for block in parts_of(np.arange(fit.rows.n_rows), max(fit.rows.size, B * K)):
            x = fit.rows.take(block)
            s = fit.s[block, None] + (x @ delta.reshape(B * K, -1).T).reshape(-1, B, K)
            losses = fit.losses.take(np.repeat(block, B))
            gradient = losses.expand(s.reshape(-1, K)).gradient.reshape(s.shape)
            gradient -= self.gradient[block, None]
            if fit.changes.factor is not None:
                gradient *= fit.changes.factor[part].T[fit.changes.label[block]][:, :, None]
            own_rows = np.flatnonzero(position[block] >= 0)
            gradient[own_rows, position[block[own_rows]]] = 0.0
            bent += (gradient.reshape(len(block), -1).T @ x).reshape(bent.shape)
        return bent
