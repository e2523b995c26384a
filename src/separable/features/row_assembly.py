"""Assembly of encoded columns into rows, dense or CSR, by the compiled core.

An encoded column is a slot of consecutive output features: numbers in every row (`NumberSlot`), a
single 1 selected by a code (`OneHotSlot`), or sparse rows (`BlockSlot`).
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

#: Up to this many output features, rows are dense.
DENSE_LIMIT = 64


@dataclass(frozen=True, slots=True)
class NumberSlot:
    """Numeric columns: one number per row and column.

    Parameters
    ----------
    values : ndarray of float64, of shape (n_rows,) or (n_places, n_rows)
    """

    values: NDArray[np.float64]

    @property
    def width(self) -> int:
        """Number of output features."""
        return len(np.atleast_2d(self.values))

    def add_to(self, parts: portable.Parts, at: int) -> None:
        """Add the slot to the core, starting at output feature ``at``."""
        parts.add_numbers(np.ascontiguousarray(np.atleast_2d(self.values)), at)


@dataclass(frozen=True, slots=True)
class OneHotSlot:
    """One-hot column: at most one 1 per row.

    Parameters
    ----------
    codes : ndarray of int32
        Code of each row, -1 if missing.
    indices : ndarray of int32
        For code -1, 0, 1, ... the index within the slot that becomes 1; -1 for none.
    width : int
        Number of output features.
    """

    codes: NDArray[np.int32]
    indices: NDArray[np.int32]
    width: int

    def add_to(self, parts: portable.Parts, at: int) -> None:
        """Add the slot to the core, starting at output feature ``at``."""
        parts.add_one_hot(np.ascontiguousarray(self.codes), self.indices, at, self.width)


@dataclass(frozen=True, slots=True)
class BlockSlot:
    """Block of sparse rows.

    Parameters
    ----------
    rows : Rows
        CSR.
    """

    rows: Rows

    @property
    def width(self) -> int:
        """Number of output features."""
        return self.rows.n_features

    def add_to(self, parts: portable.Parts, at: int) -> None:
        """Add the slot to the core, starting at output feature ``at``."""
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
    """Assemble slots side by side into rows.

    Parameters
    ----------
    slots : iterable of Slot
    n_rows : int
    dense : bool, optional
        None: dense up to 64 output features, else CSR without explicit zeros.
    n_threads : int, default 1
        The result does not depend on it.

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
