"""Interior point for max-norm penalised least squares, with crossover to the exact vertex.

    minimise  1/2 u'Hu - q'u + lam t,    -t <= u_j <= t

Mehrotra's predictor-corrector method with slacks t - u and t + u and their multipliers. The active
bounds of the last point leave a linear system for the exact solution.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from separable.linalg.cholesky import Cholesky

if TYPE_CHECKING:
    from separable.typing import Floats


__all__ = ["MAX_STEPS", "bounded_least_squares"]

#: Maximum number of steps; twenty are typical.
MAX_STEPS = 100
#: Fraction of the step to the boundary.
BOUNDARY_FRACTION = 0.995
#: Mean complementarity, relative to the first, at which to stop.
COMPLEMENTARITY_TOL = 1e-13


@dataclass
class _Point:
    """Weights and their bound, with the multipliers of u <= t and of -t <= u."""

    u: Floats
    t: float
    above: Floats
    below: Floats

    @property
    def slacks(self) -> tuple[Floats, Floats]:
        return self.t - self.u, self.t + self.u

    @property
    def is_inside(self) -> bool:
        """Whether all slacks are positive despite rounding."""
        over, under = self.slacks
        return bool((over > 0).all() and (under > 0).all())

    @property
    def mean(self) -> float:
        over, under = self.slacks
        return float(over @ self.above + under @ self.below) / (2 * len(self.u))


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
    if float(np.abs(q).sum()) <= lam:
        return np.zeros_like(q), 0
    point = _first(h, q, lam, start)
    first, best, steps = point.mean, point, 0
    while steps < most:
        steps += 1
        point = _next(h, q, lam, point)
        if not np.isfinite(point.mean):
            break
        best = point
        if point.mean <= COMPLEMENTARITY_TOL * first or not point.is_inside:
            break
    return _corner(h, q, lam, best), steps


def _first(h: Floats, q: Floats, lam: float, start: Floats | None) -> _Point:
    d = len(q)
    curvature = float(np.diagonal(h).max())
    size = float(np.abs(q).max()) / curvature if curvature > 0 else 1.0
    if start is not None:
        size = max(float(np.abs(start).max()), 1e-3 * size)
    even = np.full(d, lam / (2 * d))
    return _Point(np.zeros(d), size, even, even.copy())


def _next(h: Floats, q: Floats, lam: float, at: _Point) -> _Point:
    over, under = at.slacks
    one, two = at.above / over, at.below / under
    factor = Cholesky(h + np.diag(one + two))
    side = factor.solve(one - two)
    corner = float((one - two) @ side - (one + two).sum())
    rest = q - h @ at.u - at.above + at.below
    missing = lam - float((at.above + at.below).sum())

    def towards(first: Floats, second: Floats) -> tuple[Floats, float, Floats, Floats]:
        """Return the change that leaves slack times multiplier changed by first and second."""
        right = rest - first / over + second / under
        along = factor.solve(right)
        pushed = float((first / over + second / under).sum() + (one - two) @ along)
        dt = (missing - pushed) / corner if corner else math.nan  # rounding is all there is
        du = along + dt * side
        return du, dt, first / over - one * (dt - du), second / under - two * (dt + du)

    def longest(change: tuple[Floats, float, Floats, Floats]) -> float:
        du, dt, dz, dw = change
        return min(
            1.0,
            *(
                float((now[by < 0] / -by[by < 0]).min(initial=np.inf))
                for now, by in (
                    (over, dt - du),
                    (under, dt + du),
                    (at.above, dz),
                    (at.below, dw),
                )
            ),
        )

    guess = towards(-over * at.above, -under * at.below)
    du, dt, dz, dw = guess
    length = longest(guess)
    ahead = _Point(
        at.u + length * du, at.t + length * dt, at.above + length * dz, at.below + length * dw
    )
    middle = (ahead.mean / at.mean) ** 3 * at.mean
    change = towards(
        middle - over * at.above - (dt - du) * dz, middle - under * at.below - (dt + du) * dw
    )
    length = BOUNDARY_FRACTION * longest(change)
    du, dt, dz, dw = change
    return _Point(
        at.u + length * du, at.t + length * dt, at.above + length * dz, at.below + length * dw
    )


def _corner(h: Floats, q: Floats, lam: float, at: _Point) -> Floats:
    """Return the exact solution for the active bounds if it is feasible and no worse."""
    over, under = at.slacks
    sign = np.where(over < at.above * at.t / lam, 1.0, 0.0)
    sign -= np.where(under < at.below * at.t / lam, 1.0, 0.0)
    met = sign != 0
    free = np.flatnonzero(~met)
    # u = t sign on what is met: columns [free, t]
    joint = np.zeros((len(q), len(free) + 1))
    joint[free, np.arange(len(free))] = 1.0
    joint[:, -1] = sign
    right = joint.T @ q
    right[-1] -= lam
    solution = Cholesky(joint.T @ h @ joint).solve(right)
    t, u = float(solution[-1]), joint @ solution
    inside = t > 0 and bool((np.abs(solution[:-1]) <= t).all())
    return u if inside and _value(h, q, lam, u) <= _value(h, q, lam, at.u) else at.u


def _value(h: Floats, q: Floats, lam: float, u: Floats) -> float:
    return float(0.5 * u @ h @ u - q @ u + lam * np.abs(u).max())
