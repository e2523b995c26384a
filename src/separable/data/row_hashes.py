"""Hashes of 64 bits by which equal rows are found, in one table or in two."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from separable.data.columns import Categories
from separable.data.dates import Dates

if TYPE_CHECKING:
    from collections.abc import Iterable

    from separable.data.dates import TypedColumn

__all__ = ["Hashes", "mixed", "row_hashes"]

Hashes: TypeAlias = NDArray[np.uint64]

#: Values that are hashed together: many columns of few rows cost few calls.
BLOCK_VALUES = 1 << 16


def row_hashes(columns: Iterable[TypedColumn], n_rows: int) -> Hashes:
    """Return a hash for each row; those of equal rows are equal, within one process."""
    total = np.zeros(n_rows, np.uint64)
    left, place = iter(columns), 0
    while block := list(islice(left, max(1, BLOCK_VALUES // max(n_rows, 1)))):
        places = mixed(np.arange(place, place + len(block), dtype=np.uint64))
        values = mixed(np.stack([_values(column) for column in block]))
        total += mixed(values ^ places[:, None]).sum(axis=0, dtype=np.uint64)
        place += len(block)
    return total


def _values(column: TypedColumn) -> Hashes:
    """Return 64 bits for each value; missing ones are alike."""
    if isinstance(column, Categories):
        levels = np.fromiter(map(hash, (*column.levels, "")), np.int64, len(column.levels) + 1)
        levels[-1] = -1
        return levels.view(np.uint64)[column.codes]
    if isinstance(column, Dates):
        return column.values.astype(np.int64).view(np.uint64)
    values = column.values + 0.0  # no -0
    values[np.isnan(values)] = np.nan
    return values.view(np.uint64)


def mixed(bits: Hashes) -> Hashes:
    """Return bits well mixed: the last steps of splitmix64."""
    bits = bits + np.uint64(0x9E3779B97F4A7C15)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: Hashes = bits ^ (bits >> np.uint64(31))
    return mixed
