"""Duality gap of squared errors with an elastic net penalty, from residuals in twice the precision.

One pass over the rows gives the residuals r of the published weights, their squares and the
correlations g = X'Cr of centered columns, all in double-double arithmetic. With the dual point
z = t C (r - mean r), c_i = weight_i / W and P the penalty of the scaled weights u,

    gap = (1 - t)^2 / 2 |r - mean r|^2 + (mean r)^2 / 2 + P(u) + P*(t g) - t u.g

is a sum of terms that are not negative, so nothing cancels. Rounding is bounded as in `published`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from separable._core import native
from separable.certified.duality.certificate import Certificate, CertifiedSolution
from separable.certified.duality.gap import FEASIBLE_RATIO
from separable.certified.duality.published import ROUNDING_FRACTION, Published
from separable.certified.duality.rounding import EXTRA_STEPS, UNIT, UNIT_TWICE

if TYPE_CHECKING:
    from separable.certified.gram.gram_problem import GramProblem
    from separable.certified.problem import Problem
    from separable.penalties.elastic_net import ElasticNetPenalty
    from separable.typing import Floats


__all__ = ["certify_residuals"]

#: Passes until the intercept is at its optimum.
MAX_INTERCEPTS = 3
#: Squared step of the intercept, relative to the residuals, that changes their squares linearly.
SMALL_MOVE = 1e-12


def certify_residuals(
    problem: Problem, gram: GramProblem, y: Floats, alpha: float, w: Floats, b: float, tol: float
) -> tuple[CertifiedSolution, Published] | None:
    """Certify weights of the raw columns as published, with an intercept moved to its optimum.

    Parameters
    ----------
    problem : Problem
        Of squared errors, in the units of its rows.
    gram : GramProblem
        Means and deviations of the columns.
    y : ndarray, shape (n,)
        The target as given.
    alpha : float
    w, b : ndarray, shape (d,), and float
    tol : float
        The requested relative gap.

    Returns
    -------
    tuple or None
        None: float64 does not hold these numbers well enough to prove that they converged.
    """
    if problem.value != 1.0:
        return None
    with np.errstate(over="ignore", invalid="ignore"):  # a bound that overflows proves nothing
        residuals = _Residuals.of(problem, gram, y, w, b)
        scale = problem.columns.scale
        u, unit = w, np.ones_like(w)
        if scale is not None:
            unit = scale
            u = np.divide(w, scale, out=np.zeros_like(w), where=scale > 0)
        t, primal, gap, rounding = residuals.gap(alpha, problem.penalty, u, unit)
    if not (gap + rounding <= tol * primal and rounding <= ROUNDING_FRACTION * tol * primal):
        return None
    gap += rounding
    curvature = alpha * (1.0 - problem.penalty.l1_ratio)
    proof = [Certificate(primal, primal - gap, gap, tol, convexity=curvature)]
    z, weight = residuals.values, problem.weight
    if problem.fit_intercept:
        z = z - np.average(z, weights=weight)
    z = z * (t / residuals.total)
    if weight is not None:
        z *= weight
    columns, b = problem.columns, residuals.intercept
    inside = b - columns.level
    if columns.shift is not None:
        inside += float(columns.shift @ w)
    scores = np.asarray(problem.target, dtype=np.float64) - residuals.values
    solution = CertifiedSolution(u[:, None], np.array([inside]), scores[:, None], proof, z[:, None])
    return solution, Published(w[:, None], np.array([b]), proof, z[:, None])


@dataclass(frozen=True)
class _Residuals:
    """Residuals of weights and what the gap needs of them, with bounds on rounding errors.

    ``mean`` bounds the mean residual, ``squares`` is the mean square, ``correlation`` g with the
    errors ``error``, and ``score_error`` bounds the errors of scores.
    """

    values: Floats
    total: float
    intercept: float
    mean: float
    squares: float
    correlation: Floats
    error: Floats
    score_error: float

    @staticmethod
    def of(problem: Problem, gram: GramProblem, y: Floats, w: Floats, b: float) -> _Residuals:
        n, d = problem.rows.shape
        weight, size = problem.weight, problem.size
        total = float(n) if weight is None else float(weight.sum())
        values, g = np.empty(n), np.empty(d)
        none = np.zeros(d)
        mean = gram.mean if gram.fit_intercept else none
        for _ in range(MAX_INTERCEPTS):
            sums = native.residual_sums(problem.core, y, weight, w, none, b, 0.0, mean, g, values)
            left, squares, moved = sums[0] / total, sums[1] / total, 0.0
            if not problem.fit_intercept:
                left = 0.0
                break
            best = b + left
            moved, b = best - b, best
            if moved * moved <= SMALL_MOVE * squares:
                values -= moved
                squares -= moved * (2.0 * left - moved)
                left = abs(left - moved) + 4 * UNIT * abs(left)
                break
        else:  # one bit of the intercept is more than the residuals can bear
            squares = math.nan
        g /= total
        length = math.sqrt(squares)
        far = float(size.far @ np.abs(w)) + abs(b) + float(np.abs(y).max())
        score_error = UNIT_TWICE * (d + EXTRA_STEPS) * far
        error = 4 * UNIT * np.abs(g) + 2 * UNIT_TWICE * (n + EXTRA_STEPS) * length * size.far
        # the intercept moves all rows alike, and the dual point is rounded to float64: by Cauchy
        error += (abs(moved) + left + score_error + 4 * UNIT * length) * gram.length
        error += 4 * UNIT * length * np.abs(mean)  # its sum is 0 but for rounding
        return _Residuals(values, total, b, left, squares, g, error, score_error)

    def gap(
        self, alpha: float, penalty: ElasticNetPenalty, u: Floats, unit: Floats
    ) -> tuple[float, float, float, float]:
        """Return the dual scaling t, the primal, the gap, and what rounding may add to it."""
        l1, l2 = alpha * penalty.l1_ratio, alpha * (1.0 - penalty.l1_ratio)
        v, error, size = self.correlation * unit, self.error * unit, np.abs(u)
        held = v if penalty.positive else np.abs(v)
        total, length = float(size.sum()), math.sqrt(self.squares)
        primal = 0.5 * self.squares + l1 * total + 0.5 * l2 * float(u @ u)
        rounding = 4 * UNIT * l1 * total + 0.5 * self.mean**2 + 8 * UNIT * primal
        rounding += 2 * length * self.score_error
        if l2 == 0:  # scale the dual point down until no correlation exceeds l1
            most = float((held + error).max())
            t = FEASIBLE_RATIO * l1 / most if most > 0 else math.inf
            if self.squares > 0:
                t = min(t, max(0.0, 1.0 + float(u @ v) / self.squares))
            gap = 0.5 * (1.0 - t) ** 2 * self.squares
            gap += float(np.maximum(l1 * size - (t * v) * u, 0.0).sum())
            return t, primal, gap, rounding + t * float(error @ size)
        over = np.maximum(held - l1, 0.0)
        if not penalty.positive:
            over = np.copysign(over, v)
        apart = u - over / l2
        gap = float(np.maximum(l1 * size - (v - over) * u, 0.0).sum())
        gap += 0.5 * l2 * float(apart @ apart)
        # the gap has the second derivative 1 / l2 in v
        away = float(np.linalg.norm(error + 4 * UNIT * (np.abs(v) + l2 * size))) / math.sqrt(2 * l2)
        return 1.0, primal, gap, rounding + away * (2.0 * math.sqrt(gap) + away)
