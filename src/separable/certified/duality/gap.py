"""Duality gap of every loss and penalty, at given weights and dual points.

For losses with conjugates, a penalty R and a dual point z with correlations v = Z'z:

    primal  sum_i c_i loss(y_i, s_i) + R(u)
    dual    sum_i dual(y_i, c_i, z_i) - R*(v)
    gap     sum_i (Fenchel-Young gap of row i) + (R(u) + R*(v) - u.v), all terms non-negative

With an intercept the sum of z is 0, of each class for the multinomial loss (`feasibility`). R* of a
penalty without an l2 part is infinite where v is outside its domain: z is scaled down until it is
inside (dual scaling; El Ghaoui, Viallon and Rabbani, 2012). For the multinomial loss that mixes the
probabilities with the one-hot labels, so they stay probabilities and the sums of z stay 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separable._core import native
from separable.certified.duality.certificate import Certificate, CertifiedSolution
from separable.certified.duality.feasibility import feasible
from separable.certified.problem import TOGETHER, Lane, Problem
from separable.linalg.column_major import ReadColumns
from separable.linalg.design_matrix import in_lines
from separable.linalg.lstsq import lstsq
from separable.losses.row_losses import SoftmaxLosses
from separable.penalties.base import ConvexPenalty
from separable.penalties.elastic_net import ElasticNetPenalty
from separable.typing import Floats

#: Gap, value and conjugate of a penalty, of each lane.
Terms = tuple[Floats, Floats, Floats]
#: Scores, dual points, weights and their correlations, of the columns that count.
Products = tuple[Floats, Floats, Floats, Floats]


#: Dual scaling stops short of the bound by this factor, so that rounding cannot violate it.
FEASIBLE_RATIO = 1.0 - 2.0**-51
#: A dual point that changes by at most this fraction keeps its correlations, up to rounding.
MAX_MOVED = 2.0**-44


def certify(
    problem: Problem,
    lanes: Sequence[Lane],
    dual: NDArray[Any] | None,
    tol: float,
    weights: NDArray[Any] | SparseWeights | None = None,
    intercept: Floats | None = None,
    columns: ReadColumns | None = None,
    scores: Floats | None = None,
) -> CertifiedSolution:
    """Compute the duality gap of weights and dual points, in float64 and from the rows alone.

    Parameters
    ----------
    lanes : sequence of Lane
        All multinomial, or none; with finite C.
    dual : ndarray, shape (n, k m), or None
        A dual point of each lane, made feasible here: with the sign of the target, or the
        probabilities of multinomial lanes, m = K columns each. Padding columns are ignored. None,
        of smooth losses: minus the gradient at the weights.
    tol : float
        The requested relative gap.
    weights : ndarray of float32 or float64, shape (d, k m), SparseWeights, or None
        Weights of the problem's columns to certify, non-negative if the penalty says so; None,
        with the l2 penalty: Z'z.
    intercept : ndarray, shape (k m,), or None
        Intercepts to certify; of multinomial lanes, a start of the search for the best ones.
        None: the best ones.
    columns : ReadColumns, optional
        The problem by columns, for faster products of l1 penalties.
    scores : ndarray, shape (n, k), optional
        Of the weights and intercepts, with an l2 penalty, if they are known.

    Returns
    -------
    solution : CertifiedSolution
        A class absent from a multinomial lane has weights 0 and intercept -inf.
    """
    if lanes[0].target == TOGETHER:
        assert dual is not None
        assert not isinstance(weights, SparseWeights)
        return _certify_joint(problem, lanes, dual, tol, weights, intercept)
    k, penalty = len(lanes), problem.column_penalty
    if penalty.is_smooth and dual is not None and not isinstance(weights, SparseWeights):
        return _certify_smooth(problem, lanes, dual, tol, weights, intercept, scores)
    assert weights is not None
    dense = weights.dense() if isinstance(weights, SparseWeights) else weights
    every = np.asarray(dense, dtype=np.float64)
    scores, z, u, v = _products(problem, lanes, dual, weights, every, columns)
    if intercept is not None:
        scores[:, :k] += intercept
    b, certificates = _certificates(
        problem,
        lanes,
        scores,
        z,
        penalty_terms(penalty, u, v),
        tol,
        finds_intercept=problem.fit_intercept and intercept is None,
        convexity=penalty.l2,
    )
    scores = scores[:, :k]
    scores += b
    b = b if intercept is None else intercept
    return CertifiedSolution(every[:, :k], b, scores, certificates, z[:, :k])


def _certify_smooth(
    problem: Problem,
    lanes: Sequence[Lane],
    dual: NDArray[Any],
    tol: float,
    weights: NDArray[Any] | None,
    intercept: Floats | None,
    scores: Floats | None,
) -> CertifiedSolution:
    """Certify lanes of one score with the l2 penalty, as `certify` does."""
    k, z = len(lanes), feasible(problem, lanes, dual)
    v = np.ascontiguousarray(problem.x.rmatvec(z))
    u = v if weights is None else in_lines(weights)
    if scores is None:
        scores = problem.x.matvec(u)
        if intercept is not None:
            scores[:, :k] += intercept
    best, *sums = native.lane_gaps(
        problem.in_lanes(lanes), z, scores, u, v, problem.fit_intercept and intercept is None
    )
    proofs = [
        Certificate(primal, value, gap, tol).times(problem.value)
        for primal, value, gap in zip(*sums, strict=True)
    ]
    b = np.array(best) if intercept is None else intercept
    return CertifiedSolution(u[:, :k], b, scores[:, :k], proofs, z[:, :k])


def uncertified(
    problem: Problem, lanes: Sequence[Lane], dual: Floats, weights: NDArray[Any]
) -> CertifiedSolution:
    """Return the weights of lanes with one score and their best intercepts, without certificates.

    Parameters are those of `certify`; the dual points stay as they are.
    """
    k = len(lanes)
    scores = problem.x.matvec(in_lines(weights))
    b = np.zeros(k)
    if problem.fit_intercept:
        b = np.array(native.row_terms(problem.in_lanes(lanes), dual, scores, True)[0])
    return CertifiedSolution(weights[:, :k], b, scores[:, :k] + b, [], dual[:, :k])


def certify_better(
    problem: Problem, lane: Lane, dual: Floats, tol: float, weights: Floats
) -> CertifiedSolution:
    """Certify the weights, or those of the dual point if these have the smaller gap."""
    found = certify(problem, [lane], dual, tol, weights)
    if found.certificates[0].converged:
        return found
    other = certify(problem, [lane], dual, tol)
    return other if other.is_better_than(found) else found


def penalty_terms(penalty: ElasticNetPenalty, u: Floats, v: Floats) -> Terms:
    """Return the gap, the value and the conjugate of the penalty, of each lane.

    Columns of weight 0 with a correlation of at most l1 contribute nothing and are skipped.
    """
    if penalty.is_smooth:
        u, v = (np.ascontiguousarray(each) for each in (u, v))
        value, conjugate, gap = 0.5 * np.array(native.lane_norms(u, v))
        return gap, value, conjugate
    if penalty.l1 == 0:
        return penalty.gap(u, v), penalty.value(u), penalty.conjugate(v)
    counts = u.any(axis=1)
    if penalty.l2 > 0:
        counts |= v.max(axis=1) > penalty.l1
        if not penalty.positive:
            counts |= v.min(axis=1) < -penalty.l1
    u, v = u[counts], v[counts]
    return penalty.gap(u, v), penalty.value(u), penalty.conjugate(v)


# ---------------------------------------------------------------------- lanes with one score


@dataclass(frozen=True)
class SparseWeights:
    """The non-zero weights of k models, in CSC order.

    Parameters
    ----------
    start : ndarray of int, shape (k + 1,)
        Where the weights of each model start; the offset is arbitrary.

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


def _products(
    problem: Problem,
    lanes: Sequence[Lane],
    z: Floats | None,
    given: NDArray[Any] | SparseWeights,
    weights: Floats,
    columns: ReadColumns | None,
) -> Products:
    """Return the products with sparse weights, and a dual point scaled into the domain of R*.

    ``weights`` are the dense ones.
    """
    k, penalty = len(lanes), problem.column_penalty
    if isinstance(given, SparseWeights):
        support, u = given.chosen()
    else:
        support = np.flatnonzero(weights.any(axis=1))
        u = weights[support]
    u = in_lines(u)
    by = columns if columns is not None and columns.is_exact else None
    read = _read_once(problem, lanes, in_lines(weights)) if z is None and by is None else None
    if read is None:
        chosen = None if by is None else by.take(support)
        scores = in_lines(problem.x.matvec(weights)) if chosen is None else chosen.matvec(u)
        if z is None:
            z = _negative_gradients(problem, lanes, scores)
        dual = feasible(problem, lanes, z)
        if penalty.l2 > 0 or by is None or chosen is None:
            correlation = (problem.x.rmatvec(dual) if by is None else by.rmatvec(dual))[:, :k]
        else:  # other columns matter only through the largest correlation
            most = by.max_correlations(dual, is_signed=penalty.positive)[:k]
            correlation = chosen.rmatvec(dual)[:, :k]
    else:
        scores, dual, correlation = read
    if penalty.l2 > 0:
        return scores, dual, weights, correlation
    if by is None:
        most = penalty.largest(correlation)
        correlation = correlation[support]
    scaling = penalty.scaling_of(most) * FEASIBLE_RATIO
    scaling = np.minimum(_best_scalings(problem, lanes, dual[:, :k]), scaling)
    dual[:, :k] *= scaling
    return scores, dual, u[:, :k], correlation * scaling


def _certificates(
    problem: Problem,
    lanes: Sequence[Lane],
    scores: Floats,
    dual: Floats,
    terms: Terms,
    tol: float,
    *,
    finds_intercept: bool,
    convexity: float,
) -> tuple[Floats, list[Certificate]]:
    """Return the best intercepts, 0 if known, and the certificates.

    A dual point that proves less than 0, which is a bound too, is set to 0.
    """
    targets = problem.in_lanes(lanes)
    b, loss, value, gap = (
        np.array(sums) for sums in native.row_terms(targets, dual, scores, finds_intercept)
    )
    penalty_gap, penalty, conjugate = (np.atleast_1d(each)[: len(lanes)] for each in terms)
    primal, value, gap = loss + penalty, value - conjugate, gap + penalty_gap
    worse = np.flatnonzero(~(gap < primal))
    dual[:, worse], value[worse], gap[worse] = 0.0, 0.0, primal[worse]
    return b, [
        Certificate(*sums, tol, convexity=convexity).times(problem.value)
        for sums in zip(primal.tolist(), value.tolist(), gap.tolist(), strict=True)
    ]


def _best_scalings(problem: Problem, lanes: Sequence[Lane], dual: Floats) -> Floats:
    """Return the multiple of each dual point with the largest dual value if R* is 0.

    The dual value of squared errors is quadratic in it; for other losses 1 is returned.
    """
    best = np.ones(len(lanes))
    if not problem.loss.is_quadratic:
        return best
    y = problem.targets(lanes[0])
    if problem.fit_intercept:  # z has a sum of 0: the mean says nothing but loses digits
        y = y - y.mean()
    for lane, one in enumerate(lanes):
        c, z = problem.costs(one), dual[:, lane]
        square = float(np.divide(z**2, c, out=np.zeros_like(z), where=c > 0).sum())
        if square > 0:
            best[lane] = max(0.0, float(z @ y) / square)
    return best


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
    if not problem.loss.is_quadratic:
        return None
    y, c = problem.targets(lanes[0]), problem.costs(lanes[0])
    rest = y
    if problem.fit_intercept:  # once more: far from 0 the mean is rounded
        for _ in range(2):
            rest = rest - float(c @ rest) / float(c.sum())
    scores, z, correlation = np.empty((len(y), 1)), np.empty((len(y), 1)), np.zeros_like(u)
    for part, block in problem.x.blocks():
        scores[part] = block @ u
        z[part, 0] = c[part] * (rest[part] - scores[part, 0])
        correlation += block.T @ z[part]
    dual = feasible(problem, lanes, z)
    if not np.abs(dual - z).sum() <= MAX_MOVED * np.abs(z).sum():
        return None
    return scores, dual, correlation


def _negative_gradients(problem: Problem, lanes: Sequence[Lane], scores: Floats) -> Floats:
    """Return minus the gradients of the losses at the best intercepts."""
    k = len(lanes)
    b, z, loss = np.zeros(k), np.zeros_like(scores), problem.loss
    if problem.fit_intercept:
        b = np.array(native.row_terms(problem.in_lanes(lanes), z, scores, True)[0])
    for lane, one in enumerate(lanes):
        z[:, lane] = -loss.derivatives(
            problem.targets(one), scores[:, lane] + b[lane], problem.costs(one)
        )[0]
    return z


# ---------------------------------------------------------------------- classes jointly


def _certify_joint(
    problem: Problem,
    lanes: Sequence[Lane],
    p: NDArray[Any],
    tol: float,
    weights: NDArray[Any] | None,
    guess: Floats | None,
) -> CertifiedSolution:
    """Certify multinomial lanes, given probabilities and a start of the intercepts."""
    K = problem.n_classes
    rows = [problem.softmax_losses(lane) for lane in lanes]
    probabilities = [
        one.feasible(p[:, k * K : (k + 1) * K], fit_intercept=problem.fit_intercept)
        for k, one in enumerate(rows)
    ]
    pairs = zip(rows, probabilities, strict=True)
    dual = np.concatenate([one.dual_variables(points) for one, points in pairs], axis=1)
    present = np.concatenate([one.present for one in rows])
    v = problem.x.rmatvec(_in_lines(problem, dual))
    u = v
    if weights is not None:
        u = _joint_weights(problem, weights, present)
    scores, intercept = _joint_scores(problem, rows, u, guess)
    certificates = []
    for k, one in enumerate(rows):
        columns = slice(k * K, (k + 1) * K)
        mine, correlation = (np.ascontiguousarray(each[:, columns]) for each in (u, v))
        certificates.append(
            softmax_certificate(
                problem, one, probabilities[k], correlation, scores[:, columns], mine, tol
            )
        )
        dual[:, columns] *= _softmax_scaling(problem.column_penalty, correlation)
    return CertifiedSolution(u[:, : len(present)], intercept, scores, certificates, dual, K)


def uncertified_joint(
    problem: Problem, lanes: Sequence[Lane], p: Floats, weights: NDArray[Any], guess: Floats
) -> CertifiedSolution:
    """Return the weights of multinomial lanes with their best intercepts, without certificates.

    Parameters are those of `certify`; the dual points are those of the probabilities ``p``.
    """
    K = problem.n_classes
    rows = [problem.softmax_losses(lane) for lane in lanes]
    present = np.concatenate([one.present for one in rows])
    u = _joint_weights(problem, weights, present)
    scores, intercept = _joint_scores(problem, rows, u, guess)
    dual = [one.dual_variables(p[:, k * K : (k + 1) * K]) for k, one in enumerate(rows)]
    return CertifiedSolution(
        u[:, : len(present)], intercept, scores, [], np.concatenate(dual, axis=1), K
    )


def _joint_weights(
    problem: Problem, weights: NDArray[Any], present: NDArray[np.bool_]
) -> NDArray[Any]:
    """Return the weights in the layout of products, 0 for classes that are absent from a lane."""
    weights = weights if present.all() else np.where(present, weights, 0)
    if not problem.penalty.is_smooth:
        weights = np.asarray(weights, dtype=np.float64)
    return _in_lines(problem, weights)


def _joint_scores(
    problem: Problem, rows: Sequence[SoftmaxLosses], u: NDArray[Any], guess: Floats | None
) -> tuple[Floats, Floats]:
    """Return the scores of all rows with the best intercepts, and these."""
    K = problem.n_classes
    present = np.concatenate([one.present for one in rows])
    scores = problem.x.matvec(u)[:, : len(present)]
    scores[:, ~present] = -np.inf
    intercept = np.zeros(len(present))
    for k, one in enumerate(rows):
        columns = slice(k * K, (k + 1) * K)
        b = np.where(one.present, 0.0, -np.inf)
        if problem.fit_intercept:
            near = None if guess is None else guess[columns]
            b = one.best_intercepts(scores[:, columns], near)
            scores[:, columns] += np.where(one.present, b, 0.0)
        intercept[columns] = b
    return scores, intercept


def certify_at_own_probabilities(
    problem: Problem, lane: Lane, weights: Floats, intercept: Floats, scores: Floats, tol: float
) -> CertifiedSolution:
    """Compute the duality gap of weights and intercepts at the softmax of their own scores.

    The dual point is the softmax after a first-order change of the intercepts that makes the class
    totals those of the labels.

    Parameters
    ----------
    weights : ndarray, shape (d, K)
    intercept : ndarray, shape (K,)
        -inf for a class that is absent from the lane.
    scores : ndarray, shape (n, K)
        Of all rows, with the intercepts.
    tol : float
        The requested relative gap.
    """
    rows, K = problem.softmax_losses(lane), problem.n_classes
    label = rows.y if rows.present.all() else np.where(rows.c > 0, rows.y, rows.present.argmax())
    label = np.ascontiguousarray(label, dtype=np.int32)
    dual = np.array(scores, dtype=np.float64, order="C")
    got, hessian, change = np.zeros(K), np.zeros((K, K)), np.zeros(K)
    loss = native.expand_softmax(label, rows.c, dual, got, hessian)
    if problem.fit_intercept:
        lacking = rows.totals - got
        if np.isfinite(hessian).all() and np.isfinite(lacking).all():
            change = lstsq(hessian, lacking)
    gap = native.softmax_dual_points(label, rows.c, dual, change)
    v = problem.x.rmatvec(_in_lines(problem, dual))
    u = np.ascontiguousarray(weights)
    norms = np.array(native.lane_norms(u, np.ascontiguousarray(v[:, :K]))).sum(axis=1)
    primal = loss + 0.5 * float(norms[0])
    gap += 0.5 * float(norms[2])
    certificate = Certificate(primal, primal - gap, gap, tol).times(problem.value)
    return CertifiedSolution(u, intercept, scores, [certificate], dual, K)


def _in_lines(problem: Problem, numbers: NDArray[Any]) -> NDArray[Any]:
    """Return values by lane in the memory layout of products with the rows."""
    return in_lines(numbers) if problem.rows.is_sparse else np.ascontiguousarray(numbers)


def _softmax_scaling(penalty: ElasticNetPenalty, correlation: Floats) -> float:
    """Return the dual scaling of all classes, at most 1."""
    if penalty.l2 > 0:
        return 1.0
    return min(1.0, FEASIBLE_RATIO * float(penalty.dual_scaling(correlation.ravel())))


def softmax_certificate(
    problem: Problem,
    rows: SoftmaxLosses,
    probabilities: Floats,
    correlation: Floats,
    scores: Floats,
    u: Floats,
    tol: float,
) -> Certificate:
    """Return the certificate of weights and probabilities whose products are known.

    Parameters
    ----------
    probabilities : ndarray, shape (n, K)
        Feasible up to dual scaling.
    correlation : ndarray, shape (d, K)
        Of the dual points of the probabilities.
    scores : ndarray, shape (n, K)
        Of the weights, with the best intercepts.
    u : ndarray, shape (d, K)
    """
    penalty = problem.column_penalty
    scaling = _softmax_scaling(penalty, correlation)
    if scaling < 1:
        probabilities = probabilities * scaling
        probabilities[np.arange(len(probabilities)), rows.y] += 1.0 - scaling
        correlation = correlation * scaling
    used = np.flatnonzero(rows.c)
    rows, probabilities, scores = rows.take(used), probabilities[used], scores[used]
    terms, value, conjugate = (float(sums.sum()) for sums in penalty_terms(penalty, u, correlation))
    primal, gap = rows.total(scores) + value, rows.gap(probabilities, scores) + terms
    dual = rows.dual_value(probabilities) - conjugate
    # weak duality holds up to rounding
    return Certificate(primal, min(dual, primal), gap, tol, convexity=penalty.l2).times(
        problem.value
    )


# ---------------------------------------------------------------------- penalties of their own


@dataclass(frozen=True)
class Evaluation:
    """Objective, gradient and curvature at given weights.

    Parameters
    ----------
    u : ndarray, shape (d,)
        For the problem's columns.
    b : float
        The best intercept.
    scores : ndarray, shape (n,)
        With the intercept.
    correlation : ndarray, shape (d,)
        Z'dual, minus the gradient of the loss in the weights.
    curvature : ndarray, shape (n,)
        The second derivative of the loss of each row.
    loss, primal : float
        The loss without and with the penalty.
    dual : ndarray, shape (n,)
        Minus the derivative of the loss of each row; it sums to 0 with an intercept.
    """

    u: Floats
    b: float
    scores: Floats
    correlation: Floats
    curvature: Floats
    loss: float
    primal: float
    dual: Floats

    def certified(
        self, problem: Problem, lane: Lane, penalty: ConvexPenalty, tol: float
    ) -> CertifiedSolution:
        """Return the weights with their certificate, from the dual-scaled residual."""
        dual, v = self.dual[:, None].copy(), self.correlation
        scaling = penalty.dual_scaling(v)
        if np.isfinite(scaling):
            best = float(_best_scalings(problem, [lane], dual)[0])
            scaling = min(FEASIBLE_RATIO * scaling, best)
            dual, v = scaling * dual, scaling * v
        terms = penalty.gap(self.u, v), penalty.value(self.u), penalty.conjugate(v)
        scores = np.ascontiguousarray(self.scores[:, None])
        _, (certificate,) = _certificates(
            problem, [lane], scores, dual, terms, tol, finds_intercept=False, convexity=0.0
        )
        return self.certified_solution(certificate, dual[:, 0])

    def certified_solution(self, certificate: Certificate, dual: Floats) -> CertifiedSolution:
        """Return the weights with a given certificate and dual point."""
        return CertifiedSolution(
            self.u[:, None],
            np.array([self.b]),
            self.scores[:, None],
            [certificate],
            dual[:, None],
        )


def correlation_at(problem: Problem, lane: Lane, u: Floats) -> Floats:
    """Return the correlations Z'z, minus the gradient of the loss in the weights."""
    return _evaluate(problem, lane, u, 0.0).correlation


def evaluate(problem: Problem, lane: Lane, penalty: ConvexPenalty, u: Floats) -> Evaluation:
    """Evaluate objective, gradient and curvature at u, with two passes over the rows.

    Values that are not finite raise a ValueError.
    """
    return _evaluate(problem, lane, u, penalty.value(u))


def _evaluate(problem: Problem, lane: Lane, u: Floats, penalty: float) -> Evaluation:
    loss = problem.loss
    y, c = problem.targets(lane), problem.costs(lane)
    scores = problem.x.matvec(u[:, None])[:, 0]
    b = loss.best_intercept(y, scores, c) if problem.fit_intercept else 0.0
    scores += b
    if problem.fit_intercept and loss.is_quadratic:  # what rounding left
        rest = loss.best_intercept(y, scores, c)
        b, scores = b + rest, scores + rest
    gradient, curvature = loss.derivatives(y, scores, c)
    total = loss.total(y, scores, c)
    dual = feasible(problem, [lane], -gradient[:, None])[:, 0]
    correlation = problem.x.rmatvec(dual[:, None])[:, 0]
    if not (np.isfinite(total + penalty) and np.isfinite(correlation).all()):
        raise ValueError(
            "The objective or its gradient overflowed: X, y or sample_weight and alpha are too "
            "far from 1 for float64. Use standardize=True, and y in other units."
        )
    return Evaluation(u, b, scores, correlation, curvature, total, total + penalty, dual)
