"""Accelerated proximal gradient (FISTA) with adaptive restart, for many columns.

    x = prox(a - gradient(a) / L),    a = x + momentum (x - previous x)

The momentum restarts when it points uphill (O'Donoghue and Candes, 2015). L bounds the largest
eigenvalue of Z'CZ with the intercept profiled out.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from separable.certified.duality.certificate import CertifiedSolution
from separable.certified.duality.gap import evaluate
from separable.certified.problem import Lane, Problem
from separable.penalties.base import Proximal
from separable.typing import Floats

#: Steps of the power method for L, and its safety factor.
POWER_STEPS, SAFETY = 20, 1.1
#: Steps per certificate.
STEPS_PER_CERTIFICATE = 10


def accelerated(
    problem: Problem,
    lane: Lane,
    penalty: Proximal,
    *,
    tol: float,
    max_iter: int,
    start: Floats | None = None,
    callback: Callable[[int, float], Any] | None = None,
) -> tuple[CertifiedSolution, int]:
    """Return the solution of a lane and the number of steps, each of two passes over the rows.

    Parameters
    ----------
    problem : Problem
        With squared errors.
    tol : float
        The requested relative gap.
    max_iter : int
        Maximum number of steps.
    start : ndarray, shape (d,), optional
    callback : callable, optional
        Called with the number of a step and the relative gap so far; returning True stops the
        solver.
    """
    x = np.zeros(problem.rows.n_features) if start is None else np.array(start, np.float64)
    extrapolated, momentum = x, 1.0
    lipschitz = SAFETY * _largest_eigenvalue(problem, problem.costs(lane))
    best = evaluate(problem, lane, penalty, x).certified(problem, lane, penalty, tol)
    for step in range(1, max_iter + 1):
        correlation = evaluate(problem, lane, penalty, extrapolated).correlation
        new = penalty.prox(extrapolated + correlation / lipschitz, 1.0 / lipschitz)
        if float((extrapolated - new) @ (new - x)) > 0:  # uphill
            momentum = 1.0
        following = 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * momentum**2))
        extrapolated = new + (momentum - 1.0) / following * (new - x)
        x, momentum = new, following
        if step % STEPS_PER_CERTIFICATE and step < max_iter:
            continue
        solution = evaluate(problem, lane, penalty, x).certified(problem, lane, penalty, tol)
        if solution.is_better_than(best):
            best = solution
        gap = best.certificates[0].relative_gap
        if (callback is not None and callback(step, gap)) or gap <= tol:
            break
    return best, step


def _largest_eigenvalue(problem: Problem, c: Floats) -> float:
    """Estimate the largest eigenvalue of Z'CZ with the intercept profiled out."""
    v = np.random.default_rng(0).normal(size=problem.rows.n_features)
    total, size = float(c.sum()), 0.0
    for _ in range(POWER_STEPS):
        v /= float(np.linalg.norm(v))
        scores = problem.x.matvec(v[:, None])[:, 0]
        if problem.fit_intercept:
            scores -= float(c @ scores) / total
        v = problem.x.rmatvec((c * scores)[:, None])[:, 0]
        size = float(np.linalg.norm(v))
        if size == 0:
            return 1.0
    return size
