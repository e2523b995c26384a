"""Leave-one-out of smooth losses from one fit: one Newton step, more where it is long.

The problem, for each row i, in the terms of `changes`: minimise the objective without it. Given is
the optimum of all rows, with gradients g and curvatures k of the losses there.

1. A = sum_j k_j x_j x_j' + l2, factored once. Without row i it is A - k_i x_i x_i', whose inverse
   follows, by Sherman and Morrison, from t_i = A^-1 x_i and the leverage h_i = x_i.t_i.
2. Newton's step: delta_i = -(A - k_i x_i x_i')^-1 (p_i - g_i x_i), where p_i is what else changes.
   Without that the score moves by g_i h_i / (1 - k_i h_i).
3. Curvatures have changed little where no score has: |x_j.delta_i| <= sqrt(h_j) |delta_i|_A. That
   bound is the reach of row i. The first step is exact for squared errors, and for squared hinges
   as long as the rows inside the margin are the same.
4. Rows of a longer reach take more steps, with updated gradients and the matrix of step 1, until
   their score converges; rows that do not converge are doubtful.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from separable.certified.loo.changes import Deviations
from separable.certified.loo.loo_rows import parts_of, row_dots
from separable.linalg.cholesky import Cholesky

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from separable.certified.loo.changes import Changes
    from separable.certified.loo.loo_rows import LeftOutRows
    from separable.losses.loss import Loss
    from separable.typing import Floats, Indices


__all__ = ["SmoothFit", "left_out_smooth"]

#: Rows with a larger k h (leverage) need a refit.
MAX_LEVERAGE = 0.9
#: For squared errors, whose step is exact but for digits.
MAX_LEVERAGE_SQUARED = 1.0 - 1e-6
#: A reach up to which one step will do, and one that is doubtful without another.
ONE_STEP_BOUND, MAX_STEP = 0.03, 0.5
#: Maximum steps, and the change of a score at which they stop.
MAX_STEPS, SCORE_TOL = 12, 1e-5
#: Numbers that more steps may multiply: beyond that only the farthest rows take them.
MAX_WORK = 2e9
#: Rounds of the equations with deviations that change.
MAX_ROUNDS, ROUND_TOL = 20, 1e-12


@dataclass(frozen=True)
class SmoothFit:
    """One model fitted to all rows.

    Parameters
    ----------
    rows : LeftOutRows
        Of the columns whose weights are free to move.
    loss : Loss
    y, c, s : ndarray, shape (n,)
        Targets, costs and scores.
    weights : ndarray, shape (d,)
        Of the problem's columns.
    l1_sign : ndarray, shape (d,)
        l1 times the sign of each weight.
    l2 : float
        l2; 0: no penalty.
    changes : Changes
    """

    rows: LeftOutRows
    loss: Loss
    y: Floats
    c: Floats
    s: Floats
    weights: Floats
    l1_sign: Floats
    l2: float
    changes: Changes

    @property
    def is_quadratic(self) -> bool:
        """Whether one step is exact."""
        return self.loss.is_quadratic


def left_out_smooth(
    fit: SmoothFit, check: Callable[[Indices, Floats, Floats], Floats] | None = None
) -> tuple[Floats, Floats]:
    """Return the score of each row without it, and how doubtful that is, (n,) each.

    Parameters
    ----------
    fit : SmoothFit
    check : callable, optional
        Called with some rows, these written out and their steps; says how doubtful each of these
        is for other reasons.

    Returns
    -------
    scores : ndarray, shape (n,)
    doubt : ndarray, shape (n,)
        0: none; larger: more of it.
    """
    steps = Steps(fit)
    n = fit.rows.n_rows
    moved, step_bound, h = np.empty(n), np.empty(n), np.empty(n)
    doubt = np.zeros(n)
    for part in fit.rows.each_part():
        x, delta, h[part], unsettled = steps.first(part)
        moved[part] = row_dots(x, delta)
        step_bound[part] = steps.length(delta)
        doubt[part] = unsettled
        if check is not None:
            doubt[part] += check(part, x, delta)
    alone = steps.k * h > (MAX_LEVERAGE_SQUARED if fit.is_quadratic else MAX_LEVERAGE)
    if not fit.is_quadratic:
        step_bound *= np.sqrt(h.max())
        chosen = np.flatnonzero((step_bound > ONE_STEP_BOUND) & ~alone)
        most = int(MAX_WORK / (n * fit.rows.size))
        chosen = np.sort(chosen[np.argsort(-step_bound[chosen], kind="stable")[:most]])
        far = step_bound > MAX_STEP
        doubt[far] += step_bound[far]
        for part in parts_of(chosen, fit.rows.size):
            moved[part], doubt[part] = steps.more(part, check)
    doubt[alone | steps.lost | ~np.isfinite(doubt)] = np.inf
    return fit.s + moved, doubt


class Steps:
    """Newton's steps of the objectives without one row.

    Parameters
    ----------
    fit : SmoothFit
    """

    def __init__(self, fit: SmoothFit) -> None:
        self._fit = fit
        rows, changes = fit.rows, fit.changes
        self.gradient, self.k = fit.loss.derivatives(fit.y, fit.s, fit.c)
        self._matrix, along = rows.sums(self.k, self.gradient)  # 1
        self._share = 1.0 if changes.share is None else float(np.median(changes.share))
        m = rows.size - rows.has_last
        self._matrix[np.arange(m), np.arange(m)] += self._share * fit.l2
        self._inverse = Cholesky(self._matrix).solve(np.eye(rows.size))
        self._penalty = fit.l2 * fit.weights + fit.l1_sign
        self._rest = along + rows.weights(self._penalty)  # 0 at the optimum
        self._by_class = (
            None if changes.factor is None else changes.sums_by_class(rows, self.gradient)
        )
        self._deviations = Deviations(rows, changes) if changes.is_standardized else None

    def first(self, part: Indices) -> tuple[Floats, Floats, Floats, Floats]:
        """Return rows, their first steps and leverages, and what is unsettled of the steps."""
        x = self._fit.rows.take(part)
        t = x @ self._inverse
        h = row_dots(t, x)
        room = 1.0 - self.k[part] * h
        correlation, extra = self._correlation(part)
        correlation -= (self._fit.changes.own(part) * self.gradient[part])[:, None] * x  # 2
        delta = self._solve(part, x, t, room, -correlation)
        unsettled = np.zeros(len(part))
        for _ in range(MAX_ROUNDS):
            if extra is None:
                break
            last, delta = delta, self._solve(part, x, t, room, -(correlation + extra * delta))
            size = row_dots(delta, delta)
            away = row_dots(delta - last, delta - last)
            unsettled = np.where(
                away > ROUND_TOL**2 * size, np.sqrt(away / np.maximum(size, away)), 0
            )
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
        return np.sqrt(np.maximum(row_dots(delta @ self._matrix, delta), 0.0))

    def more(
        self, chosen: Indices, check: Callable[[Indices, Floats, Floats], Floats] | None
    ) -> tuple[Floats, Floats]:
        """Return how far the scores of some rows move by many steps, and how doubtful that is."""
        x, delta, h, _ = self.first(chosen)
        t, room = x @ self._inverse, 1.0 - self.k[chosen] * h
        own = (self._fit.changes.own(chosen) * self.gradient[chosen])[:, None] * x
        correlation, extra = self._correlation(chosen)
        last = np.maximum(np.abs(row_dots(x, delta)), SCORE_TOL)
        doubt, going = np.zeros(len(chosen)), np.ones(len(chosen), np.bool_)
        l2 = self._share * self._fit.l2
        for _ in range(MAX_STEPS):
            at = np.flatnonzero(going)
            gradient = correlation[at] - own[at] + self._bent(chosen[at], delta[at])
            m = gradient.shape[1] - self._fit.rows.has_last
            gradient[:, :m] += l2 * delta[at, :m]
            if extra is not None:
                gradient += extra[at] * delta[at]
            step = self._solve(chosen[at], x[at], t[at], room[at], -gradient)
            move = row_dots(x[at], step)
            size = np.abs(move)
            # a step that is longer than the one before is not taken: the model does not hold
            good = size <= 0.7 * last[at]
            delta[at[good]] += step[good]
            last[at] = size
            doubt[at] = np.where(size <= SCORE_TOL, 0.0, np.maximum(size, MAX_STEP * ~good))
            going[at] = good & (size > SCORE_TOL)
            if not going.any():
                break
        if check is not None:
            doubt += check(chosen, x, delta)
        return row_dots(x, delta), doubt

    # ------------------------------------------------------------------ equations

    def _solve(self, part: Indices, x: Floats, t: Floats, room: Floats, right: Floats) -> Floats:
        """Return (A - k_i x_i x_i')^-1 of a right-hand side a row."""
        found = right @ self._inverse
        with np.errstate(divide="ignore", invalid="ignore"):
            share = self.k[part] * row_dots(found, x) / room
        found += share[:, None] * t
        return found

    def _correlation(self, part: Indices) -> tuple[Floats, Floats | None]:
        """Return the gradient without the row's own loss, and the l2 term that is not in A."""
        fit, changes = self._fit, self._fit.changes
        correlation = np.tile(self._rest, (len(part), 1))
        if changes.factor is not None and self._by_class is not None:
            correlation += (changes.factor[part] - 1.0) @ self._by_class
        share = changes.shares(part)[:, None]
        if self._deviations is None:
            if changes.share is None:
                return correlation, None
            correlation += (share - 1.0) * fit.rows.weights(self._penalty)
            if not fit.l2 or np.ptp(changes.share) == 0:
                return correlation, None
            squared = np.ones((len(part), fit.rows.size - fit.rows.has_last))
        else:
            squared = self._deviations.without(part)
            correlation += fit.rows.many_weights(
                fit.l2 * (share * squared - 1.0) * fit.weights
                + (share * np.sqrt(squared) - 1.0) * fit.l1_sign
            )
            if not fit.l2 or not fit.rows.has_columns:
                return correlation, None
        extra = np.zeros_like(correlation)
        extra[:, : squared.shape[1]] = fit.l2 * (share * squared - self._share)
        return correlation, extra

    def _bent(self, part: Indices, delta: Floats) -> Floats:
        """Return the change of the gradient of all other rows, (B, m)."""
        fit = self._fit
        bent = np.zeros((len(part), fit.rows.size))
        position = np.full(fit.rows.n_rows, -1)
        position[part] = np.arange(len(part))
        for block in parts_of(np.arange(fit.rows.n_rows), max(fit.rows.size, len(part))):
            x = fit.rows.take(block)
            s = fit.s[block, None] + x @ delta.T
            y, c = (np.repeat(each[block], s.shape[1]) for each in (fit.y, fit.c))
            gradient = fit.loss.derivatives(y, s.ravel(), c)[0].reshape(s.shape)
            gradient -= self.gradient[block, None]
            if fit.changes.factor is not None:
                gradient *= fit.changes.factor[part].T[fit.changes.label[block]]
            own_rows = np.flatnonzero(position[block] >= 0)
            gradient[own_rows, position[block[own_rows]]] = 0.0
            bent += gradient.T @ x
        return bent
