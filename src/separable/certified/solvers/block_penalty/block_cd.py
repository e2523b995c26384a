"""Descent by blocks of weights: the loss as a quadratic, over the columns that work.

The quadratic is exact for squared errors; for other smooth losses it is Newton's, and a step along
it is shortened until it lowers the objective as promised. Columns are few, or those whose blocks
are not 0 and those that their pull moves most; each round sees all of them again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.certified.design.active_columns import ColumnProducts
from separable.certified.duality.block_certifier import BlockPenalty, Seen, see
from separable.certified.solvers.block_penalty.block_newton import newton_on_used

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from separable.certified.duality.l2_certifier import CertifiedSolution
    from separable.certified.problem import Lane, Problem
    from separable.typing import Floats


__all__ = ["BlockDescent"]

#: Up to so many columns all of them work; of penalties that set nothing to 0, up to more.
ALL, ALL_SMOOTH = 500, 2000
#: Blocks that work, at least.
FIRST = 32
#: Multiplications between two looks at the rows, about a tenth of a second.
WORK = 1 << 28
#: A relative gap that is rounding and no more, and the share of the objective that a pass moves
#: then.
ROUNDING, STILL = 1e-15, 1e-29
#: A step that is worth at most this share of the objective is small. So many small steps in a row
#: end the work if none halves the gap, fewer where the gap asked for was reached.
SMALL, IDLE, IDLE_CONVERGED = 1e-14, 6, 2
#: What passes move that rounding alone may move.
NOISE = 1e-20
#: How much of the gap passes may leave, over a quadratic loss and in a Newton step, and how much
#: less after a round that gained little; Newton steps gain little while the gap is above NEAR.
SHARE, NEWTON_SHARE, CAUTION, NEAR = 1e-3, 1e-6, 1e-2, 1e-2
#: Passes before Newton's method is tried, twice as many after each time, with so many weights.
BURST, MOST_EQUATIONS = 50, 2000
#: The share of the promised descent that a step has to keep.
KEPT = 0.1


@dataclass(frozen=True)
class _Step:
    """Weights after a step.

    Parameters
    ----------
    u : ndarray, shape (d,)
    passes : int
    gain : float
        What the quadratic says that the step is worth, at least.
    is_exact : bool
        Whether more passes would not change it.
    """

    u: Floats
    passes: int
    gain: float
    is_exact: bool


class BlockDescent:
    """Learns lanes of one problem under one penalty, one after the other.

    Parameters
    ----------
    problem : Problem
        Of a smooth loss.
    penalty : BlockPenalty
        Convex.
    tol : float
        The relative gap asked for; small problems are solved to rounding.
    max_iter : int
        Most passes over the columns.
    callback : callable, optional
        Called with the number of a round and the relative gap so far; True ends the work.
    to_rounding : bool, optional
        Go on until a better certificate cannot be had. By default small problems do.
    """

    def __init__(
        self,
        problem: Problem,
        penalty: BlockPenalty,
        *,
        tol: float,
        max_iter: int,
        callback: Callable[[int, float], Any] | None = None,
        to_rounding: bool | None = None,
    ) -> None:
        self.problem, self.penalty, self.tol = problem, penalty, tol
        self.max_iter, self.callback = max_iter, callback
        self._to_rounding = problem.is_small if to_rounding is None else to_rounding
        self._part: tuple[NDArray[np.intp], ColumnProducts] | None = None
        self._kept: tuple[int, Floats] | None = None
        self.is_stopped = False

    def solve(self, lane: Lane, start: Floats | None = None) -> tuple[CertifiedSolution, int]:
        """Return the model of a lane and the passes that it took.

        Parameters
        ----------
        lane : Lane
        start : ndarray, shape (d,), optional
            Weights of the problem's columns.
        """
        u = np.zeros(self.problem.rows.n_features) if start is None else np.array(start, np.float64)
        passes, rounds, idle, caution = 0, 0, 0, 1.0
        best: CertifiedSolution | None = None
        products: Floats | None = None
        blocks: NDArray[np.intp] | None = None
        step: _Step | None = None
        while True:
            seen = see(self.problem, lane, self.penalty, u)
            found = seen.certified(self.problem, lane, self.penalty, self.tol)
            rounds += 1
            last = np.inf if best is None else best.certificates[0].gap
            gap = found.certificates[0].gap
            if best is None or found.is_better_than(best):
                best = found
            if gap > 0.1 * last and (self._is_quadratic or gap <= NEAR * seen.primal):
                caution *= CAUTION
            if step is not None and step.gain <= SMALL * seen.primal and gap > 0.5 * last:
                idle, caution = idle + int(step.is_exact), 0.0
            else:
                idle = 0
            if self._is_done(best, rounds, idle) or passes >= self.max_iter:
                return best, passes
            chosen = self._working(seen, blocks)
            if products is None or chosen is not blocks or not self._is_quadratic:
                products = self._products(lane, chosen, seen.curve)
            blocks = chosen
            share = caution * (SHARE if self._is_quadratic else NEWTON_SHARE)
            enough = share * min(gap, self.tol * seen.primal)
            step = self._step(lane, seen, blocks, products, enough, self.max_iter - passes)
            u = step.u
            passes += step.passes

    def _is_done(self, best: CertifiedSolution, rounds: int, idle: int) -> bool:
        proof = best.certificates[0]
        if self.callback is not None and self.callback(rounds, proof.relative_gap):
            self.is_stopped = True
        if self.is_stopped or proof.relative_gap <= ROUNDING:
            return True
        if proof.converged:
            return not self._to_rounding or idle >= IDLE_CONVERGED
        return idle >= IDLE

    @property
    def _is_quadratic(self) -> bool:
        return self.problem.loss.name == "squared_error"

    # ------------------------------------------------------------------ columns that work

    def _working(self, seen: Seen, before: NDArray[np.intp] | None) -> NDArray[np.intp]:
        """Return the blocks to work on; the same object where they stay."""
        most = ALL if self.penalty.is_sparse else ALL_SMOOTH
        if self.problem.rows.n_features <= most or not self.penalty.is_sparse:
            return np.arange(self.penalty.n_blocks) if before is None else before
        used = self.penalty.used(seen.u)
        urge = np.where(used, np.inf, self.penalty.urge(seen.u, seen.pull))
        if before is not None:
            beyond = urge > 0
            beyond[before] = False
            if not beyond.any():
                return before
        room = max(FIRST, 2 * int(used.sum()))
        chosen = np.argsort(-urge, kind="stable")[:room]
        chosen = chosen[: max(1, int((urge[chosen] > 0).sum()))]
        if before is not None and len(chosen) < 4 * len(before):  # what worked goes on
            chosen = np.union1d(chosen, before)
        return np.sort(chosen)

    def _products(self, lane: Lane, blocks: NDArray[np.intp], curve: Floats) -> Floats:
        """Return the products of the blocks' columns; those of squared errors are kept."""
        if self._part is None or not np.array_equal(self._part[0], blocks):
            columns = self.penalty.columns_of(blocks)
            self._part, self._kept = (blocks, ColumnProducts(self.problem, columns)), None
        if not self._is_quadratic:
            return self._part[1].products(curve)
        if self._kept is None or self._kept[0] != lane.fold:
            self._kept = lane.fold, self._part[1].products(curve / lane.strength)
        return lane.strength * self._kept[1]

    # ------------------------------------------------------------------ steps

    def _step(
        self,
        lane: Lane,
        seen: Seen,
        blocks: NDArray[np.intp],
        h: Floats,
        enough: float,
        most: int,
    ) -> _Step:
        """Minimise the quadratic over some blocks; other losses take a part of the way there."""
        columns = self.penalty.columns_of(blocks)
        mine, pull = seen.u[columns], seen.pull[columns]
        most = int(min(most, max(1, WORK // max(1, h.size))))
        passes, burst, last, is_slow = 0, BURST, np.inf, False
        floor = STILL * seen.primal
        enough = max(enough, floor)
        while True:
            more, moved = self.penalty.descend(
                blocks, h, mine, pull, enough=enough, most=min(burst, most - passes)
            )
            passes, burst = passes + more, 2 * burst
            is_noise = moved <= NOISE * seen.primal and moved > 0.9 * last
            if moved <= enough or passes >= most or is_noise:
                break
            last = moved
            if not self._hasten(blocks, h, mine, pull):
                if is_slow:  # for the second time
                    self.penalty.part(blocks).follow_barrier(h, mine, pull, seen.primal)
                is_slow = not is_slow
        u = seen.u.copy()
        u[columns] = mine
        if not self._is_quadratic:
            u = self._shortened(lane, seen, u)
        way = u[columns] - seen.u[columns]
        return _Step(u, passes, max(0.0, 0.5 * float(way @ h @ way)), is_noise or moved <= floor)

    def _hasten(self, blocks: NDArray[np.intp], h: Floats, u: Floats, g: Floats) -> bool:
        """Go on by Newton's method with the blocks that are not 0; return whether that helped."""
        all_of = self.penalty.part(blocks)
        work, before = 0, u.copy()
        while work <= WORK:
            used = np.flatnonzero(all_of.used(u))
            columns = all_of.columns_of(used)
            if not 1 < len(columns) <= MOST_EQUATIONS:
                break
            mine, pull = u[columns], g[columns]
            newton_on_used(h[np.ix_(columns, columns)], mine, pull, self.penalty.part(blocks[used]))
            g -= h[:, columns] @ (mine - u[columns])
            u[columns] = mine
            work += len(columns) ** 3
            if len(np.flatnonzero(all_of.used(u))) == len(used):  # none of them became 0
                break
        return not np.array_equal(u, before)

    def _shortened(self, lane: Lane, seen: Seen, u: Floats) -> Floats:
        """Return u, or a point on the way to it that lowers the objective as it should."""
        problem, loss = self.problem, self.problem.loss
        y, c = problem.targets(lane), problem.costs(lane)
        way = u - seen.u
        along = problem.scores(way[:, None])[:, 0]
        promised = float(seen.pull @ way) + self.penalty.value(seen.u) - self.penalty.value(u)
        share = 1.0
        for _ in range(40):
            there = seen.u + share * way if share < 1 else u
            scores = seen.scores + share * along
            b = loss.best_intercept(y, scores, c) if problem.fit_intercept else 0.0
            primal = loss.total(y, scores + b, c) + self.penalty.value(there)
            if primal <= seen.primal - KEPT * share * promised + 1e-15 * seen.primal:
                break
            share *= 0.5
        return there
