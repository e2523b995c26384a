"""Duality gap of l1 and elastic net problems.

With l1 = l1_ratio, l2 = 1 - l1_ratio and a dual point z of sum 0, the correlations g = Z'z split
into t, the soft-thresholded part (the excess over l1), and the rest e:

    dual  sum_i dual(y_i, c_i, z_i) - sum_j t_j^2 / (2 l2)
    gap   sum_i (a term of row i >= 0) + sum_j (l1 |u_j| - e_j u_j) + l2/2 (u_j - t_j / l2)^2

Without an l2 part t has to be 0: the dual point is scaled down until it is (dual scaling; El
Ghaoui, Viallon and Rabbani, 2012).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from separable._core import native
from separable.certified.design.column_reader import max_correlations
from separable.certified.duality.certificate import Certificate
from separable.certified.duality.l2_certifier import CertifiedSolution, feasible
from separable.certified.problem import in_lines
from separable.losses.squared_error import SquaredError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from separable.certified.design.column_reader import ReadColumns
    from separable.certified.problem import Lane, Problem
    from separable.typing import Floats


__all__ = ["FEASIBLE_RATIO", "SparseWeights", "certify_l1", "column_terms", "l1_l2_weights"]

#: Dual scaling stops short of the bound by this factor, so that rounding cannot violate it.
FEASIBLE_RATIO = 1.0 - 2.0**-51
#: A dual point that changes by at most this fraction keeps its correlations, up to rounding.
MAX_MOVED = 2.0**-44


def l1_l2_weights(problem: Problem) -> tuple[float, float]:
    """Return the weights of |u_j| and u_j^2 / 2 in the objective divided by ``value``."""
    ratio = problem.penalty.l1_ratio
    return ratio / math.sqrt(problem.value), 1.0 - ratio


@dataclass(frozen=True)
class SparseWeights:
    """The non-zero weights of k models, in CSC order.

    Parameters
    ----------
    start : ndarray of int, shape (k + 1,)
        Where the weights of each model start; the offset is arbitrary.
    column, weight : ndarray
    n_columns : int

    Examples
    --------
    >>> found = SparseWeights(np.array([0, 1, 3]), np.array([1, 1, 3]), np.ones(3), 4)
    >>> found.dense().T
    array([[0., 1., 0., 0.],
           [0., 1., 0., 1.]])
    >>> found.chosen()
    (array([1, 3]), array([[1., 1.],
           [0., 1.]]))
    """

    start: NDArray[np.int64]
    column: NDArray[np.int64]
    weight: Floats
    n_columns: int

    def dense(self) -> Floats:
        """Return the dense weights, shape (d, k), in column-major order."""
        table: Floats = native.spread_weights(
            self.start, self.column, self.weight, self.n_columns
        ).T
        return table

    def chosen(self) -> tuple[NDArray[np.intp], Floats]:
        """Return the joint support of all models and its weights, shape (m, k)."""
        support, row = np.unique(self.column, return_inverse=True)
        counts = np.diff(self.start)
        u = np.zeros((len(support), len(counts)))
        u[row, np.repeat(np.arange(len(counts)), counts)] = self.weight
        return support, u


def certify_l1(
    problem: Problem,
    lanes: Sequence[Lane],
    z: Floats | None,
    weights: NDArray[Any] | SparseWeights,
    tol: float,
    columns: ReadColumns | None = None,
) -> CertifiedSolution:
    """Compute the duality gap of weights, in float64 and from the rows alone.

    Parameters
    ----------
    problem : Problem
    lanes : sequence of Lane
    z : ndarray, shape (n, k), or None
        A dual point of each lane, with the sign of the target; made feasible here. None: minus the
        gradient of the loss at the weights.
    weights : ndarray, shape (d, k), or SparseWeights
        For the problem's columns; non-negative if the penalty says so.
    tol : float
        The requested relative gap.
    columns : ReadColumns, optional
        The problem by columns, for faster products.
    """
    k = len(lanes)
    l1, l2 = l1_l2_weights(problem)
    targets = problem.in_lanes(lanes)
    if isinstance(weights, SparseWeights):
        support, u = weights.chosen()
        weights = weights.dense()
    else:
        weights = np.asarray(weights, dtype=np.float64)
        support = np.flatnonzero(weights.any(axis=1))
        u = weights[support]
    u = in_lines(u)
    by = columns if columns is not None and columns.is_exact else None
    read = _read_once(problem, lanes, in_lines(weights)) if z is None and by is None else None
    if read is None:
        chosen = None if by is None else by.take(support)
        scores = _scores(problem, weights) if chosen is None else chosen.matvec(u)
        if z is None:
            z = _negative_gradients(problem, lanes, targets, scores)
        dual = feasible(problem, lanes, z)
        if l2 > 0 or by is None or chosen is None:
            correlation = (problem.rmatvec(dual) if by is None else by.rmatvec(dual))[:, :k]
        else:  # other columns matter only through the largest correlation
            most = by.max_correlations(dual, is_signed=problem.penalty.positive)[:k]
            correlation = chosen.rmatvec(dual)[:, :k]
    else:
        scores, dual, correlation = read
    if l2 == 0:
        if by is None:
            most = max_correlations(correlation, is_signed=problem.penalty.positive)
            correlation = correlation[support]
        keep = _scales(problem, lanes, dual[:, :k], most, l1)
        dual[:, :k] *= keep
        u, correlation = u[:, :k], correlation * keep
    else:
        u = weights
    b, loss, value, gap = (
        np.array(sums) for sums in native.row_terms(targets, dual, scores, problem.fit_intercept)
    )
    terms, penalty, over = column_terms(problem, u, correlation)
    primal, value, gap = loss + penalty, value - over, gap + terms
    worse = ~(gap < primal)  # 0 is a dual point, too
    dual[:, :k][:, worse], value[worse], gap[worse] = 0.0, 0.0, primal[worse]
    certificates = [
        Certificate(
            float(primal[lane]),
            float(value[lane]),
            float(gap[lane]),
            tol,
            convexity=l2,
        ).times(problem.value)
        for lane in range(k)
    ]
    scores = scores[:, :k]
    scores += b
    return CertifiedSolution(weights, b, scores, certificates, dual[:, :k])


def _scores(problem: Problem, weights: Floats) -> Floats:
    """Return the scores, padded to whole cache lines."""
    return in_lines(problem.matvec(weights))


def column_terms(problem: Problem, u: Floats, correlation: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the terms of the gap, the penalty and its conjugate, summed over columns, by lane.

    Columns of weight 0 with a correlation of at most l1 contribute nothing.
    """
    l1, l2 = l1_l2_weights(problem)
    support = u.any(axis=1)
    if l2 > 0:
        support |= correlation.max(axis=1) > l1
        if not problem.penalty.positive:
            support |= correlation.min(axis=1) < -l1
    u, correlation = u[support], correlation[support]
    size = np.abs(u)
    penalty = l1 * size.sum(axis=0) + 0.5 * l2 * (u**2).sum(axis=0)
    if l2 == 0:
        return (
            np.maximum(l1 * size - correlation * u, 0.0).sum(axis=0),
            penalty,
            np.zeros(u.shape[1]),
        )
    over = np.maximum(correlation - l1, 0.0)
    if not problem.penalty.positive:
        over += np.minimum(correlation + l1, 0.0)
    terms = np.maximum(l1 * size - (correlation - over) * u, 0.0).sum(axis=0)
    terms += 0.5 * l2 * ((u - over / l2) ** 2).sum(axis=0)
    return terms, penalty, (over**2).sum(axis=0) / (2.0 * l2)


def _read_once(
    problem: Problem, lanes: Sequence[Lane], u: Floats
) -> tuple[Floats, Floats, Floats] | None:
    """Return scores, dual point and correlations from one pass over dense rows; None: impossible.

    With centred columns the best intercept of squared errors is the mean target, known in advance.
    Then the residuals are dual feasible up to rounding.
    """
    centred = problem.columns.shift is not None or not problem.fit_intercept
    if problem.rows.is_sparse or not centred or len(lanes) > 1 or u.shape[1] > 1:
        return None
    if not isinstance(problem.loss, SquaredError):
        return None
    y, c = problem.targets(lanes[0]), problem.costs(lanes[0])
    rest = y
    if problem.fit_intercept:  # once more: far from 0 the mean is rounded
        for _ in range(2):
            rest = rest - float(c @ rest) / float(c.sum())
    scale = problem.columns.scale
    w = u if scale is None else u * scale[:, None]
    scores, z, correlation = np.empty((len(y), 1)), np.empty((len(y), 1)), np.zeros_like(w)
    for start, block in problem.blocks():
        part = slice(start, start + len(block))
        scores[part] = block @ w
        z[part, 0] = c[part] * (rest[part] - scores[part, 0])
        correlation += block.T @ z[part]
    dual = feasible(problem, lanes, z)
    if not np.abs(dual - z).sum() <= MAX_MOVED * np.abs(z).sum():
        return None
    return scores, dual, correlation if scale is None else correlation * scale[:, None]


def _negative_gradients(
    problem: Problem, lanes: Sequence[Lane], targets: native.LaneTargets, scores: Floats
) -> Floats:
    """Return minus the gradients of the losses at the best intercepts."""
    k = len(lanes)
    b = np.zeros(k)
    if problem.fit_intercept:
        b = np.array(native.row_terms(targets, np.zeros_like(scores), scores, True)[0])
    z = np.zeros_like(scores)
    for lane in range(k):
        z[:, lane] = -problem.loss.derivatives(  # type: ignore[attr-defined]
            problem.targets(lanes[lane]), scores[:, lane] + b[lane], problem.costs(lanes[lane])
        )[0]
    return z


def _scales(
    problem: Problem, lanes: Sequence[Lane], dual: Floats, most: Floats, l1: float
) -> Floats:
    """Return the dual scaling of each lane: no correlation may exceed the l1 weight.

    ``most`` has the largest correlation of each lane.
    """
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
    with np.errstate(over="ignore"):
        room = np.divide(l1, most, out=np.full(len(lanes), np.inf), where=most > 0)
    scales: Floats = np.minimum(best, room * FEASIBLE_RATIO)
    return scales
