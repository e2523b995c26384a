"""Penalties that are not convex, |w|^p for p < 1: descent from many starts, and what it may claim.

Starts are 0, the weights of a lasso at strengths from that which holds every weight at 0 down, the
local optima of larger strengths of the penalty itself, each from the one before, and least squares.
From each, passes with the exact step of one weight end where none alone lowers the objective; p = 0
also leaves out weights as long as that pays. The lowest of these is taken. Nothing says that it is
the global optimum.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.certified.design.active_columns import ColumnProducts, curvatures
from separable.certified.duality.block_certifier import evaluate
from separable.certified.duality.certificate import Certificate
from separable.certified.solvers.block_penalty.block_cd import MAX_FULL_COLUMNS, BlockDescent
from separable.linalg.cholesky import Cholesky
from separable.penalties.lp import LpPenalty

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from separable.certified.duality.block_certifier import Evaluation
    from separable.certified.duality.l2_certifier import CertifiedSolution
    from separable.certified.problem import Lane, Problem
    from separable.typing import Floats


__all__ = ["LocalCertificate", "LocalSearch"]

#: Strengths of the lasso, and of the penalty itself, that starts come from.
N_LASSO_STARTS, N_CONTINUATION_STEPS = 12, 8
#: The smallest strength of a lasso as a share of the largest, with more rows than columns, or less.
MIN_LASSO_RATIO, MIN_LASSO_RATIO_WIDE = 1e-3, 1e-2
#: The relative gap of such a lasso.
LASSO_TOL = 1e-4
#: Passes from one start; what a pass moves, as a share of the objective, where they end.
MAX_PASSES, MIN_CHANGE = 2000, 1e-24
#: Rounds from the best start: rows are read again, and columns that were left out.
MAX_ROUNDS = 50


@dataclass(frozen=True)
class LocalCertificate(Certificate):
    """What is known of a local optimum: its objective, and that no weight alone lowers it.

    The objective is not convex. There is no dual point, so that ``dual`` is -inf and ``gap`` inf:
    nothing is said of how far the global optimum is. ``converged`` says that no change of one
    weight takes away more than ``tol`` of the objective.

    Parameters
    ----------
    left : float
        How much of the objective a change of one weight could still take away, at most.
    """

    left: float = np.inf

    @property
    def is_local(self) -> bool:
        """True: only a local optimum is claimed."""
        return True

    @property
    def converged(self) -> bool:
        """Whether no weight alone lowers the objective by more than ``tol`` of it."""
        return self.left <= self.tol * self.primal

    @property
    def claim(self) -> str:
        """What is claimed, in words."""
        return (
            "a local optimum: no change of one weight lowers the objective by more than "
            f"{self.left:.1e}; nothing is known of the global optimum"
        )

    def times(self, value: float, *, convexity: float = 1.0) -> LocalCertificate:
        """Return the certificate of an objective that is so many times as large."""
        del convexity  # a local optimum says nothing about the distance of weights
        return replace(self, primal=value * self.primal, left=value * self.left)


class LocalSearch:
    """Finds a local optimum of squared errors under a power below 1.

    Parameters
    ----------
    problem : Problem
    lane : Lane
    penalty : LpPenalty
    tol, max_iter, callback
        As the learner has them; ``callback`` is told the share of the objective that one weight
        could still take away.
    """

    def __init__(
        self,
        problem: Problem,
        lane: Lane,
        penalty: LpPenalty,
        *,
        tol: float,
        max_iter: int,
        callback: Callable[[int, float], Any] | None = None,
    ) -> None:
        self.problem, self.lane, self.penalty = problem, lane, penalty
        self.tol, self.max_iter, self.callback = tol, max_iter, callback
        self.passes = self.rounds = 0
        self.is_stopped = False

    def solve(self, start: Floats | None = None) -> tuple[CertifiedSolution, int]:
        """Return the model and the passes that it took.

        Parameters
        ----------
        start : ndarray, shape (d,), optional
            One more start.
        """
        d = self.problem.rows.n_features
        none = evaluate(self.problem, self.lane, self.penalty, np.zeros(d))
        starts = [] if start is None else [np.array(start, np.float64)]
        starts += list(self._lassos(none))
        part = self._part(none, starts)
        best = min(part.optima(starts), key=part.value)
        self.passes += part.passes
        u = np.zeros(d)
        u[part.columns] = best
        return self._settled(u, part)

    # ------------------------------------------------------------------ starts

    def _lassos(self, none: Evaluation) -> Iterator[Floats]:
        """Yield the weights of lassos, from the strongest to the weakest, and at this strength."""
        n, d = self.problem.rows.shape
        lasso = LpPenalty("1", np.ones(d))
        largest = float(np.abs(none.correlation).max(initial=0.0))
        if largest == 0:
            return
        shares = np.geomspace(
            1.0, MIN_LASSO_RATIO if n > d else MIN_LASSO_RATIO_WIDE, N_LASSO_STARTS
        )[1:]
        u: Floats | None = None
        same = 1.0 / largest  # the lasso of the same strength
        for share in sorted({*shares, *([same] if shares[-1] < same < 1 else [])}, reverse=True):
            if self._asks_to_stop(np.inf):
                return
            solver = BlockDescent(
                self.problem,
                lasso,
                tol=LASSO_TOL,
                max_iter=min(MAX_PASSES, self.max_iter),
                to_rounding=False,
            )
            weaker = replace(self.lane, C=self.lane.C / (share * largest))
            solution, passes = solver.solve(weaker, u)
            self.passes += passes
            u = solution.weights[:, 0]
            yield u

    def _part(self, none: Evaluation, starts: list[Floats]) -> _Part:
        """Return the columns that starts use, or all where they are few."""
        d = len(none.u)
        used = np.arange(d)
        if d > MAX_FULL_COLUMNS:
            used = np.flatnonzero(np.any([u != 0 for u in starts], axis=0)) if starts else used[:1]
        return self._products(none, used)

    def _products(self, point: Evaluation, used: NDArray[np.intp]) -> _Part:
        products = ColumnProducts(self.problem, used).products(point.curvature)
        inner = LpPenalty(self.penalty.power, self.penalty.lam[used])
        q = point.correlation[used] + products @ point.u[used]
        return _Part(used, products, q, inner, point.loss, self.max_iter)

    # ------------------------------------------------------------------ the best of them

    def _settled(self, u: Floats, part: _Part) -> tuple[CertifiedSolution, int]:
        """Return weights at which no weight alone lowers the objective, from the rows."""
        h = curvatures(self.problem, self.problem.costs(self.lane))
        best: tuple[LocalCertificate, Evaluation] | None = None
        most = self.passes + self.max_iter
        for _ in range(MAX_ROUNDS):
            point = evaluate(self.problem, self.lane, self.penalty, u)
            left = self.penalty.left(u, point.correlation, h)
            proof = LocalCertificate(
                point.primal,
                -np.inf,
                np.inf,
                self.tol,
                convexity=0.0,
                left=float(left.max(initial=0.0)),
            )
            if best is None or (proof.primal, proof.left) < (best[0].primal, best[0].left):
                best = proof, point
            share = proof.left / proof.primal if proof.primal > 0 else 0.0
            enough = 1e-14 if self.problem.is_small else self.tol
            if self._asks_to_stop(share) or share <= enough or self.passes >= most:
                break
            missing = np.flatnonzero(left > 0.5 * enough * proof.primal)
            part = self._products(point, np.union1d(missing, part.columns))
            u = u.copy()
            u[part.columns] = part.descend(u[part.columns])
            self.passes += part.passes
        assert best is not None
        return best[1].certified_solution(best[0], np.zeros(self.problem.rows.n_rows)), self.passes

    def _asks_to_stop(self, share: float) -> bool:
        self.rounds += 1
        if self.callback is not None and not self.is_stopped:
            self.is_stopped = bool(self.callback(self.rounds, share))
        return self.is_stopped


class _Part:
    """Some columns: 1/2 u'hu - q'u + penalty(u), and its local optima."""

    def __init__(
        self,
        columns: NDArray[np.intp],
        h: Floats,
        q: Floats,
        penalty: LpPenalty,
        size: float,
        most: int,
    ) -> None:
        self.columns, self.h, self.q, self.penalty = columns, h, q, penalty
        self.size, self.most, self.passes = size, most, 0

    def value(self, u: Floats) -> float:
        """Return the objective but for a constant."""
        return float(0.5 * u @ self.h @ u - self.q @ u) + self.penalty.value(u)

    def optima(self, starts: list[Floats]) -> Iterator[Floats]:
        """Yield a local optimum from each start."""
        yield np.zeros(len(self.columns))
        for start in starts:
            yield self.descend(self._refitted(start[self.columns]))
        yield self._from_larger()
        yield self.descend(self._pruned(Cholesky(self.h).solve(self.q)))

    def _from_larger(self) -> Floats:
        """Return the local optimum that larger strengths lead to, from 0."""
        u = np.zeros(len(self.columns))
        for times in np.geomspace(2.0**N_CONTINUATION_STEPS, 1.0, N_CONTINUATION_STEPS + 1):
            stronger = LpPenalty(self.penalty.power, times * self.penalty.lam)
            part = _Part(self.columns, self.h, self.q, stronger, self.size, self.most)
            u = part.descend(u)
            self.passes += part.passes
        return u

    def descend(self, u: Floats) -> Floats:
        """Return the local optimum that exact steps of one weight reach from u."""
        u = u.copy()
        every, left = np.arange(len(u)), self.most
        for _ in range(MAX_ROUNDS):
            g = self.q - self.h @ u
            enough, most = MIN_CHANGE * self.size, min(MAX_PASSES, left)
            passes, moved = self.penalty.descend(every, self.h, u, g, enough=enough, most=most)
            self.passes += passes
            left -= passes
            nearer = self._pruned(self._refitted(u))
            if np.array_equal(nearer, u) or (moved <= enough and passes == 1) or left <= 0:
                break
            u = nearer if self.value(nearer) <= self.value(u) else u
        return u

    def _pruned(self, u: Floats) -> Floats:
        """Return u without weights that cost more than least squares lose without them."""
        while self.penalty.p == 0 and u.any():
            used = np.flatnonzero(u)
            room = Cholesky(self.h[np.ix_(used, used)]).inverse_diagonal()
            lost = 0.5 * u[used] ** 2 / room
            worst = int(np.argmin(lost - self.penalty.lam[used]))
            if lost[worst] >= self.penalty.lam[used[worst]]:
                break
            u = u.copy()
            u[used[worst]] = 0.0
            u = self._refitted(u)
        return u

    def _refitted(self, u: Floats) -> Floats:
        """Return the least squares of the weights that are not 0, where only their count costs."""
        used = np.flatnonzero(u)
        if self.penalty.p > 0 or len(used) == 0:
            return u
        exact = np.zeros_like(u)
        exact[used] = Cholesky(self.h[np.ix_(used, used)]).solve(self.q[used])
        return exact
