"""Linear dependencies of the columns of some vectors, exact, and orthogonal complements in floats.

Collinear columns, such as a one-hot code next to an intercept, leave directions u != 0 with
z_i.u = 0 for all vectors. Floating point only suggests them. Usually their coordinates are small
fractions, which are guessed and checked exactly; others are found by integer elimination.
"""

from __future__ import annotations

from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import qr, solve_triangular

from separable.linalg.exact import (
    cleared,
    lowest_bits,
    null_vectors,
    solve_whole,
    whole_columns,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from separable.typing import Floats, Indices

    Vector = list[Fraction]
    Parts = dict[int, Fraction]
    from numpy.typing import NDArray

    from separable.geometry.cone.cone_rows import ConeRows

__all__ = [
    "MAX_NULL_ENTRIES",
    "MIN_SAMPLE",
    "Dependencies",
    "column_powers",
    "find_dependencies",
    "find_orthogonal",
    "independent_rows",
    "is_wide",
    "null_basis",
    "pivoted",
    "solved_pivots",
    "spanning",
]

#: Relative size below which a column is numerically dependent on the others.
RANK_TOLERANCE = 1e-9
#: Largest guessed denominator, and tolerance of the guess.
MAX_DENOMINATOR, FRACTION_TOLERANCE = 2000, 1e-9
#: Maximum rank for integer elimination.
MAX_EXACT_RANK = 130
#: Up to this rank elimination is repeated if floating point underestimated the rank.
MAX_CORRECTED_RANK = 40
#: Maximum number of entries checked in integers.
MAX_CHECKED = 1 << 23
#: Maximum number of entries of all null vectors.
MAX_NULL_ENTRIES = 1 << 17


class Dependencies:
    """Independent columns and an exact basis of the null space.

    Parameters
    ----------
    pivots : ndarray of int, shape (r,)
        Pivot columns; all others depend on them.
    null : list of list of Fraction
        Exact directions u with z.u = 0 for all vectors, one per non-pivot column.
    """

    def __init__(self, pivots: Indices, null: list[Vector]) -> None:
        self.pivots, self.null = pivots, null

    @property
    def rank(self) -> int:
        """An upper bound on the rank of the vectors."""
        return len(self.pivots)


def column_powers(values: Floats) -> Floats:
    """Return powers of two that scale the largest magnitude of each column to 1 ... 2."""
    largest = np.abs(values).max(axis=0, initial=0.0)
    _, exponent = np.frexp(largest)
    return np.where(largest > 0, np.ldexp(1.0, np.clip(1 - exponent, -1022, 1022)), 1.0)


def find_dependencies(vectors: Floats) -> Dependencies | None:
    """Return the exact dependencies among the columns of some vectors, or None if not found.

    Examples
    --------
    >>> found = find_dependencies(np.array([[1.0, 0, 1], [0, 1, 1], [1, 0, 1]]))
    >>> found.rank, [[str(number) for number in vector] for vector in found.null]
    (2, [['-1', '-1', '1']])
    """
    size = vectors.shape[1]
    if is_wide(vectors):
        return None
    if not vectors.any():
        units = [[Fraction(int(j == k)) for j in range(size)] for k in range(size)]
        return Dependencies(np.zeros(0, np.intp), units)
    power = column_powers(vectors)
    scaled = vectors * power
    triangle, order, rank = pivoted(scaled)
    if rank == size:
        return Dependencies(np.arange(size), [])
    if (size - rank) * size > MAX_NULL_ENTRIES:
        return None
    guess = _guess(triangle, order, rank, size)
    if guess is not None and all(_is_null(scaled, vector) for vector in guess):
        null = [_written(vector, power) for vector in guess]
        return Dependencies(np.sort(order[:rank]), null)
    return _eliminated(vectors, scaled, rank)


def is_wide(vectors: Floats) -> bool:
    """Return whether there are too many more columns than vectors to store the dependencies."""
    count, size = vectors.shape
    return bool((size - count) * size > MAX_NULL_ENTRIES)


def solved_pivots(vectors: Floats, u: Sequence[Fraction]) -> Vector | None:
    """Change rank many coordinates of u so that z.u = 0 for all vectors; return u.

    Examples
    --------
    >>> vectors = np.array([[1.0, 0.0, 2.0], [1.0, 1.0, 0.0]])
    >>> [str(number) for number in solved_pivots(vectors, [Fraction(9), Fraction(1), Fraction(9)])]
    ['-1', '1', '1/2']
    """
    scaled = vectors * column_powers(vectors)
    _, order, rank = pivoted(scaled)
    if rank > MAX_EXACT_RANK:
        return None
    pivots, rows = order[:rank], independent_rows(scaled, rank)
    wholes, exponents = whole_columns(vectors[rows])
    free = np.ones(len(u), bool)
    free[pivots] = False
    factors = [
        number * Fraction(2) ** int(e) if is_free else Fraction(0)
        for number, e, is_free in zip(u, exponents, free, strict=True)
    ]
    common = lcm(*(number.denominator for number in factors))
    right = -(wholes @ np.array([int(number * common) for number in factors], dtype=object))
    result = solve_whole(wholes[:, pivots], right)
    if result is None:
        return None
    changed = list(u)
    for index, number in zip(pivots.tolist(), result[0], strict=True):
        changed[index] = Fraction(number, result[1] * common) / Fraction(2) ** int(exponents[index])
    return changed


def pivoted(scaled: Floats) -> tuple[Floats, Indices, int]:
    """Return R of a pivoted QR decomposition, the column order, and the numerical rank."""
    triangle, order = qr(scaled, mode="r", pivoting=True)
    sizes = np.abs(np.diag(triangle))
    rank = int((sizes > RANK_TOLERANCE * max(sizes.max(initial=0.0), 1e-300)).sum())
    return np.asarray(triangle, dtype=np.float64), order.astype(np.intp), rank


def _guess(triangle: Floats, order: Indices, rank: int, size: int) -> list[Parts] | None:
    """Return null vectors with small denominators, as sparse vectors."""
    depends = solve_triangular(triangle[:rank, :rank], triangle[:rank, rank:])
    vectors = []
    for index in range(size - rank):
        result = _small_fractions(depends[:, index])
        if result is None:
            return None
        vector = {int(order[at]): number for at, number in result.items()}
        vector[int(order[rank + index])] = Fraction(-1)
        vectors.append(vector)
    return vectors


def _small_fractions(numbers: Floats) -> Parts | None:
    """Return close fractions with small denominators, or None."""
    fractions: Parts = {}
    for index in np.flatnonzero(np.abs(numbers) > FRACTION_TOLERANCE).tolist():
        number = float(numbers[index])
        fractions[index] = Fraction(number).limit_denominator(MAX_DENOMINATOR)
        if abs(float(fractions[index]) - number) > FRACTION_TOLERANCE * max(1.0, abs(number)):
            return None
    return {index: number for index, number in fractions.items() if number}


def _written(vector: Parts, power: Floats) -> Vector:
    """Return a dense vector for unscaled columns."""
    whole = [Fraction(0)] * len(power)
    for index, number in vector.items():
        whole[index] = number * Fraction(float(power[index]))
    return whole


def _is_null(scaled: Floats, vector: Parts) -> bool:
    """Return whether all vectors are exactly orthogonal to a direction."""
    support = np.array(sorted(vector), dtype=np.intp)
    factor = np.array(cleared([vector[j] for j in support.tolist()]), dtype=np.float64)
    part = scaled[:, support]
    bits = (lowest_bits(part) + lowest_bits(factor[None])).min()
    largest = (np.abs(part) @ np.abs(factor)).max(initial=0.0)
    if largest < np.ldexp(0.99, int(np.clip(bits + 53, -1000, 1000))):
        return not (part @ factor).any()
    if part.size > MAX_CHECKED:
        return False
    wholes, exponents = whole_columns(part)
    exact = [
        vector[j] * Fraction(2) ** int(e) for j, e in zip(support.tolist(), exponents, strict=True)
    ]
    return not _products(wholes, exact).any()


def _products(wholes: Any, vector: Sequence[Fraction]) -> Any:
    return wholes @ np.array(cleared(list(vector)), dtype=object)


def independent_rows(vectors: Floats, rank: int, weight: Floats | None = None) -> Indices:
    """Return rank many well-conditioned rows; rows of large weight first."""
    weighed = vectors if weight is None else vectors * weight[:, None]
    _, order = qr(weighed.T, mode="r", pivoting=True)
    chosen: Indices = np.sort(order[:rank])
    return chosen


def _eliminated(vectors: Floats, scaled: Floats, rank: int) -> Dependencies | None:
    if rank > MAX_EXACT_RANK or vectors.size > MAX_CHECKED:
        return None
    wholes, exponents = whole_columns(vectors)
    chosen = independent_rows(scaled, rank)
    while True:  # if the numerical rank is too low, some row is not orthogonal to the null space
        pivots, basis = null_vectors(wholes[chosen])
        missed = next(
            (result for result in (_outside(wholes, u) for u in basis) if len(result)), None
        )
        if missed is None:
            break
        if len(chosen) >= min(MAX_CORRECTED_RANK, MAX_EXACT_RANK):
            return None
        chosen = np.append(chosen, missed[0])
    powers = [Fraction(2) ** -int(e) for e in exponents]
    return Dependencies(np.array(pivots, dtype=np.intp), [_times(v, powers) for v in basis])


def _outside(wholes: Any, vector: Sequence[Fraction]) -> Indices:
    """Return the rows that are not orthogonal to a direction."""
    outside: Indices = np.flatnonzero(_products(wholes, vector))
    return outside


def _times(vector: Vector, powers: Vector) -> Vector:
    return [number * power for number, power in zip(vector, powers, strict=True)]


#: Relative size below which the projection of a vector is 0.
PROJECTION_TOLERANCE = 1e-8
#: Sample size: this many vectors, or 4 D.
MIN_SAMPLE = 1000


def find_orthogonal(cone: ConeRows, chosen: Indices) -> tuple[Floats, NDArray[np.bool_]]:
    """Return a basis of the orthogonal complement, and a mask of the vectors orthogonal to it.

    Returns
    -------
    basis : ndarray, shape (D, q)
    without : ndarray of bool, shape (m,)
        Of all vectors.
    """
    return _look(cone, chosen)[:2]


def spanning(cone: ConeRows, chosen: Indices) -> Indices:
    """Return a subset of the chosen vectors with the same span."""
    return chosen if len(chosen) <= _most(cone) else _look(cone, chosen)[2]


def _most(cone: ConeRows) -> int:
    return max(MIN_SAMPLE, 4 * cone.dimension)


def _look(cone: ConeRows, chosen: Indices) -> tuple[Floats, NDArray[np.bool_], Indices]:
    random = np.random.default_rng(0)
    most = _most(cone)
    sample = chosen if len(chosen) <= most else random.choice(chosen, most // 2, replace=False)
    while True:
        basis = null_basis(cone.take(sample))
        without = _without_part(cone, basis, random)
        missed = chosen[~without[chosen]]
        fresh = missed[~np.isin(missed, sample)]
        if len(fresh) == 0:
            return basis, without, sample
        if len(fresh) > cone.dimension:
            fresh = random.choice(fresh, cone.dimension, replace=False)
        sample = np.append(sample, fresh)


def null_basis(vectors: Floats) -> Floats:
    """Return a basis of the u with z.u = 0 for all vectors, each with one column of its own.

    Examples
    --------
    >>> null_basis(np.array([[1.0, 0.0, 1.0], [0.0, 0.0, 0.0]])).round(12).tolist()
    [[0.0, -1.0], [1.0, 0.0], [0.0, 1.0]]
    """
    size = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    vectors = vectors[size > 0] / size[size > 0][:, None]
    columns = np.sqrt(np.einsum("ij,ij->j", vectors, vectors))
    columns = np.where(columns > 0, columns, 1.0)
    triangle, order = qr(vectors / columns, mode="r", pivoting=True)
    diagonal = np.abs(np.diag(triangle))
    rank = int((diagonal > RANK_TOLERANCE * diagonal.max(initial=0.0)).sum())
    basis = np.zeros((len(order), len(order) - rank))
    free = order[rank:]
    basis[free, np.arange(len(free))] = 1.0
    if rank:
        basis[order[:rank]] = -solve_triangular(triangle[:rank, :rank], triangle[:rank, rank:])
    basis /= columns[:, None]
    basis[np.abs(basis) <= 1e-13 * np.abs(basis).max(axis=0, initial=0.0)] = 0.0
    basis /= np.abs(basis).max(axis=0, initial=0.0)
    return basis[:, np.argsort(free)]


def _without_part(cone: ConeRows, basis: Floats, random: np.random.Generator) -> NDArray[np.bool_]:
    """Return which vectors are orthogonal to a basis.

    Two random directions of its span decide: a vector is orthogonal to one by chance with
    probability 0.
    """
    none = np.ones(cone.size, bool)
    if basis.shape[1] == 0:
        return none
    for _ in range(min(2, basis.shape[1])):
        u = basis @ random.standard_normal(basis.shape[1])
        none &= np.abs(cone.scores(u)) <= PROJECTION_TOLERANCE * cone.magnitudes(u)
    return none
