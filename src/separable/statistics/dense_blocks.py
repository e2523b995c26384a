"""One-pass addition of blocks of dense rows to sums."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from separable._core import native
from separable.data.core_rows import core_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.data.rows import Rows
    from separable.statistics.sums import Sums
    from separable.typing import Floats


__all__ = ["add_dense_blocks"]

#: With more columns the products dominate, and BLAS is as fast.
MAX_COLUMNS = 320


def add_dense_blocks(
    sums: Sums,
    rows: Rows,
    targets: Floats | None,
    weight: Floats | None,
    chosen: NDArray[np.intp] | None,
    first: int,
    n_rows: int,
    step: int,
) -> int:
    """Add blocks to sums of one group in place; only the upper triangle of the scatter is updated.

    The products are centered by the mean of the earlier rows, so the first block must be present.

    Parameters
    ----------
    sums : Sums
    rows : Rows
    targets : ndarray of float64, shape (n, t), or None
    weight : ndarray of float64, shape (n,), or None
    chosen : ndarray of int, or None
        Row indices; None: all.
    first, n_rows : int
        Range of the chosen rows.
    step : int
        Number of rows per block.

    Returns
    -------
    int
        Number of rows added: up to the first block that needs another scale, higher precision, or
        refusal. None if another way is as fast.
    """
    if (
        n_rows <= 0
        or rows.is_sparse
        or sums.is_diagonal
        or sums.n_columns > MAX_COLUMNS
        or not sums.weight[0] > 0
        or not native.fuses_products()
    ):
        return 0
    added, total = native.add_dense_blocks(
        core_rows(rows),
        None if targets is None else np.ascontiguousarray(targets),
        weight,
        chosen,
        first,
        n_rows,
        step,
        sums.origin,
        sums.scale,
        float(sums.weight[0]),
        sums.offset,
        sums.scatter,
    )
    sums.rows += added
    sums.weight = np.array([total])
    return int(added)
