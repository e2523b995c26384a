"""Duality gap of unpenalised multinomial logistic regression (C = inf).

Without a penalty, probabilities are feasible only if sum_i c_i (1[y_i = k] - p_ik) z_i = 0 for
every
class. The residual is projected away in the metric of the Hessian. If the projection leaves the
simplex, as for separable classes without an optimum, the lower bound is 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import LinAlgError

from separable.certified.duality.certificate import Certificate
from separable.certified.duality.l2_certifier import CertifiedSolution
from separable.certified.solvers.softmax_newton_steps import direct_step
from separable.losses.softmax import entropies, losses

if TYPE_CHECKING:
    from separable.certified.design.softmax_products import MultinomialRows
    from separable.certified.problem import Problem
    from separable.certified.solvers.softmax_newton import MultinomialObjective
    from separable.typing import Floats


__all__ = ["certify_softmax_unpenalized"]

#: Maximum residual of the sums, relative to the size of their terms.
MAX_RESIDUAL = 1e-11


def certify_softmax_unpenalized(
    problem: Problem,
    x: MultinomialRows,
    objective: MultinomialObjective,
    p: Floats,
    weights: Floats,
    tol: float,
) -> CertifiedSolution:
    """Compute the duality gap of unpenalised weights, (d, K); every class is present."""
    scores = problem.matvec(weights)
    b = objective.best_intercepts(scores)
    scores += b
    primal = float(objective.c @ losses(objective.y, scores))
    probabilities = _project(x, objective, objective.probabilities(scores), p)
    lowest, gap, dual = 0.0, primal, np.zeros_like(scores)
    if probabilities is not None:
        lowest = float(objective.c @ entropies(probabilities))
        gap = objective.gap(probabilities, scores)
        dual = -objective.gradients(probabilities)
    certificate = Certificate(primal, lowest, gap, tol, is_penalised=False)
    return CertifiedSolution(weights, b, scores, [certificate], dual, objective.n_classes)


def _project(
    x: MultinomialRows, objective: MultinomialObjective, q: Floats, p: Floats
) -> Floats | None:
    """Return the feasible probabilities closest to p; None if there are none nearby."""
    size = np.abs(objective.gradients(p))
    for _ in range(3):
        r = objective.gradients(p)
        total = r.sum(axis=0) if objective.fit_intercept else np.zeros(r.shape[1])
        try:
            step = direct_step(x, objective, q, x.rmatvec(r), total)
        except LinAlgError:
            return None
        mean = np.einsum("ik,ik->i", q, step.ds)
        p = p + q * (step.ds - mean[:, None])
    low = np.minimum(p, 0.0)
    if not -float(objective.c @ low.sum(axis=1)) <= MAX_RESIDUAL * float(size.sum()):
        return None
    p = p - low
    p /= p.sum(axis=1, keepdims=True)
    r = objective.gradients(p)
    spread = np.sqrt(x.squares(size) * size.sum(axis=0))
    left = np.abs(x.rmatvec(r))
    total = np.abs(r.sum(axis=0)) if objective.fit_intercept else np.zeros(r.shape[1])
    if (left > MAX_RESIDUAL * spread).any() or (total > MAX_RESIDUAL * float(size.sum())).any():
        return None
    return p
