"""Interior point for max-norm penalised least squares, with crossover to the exact vertex.

    minimise  1/2 u'Hu - q'u + lam t,    -t <= u_j <= t

Pairs are the slacks t - u and t + u with their multipliers. The active bounds of the last point
leave a linear system for the exact solution.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import islice

import numpy as np

from separable.certified.solvers.interior_point.predictor_corrector import Point, interior_points
from separable.linalg.cholesky import Bordered, Cholesky
from separable.typing import Floats

#: Maximum number of steps; twenty are typical.
MAX_STEPS = 100
#: Mean complementarity, relative to the first, at which to stop.
COMPLEMENTARITY_TOL = 1e-13


@dataclass(frozen=True)
class _System:
    """The linear system of a step, in u and t."""

    h: Floats
    q: Floats
    lam: float
    now: Point
    least_mu: float = 0.0

    @cached_property
    def _equations(self) -> Bordered:
        one, two = self._ratios
        matrix = self.h + np.diag(one + two)
        return Bordered(matrix, two - one, float((one + two).sum()), fit_intercept=True)

    @property
    def _ratios(self) -> tuple[Floats, Floats]:
        (over, above), (under, below) = self.now.pairs
        return above / over, below / under

    def solve(self, products: list[Floats], *, is_correction: bool = False) -> Point:
        """Return the step that changes the products as given."""
        (over, above), (under, below) = self.now.pairs
        first, second = products[0] / over, products[1] / under
        right, last = second - first, float((first + second).sum())
        if not is_correction:
            right = right + self.q - self.h @ self.now.free[0] - above + below
            last -= self.lam - float((above + below).sum())
        du, dt = self._equations.solve(right, last)
        one, two = self._ratios
        return Point(
            (du, dt), ((dt - du, first - one * (dt - du)), (dt + du, second - two * (dt + du)))
        )

    def longest(self, step: Point) -> float:
        """Return no limit."""
        del step
        return 1.0


def bounded_least_squares(
    h: Floats, q: Floats, lam: float, start: Floats | None = None, most: int = MAX_STEPS
) -> tuple[Floats, int]:
    """Return the weights and the number of steps.

    Parameters
    ----------
    h : ndarray, shape (d, d)
        Symmetric, positive semidefinite.
    q : ndarray, shape (d,)
    lam : float
        Above 0.
    start : ndarray, shape (d,), optional
        Weights of a similar problem; their max norm is the first bound.
    most : int
        Maximum number of steps.
    """
    rounding = len(q) * float(np.finfo(np.float64).eps)
    if float(np.abs(q).sum()) <= lam * (1.0 + rounding):
        return np.zeros_like(q), 0
    best, steps = _first(h, q, lam, start), 0
    enough = COMPLEMENTARITY_TOL * best.mu
    points = interior_points(lambda now: _System(h, q, lam, now), best)
    for point in islice(points, most):
        steps += 1
        if not np.isfinite(point.mu):
            break
        best = point
        if point.mu <= enough:
            break
    return _vertex(h, q, lam, best), steps


def _first(h: Floats, q: Floats, lam: float, start: Floats | None) -> Point:
    d = len(q)
    curvature = float(np.diagonal(h).max())
    size = float(np.abs(q).max()) / curvature if curvature > 0 else 1.0
    if start is not None:
        size = max(float(np.abs(start).max()), 1e-3 * size)
    pair = np.full(d, size), np.full(d, lam / (2 * d))
    return Point((np.zeros(d), size), (pair, pair))


def _vertex(h: Floats, q: Floats, lam: float, at: Point) -> Floats:
    """Return the exact solution for the active bounds if it is feasible and no worse."""
    (over, above), (under, below) = at.pairs
    before, t = at.free
    sign = np.where(over < above * t / lam, 1.0, 0.0)
    sign -= np.where(under < below * t / lam, 1.0, 0.0)
    free = np.flatnonzero(sign == 0)
    # u = t sign at the bounds: columns [free, t]
    joint = np.zeros((len(q), len(free) + 1))
    joint[free, np.arange(len(free))] = 1.0
    joint[:, -1] = sign
    right = joint.T @ q
    right[-1] -= lam
    solution = Cholesky(joint.T @ h @ joint).solve(right)
    t, u = float(solution[-1]), joint @ solution
    inside = t > 0 and bool((np.abs(solution[:-1]) <= t).all())
    return u if inside and _value(h, q, lam, u) <= _value(h, q, lam, before) else before


def _value(h: Floats, q: Floats, lam: float, u: Floats) -> float:
    return float(0.5 * u @ h @ u - q @ u + lam * np.abs(u).max())
