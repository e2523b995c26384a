"""Duality gap of unpenalised logistic regression (C = inf), two classes or more.

Without a penalty a dual point is feasible only if Z'z = 0 for each score. The residual is projected
away in the metric of the Hessian. If the projection leaves the domain, as for separable classes
without an optimum, the dual point is 0, with the trivial lower bound 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import LinAlgError

from separable.certified.duality.certificate import Certificate, CertifiedSolution
from separable.certified.solvers.newton_system import full_system
from separable.typing import Floats

if TYPE_CHECKING:
    from separable.certified.solvers.objective import Objective


#: Maximum residual of Z'z, relative to the size of its terms.
MAX_RESIDUAL = 1e-11


def certify_unpenalized(
    objective: Objective, dual: Floats, weights: Floats, tol: float
) -> CertifiedSolution:
    """Compute the duality gap of unpenalised weights, (d, K)."""
    s = objective.problem.x.matvec(weights)
    b = objective.best_intercepts(s)
    s += b
    rows = objective.rows
    primal = rows.total(s)
    z, bound, gap = np.zeros_like(s), 0.0, primal
    point = _project(objective, s, dual)
    if point is not None:
        z, bound, gap = rows.dual_variables(point), rows.dual_value(point), rows.gap(point, s)
    certificate = Certificate(primal, bound, gap, tol, is_penalised=False)
    return CertifiedSolution(weights, b, s, [certificate], z, objective.width)


def _project(objective: Objective, s: Floats, point: Floats) -> Floats | None:
    """Return the feasible dual point closest to a given one; None if there is none nearby."""
    x, rows = objective.problem.compact_x, objective.rows
    model, point = rows.expand(s), rows.clip(point)
    size = np.abs(rows.dual_variables(point))
    mass = float(size.sum())
    for _ in range(3):
        z = rows.dual_variables(point)
        try:
            system = full_system(x, objective, model)
        except LinAlgError:
            return None
        du, db = system(x.rmatvec(z), z.sum(axis=0))
        point = model.moved(point, x.matvec(du) + db)
    if not rows.excess(point) <= MAX_RESIDUAL * mass:
        return None
    point = rows.clip(point)
    z = rows.dual_variables(point)
    spread = np.sqrt(x.squared_norms(size) * size.sum(axis=0))
    total = np.abs(z.sum(axis=0)) if objective.fit_intercept else np.zeros(z.shape[1])
    if (np.abs(x.rmatvec(z)) > MAX_RESIDUAL * spread).any() or (total > MAX_RESIDUAL * mass).any():
        return None
    return point
