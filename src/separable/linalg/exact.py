"""Exact linear algebra on floats, as integers times powers of two.

Products exceed 64 bits, so integers are Python's (arrays of dtype object). Scaling a column by a
power of two changes neither the sign of a sum of products nor which combinations of rows cancel.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separable.typing import Floats

Wholes = NDArray[Any]


#: Bits of the significand of a float64.
DIGITS = 53
#: Largest binary exponent of an integer rounded to a float.
LARGEST = 1000
#: Exponent of a column of zeros in `lowest_bits`.
NO_BIT = 1 << 20


def _parts(values: Floats) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return odd integers and exponents with values = odd 2^exponent; 0 and NO_BIT for 0."""
    fraction, exponent = np.frexp(values)
    whole = np.ldexp(fraction, DIGITS).astype(np.int64)
    low = whole & -whole
    zeros = np.where(whole != 0, np.frexp(low.astype(np.float64))[1] - 1, 0)
    return whole >> zeros, np.where(whole != 0, exponent - DIGITS + zeros, NO_BIT)


def lowest_bits(values: Floats) -> NDArray[np.int64]:
    """Return for each column the largest e such that all values are multiples of 2^e.

    Examples
    --------
    >>> lowest_bits(np.array([[1.0, 0.75], [4.0, 3.0]])).tolist()
    [0, -2]
    """
    if len(values) == 0:
        return np.full(values.shape[1:], NO_BIT)
    least: NDArray[np.int64] = _parts(values)[1].min(axis=0)
    return least


def whole_columns(values: Floats) -> tuple[Wholes, NDArray[np.int64]]:
    """Return integers and an exponent for each column: values = wholes 2^exponents.

    Parameters
    ----------
    values : ndarray, shape (k, D)

    Examples
    --------
    >>> wholes, exponents = whole_columns(np.array([[1.0, 0.75], [4.0, 3.0]]))
    >>> wholes.tolist(), exponents.tolist()
    ([[1, 3], [4, 12]], [0, -2])
    """
    odd, exponent = _parts(values)
    exponents = exponent.min(axis=0) if len(values) else np.zeros(values.shape[1], int)
    exponents = np.where(exponents == NO_BIT, 0, exponents)
    shift = np.where(odd != 0, exponent - exponents, 0)
    if (shift.max(initial=0)) <= 62 - DIGITS:
        return (odd << shift).astype(object), exponents
    wholes = odd.astype(object)
    wholes *= np.left_shift(np.ones(1, object), shift.astype(object))
    return wholes, exponents


def whole_vectors(
    vectors: Floats,
) -> tuple[Wholes, NDArray[np.int64], NDArray[np.int64]]:
    """Return integers with few digits, and exponents of rows and of columns.

    Exactly, vectors = wholes 2^(row exponent + column exponent): neither long rows nor long columns
    add digits.

    Examples
    --------
    >>> wholes, rows, columns = whole_vectors(np.array([[1e300, 1.0], [1e-300, 0.0]]))
    >>> int(abs(wholes).max()).bit_length() <= 54
    True
    """
    odd, shift, rows, columns = _balanced(vectors)
    wholes = odd.astype(object)
    wholes *= np.left_shift(np.ones(1, object), shift.astype(object))
    return wholes, rows, columns


def whole_digits(vectors: Floats) -> int:
    """Return an upper bound on the binary digits of `whole_vectors`.

    Examples
    --------
    >>> whole_digits(np.array([[2.0**900, 1.0], [2.0**-900, 0.0]]))
    53
    """
    return DIGITS + int(_balanced(vectors)[1].max(initial=0))


def _balanced(
    vectors: Floats,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return odd integers and exponents of entries, rows and columns; vectors are their product."""
    odd, exponent = _parts(vectors)
    nonzero = odd != 0
    size = np.where(nonzero, np.frexp(vectors)[1], -NO_BIT)
    columns = size.max(axis=0, initial=-NO_BIT)
    columns = np.where(columns == -NO_BIT, 0, columns)
    rows = np.where(nonzero, size - columns, -NO_BIT).max(axis=1, initial=-NO_BIT)
    rows = np.where(rows == -NO_BIT, 0, rows)
    lowest = np.where(nonzero, exponent - rows[:, None], NO_BIT)
    columns = lowest.min(axis=0, initial=NO_BIT)
    columns = np.where(columns == NO_BIT, 0, columns)
    return odd, np.where(nonzero, lowest - columns, 0), rows, columns


def cleared(numbers: Sequence[Fraction]) -> list[int]:
    """Return a positive multiple of fractions as integers.

    Examples
    --------
    >>> cleared([Fraction(1, 2), Fraction(-2, 3)])
    [3, -4]
    """
    common = lcm(*(number.denominator for number in numbers)) if numbers else 1
    return [int(number * common) for number in numbers]


def rounded(numbers: Sequence[int]) -> Floats:
    """Return integers times a power of two, rounded to float64.

    The power centers their magnitudes in the range of float64. Numbers that are still too small
    become 0.

    Examples
    --------
    >>> rounded([3, -(2**2000), 0]).tolist() == [3 * 2.0**-1001, -(2.0**999), 0.0]
    True
    """
    lengths = [abs(number).bit_length() for number in numbers if number]
    if not lengths:
        return np.zeros(len(numbers))
    middle = (max(lengths) + min(lengths)) // 2
    power = max(lengths) - LARGEST if max(lengths) - middle > LARGEST else middle
    if max(lengths) < LARGEST // 20:
        power = 0
    scale = Fraction(2) ** -power
    return np.array([float(number * scale) for number in numbers])


def _eliminate(table: Wholes, columns: int) -> tuple[Wholes, list[int], int]:
    """Reduce a matrix of integers to reduced row echelon form, without fractions.

    Returns the matrix, whose pivots are all equal, the pivot columns, and the pivot. (Bareiss,
    Sylvester's identity and multistep integer-preserving Gaussian elimination, 1968.)
    """
    table, before, at = table.copy(), 1, 0
    pivots: list[int] = []
    for column in range(columns):
        if at == len(table):
            break
        row = next((k for k in range(at, len(table)) if table[k, column] != 0), None)
        if row is None:
            continue
        if row != at:
            table[[at, row]] = table[[row, at]]
        pivot = table[at, column]
        others = np.arange(len(table)) != at
        rest = table[others]
        table[others] = (rest * pivot - rest[:, [column]] * table[at]) // before
        before = pivot
        pivots.append(column)
        at += 1
    return table, pivots, before


def pivot_columns(rows: Wholes) -> list[int]:
    """Return the columns that are linearly independent of the columns before them.

    Examples
    --------
    >>> pivot_columns(np.array([[1, 2, 3], [2, 4, 7]], dtype=object))
    [0, 2]
    """
    return _eliminate(rows, rows.shape[1])[1]


def null_vectors(rows: Wholes) -> tuple[list[int], list[list[Fraction]]]:
    """Return the pivot columns, and a basis of the null space: the u with rows u = 0.

    Each basis vector is 1 in one column without a pivot and 0 in the other such columns.

    Examples
    --------
    >>> pivots, basis = null_vectors(np.array([[1, 2, 3], [2, 4, 7]], dtype=object))
    >>> pivots, [[str(number) for number in vector] for vector in basis]
    ([0, 2], [['-2', '1', '0']])
    """
    n_columns = rows.shape[1]
    table, pivots, scale = _eliminate(rows, n_columns)
    basis = []
    for free in sorted(set(range(n_columns)) - set(pivots)):
        vector = [Fraction(0)] * n_columns
        vector[free] = Fraction(1)
        for at, pivot in enumerate(pivots):
            vector[pivot] = Fraction(-int(table[at, free]), int(scale))
        basis.append(vector)
    return pivots, basis


def solve_whole(matrix: Wholes, right: Wholes) -> tuple[list[int], int] | None:
    """Return (x, s) with matrix x = s right and s > 0, or None if the matrix is singular.

    Examples
    --------
    >>> solve_whole(np.array([[2, 1], [1, 3]], dtype=object), np.array([1, 1], dtype=object))
    ([2, 1], 5)
    """
    size = len(matrix)
    table, pivots, scale = _eliminate(np.hstack([matrix, right[:, None]]), size)
    if len(pivots) < size:
        return None
    sign = 1 if scale > 0 else -1
    return [sign * int(x) for x in table[:, size]], sign * int(scale)
