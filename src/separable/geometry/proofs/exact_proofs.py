"""Whole numbers that prove a verdict, where float64 holds no direction or multipliers that do.

Checked without rounding, on vectors as they came. Floats beside them are these numbers rounded.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.geometry.proofs.checks import annihilates
from separable.geometry.proofs.signs import exact_signs, nearest_float
from separable.linalg.exact import null_vectors, whole_columns, whole_vectors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from separable.geometry.cone.cone_rows import ConeRows
    from separable.geometry.cone.signed_rows import SignedRows
    from separable.typing import Floats, Indices

__all__ = [
    "ExactNumbers",
    "cancels_exactly",
    "exact_distances",
    "exact_rank",
    "has_signs",
    "whole_margins",
]

#: Distances beyond it are cut to it.
LARGEST_FLOAT = float(np.finfo(np.float64).max)


@dataclass(frozen=True, repr=False)
class ExactNumbers:
    """Whole numbers that a proof is checked with.

    Parameters
    ----------
    direction : tuple of int
        A positive multiple of weights and intercept, in this order; of several classes those of
        each class but the first, one after the other. Empty in a proof of overlap.
    multipliers : tuple of int
        One for each of the proof's ``rows``. Empty in a proof of separation.
    """

    direction: tuple[int, ...] = ()
    multipliers: tuple[int, ...] = ()

    def __repr__(self) -> str:
        u, a = len(self.direction), len(self.multipliers)
        return f"ExactNumbers(direction=<{u} whole numbers>, multipliers=<{a} whole numbers>)"

    def to_dict(self) -> dict[str, list[str]]:
        """Return the numbers as texts of decimal digits: they may be longer than a float's."""
        return {
            "direction": [str(number) for number in self.direction],
            "multipliers": [str(number) for number in self.multipliers],
        }


def has_signs(cone: ConeRows, direction: Sequence[int], boundary: Indices) -> bool:
    """Return whether z.u is 0 on the boundary and above 0 elsewhere, without rounding."""
    if len(direction) != cone.dimension:
        return False
    expected = np.ones(cone.size, dtype=np.int8)
    expected[boundary] = 0
    signs = exact_signs(cone, [Fraction(number) for number in direction])
    return bool(expected.any()) and np.array_equal(signs, expected)


def cancels_exactly(cone: ConeRows, chosen: Indices, a: Sequence[int]) -> bool:
    """Return whether multipliers, all above 0, cancel, without rounding."""
    if not len(a) == len(chosen) > 0 or not all(number > 0 for number in a):
        return False
    wholes, _ = whole_columns(cone.take(chosen))
    return not (np.array(a, dtype=object) @ wholes).any()


def exact_rank(cone: ConeRows, chosen: Indices) -> int | None:
    """Return the rank of some vectors if it is that of all, without rounding."""
    wholes, _, powers = whole_vectors(cone.take(chosen))
    pivots, null = null_vectors(wholes)
    units = [Fraction(2) ** -int(power) for power in powers]
    directions = [[x * p for x, p in zip(u, units, strict=True)] for u in null]
    return len(pivots) if annihilates(cone, directions) else None


def exact_distances(
    cone: ConeRows, direction: Sequence[int], normals: NDArray[Any], which: Indices
) -> Floats:
    """Return z.u over the length of the normal of each vector, rounded at the end.

    What is beyond the largest float is that float.

    Parameters
    ----------
    cone : ConeRows
    direction : sequence of int
    normals : ndarray of int (dtype object), shape (k, d)
    which : ndarray of int, shape (m,)
        The normal of each vector.
    """
    wholes, powers = whole_columns(cone.take(np.arange(cone.size)))
    least = int(powers.min(initial=0))
    factors = [x << (int(p) - least) for x, p in zip(direction, powers, strict=True)]
    scores = wholes @ np.array(factors, dtype=object)
    lengths = [_length(normal) for normal in normals]
    result = np.empty(cone.size)
    for i, (score, k) in enumerate(zip(scores.tolist(), which.tolist(), strict=True)):
        number, power = lengths[k]
        result[i] = nearest_float(Fraction(score) * Fraction(2) ** (least - power)) / number
    return np.clip(result, -LARGEST_FLOAT, LARGEST_FLOAT)


def whole_margins(cone: SignedRows, direction: Sequence[int]) -> tuple[Floats, float]:
    """Return the margin of every row, and the smallest, rounded down."""
    normal = np.array([direction[: cone.rows.n_features]], dtype=object)
    margins = exact_distances(cone, direction, normal, np.zeros(cone.size, np.intp))
    return margins, float(margins.min()) * (1.0 - 1e-14)


def _length(numbers: NDArray[Any]) -> tuple[float, int]:
    """Return the length of a vector of whole numbers as a float times a power of two."""
    power = max(int(abs(number)).bit_length() for number in numbers)
    scale = Fraction(2) ** -power
    return float(np.linalg.norm([float(number * scale) for number in numbers])) or 1.0, power
