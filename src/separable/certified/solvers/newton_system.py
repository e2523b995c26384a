"""Linear systems of a Newton step over (m, K) weights and K intercepts.

Three ways to solve H step = right, exact or as a preconditioner: the full Hessian, the Hessian at
the mean curvature of the classes (exact if K = 1), or its diagonal. Scores of the softmax are
invariant to equal changes of all classes; steps have mean 0 over the classes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from separable.linalg.cholesky import Cholesky
from separable.linalg.design_matrix import DesignMatrix
from separable.losses.row_losses import RowModel
from separable.typing import Floats

if TYPE_CHECKING:
    from separable.certified.solvers.objective import Objective

    System = Callable[[Floats, Floats], tuple[Floats, Floats]]


#: Smallest curvature of a column.
TINY = float(np.finfo(np.float64).tiny)


def _bordered(x: DesignMatrix, c: Floats, *, fit_intercept: bool) -> Floats:
    """Return Z'CZ, with a last row and column for the intercept."""
    m = x.shape[1]
    matrix = np.empty((m + fit_intercept,) * 2)
    matrix[:m, :m] = x.gram(c)
    if fit_intercept:
        matrix[m, :m] = matrix[:m, m] = x.rmatvec(c)
        matrix[m, m] = c.sum()
    return matrix


def full_system(x: DesignMatrix, objective: Objective, model: RowModel) -> System:
    """Return the solver of the full Hessian; raise LinAlgError if it is not finite."""
    K, m = objective.width, x.shape[1]
    if K == 1:
        return class_system(x, objective, model)
    size = m + objective.fit_intercept
    whole = np.empty((K, size, K, size))
    for k in range(K):
        own = _bordered(x, model.curvature[:, k], fit_intercept=objective.fit_intercept)
        own[range(m), range(m)] += objective.penalty
        whole[k, :, k] = own
        for other in range(k):
            both = model.coupling(k, other)
            part = -_bordered(x, both, fit_intercept=objective.fit_intercept)
            whole[k, :, other] = whole[other, :, k] = part
    # a term that acts on equal changes of all classes only makes it invertible
    common = np.einsum("kjkj->j", whole) / K**2
    diagonal = np.arange(size)
    for k in range(K):
        for other in range(K):
            whole[k, diagonal, other, diagonal] += common
    factor = Cholesky(whole.reshape(K * size, K * size))

    def solve(right: Floats, total: Floats) -> tuple[Floats, Floats]:
        wide = np.vstack([right, total]) if objective.fit_intercept else right
        solution = factor.solve(wide.T.ravel()).reshape(K, -1).T
        solution = solution - solution.mean(axis=1, keepdims=True)
        du = np.ascontiguousarray(solution[:m])
        return du, solution[-1] if objective.fit_intercept else np.zeros(K)

    return solve


def class_system(x: DesignMatrix, objective: Objective, model: RowModel) -> System:
    """Return the solver of the Hessian at the mean curvature of the classes."""
    m = x.shape[1]
    c = model.curvature.mean(axis=1)
    has_b = objective.fit_intercept and float(c.sum()) > 0
    matrix = _bordered(x, c, fit_intercept=has_b)
    matrix[range(m), range(m)] += objective.penalty
    factor = Cholesky(matrix)

    def solve(right: Floats, total: Floats) -> tuple[Floats, Floats]:
        solution = factor.solve(np.vstack([right, total]) if has_b else right)
        return solution[:m], solution[m] if has_b else np.zeros_like(total)

    return solve


def diagonal_system(x: DesignMatrix, objective: Objective, model: RowModel) -> System:
    """Return the solver of the diagonal of the Hessian."""
    diagonal = np.maximum(objective.penalty + x.squared_norms(model.curvature), TINY)
    totals = model.curvature.sum(axis=0)

    def solve(right: Floats, total: Floats) -> tuple[Floats, Floats]:
        if not objective.fit_intercept:
            return right / diagonal, np.zeros_like(total)
        db: Floats = np.divide(total, totals, out=np.zeros_like(total), where=totals > 0)
        return right / diagonal, db - db.mean() if len(db) > 1 else db

    return solve
