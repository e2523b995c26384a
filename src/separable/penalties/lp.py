"""The lp penalties |u|^p: value, conjugate, dual scaling and prox, in NumPy.

The compiled core has the same prox for coordinate descent (``lp_step.hpp``); certificates use
these.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from separable._core import native
from separable.penalties.base import Descent
from separable.penalties.group_barrier import follow_barrier
from separable.typing import Floats

#: The powers with a closed-form prox, under their names in the compiled core.
POWERS = {"0": 0.0, "1/2": 0.5, "2/3": 2 / 3, "1": 1.0, "4/3": 4 / 3, "3/2": 1.5, "2": 2.0}


@dataclass(frozen=True)
class LpPenalty:
    """The lp penalty sum_j lam_j |u_j|^p; p = 0 counts the non-zero weights.

    Parameters
    ----------
    power : str
        A key of `POWERS`.
    lam : ndarray, shape (d,)
    """

    power: str
    lam: Floats

    @property
    def p(self) -> float:
        """The exponent p."""
        return POWERS[self.power]

    @property
    def is_sparse(self) -> bool:
        """Whether it sets weights to 0, so that a working set pays."""
        return self.p <= 1

    # ------------------------------------------------------------------ values

    def sizes(self, u: Floats) -> Floats:
        """Return the penalty of each weight."""
        if self.p == 0:
            return np.where(u != 0, self.lam, 0.0)
        return self.lam * np.abs(u) ** self.p

    def value(self, u: Floats) -> float:
        """Return the penalty."""
        return float(self.sizes(u).sum())

    def dual_scaling(self, v: Floats) -> float:
        """Return the largest t for which the conjugate is finite at t * v (the dual scaling)."""
        if self.p > 1:
            return np.inf
        ratio = np.abs(v) / self.lam
        return 1.0 / float(ratio.max(initial=0.0)) if ratio.any() else np.inf

    def conjugates(self, v: Floats) -> Floats:
        """Return sup_u (u v - lam |u|^p) of each weight, for v in the domain."""
        if self.p == 1:
            return np.zeros_like(v)
        # the supremum is where v = p lam |u|^(p - 1), the derivative
        size = (np.abs(v) / (self.p * self.lam)) ** (1.0 / (self.p - 1))
        return self.lam * (self.p - 1) * size**self.p

    def conjugate(self, v: Floats) -> float:
        """Return the conjugate of the penalty at v, which is in its domain."""
        return float(self.conjugates(v).sum())

    def gap(self, u: Floats, v: Floats) -> float:
        """Return the Fenchel-Young gap penalty(u) + conjugate(v) - u.v, from non-negative terms."""
        terms = self.sizes(u) + self.conjugates(v) - u * v
        return float(np.maximum(terms, 0.0).sum())

    # ------------------------------------------------------------------ steps

    def prox(self, t: Floats, step: float | Floats) -> Floats:
        """Return the x that minimises 1/2 (x - t)^2 + step lam |x|^p, for each weight."""
        return np.copysign(_shrunk(self.p, np.abs(t), self.lam * step), t)

    def left(self, u: Floats, v: Floats, h: Floats) -> Floats:
        """Return the possible decrease of the objective by each weight alone.

        Parameters
        ----------
        u, v, h : ndarray, shape (d,)
            Weights, minus the gradient of the loss, and the diagonal of its Hessian.
        """
        safe = np.where(h > 0, h, 1.0)
        x = np.where(h > 0, self.prox(u + v / safe, 1.0 / safe), 0.0)
        change = x - u
        return np.maximum(v * change - 0.5 * h * change**2 + self.sizes(u) - self.sizes(x), 0.0)

    def derivatives(self, u: Floats) -> tuple[Floats, Floats]:
        """Return the gradient and the Hessian of the penalty; no weight is 0."""
        rise = self.p * self.lam * np.abs(u) ** (self.p - 1)
        return np.copysign(rise, u), np.diag((self.p - 1) * rise / np.abs(u))

    # ------------------------------------------------------------------ descent

    @property
    def n_blocks(self) -> int:
        """The number of weights: each is its own block."""
        return len(self.lam)

    def used(self, u: Floats) -> NDArray[np.bool_]:
        """Return the mask of non-zero weights."""
        return np.not_equal(u, 0.0)

    def columns_of(self, blocks: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the columns of the given blocks."""
        return blocks

    def part(self, blocks: NDArray[np.intp]) -> LpPenalty:
        """Return the penalty restricted to the given blocks."""
        return LpPenalty(self.power, self.lam[blocks])

    def violations(self, v: Floats) -> Floats:
        """Return the violation of the optimality condition of each weight if it is 0."""
        return np.abs(v) - self.lam

    def descent(self, blocks: NDArray[np.intp], h: Floats) -> Descent:
        """Return coordinate descent over the given blocks; see ``native.lp_descent``."""
        power, lam = self.power, self.lam[blocks]

        def descend(u: Floats, g: Floats, enough: float, most: int) -> tuple[int, float]:
            return native.lp_descent(power, h, lam, enough, most, u, g)

        return descend

    def follow_barrier(self, h: Floats, u: Floats, g: Floats, size: float) -> None:
        """Move u close to the minimum if p = 1; for p > 1 Newton's method is enough."""
        if self.p == 1:
            follow_barrier(h, u, g, np.arange(len(u)), self.lam, size)


def _shrunk(p: float, t: Floats, mu: Floats) -> Floats:
    """Return the prox, the x >= 0 that minimises 1/2 (x - t)^2 + mu x^p, for t >= 0."""
    if p == 1:
        return np.maximum(t - mu, 0.0)
    if p > 1:
        return _root(p, t, mu)
    bound = (2 - p) / (2 * (1 - p)) * (2 * mu * (1 - p)) ** (1 / (2 - p))
    if p == 0:
        return np.where(t > bound, t, 0.0)
    return np.where(t > bound, _root(p, np.maximum(t, bound), mu), 0.0)


def _root(p: float, t: Floats, mu: Floats) -> Floats:
    """Return the largest root of x - t + p mu x^(p - 1), by Newton's method in w = x^(1/q)."""
    if p == 2:
        return t / (1 + 2 * mu)
    if p == 1.5:
        a = 1.5 * mu
        w = 2 * t / np.where(t > 0, a + np.sqrt(a * a + 4 * t), 1.0)
        return w * w
    q = 2 if p == 0.5 else 3
    # w^q + p mu w^(q (p - 1)) - t, times a power of w that leaves a polynomial
    low = round(q * (p - 1))
    shift = max(0, -low)
    w = t ** (1 / q)
    if p > 1:
        w = np.minimum(w, np.divide(t, p * mu, out=w.copy(), where=mu > 0))
    for _ in range(60):
        value = w ** (q + shift) + p * mu * w ** (low + shift) - t * w**shift
        gradient = (q + shift) * w ** (q + shift - 1) - shift * t * w ** max(shift - 1, 0)
        gradient += (low + shift) * p * mu
        ahead = (gradient > 0) & (value > 0)
        nearer = w - np.divide(value, gradient, out=np.zeros_like(w), where=ahead)
        if not (nearer < w).any():
            break
        w = nearer
    return w**q
