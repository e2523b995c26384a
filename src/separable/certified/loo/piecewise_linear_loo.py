"""Exact leave-one-out of piecewise linear losses by a parametric path (decremental SVM).

The loss of a row has one breakpoint (two with epsilon): below it the dual value beta of the row is
``high``, above it ``low``, and at the breakpoint in between. Rows at their breakpoint are the
margin support vectors: w = sum_v beta_v x_v. Row i is removed gradually, from its dual value z_i to
(1 - t) z_i (Cauwenberghs and Poggio, 2001):

1. as t grows, the scores of rows at their breakpoint stay fixed and their beta change, by a linear
   system of their inner products; b keeps the sum of all beta at 0;
2. the first event: a beta reaches a bound and the row leaves its breakpoint; another row reaches
its
   breakpoint; or t = 1;
3. continue with 1.

Without a row at its breakpoint, b alone moves until there is one. The path ends at the exact
optimum without the row. Many rows i run at once and consider only nearby breakpoints at first; the
others are checked at the end, and rows that crossed one run again with more of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from separable.certified.loo.changes import Changes, Deviations
from separable.certified.loo.loo_rows import LeftOutRows, parts_of, row_dots
from separable.typing import Floats, Indices

#: A beta within this fraction of its range from a bound is at the bound.
BOUND_TOL = 1e-6
#: Maximum inconsistency of a score with its beta.
MAX_SCORE_ERROR = 1e-4
#: Relative ridge for duplicate rows.
RIDGE = 1e-12
#: Maximum rows removed at once, and cells of their tables.
MAX_LANES, MAX_TABLE_CELLS = 256, 1 << 22
#: Nearby breakpoints considered first: a constant, plus per column; then their factor.
FIRST_NEAR, NEAR_PER_COLUMN, NEAR_FACTOR = 60, 4, 4
#: Maximum steps beyond the number of nearby breakpoints.
MAX_STEPS = 100
#: Maximum rounds of rescaling for standardised columns, and their tolerance.
MAX_ROUNDS, ROUND_TOL = 20, 1e-11


@dataclass(frozen=True)
class Breakpoints:
    """The breakpoints of the losses of all rows.

    Parameters
    ----------
    row : ndarray of int, shape (v,)
    at : ndarray, shape (v,)
        The score at the breakpoint.
    low, high : ndarray, shape (v,)
        beta above and below the breakpoint.
    """

    row: Indices
    at: Floats
    low: Floats
    high: Floats

    @classmethod
    def of_hinge(cls, y: Floats, c: Floats) -> Breakpoints:
        """Return those of max(0, 1 - y s)."""
        up = y > 0
        return cls(np.arange(len(y)), y, np.where(up, 0.0, -c), np.where(up, c, 0.0))

    @classmethod
    def of_insensitive(cls, y: Floats, c: Floats, epsilon: float) -> Breakpoints:
        """Return those of max(0, |y - s| - epsilon)."""
        rows = np.arange(len(y))
        if epsilon == 0:
            return cls(rows, y, -c, c)
        none = np.zeros_like(c)
        return cls(
            np.concatenate([rows, rows]),
            np.concatenate([y - epsilon, y + epsilon]),
            np.concatenate([none, -c]),
            np.concatenate([c, none]),
        )


@dataclass(frozen=True)
class PiecewiseLinearFit:
    """One model fitted to all rows.

    Parameters
    ----------
    scores, dual : ndarray, shape (n,)
    weights : ndarray, shape (d,)
        Of the problem's columns.
    changes : Changes
        Without factors of classes.
    """

    rows: LeftOutRows
    breakpoints: Breakpoints
    scores: Floats
    dual: Floats
    weights: Floats
    changes: Changes


def left_out_piecewise_linear(fit: PiecewiseLinearFit) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Return the score of each row without it, how doubtful that is, and whether it is exact."""
    breakpoints, n = fit.breakpoints, len(fit.scores)
    beta = np.clip(fit.dual[breakpoints.row], breakpoints.low, breakpoints.high)
    # of the two breakpoints of a row, one has the whole dual value and the other one stays at 0
    width = breakpoints.high - breakpoints.low
    close = BOUND_TOL * np.minimum(width, np.abs(fit.dual).max(initial=0.0))
    side = np.where(
        beta >= breakpoints.high - close, -1, np.where(beta <= breakpoints.low + close, 1, 0)
    )
    gap = fit.scores[breakpoints.row] - breakpoints.at
    rough = float(
        np.max(np.where(side == 0, np.abs(gap), np.maximum(-side * gap, 0.0)), initial=0.0)
    )
    gap = np.where(side == 0, 0.0, side * np.maximum(side * gap, 0.0))
    beta = np.where(side < 0, breakpoints.high, np.where(side > 0, breakpoints.low, beta))
    moved, doubt = np.zeros(n), np.zeros(n)
    start = _Start(fit, beta, side, gap)
    waiting = np.flatnonzero(
        np.abs(fit.dual) > BOUND_TOL * BOUND_TOL * np.abs(fit.dual).max(initial=0.0)
    )
    if not fit.changes.is_empty:
        waiting = np.arange(n)
    near = FIRST_NEAR + NEAR_PER_COLUMN * fit.rows.size
    while len(waiting):
        near = min(near, len(gap))
        found = [_taken_out(start, some, near) for some in _parts(waiting, near)]
        move, left = (np.concatenate(each) for each in zip(*found, strict=True))
        moved[waiting], doubt[waiting] = move, left
        met = np.isinf(left) & (near < len(gap))
        waiting, near = waiting[met], NEAR_FACTOR * near
    if start.deviations is not None:
        doubt[start.deviations.lost] = np.inf
    if rough > MAX_SCORE_ERROR:
        doubt += rough
    exact = fit.rows.has_columns or not fit.changes.is_standardized
    return fit.scores + moved, doubt, np.full(n, exact)


def _parts(rows: Indices, near: int) -> list[Indices]:
    step = max(8, min(MAX_LANES, MAX_TABLE_CELLS // near))
    return [rows[first : first + step] for first in range(0, len(rows), step)]


@dataclass(frozen=True)
class _Start:
    """Where all rows start: the fit."""

    fit: PiecewiseLinearFit
    beta: Floats
    side: NDArray[np.int64]
    gap: Floats
    deviations: Deviations | None = field(init=False)

    def __post_init__(self) -> None:
        changes, rows = self.fit.changes, self.fit.rows
        made = Deviations(rows, changes) if changes.is_standardized else None
        object.__setattr__(self, "deviations", made)

    def scales(self, part: Indices) -> Floats | None:
        """Return r^2 - 1 of some rows, (B, d); None: scales stay."""
        return None if self.deviations is None else self.deviations.without(part) - 1.0


def _taken_out(start: _Start, part: Indices, near: int) -> tuple[Floats, Floats]:
    """Take some rows out; return how far their scores move and how doubtful that is.

    Infinite doubt: a breakpoint was crossed that is not among the nearby ones.
    """
    lanes = _Lanes(start, part, near)
    for _ in range(MAX_ROUNDS):
        for _ in range(MAX_STEPS + near):
            if not lanes.step():
                break
        if not lanes.rescale():
            break
    return lanes.end()


class _Lanes:
    """Rows that are being taken out, one a lane."""

    def __init__(self, start: _Start, part: Indices, near: int) -> None:
        fit = start.fit
        self._start, self._part = start, part
        self._has_b = fit.rows.has_last
        close = np.sort(np.argpartition(np.abs(start.gap), near - 1)[:near])
        self._close, self._row = close, fit.breakpoints.row[close]
        self._low, self._high = fit.breakpoints.low[close], fit.breakpoints.high[close]
        m = fit.rows.size - fit.rows.has_last
        self._x = fit.rows.take(self._row)[:, :m]
        self._own = fit.rows.take(part)[:, :m]
        self._products = self._x @ self._x.T
        # all of the equations in one unit, also where columns are huge
        self._size = float(np.diagonal(self._products).max(initial=0.0)) or 1.0
        k = len(part)
        lost = self._row[None, :] == part[:, None]
        self.side = np.where(lost, 2, start.side[close])
        self.gap = np.tile(start.gap[close], (k, 1))
        self.beta = np.tile(start.beta[close], (k, 1))
        self.t, self.u, self.b = np.zeros(k), np.zeros((k, m)), np.zeros(k)
        self.going = np.ones(k, np.bool_)
        self._z = fit.dual[part]
        self._scales = start.scales(part)
        self._scaled = self._by_scales()
        self._left = np.zeros(k)
        self._set_correlations(self._scaled - self._z[:, None] * self._own)

    def _set_correlations(self, correlation: Floats) -> None:
        """Set where weights go by themselves while t goes from 0 to 1, (B, m)."""
        self._correlation, self._pulled = correlation, correlation @ self._x.T

    def _by_scales(self) -> Floats:
        """Return by how much weights are smaller for their scales, (B, m).

        In the space of the rows that is known of the weights of the fit only.
        """
        if self._scales is None:
            return np.zeros_like(self.u)
        rows, weights = self._start.fit.rows, self._start.fit.weights
        if rows.has_columns:
            return -self._scales * (weights + self.u)
        return -rows.many_weights(self._scales * weights)[:, : self.u.shape[1]]

    def rescale(self) -> bool:
        """Follow the weights with what their scales take off; say whether any has to go on."""
        scaled = self._by_scales()
        more = scaled - self._scaled
        self._scaled = scaled
        done = self.t >= 1.0
        self._left = np.abs(row_dots(self._own, more))
        self.going = done & (row_dots(more, more) > ROUND_TOL**2 * row_dots(scaled, scaled))
        self.t[self.going] = 0.0
        self._z = np.zeros_like(self._z)
        self._set_correlations(more)
        return bool(self.going.any())

    def step(self) -> bool:
        """Go on to the next event of each lane; say whether any goes on."""
        at = np.flatnonzero(self.going)
        hold = self.side[at] == 0
        pace, turn, shift = self._direction(at, hold)
        alone = shift != 0
        moved = pace @ self._x + np.where(alone, 0.0, 1.0)[:, None] * self._correlation[at]
        speed = moved @ self._x.T + turn[:, None]
        times = self._times(at, hold, pace, speed)
        event = np.argmin(times, axis=1)
        first = times[np.arange(len(at)), event]
        rest = np.where(alone, np.inf, 1.0 - self.t[at])
        done = first >= rest
        tau = np.where(done, rest, first)
        lost = ~np.isfinite(tau)
        tau[lost] = 0.0
        self.u[at] += tau[:, None] * moved
        self.b[at] += tau * turn
        self.gap[at] += np.where(hold, 0.0, tau[:, None] * speed)
        self.beta[at] += tau[:, None] * pace
        self.t[at] += np.where(alone, 0.0, tau)
        self.going[at] = ~(done | lost)
        some = ~(done | lost)
        self._turn(at[some], event[some])
        return bool(self.going.any())

    def _turn(self, at: Indices, event: Indices) -> None:
        """Let the row of each lane's event go, or hold."""
        was = self.side[at, event]
        beta = self.beta[at, event]
        middle = 0.5 * (self._low + self._high)[event]
        now = np.where(was == 0, np.where(beta > middle, -1, 1), 0)
        self.side[at, event] = now
        self.gap[at, event] = 0.0
        ends = np.where(beta > middle, self._high[event], self._low[event])
        self.beta[at, event] = ends

    def _times(self, at: Indices, hold: NDArray[np.bool_], pace: Floats, speed: Floats) -> Floats:
        """Return the increase of t until the event of each breakpoint."""
        side, gap, beta = self.side[at], self.gap[at], self.beta[at]
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            comes = np.where(side * speed < 0, -gap / speed, np.inf)
            ends = np.where(pace > 0, self._high - beta, self._low - beta) / pace
        times = np.where(hold, np.where(pace != 0, ends, np.inf), comes)
        times[side == 2] = np.inf
        return np.maximum(times, 0.0)

    def _direction(self, at: Indices, hold: NDArray[np.bool_]) -> tuple[Floats, Floats, Floats]:
        """Return how beta and b move with t; and of lanes in which b moves alone, where to."""
        z = self._z[at]
        count = hold.sum(axis=1)
        most = int(count.max(initial=0))
        there = np.arange(most)[None, :] < count[:, None]
        order = np.zeros((len(at), most), np.intp)
        order[there] = np.nonzero(hold)[1]
        size = most + self._has_b
        matrix = np.zeros((len(at), size, size))
        both = there[:, :, None] & there[:, None, :]
        inner = np.where(both, self._products[order[:, :, None], order[:, None, :]], 0.0)
        diagonal = np.arange(most)
        inner[:, diagonal, diagonal] += np.where(there, RIDGE * self._size, self._size)
        matrix[:, :most, :most] = inner
        right = np.zeros((len(at), size))
        right[:, :most] = np.where(there, -np.take_along_axis(self._pulled[at], order, axis=1), 0.0)
        if self._has_b:
            matrix[:, most, :most] = matrix[:, :most, most] = self._size * there
            matrix[:, most, most] = self._size * (count == 0)
            right[:, most] = np.where(count == 0, 0.0, self._size * z)
        found = right
        if size:
            found = np.asarray(np.linalg.solve(matrix, right[:, :, None])[:, :, 0], np.float64)
        pace = np.zeros(hold.shape)
        pace[hold] = found[:, :most][there]
        turn = self._size * found[:, most] if self._has_b else np.zeros(len(at))
        shift = np.where((count == 0) & self._has_b, -np.sign(z), 0.0)
        turn[shift != 0] = shift[shift != 0]
        return pace, turn, np.asarray(shift, np.float64)

    def end(self) -> tuple[Floats, Floats]:
        """Return how far the rows' own scores have moved, and how doubtful that is."""
        own = row_dots(self._own, self.u) + self.b
        stuck = (self.t < 1.0) & ~self.going
        doubt = np.where(stuck, 1.0, np.where(self.going, self._left, 0.0))
        if self._has_b:  # where no row holds, b may be any of a range
            doubt[~(self.side == 0).any(axis=1)] = 1.0
        doubt[~np.isfinite(own)] = np.inf
        # consistency of the rows at their breakpoints, up to rounding
        apart = self.u @ self._x.T + self.b[:, None] + self._start.gap[self._close]
        apart = np.abs(np.where(self.side == 0, apart, 0.0)).max(axis=1, initial=0.0)
        doubt = np.maximum(doubt, np.where(apart > MAX_SCORE_ERROR, apart, 0.0))
        doubt[self._met_far()] = np.inf
        return own, doubt

    def _met_far(self) -> NDArray[np.bool_]:
        """Return which lanes have crossed a breakpoint that is not nearby."""
        fit, start = self._start.fit, self._start
        met = np.zeros(len(self._part), np.bool_)
        far = np.ones(len(start.gap), np.bool_)
        far[self._close] = False
        if not far.any():
            return met
        n, m = fit.rows.n_rows, self.u.shape[1]
        for some in parts_of(np.arange(n), max(fit.rows.size, len(self._part))):
            moved = self.u @ fit.rows.take(some)[:, :m].T + self.b[:, None]
            for first in range(0, len(far), n):  # breakpoints are in the order of the rows
                at = some + first
                side = start.side[at]
                wrong = (side * (start.gap[at] + moved) < 0) | (side == 0)
                wrong &= far[at] & (some != self._part[:, None])
                met |= wrong.any(axis=1)
        return met
