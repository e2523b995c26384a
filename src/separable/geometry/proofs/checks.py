"""Checks of proofs, on the original vectors and nothing else.

Rounding errors are bounded or avoided: see `exact_signs` and `proved_cancelling`. Verdicts that no
float64 numbers prove have exact integers, which are checked without rounding; the floats of the
proof are the rounded integers.

Cancelling multipliers a_i > 0 with sum_i a_i z_i = 0 are proved from approximate ones. Choose a
basis among the vectors, keep the multipliers of the others, and solve a square system for those of
the basis. Either a bound shows that its solution is close enough to the floats to be positive, or
it is solved in integers.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.geometry.cone.dependencies import (
    column_powers,
    find_dependencies,
    independent_rows,
    is_wide,
    pivoted,
    solved_pivots,
    spanning,
)
from separable.geometry.proofs.signs import exact_signs, nearest_float, rounding
from separable.linalg.exact import (
    null_vectors,
    pivot_columns,
    solve_whole,
    whole_columns,
    whole_vectors,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from separable.geometry.cone.cone_rows import ConeRows
    from separable.geometry.cone.dependencies import Dependencies
    from separable.geometry.cone.signed_rows import SignedRows
    from separable.typing import Floats, Indices

__all__ = [
    "ExactNumbers",
    "annihilates",
    "cancels",
    "cancels_exactly",
    "exact_distances",
    "exact_rank",
    "full_rank",
    "has_signs",
    "overlaps",
    "proved_cancelling",
    "separates",
    "separates_weakly",
    "snapped",
    "solved_cancelling",
    "whole_margins",
]

#: Largest residual of the sum, relative to the sum of magnitudes.
RESIDUAL_TOLERANCE = 1e-8
#: Up to this rank, the multipliers are solved in integers if the bound fails.
MAX_SOLVED_RANK = 40
#: Up to this rank they are solved in integers on request: half a minute.
MAX_EXACT_RANK = 150


def proved_cancelling(vectors: Floats, a: Floats, *, exact: bool) -> Dependencies | None:
    """Prove that positive multipliers close to a cancel; None if the proof fails.

    Parameters
    ----------
    vectors : ndarray, shape (k, D)
    a : ndarray, shape (k,)
        Above 0.
    exact : bool
        Whether to solve for them in integers instead of bounding their distance. If the bound
        fails and the rank is small, this is done anyway.

    Returns
    -------
    Dependencies or None
        Dependencies of the columns; the rank of the vectors is proved to be its ``rank``.

    Examples
    --------
    >>> vectors = np.array([[1.0, 1.0], [1.0, -1.0], [-3.0, 0.1]])
    >>> proved_cancelling(vectors, np.array([1.45, 1.55, 1.0]), exact=True).rank
    2
    >>> proved_cancelling(vectors[:2], np.array([1.0, 1.0]), exact=True) is None
    True
    >>> proved_cancelling(np.zeros((1, 2)), np.array([1.0]), exact=True).rank
    0
    """
    if len(a) == 0 or not (np.isfinite(a) & (a > 0)).all():
        return None
    nonzero = vectors.any(axis=1)  # zero vectors cancel with any multiplier
    if not nonzero.any():
        return find_dependencies(vectors)
    vectors, a = vectors[nonzero], a[nonzero]
    result = find_dependencies(vectors)
    if result is None:
        return None
    part = vectors[:, result.pivots]
    part = part * column_powers(part)
    if (
        len(a) <= result.rank
        or (np.abs(part.T @ a) > RESIDUAL_TOLERANCE * (np.abs(part.T) @ a)).any()
    ):
        return None
    if exact and result.rank > MAX_EXACT_RANK:
        raise NotImplementedError(
            f"The proof has multipliers on rows of rank {result.rank}; rational arithmetic solves "
            f"for them up to rank {MAX_EXACT_RANK}. verify(X, y) without exact=True bounds "
            "rounding instead, which is a proof too."
        )
    basis = independent_rows(part, result.rank, a)
    if not exact and _is_near(part, a, basis):
        return result
    if not exact and result.rank > MAX_SOLVED_RANK:
        return None
    if _solves(part, a, basis):
        return result
    # for nearly dependent columns floating point may choose a poor basis
    is_solved = result.rank <= MAX_SOLVED_RANK and _solves(part, a, _heaviest_basis(part, a))
    return result if is_solved else None


def solved_cancelling(vectors: Floats, a: Floats) -> bool:
    """Return whether positive multipliers close to a cancel, for few vectors with many columns.

    The multipliers of a basis are solved in integers and the sum is computed exactly in every
    column, so the dependencies among the columns are not needed.

    Examples
    --------
    >>> wide = np.random.default_rng(0).standard_normal((2, 3000))
    >>> solved_cancelling(np.vstack([wide, -wide]), np.ones(4))
    True
    >>> solved_cancelling(np.vstack([wide, -wide[:1]]), np.ones(3))
    False
    """
    if len(a) == 0 or not (np.isfinite(a) & (a > 0)).all():
        return False
    power = column_powers(vectors)
    _, order, rank = pivoted(vectors * power)
    if rank > MAX_SOLVED_RANK:
        return False
    part = (vectors * power)[:, order[:rank]]
    solved = _solved(part, a, independent_rows(part, rank, a))
    if solved is None or not all(number > 0 for number in solved):
        return False
    return not (np.array(solved, dtype=object) @ whole_columns(vectors)[0]).any()


def _is_near(part: Floats, a: Floats, basis: Indices) -> bool:
    """Return whether the basis multipliers that make the sum 0 are provably positive.

    With V about the inverse of the basis B and E = I - VB of norm below 1, B has an inverse, and
    the change B'^-1 r is at most |V'| (|r| + |E'| |r| / (1 - |E'|)).
    """
    square = part[basis]
    rank = len(basis)
    try:
        inverse = np.linalg.inv(square)
    except np.linalg.LinAlgError:
        return False
    magnitudes = np.abs(inverse) @ np.abs(square)
    wrong = np.abs(np.eye(rank) - inverse @ square) + rounding(rank + 1, magnitudes)
    error = float(wrong.sum(axis=0).max()) * 1.01
    if not error < 0.5:
        return False
    left = np.abs(part.T @ a) + rounding(len(a), np.abs(part.T) @ a)
    left = left + error / (1.0 - error) * left.max()
    change = (np.abs(inverse.T) @ left) * (1.0 + 1e-6)
    return bool((change < a[basis]).all())


def _heaviest_basis(part: Floats, a: Floats) -> Indices:
    """Return exactly independent vectors, greedily by decreasing multiplier."""
    weight = a * np.sqrt(np.einsum("ij,ij->i", part, part))
    order = np.argsort(-weight, kind="stable")
    wholes, _ = whole_columns(part[order])
    return np.sort(order[pivot_columns(wholes.T)])


def _solves(part: Floats, a: Floats, basis: Indices) -> bool:
    """Solve for the multipliers of the basis in integers; return whether all are positive."""
    solved = _solved(part, a, basis)
    return solved is not None and all(number > 0 for number in solved)


def _solved(part: Floats, a: Floats, basis: Indices) -> list[int] | None:
    """Return cancelling integer multipliers, solving for those of the basis."""
    wholes, _ = whole_columns(part)
    multipliers, _ = whole_columns(a[:, None])
    others = np.ones(len(a), bool)
    others[basis] = False
    right = -(multipliers[others, 0] @ wholes[others])
    result = solve_whole(wholes[basis].T, np.asarray(right))
    if result is None:
        return None
    solved = multipliers[:, 0] * result[1]
    solved[basis] = result[0]
    return [int(number) for number in solved]


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
