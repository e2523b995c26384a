"""From encoded columns to rows, dense or CSR, without a loop over rows.

An encoded column is a list of slots. A slot puts at most one number into each row: always in the
same place (a standardised number) or in a place that varies (the one of a one-hot level).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from separable.data.rows import Rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["Slot", "rows_from_slots"]

#: Up to this many numbers out, rows are dense.
DENSE_LIMIT = 64

#: How many cells of a block of rows are laid out at once while CSR is built.
BLOCK_CELLS = 1 << 22


@dataclass(frozen=True, slots=True)
class Slot:
    """At most one number for each row.

    Parameters
    ----------
    places : int or ndarray of int
        The feature that the number is written to; by row, -1 for none, where it varies.
    values : ndarray of float64 or None
        The number for each row; None means 1 everywhere.
    """

    places: int | NDArray[np.int32]
    values: NDArray[np.float64] | None = None

    def shifted(self, base: int) -> Slot:
        """Return the slot moved up by ``base`` features."""
        if isinstance(self.places, int):
            return Slot(self.places + base, self.values)
        return Slot(np.where(self.places < 0, -1, self.places + base).astype(np.int32), self.values)


def rows_from_slots(slots: Sequence[Slot], n_rows: int, n_features: int) -> Rows:
    """Lay out slots, in ascending order of their features, as rows.

    Parameters
    ----------
    slots : sequence of Slot
        No two may write to the same feature.
    n_rows, n_features : int

    Returns
    -------
    Rows
        Dense up to 64 features, else CSR without explicit zeros.
    """
    if n_features <= DENSE_LIMIT:
        return _dense(slots, n_rows, n_features)
    return _csr(slots, n_rows, n_features)


def _dense(slots: Sequence[Slot], n_rows: int, n_features: int) -> Rows:
    out = np.zeros((n_rows, n_features))
    for slot in slots:
        if isinstance(slot.places, int):
            out[:, slot.places] = 1.0 if slot.values is None else slot.values
            continue
        rows = np.flatnonzero(slot.places >= 0)
        out[rows, slot.places[rows]] = 1.0 if slot.values is None else slot.values[rows]
    return Rows(out, n_features)


def _csr(slots: Sequence[Slot], n_rows: int, n_features: int) -> Rows:
    step = max(1, BLOCK_CELLS // max(len(slots), 1))
    starts = range(0, n_rows, step)
    blocks = [_csr_block(slots, start, min(start + step, n_rows)) for start in starts]
    lengths = np.concatenate([np.zeros(1, np.int64), *(block[2] for block in blocks)])
    indptr = np.cumsum(lengths)
    dtype = np.int32 if indptr[-1] < np.iinfo(np.int32).max else np.int64
    values = np.concatenate([np.zeros(0), *(block[0] for block in blocks)])
    indices = np.concatenate([np.zeros(0, np.int32), *(block[1] for block in blocks)])
    return Rows(values, n_features, indices.astype(dtype), indptr.astype(dtype))


def _csr_block(
    slots: Sequence[Slot], start: int, stop: int
) -> tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.int64]]:
    """Return values, indices and row lengths of rows ``start`` to ``stop``."""
    shape = (stop - start, len(slots))
    places, values = np.empty(shape, dtype=np.int32), np.ones(shape)
    for column, slot in enumerate(slots):
        varies = not isinstance(slot.places, int)
        places[:, column] = slot.places[start:stop] if varies else slot.places  # type: ignore[index]
        if slot.values is not None:
            values[:, column] = slot.values[start:stop]
    kept = (places >= 0) & (values != 0)
    return values[kept], places[kept], kept.sum(axis=1)
