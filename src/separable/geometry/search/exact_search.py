"""Exact facial reduction in rational arithmetic: a complete decision of separability.

For vectors z_i and a set U of them, either there is a >= 0 with sum_i a_i z_i = 0 and sum 1 over U,
or, by Farkas' lemma, a u with z_i.u >= 0 for all and z_i.u > 0 on U. The simplex method finds one
of the two in integers (fraction-free pivoting: Edmonds 1967). Steps:

1. U is all non-zero vectors
2. if there is such an a, the vectors with a_i > 0, and all vectors in their span, lie on the
   boundary of every weakly separating direction: remove them from U
3. repeat until U is empty, and the vectors overlap, or a u is found, which is as strict as any

Many vectors are solved by row generation: start with a sample and add the vectors that the result
violates or leaves open.
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

#: Problems up to these unknowns, numbers, and bits per integer vector are always decided:
#: 10 unknowns with any floats, 20 with ordinary ones.
GUARANTEED_UNKNOWNS, GUARANTEED_NUMBERS, GUARANTEED_DIGITS = 20, 20_000, 22_000
#: Larger problems are abandoned beyond these unknowns, numbers, or bit operations.
MAX_UNKNOWNS, MAX_NUMBERS, MAX_WORK = 60, 1_000_000, 1_000_000_000
#: Number of pivots by steepest descent; later pivots use Bland's rule (1977), which cannot cycle.
STEEPEST_PIVOTS = 300
#: Replaces a norm of 0.
MIN_NORM = 1e-300
#: Sample size of row generation: this many times the unknowns, plus this many.
SAMPLE_MULTIPLE, SAMPLE_EXTRA = 4, 20


@dataclass(frozen=True)
class ExactReduction:
    """Exact result of facial reduction.

    Parameters
    ----------
    u : tuple of int, or None
        A direction with z.u = 0 on the boundary and z.u > 0 elsewhere. None: there is none.
    a : ndarray of int (dtype object), shape (m,)
        Multipliers with sum a_i z_i = 0, positive on vectors that span the boundary.
    boundary : ndarray of bool, shape (m,)
        Vectors with z.u = 0 for every weakly separating direction u.
    """

    u: tuple[int, ...] | None
    a: Wholes
    boundary: Chosen


def always_decided(cone: ConeRows) -> bool:
    """Return whether the problem is small enough that rational arithmetic always decides it."""
    if cone.dimension > GUARANTEED_UNKNOWNS or cone.size * cone.dimension > GUARANTEED_NUMBERS:
        return False
    return cone.dimension * whole_digits(cone.take(np.arange(cone.size))) <= GUARANTEED_DIGITS


def reduce_exactly(cone: ConeRows, hint: FacialReduction | None = None) -> ExactReduction | None:
    """Run facial reduction in rational arithmetic; None: too large.

    Parameters
    ----------
    cone : ConeRows
        The original vectors.
    hint : FacialReduction, optional
        The floating-point result, which selects the first vectors.

    Examples
    --------
    >>> from separable.geometry.cone.cone_rows import WrittenRows
    >>> result = reduce_exactly(WrittenRows(np.array([[1.0, 0.0], [-1.0, 0.0], [5.0, 0.5]])))
    >>> result.u, result.a.tolist(), result.boundary.tolist()
    ((0, 1), [1, 1, 0], [True, True, False])
    """
    work = _Work(None)
    if not always_decided(cone):
        if cone.dimension > MAX_UNKNOWNS or cone.size * cone.dimension > MAX_NUMBERS:
            return None
        work = _Work(MAX_WORK)
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
    """Budget of bit operations; None: no limit."""

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
    """Return all vectors if few; else those that matter in floating point, and a random sample."""
    m, limit = cone.size, SAMPLE_MULTIPLE * cone.dimension + SAMPLE_EXTRA
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
    """Run facial reduction on a sample; None if the budget is exhausted."""
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
    """Return a few vectors that the result of the sample violates or leaves open."""
    if len(sample) == cone.size:
        return np.zeros(0, np.intp)
    most = cone.dimension + SAMPLE_EXTRA // 2
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
    relative = (vectors @ u) / (np.linalg.norm(vectors * column_powers(vectors), axis=1) + MIN_NORM)
    return wrong[np.argsort(relative, kind="stable")[:most]]  # the farthest from their side


def _in_span(cone: ConeRows, part: ExactReduction, sample: Indices, candidates: Indices) -> Chosen:
    """Return which candidates lie in the span of the boundary."""
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
    """Simplex method for a >= 0 with Z'a = 0 and sum 1 over some vectors, or a Farkas certificate.

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
        # one artificial variable per equation, with a cost; the others are free
        table = np.hstack([sums, np.eye(self._size, dtype=int).astype(object), right])
        self._price = _prices(sums)
        cost = -(self._price @ table)
        cost[self._m : -1] = 0
        self._table, self._scale = np.vstack([table, cost]), 1
        self._basis = np.arange(self._m, self._m + self._size)

    def solve(self) -> tuple[list[Fraction] | None, list[int]] | None:
        """Return a, or None and u; a single None if the budget is exhausted."""
        step = 0
        while not self._work.is_done:
            cost = self._table[-1, : self._m]
            below = np.flatnonzero(cost < 0)
            if len(below) == 0:
                return self._solution()
            enters = int(below[0] if step >= STEEPEST_PIVOTS else below[np.argmin(cost[below])])
            self._pivot(self._leaving(enters), enters)
            step += 1
        return None

    def _leaving(self, enters: int) -> int:
        """Return the leaving row (ratio test); it exists because the costs are bounded below."""
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

    def _solution(self) -> tuple[list[Fraction] | None, list[int]]:
        if self._table[-1, -1] == 0:
            a = [Fraction(0)] * self._m
            for row, variable in enumerate(self._basis.tolist()):
                if variable < self._m:
                    a[variable] = Fraction(self._table[row, -1], self._scale)
            return a, []
        price = self._table[-1, self._m : -1] - self._scale * self._price
        return None, [int(number) for number in price[:-1]]  # the last is of no column


def _prices(sums: Wholes) -> Wholes:
    """Return powers of two that equilibrate the equations."""
    digits = np.array([max(int(abs(number)).bit_length() for number in row) for row in sums])
    return np.array([1 << int(k) for k in digits.max() - digits], dtype=object)


def _spanned(wholes: Wholes, chosen: Chosen) -> Chosen:
    """Return which vectors lie in the span of the chosen ones."""
    _, basis = null_vectors(wholes[chosen])
    outside = np.zeros(len(wholes), bool)
    for vector in basis:
        outside |= (wholes @ np.array(cleared(vector), dtype=object)) != 0
    return ~outside


def _scaled(u: Sequence[int], powers: NDArray[np.int64]) -> tuple[int, ...]:
    """Return the direction for unscaled columns."""
    shift = [-int(power) for power in powers]
    least = min((s for x, s in zip(u, shift, strict=True) if x), default=0)
    return _reduced([x << (s - least) if x else 0 for x, s in zip(u, shift, strict=True)])


def _multiples(a: list[Fraction], powers: NDArray[np.int64]) -> Wholes:
    """Return integer multipliers for unscaled vectors."""
    whole = np.zeros(len(a), object)
    whole[:] = _scaled(cleared(a), powers)
    return whole


def _reduced(numbers: list[int]) -> tuple[int, ...]:
    """Divide integers by their greatest common divisor."""
    common = gcd(*numbers)
    return tuple(number // common for number in numbers) if common > 1 else tuple(numbers)
