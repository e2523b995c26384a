"""Newton's method on the primal, with line search: for smooth losses and few columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import LinAlgError

from separable.linalg.cholesky import Bordered

if TYPE_CHECKING:
    from separable.certified.design.row_products import RowProducts
    from separable.certified.solvers.stopping import StoppingRule
    from separable.losses.base import SmoothLoss
    from separable.typing import Floats


__all__ = ["MIN_STEP", "Objective", "newton"]

#: Shortest step of the line search.
MIN_STEP = 1e-10
#: Relative rounding error of the objective.
OBJECTIVE_ROUNDING = 1e-15
#: Steps without progress after which to stop.
MAX_IDLE_STEPS = 10
#: Without a penalty, an objective below this fraction of the first means separable classes.
SEPARABLE_RATIO = 1e-12


@dataclass(frozen=True)
class Objective:
    """The objective penalty/2 |u|^2 + sum_i c_i loss(y_i, s_i) of weights u and scores s.

    Parameters
    ----------
    loss : SmoothLoss
    y, c : ndarray, shape (n,)
        Targets and costs.
    penalty : float
        1, or 0 for none.
    """

    loss: SmoothLoss
    y: Floats
    c: Floats
    penalty: float = 1.0

    def __call__(self, u: Floats, s: Floats) -> float:
        """Return the objective."""
        return 0.5 * self.penalty * float(u @ u) + self.loss.total(self.y, s, self.c)

    def derivatives(self, s: Floats) -> tuple[Floats, Floats]:
        """Return the gradient and curvature of each row in its score."""
        return self.loss.derivatives(self.y, s, self.c)

    def best_intercept(self, s: Floats) -> float:
        """Return the optimal intercept for scores s."""
        return self.loss.best_intercept(self.y, s, self.c)

    def dual_point(
        self, s: Floats, ds: Floats, gradient: Floats, curvature: Floats, end: Floats
    ) -> tuple[Floats, float]:
        """Return the dual point of a Newton step ds of the scores, and the relative gap at its end.

        ``end`` has the weights there. The gap is infinite if the dual point had to be clipped.
        """
        z = -(gradient + curvature * ds)
        allowed = self.loss.clip_dual(self.y, self.c, z)
        if float(np.abs(z - allowed).sum()) > 1e-9 * float(np.abs(allowed).sum()):
            return allowed, np.inf
        gap = float(np.maximum(self.loss.gap(self.y, s + ds, self.c, allowed), 0.0).sum())
        primal = self(end, s + ds)
        return allowed, gap / primal if primal > 0 else 0.0

    def backtrack(
        self, u: Floats, du: Floats, s: Floats, ds: Floats, value: float, decrease: float
    ) -> tuple[float, float]:
        """Return the step length of a backtracking line search, and the new objective.

        ``value`` is the current objective, ``decrease`` the predicted first-order decrease.
        """
        length, new = 1.0, np.inf
        while length >= MIN_STEP and decrease >= 0:
            new = self(u + length * du, s + length * ds)
            if new <= value - 1e-4 * length * decrease + OBJECTIVE_ROUNDING * value:
                return length, new
            length *= 0.5
        return 0.0, new


def newton(
    x: RowProducts,
    objective: Objective,
    *,
    fit_intercept: bool,
    start: Floats | None,
    stopping_rule: StoppingRule,
    max_iter: int,
) -> tuple[Floats, Floats]:
    """Minimise the objective at scores u.x_i + b over u and b.

    Steps: 1. gradient and curvature of each row; 2. the quadratic model; 3. its minimum and the
    dual point of its linearised gradient, whose primal weights are those of the minimum up to
    rounding; 4. backtracking line search.

    Parameters
    ----------
    x : RowProducts
    objective : Objective
    fit_intercept : bool
    start : ndarray, shape (m,), or None
        Weights.
    stopping_rule : StoppingRule
        Called after each step.
    max_iter : int
        Maximum number of steps.

    Returns
    -------
    z : ndarray, shape (n,)
        The dual point of the last weights.
    u : ndarray, shape (m,)
    """
    u = np.zeros(x.size) if start is None else start
    s = x.matvec(u, 0.0)
    b = objective.best_intercept(s) if fit_intercept else 0.0
    s += b
    first = value = objective(u, s)
    penalty = objective.penalty
    idle = 0
    for _ in range(max_iter):
        row_gradient, curvature = objective.derivatives(s)  # 1
        hessian, mixed, loss_gradient = x.products(curvature, row_gradient)  # 2
        hessian[np.diag_indices(x.size)] += penalty
        gradient, total = loss_gradient + penalty * u, float(row_gradient.sum())
        try:
            equations = Bordered(
                hessian, mixed, float(curvature.sum()), fit_intercept=fit_intercept
            )
        except LinAlgError:
            break
        du, db = equations.solve(-gradient, -total)  # 3
        ds = x.matvec(du, db)
        z, seen = objective.dual_point(s, ds, row_gradient, curvature, u + du)
        if stopping_rule(z, lambda: x.weights(u + du), seen):  # noqa: B023
            break
        decrease = -float(gradient @ du) - total * db
        length, new = objective.backtrack(u, du, s, ds, value, decrease)  # 4
        if length < MIN_STEP or not np.isfinite(new):
            break
        u, b = u + length * du, b + length * db
        s = x.matvec(u, b)
        idle = 0 if new < value - OBJECTIVE_ROUNDING * value else idle + 1
        value = new
        if idle >= MAX_IDLE_STEPS:
            break
        if penalty == 0 and value < SEPARABLE_RATIO * first:
            break
    return -objective.derivatives(s)[0], u
