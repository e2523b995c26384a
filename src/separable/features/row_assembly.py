"""From encoded columns to rows, dense or CSR: the compiled core lays them side by side.

Encoded columns are slots in ascending order of the numbers out that they fill: a number in each of
some places of every row (`NumberSlot`), a one in a place that a code chooses (`OneHotSlot`), or
sparse rows that take a block of places (`BlockSlot`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from separable._core import portable
from separable.data.rows import Rows

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

__all__ = ["BlockSlot", "NumberSlot", "OneHotSlot", "Slot", "rows_from_slots"]

#: Up to this many numbers out, rows are dense.
DENSE_LIMIT = 64


@dataclass(frozen=True, slots=True)
class NumberSlot:
    """One number a row in each of some places.

    Parameters
    ----------
    values : ndarray of float64, of shape (n_rows,) or (n_places, n_rows)
    """

    values: NDArray[np.float64]

    @property
    def width(self) -> int:
        """How many numbers out it fills."""
        return len(np.atleast_2d(self.values))

    def add_to(self, parts: portable.Parts, at: int) -> None:
        """Hand the slot to the core, its first number out being ``at``."""
        parts.add_numbers(np.ascontiguousarray(np.atleast_2d(self.values)), at)


@dataclass(frozen=True, slots=True)
class OneHotSlot:
    """At most one 1 a row.

    Parameters
    ----------
    codes : ndarray of int32
        The code of each row, -1 where there is no value.
    indices : ndarray of int32
        For code -1, 0, 1, ... the number out that becomes 1, counted from the first of this slot;
        -1 for none.
    width : int
        How many numbers out the slot fills.
    """

    codes: NDArray[np.int32]
    indices: NDArray[np.int32]
    width: int

    def add_to(self, parts: portable.Parts, at: int) -> None:
        """Hand the slot to the core, its first number out being ``at``."""
        parts.add_one_hot(np.ascontiguousarray(self.codes), self.indices, at, self.width)


@dataclass(frozen=True, slots=True)
class BlockSlot:
    """Sparse rows beside the others.

    Parameters
    ----------
    rows : Rows
        In CSR.
    """

    rows: Rows

    @property
    def width(self) -> int:
        """How many numbers out it fills."""
        return self.rows.n_features

    def add_to(self, parts: portable.Parts, at: int) -> None:
        """Hand the slot to the core, its first number out being ``at``."""
        values, indices, indptr = self.rows.arrays()
        parts.add_csr(
            np.ascontiguousarray(values, np.float64),
            np.ascontiguousarray(indices, np.int64),
            np.ascontiguousarray(indptr, np.int64),
            at,
            self.width,
        )


Slot: TypeAlias = NumberSlot | OneHotSlot | BlockSlot


def rows_from_slots(
    slots: Iterable[Slot], n_rows: int, *, dense: bool | None = None, n_threads: int = 1
) -> Rows:
    """Lay slots side by side as rows.

    Parameters
    ----------
    slots : iterable of Slot
    n_rows : int
    dense : bool, optional
        None: dense up to 64 numbers out, else CSR without explicit zeros.
    n_threads : int, default 1
        The bits do not depend on it.

    Returns
    -------
    Rows
    """
    parts = portable.Parts(n_rows)
    n_features = 0
    for slot in slots:
        slot.add_to(parts, n_features)
        n_features += slot.width
    if n_features <= DENSE_LIMIT if dense is None else dense:
        out = np.empty((n_rows, n_features))
        parts.dense(out, n_threads)
        return Rows(out, n_features)
    size = parts.count(n_threads)
    index = np.int32 if max(size, n_features) < np.iinfo(np.int32).max else np.int64
    values, indices = np.empty(size), np.empty(size, index)
    indptr = np.empty(n_rows + 1, index)
    parts.fill(values, indices, indptr, n_threads)  # type: ignore[arg-type] # either index type
    return Rows(values, n_features, indices, indptr)
