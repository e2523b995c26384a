"""Newton's method for the weights that are not 0, where the penalty is smooth.

Passes find out which blocks these are; where columns are alike they then move slowly along each
other, and one set of linear equations goes the rest of the way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from separable.linalg.cholesky import Cholesky

if TYPE_CHECKING:
    from separable.typing import Floats


__all__ = ["SmoothPart", "newton_on_used"]

#: Steps, halvings of one, and the share of the size of the objective at which they end.
MAX_STEPS, MAX_HALVINGS, MIN_GAIN = 3, 6, 1e-28


class SmoothPart(Protocol):
    """A penalty of some columns where it is smooth."""

    @property
    def n_blocks(self) -> int:
        """The number of blocks."""

    def value(self, u: Floats) -> float:
        """Return the penalty."""

    def derivatives(self, u: Floats) -> tuple[Floats, Floats]:
        """Return the slope and the second derivatives of the penalty, no weight being 0."""


def newton_on_used(h: Floats, u: Floats, g: Floats, penalty: SmoothPart) -> float:
    """Lower 1/2 u'hu + penalty(u), given u without zeros and its pull g, both changed.

    Where a whole step does not help, as along columns that say the same, it ends at the first
    weight that becomes 0. Returns how far the objective fell.
    """
    fallen = 0.0
    for _ in range(MAX_STEPS):
        gradient, hessian = penalty.derivatives(u)
        if not (np.isfinite(gradient).all() and np.isfinite(hessian).all()):
            break
        direction = Cholesky(h + hessian).solve(g - gradient)
        h_direction = h @ direction
        value, bent = penalty.value(u), max(0.0, 0.5 * float(direction @ h_direction))
        length, gain = 1.0, 0.0
        for _ in range(MAX_HALVINGS):
            new = u + length * direction
            gain = length * float(g @ direction) - length**2 * bent + value - penalty.value(new)
            if gain > 0:
                break
            length, gain = 0.5 * length, 0.0
        if gain <= 0:
            return fallen + _to_first_zero(u, g, direction, h_direction, penalty)
        if gain <= MIN_GAIN * (abs(value) + bent):
            break
        u += length * direction
        g -= length * h_direction
        fallen += gain
    return fallen


def _to_first_zero(
    u: Floats, g: Floats, direction: Floats, h_direction: Floats, penalty: SmoothPart
) -> float:
    """Go as far as the first block of one weight that becomes 0, and leave it there if it helps."""
    shrinks = u * direction < 0
    if penalty.n_blocks < len(u) or not shrinks.any():
        return 0.0
    lengths = np.divide(-u, direction, out=np.full_like(u, np.inf), where=shrinks)
    first = int(np.argmin(lengths))
    length = float(lengths[first])
    new = u + length * direction
    new[first] = 0.0
    bent = max(0.0, 0.5 * float(direction @ h_direction))
    gain = length * float(g @ direction) - length**2 * bent + penalty.value(u) - penalty.value(new)
    if length >= 1 or not gain > 0:
        return 0.0
    u[:] = new
    g -= length * h_direction
    return gain
