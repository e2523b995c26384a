"""Reductions by columns: weakly separating single columns, and columns dependent up to rounding.

A column in which no value of one class is below a value of the other, such as a word or a pixel
that only one class has, separates weakly by itself. It strictly separates the rows away from the
common value. Only the remaining rows need further directions, and further columns may be weak on
them. The sum of the directions of all levels, each dominating the later ones, separates the same
rows strictly.

Columns that depend on others up to rounding are, for example, a standardized one-hot code, a
difference of two prices next to both, or columns far from 0 for their spread. In floating point the
residual of such a column looks like 0, but it can decide separability. Here it is computed exactly
and becomes a column of its own, scaled to the size of the others. This is a change of coordinates
of u, so a result for these vectors holds for the original ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import solve_triangular

from separable.geometry.cone.cone_rows import WrittenRows
from separable.geometry.cone.dependencies import column_powers, pivoted
from separable.geometry.search.facial_reduction import FacialReduction
from separable.linalg.exact import cleared, whole_columns

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.data.rows import Rows
    from separable.geometry.cone.cone_rows import ConeRows
    from separable.geometry.cone.signed_rows import SignedRows
    from separable.typing import Floats, Indices

__all__ = ["Peeled", "UntangledRows", "peel", "untangle"]

#: Maximum number of levels.
MAX_LEVELS = 20
#: Sample size: columns that are not weak on the sample are not checked on all rows.
SAMPLE_ROWS = 500


@dataclass(frozen=True)
class Level:
    """The weak columns of some rows.

    Parameters
    ----------
    u : ndarray, shape (D,)
        The sum of their directions.
    cleared : ndarray of int
        The rows with z.u > 0.
    """

    u: Floats
    cleared: Indices


@dataclass(frozen=True)
class Peeled:
    """The levels of weak single columns, and the remaining rows.

    Parameters
    ----------
    levels : list of Level
    left : ndarray of int
        Rows that no level separates strictly.
    """

    levels: list[Level]
    left: Indices

    def joined(self, cone: SignedRows, result: FacialReduction | None) -> FacialReduction:
        """Return the result for all rows from that for the remaining rows; None: none remain."""
        a, first = np.zeros((2, cone.size))
        boundary = np.zeros(cone.size, bool)
        below = None
        if result is not None:
            a[self.left], first[self.left] = result.a, result.first
            boundary[self.left] = result.boundary
            below = result.u
        ended = result is None or result.ended
        return FacialReduction(self._above(cone, below), a, boundary, first, ended)

    def _above(self, cone: SignedRows, below: Floats | None) -> Floats:
        u = np.zeros(cone.dimension) if below is None else below
        for level in reversed(self.levels):
            clear = cone.scores(level.u)[level.cleared]
            lost = -cone.scores(u)[level.cleared]
            used = clear > 0
            most = float((lost[used] / clear[used]).max(initial=0.5))
            u = u + level.u * 2.0 ** np.ceil(np.log2(2.0 * max(most, 0.5)))
        return u


def peel(cone: SignedRows) -> Peeled:
    """Find the rows that weak single columns separate strictly.

    Examples
    --------
    >>> from separable.data.rows import as_rows
    >>> from separable.geometry.cone.signed_rows import SignedRows
    >>> rows = as_rows([[0.0, 0.0], [1.0, 0.0], [0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> peeled = peel(SignedRows(rows, np.array([-1.0, -1, 1, 1, 1]), True))
    >>> [(level.u.tolist(), level.cleared.tolist()) for level in peeled.levels]
    [([0.0, 1.0, 0.0], [4])]
    >>> peeled.left.tolist()
    [0, 1, 2, 3]
    """
    left = np.arange(cone.size)
    levels: list[Level] = []
    while len(left) and len(levels) < MAX_LEVELS:
        level = _level(cone, left)
        if level is None:
            break
        levels.append(level)
        left = np.setdiff1d(left, level.cleared, assume_unique=True)
    return Peeled(levels, left)


def _level(cone: SignedRows, left: Indices) -> Level | None:
    columns = np.arange(cone.rows.n_features)
    if not cone.is_sparse and len(left) > 2 * SAMPLE_ROWS:
        sample = np.random.default_rng(0).choice(left, SAMPLE_ROWS, replace=False)
        columns = np.flatnonzero(_weak(cone, sample, columns)[0])
    if len(columns) == 0:
        return None
    _, side, at, size = _weak(cone, left, columns)
    chosen = side != 0
    columns, side, at = columns[chosen], side[chosen], at[chosen]
    if len(columns) == 0:
        return None
    cleared = left[_differs(cone.rows.take(left), columns, at)]
    u = np.zeros(cone.dimension)
    u[columns] = side * _inverse_powers(size[chosen])
    if cone.fit_intercept:
        u[-1] = 0.0 - u[columns] @ at
    return Level(u, cleared)


def _inverse_powers(size: Floats) -> Floats:
    """Return powers of two that scale sizes to about 1, limited so that sums do not overflow."""
    powers: Floats = np.ldexp(1.0, np.clip(1 - np.frexp(size)[1], -1000, 1000))
    return powers


def _weak(
    cone: SignedRows, chosen: Indices, columns: Indices
) -> tuple[NDArray[np.bool_], Floats, Floats, Floats]:
    """Check which columns are weak on some rows.

    Returns
    -------
    may_be : ndarray of bool
        Whether a column is weak or constant.
    side : ndarray
        1.0 or -1.0 for a weak direction, 0.0 otherwise.
    at : ndarray
        The common value of the classes.
    size : ndarray
        The largest distance from it.
    """
    positive = cone.sign[chosen] > 0
    if cone.fit_intercept:
        low, high = _ranges(cone.rows, chosen[positive], columns)
        low_other, high_other = _ranges(cone.rows, chosen[~positive], columns)
        at_up, at_down = high_other, low_other
    else:  # rows of the other class count as their opposites, and classes meet at 0
        low, high = _ranges(cone.rows, chosen[positive], columns)
        opposite_low, opposite_high = _ranges(cone.rows, chosen[~positive], columns)
        low, high = np.minimum(low, -opposite_high), np.maximum(high, -opposite_low)
        low_other = high_other = at_up = at_down = np.zeros(len(columns))
    up, down = low >= high_other, high <= low_other
    largest, least = np.maximum(high, high_other), np.minimum(low, low_other)
    flat = (up & down) if cone.fit_intercept else (largest == least)
    at = np.where(up, at_up, at_down)
    with np.errstate(invalid="ignore", over="ignore"):
        flat |= ~np.isfinite(largest - least)
        side = np.where(flat, 0.0, up.astype(np.float64) - down)
        size = np.where(side != 0, np.maximum(largest - at, at - least), 1.0)
    return up | down, side, at, size


def _ranges(rows: Rows, chosen: Indices, columns: Indices) -> tuple[Floats, Floats]:
    """Return the smallest and largest value of columns on some rows; inf and -inf without rows."""
    low, high = np.full(len(columns), np.inf), np.full(len(columns), -np.inf)
    if len(chosen) == 0:
        return low, high
    if rows.indptr is None:
        every = len(columns) == rows.n_features
        part = rows.values[chosen] if every else rows.values[np.ix_(chosen, columns)]
        return part.min(axis=0).astype(np.float64), part.max(axis=0).astype(np.float64)
    sample = rows.take(chosen)
    assert sample.indices is not None
    # of other types NumPy takes many times as long
    column, values = sample.indices.astype(np.intp), sample.values.astype(np.float64)
    np.minimum.at(low, column, values)
    np.maximum.at(high, column, values)
    partly = np.bincount(sample.indices, minlength=len(columns)) < len(chosen)
    low[partly], high[partly] = np.minimum(low[partly], 0.0), np.maximum(high[partly], 0.0)
    return low, high


def _differs(part: Rows, columns: Indices, at: Floats) -> NDArray[np.bool_]:
    """Return which rows differ from ``at`` in some of the columns."""
    if part.indptr is None:
        differs: NDArray[np.bool_] = (part.values[:, columns] != at).any(axis=1)
        return differs
    expected = np.zeros(part.n_features)
    expected[columns] = at
    is_chosen = np.zeros(part.n_features, bool)
    is_chosen[columns] = True
    assert part.indices is not None
    row = np.repeat(np.arange(part.n_rows), np.diff(part.indptr))
    wrong = is_chosen[part.indices] & (part.values != expected[part.indices])
    result = np.bincount(row[expected[part.indices] != 0], minlength=part.n_rows)
    missing = result < np.count_nonzero(expected)
    return missing | (np.bincount(row[wrong], minlength=part.n_rows) > 0)


#: Maximum number of integer products.
MAX_PRODUCTS = 5_000_000


class UntangledRows(WrittenRows):
    """Vectors in other coordinates.

    Parameters
    ----------
    matrix : ndarray, shape (m, D)
        The vectors times ``change``, each entry rounded once.
    change : ndarray, shape (D, D)
    """

    def __init__(self, matrix: Floats, change: Floats) -> None:
        super().__init__(matrix)
        self._change = change

    def raw(self, u: Floats) -> Floats:
        """Return u in the original columns."""
        return self._change @ u


def untangle(cone: ConeRows) -> UntangledRows | None:
    """Return vectors whose columns are independent or 0; None: nothing to do, or too large.

    Examples
    --------
    >>> table = np.array([[1.0, 1.0], [1.0, 1.0 + 2.0**-52], [2.0, 2.0 - 2.0**-52]])
    >>> untangle(WrittenRows(table)).matrix.tolist()
    [[0.0, 1.0], [-1.0, 1.0000000000000002], [1.0, 1.9999999999999998]]
    """
    vectors = cone.take(np.arange(cone.size))
    power = column_powers(vectors)
    scaled = vectors * power
    triangle, order, rank = pivoted(scaled)
    left = order[rank:]
    if rank == 0 or len(left) == 0 or cone.size * rank * len(left) > MAX_PRODUCTS:
        return None
    depends = solve_triangular(triangle[:rank, :rank], triangle[:rank, rank:])
    matrix, change = scaled.copy(), np.diag(power)
    wholes, exponents = whole_columns(scaled)
    for index, column in enumerate(left.tolist()):
        factors = np.zeros(cone.dimension)
        factors[order[:rank]] = -depends[:, index]
        factors[column] = 1.0
        part, largest = _exactly(wholes, exponents, factors)
        matrix[:, column] = part
        change[:, column] = power * factors * (1.0 / largest if largest else 0.0)
    return UntangledRows(matrix, change)


def _exactly(wholes: Indices, exponents: Indices, factors: Floats) -> tuple[Floats, float]:
    """Return a linear combination of columns scaled to magnitude 1, rounded once, and the scale."""
    support = np.flatnonzero(factors)
    exact = [Fraction(float(factors[j])) * Fraction(2) ** int(exponents[j]) for j in support]
    whole = cleared(exact)
    sums = (wholes[:, support] @ np.array(whole, dtype=object)).tolist()
    largest = max(abs(number) for number in sums)
    if largest == 0:
        return np.zeros(len(sums)), 0.0
    unit = next(e / w for e, w in zip(exact, whole, strict=True) if w)
    return np.array([float(Fraction(n, largest)) for n in sums]), float(largest * unit)
