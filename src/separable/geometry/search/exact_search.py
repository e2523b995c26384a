"""Separability decided in rational arithmetic: complete, whatever the numbers are.

For vectors z_i and a set U of them, a >= 0 with sum_i a_i z_i = 0 and a sum of 1 over U either
exists, or Farkas' lemma gives a u with z_i.u >= 0 for all and z_i.u > 0 on U. The simplex method
finds one of the two, in whole numbers (each table is the one before, times one pivot and divided by
another, without a remainder: Edmonds 1967). Steps:

1. U is all vectors that are not 0
2. where there are such a, the vectors with a_i > 0 lie on the boundary of every weak direction, and
   so do all vectors that these span: U loses them
3. until U is empty, and the vectors overlap, or a u is found, which is as strict as any

Of many vectors a few are settled first. Those that the result contradicts, or that it leaves open,
are added until there are none (row generation).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import gcd
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.geometry.cone.dependencies import column_powers
from separable.geometry.proofs.signs import exact_signs
from separable.linalg.exact import (
    cleared,
    null_vectors,
    rounded,
    whole_digits,
    whole_vectors,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from separable.geometry.cone.cone_rows import ConeRows
    from separable.geometry.search.facial_reduction import FacialReduction
    from separable.typing import Indices

    Wholes = NDArray[Any]
    Chosen = NDArray[np.bool_]

__all__ = ["ExactReduction", "always_decided", "reduce_exactly"]

#: Sets of at most so many unknowns, numbers of vectors, and binary digits of a vector written out
#: in whole numbers, are always decided: 10 unknowns of any floats, 20 of ordinary ones.
UNKNOWNS, NUMBERS, DIGITS = 20, 20_000, 22_000
#: Others are given up where they have more unknowns, or numbers, or ask for more bit operations.
MOST_UNKNOWNS, MOST_NUMBERS, WORK = 60, 1_000_000, 1_000_000_000
#: Steps that go the steepest way; those after them take the lowest index, which never comes back to
#: where it was (Bland 1977).
STEEPEST_PIVOTS = 300
#: Instead of a length of 0.
TINY = 1e-300
#: The first vectors of row generation: so many times the unknowns, and so many more.
TIMES, MORE = 4, 20


@dataclass(frozen=True)
class ExactReduction:
    """What is so, without rounding.

    Parameters
    ----------
    u : tuple of int, or None
        A direction with z.u = 0 on the boundary and z.u > 0 elsewhere. None: there is none.
    a : ndarray of int (dtype object), shape (m,)
        Multipliers that cancel, above 0 on vectors that span the boundary.
    boundary : ndarray of bool, shape (m,)
        Vectors with z.u = 0 for every weak direction u.
    """

    u: tuple[int, ...] | None
    a: Wholes
    boundary: Chosen


def always_decided(cone: ConeRows) -> bool:
    """Return whether vectors are so few that rational arithmetic decides whatever they are."""
    if cone.dimension > UNKNOWNS or cone.size * cone.dimension > NUMBERS:
        return False
    return cone.dimension * whole_digits(cone.take(np.arange(cone.size))) <= DIGITS


def reduce_exactly(cone: ConeRows, hint: FacialReduction | None = None) -> ExactReduction | None:
    """Settle vectors without rounding; None: too many.

    Parameters
    ----------
    cone : ConeRows
        Vectors as they came.
    hint : FacialReduction, optional
        What floats see: which vectors are looked at first.

    Examples
    --------
    >>> from separable.geometry.cone.dense_rows import WrittenRows
    >>> found = reduce_exactly(WrittenRows(np.array([[1.0, 0.0], [-1.0, 0.0], [5.0, 0.5]])))
    >>> found.u, found.a.tolist(), found.boundary.tolist()
    ((0, 1), [1, 1, 0], [True, True, False])
    """
    work = _Work(None)
    if not always_decided(cone):
        if cone.dimension > MOST_UNKNOWNS or cone.size * cone.dimension > MOST_NUMBERS:
            return None
        work = _Work(WORK)
    sample = _first_vectors(cone, hint)
    while True:
        part = _reduce_sample(cone, sample, work)
        if part is None:
            return None
        missed = _missed(cone, part, sample)
        if len(missed) == 0:
            return _of_all(cone, part, sample)
        sample = np.append(sample, missed)


class _Work:
    """A limit of bit operations; None: no limit."""

    def __init__(self, most: int | None) -> None:
        self._left = most

    def use(self, amount: int) -> None:
        """Count some more."""
        if self._left is not None:
            self._left -= amount

    @property
    def is_done(self) -> bool:
        """Whether the limit is reached."""
        return self._left is not None and self._left <= 0


def _first_vectors(cone: ConeRows, hint: FacialReduction | None) -> Indices:
    """Return all vectors where they are few; else those that floats find decisive, and others."""
    m, limit = cone.size, TIMES * cone.dimension + MORE
    if m <= 2 * limit:
        return np.arange(m)
    chosen = np.random.default_rng(0).choice(m, limit // 2, replace=False)
    if hint is not None:
        chosen = np.append(chosen, np.argsort(-hint.a, kind="stable")[: limit // 2])
    if hint is not None and hint.u is not None:
        magnitudes = cone.magnitudes(hint.u)
        relative = cone.scores(hint.u) / np.where(magnitudes > 0, magnitudes, 1.0)
        chosen = np.append(chosen, np.argsort(relative, kind="stable")[: limit // 2])
    return np.unique(chosen)


def _reduce_sample(cone: ConeRows, sample: Indices, work: _Work) -> ExactReduction | None:
    """Settle some vectors, in columns as they came; None where the work is too much."""
    wholes, row_powers, column_powers = whole_vectors(cone.take(sample))
    a = [Fraction(0)] * len(sample)
    left = (wholes != 0).any(axis=1)
    if not left.all():
        a = [Fraction(int(not is_left)) for is_left in left]
    while left.any():
        simplex = _Simplex(wholes, left, work)
        result = simplex.solve()
        if result is None:
            return None
        multipliers, u = result
        if multipliers is None:
            return ExactReduction(_scaled(u, column_powers), _multiples(a, row_powers), ~left)
        a = [x + y for x, y in zip(a, multipliers, strict=True)]
        left = left & ~_spanned(wholes, np.array([number > 0 for number in a]))
    return ExactReduction(None, _multiples(a, row_powers), ~left)


def _missed(cone: ConeRows, part: ExactReduction, sample: Indices) -> Indices:
    """Return vectors, few, that contradict what was found of some, or that it leaves open."""
    if len(sample) == cone.size:
        return np.zeros(0, np.intp)
    most = cone.dimension + MORE // 2
    if part.u is None:
        others = np.setdiff1d(np.arange(cone.size), sample)
        return others[~_in_span(cone, part, sample, others)][:most]
    signs = exact_signs(cone, [Fraction(number) for number in part.u])
    signs[sample] = 1
    wrong = np.flatnonzero(signs < 0)
    if len(wrong) <= most:
        even = np.flatnonzero(signs == 0)
        return np.append(wrong, even[~_in_span(cone, part, sample, even)][:most])
    vectors, u = cone.take(wrong), rounded(part.u)
    relative = (vectors @ u) / (np.linalg.norm(vectors * column_powers(vectors), axis=1) + TINY)
    return wrong[np.argsort(relative, kind="stable")[:most]]  # the farthest from their side


def _in_span(cone: ConeRows, part: ExactReduction, sample: Indices, candidates: Indices) -> Chosen:
    """Return which vectors are sums of those of the boundary."""
    if len(candidates) == 0:
        return np.zeros(0, bool)
    basis = sample[part.a > 0]
    wholes, _, _ = whole_vectors(cone.take(np.append(basis, candidates)))
    return _spanned(wholes, np.arange(len(wholes)) < len(basis))[len(basis) :]


def _of_all(cone: ConeRows, part: ExactReduction, sample: Indices) -> ExactReduction:
    a = np.zeros(cone.size, object)
    a[sample] = part.a
    boundary = np.ones(cone.size, bool)
    if part.u is not None:
        boundary[:] = exact_signs(cone, [Fraction(number) for number in part.u]) == 0
    return ExactReduction(part.u, a, boundary)


class _Simplex:
    """a >= 0 with Z'a = 0 and a sum of 1 over some vectors, or why there are none.

    Parameters
    ----------
    wholes : ndarray of int (dtype object), shape (m, D)
    strict : ndarray of bool, shape (m,)
        The vectors of the sum.
    work : _Work
    """

    def __init__(self, wholes: Wholes, strict: Chosen, work: _Work) -> None:
        self._work = work
        self._m, self._size = len(wholes), wholes.shape[1] + 1
        sums = np.vstack([wholes.T, strict.astype(int).astype(object)])
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
        """Return a, or else None and u; None alone where the work is too much."""
        step = 0
        while not self._work.is_done:
            cost = self._table[-1, : self._m]
            below = np.flatnonzero(cost < 0)
            if len(below) == 0:
                return self._answer()
            enters = int(below[0] if step >= STEEPEST_PIVOTS else below[np.argmin(cost[below])])
            self._pivot(self._leaving(enters), enters)
            step += 1
        return None

    def _leaving(self, enters: int) -> int:
        """Return the row that is 0 first; there is one, for no cost is below 0."""
        column, right = self._table[:-1, enters], self._table[:-1, -1]
        first, *others = np.flatnonzero(column > 0).tolist()
        for k in others:
            apart = right[k] * column[first] - right[first] * column[k]
            if apart < 0 or (apart == 0 and self._basis[k] < self._basis[first]):
                first = k
        return int(first)

    def _pivot(self, row: int, column: int) -> None:
        table, pivot = self._table, self._table[row, column]
        others = np.arange(len(table)) != row
        rest = table[others]
        table[others] = (rest * pivot - rest[:, [column]] * table[row]) // self._scale
        self._scale = pivot
        self._basis[row] = column
        self._work.use(table.size * int(pivot).bit_length())

    def _answer(self) -> tuple[list[Fraction] | None, list[int]]:
        if self._table[-1, -1] == 0:
            a = [Fraction(0)] * self._m
            for row, variable in enumerate(self._basis.tolist()):
                if variable < self._m:
                    a[variable] = Fraction(self._table[row, -1], self._scale)
            return a, []
        price = self._table[-1, self._m : -1] - self._scale * self._price
        return None, [int(number) for number in price[:-1]]  # the last is of no column


def _prices(sums: Wholes) -> Wholes:
    """Return powers of two by which all equations are of about one size."""
    digits = np.array([max(int(abs(number)).bit_length() for number in row) for row in sums])
    return np.array([1 << int(k) for k in digits.max() - digits], dtype=object)


def _spanned(wholes: Wholes, chosen: Chosen) -> Chosen:
    """Return which vectors are sums of the chosen ones."""
    _, basis = null_vectors(wholes[chosen])
    outside = np.zeros(len(wholes), bool)
    for vector in basis:
        outside |= (wholes @ np.array(cleared(vector), dtype=object)) != 0
    return ~outside


def _scaled(u: Sequence[int], powers: NDArray[np.int64]) -> tuple[int, ...]:
    """Return a direction of columns that are not scaled by powers of two."""
    shift = [-int(power) for power in powers]
    least = min((s for x, s in zip(u, shift, strict=True) if x), default=0)
    return _reduced([x << (s - least) if x else 0 for x, s in zip(u, shift, strict=True)])


def _multiples(a: list[Fraction], powers: NDArray[np.int64]) -> Wholes:
    """Return whole multipliers of vectors that are not scaled by powers of two."""
    whole = np.zeros(len(a), object)
    whole[:] = _scaled(cleared(a), powers)
    return whole


def _reduced(numbers: list[int]) -> tuple[int, ...]:
    """Return whole numbers without their common divisor."""
    common = gcd(*numbers)
    return tuple(number // common for number in numbers) if common > 1 else tuple(numbers)
