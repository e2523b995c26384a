"""Multi-start coordinate descent for non-convex penalties |w|^p, p < 1.

Starts are 0, a lasso path from alpha_max down, a continuation path of the penalty itself from
larger levels, and least squares. Coordinate descent with the exact prox ends at a coordinate-wise
minimum; for p = 0 weights are also pruned while that pays. The lowest local optimum is returned,
without a claim of global optimality.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separable.certified.duality.certificate import Certificate, CertifiedSolution
from separable.certified.duality.gap import Evaluation, evaluate
from separable.certified.problem import Lane, Problem
from separable.certified.solvers.block_penalty.block_cd import MAX_FULL_COLUMNS, BlockDescent
from separable.linalg.cholesky import Cholesky
from separable.penalties.lp import LpPenalty
from separable.typing import Floats

#: Number of lasso starts, and of continuation steps.
N_LASSO_STARTS, N_CONTINUATION_STEPS = 12, 8
#: The smallest lasso level relative to the largest, for n > d and for n <= d.
MIN_LASSO_RATIO, MIN_LASSO_RATIO_WIDE = 1e-3, 1e-2
#: The relative gap of the lasso starts.
LASSO_TOL = 1e-4
#: Maximum passes from one start, and the relative change at which they stop.
MAX_PASSES, MIN_CHANGE = 2000, 1e-24
#: Maximum rounds over all columns from the best start.
MAX_ROUNDS = 50


@dataclass(frozen=True)
class LocalCertificate(Certificate):
    """A certificate of coordinate-wise optimality.

    The objective is not convex, so ``dual`` is -inf and ``gap`` inf: there is no bound on the
    distance to the global optimum. ``converged`` means that no change of a single weight decreases
    the objective by more than ``tol`` times its value.

    Parameters
    ----------
    left : float
        The largest possible decrease of the objective by a single weight.
    """

    left: float = np.inf

    @property
    def is_local(self) -> bool:
        """True: only a local optimum is claimed."""
        return True

    @property
    def converged(self) -> bool:
        """Whether no single weight can decrease the objective by more than ``tol`` of it."""
        return self.left <= self.tol * self.primal

    @property
    def claim(self) -> str:
        """What is claimed, in words."""
        return (
            "a local optimum: no change of one weight lowers the objective by more than "
            f"{self.left:.1e}; nothing is known of the global optimum"
        )

    def times(self, value: float, *, convexity: float = 1.0) -> LocalCertificate:
        """Return the certificate of the objective multiplied by ``value``."""
        del convexity  # no strong convexity
        return replace(self, primal=value * self.primal, left=value * self.left)


class LocalSearch:
    """Multi-start search for a local optimum of least squares with an lp penalty, p < 1.

    Parameters
    ----------
    tol, max_iter, callback
        As in the estimator; ``callback`` gets the relative decrease that one weight could still
        achieve.
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
        """Return the solution and the number of passes.

        Parameters
        ----------
        start : ndarray, shape (d,), optional
            An additional start.
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
        """Yield the weights along a lasso path, including the level of the penalty itself."""
        n, d = self.problem.rows.shape
        lasso = LpPenalty("1", np.ones(d))
        largest = float(np.abs(none.correlation).max(initial=0.0))
        if largest == 0:
            return
        shares = np.geomspace(
            1.0, MIN_LASSO_RATIO if n > d else MIN_LASSO_RATIO_WIDE, N_LASSO_STARTS
        )[1:]
        u: Floats | None = None
        same = 1.0 / largest  # the lasso of the same level
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
        """Return the subproblem of the columns used by the starts, or of all columns."""
        d = len(none.u)
        used = np.arange(d)
        if d > MAX_FULL_COLUMNS:
            used = np.flatnonzero(np.any([u != 0 for u in starts], axis=0)) if starts else used[:1]
        return self._products(none, used)

    def _products(self, point: Evaluation, used: NDArray[np.intp]) -> _Part:
        products = self.problem.x.take_columns(used).gram(
            point.curvature, centred=self.problem.fit_intercept
        )
        inner = LpPenalty(self.penalty.power, self.penalty.lam[used])
        q = point.correlation[used] + products @ point.u[used]
        return _Part(used, products, q, inner, point.loss, self.max_iter)

    # ------------------------------------------------------------------ the best of them

    def _settled(self, u: Floats, part: _Part) -> tuple[CertifiedSolution, int]:
        """Return a coordinate-wise minimum, verified from the rows."""
        h = self.problem.x.squared_norms(
            self.problem.costs(self.lane), centred=self.problem.fit_intercept
        )
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
    """The subproblem 1/2 u'hu - q'u + penalty(u) of some columns."""

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
        """Return the objective up to a constant."""
        return float(0.5 * u @ self.h @ u - self.q @ u) + self.penalty.value(u)

    def optima(self, starts: list[Floats]) -> Iterator[Floats]:
        """Yield a local optimum from each start."""
        yield np.zeros(len(self.columns))
        for start in starts:
            yield self.descend(self._refitted(start[self.columns]))
        yield self._from_larger()
        yield self.descend(self._pruned(Cholesky(self.h).solve(self.q)))

    def _from_larger(self) -> Floats:
        """Return the local optimum at the end of a continuation path from larger levels."""
        u = np.zeros(len(self.columns))
        for times in np.geomspace(2.0**N_CONTINUATION_STEPS, 1.0, N_CONTINUATION_STEPS + 1):
            stronger = LpPenalty(self.penalty.power, times * self.penalty.lam)
            part = _Part(self.columns, self.h, self.q, stronger, self.size, self.most)
            u = part.descend(u)
            self.passes += part.passes
        return u

    def descend(self, u: Floats) -> Floats:
        """Return the local optimum of coordinate descent from u."""
        u = u.copy()
        left, descend = self.most, self.penalty.descent(np.arange(len(u)), self.h)
        for _ in range(MAX_ROUNDS):
            g = self.q - self.h @ u
            enough, most = MIN_CHANGE * self.size, min(MAX_PASSES, left)
            passes, moved = descend(u, g, enough, most)
            self.passes += passes
            left -= passes
            nearer = self._pruned(self._refitted(u))
            if np.array_equal(nearer, u) or (moved <= enough and passes == 1) or left <= 0:
                break
            u = nearer if self.value(nearer) <= self.value(u) else u
        return u

    def _pruned(self, u: Floats) -> Floats:
        """Return u after backward elimination of weights that do not pay (p = 0)."""
        while self.penalty.p == 0 and u.any():
            used = np.flatnonzero(u)
            inverse = Cholesky(self.h[np.ix_(used, used)]).inverse_diagonal()
            lost = 0.5 * u[used] ** 2 / inverse
            worst = int(np.argmin(lost - self.penalty.lam[used]))
            if lost[worst] >= self.penalty.lam[used[worst]]:
                break
            u = u.copy()
            u[used[worst]] = 0.0
            u = self._refitted(u)
        return u

    def _refitted(self, u: Floats) -> Floats:
        """Return the least-squares refit on the support of u (p = 0)."""
        used = np.flatnonzero(u)
        if self.penalty.p > 0 or len(used) == 0:
            return u
        exact = np.zeros_like(u)
        exact[used] = Cholesky(self.h[np.ix_(used, used)]).solve(self.q[used])
        return exact
