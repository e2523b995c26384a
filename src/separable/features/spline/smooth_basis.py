"""Basis in which a ridge penalty smooths a curve.

The tents of a curve are combinations of a basis: two lines, of x and of its rank, and hats, each
half as wide as the one before and with a smaller scale. This is the construction of Brownian motion
by Levy and Ciesielski: a penalty on the squared weights of the hats is, at `DECAY` 1/2, one on the
squared differences of neighbouring knots. A larger `DECAY` prefers smoother curves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from separable.typing import Floats

__all__ = ["hats", "monotone_basis", "smooth_basis"]

#: The scale of a hat is divided by 2 to this power where its width is halved.
DECAY = 0.75
#: Scale of the widest hat.
HAT_SCALE = 2.0


def smooth_basis(knots: Floats, rows: Floats) -> Floats:
    """Return the values of the basis at the knots, shape (n, n).

    Parameters
    ----------
    knots : ndarray, shape (n,)
    rows : ndarray, shape (n,)
        Training rows at each knot. Over these, both lines have mean 0 and deviation 1.
    """
    n = len(knots)
    lines = [_standardized(values, rows) for values in (knots, np.arange(n, dtype=np.float64))]
    return np.column_stack([*lines, *hats(n, DECAY)])


def monotone_basis(knots: Floats, rows: Floats) -> Floats:
    """Return increasing functions at the knots, whose non-negative combinations are all of these.

    They are the two lines, and ramps, which rise between two knots: over half of the knots, a
    quarter, ..., and from each knot to the next. All have mean 0 over the training rows.

    Parameters
    ----------
    knots : ndarray, shape (n,)
    rows : ndarray, shape (n,)
        Training rows at each knot.

    Returns
    -------
    ndarray, shape (n, 2 n - 2)
        For n >= 3.
    """
    n = len(knots)
    made = [_standardized(values, rows) for values in (knots, np.arange(n, dtype=np.float64))]
    scale, pieces = HAT_SCALE, [(0, n - 1)]
    while pieces:
        halves = [
            half
            for low, high in pieces
            if high - low > 1
            for half in ((low, (low + high) // 2), ((low + high) // 2, high))
        ]
        for low, high in halves:
            ramp = scale * np.interp(np.arange(n), [low, high], [0.0, 1.0])
            made.append(ramp - np.average(ramp, weights=rows))
        scale, pieces = scale * 2.0**-DECAY, halves
    return np.column_stack(made)


def _standardized(values: Floats, rows: Floats) -> Floats:
    """Return values with mean 0 and deviation 1; values that differ by little stay finite."""
    unit = float(np.abs(values - values[0]).max()) or 1.0
    scaled = (values - values[0]) / unit
    centred = scaled - np.average(scaled, weights=rows)
    deviation = float(np.sqrt(np.average(centred**2, weights=rows)))
    result: Floats = centred / (deviation or 1.0)
    return result


def hats(n: int, decay: float) -> Iterator[Floats]:
    """Yield the hats, one for each inner knot: 0 at two knots, and highest halfway between.

    Parameters
    ----------
    n : int
        Number of knots.
    decay : float
        The scale of a hat is divided by 2 to this power where its width is halved.
    """
    scale, pieces = HAT_SCALE, [(0, n - 1)]
    while pieces:
        halves: list[tuple[int, int]] = []
        for low, high in pieces:
            if high - low > 1:
                middle = (low + high) // 2
                yield scale * np.interp(np.arange(n), [low, middle, high], [0.0, 1.0, 0.0])
                halves += [(low, middle), (middle, high)]
        scale, pieces = scale * 2.0**-decay, halves
