"""Newton's method on the support, where the penalty is smooth.

Block coordinate descent identifies the support but is slow along nearly collinear columns; a few
Newton steps go the rest of the way.
"""

from __future__ import annotations

import numpy as np

from separable.linalg.cholesky import Cholesky
from separable.penalties.base import BlockPenalty
from separable.typing import Floats

#: Maximum steps, maximum halvings, and the relative gain at which to stop.
MAX_STEPS, MAX_HALVINGS, MIN_GAIN = 3, 6, 1e-28


def newton_on_used(h: Floats, u: Floats, g: Floats, penalty: BlockPenalty) -> float:
    """Decrease 1/2 u'hu - q'u + penalty(u) from u without zeros; update u and g = q - hu.

    If no step length helps, as for collinear columns, the step ends at the first weight that
    becomes 0. Return the decrease of the objective.
    """
    decrease = 0.0
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
            return decrease + _to_first_zero(u, g, direction, h_direction, penalty)
        if gain <= MIN_GAIN * (abs(value) + bent):
            break
        u += length * direction
        g -= length * h_direction
        decrease += gain
    return decrease


def _to_first_zero(
    u: Floats, g: Floats, direction: Floats, h_direction: Floats, penalty: BlockPenalty
) -> float:
    """Step to the first weight that becomes 0, if that decreases the objective."""
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
