"""Newton's method for multinomial logistic regression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from separable.certified.design.softmax_products import hessian_product
from separable.losses.softmax import best_intercepts, divergences, log_softmax, losses

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from separable.certified.design.softmax_products import MultinomialRows
    from separable.certified.solvers.stopping import StoppingRule
    from separable.typing import Floats

    Labels = NDArray[np.int32]

__all__ = ["MultinomialObjective", "Step", "StepMaker", "multinomial_newton"]

#: Shortest step of the line search.
MIN_STEP = 1e-10
#: Relative rounding error of the objective.
OBJECTIVE_ROUNDING = 1e-15
#: Steps without progress after which to stop.
MAX_IDLE_STEPS = 10
#: Without a penalty, an objective below this fraction of the first means separable classes.
SEPARABLE_RATIO = 1e-12
#: Fraction of the requested gap that the inner residual may cause.
RESIDUAL_FRACTION = 0.25
#: Larger relative gaps are not estimated.
MAX_REFINED_GAP = 0.1


@dataclass(frozen=True)
class MultinomialObjective:
    """The objective penalty/2 |u|^2 + sum_i c_i [log sum_k e^(s_ik) - s_iy], s the scores of u.

    Parameters
    ----------
    y : ndarray of int32, shape (n,)
        Labels; every class is present.
    c : ndarray, shape (n,)
    n_classes : int
    fit_intercept : bool
    penalty : float
        1, or 0 for none.
    """

    y: Labels
    c: Floats
    n_classes: int
    fit_intercept: bool
    penalty: float = 1.0

    def __call__(self, u: Floats, s: Floats) -> float:
        """Return the objective."""
        return 0.5 * self.penalty * float(np.vdot(u, u)) + float(self.c @ losses(self.y, s))

    def best_intercepts(self, s: Floats) -> Floats:
        """Return the optimal intercepts for scores s."""
        if self.fit_intercept:
            return best_intercepts(self.y, s, self.c)
        return np.zeros(s.shape[1])

    def probabilities(self, s: Floats) -> Floats:
        """Return the softmax of scores."""
        with np.errstate(under="ignore"):
            return np.exp(log_softmax(s)[0])

    def gradients(self, q: Floats) -> Floats:
        """Return the gradient of each row in its scores, c (q - 1[y = k])."""
        r = q.copy()
        index = np.arange(len(q))
        r[index, self.y] = 0.0
        r[index, self.y] = -(r @ np.ones(r.shape[1]))
        r *= self.c[:, None]
        return r

    def after(self, q: Floats, ds: Floats) -> tuple[Floats, bool]:
        """Return the linearised probabilities after a change of scores, and whether they are valid.

        If they are, the weights of their dual point are those at the end of the step.
        """
        p = q + hessian_product(np.ones(len(q)), q, ds)
        low = np.minimum(p, 0.0)
        p -= low
        return p, -float((self.c @ low).sum()) <= 1e-9 * float(self.c.sum())

    def gap(self, p: Floats, s: Floats) -> float:
        """Return the sum of the gaps of the rows for probabilities p and scores s."""
        return float(self.c @ divergences(p, s))

    def backtrack(
        self, u: Floats, du: Floats, s: Floats, ds: Floats, value: float, decrease: float
    ) -> tuple[float, float]:
        """Return the step length of a backtracking line search, and the new objective."""
        length, new = 1.0, np.inf
        while length >= MIN_STEP and decrease >= 0:
            new = self(u + length * du, s + length * ds)
            if new <= value - 1e-4 * length * decrease + OBJECTIVE_ROUNDING * value:
                return length, new
            length *= 0.5
        return 0.0, new


@dataclass(frozen=True)
class Step:
    """A step of weights, intercepts and scores, and the residual of the Newton system."""

    du: Floats
    db: Floats
    ds: Floats
    left: Floats


class StepMaker(Protocol):
    """The interface of a solver of the Newton system."""

    def __call__(
        self,
        x: MultinomialRows,
        objective: MultinomialObjective,
        q: Floats,
        gradient: Floats,
        total: Floats,
        residual_tol: float,
    ) -> Step:
        """Return the step for the gradient in the weights, (m, K), and the intercepts, (K,).

        ``q`` has the current probabilities, ``residual_tol`` bounds the norm of the residual.
        """


def multinomial_newton(
    x: MultinomialRows,
    objective: MultinomialObjective,
    make_step: StepMaker,
    *,
    start: Floats | None,
    stopping_rule: StoppingRule,
    max_iter: int,
    is_stopped: Callable[[], Any] = bool,
) -> tuple[Floats, Floats]:
    """Minimise the objective at scores u_k.x_i + b_k over u and b.

    Steps: 1. the softmax of each row, and the gradient; 2. the minimum of the quadratic model,
    exact or truncated; 3. the dual point of the step; 4. backtracking line search.

    Parameters
    ----------
    x : MultinomialRows
    objective : MultinomialObjective
    make_step : StepMaker
    start : ndarray, shape (m, K), or None
        Weights.
    stopping_rule : StoppingRule
        Called after each step.
    max_iter : int
        Maximum number of steps.
    is_stopped : callable
        Returns whether to stop.

    Returns
    -------
    p : ndarray, shape (n, K)
        Probabilities at the last weights.
    u : ndarray, shape (m, K)
    """
    u = np.zeros((x.size, objective.n_classes)) if start is None else start
    s = x.matvec(u)
    b = objective.best_intercepts(s)
    s += b
    first = value = objective(u, s)
    idle = 0
    for _ in range(max_iter):
        q = objective.probabilities(s)  # 1
        r = objective.gradients(q)
        gradient = x.rmatvec(r) + objective.penalty * u
        total = r.sum(axis=0) if objective.fit_intercept else np.zeros(len(b))
        residual_tol = np.sqrt(2 * RESIDUAL_FRACTION * stopping_rule.wanted * value)
        step = make_step(x, objective, q, gradient, total, residual_tol)  # 2
        end = u + step.du
        p, is_some = objective.after(q, step.ds)  # 3
        seen, rest = np.inf, 0.5 * float(np.vdot(step.left, step.left))
        if is_some and rest < MAX_REFINED_GAP * value:
            seen = (objective.gap(p, s + step.ds) + rest) / value
        if stopping_rule(p, lambda: x.weights(end), seen) or is_stopped():  # noqa: B023
            break
        decrease = -float(np.vdot(gradient, step.du)) - float(total @ step.db)
        length, new = objective.backtrack(u, step.du, s, step.ds, value, decrease)  # 4
        if length < MIN_STEP or not np.isfinite(new):
            break
        u, b = u + length * step.du, b + length * step.db
        s = x.matvec(u) + b
        idle = 0 if new < value - OBJECTIVE_ROUNDING * value else idle + 1
        value = new
        if idle >= MAX_IDLE_STEPS or (objective.penalty == 0 and value < SEPARABLE_RATIO * first):
            break
    return objective.probabilities(s), u
