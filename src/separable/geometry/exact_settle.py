"""Few vectors in whole numbers: where floats leave open what is so.

For vectors z_i and a set U of them, a >= 0 with sum_i a_i z_i = 0 and a sum of 1 over U either
exists, or Farkas' lemma gives a u with z_i.u >= 0 for all and z_i.u > 0 on U. The simplex method
finds one of the two, in whole numbers (each table is the one before, times one pivot and divided by
another, without a remainder: Edmonds 1967). Steps:

1. U is all vectors that are not 0
2. where there are such a, the vectors with a_i > 0 lie on the boundary of every weak direction, and
   so do all vectors that these span: U loses them
3. until U is empty, and the vectors overlap, or a u is found, which is as strict as any
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.geometry.dependencies import column_powers
from separable.geometry.facial_reduction import Settled
from separable.geometry.whole_numbers import cleared, null_vectors, whole_columns

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.geometry.cone_rows import ConeRows, Floats

    Wholes = NDArray[Any]
    Chosen = NDArray[np.bool_]

__all__ = ["settle_exactly"]

#: The most numbers of a table, and of unknowns: the digits of its numbers are so many times those
#: of the data.
TABLE, UNKNOWNS = 20_000, 40
#: Steps that go the steepest way; those after them take the lowest index, which never comes back to
#: where it was (Bland 1977).
STEEPEST = 300
#: The most binary digits that are multiplied in all: a second or two.
DIGITS = 1_000_000_000


def settle_exactly(cone: ConeRows) -> Settled | None:
    """Return what is so, but for the rounding of numbers at the end; None: too many vectors.

    Examples
    --------
    >>> from separable.geometry.written_rows import WrittenRows
    >>> found = settle_exactly(WrittenRows(np.array([[1.0, 0.0], [-1.0, 0.0], [5.0, 0.1]])))
    >>> found.u.tolist(), found.a.tolist(), found.boundary.tolist()
    ([0.0, 1.0], [1.0, 1.0, 0.0], [True, True, False])
    """
    m, d = cone.size, cone.dimension
    if d > UNKNOWNS or (d + 1) * (m + d + 2) > TABLE:
        return None
    vectors = cone.take(np.arange(m))
    length = column_powers(vectors.T)  # that of a vector changes nothing but its multiplier
    wholes, exponents = whole_columns(vectors * length[:, None])
    if not np.isfinite(vectors * length[:, None]).all():
        return None
    digits = DIGITS
    a, first = [Fraction(0)] * m, np.zeros(m)
    left = np.array([row.any() for row in wholes])
    boundary = ~left
    if not left.all():
        a = [Fraction(int(zero)) for zero in boundary]
        first = boundary.astype(np.float64)
    while left.any():
        simplex = _Simplex(wholes, left, digits)
        found = simplex.solve()
        if found is None:
            return None
        digits = simplex.digits
        shares, u = found
        if shares is None:
            return Settled(_rounded(u, exponents), _floats(a), ~left, first)
        a = [x + y * Fraction(p) for x, y, p in zip(a, shares, length.tolist(), strict=True)]
        first = first if first.any() else _floats(a)
        left = _without_span(wholes, np.array([number > 0 for number in a]), left)
    return Settled(None, _floats(a), np.ones(m, bool), first)


class _Simplex:
    """a >= 0 with Z'a = 0 and a sum of 1 over some vectors, or why there are none.

    Parameters
    ----------
    wholes : ndarray of int (dtype object), shape (m, D)
    asked : ndarray of bool, shape (m,)
    digits : int
        So many may be multiplied, and are left.
    """

    def __init__(self, wholes: Wholes, asked: Chosen, digits: int) -> None:
        self.digits = digits
        self._m, self._size = len(wholes), wholes.shape[1] + 1
        sums = np.vstack([wholes.T, asked.astype(int).astype(object)])
        right = np.zeros((self._size, 1), object)
        right[-1] = 1
        # one unknown more for each equation, that costs something: all others are free
        table = np.hstack([sums, np.eye(self._size, dtype=int).astype(object), right])
        self._price = _prices(sums)
        cost = -(self._price @ table)
        cost[self._m : -1] = 0
        self._table, self._scale = np.vstack([table, cost]), 1
        self._basis = np.arange(self._m, self._m + self._size)

    def solve(self) -> tuple[list[Fraction] | None, list[int]] | None:
        """Return a, or else None and u; None alone where digits do not last."""
        step = 0
        while self.digits > 0:
            cost = self._table[-1, : self._m]
            below = np.flatnonzero(cost < 0)
            if len(below) == 0:
                return self._answer()
            enters = int(below[0] if step >= STEEPEST else below[np.argmin(cost[below])])
            self._pivot(self._leaving(enters), enters)
            step += 1
        return None

    def _leaving(self, enters: int) -> int:
        """Return the row that is 0 first; there is one, for no cost is below 0."""
        column, right = self._table[:-1, enters], self._table[:-1, -1]
        rows = np.flatnonzero(column > 0)
        shares = [(Fraction(right[k], column[k]), self._basis[k], k) for k in rows.tolist()]
        return min(shares)[2]

    def _pivot(self, row: int, column: int) -> None:
        table, pivot = self._table, self._table[row, column]
        others = np.arange(len(table)) != row
        rest = table[others]
        table[others] = (rest * pivot - rest[:, [column]] * table[row]) // self._scale
        self._scale = pivot
        self._basis[row] = column
        self.digits -= table.size * int(pivot).bit_length()

    def _answer(self) -> tuple[list[Fraction] | None, list[int]]:
        if self._table[-1, -1] == 0:
            a = [Fraction(0)] * self._m
            for row, place in enumerate(self._basis.tolist()):
                if place < self._m:
                    a[place] = Fraction(self._table[row, -1], self._scale)
            return a, []
        price = self._table[-1, self._m : -1] - self._scale * self._price
        return None, [int(number) for number in price[:-1]]  # the last is of no column


def _prices(sums: Wholes) -> Wholes:
    """Return powers of two by which all equations are of about one size."""
    digits = np.array([max(int(abs(number)).bit_length() for number in row) for row in sums])
    return np.array([1 << int(k) for k in digits.max() - digits], dtype=object)


def _without_span(wholes: Wholes, chosen: Chosen, left: Chosen) -> Chosen:
    """Return what is left without vectors that others span."""
    _, basis = null_vectors(wholes[chosen])
    part = np.zeros(len(wholes), bool)
    for vector in basis:
        part |= (wholes @ np.array(cleared(vector), dtype=object)) != 0
    return left & part


def _rounded(u: list[int], exponents: NDArray[np.int64]) -> Floats:
    """Return a multiple in floats, of columns without their powers of two."""
    exact = [Fraction(x) / Fraction(2) ** int(e) for x, e in zip(u, exponents, strict=True)]
    return _floats(exact)


def _floats(numbers: list[Fraction]) -> Floats:
    """Return floats, divided by the largest."""
    largest = max((abs(number) for number in numbers), default=Fraction(0)) or Fraction(1)
    return np.array([float(number / largest) for number in numbers])
