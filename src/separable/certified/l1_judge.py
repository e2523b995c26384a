"""Judging weights under a penalty with corners, l1 or elastic net.

With l1 = l1_ratio and l2 = 1 - l1_ratio, a dual point z with a sum of 0, and its pulls g = Z'z on
the columns, split into t, what g exceeds l1 by, and the rest e:

    dual  sum_i dual(y_i, c_i, z_i) - sum_j t_j^2 / (2 l2)
    gap   sum_i (a term of row i >= 0) + sum_j (l1 |u_j| - e_j u_j) + l2/2 (u_j - t_j / l2)^2

Without an l2 part t has to be 0: the dual point is scaled down until it is.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from separable._core import native
from separable.certified.certificate import Certificate
from separable.certified.judge import Judgement, feasible
from separable.certified.problem import in_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from separable.certified.l1_columns import ReadColumns
    from separable.certified.problem import Lane, Problem

    Floats = NDArray[np.float64]

__all__ = ["corner_and_curve", "judge_l1"]

#: Rounding must not leave a pull above the penalty.
BELOW = 1.0 - 2.0**-51


def corner_and_curve(problem: Problem) -> tuple[float, float]:
    """Return l1 and l2: what |u_j| and u_j^2 / 2 cost, in the objective over ``value``.

    Columns in another unit have u in its inverse, so that l1 alone changes with it.
    """
    ratio = problem.penalty.l1_ratio
    return ratio / math.sqrt(problem.value), 1.0 - ratio


def judge_l1(
    problem: Problem,
    lanes: Sequence[Lane],
    z: Floats | None,
    weights: NDArray[Any],
    tol: float,
    columns: ReadColumns | None = None,
) -> Judgement:
    """Certify weights, in float64 and from the rows alone.

    Parameters
    ----------
    problem : Problem
    lanes : sequence of Lane
    z : ndarray, shape (n, k), or None
        A dual point of each lane, with the sign of the target; made feasible here. None: the one
        of the slopes of the losses at the weights.
    weights : ndarray, shape (d, k)
        Of the problem's columns; where these may not be negative they are not.
    tol : float
        The relative gap asked for.
    columns : ReadColumns, optional
        The columns; products are quicker by these, of dense rows where they are in float64.
    """
    k = len(lanes)
    corner, curve = corner_and_curve(problem)
    targets = problem.in_lanes(lanes)
    weights = np.asarray(weights, dtype=np.float64)
    there = np.flatnonzero(weights.any(axis=1))
    u = in_lines(weights[there])
    by = columns if columns is not None and columns.is_exact else None
    scores = _scores(problem, weights) if by is None else by.scores(u, there)
    if z is None:
        z = _slopes_against(problem, lanes, targets, scores)
    dual = feasible(problem, lanes, z)
    pull = (problem.along(dual) if by is None else by.along(dual))[:, :k]
    if curve == 0:
        keep = _scales(problem, lanes, dual[:, :k], pull, corner)
        dual[:, :k] *= keep
        u, pull = u[:, :k], pull[there] * keep
    else:
        there = _that_count(problem, weights, pull)
        u, pull = weights[there], pull[there]
    b, loss, value, gap = (
        np.array(sums) for sums in native.row_terms(targets, dual, scores, problem.fit_intercept)
    )
    terms, penalty, over = _column_terms(problem, u, pull)
    primal, value = loss + penalty, value - over
    certificates = [
        Certificate(
            float(primal[lane]),
            float(value[lane]),
            float(gap[lane] + terms[lane]),
            tol,
            convexity=curve,
        ).times(problem.value)
        for lane in range(k)
    ]
    scores = scores[:, :k]
    scores += b
    return Judgement(weights, b, scores, certificates, dual[:, :k])


def _scores(problem: Problem, weights: Floats) -> Floats:
    """Return scores by the rows, in whole lines of lanes."""
    return in_lines(problem.scores(weights))


def _that_count(problem: Problem, u: Floats, pull: Floats) -> NDArray[np.intp]:
    """Return the columns that add to the gap: with a weight, or a pull beyond the penalty."""
    corner, _ = corner_and_curve(problem)
    there = u.any(axis=1) | (pull.max(axis=1) > corner)
    if not problem.penalty.positive:
        there |= pull.min(axis=1) < -corner
    return np.flatnonzero(there)


def _column_terms(problem: Problem, u: Floats, pull: Floats) -> tuple[Floats, Floats, Floats]:
    """Return what columns add to the gap, to the primal, and take from the dual, by lane."""
    corner, curve = corner_and_curve(problem)
    size = np.abs(u)
    penalty = corner * size.sum(axis=0) + 0.5 * curve * (u**2).sum(axis=0)
    if curve == 0:
        return np.maximum(corner * size - pull * u, 0.0).sum(axis=0), penalty, np.zeros(u.shape[1])
    over = np.maximum(pull - corner, 0.0)
    if not problem.penalty.positive:
        over += np.minimum(pull + corner, 0.0)
    terms = np.maximum(corner * size - (pull - over) * u, 0.0).sum(axis=0)
    terms += 0.5 * curve * ((u - over / curve) ** 2).sum(axis=0)
    return terms, penalty, (over**2).sum(axis=0) / (2.0 * curve)


def _slopes_against(
    problem: Problem, lanes: Sequence[Lane], targets: native.LaneTargets, scores: Floats
) -> Floats:
    """Return minus the slopes of the losses, at the best intercepts."""
    k = len(lanes)
    b = np.zeros(k)
    if problem.fit_intercept:
        b = np.array(native.row_terms(targets, np.zeros_like(scores), scores, True)[0])
    z = np.zeros_like(scores)
    for lane in range(k):
        z[:, lane] = -problem.loss.slopes(  # type: ignore[attr-defined]
            problem.targets(lanes[lane]), scores[:, lane] + b[lane], problem.costs(lanes[lane])
        )[0]
    return z


def _scales(
    problem: Problem, lanes: Sequence[Lane], dual: Floats, pull: Floats, corner: float
) -> Floats:
    """Return what to scale dual points with so that no pull exceeds the l1 penalty."""
    most = pull.max(axis=0, initial=0.0)
    if not problem.penalty.positive:
        most = np.maximum(most, -pull.min(axis=0, initial=0.0))
    best = np.ones(len(lanes))
    if problem.is_regression:  # the dual value is quadratic in the scale
        y = problem.targets(lanes[0])
        if problem.fit_intercept:  # z has a sum of 0: the mean says nothing but loses digits
            y = y - y.mean()
        for lane, one in enumerate(lanes):
            c = problem.costs(one)
            z = dual[:, lane]
            square = float(np.divide(z**2, c, out=np.zeros_like(z), where=c > 0).sum())
            if square > 0:
                best[lane] = max(0.0, float(z @ y) / square)
    room = np.divide(corner, most, out=np.full(len(lanes), np.inf), where=most > 0)
    scales: Floats = np.minimum(best, room * BELOW)
    return scales
