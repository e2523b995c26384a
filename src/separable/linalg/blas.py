"""Threads of linear algebra: one, so that the bits do not depend on how many there are.

Arrays that start on a cache line.

Products of columns, added up a block of rows at a time.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import cache, lru_cache
from math import prod
from typing import Any

import numpy as np
import scipy.linalg  # noqa: F401  # its own library is to be loaded before libraries are looked up
from numpy.typing import NDArray
from scipy.linalg.blas import dsyrk
from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

from separable.typing import Floats


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


@cache
def _blas_libraries() -> tuple[Any, ...]:
    return tuple(lib for lib in _controller().lib_controllers if lib.user_api == "blas")


def one_blas_thread() -> AbstractContextManager[Any]:
    """Return a context in which NumPy and SciPy multiply matrices in one thread."""
    if all(lib.get_num_threads() == 1 for lib in _blas_libraries()):  # limits cost 0.1 ms
        return nullcontext()
    limited: AbstractContextManager[Any] = _controller().limit(limits=1, user_api="blas")
    return limited


LINE_BYTES = 64


def aligned_zeros(shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return zeros that start on a cache line, so that a block of lanes is one line a feature."""
    size = prod(shape) * dtype.itemsize
    memory = np.zeros(size + LINE_BYTES, dtype=np.uint8)
    start = -memory.__array_interface__["data"][0] % LINE_BYTES  # faster than memory.ctypes
    return memory[start : start + size].view(dtype).reshape(shape)


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
