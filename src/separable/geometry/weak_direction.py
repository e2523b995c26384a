"""A weak direction as a proof wants it: exactly on the boundary, with short coordinates."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from separable.geometry.dependencies import find_dependencies
from separable.geometry.orthogonal import spanning
from separable.geometry.proof_checks import combined
from separable.geometry.signs import exact_signs
from separable.geometry.whole_numbers import cleared

if TYPE_CHECKING:
    from collections.abc import Sequence

    from separable.geometry.cone_rows import ConeRows, Floats, Places

__all__ = ["tidy_direction"]

#: Binary digits that coordinates are rounded to, the first that does.
DIGITS = (2, 6, 14, 30, 53)


def tidy_direction(cone: ConeRows, u: Floats, boundary: Places) -> tuple[Floats, Places] | None:
    """Return a direction close to u, in floats that are exact where they can be, and its boundary.

    Parameters
    ----------
    cone : ConeRows
        Vectors as they came.
    u : ndarray, shape (D,)
        z.u is above 0 but on the boundary, where it is about 0.
    boundary : ndarray of int

    Returns
    -------
    u, boundary : ndarray, ndarray of int
        None if no direction is found that is exactly 0 on the boundary and above 0 elsewhere.
    """
    found = find_dependencies(cone.take(spanning(cone, boundary)))
    if found is None:
        return None
    null = [vector for vector in found.null if _matters(cone, vector)]
    expected = np.ones(cone.size, dtype=np.int8)
    expected[boundary] = 0
    for digits in DIGITS:
        exact = combined(null, found.pivots, [_short(number, digits) for number in u])
        floats, is_exact = _floats(exact)
        if np.array_equal(exact_signs(cone, floats if is_exact else exact), expected):
            return floats, boundary
    return None


def _matters(cone: ConeRows, vector: Sequence[Fraction]) -> bool:
    """Return whether some vector has a part in a direction, as floats see it."""
    u = np.array([float(number) for number in vector])
    return bool((np.abs(cone.scores(u)) > 1e-9 * cone.magnitudes(u)).any())


def _short(number: float, digits: int) -> Fraction:
    fraction, exponent = np.frexp(number)
    return Fraction(round(float(fraction) * 2**digits)) * Fraction(2) ** (int(exponent) - digits)


def _floats(exact: Sequence[Fraction]) -> tuple[Floats, bool]:
    """Return a multiple in floats, and whether none was rounded."""
    wholes = cleared(list(exact))
    largest = max(abs(number) for number in wholes)
    if largest < 2**53:
        return np.array(wholes, dtype=np.float64), True
    scale = Fraction(2) ** -largest.bit_length()
    return np.array([float(number * scale) for number in wholes]), False
