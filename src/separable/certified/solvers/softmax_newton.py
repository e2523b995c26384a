"""Newton's method for all classes jointly."""

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

#: A step that is cut to less than this has met rounding.
MIN_STEP = 1e-10
#: What rounding may add to an objective.
OBJECTIVE_ROUNDING = 1e-15
#: Steps after which an objective that no longer falls has met rounding.
MAX_IDLE_STEPS = 10
#: Without a penalty, an objective that fell by so much has no minimum: the classes are separable.
SEPARABLE_RATIO = 1e-12
#: How much of the gap asked for may come from what a step leaves.
RESIDUAL_FRACTION = 0.25
#: A relative gap above which nobody asks for its digits.
MAX_REFINED_GAP = 0.1


@dataclass(frozen=True)
class MultinomialObjective:
    """penalty/2 |u|^2 + sum_i c_i [log sum_k e^(s_ik) - s_iy] of weights u and scores s.

    Parameters
    ----------
    y : ndarray of int32, shape (n,)
        Every class has a cost.
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
        """Return the b that are best for scores s + b."""
        if self.fit_intercept:
            return best_intercepts(self.y, s, self.c)
        return np.zeros(s.shape[1])

    def probabilities(self, s: Floats) -> Floats:
        """Return the softmax of scores."""
        with np.errstate(under="ignore"):
            return np.exp(log_softmax(s)[0])

    def gradients(self, q: Floats) -> Floats:
        """Return the slope of each row by its scores, c (q - 1[y = k])."""
        r = q.copy()
        index = np.arange(len(q))
        r[index, self.y] = 0.0
        r[index, self.y] = -(r @ np.ones(r.shape[1]))
        r *= self.c[:, None]
        return r

    def after(self, q: Floats, ds: Floats) -> tuple[Floats, bool]:
        """Return probabilities as the model sees them after a change of scores, to first order.

        And whether they are some: then a dual point goes with them whose weights are the end's.
        """
        p = q + hessian_product(np.ones(len(q)), q, ds)
        low = np.minimum(p, 0.0)
        p -= low
        return p, -float((self.c @ low).sum()) <= 1e-9 * float(self.c.sum())

    def gap(self, p: Floats, s: Floats) -> float:
        """Return what rows add to the gap of probabilities p and scores s."""
        return float(self.c @ divergences(p, s))

    def backtrack(
        self, u: Floats, du: Floats, s: Floats, ds: Floats, value: float, decrease: float
    ) -> tuple[float, float]:
        """Return how much of a step to take so that the objective falls, and what it then is."""
        length, new = 1.0, np.inf
        while length >= MIN_STEP and decrease >= 0:
            new = self(u + length * du, s + length * ds)
            if new <= value - 1e-4 * length * decrease + OBJECTIVE_ROUNDING * value:
                return length, new
            length *= 0.5
        return 0.0, new


@dataclass(frozen=True)
class Step:
    """A step of weights, intercepts and scores, and what it leaves of the gradient by weights."""

    du: Floats
    db: Floats
    ds: Floats
    left: Floats


class StepMaker(Protocol):
    """How the minimum of the quadratic model is found."""

    def __call__(
        self,
        x: MultinomialRows,
        objective: MultinomialObjective,
        q: Floats,
        gradient: Floats,
        total: Floats,
        residual_tol: float,
    ) -> Step:
        """Return the step for the gradient by weights, (m, K), and by intercepts, (K,).

        ``q`` are the shares now, ``residual_tol`` is the size of what may be left of the gradient.
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

    Steps: 1. the softmax of every row, and the gradient; 2. the minimum of the quadratic model, or
    what comes close; 3. the dual point of the step: its weights are those of the end but for what
    the step leaves; 4. half of the way as often as the objective does not fall.

    Parameters
    ----------
    x : MultinomialRows
    objective : MultinomialObjective
    make_step : StepMaker
    start : ndarray, shape (m, K), or None
        Weights.
    stopping_rule : StoppingRule
        Sees each step and says when to stop.
    max_iter : int
        Maximum number of steps.
    is_stopped : callable
        Whether the work is to end.

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
