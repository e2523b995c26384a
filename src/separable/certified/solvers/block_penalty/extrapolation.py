"""Anderson extrapolation of block coordinate descent (Bertrand and Massias, 2021).

Once the support is found, passes are nearly linear maps: the affine combination of the last
iterates whose residual is smallest is much closer to the optimum. It is taken only if it lowers the
objective.
"""

from __future__ import annotations

import numpy as np

from separable.penalties.base import BlockPenalty, Descent
from separable.typing import Floats

#: Passes before the first extrapolation, and between two.
FIRST_PASSES, PASSES = 10, 5
#: Ridge of the equations, relative to their trace.
RIDGE = 1e-10


class Extrapolated:
    """Block coordinate descent with extrapolation; see `Descent`.

    Parameters
    ----------
    penalty : BlockPenalty
        Of the same blocks.
    h : ndarray, shape (d, d)
    """

    def __init__(self, descend: Descent, penalty: BlockPenalty, h: Floats) -> None:
        self._descend, self._penalty, self._h = descend, penalty, h

    def __call__(self, u: Floats, g: Floats, enough: float, most: int) -> tuple[int, float]:
        """Update u and g = q - hu; return the passes, and how much the last one moved."""
        passes, moved = self._descend(u, g, enough, min(FIRST_PASSES, most))
        if moved <= enough or passes >= most:
            return passes, moved
        q = g + self._h @ u
        while moved > enough and passes < most:
            iterates, gradients = [u.copy()], [g.copy()]
            while moved > enough and passes < most and len(iterates) <= PASSES:
                more, moved = self._descend(u, g, enough, 1)
                passes += more
                iterates.append(u.copy())
                gradients.append(g.copy())
            if len(iterates) > PASSES and moved > enough:
                self._extrapolate(np.array(iterates), np.array(gradients), q, u, g)
        return passes, moved

    def _extrapolate(
        self, iterates: Floats, gradients: Floats, q: Floats, u: Floats, g: Floats
    ) -> None:
        """Replace u and g by the extrapolated ones if these have a lower objective."""
        residuals = np.diff(iterates, axis=0)
        products = residuals @ residuals.T
        products[np.diag_indices(PASSES)] += RIDGE * np.trace(products)
        if not products.any() or not np.isfinite(products).all():
            return
        weights = np.linalg.solve(products, np.ones(PASSES))
        weights /= weights.sum()
        new, gradient = weights @ iterates[1:], weights @ gradients[1:]
        if self._value(new, gradient, q) < self._value(u, g, q):
            u[:], g[:] = new, gradient

    def _value(self, u: Floats, g: Floats, q: Floats) -> float:
        return self._penalty.value(u) - 0.5 * float(u @ (q + g))
