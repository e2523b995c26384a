"""Checks of proofs, on the original vectors and nothing else.

Rounding errors are bounded or avoided: see `exact_signs` and `proved_cancelling`.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from separable.geometry.cone.dependencies import find_dependencies, is_wide, solved_pivots
from separable.geometry.cone.orthogonal import spanning
from separable.geometry.proofs.cancelling import proved_cancelling, solved_cancelling
from separable.geometry.proofs.signs import exact_signs, nearest_float

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from separable.geometry.cone.cone_rows import ConeRows
    from separable.typing import Floats, Indices

__all__ = [
    "annihilates",
    "cancels",
    "full_rank",
    "overlaps",
    "separates",
    "separates_weakly",
    "snapped",
]

#: Scores below this fraction of the sum of magnitudes may be 0.
SCORE_TOLERANCE = 1e-8
#: Largest relative change of a score by `snapped`.
SNAP_TOLERANCE = 1e-6


def separates(cone: ConeRows, u: Floats) -> bool:
    """Return whether z_i.u > 0 for all vectors."""
    return bool(np.isfinite(u).all() and (exact_signs(cone, u) == 1).all())


def overlaps(cone: ConeRows, chosen: Indices, a: Floats, rank: int, *, exact: bool) -> bool:
    """Return whether multipliers close to a cancel, on vectors of full rank."""
    return full_rank(cone, chosen, a, exact=exact) == rank


def full_rank(cone: ConeRows, chosen: Indices, a: Floats, *, exact: bool) -> int | None:
    """Return the rank of all vectors if cancelling multipliers close to a have vectors of it."""
    result = proved_cancelling(cone.take(chosen), a, exact=exact)
    return result.rank if result is not None and annihilates(cone, result.null) else None


def cancels(cone: ConeRows, chosen: Indices, a: Floats, *, exact: bool) -> bool:
    """Return whether multipliers close to a cancel, so that nothing separates strictly."""
    vectors = cone.take_occupied(chosen)[0]
    if is_wide(vectors):
        return solved_cancelling(vectors, a)
    return proved_cancelling(vectors, a, exact=exact) is not None


def annihilates(cone: ConeRows, directions: Sequence[Sequence[Fraction]]) -> bool:
    """Return whether z_i.u = 0 for all vectors and all directions u."""
    empty = np.zeros(cone.dimension)
    for u in directions:
        support = [j for j, number in enumerate(u) if number]
        if len(support) == 1:
            empty[support] = 1.0
        elif exact_signs(cone, u).any():
            return False
    return not cone.magnitudes(empty).any()


def separates_weakly(cone: ConeRows, u: Floats, boundary: Indices) -> bool:
    """Return whether z_i.u is 0 on the boundary and positive elsewhere, for u or its `snapped`."""
    expected = np.ones(cone.size, dtype=np.int8)
    expected[boundary] = 0
    if not expected.any() or not np.isfinite(u).all():
        return False
    if np.array_equal(exact_signs(cone, u), expected):
        return True
    far = np.abs(cone.scores(u)) > SCORE_TOLERANCE * cone.magnitudes(u)
    if far[boundary].any():
        return False
    closer = snapped(cone, u, boundary)
    if closer is None or not _are_close(cone, u, closer):
        return False
    return np.array_equal(exact_signs(cone, closer), expected)


def _are_close(cone: ConeRows, u: Floats, closer: Sequence[Fraction]) -> bool:
    """Return whether two directions give all vectors the same scores, up to rounding."""
    apart = [nearest_float(new - Fraction(float(old))) for new, old in zip(closer, u, strict=True)]
    return bool((np.abs(cone.scores(np.array(apart))) <= SNAP_TOLERANCE * cone.magnitudes(u)).all())


def snapped(cone: ConeRows, u: Floats, boundary: Indices) -> list[Fraction] | None:
    """Return a direction close to u that is exactly orthogonal to the vectors of the boundary.

    Floats rarely are. Some coordinates are kept, and the others follow from them; zeros stay 0.
    """
    if len(boundary) == 0:
        return None
    vectors, columns = cone.take_occupied(spanning(cone, boundary))
    weighed = u[columns] != 0
    vectors, support = vectors[:, weighed], columns[weighed]
    numbers = [Fraction(float(number)) for number in u[support]]
    if is_wide(vectors):
        part = solved_pivots(vectors, numbers)
    else:
        result = find_dependencies(vectors)
        part = None if result is None else combined(result.null, result.pivots, numbers)
    if part is None:
        return None
    closer = [Fraction(float(number)) for number in u]
    for index, number in zip(support.tolist(), part, strict=True):
        closer[index] = number
    return closer


def combined(
    null: Sequence[Sequence[Fraction]], pivots: NDArray[np.intp], u: Sequence[Fraction]
) -> list[Fraction]:
    """Return the combination of null vectors that equals u at the non-pivot columns."""
    size = len(u)
    free = np.ones(size, bool)
    free[pivots] = False
    total = [Fraction(0)] * size
    for vector in null:
        own = next(j for j in range(size) if free[j] and vector[j])
        factor = u[own] / vector[own]
        if factor:
            total = [t + factor * v if v else t for t, v in zip(total, vector, strict=True)]
    return total
