"""Newton-CG: truncated Newton with conjugate gradients, for smooth losses and many columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from separable._core import native
from separable.certified.duality.l2_certifier import CertifiedSolution, certify
from separable.certified.solvers.newton import MIN_STEP, Objective
from separable.certified.solvers.stopping import StoppingRule

if TYPE_CHECKING:
    from collections.abc import Callable

    from separable.certified.problem import Lane, Problem
    from separable.losses.base import SmoothLoss
    from separable.typing import Floats


__all__ = ["Count", "newton_cg"]

#: Largest relative residual of the inner conjugate gradients (the forcing term).
FORCING_TERM = 0.5
#: Fraction of the requested gap that the inner residual may cause.
RESIDUAL_FRACTION = 0.25
#: Rows that leave the active set of the squared hinge keep this fraction of their curvature,
#: which prevents oscillation.
CURVATURE_DECAY = 0.3


def newton_cg(
    problem: Problem,
    lane: Lane,
    *,
    tol: float,
    max_iter: int,
    start: Floats | None = None,
    on_step: Callable[[int, float], Any] | None = None,
) -> tuple[CertifiedSolution, int]:
    """Minimise 1/2 |u|^2 + sum_i c_i loss(y_i, u.z_i + b) over u and b.

    Steps: 1. gradient and curvature of each row; 2. conjugate gradients on the quadratic model,
    with a diagonal preconditioner, until the residual is small compared to the gradient or the
    requested gap; 3. the dual point of the step; 4. backtracking line search.

    Parameters
    ----------
    problem : Problem
        Of a smooth loss.
    lane : Lane
        With a finite C.
    tol : float
        The requested relative gap.
    max_iter : int
        Maximum number of Hessian-vector products.
    start : ndarray, shape (d,), optional
        Weights for the problem's columns.
    on_step : callable, optional
        Called with the number of products so far and the relative gap; returning True stops the
        solver.

    Returns
    -------
    solution : CertifiedSolution
        Of the one lane.
    products : int
    """
    loss = cast("SmoothLoss", problem.loss)
    objective = Objective(loss, problem.targets(lane), problem.costs(lane))
    stopping_rule = StoppingRule(_certify(problem, lane, tol), tol=tol, to_rounding=False)
    count = Count(max_iter, stopping_rule, on_step)
    u = np.zeros(problem.rows.n_features) if start is None else start
    s = problem.matvec(u[:, None])[:, 0]
    b = objective.best_intercept(s) if problem.fit_intercept else 0.0
    s += b
    value = objective(u, s)
    kept = np.zeros_like(s)
    while True:
        row_gradient, curvature = objective.derivatives(s)  # 1
        if loss.name == "squared_hinge":
            curvature = kept = np.maximum(curvature, CURVATURE_DECAY * kept)
        gradient = problem.rmatvec(row_gradient[:, None])[:, 0] + u
        total = float(row_gradient.sum()) if problem.fit_intercept else 0.0
        residual_tol = np.sqrt(2 * RESIDUAL_FRACTION * tol * value)
        du, db, ds, left = _step(problem, curvature, gradient, total, residual_tol, count)  # 2
        end = u + du
        z, seen = objective.dual_point(s, ds, row_gradient, curvature, end)  # 3
        if stopping_rule(z, lambda: end, seen + 0.5 * left**2 / value) or count.stopped:  # noqa: B023
            break
        decrease = -float(gradient @ du) - total * db
        length, new = objective.backtrack(u, du, s, ds, value, decrease)  # 4
        if length < MIN_STEP or not np.isfinite(new):
            break
        u, b, value = u + length * du, b + length * db, new
        s = problem.matvec(u[:, None])[:, 0] + b
    return stopping_rule.end(-objective.derivatives(s)[0], u), count.products


@dataclass
class Count:
    """Counter of Hessian-vector products."""

    most: int
    stopping_rule: StoppingRule
    on_step: Callable[[int, float], Any] | None
    products: int = 0
    stopped: bool = False

    def one(self) -> bool:
        """Count a product, and return whether to stop."""
        self.products += 1
        stop_requested = self.on_step is not None and bool(
            self.on_step(self.products, self.stopping_rule.reached)
        )
        self.stopped = stop_requested or self.products >= self.most
        return self.stopped


def _certify(
    problem: Problem, lane: Lane, tol: float
) -> Callable[[Floats, Floats], CertifiedSolution]:
    return lambda z, weights: certify(problem, [lane], z[:, None], tol, weights[:, None])


def _step(
    problem: Problem,
    curvature: Floats,
    gradient: Floats,
    total: float,
    residual_tol: float,
    count: Count,
) -> tuple[Floats, float, Floats, float]:
    """Return a step of weights, intercept and scores, and the norm of the residual."""
    corner = float(curvature.sum()) if problem.fit_intercept else 0.0
    diagonal = np.append(1.0 + _squares(problem, curvature), corner if corner > 0 else 1.0)
    x, moved = np.zeros(len(diagonal)), np.zeros(len(curvature))
    left = -np.append(gradient, total)
    scaled = left / diagonal
    size = float(left @ scaled)
    enough = min(FORCING_TERM, size**0.25 / (1.0 + size) ** 0.25) ** 2 * size
    p = scaled
    while not count.stopped:
        scores, image = _curved(problem, curvature, p, corner)
        count.one()
        length = size / float(p @ image)
        if not np.isfinite(length):
            break
        x += length * p
        moved += length * scores
        left = left - length * image
        scaled = left / diagonal
        new = float(left @ scaled)
        if new <= enough or float(left @ left) <= residual_tol**2:
            break
        p = scaled + (new / size) * p
        size = new
    return x[:-1], float(x[-1]), moved, float(np.linalg.norm(left[:-1]))


def _curved(problem: Problem, curvature: Floats, p: Floats, corner: float) -> tuple[Floats, Floats]:
    """Return the scores of p and the Hessian-vector product p + Z'C(Zp), with the sum of C(Zp)."""
    b = float(p[-1]) if corner > 0 else 0.0
    if problem.rows.is_sparse:
        scale = problem.columns.scale
        w = np.ascontiguousarray(p[:-1]) if scale is None else p[:-1] * scale
        scores, sums = np.empty(len(curvature)), np.zeros(len(w))
        native.add_curved(problem.core, curvature, w, b, scores, sums)
        sums = sums if scale is None else sums * scale
    else:
        scores = problem.matvec(p[:-1, None])[:, 0] + b
        sums = problem.rmatvec((curvature * scores)[:, None])[:, 0]
    return scores, np.append(sums + p[:-1], float(curvature @ scores) if corner > 0 else p[-1])


def _squares(problem: Problem, c: Floats) -> Floats:
    """Return the diagonal of Z'CZ."""
    sums = np.zeros(problem.rows.n_features)
    if problem.rows.is_sparse:
        native.add_squares(problem.core, c, sums)
    else:
        for start, block in problem.blocks():
            sums += np.einsum("i,ij,ij->j", c[start : start + len(block)], block, block)
    scale = problem.columns.scale
    return sums if scale is None else sums * scale**2
