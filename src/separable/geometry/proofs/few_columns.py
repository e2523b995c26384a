"""Sparse separating direction: the columns that are responsible for a separation.

Adding columns preserves separability. So bisection finds the shortest prefix of the columns, by
decreasing weight, with the same boundary; then each column is removed once if possible. This is
floating point; the proof is built elsewhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from separable.geometry.cone.dense_rows import WrittenRows
from separable.geometry.cone.dependencies import column_powers
from separable.geometry.search.row_generation import reduce_many

if TYPE_CHECKING:
    from separable.geometry.cone.cone_rows import ConeRows
    from separable.typing import Floats, Indices

__all__ = ["few_columns"]

#: Maximum number of dense entries.
MAX_ENTRIES = 1_000_000
#: Up to this many columns, each is removed once if possible; with more, only the prefix is used.
MAX_SINGLE_REMOVALS = 20


def few_columns(
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
    >>> few_columns(cone, np.array([1.0, 1.0, 0.1]), np.zeros(0, int), np.arange(3)).nonzero()[0]
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
