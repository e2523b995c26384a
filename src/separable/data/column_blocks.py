"""Blocks of columns: many columns of few rows are taken together, a long one alone.

A call of NumPy or Arrow costs microseconds however few the rows are, so work on each of 100 000
short columns is done for a block of them by one call. Long columns make blocks of one, which stay
in the cache.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

__all__ = ["blocks_of", "stacked"]

#: Values of a block of columns, but for one column that has more.
BLOCK_VALUES = 1 << 16

Item = TypeVar("Item")


def blocks_of(columns: Sequence[Item], n_rows: int) -> Iterator[Sequence[Item]]:
    """Give columns of so many rows in blocks, in their order.

    Parameters
    ----------
    columns : sequence
        Columns, or one thing for each, such as its name.
    n_rows : int
    """
    size = max(1, BLOCK_VALUES // max(n_rows, 1))
    for start in range(0, len(columns), size):
        yield columns[start : start + size]


def stacked(columns: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Return columns of one length as the rows of a matrix; one column is not copied."""
    if len(columns) == 1:
        return np.ascontiguousarray(columns[0]).reshape(1, -1)
    return np.concatenate(columns).reshape(len(columns), -1)
