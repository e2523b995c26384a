"""Mehrotra's predictor-corrector method with centrality corrections.

problem   the optimality conditions of a convex problem, with pairs x > 0 and s > 0 that end at
          x s = 0
given     a point with all pairs above 0; a function that builds the KKT system of a point
returns   the point after each step
steps     1. predict with x s = 0
          2. correct towards the mu that this step would reach, cubed relative to the present one,
             with the weight that allows the longest step
          3. correct again, towards products x s of one size, while steps grow longer
          4. step as far as all pairs stay above 0
source    S. Mehrotra, On the implementation of a primal-dual interior point method, SIAM J. Optim.
          2 (1992); M. Colombo, J. Gondzio, Further development of multiple centrality correctors,
          Comput. Optim. Appl. 41 (2008)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy.linalg import LinAlgError

from separable.typing import Floats

#: Fraction of the step to the boundary.
BOUNDARY_FRACTION = 0.995
#: Maximum number of centrality corrections of a step; longer steps need none.
MAX_CORRECTIONS, LONG_STEP = 3, 0.9
#: Shortest step.
MIN_STEP = 1e-9


@dataclass(frozen=True)
class Point:
    """Values of all unknowns, or a change of them.

    Parameters
    ----------
    free : tuple
        Arrays and numbers of any sign.
    pairs : tuple of (ndarray, ndarray)
        Slacks and their multipliers.
    """

    free: tuple[Any, ...]
    pairs: tuple[tuple[Floats, Floats], ...]

    def products(self) -> list[Floats]:
        """Return the product of each pair."""
        return [x * s for x, s in self.pairs]

    def complementarity(self) -> float:
        """Return the sum of all products."""
        return float(sum(np.vdot(x, s) for x, s in self.pairs))

    @property
    def mu(self) -> float:
        """The mean product; 0 without pairs."""
        return self.complementarity() / max(1, sum(x.size for x, _ in self.pairs))

    def plus(self, length: float, step: Point) -> Point:
        """Return the values after a step of a given length."""
        return Point(
            tuple(x + length * by for x, by in zip(self.free, step.free, strict=True)),
            tuple(
                (x + length * dx, s + length * ds)
                for (x, s), (dx, ds) in zip(self.pairs, step.pairs, strict=True)
            ),
        )

    def max_step(self, step: Point) -> float:
        """Return the longest step, at most 1, that keeps all pairs positive."""
        lowest = 0.0
        for values, changes in zip(self.pairs, step.pairs, strict=True):
            for x, dx in zip(values, changes, strict=True):
                lowest = min(lowest, float((dx / x).min(initial=0.0)))
        return 1.0 / max(1.0, -lowest)


class KktSystem(Protocol):
    """The factored optimality conditions at a point."""

    @property
    def now(self) -> Point:
        """The point, with values that follow from others brought up to date."""

    @property
    def least_mu(self) -> float:
        """The smallest mu to aim at."""

    def solve(self, products: list[Floats], *, is_correction: bool = False) -> Point:
        """Return the step that changes the products as given, to first order.

        A correction keeps the other residuals; else the step removes them.
        """

    def longest(self, step: Point) -> float:
        """Return the maximum step length that the problem itself allows."""


def interior_points(system_at: Callable[[Point], KktSystem], start: Point) -> Iterator[Point]:
    """Yield the point after each step, until no step is possible."""
    now = start
    while True:
        with np.errstate(over="ignore", under="ignore", divide="ignore", invalid="ignore"):
            try:
                system = system_at(now)
                step, max_step = _direction(system)
            except LinAlgError:
                return
            length = BOUNDARY_FRACTION * max_step if max_step < 1 else 1.0  # 4
            length = min(length, system.longest(step))
            if not length > MIN_STEP:  # nor where numbers overflow
                return
            now = system.now.plus(length, step)
        yield now


def _direction(system: KktSystem) -> tuple[Point, float]:
    """Return the predicted and corrected step, and its maximum length."""
    now, mu = system.now, system.now.mu
    step = system.solve([-product for product in now.products()])  # 1
    if not now.pairs or not any(x.size for x, _ in now.pairs):
        return step, 1.0
    if not mu > 0:
        return step, 0.0
    max_step = now.max_step(step)
    target = max(mu * (now.plus(max_step, step).mu / mu) ** 3, system.least_mu)  # 2
    more = system.solve([target - product for product in step.products()], is_correction=True)
    step, max_step = _longest_sum(now, step, more, max_step**2)
    for _ in range(MAX_CORRECTIONS):  # 3
        if max_step > LONG_STEP:
            break
        further = now.plus(min(1.0, max(1.3 * max_step, max_step + 0.1)), step)
        towards = [_towards(product, target) for product in further.products()]
        more = system.solve(towards, is_correction=True)
        corrected, longer = _longest_sum(now, step, more, max_step)
        if longer < 1.02 * max_step:
            break
        step, max_step = corrected, longer
    return step, max_step


def _towards(products: Floats, target: float) -> Floats:
    """Return the correction of products outside the range around the target."""
    change = np.clip(products, 0.1 * target, 10 * target) - products
    return np.maximum(change, -10 * target)


def _longest_sum(now: Point, step: Point, more: Point, least: float) -> tuple[Point, float]:
    """Return the longest of step + t more, t from ``least`` to 1, and its maximum length."""
    best, furthest = step, 0.0
    for weight in np.linspace(1.0, least, 4):
        tried = step.plus(float(weight), more)
        max_step = now.max_step(tried)
        if max_step > furthest:
            best, furthest = tried, max_step
        if max_step > LONG_STEP:
            break
    return best, furthest
