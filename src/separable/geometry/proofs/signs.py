"""Proved signs of z_i.u: by a rounding-error bound, and exactly where the bound is too wide."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from separable.linalg.exact import cleared, lowest_bits, whole_columns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from separable.geometry.cone.cone_rows import ConeRows
    from separable.typing import Floats, Indices

__all__ = ["UNKNOWN", "exact_scores", "exact_signs", "nearest_float", "rounding", "sure_scores"]

#: Sign of a vector that is too expensive to compute.
UNKNOWN = 2
#: Block size, and maximum number of values, in exact arithmetic.
BLOCK, MAX_EXACT = 1 << 18, 1 << 25
#: Unit roundoff of float64.
UNIT_ROUNDOFF = 2.0**-53
#: Weights below this are subnormal or close to it and have fewer digits.
SMALL_WEIGHT = 2.0**-1021
#: The smallest positive float64, a bound on the error of an underflowing product.
SMALLEST_SUBNORMAL = 5e-324


def rounding(terms: int, magnitudes: Floats) -> Floats:
    """Return a bound on the rounding error of a sum of products, given the sum of magnitudes.

    With u = 2^-53, the error of a sum of k products in any order is at most k u / (1 - k u) times
    the sum of magnitudes. Two more units cover rounded weights and the sum of magnitudes itself.
    """
    relative = (terms + 2) * UNIT_ROUNDOFF
    bound: Floats = magnitudes * (1.01 * relative) + 2 * (terms + 2) * SMALLEST_SUBNORMAL
    return bound


def exact_signs(cone: ConeRows, u: Floats | Sequence[Fraction]) -> NDArray[np.int8]:
    """Return the exact sign of z_i.u for each vector: -1, 0 or 1.

    Parameters
    ----------
    cone : ConeRows
        Vectors as they came.
    u : ndarray, shape (D,), or sequence of Fraction

    Returns
    -------
    ndarray of int8, shape (m,)
        `UNKNOWN` if too many signs would need exact arithmetic.

    Examples
    --------
    >>> from separable.data.rows import as_rows
    >>> from separable.geometry.cone.signed_rows import SignedRows
    >>> rows = as_rows([[0.1, 0.2], [0.3, 0.1]])
    >>> cone = SignedRows(rows, np.array([1.0, 1.0]), True)
    >>> exact_signs(cone, np.array([1.0, 1.0, -0.1 - 0.2])).tolist()  # which is not 0.3
    [-1, 1]
    """
    fractions = None if isinstance(u, np.ndarray) else list(u)
    rounded = u if isinstance(u, np.ndarray) else _rounded(fractions or [])
    with np.errstate(over="ignore", invalid="ignore"):
        scores, magnitudes = cone.scores(rounded), cone.magnitudes(rounded)
        bound = rounding(cone.terms, magnitudes)
        signs = np.sign(scores)
        sure = (np.abs(scores) > bound) & np.isfinite(scores)
    support = np.flatnonzero(rounded)
    if fractions is not None:
        support = np.flatnonzero([number != 0 for number in fractions])
    if fractions is not None and (np.abs(rounded[support]) < SMALL_WEIGHT).any():
        sure[:] = False  # subnormal weights lost digits
    elif not sure.all():
        below = _exact_below(cone, rounded)
        sure |= magnitudes < below if fractions is None else (magnitudes == 0) & (below > 0)
    signs = np.where(sure, signs, UNKNOWN).astype(np.int8)
    unsure = np.flatnonzero(~sure)
    if 0 < len(unsure) * len(support) <= MAX_EXACT:
        if fractions is None:
            fractions = [Fraction(float(number)) for number in rounded]
        _work_out(cone, fractions, support, unsure, signs)
    return signs


def exact_scores(cone: ConeRows, u: Floats, chosen: Indices) -> Floats:
    """Return z_i.u of a few vectors, rounded once.

    Examples
    --------
    >>> from separable.data.rows import as_rows
    >>> from separable.geometry.cone.signed_rows import SignedRows
    >>> cone = SignedRows(as_rows([[0.1, 0.2]]), np.array([1.0]), True)
    >>> exact_scores(cone, np.array([1.0, 1.0, -0.1 - 0.2]), np.array([0])).tolist()
    [-2.7755575615628914e-17]
    """
    support = np.flatnonzero(u)
    factors = [Fraction(float(number)) for number in u[support]]
    vectors = cone.take(chosen)[:, support]
    sums = (
        sum((Fraction(x) * f for x, f in zip(row, factors, strict=True) if x), Fraction(0))
        for row in vectors.tolist()
    )
    return np.array([nearest_float(number) for number in sums])


def sure_scores(cone: ConeRows, u: Floats) -> Floats:
    """Return all z_i.u of a separating u; scores below the rounding bound are computed exactly."""
    scores = cone.scores(u)
    lost = rounding(cone.terms, cone.magnitudes(u))
    unsure = np.flatnonzero(~(scores > lost + lost.max()))
    if len(unsure):
        scores[unsure] = exact_scores(cone, u, unsure)
    return scores


def nearest_float(number: Fraction) -> float:
    """Return the nearest float, infinite beyond the largest.

    Examples
    --------
    >>> nearest_float(Fraction(10) ** 400), nearest_float(Fraction(1, 4))
    (inf, 0.25)
    """
    try:
        return float(number)
    except OverflowError:
        return np.inf if number > 0 else -np.inf


def _rounded(fractions: Sequence[Fraction]) -> Floats:
    """Return fractions times a power of two, in float64."""
    largest = max((abs(number) for number in fractions), default=Fraction(0))
    if largest == 0:
        return np.zeros(len(fractions))
    power = largest.numerator.bit_length() - largest.denominator.bit_length()
    scale = Fraction(2) ** -power
    return np.array([float(number * scale) for number in fractions])


def _exact_below(cone: ConeRows, u: Floats) -> float:
    """Return a bound below which sums of products are exact.

    All products are multiples of 2^e, and sums of such below 2^(e + 53) are floats.
    """
    support = np.flatnonzero(u)
    if len(support) == 0:
        return np.inf
    bits = cone.lowest_bits()[support] + lowest_bits(u[None, support])
    least = int(bits.min())
    if least < -1074:  # products may underflow
        return 0.0
    return float(np.ldexp(0.99, least + 53)) if least + 53 < 1023 else np.inf


def _work_out(
    cone: ConeRows,
    u: Sequence[Fraction],
    support: Indices,
    chosen: Indices,
    signs: NDArray[np.int8],
) -> None:
    """Write the exact signs of some vectors."""
    step = max(1, BLOCK // cone.dimension)
    for start in range(0, len(chosen), step):
        here = chosen[start : start + step]
        vectors, columns = cone.take_occupied(here)
        in_support = np.isin(columns, support, assume_unique=True)
        wholes, exponents = whole_columns(vectors[:, in_support])
        factors = cleared(
            [
                u[j] * Fraction(2) ** int(e)
                for j, e in zip(columns[in_support], exponents, strict=True)
            ]
        )
        sums = wholes @ np.array(factors, dtype=object)
        signs[here] = np.sign(sums).astype(np.int8)
