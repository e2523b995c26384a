"""Block coordinate descent on a working set, for block-separable penalties.

The loss is quadratic for squared errors; other smooth losses use the quadratic model of proximal
Newton with a backtracking line search. The working set has the non-zero blocks and those that
violate optimality most; each round checks all columns again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separable.certified.duality.certificate import CertifiedSolution
from separable.certified.duality.gap import Evaluation, evaluate
from separable.certified.problem import Lane, Problem
from separable.certified.solvers.block_penalty.block_newton import newton_on_used
from separable.certified.solvers.block_penalty.extrapolation import Extrapolated
from separable.certified.solvers.block_penalty.growing_gram import GrowingGram
from separable.linalg.design_matrix import DesignMatrix
from separable.penalties.base import BlockPenalty
from separable.typing import Floats

#: Maximum number of columns without a working set, for sparse and for smooth penalties.
MAX_FULL_COLUMNS, MAX_FULL_COLUMNS_SMOOTH = 500, 2000
#: Minimum number of blocks of the working set, and its growth over the non-zero blocks.
MIN_WORKING_BLOCKS, WORKING_GROWTH = 32, 1.5
#: Multiplications between two passes over the rows, about a tenth of a second.
MAX_WORK = 1 << 28
#: A relative gap at the level of rounding, and the relative change of the objective there.
ROUNDING, MIN_CHANGE = 1e-14, 1e-29
#: A step with at most this relative gain is small. Stop after so many small steps that do not
#: halve the gap; after fewer if the requested gap was reached.
SMALL_GAIN, MAX_IDLE, MAX_IDLE_CONVERGED = 1e-14, 6, 1
#: Relative change of the objective by rounding alone.
NOISE = 1e-20
#: Inner tolerance as a fraction of the gap, for quadratic losses and for Newton steps; its factor
#: after a round of little progress; the gap below which slow Newton steps count as such.
INNER_TOL, INNER_TOL_NEWTON, TIGHTEN, NEWTON_NEAR = 1e-3, 1e-6, 1e-2, 1e-2
#: Passes before Newton's method on the support, doubled each time: at least so many, and a fraction
#: of its columns, since a step costs as much as that many passes; its maximum size.
FIRST_BURST, BURST_FRACTION, MOST_EQUATIONS = 50, 0.25, 2000
#: Sufficient decrease of the line search (Armijo).
SUFFICIENT_DECREASE = 0.1


@dataclass(frozen=True)
class _Step:
    """The result of one round.

    Parameters
    ----------
    u : ndarray, shape (d,)
    gain : float
        Lower bound of the decrease of the quadratic model.
    is_exact : bool
        Whether the inner problem is solved to rounding.
    """

    u: Floats
    passes: int
    gain: float
    is_exact: bool


class BlockDescent:
    """Block coordinate descent for the lanes of one problem, one after the other.

    Parameters
    ----------
    problem : Problem
        With a smooth loss.
    penalty : BlockPenalty
        Convex.
    tol : float
        The requested relative gap; small problems are solved to rounding.
    max_iter : int
        Maximum number of passes over the columns.
    callback : callable, optional
        Called with the number of a round and the relative gap so far; returning True stops the
        solver.
    to_rounding : bool, optional
        Continue until the certificate cannot improve; default: for small problems.
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
        self._part: tuple[NDArray[np.intp], DesignMatrix] | None = None
        self._grown: tuple[int, GrowingGram] | None = None
        self.is_stopped = False

    def solve(self, lane: Lane, start: Floats | None = None) -> tuple[CertifiedSolution, int]:
        """Return the solution of a lane and the number of passes.

        Parameters
        ----------
        start : ndarray, shape (d,), optional
            Weights for the problem's columns.
        """
        u = np.zeros(self.problem.rows.n_features) if start is None else np.array(start, np.float64)
        passes, rounds, idle, caution = 0, 0, 0, 1.0
        best: CertifiedSolution | None = None
        products: Floats | None = None
        blocks: NDArray[np.intp] | None = None
        step: _Step | None = None
        while True:
            point = evaluate(self.problem, lane, self.penalty, u)
            solution = point.certified(self.problem, lane, self.penalty, self.tol)
            rounds += 1
            last = np.inf if best is None else best.certificates[0].gap
            gap = solution.certificates[0].gap
            if best is None or solution.is_better_than(best):
                best = solution
            if gap > 0.1 * last and (self._is_quadratic or gap <= NEWTON_NEAR * point.primal):
                caution *= TIGHTEN
            if step is not None and step.gain <= SMALL_GAIN * point.primal and gap > 0.5 * last:
                idle, caution = idle + int(step.is_exact), 0.0
            else:
                idle = 0
            if self._is_done(best, rounds, idle) or passes >= self.max_iter:
                return best, passes
            chosen = self._working_set(point, blocks)
            if products is None or chosen is not blocks or not self._is_quadratic:
                products = self._products(lane, chosen, point.curvature)
            is_settled = chosen is blocks or len(chosen) == self.penalty.n_blocks
            blocks = chosen
            enough = self._inner_tol(gap, point.primal, caution, is_settled=is_settled)
            step = self._step(lane, point, blocks, products, enough, self.max_iter - passes)
            u = step.u
            passes += step.passes

    def _inner_tol(self, gap: float, primal: float, caution: float, *, is_settled: bool) -> float:
        """Return the decrease of a pass at which to stop; 0: rounding.

        ``is_settled``: the working set seems final, so more passes are cheaper than more rounds.
        """
        if not self._is_quadratic:
            return caution * INNER_TOL_NEWTON * min(gap, self.tol * primal)
        if is_settled and self._to_rounding:
            return 0.0
        return caution * INNER_TOL * (min(gap, self.tol * primal) if is_settled else gap)

    def _is_done(self, best: CertifiedSolution, rounds: int, idle: int) -> bool:
        proof = best.certificates[0]
        if self.callback is not None and self.callback(rounds, proof.relative_gap):
            self.is_stopped = True
        if self.is_stopped or proof.relative_gap <= ROUNDING:
            return True
        if proof.converged:
            return not self._to_rounding or idle >= MAX_IDLE_CONVERGED
        return idle >= MAX_IDLE

    @property
    def _is_quadratic(self) -> bool:
        return self.problem.loss.is_quadratic

    # ------------------------------------------------------------------ working set

    def _working_set(self, point: Evaluation, before: NDArray[np.intp] | None) -> NDArray[np.intp]:
        """Return the working set of blocks; the same object if it does not change."""
        most = MAX_FULL_COLUMNS if self.penalty.is_sparse else MAX_FULL_COLUMNS_SMOOTH
        if self.problem.rows.n_features <= most or not self.penalty.is_sparse:
            return np.arange(self.penalty.n_blocks) if before is None else before
        used = self.penalty.used(point.u)
        violations = np.where(used, np.inf, self.penalty.violations(point.correlation))
        if before is not None:
            beyond = violations > 0
            beyond[before] = False
            if not beyond.any():
                return before
        size = max(MIN_WORKING_BLOCKS, int(WORKING_GROWTH * used.sum()))
        chosen = np.argsort(-violations, kind="stable")[:size]
        chosen = chosen[: max(1, int((violations[chosen] > 0).sum()))]
        if before is None or len(chosen) >= 4 * len(before):
            return np.sort(chosen)
        return np.concatenate([before, np.setdiff1d(chosen, before)])  # so products can grow

    def _products(self, lane: Lane, blocks: NDArray[np.intp], curvature: Floats) -> Floats:
        """Return the Gram matrix of the working columns; it grows for squared errors."""
        columns, centred = self.penalty.columns_of(blocks), self.problem.fit_intercept
        if not self._is_quadratic:
            if self._part is None or not np.array_equal(self._part[0], columns):
                self._part = columns, self.problem.x.take_columns(columns)
            return self._part[1].gram(curvature, centred=centred)
        if self._grown is None or self._grown[0] != lane.fold:
            gram = GrowingGram(self.problem.x, curvature / lane.C, centred=centred)
            self._grown = lane.fold, gram
        return lane.C * self._grown[1].of(columns)

    # ------------------------------------------------------------------ steps

    def _step(
        self,
        lane: Lane,
        point: Evaluation,
        blocks: NDArray[np.intp],
        h: Floats,
        enough: float,
        most: int,
    ) -> _Step:
        """Minimise the quadratic model on the working set; line search for non-quadratic losses."""
        columns = self.penalty.columns_of(blocks)
        mine, correlation = point.u[columns], point.correlation[columns]
        most = int(min(most, max(1, MAX_WORK // max(1, h.size))))
        burst = max(FIRST_BURST, int(BURST_FRACTION * len(columns)))
        passes, last, is_slow = 0, np.inf, False
        descend = Extrapolated(self.penalty.descent(blocks, h), self.penalty.part(blocks), h)
        floor = MIN_CHANGE * point.primal
        enough = max(enough, floor)
        while True:
            more, moved = descend(mine, correlation, enough, min(burst, most - passes))
            passes, burst = passes + more, 2 * burst
            is_noise = moved <= NOISE * point.primal and moved > 0.9 * last
            if moved <= enough or passes >= most or is_noise:
                break
            last = moved
            if not self._newton_accelerate(blocks, h, mine, correlation):
                if is_slow:  # for the second time
                    self.penalty.part(blocks).follow_barrier(h, mine, correlation, point.primal)
                is_slow = not is_slow
        u = point.u.copy()
        u[columns] = mine
        if not self._is_quadratic:
            u = self._line_search(lane, point, u)
        direction = u[columns] - point.u[columns]
        return _Step(
            u, passes, max(0.0, 0.5 * float(direction @ h @ direction)), is_noise or moved <= floor
        )

    def _newton_accelerate(self, blocks: NDArray[np.intp], h: Floats, u: Floats, g: Floats) -> bool:
        """Run Newton's method on the support; return whether the weights changed."""
        all_of = self.penalty.part(blocks)
        work, before = 0, u.copy()
        while work <= MAX_WORK:
            used = np.flatnonzero(all_of.used(u))
            columns = all_of.columns_of(used)
            if not 1 < len(columns) <= MOST_EQUATIONS:
                break
            mine, correlation = u[columns], g[columns]
            newton_on_used(
                h[np.ix_(columns, columns)], mine, correlation, self.penalty.part(blocks[used])
            )
            g -= h[:, columns] @ (mine - u[columns])
            u[columns] = mine
            work += len(columns) ** 3
            if len(np.flatnonzero(all_of.used(u))) == len(used):  # none of them became 0
                break
        return not np.array_equal(u, before)

    def _line_search(self, lane: Lane, point: Evaluation, u: Floats) -> Floats:
        """Return the point of a backtracking line search towards u."""
        problem, loss = self.problem, self.problem.loss
        y, c = problem.targets(lane), problem.costs(lane)
        direction = u - point.u
        score_step = problem.x.matvec(direction[:, None])[:, 0]
        predicted = (
            float(point.correlation @ direction)
            + self.penalty.value(point.u)
            - self.penalty.value(u)
        )
        length = 1.0
        for _ in range(40):
            tried = point.u + length * direction if length < 1 else u
            scores = point.scores + length * score_step
            b = loss.best_intercept(y, scores, c) if problem.fit_intercept else 0.0
            primal = loss.total(y, scores + b, c) + self.penalty.value(tried)
            if (
                primal
                <= point.primal - SUFFICIENT_DECREASE * length * predicted + 1e-15 * point.primal
            ):
                break
            length *= 0.5
        return tried
