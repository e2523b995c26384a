"""Multinomial logistic regression with an l1 part: coordinate descent in proximal Newton steps.

Each step minimises the quadratic model of the loss, whose Hessian in the scores of a row is
c (diag(p) - p p'), plus the penalty by coordinate descent over the active set: weights that are not
0 or violate optimality. A backtracking line search follows. After a short step the next model mixes
p with the uniform distribution, which bounds its curvature from below. A path of C is solved lane
by lane, each from the one before and through intermediate C (continuation).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separable._core import native
from separable.certified.duality.certificate import CertifiedSolution
from separable.certified.duality.gap import certify, softmax_certificate
from separable.certified.problem import Lane, Problem
from separable.certified.solvers.coordinate_descent import CoordinateSolver
from separable.certified.solvers.objective import Objective
from separable.certified.solvers.parallel import Cancellation
from separable.certified.solvers.solved import Goal, OneByOne, Result, Start
from separable.certified.solvers.stopping import StoppingRule
from separable.linalg.column_major import ReadColumns
from separable.losses.row_losses import SoftmaxLosses
from separable.losses.softmax import softmax
from separable.typing import Floats

#: Sweeps of one model stop at this fraction of the largest violation.
SWEEP_TOL = 0.1
#: Maximum sweeps of one model; near rounding.
MAX_SWEEPS, MAX_SWEEPS_AT_ROUNDING = 40, 4
#: The relative gap near rounding.
ROUNDING = 1e-12
#: Minimum number of weights that may enter the active set in one step; else twice its size.
MIN_ENTERING = 1024
#: Sufficient decrease of the line search (Armijo).
SUFFICIENT_DECREASE = 1e-3
#: Relative rounding error of the objective.
OBJECTIVE_ROUNDING = 1e-14
#: The shortest step.
MIN_STEP = 1e-9
#: After shorter steps, p of the Hessian is mixed with the uniform distribution.
SHORT_STEP = 0.25
#: The smallest mixture, and its factor after each short step.
MIN_MIX, MIX_FACTOR = 1e-5, 10.0
#: Continuation: maximum ratio of consecutive C on the way to a lane,
MAX_C_RATIO = 10.0
#: their relative gap, and their maximum number of steps.
PATH_GAP, MAX_PATH_STEPS = 0.1, 9


class SoftmaxDescent(CoordinateSolver, OneByOne):
    """Proximal Newton along a path of C, lane by lane."""

    @property
    def width(self) -> int:
        """Columns of a lane: the classes."""
        return self.problem.n_classes

    def solve(
        self, lanes: list[Lane], start: Start | None, goal: Goal, on_pass: Cancellation
    ) -> Result:
        """Solve one lane, through intermediate C from the last one or from weights 0."""
        (lane,), weights = lanes, self._first_weights(start)
        if start is None or not weights.any():
            last = self._largest_zero_c(lane)
        else:
            last = lane.C / start.ratio
        found, passes = self._learn(lane, weights, last, goal, on_pass)
        done = np.array([found.certificates[0].converged])
        return Result(found, np.array([max(passes, 1)]), ["coordinates"], done)

    def resume(
        self, lane: Lane, weights: Floats, goal: Goal, on_pass: Cancellation
    ) -> tuple[CertifiedSolution, int]:
        """Return the solution of a lane from weights, (d, K), and the number of passes."""
        return self._learn(lane, weights, lane.C, goal, on_pass)

    def aim(self, n_lanes: int) -> float:
        """Return the relative gap to aim at."""
        del n_lanes
        return self.tol

    def certify(self, lane: Lane, weights: Floats, z: Floats) -> CertifiedSolution:
        """Return the certified weights, (d, K), with dual points z = c (1[y = k] - p_k)."""
        p = self.problem.softmax_losses(lane).probabilities(z)
        return certify(self.problem, [lane], p, self.tol, weights)

    def _largest_zero_c(self, lane: Lane) -> float:
        """Return the largest C for which all weights are 0."""
        problem, rows = self.problem, self.problem.softmax_losses(lane)
        uniform = np.ones((len(rows.y), problem.n_classes))
        p = rows.feasible(uniform, fit_intercept=problem.fit_intercept)
        most = float(np.abs(problem.x.rmatvec(rows.dual_variables(p))).max(initial=0.0))
        return lane.C * problem.column_penalty.l1 / most if most > 0 else lane.C

    def _learn(
        self, lane: Lane, weights: Floats, last: float, goal: Goal, on_pass: Cancellation
    ) -> tuple[CertifiedSolution, int]:
        """Solve one lane from the weights for C = ``last``; return the solution and its passes."""
        problem, tol, most = self.problem, self.tol, goal.max_iter
        stopping_rule = StoppingRule(
            lambda p, u: certify(problem, [lane], p, tol, u),
            tol=tol,
            to_rounding=problem.is_small,
            on_step=on_pass,
        )
        passes, left = 0.0, 0

        def is_near(_: Floats, __: Callable[[], Floats], seen: float) -> bool:
            """Stop on the way to the lane at a loose gap, without certificates."""
            nonlocal left
            left -= 1
            return stopping_rule.report(np.inf) or seen <= PATH_GAP or left <= 0

        with np.errstate(over="ignore", under="ignore", invalid="ignore", divide="ignore"):
            for C in _between(last, lane.C):
                near = self._newton(replace(lane, C=C), on_pass)
                left = MAX_PATH_STEPS
                _, weights = near.learn(weights, is_near, (most - passes) / 2)
                passes += near.passes
            work = self._newton(lane, on_pass)
            p, u = work.learn(weights, stopping_rule, most - passes)
            return stopping_rule.end(p, u), math.ceil(passes + work.passes)

    def _newton(self, lane: Lane, on_pass: Cancellation) -> ProximalNewton:
        return ProximalNewton(self.problem, self.columns, lane, on_pass.raise_if_abandoned)


@dataclass(frozen=True)
class _Point:
    """An iterate: weights, scores with the optimal intercepts, and derived quantities."""

    u: Floats
    scores: Floats
    probabilities: Floats
    dual: Floats
    correlation: Floats
    objective: float
    relative_gap: float


class ProximalNewton:
    """Proximal Newton for one lane.

    Parameters
    ----------
    columns : ReadColumns
        Of the problem.
    on_sweep : callable
        Called after each sweep.
    """

    def __init__(
        self, problem: Problem, columns: ReadColumns, lane: Lane, on_sweep: Callable[[], Any]
    ) -> None:
        self._problem, self._columns, self._on_sweep = problem, columns, on_sweep
        self._l1, self._l2 = problem.column_penalty.l1, problem.column_penalty.l2
        self._objective = Objective(problem, lane)
        assert isinstance(self._objective.rows, SoftmaxLosses)
        self._rows = self._objective.rows
        self._mix, self._work = 0.0, 0.0
        self.passes = 0.0

    def learn(
        self,
        weights: Floats,
        stopping_rule: Callable[[Floats, Callable[[], Floats], float], bool],
        max_passes: float,
    ) -> tuple[Floats, Floats]:
        """Solve from weights, (d, K); return probabilities and weights of all K classes.

        A step counts as a pass over the rows, and so does a full sweep over all weights.
        """
        u = np.ascontiguousarray(weights[:, self._objective.present])
        now = self._point(u, self._problem.x.matvec(u))
        spread = self._objective.spread
        while not stopping_rule(
            spread(now.probabilities), partial(self._weights, now.u), now.relative_gap
        ):
            found = self._step(now) if self.passes < max_passes else None
            if found is None:
                break
            now = found
        return spread(now.probabilities), self._weights(now.u)

    def _weights(self, u: Floats) -> Floats:
        """Return the weights of all classes, made unique under the l1 penalty."""
        return self._objective.spread(_settled(u) if self._l2 == 0 else u)

    def _point(self, u: Floats, scores: Floats) -> _Point:
        problem, rows = self._problem, self._rows
        if problem.fit_intercept:
            scores = scores + rows.best_intercepts(scores)
        probabilities = softmax(scores)
        dual = rows.dual_variables(probabilities)
        correlation = problem.x.rmatvec(dual)
        seen = softmax_certificate(problem, rows, probabilities, correlation, scores, u, 0.0)
        objective = seen.primal / problem.value
        return _Point(u, scores, probabilities, dual, correlation, objective, seen.relative_gap)

    # ------------------------------------------------------------------ one step

    def _step(self, now: _Point) -> _Point | None:
        """Take one proximal Newton step; None: no weight can change."""
        violation = self._violations(now)
        may = _may_change(now.u, violation)
        chosen = np.flatnonzero(may.any(axis=1))
        if len(chosen) == 0:
            return None
        v, score_step = self._minimise(now, chosen, may[chosen], violation[chosen])
        length = self._length(now, chosen, v, score_step)
        if length == 0:
            return self._step_again(now)
        self._mix = self._mixed_more() if length < SHORT_STEP else self._mix / MIX_FACTOR
        if self._mix < MIN_MIX:
            self._mix = 0.0
        u = now.u.copy()
        u[chosen] = v if length == 1 else u[chosen] + length * (v - u[chosen])
        return self._point(u, now.scores + length * score_step)

    def _step_again(self, now: _Point) -> _Point | None:
        """Return the point with a larger mixture for the next model; None: the mixture is 1."""
        if self._mix >= 1:
            return None
        self._mix = self._mixed_more()
        return now

    def _mixed_more(self) -> float:
        return min(1.0, max(MIN_MIX, MIX_FACTOR * self._mix))

    def _violations(self, now: _Point) -> Floats:
        """Return the violation of the optimality condition of each weight, (d, K)."""
        left = now.correlation - self._l2 * now.u
        found: Floats = np.where(
            now.u != 0,
            np.abs(left - self._l1 * np.sign(now.u)),
            np.maximum(np.abs(left) - self._l1, 0.0),
        )
        return found

    def _minimise(
        self,
        now: _Point,
        chosen: NDArray[np.intp],
        may: NDArray[np.bool_],
        violation: Floats,
    ) -> tuple[Floats, Floats]:
        """Minimise the model on the chosen columns; return weights and the change of scores."""
        factor = self._columns.factor
        unit = np.ones((len(chosen), 1)) if factor is None else factor[chosen, None]
        l1, l2 = self._columns.penalty(self._l1, self._l2)
        weights = now.u[chosen] * unit
        probabilities = (1.0 - self._mix) * now.probabilities + self._mix / now.probabilities.shape[
            1
        ]
        intercepts = np.zeros(now.probabilities.shape[1])
        scores = np.empty(now.probabilities.shape[::-1])
        sweeps, self._work = native.minimise_softmax_model(
            self._columns.core,
            chosen.astype(np.int64, copy=False),
            l1[chosen],
            l2[chosen],
            self._rows.c,
            np.ascontiguousarray(probabilities.T),
            np.ascontiguousarray(-now.dual.T),
            self._problem.fit_intercept,
            may.view(np.uint8),
            weights,
            intercepts,
            scores,
            SWEEP_TOL * float((violation / unit).max()),
            MAX_SWEEPS_AT_ROUNDING if now.relative_gap < ROUNDING else MAX_SWEEPS,
            self._work,
            self._on_sweep,
        )
        self.passes += 1.0 + sweeps * float(may.sum()) / now.u.size
        return weights / unit, scores.T

    def _length(
        self, now: _Point, chosen: NDArray[np.intp], v: Floats, score_step: Floats
    ) -> float:
        """Return the step length of a backtracking line search; 0: no decrease."""
        u, used = now.u[chosen], np.flatnonzero(self._rows.c)
        rows = self._rows.take(used)
        rest = self._penalty(now.u) - self._penalty(u)
        promised = self._penalty(v) - self._penalty(u) - float(np.vdot(now.dual, score_step))
        length = 1.0
        while length > MIN_STEP:
            scores = now.scores[used] + length * score_step[used]
            value = rest + self._penalty(u + length * (v - u)) + rows.total(scores)
            if (
                value
                <= now.objective
                + SUFFICIENT_DECREASE * length * promised
                + OBJECTIVE_ROUNDING * now.objective
            ):
                return length
            length *= 0.5
        return 0.0

    def _penalty(self, u: Floats) -> float:
        return self._l1 * float(np.abs(u).sum()) + 0.5 * self._l2 * float((u * u).sum())


def _settled(u: Floats) -> Floats:
    """Return the canonical weights among those with the same objective under a pure l1 penalty.

    A constant may be added to all weights of a column. With an even number of classes every
    constant between minus the two middle weights minimises the l1 norm; the one chosen sets a
    weight to 0 and is closer to minus the mean.
    """
    K = u.shape[1]
    used = np.flatnonzero(u.any(axis=1))
    if K % 2 or len(used) == 0:
        return u
    rows = u[used]
    low, high = np.partition(rows, (K // 2 - 1, K // 2), axis=1)[:, K // 2 - 1 : K // 2 + 1].T
    mean = rows.mean(axis=1)
    by = np.where(mean - low <= high - mean, low, high)
    settled = u.copy()
    settled[used] = rows - by[:, None]
    return settled


def _may_change(u: Floats, violation: Floats) -> NDArray[np.bool_]:
    """Return the active set of the next model: non-zero weights and the largest violations."""
    out = u == 0
    waiting = np.where(out, violation, 0.0)
    most, least = max(MIN_ENTERING, 2 * (out.size - int(out.sum()))), 0.0
    if np.count_nonzero(waiting) > most:
        least = float(np.partition(waiting, -most - 1, axis=None)[-most - 1])
    may: NDArray[np.bool_] = ~out | (waiting > least)
    return may


def _between(first: float, last: float) -> Floats:
    """Return intermediate values of C, each at most MAX_C_RATIO times the one before.

    Examples
    --------
    >>> _between(1.0, 100.0).tolist()
    [10.0]
    """
    steps = math.ceil(math.log(last / first, MAX_C_RATIO)) if 0 < first < last else 0
    return first * (last / first) ** (np.arange(1, steps) / max(steps, 1))
