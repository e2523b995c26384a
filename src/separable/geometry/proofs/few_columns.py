"""A direction of few columns that does what another does: the columns that are responsible.

What some columns separate, more columns do too. So the shortest beginning of all columns, the
heaviest first, that leaves no other vector on the boundary is found by halving; then each column is
left out once. All in floats: a proof is made of it elsewhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from separable.geometry.cone.dense_rows import WrittenRows
from separable.geometry.cone.dependencies import column_powers
from separable.geometry.search.row_generation import settle_many

if TYPE_CHECKING:
    from separable.geometry.cone.cone_rows import ConeRows
    from separable.typing import Floats, Indices

__all__ = ["few_columns"]

#: The most numbers of vectors that are written out.
NUMBERS = 1_000_000
#: So many columns are each left out once; of more the beginning is all that is looked for.
EACH = 20


def few_columns(
    cone: ConeRows, u: Floats, boundary: Indices, column: Indices, most: int = NUMBERS
) -> Floats | None:
    """Return a direction with fewer columns than u, or None if none is found.

    Parameters
    ----------
    cone : ConeRows
        Vectors as they came.
    u : ndarray, shape (D,)
        z.u > 0 but on the boundary.
    boundary : ndarray of int
        May be empty.
    column : ndarray of int, shape (D,)
        The column that each coordinate is of; -1 for intercepts, which cost nothing.
    most : int
        The most numbers of vectors that are written out.

    Examples
    --------
    >>> cone = WrittenRows(np.array([[1.0, 0.2, 3.0], [2.0, 0.1, -3.0], [2.0, 0.2, 0.0]]))
    >>> few_columns(cone, np.array([1.0, 1.0, 0.1]), np.zeros(0, int), np.arange(3)).nonzero()[0]
    array([0])
    """
    used = np.unique(column[(u != 0) & (column >= 0)])
    if len(used) < 2 or cone.size * cone.dimension > most:
        return None
    asked = _Asked(cone, boundary, column)
    weight = np.abs(u) / asked.power
    order = used[np.argsort([-weight[column == j].max() for j in used], kind="stable")]
    low, high = 0, len(order)
    best = None
    while high - low > 1:
        middle = (low + high) // 2
        found = asked.direction(order[:middle])
        low, high, best = (middle, high, best) if found is None else (low, middle, found)
    kept = order[:high]
    if len(kept) <= EACH:
        for j in kept[::-1]:
            found = asked.direction(kept[kept != j])
            if found is not None:
                kept, best = kept[kept != j], found
    return best


class _Asked:
    """What some columns do with the vectors of a cone."""

    def __init__(self, cone: ConeRows, boundary: Indices, column: Indices) -> None:
        vectors = cone.take(np.arange(cone.size))
        self.power = column_powers(vectors)
        self._vectors, self._column = vectors * self.power, column
        self._boundary = np.zeros(cone.size, bool)
        self._boundary[boundary] = True

    def direction(self, columns: Indices) -> Floats | None:
        """Return a direction of some columns with the same boundary, if there is one."""
        mask = np.isin(self._column, columns) | (self._column < 0)
        if not self._vectors[:, mask].any():
            return None
        found = settle_many(WrittenRows(self._vectors[:, mask]))
        if found.u is None or not found.ended or not np.array_equal(found.boundary, self._boundary):
            return None
        u = np.zeros(len(mask))
        u[mask] = found.u * self.power[mask]
        return u
