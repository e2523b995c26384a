"""L2-penalised logistic regression: L-BFGS, then truncated Newton steps.

Folds and classes are lanes of the same passes over the rows (``logistic_objective.hpp``,
``lbfgs.hpp``), in the coordinates of `logistic_tiles`. A lane that needs more passes goes on with
Newton steps by conjugate gradients (``logistic_newton.hpp``), preconditioned with the curvature of
each row. One with several classes that is still far from its optimum, as with rare indicators,
first runs L-BFGS again, preconditioned with the full Hessian of all classes.

A lane stops at its duality gap, which a certificate confirms. If the goal asks for no certificate,
as in a search, it stops at its estimated distance from the optimum, half the squared Newton
decrement, relative to the loss of the intercept-only model: what a search compares is held-out
loss.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby

import numpy as np

from separable._core import native
from separable.certified.duality.certificate import CertifiedSolution
from separable.certified.duality.gap import certify, certify_at_own_probabilities
from separable.certified.problem import Lane, Problem
from separable.certified.solvers.logistic_tiles import Batch, Curvature, LogisticTiles
from separable.certified.solvers.objective import MIN_STEP, ROUNDING
from separable.certified.solvers.options import LbfgsOptions
from separable.certified.solvers.solved import Goal, OnPass, Result, Start, chains
from separable.linalg.lstsq import lstsq
from separable.losses.softmax import hessian_product, softmax, totals
from separable.typing import Floats

#: The relative gap of a goal to rounding.
TINY_TOL = 1e-14
#: Relative gap at which L-BFGS stops on them. The error of a score is the square root of a gap, so
#: a gap of 1e-14 would leave seven digits; rounding hides what is smaller in a certificate.
TINY_GAP = 1e-18
#: Distances from the optimum at which a lane of a search stops: relative to its null loss, and to
#: its objective, which keeps weights of large C from stopping early. Lanes start close to their
#: optimum, along the path of C, and know little of the curvature when they stop.
#: Tiny problems have scores with seven digits.
SEARCH_TOLS, TINY_SEARCH_TOLS = (5e-6, 1.5e-4), (1e-14, 1e-14)
#: Mean curvature of a loss in its score, for the preconditioner: binary (the maximum), multinomial.
CURVATURE, JOINT_CURVATURE = 0.25, 0.15
#: Gap to solve for, relative to the requested one.
FIRST_GAP = 0.5
#: A relative gap after the first passes above which the full Hessian of several classes pays,
#: the passes after which it is updated, and passes with it in all. Newton steps continue from the
#: last gap.
FAR_GAP, HESSIAN_PASSES, MAX_JOINT_PASSES, MIN_JOINT_GAP = 1e-2, 20, 150, 1e-8
#: Passes of L-BFGS before Newton's method: in a fit, binary or joint, and in a search.
FALLBACK_PASSES, JOINT_FALLBACK_PASSES, SEARCH_FALLBACK_PASSES = 30, 40, 300
#: Passes of Newton's method with conjugate gradients before the next solver.
NEWTON_PASSES = 600
#: A Newton step is certified if its predicted decrease, relative to the value, is below this.
CERTIFIED_DECREASE = 1e-3
#: Fraction of the requested gap that the residual of a Newton step may cause.
RESIDUAL_FRACTION = 0.25
#: Newton steps without progress after which to stop.
MAX_IDLE_STEPS = 3


class LbfgsSolver:
    """L-BFGS and truncated Newton steps for the lanes of logistic regression."""

    def __init__(self, problem: Problem, options: LbfgsOptions | None = None) -> None:
        self.problem, self._tiled = problem, LogisticTiles(problem)
        self._options = LbfgsOptions() if options is None else options

    @property
    def _hessian_passes(self) -> float:
        return self._tiled.hessian_passes(self._options.blas_speed)

    def _may_need_no_hessian(self, n_lanes: int) -> bool:
        """Return whether a Hessian of dense rows costs much of the time of one model."""
        n, d = self.problem.rows.shape
        is_costly = self._hessian_passes > self._options.min_hessian_passes
        return n_lanes == 1 and not self._tiled.is_sparse and n >= d and is_costly

    def prepare(self, goal: Goal) -> None:
        """Compute what threads share before they start."""
        curvature = self._rows_of(goal)[1]
        if not goal.certified:
            _ = curvature.eigen

    def _rows_of(self, goal: Goal) -> tuple[native.LogisticLanes, Curvature]:
        """Return the rows of the first passes."""
        is_float64 = goal.certified or self.problem.is_tiny(self._tiled.width)
        return self._tiled.float64 if is_float64 else self._tiled.float32

    def blocks(
        self, lanes: Sequence[Lane], chosen: list[int], n_jobs: int
    ) -> list[list[list[int]]]:
        """Deal out paths of C over the threads; lanes of one C are a batch."""
        self._tiled.starts_diagonal = self._may_need_no_hessian(len(chosen))
        paths, n_jobs = chains(lanes, chosen), max(1, n_jobs)
        most, blocks = self._tiled.most_lanes, []
        for first in range(min(n_jobs, len(paths))):
            mine = paths[first::n_jobs]
            for at in range(0, len(mine), most):
                some = (k for path in mine[at : at + most] for k in path)
                order = sorted(some, key=lambda k: (lanes[k].C, k))
                blocks.append([list(same) for _, same in groupby(order, key=lambda k: lanes[k].C)])
        return blocks

    def solve(self, lanes: list[Lane], start: Start | None, goal: Goal, on_pass: OnPass) -> Result:
        """Solve lanes of one C."""
        batch = Batch.of(self.problem, lanes, self._tiled.size)
        if start is not None:
            for at in range(len(lanes)):
                batch.set_weights(at, *self._tiled.start_of(start, at))
        return (self._certified if goal.certified else self._estimated)(batch, goal, on_pass)

    def _certified(self, batch: Batch, goal: Goal, on_pass: OnPass) -> Result:
        """Solve for a duality gap by L-BFGS; continue with Newton steps where that misses."""
        stop = _Stop(on_pass)
        wanted = min(goal.tol, TINY_TOL) if goal.to_rounding else goal.tol
        gap = FIRST_GAP * (TINY_GAP if goal.to_rounding else wanted)
        most = goal.max_iter
        before_newton = JOINT_FALLBACK_PASSES if self._tiled.is_joint else FALLBACK_PASSES
        if self._tiled.starts_diagonal:
            results = self._minimise_alone(batch, gap, most, stop)
        else:
            results = self._minimise(
                self._tiled.float64,
                batch,
                (0.0, 0.0),
                gap,
                min(before_newton, most),
                stop,
                1 if batch.weights.any() else self._tiled.sample_step,
            )
        passes = results[:, 3].astype(np.int64)
        for k in np.flatnonzero(results[:, 4] == 0).tolist():
            left = min(most - int(passes[k]), MAX_JOINT_PASSES)
            is_far = left > 0 and results[k, 1] > FAR_GAP * results[k, 0]
            is_possible = self._tiled.has_joint_hessian and bool((batch.code[k] >= 0).all())
            if is_far and is_possible and not stop.requested:
                enough = max(0.1 * gap, MIN_JOINT_GAP)
                results[k] = self._minimise_jointly(batch.take(k), enough, left, stop)
                passes[k] += int(results[k, 3])
        solvers, parts = ["lbfgs"] * len(passes), []
        for k in range(len(passes)):
            one, best = batch.take(k), None
            can_continue = passes[k] < most and not stop.requested
            if results[k, 4] or not can_continue:
                best = self._certify(one, goal.tol)
            if can_continue and (best is None or best.certificates[0].relative_gap > wanted):
                left = min(most - int(passes[k]), NEWTON_PASSES)
                best, more = self._newton(one, best, replace(goal, max_iter=left), wanted, stop)
                passes[k], solvers[k] = passes[k] + more, "newton-cg"
            assert best is not None
            parts.append(best)
        done = np.array([stop.requested or one.certificates[0].converged for one in parts])
        return Result(CertifiedSolution.side_by_side(parts), passes, solvers, done)

    def _estimated(self, batch: Batch, goal: Goal, on_pass: OnPass) -> Result:
        """Solve in float32 for an estimated distance from the optimum, without certificates.

        A lane that misses it goes on alone, by `_certified`, so that no lane depends on others.
        """
        most = min(SEARCH_FALLBACK_PASSES, goal.max_iter)
        is_tiny = self.problem.is_tiny(self._tiled.width)
        tols = TINY_SEARCH_TOLS if is_tiny else SEARCH_TOLS
        results = self._minimise(self._rows_of(goal), batch, tols, 0.0, most, on_pass)
        passes, done = results[:, 3].astype(np.int64), np.ones(len(results), np.bool_)
        weights, b, scores = self._tiled.scores(batch)
        solvers = ["lbfgs"] * len(passes)
        if most < goal.max_iter:
            for k in np.flatnonzero(results[:, 4] == 0).tolist():
                left = replace(goal, max_iter=goal.max_iter - int(passes[k]))
                alone = self._certified(batch.take(k), left, on_pass)
                one, here = alone.solution, np.arange(self._tiled.width) + k * self._tiled.width
                weights[:, here], b[here], scores[:, here] = one.weights, one.intercept, one.scores
                passes[k], solvers[k] = passes[k] + alone.passes[0], alone.solvers[0]
                done[k] = alone.is_done[0]
        solution = CertifiedSolution(
            weights, b, scores, [], np.empty((0, len(b))), self._tiled.width
        )
        return Result(solution, passes, solvers, done)

    def _minimise(
        self,
        rows: tuple[native.LogisticLanes, Curvature],
        batch: Batch,
        decrement_tols: tuple[float, float],
        gap_tol: float,
        most: int,
        on_pass: OnPass,
        sample_step: int = 1,
        coordinates: native.Preconditioner | None = None,
    ) -> Floats:
        """Run L-BFGS; return value, gap, decrement, passes and convergence of each lane."""
        problem, C = self.problem, batch.lanes[0].C / self.problem.value
        curvature = JOINT_CURVATURE if self._tiled.is_joint else CURVATURE
        total = float(problem.rows.n_rows if problem.weight is None else problem.weight.sum())
        results = np.zeros((len(batch.lanes), 5))
        if coordinates is None:
            is_path = gap_tol == 0
            coordinates = self._tiled.preconditioner(rows[1], curvature * C, total, many=is_path)
        rows[0].solve(
            C,
            np.array([lane.fold for lane in batch.lanes], np.int32),
            np.array([lane.target for lane in batch.lanes], np.int32),
            batch.code,
            coordinates,
            decrement_tols[0] * C * batch.null_loss,
            decrement_tols[1],
            gap_tol,
            most,
            self._tiled.memory,
            sample_step,
            on_pass,
            batch.weights,
            results,
        )
        return results

    def _minimise_alone(self, batch: Batch, gap_tol: float, most: int, stop: _Stop) -> Floats:
        """Run L-BFGS on one lane with the diagonal of its Hessian; if that is slow, with all of it.

        The diagonal is enough for columns with little correlation.
        """
        options, tiles, cost = self._options, self._tiled, self._hessian_passes
        passes, coordinates, first = 0, None, 1 if batch.weights.any() else tiles.sample_step
        for patience in (options.diagonal_patience, options.hessian_patience):
            if passes:
                c = self._curvature(batch)
                coordinates = tiles.preconditioner(tiles.weighted_gram(c), 1.0, float(c.sum()))
            pace = _Pace(stop, gap_tol, patience * cost, cost + options.remaining_passes)
            results = self._minimise(
                *(tiles.float64, batch, (0.0, 0.0), gap_tol, most - passes, pace),
                sample_step=1 if passes else first,
                coordinates=coordinates,
            )
            passes += int(results[0, 3])
            if not pace.is_slow or stop.requested or passes >= most:
                break
        results[0, 3] = passes
        return results

    def _curvature(self, batch: Batch) -> Floats:
        """Return the curvature of each row, the mean of the classes, at the weights of one lane."""
        (lane,), w = batch.lanes, batch.weights[0]
        C, curvature = lane.C / self.problem.value, np.zeros(self.problem.rows.n_rows)
        expansion = native.LogisticExpansion()
        self._tiled.float64[0].expand(
            C, lane.fold, lane.target, batch.code[0], w, np.zeros_like(w), curvature, expansion
        )
        return C * curvature

    def _minimise_jointly(self, batch: Batch, gap_tol: float, most: int, stop: _Stop) -> Floats:
        """Run L-BFGS on one lane, preconditioned with the full Hessian, which is updated.

        Where the curvature of a weight depends on its class and falls as rows are fitted, as for
        rare indicators, no Hessian of all classes alike is close.
        """
        lane, passes = batch.lanes[0], 0
        while True:
            q = softmax(self._tiled.scores(batch)[2])
            coordinates = self._tiled.joint_preconditioner(q, self.problem.costs(lane))
            left = min(HESSIAN_PASSES, most - passes)
            results = self._minimise(
                self._tiled.float64, batch, (0.0, 0.0), gap_tol, left, stop, coordinates=coordinates
            )
            passes += int(results[0, 3])
            if results[0, 4] or results[0, 3] < left or passes >= most or stop.requested:
                end: Floats = results[0]
                end[3] = passes
                return end

    def _newton(
        self,
        batch: Batch,
        best: CertifiedSolution | None,
        goal: Goal,
        wanted: float,
        on_pass: OnPass,
    ) -> tuple[CertifiedSolution, int]:
        """Solve one lane by truncated Newton steps; return the best solution and the passes taken.

        Steps: 1. value, gradient and curvature of each row; 2. a step by conjugate gradients,
        preconditioned with the Hessian at the mean curvature of the classes, which is renewed
        after as many passes as it costs; 3. the dual point of the step, whose weights are those at
        its end up to the residual; 4. line search.
        """
        lane, w = batch.lanes[0], batch.weights[0]
        C, tiles = lane.C / self.problem.value, self._tiled.float64[0]
        gradient, curvature = np.zeros_like(w), np.zeros(self.problem.rows.n_rows)
        expand = partial(tiles.expand, C, lane.fold, lane.target, batch.code[0])
        expansion = native.LogisticExpansion()  # not of the tiles, which threads share
        value, passes, idle = expand(w, gradient, curvature, expansion), 1, 0  # 1
        cost = since = self._hessian_passes
        while passes < goal.max_iter and idle < MAX_IDLE_STEPS:
            if since >= cost:
                model, since = self._tiled.weighted_gram(C * curvature), 0
                coordinates = self._tiled.preconditioner(model, 1.0, C * float(curvature.sum()))
            step = np.zeros_like(w)
            residual_tol = 2 * RESIDUAL_FRACTION * wanted * value
            slope, residual, products = tiles.newton_step(  # 2
                expansion,
                C,
                coordinates,
                gradient,
                value,
                residual_tol,
                goal.max_iter - passes,
                step,
            )
            passes, since = passes + int(products), since + int(products)
            if -slope <= CERTIFIED_DECREASE * value and residual <= 2 * wanted * value:
                solution = self._certify_step(batch, step, goal.tol)  # 3
                best = solution if best is None or solution.is_better_than(best) else best
            reached = np.inf if best is None else best.certificates[0].relative_gap
            if reached <= wanted or on_pass(passes, reached) or not slope < 0:
                break
            length, new = 1.0, np.inf  # 4
            while length >= MIN_STEP:
                new = expand(w + length * step, gradient, curvature, expansion)
                passes += 1
                if new <= value + 1e-4 * length * slope + ROUNDING * value:
                    break
                length *= 0.5
            if length < MIN_STEP:
                break
            w += length * step
            idle = 0 if new < value - ROUNDING * value else idle + 1
            value = new
        if best is None or best.certificates[0].relative_gap > wanted:
            last = self._certify(batch, goal.tol)
            best = last if best is None or last.is_better_than(best) else best
        return best, passes

    # ------------------------------------------------------------------ certificates

    def _certify(self, batch: Batch, tol: float) -> CertifiedSolution:
        """Certify the weights of one lane with the dual point of their own probabilities."""
        problem, lane = self.problem, batch.lanes[0]
        weights, b, scores = self._tiled.scores(batch)
        if self._tiled.is_joint:
            return certify_at_own_probabilities(problem, lane, weights, b, scores, tol)
        gradient, curvature = self._derivatives(lane, scores)
        z = self._balanced(lane, -gradient, curvature)
        return certify(problem, [lane], z, tol, weights, b, scores=scores)

    def _certify_step(self, batch: Batch, step: Floats, tol: float) -> CertifiedSolution:
        """Certify the end of a Newton step with the dual point of the linearised gradient."""
        problem, lane = self.problem, batch.lanes[0]
        _, _, scores = self._tiled.scores(batch)
        weights, b, after = self._tiled.scores(replace(batch, weights=batch.weights + step))
        with np.errstate(invalid="ignore"):
            ds = np.where(np.isfinite(after), after - scores, 0.0)
        if not self._tiled.is_joint:
            gradient, curvature = self._derivatives(lane, scores)
            z = self._balanced(lane, -(gradient + curvature * ds[:, 0]), curvature)
            return certify(problem, [lane], z, tol, weights)
        label, c = problem.target.astype(np.int32, copy=False), problem.costs(lane)
        q = softmax(scores)
        ones = np.ones(len(q))
        p = q + hessian_product(ones, q, ds)
        if problem.fit_intercept:  # conjugate gradients leave a residual: class totals
            weighted = q * c[:, None]
            hessian = np.diag(weighted.sum(axis=0)) - weighted.T @ q
            db = lstsq(hessian, totals(label, c, self._tiled.width) - c @ p)
            p += hessian_product(ones, q, np.broadcast_to(db, q.shape))
        return certify(problem, [lane], np.maximum(p, 0.0), tol, weights, b)

    def _derivatives(self, lane: Lane, scores: Floats) -> tuple[Floats, Floats]:
        problem = self.problem
        return problem.loss.derivatives(problem.targets(lane), scores[:, 0], problem.costs(lane))

    def _balanced(self, lane: Lane, z: Floats, curvature: Floats) -> Floats:
        """Return a dual point with sum 0, to first order that of the best intercept, (n, 1)."""
        problem = self.problem
        if problem.fit_intercept and curvature.any():
            z = z - curvature * (z.sum() / curvature.sum())
            z = problem.loss.clip_dual(problem.targets(lane), problem.costs(lane), z)
        return z[:, None]


class _Pace:
    """A callback that stops where passes will take longer than a new Hessian would.

    Parameters
    ----------
    tol : float
        The gap to reach.
    least : float
        Passes before it stops.
    most : float
        Passes that a Hessian costs, and those after it.
    """

    def __init__(self, on_pass: OnPass, tol: float, least: float, most: float) -> None:
        self._on_pass, self._tol, self._least, self._most = on_pass, tol, least, most
        self._first, self.is_slow = 0.0, False

    def __call__(self, number: int, gap: float) -> bool:
        self._first = self._first or gap
        if number > max(1.0, self._least) and self._tol < gap < math.inf:
            rate = math.log(self._first / gap) / (number - 1)
            left = math.log(gap / self._tol)
            self.is_slow = rate <= 0 or number + left / rate > self._most
        return self._on_pass(number, gap) or self.is_slow


class _Stop:
    """A callback that remembers that it asked to stop."""

    def __init__(self, on_pass: OnPass) -> None:
        self._on_pass, self.requested = on_pass, False

    def __call__(self, number: int, gap: float) -> bool:
        self.requested = self.requested or bool(self._on_pass(number, gap))
        return self.requested
