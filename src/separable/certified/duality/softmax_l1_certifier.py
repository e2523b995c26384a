"""Duality gap of multinomial logistic regression with an l1 or elastic net penalty.

Dual points are z_ik = c_i (1[y_i = k] - p_ik), as in `softmax_l2_certifier`. Their correlations
g_k = Z'z_k split as in `l1_certifier` into t, the excess over l1, and the rest e:

    dual  -sum_ik c_i p_ik log p_ik - sum_jk t_jk^2 / (2 l2)
    gap   sum_i c_i KL(p_i | softmax_i) + sum_jk (l1 |u_jk| - e_jk u_jk) + l2/2 (u_jk - t_jk / l2)^2

Without an l2 part t has to be 0: all z are scaled down until it is. That mixes p with the one-hot
labels, so p stays a probability and the sums of z stay 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from separable.certified.duality.certificate import Certificate
from separable.certified.duality.l1_certifier import FEASIBLE_RATIO, column_terms, l1_l2_weights
from separable.certified.duality.l2_certifier import CertifiedSolution
from separable.certified.duality.softmax_l2_certifier import RowClasses, dual_points, make_feasible
from separable.losses.softmax import best_intercepts, divergences, entropies, losses

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.certified.problem import Lane, Problem
    from separable.typing import Floats


__all__ = ["certify", "certify_softmax_l1", "room"]


def certify_softmax_l1(
    problem: Problem, lane: Lane, p: NDArray[Any], tol: float, weights: NDArray[Any]
) -> CertifiedSolution:
    """Compute the duality gap of weights and probabilities, in float64 and from the rows alone.

    Parameters
    ----------
    problem : Problem
        With ``n_classes`` K.
    lane : Lane
        A multinomial lane with a finite C.
    p : ndarray of float32 or float64, shape (n, K)
        The probabilities of each row; made feasible here.
    tol : float
        The requested relative gap.
    weights : ndarray of float32 or float64, shape (d, K)

    Returns
    -------
    solution : CertifiedSolution
        ``width`` is K. A class absent from the lane has weights 0 and intercept -inf.
    """
    rows = RowClasses.of(problem, lane)
    probabilities = make_feasible(rows, p, fit_intercept=problem.fit_intercept)
    dual = dual_points(rows, probabilities)
    correlation = problem.rmatvec(dual)
    u = np.where(rows.present, weights, 0.0).astype(np.float64, copy=False)
    scores = problem.matvec(u)
    scores[:, ~rows.present] = -np.inf
    b = np.where(rows.present, 0.0, -np.inf)
    if problem.fit_intercept:
        b = best_intercepts(rows.y, scores, rows.c)
        scores[:, rows.present] += b[rows.present]
    certificate = certify(problem, rows, probabilities, correlation, scores, u, tol)
    keep = room(problem, correlation)
    return CertifiedSolution(u, b, scores, [certificate], dual * keep, problem.n_classes)


def room(problem: Problem, correlation: Floats) -> float:
    """Return the dual scaling for given correlations, at most 1."""
    l1, l2 = l1_l2_weights(problem)
    most = float(np.abs(correlation).max(initial=0.0))
    return 1.0 if l2 > 0 or most <= FEASIBLE_RATIO * l1 else FEASIBLE_RATIO * l1 / most


def certify(
    problem: Problem,
    rows: RowClasses,
    probabilities: Floats,
    correlation: Floats,
    scores: Floats,
    u: Floats,
    tol: float,
) -> Certificate:
    """Return the certificate of weights and probabilities whose products are known.

    Parameters
    ----------
    problem : Problem
    rows : RowClasses
    probabilities : ndarray, shape (n, K)
        Feasible up to dual scaling.
    correlation : ndarray, shape (d, K)
        Of the dual points of the probabilities.
    scores : ndarray, shape (n, K)
        Of the weights, with the best intercepts.
    u : ndarray, shape (d, K)
    tol : float
    """
    keep = room(problem, correlation)
    if keep < 1:
        probabilities = probabilities * keep
        probabilities[np.arange(len(probabilities)), rows.y] += 1.0 - keep
        correlation = correlation * keep
    used = rows.c > 0
    c, probabilities, scores = rows.c[used], probabilities[used], scores[used]
    terms, penalty, over = (float(sums.sum()) for sums in column_terms(problem, u, correlation))
    primal = float(c @ losses(rows.y[used], scores)) + penalty
    dual = min(float(c @ entropies(probabilities)) - over, primal)  # weak duality, up to rounding
    gap = float(c @ divergences(probabilities, scores)) + terms
    convexity = l1_l2_weights(problem)[1]
    return Certificate(primal, dual, gap, tol, convexity=convexity).times(problem.value)
