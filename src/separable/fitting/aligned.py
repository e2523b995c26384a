"""Arrays that start on a cache line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["aligned_zeros"]

LINE_BYTES = 64


def aligned_zeros(shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return zeros that start on a cache line, so that a block of lanes is one line a feature."""
    size = int(np.prod(shape)) * dtype.itemsize
    memory = np.zeros(size + LINE_BYTES, dtype=np.uint8)
    start = -memory.ctypes.data % LINE_BYTES
    return memory[start : start + size].view(dtype).reshape(shape)
