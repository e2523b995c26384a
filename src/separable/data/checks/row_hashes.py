"""64-bit row hashes for finding duplicates, within a table or between two."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from separable.data.column_blocks import blocks_of, stacked
from separable.data.columns import Categories, Numbers
from separable.data.ingest.dates import Booleans, Dates

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from separable.data.ingest.dates import TypedColumn

__all__ = ["Hashes", "mixed", "row_hashes"]

Hashes: TypeAlias = NDArray[np.uint64]


def row_hashes(columns: Iterable[TypedColumn], n_rows: int) -> Hashes:
    """Return a hash of each row; equal rows have equal hashes within one process."""
    total = np.zeros(n_rows, np.uint64)
    start = 0
    for block in blocks_of(list(columns), n_rows):
        salts = mixed(np.arange(start, start + len(block), dtype=np.uint64))
        values = mixed(_values(block))
        total += mixed(values ^ salts[:, None]).sum(axis=0, dtype=np.uint64)
        start += len(block)
    return total


def _values(columns: Sequence[TypedColumn]) -> Hashes:
    """Return 64 bits for each value of the columns; missing values are equal."""
    plain = [column.values for column in columns if isinstance(column, Numbers | Booleans)]
    if len(plain) == len(columns):
        values = stacked(plain) + 0.0  # no -0
        values[np.isnan(values)] = np.nan
        return values.view(np.uint64)
    if len(columns) > 1:
        return np.concatenate([_values([column]) for column in columns])
    (column,) = columns
    if isinstance(column, Categories):
        levels = np.fromiter(map(hash, (*column.levels, "")), np.int64, len(column.levels) + 1)
        levels[-1] = -1
        return levels.view(np.uint64)[column.codes][None]
    assert isinstance(column, Dates)
    return column.values.astype(np.int64).view(np.uint64)[None]


def mixed(bits: Hashes) -> Hashes:
    """Mix bits: the finalizer of splitmix64."""
    bits = bits + np.uint64(0x9E3779B97F4A7C15)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: Hashes = bits ^ (bits >> np.uint64(31))
    return mixed
