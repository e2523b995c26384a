"""Duality gap of squared errors with an elastic net penalty, from residuals in twice the precision.

The compiled core (certified/elastic_net_gap.hpp) sums the terms of the gap at the published weights
and bounds their rounding. None is negative, so nothing cancels.
"""

from __future__ import annotations

import numpy as np

from separable._core import native
from separable.certified.duality.certificate import Certificate, CertifiedSolution
from separable.certified.duality.published import ROUNDING_FRACTION, Published
from separable.certified.gram.gram_problem import GramProblem
from separable.certified.problem import Problem
from separable.typing import Floats


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
    n, penalty, size, columns = problem.rows.n_rows, problem.penalty, problem.size, problem.columns
    curvature = alpha * (1.0 - penalty.l1_ratio)
    residuals, z = np.empty(n), np.empty(n)
    b, primal, gap, rounding = native.elastic_net_gap(
        problem.core, y, problem.weight, w, b, problem.fit_intercept, gram.mean, gram.length,
        size.far, columns.scale, alpha * penalty.l1_ratio, curvature, penalty.positive,
        residuals, z,
    )  # fmt: skip
    if not (gap + rounding <= tol * primal and rounding <= ROUNDING_FRACTION * tol * primal):
        return None
    gap += rounding
    proof = [Certificate(primal, primal - gap, gap, tol, convexity=curvature)]
    raw, dual, intercept = w[:, None], z[:, None], np.array([b])
    u, inside = columns.seen(raw, intercept)
    scores = (np.asarray(problem.target, dtype=np.float64) - residuals)[:, None]
    return CertifiedSolution(u, inside, scores, proof, dual), Published(raw, intercept, proof, dual)
