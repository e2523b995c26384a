"""Centered rows as dense blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from separable._core import native
from separable.data.core_rows import core_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from separable.data.rows import Rows
    from separable.statistics.sums import Sums
    from separable.statistics.weighted_rows import Data
    from separable.typing import Floats


__all__ = ["blocks_about", "fourth_powers"]

#: Numbers in a block: one megabyte, so that it stays in the cache.
BLOCK_VALUES = 1 << 17


def blocks_about(
    rows: Rows, point: Floats, scale: Floats | None = None, step: int | None = None
) -> Iterator[tuple[slice, Floats]]:
    """Yield row slices and dense float64 blocks of (x - point) scale.

    The next block overwrites the previous one.

    Parameters
    ----------
    rows : Rows
    point : ndarray, shape (d,)
    scale : ndarray, shape (d,), optional
        None: 1.
    step : int, optional
        Number of rows per block; None: as many as fit in the cache.
    """
    n, d = rows.shape
    step = max(1, min(n, step or BLOCK_VALUES // d))
    if scale is not None and (scale == 1).all():
        scale = None
    buffer = np.empty((step, d))
    core = core_rows(rows) if rows.is_sparse else None
    columns = np.arange(d, dtype=np.int64)
    for start in range(0, n, step):
        stop = min(n, start + step)
        block = buffer[: stop - start]
        if core is None:
            np.subtract(rows.values[start:stop], point, out=block)
        else:
            block[:] = 0.0
            native.spread_columns(core, start, stop - start, columns, block)
            block -= point
        if scale is not None:
            block *= scale
        yield slice(start, stop), block


def fourth_powers(sums: Sums, data: Data, unit: float) -> float:
    """Return sum of w |u|^4 / unit^2, u the rows centered by class, in units of z."""
    _, label = np.unique(data.y, return_inverse=True)
    weight, total = data.counted.weight, 0.0
    for part, block in blocks_about(data.rows, sums.origin, sums.scale):
        block -= sums.offset[label[part]]
        squares = np.einsum("ij,ij->i", block, block) / unit
        total += float(squares @ (squares if weight is None else weight[part] * squares))
    return total
