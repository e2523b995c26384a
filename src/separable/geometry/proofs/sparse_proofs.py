"""Small proofs: a weakly separating direction on few columns, multipliers on few vectors.

The direction is exact on the boundary and has short coordinates. Adding columns preserves
separability. So bisection finds the shortest prefix of the columns, by decreasing weight, with the
same boundary; then each column is removed once if possible. This part is floating point; the proof
is built from its result.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from separable.geometry.cone.cone_rows import WrittenRows
from separable.geometry.cone.dependencies import (
    MAX_NULL_ENTRIES,
    MIN_SAMPLE,
    column_powers,
    find_dependencies,
    independent_rows,
    spanning,
)
from separable.geometry.proofs.checks import separates_weakly
from separable.geometry.search.facial_reduction import reduce_many
from separable.linalg.exact import cleared
from separable.linalg.lstsq import lstsq, nonnegative_squares

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from separable.geometry.cone.cone_rows import ConeRows
    from separable.typing import Floats, Indices

__all__ = [
    "cancelling",
    "sparse_direction",
    "sparse_multipliers",
    "tidy_direction",
    "tidy_sparse_direction",
]

#: Binary digits to round coordinates to; the first that works is used.
DIGITS = (2, 6, 14, 30, 53)
#: Maximum number of dense entries of a search for a sparser direction.
MAX_ENTRIES = 1_000_000
#: Up to this many columns, each is removed once if possible; with more, only the prefix is used.
MAX_SINGLE_REMOVALS = 20
#: The same maximum where a direction is known, since the search doubles the time.
MAX_SPARSIFIED = 100_000
#: Coefficients below this fraction of the largest may be rounding errors.
COEFFICIENT_TOLERANCE = 1e-12


def tidy_direction(
    cone: ConeRows, u: Floats, boundary: Indices, only: Indices | None = None
) -> tuple[Floats, Indices] | None:
    """Return a direction close to u, in floats that are exact if possible, and its boundary.

    Parameters
    ----------
    cone : ConeRows
        The original vectors.
    u : ndarray, shape (D,)
        z.u is positive except on the boundary, where it is about 0.
    boundary : ndarray of int
    only : ndarray of int, optional
        The coordinates that may be non-zero. None: all.

    Returns
    -------
    u, boundary : ndarray, ndarray of int
        None if no direction is found that is exactly 0 on the boundary and positive elsewhere.
    """
    if _is_short(u) and separates_weakly(cone, u, boundary):
        return u, boundary
    independent = spanning(cone, boundary)
    only = np.arange(cone.dimension) if only is None else only
    result = (
        find_dependencies(cone.take(independent)[:, only]) if _is_small(cone, independent) else None
    )
    if result is not None and result.null:
        null, factors = _sparse_parts(cone, result.null, u, boundary, only)
        floats = np.zeros(cone.dimension)
        finite = [each for each in factors if np.isfinite(each).all()]
        for coefficients, digits in product(finite, DIGITS):
            exact = _sum(null, [_short(factor, digits) for factor in coefficients], len(only))
            floats[only] = _floats(exact)
            if separates_weakly(cone, floats, boundary):
                return floats, boundary
    return (u, boundary) if separates_weakly(cone, u, boundary) else None


def tidy_sparse_direction(
    cone: ConeRows, u: Floats, boundary: Indices, column: Indices
) -> tuple[Floats, Indices] | None:
    """Return `tidy_direction`, with fewer columns if possible; see `sparse_direction`."""
    tidy = tidy_direction(cone, u, boundary)
    if tidy is None:
        return None
    fewer = sparse_direction(cone, tidy[0], boundary, column, MAX_SPARSIFIED)
    if fewer is None:
        return tidy
    return tidy_direction(cone, fewer, boundary, np.flatnonzero(fewer)) or tidy


def sparse_direction(
    cone: ConeRows, u: Floats, boundary: Indices, column: Indices, most: int = MAX_ENTRIES
) -> Floats | None:
    """Return a direction with fewer columns than u, or None if none is found.

    Parameters
    ----------
    cone : ConeRows
        The original vectors.
    u : ndarray, shape (D,)
        z.u > 0 except on the boundary.
    boundary : ndarray of int
        May be empty.
    column : ndarray of int, shape (D,)
        The column of each coordinate; -1 for intercepts, which do not count.
    most : int
        Maximum number of dense entries.

    Examples
    --------
    >>> cone = WrittenRows(np.array([[1.0, 0.2, 3.0], [2.0, 0.1, -3.0], [2.0, 0.2, 0.0]]))
    >>> u = sparse_direction(cone, np.array([1.0, 1.0, 0.1]), np.zeros(0, int), np.arange(3))
    >>> np.flatnonzero(u)
    array([0])
    """
    used = np.unique(column[(u != 0) & (column >= 0)])
    if len(used) < 2 or cone.size * cone.dimension > most:
        return None
    subset = _ColumnSubset(cone, boundary, column)
    weight = np.abs(u) / subset.power
    order = used[np.argsort([-weight[column == j].max() for j in used], kind="stable")]
    low, high = 0, len(order)
    best = None
    while high - low > 1:
        middle = (low + high) // 2
        result = subset.direction(order[:middle])
        low, high, best = (middle, high, best) if result is None else (low, middle, result)
    kept = order[:high]
    if len(kept) <= MAX_SINGLE_REMOVALS:
        for j in kept[::-1]:
            result = subset.direction(kept[kept != j])
            if result is not None:
                kept, best = kept[kept != j], result
    return best


class _ColumnSubset:
    """Facial reduction restricted to some columns."""

    def __init__(self, cone: ConeRows, boundary: Indices, column: Indices) -> None:
        vectors = cone.take(np.arange(cone.size))
        self.power = column_powers(vectors)
        self._vectors, self._column = vectors * self.power, column
        self._boundary = np.zeros(cone.size, bool)
        self._boundary[boundary] = True

    def direction(self, columns: Indices) -> Floats | None:
        """Return a direction in some columns with the same boundary, if there is one."""
        mask = np.isin(self._column, columns) | (self._column < 0)
        if not self._vectors[:, mask].any():
            return None
        result = reduce_many(WrittenRows(self._vectors[:, mask]))
        if (
            result.u is None
            or not result.ended
            or not np.array_equal(result.boundary, self._boundary)
        ):
            return None
        u = np.zeros(len(mask))
        u[mask] = result.u * self.power[mask]
        return u


def _is_small(cone: ConeRows, independent: Indices) -> bool:
    """Return whether the orthogonal directions are few enough to be stored."""
    return (cone.dimension - len(independent)) * cone.dimension <= MAX_NULL_ENTRIES


def _is_short(u: Floats) -> bool:
    """Return whether all coordinates but the intercept have few digits."""
    digits = np.ldexp(np.frexp(u)[0], DIGITS[-2])
    return bool(np.count_nonzero(digits != np.rint(digits)) <= 1 < np.count_nonzero(u))


def _sparse_parts(
    cone: ConeRows, null: Sequence[Sequence[Fraction]], u: Floats, boundary: Indices, only: Indices
) -> tuple[list[Sequence[Fraction]], list[Floats]]:
    """Return directions, sparse ones first, and coefficients whose combination acts like u.

    Coefficients come without those that may be rounding errors, and then with them. Directions may
    differ by one orthogonal to all vectors, as for a one-hot code next to an intercept: only the
    shortest of these are used.
    """
    off = np.ones(cone.size, bool)
    off[boundary] = False
    vectors = cone.take(spanning(cone, np.flatnonzero(off)))[:, only]
    power = column_powers(vectors)
    order = [_of_size_one(vector, power) for vector in null]
    order.sort(key=lambda vector: sum(number != 0 for number in vector))
    table = np.array([[float(number) if number else 0.0 for number in vector] for vector in order])
    parts = vectors @ table.T
    chosen: list[int] = []
    left = parts / np.where((size := np.abs(parts).max(axis=0)) > 0, size, 1.0)
    for index in range(left.shape[1]):
        length = float(np.linalg.norm(left[:, index]))
        if length <= 1e-9 * np.sqrt(len(left)):
            continue
        chosen.append(index)
        unit = left[:, index] / length
        left[:, index + 1 :] -= np.outer(unit, unit @ left[:, index + 1 :])
    basis, target = parts[:, chosen], vectors @ u[only]
    if not (np.isfinite(basis).all() and np.isfinite(target).all()):
        return [order[index] for index in chosen], []
    factors = lstsq(basis, target, cond=max(basis.shape) * np.finfo(float).eps)
    part = np.abs(factors) * np.abs(parts[:, chosen]).max(axis=0)
    large = np.where(part > COEFFICIENT_TOLERANCE * part.max(initial=0.0), factors, 0.0)
    return [order[index] for index in chosen], [large, factors]


def _of_size_one(vector: Sequence[Fraction], power: Floats) -> list[Fraction]:
    """Return a vector scaled by a power of two to a size of about 1, in scaled columns."""
    parts = [(number, p) for number, p in zip(vector, power, strict=True) if number]
    largest = max(abs(number) / Fraction(float(p)) for number, p in parts)
    exponent = largest.numerator.bit_length() - largest.denominator.bit_length()
    factor = Fraction(2) ** -exponent
    return [number * factor if number else number for number in vector]


def _sum(
    vectors: Sequence[Sequence[Fraction]], factors: Sequence[Fraction], size: int
) -> list[Fraction]:
    total = [Fraction(0)] * size
    for vector, factor in zip(vectors, factors, strict=True):
        if factor:
            total = [t + factor * v if v else t for t, v in zip(total, vector, strict=True)]
    return total


def _short(number: float, digits: int) -> Fraction:
    fraction, exponent = np.frexp(number)
    return Fraction(round(float(fraction) * 2**digits)) * Fraction(2) ** (int(exponent) - digits)


def _floats(exact: Sequence[Fraction]) -> Floats:
    """Return a multiple in floats: integers if none is rounded, else scaled by a power of two.

    Then short coordinates are unchanged, and the others follow from them (`snapped`).
    """
    wholes = cleared(list(exact))
    if max(abs(number) for number in wholes) < 2**53:
        return np.array(wholes, dtype=np.float64)
    largest = max(abs(number) for number in exact)
    exponent = largest.numerator.bit_length() - largest.denominator.bit_length()
    scale = Fraction(2) ** -exponent
    return np.array([float(number * scale) for number in exact])


#: Maximum number of entries for the search of a minimal cancelling set.
MAX_CANCELLING_ENTRIES = 1 << 22
#: Largest relative residual of the cancelled sum.
RESIDUAL_TOLERANCE = 1e-9


def sparse_multipliers(cone: ConeRows, a: Floats) -> tuple[Indices, Floats]:
    """Return few vectors and positive multipliers that cancel, from cancelling multipliers a.

    The negative sum of a basis is a non-negative combination of at most rank many vectors
    (Caratheodory).
    """
    chosen = np.flatnonzero(a)
    limit = max(MIN_SAMPLE, 4 * cone.dimension)
    if len(chosen) <= limit:
        return chosen, a[chosen]
    independent = spanning(cone, chosen)
    vectors = cone.take(independent)
    rank = np.linalg.matrix_rank(vectors * column_powers(vectors))
    basis = independent[independent_rows(vectors * column_powers(vectors), int(rank))]
    random = np.random.default_rng(0)
    probability = a[chosen] / a[chosen].sum()
    size = limit
    while size < len(chosen):
        sample = random.choice(chosen, size, replace=False, p=probability)
        result = _opposite(cone, basis, np.unique(np.append(sample, independent)))
        if result is not None:
            return result
        size *= 4
    return chosen, a[chosen]


def cancelling(cone: ConeRows, a: Floats, first: Floats) -> Iterator[tuple[Indices, Floats]]:
    """Yield candidate vectors and multipliers for a proof of overlap, the best first."""
    yield sparse_multipliers(cone, a)
    yield sparse_multipliers(cone, first)
    yield _circle(cone, a)


def _circle(cone: ConeRows, a: Floats) -> tuple[Indices, Floats]:
    """Return few vectors that cancel: the heaviest, and a combination equal to its negative.

    Empty if there are too many numbers, or if no such combination is found.
    """
    chosen = np.flatnonzero(a)
    nothing = np.zeros(0, np.intp), np.zeros(0)
    vectors = cone.take_occupied(chosen)[0] if len(chosen) <= MIN_SAMPLE else np.zeros((0, 0))
    if not 0 < vectors.size <= MAX_CANCELLING_ENTRIES:
        return nothing
    vectors = vectors * column_powers(vectors)
    first = int(np.argmax(a[chosen]))
    others = np.delete(np.arange(len(chosen)), first)
    solved = nonnegative_squares(vectors[others].T, -vectors[first])
    if solved is None:
        return nothing
    result, left = solved
    if left > RESIDUAL_TOLERANCE * np.abs(vectors[first]).max(initial=0.0):
        return nothing
    used = result > 0
    return chosen[np.append(first, others[used])], np.append(1.0, result[used])


def _opposite(cone: ConeRows, basis: Indices, candidates: Indices) -> tuple[Indices, Floats] | None:
    total = cone.take(basis).sum(axis=0)
    vectors = cone.take(candidates)
    power = column_powers(vectors)
    scaled, target = vectors * power, -total * power
    size = np.sqrt(np.einsum("ij,ij->i", scaled, scaled))
    size = np.where(size > 0, size, 1.0)
    solved = nonnegative_squares((scaled / size[:, None]).T, target, 20 * len(target))
    if solved is None:
        return None
    result, left = solved
    if left > RESIDUAL_TOLERANCE * np.abs(target).max():
        return None
    a = np.zeros(cone.size)
    a[candidates] = result / size
    a[basis] += 1.0
    chosen = np.flatnonzero(a)
    return chosen, a[chosen]
