"""Exact integer proofs, for verdicts that no float64 numbers prove.

They are checked without rounding, on the original vectors. The floats of the proof are the rounded
integers.
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

#: Larger distances are clipped to this.
LARGEST_FLOAT = float(np.finfo(np.float64).max)


@dataclass(frozen=True, repr=False)
class ExactNumbers:
    """Exact integers of a proof.

    Parameters
    ----------
    direction : tuple of int
        A positive multiple of weights and intercept, in this order; for several classes, of each
        class but the first. Empty in a proof of overlap.
    multipliers : tuple of int
        One for each of the proof's ``rows``. Empty in a proof of separation.
    """

    direction: tuple[int, ...] = ()
    multipliers: tuple[int, ...] = ()

    def __repr__(self) -> str:
        u, a = len(self.direction), len(self.multipliers)
        return f"ExactNumbers(direction=<{u} whole numbers>, multipliers=<{a} whole numbers>)"

    def to_dict(self) -> dict[str, list[str]]:
        """Return the integers as decimal strings, because they may exceed float64."""
        return {
            "direction": [str(number) for number in self.direction],
            "multipliers": [str(number) for number in self.multipliers],
        }


def has_signs(cone: ConeRows, direction: Sequence[int], boundary: Indices) -> bool:
    """Return whether z.u is 0 on the boundary and positive elsewhere, exactly."""
    if len(direction) != cone.dimension:
        return False
    expected = np.ones(cone.size, dtype=np.int8)
    expected[boundary] = 0
    signs = exact_signs(cone, [Fraction(number) for number in direction])
    return bool(expected.any()) and np.array_equal(signs, expected)


def cancels_exactly(cone: ConeRows, chosen: Indices, a: Sequence[int]) -> bool:
    """Return whether positive multipliers cancel exactly."""
    if not len(a) == len(chosen) > 0 or not all(number > 0 for number in a):
        return False
    wholes, _ = whole_columns(cone.take(chosen))
    return not (np.array(a, dtype=object) @ wholes).any()


def exact_rank(cone: ConeRows, chosen: Indices) -> int | None:
    """Return the exact rank of some vectors if it is that of all."""
    wholes, _, powers = whole_vectors(cone.take(chosen))
    pivots, null = null_vectors(wholes)
    units = [Fraction(2) ** -int(power) for power in powers]
    directions = [[x * p for x, p in zip(u, units, strict=True)] for u in null]
    return len(pivots) if annihilates(cone, directions) else None


def exact_distances(
    cone: ConeRows, direction: Sequence[int], normals: NDArray[Any], which: Indices
) -> Floats:
    """Return z.u divided by the norm of each vector's normal, rounded once.

    Values beyond the largest float are clipped.

    Parameters
    ----------
    cone : ConeRows
    direction : sequence of int
    normals : ndarray of int (dtype object), shape (k, d)
    which : ndarray of int, shape (m,)
        Index of the normal of each vector.
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
    """Return the margins of all rows, and the smallest, rounded down."""
    normal = np.array([direction[: cone.rows.n_features]], dtype=object)
    margins = exact_distances(cone, direction, normal, np.zeros(cone.size, np.intp))
    return margins, float(margins.min()) * (1.0 - 1e-14)


def _length(numbers: NDArray[Any]) -> tuple[float, int]:
    """Return the norm of an integer vector as a float and a power of two."""
    power = max(int(abs(number)).bit_length() for number in numbers)
    scale = Fraction(2) ** -power
    return float(np.linalg.norm([float(number * scale) for number in numbers])) or 1.0, power
