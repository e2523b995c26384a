"""Leverages: the diagonal of the hat matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import svd

from separable.statistics.weighted_rows import blocks_about

if TYPE_CHECKING:
    from collections.abc import Iterator

    from separable.data.rows import Rows
    from separable.moments.base import Solution
    from separable.statistics.weighted_rows import Data
    from separable.typing import Floats


__all__ = ["FAR", "MIN_LEFT", "leverages", "projections"]

#: Rows with a smaller 1 - h are refitted: r / (1 - h) is not accurate enough.
MIN_LEFT = 1e-6
#: Numbers in a block of rows, so that it stays in the cache.
BLOCK_VALUES = 1 << 15
#: Columns whose mean is this many deviations from 0 are centered before the product.
FAR = 1e3


def projections(
    rows: Rows, mean: Floats, length: Floats, basis: Floats
) -> Iterator[tuple[int, int, Floats]]:
    """Yield (start, stop, (X - mean) basis) for blocks of rows.

    Sparse rows stay sparse; if a column lies far from 0, one block at a time is dense.

    Parameters
    ----------
    rows : Rows
    mean, length : ndarray, shape (d,)
        Of the columns; the length is the norm of the centered column.
    basis : ndarray, shape (d, r)
    """
    step = max(64, min(4096, BLOCK_VALUES // len(mean)))
    with np.errstate(over="ignore"):  # an infinite length is not short
        far = np.abs(mean) * np.sqrt(rows.n_rows) > FAR * length
    if rows.is_sparse and not basis[far].any():
        moved = mean @ basis
        for start in range(0, rows.n_rows, step):
            stop = min(start + step, rows.n_rows)
            yield start, stop, np.asarray(rows.slice(start, stop).to_matrix() @ basis) - moved
        return
    for part, block in blocks_about(rows, mean, step=step):
        yield part.start, part.stop, block @ basis


def leverages(data: Data, solution: Solution, *, fit_intercept: bool) -> Floats:
    """Return h_i = c_i / W + c_i |R^-T u_i|^2 of each row, u_i its standardized columns.

    Parameters
    ----------
    data : Data
        The training rows.
    solution : Solution
        The least-squares solution, with its design and its factor R.
    fit_intercept : bool
    """
    design, factor, kept, rank = (
        solution.learned[name] for name in ("design", "factor", "kept", "rank")
    )
    basis = np.zeros((len(design.mean), rank))
    if rank == len(kept):
        inverse = factor.inverse()
    else:
        _, sizes, vt = svd(factor.r)
        inverse = vt[:rank].T / sizes[:rank]
    basis[kept] = inverse / design.length[kept][:, None]
    weight = data.counted.weight
    own = 1.0 / design.weight if fit_intercept else 0.0
    result = np.empty(data.rows.n_rows)
    for start, stop, block in projections(data.rows, design.mean, design.length, basis):
        result[start:stop] = own + np.einsum("ij,ij->i", block, block)
    return result if weight is None else result * weight
