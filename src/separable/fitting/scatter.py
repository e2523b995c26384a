"""Products of columns, added up a block of rows at a time."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg.blas import dsyrk

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["add_rows_to_scatter", "fill_lower"]


def add_rows_to_scatter(scatter: Floats, rows: Floats, sign: float = 1.0) -> None:
    """Add rows' rows to the upper triangle of a scatter in C order, or to its diagonal."""
    if scatter.ndim == 1:
        scatter += sign * np.einsum("ij,ij->j", rows, rows)
        return
    added = dsyrk(sign, rows.T, beta=1.0, c=scatter.T, trans=0, lower=1, overwrite_c=1)
    assert np.shares_memory(added, scatter)


@lru_cache(maxsize=8)
def _below(size: int) -> NDArray[np.bool_]:
    """Return which places of a square are below its diagonal."""
    return np.tri(size, k=-1, dtype=np.bool_)


def fill_lower(scatter: Floats) -> None:
    """Copy the upper triangle of a scatter to the lower one, in place."""
    if scatter.ndim == 1:
        return
    step = 256  # tiles that fit the cache
    for start in range(0, len(scatter), step):
        stop = start + step
        scatter[stop:, start:stop] = scatter[start:stop, stop:].T
        tile = scatter[start:stop, start:stop]
        np.copyto(tile, tile.T.copy(), where=_below(len(tile)))
