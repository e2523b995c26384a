"""Weakly separating direction for a proof: exact on the boundary, with short coordinates."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from separable.geometry.cone.dependencies import MAX_NULL_ENTRIES, column_powers, find_dependencies
from separable.geometry.cone.orthogonal import spanning
from separable.geometry.proofs.checks import separates_weakly
from separable.geometry.proofs.few_columns import few_columns
from separable.linalg.exact import cleared
from separable.linalg.lstsq import lstsq

if TYPE_CHECKING:
    from collections.abc import Sequence

    from separable.geometry.cone.cone_rows import ConeRows
    from separable.typing import Floats, Indices

__all__ = ["tidy_direction", "tidy_few"]

#: Binary digits to round coordinates to; the first that works is used.
DIGITS = (2, 6, 14, 30, 53)
#: Maximum size for the search of a sparser direction, which doubles the time.
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
        for some_factors, digits in product(finite, DIGITS):
            exact = _sum(null, [_short(factor, digits) for factor in some_factors], len(only))
            floats[only] = _floats(exact)
            if separates_weakly(cone, floats, boundary):
                return floats, boundary
    return (u, boundary) if separates_weakly(cone, u, boundary) else None


def tidy_few(
    cone: ConeRows, u: Floats, boundary: Indices, column: Indices
) -> tuple[Floats, Indices] | None:
    """Return `tidy_direction`, with fewer columns if possible; see `few_columns`."""
    tidy = tidy_direction(cone, u, boundary)
    if tidy is None:
        return None
    fewer = few_columns(cone, tidy[0], boundary, column, MAX_SPARSIFIED)
    if fewer is None:
        return tidy
    return tidy_direction(cone, fewer, boundary, np.flatnonzero(fewer)) or tidy


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
