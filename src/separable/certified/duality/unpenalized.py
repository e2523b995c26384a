"""Duality gap of unpenalised logistic regression (C = inf).

Without a penalty a dual point is feasible only if Z'z = 0. The residual is projected away in the
metric of the Hessian. If the projection leaves the box, as for separable classes without an
optimum, the dual point is 0, with the trivial lower bound 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import LinAlgError

from separable.certified.duality.certificate import Certificate
from separable.certified.duality.l2_certifier import CertifiedSolution
from separable.linalg.cholesky import Bordered

if TYPE_CHECKING:
    from separable.certified.design.row_products import RowProducts
    from separable.certified.problem import Problem
    from separable.certified.solvers.newton import Objective
    from separable.typing import Floats


__all__ = ["certify_unpenalized"]

#: Maximum residual of Z'z, relative to the size of its terms.
MAX_RESIDUAL = 1e-11


def certify_unpenalized(
    problem: Problem,
    x: RowProducts,
    objective: Objective,
    z: Floats,
    weights: Floats,
    tol: float,
) -> CertifiedSolution:
    """Compute the duality gap of weights for the unpenalised sum_i c_i loss(y_i, w.z_i + b)."""
    loss, y, c = objective.loss, objective.y, objective.c
    scores = problem.matvec(weights[:, None])[:, 0]
    b = objective.best_intercept(scores) if problem.fit_intercept else 0.0
    s = scores + b
    dual = _project(x, objective, s, z, fit_intercept=problem.fit_intercept)
    primal, lowest = loss.total(y, s, c), loss.dual_total(y, c, dual)
    gap = float(np.maximum(loss.gap(y, s, c, dual), 0.0).sum()) if dual.any() else primal
    certificate = Certificate(primal, lowest, gap, tol, is_penalised=False)
    return CertifiedSolution(
        weights[:, None],
        np.array([b]),
        s[:, None],
        [certificate],
        np.ascontiguousarray(dual[:, None]),
    )


def _project(
    x: RowProducts, objective: Objective, s: Floats, z: Floats, *, fit_intercept: bool
) -> Floats:
    """Return the feasible dual point closest to z; 0 if there is none nearby."""
    loss, y, c = objective.loss, objective.y, objective.c
    z = loss.clip_dual(y, c, z)
    curvature = objective.derivatives(s)[1]
    size, none = np.abs(z), np.zeros_like(z)
    for _ in range(3):
        products, mixed, along = x.products(curvature, z)
        try:
            equations = Bordered(
                products, mixed, float(curvature.sum()), fit_intercept=fit_intercept
            )
        except LinAlgError:
            return none
        du, db = equations.solve(along, float(z.sum()) if fit_intercept else 0.0)
        z = z - curvature * x.matvec(du, db)
    allowed = loss.clip_dual(y, c, z)
    if float(np.abs(z - allowed).sum()) > MAX_RESIDUAL * float(size.sum()):
        return none
    spread = np.sqrt(np.diagonal(x.products(size, allowed)[0]) * float(size.sum()))
    left = np.abs(x.rmatvec(allowed))
    total = abs(float(allowed.sum())) if fit_intercept else 0.0
    if (left > MAX_RESIDUAL * spread).any() or total > MAX_RESIDUAL * float(size.sum()):
        return none
    return allowed
