"""Blocks of columns: short columns are processed together, long ones alone.

A NumPy or Arrow call costs microseconds even for few rows, so 100 000 short columns are processed a
block per call. A long column is a block of its own and stays in the cache.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

__all__ = ["blocks_of", "stacked"]

#: Values per block; a column with more is its own block.
BLOCK_VALUES = 1 << 16

Item = TypeVar("Item")


def blocks_of(columns: Sequence[Item], n_rows: int) -> Iterator[Sequence[Item]]:
    """Yield columns in blocks, in order.

    Parameters
    ----------
    columns : sequence
        Columns, or one item per column, such as its name.
    n_rows : int
    """
    size = max(1, BLOCK_VALUES // max(n_rows, 1))
    for start in range(0, len(columns), size):
        yield columns[start : start + size]


def stacked(columns: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Return columns of equal length as the rows of a matrix; a single column is not copied."""
    if len(columns) == 1:
        return np.ascontiguousarray(columns[0]).reshape(1, -1)
    return np.concatenate(columns).reshape(len(columns), -1)
