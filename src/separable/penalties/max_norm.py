"""The max-norm penalty: value, conjugate, dual scaling and prox."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from separable.typing import Floats


@dataclass(frozen=True)
class MaxPenalty:
    """The max-norm penalty lam max_j |u_j|."""

    lam: float

    def value(self, u: Floats) -> float:
        """Return the penalty."""
        return self.lam * float(np.abs(u).max(initial=0.0))

    def dual_scaling(self, v: Floats) -> float:
        """Return the largest t for which the conjugate is finite at t * v: |t v|_1 <= lam."""
        total = float(np.abs(v).sum())
        return self.lam / total if total > 0 else np.inf

    def conjugate(self, v: Floats) -> float:
        """Return the conjugate of the penalty at v, which is in its domain: 0."""
        del v
        return 0.0

    def gap(self, u: Floats, v: Floats) -> float:
        """Return the Fenchel-Young gap penalty(u) - u.v, from non-negative terms."""
        largest = float(np.abs(u).max(initial=0.0))
        slack = max(self.lam - float(np.abs(v).sum()), 0.0)
        return slack * largest + float(np.maximum(largest * np.abs(v) - u * v, 0.0).sum())

    def prox(self, t: Floats, step: float) -> Floats:
        """Return the x that minimises 1/2 |x - t|^2 + step lam max |x_j|."""
        return t - onto_l1_ball(t, self.lam * step)


def onto_l1_ball(t: Floats, radius: float) -> Floats:
    """Return the projection of t onto the l1 ball of a given radius (Duchi et al., 2008).

    Examples
    --------
    >>> onto_l1_ball(np.array([3.0, -1.0, 0.5]), 3.0).tolist()
    [2.5, -0.5, 0.0]
    """
    size = np.abs(t)
    if float(size.sum()) <= radius:
        return t
    falling = -np.sort(-size)
    bounds = (np.cumsum(falling) - radius) / np.arange(1, len(t) + 1)
    bound = float(bounds[np.flatnonzero(falling > bounds)[-1]])
    nearest: Floats = np.copysign(np.maximum(size - bound, 0.0), t)
    return nearest
