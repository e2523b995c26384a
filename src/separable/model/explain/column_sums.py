"""Contributions of features summed by raw column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from separable.model.predict.scores import row_blocks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.data.rows import Rows
    from separable.model.explain.explanation import Explanation

__all__ = ["column_sums"]


def column_sums(
    explanation: Explanation, label: Any, groups: NDArray[np.int64], n_groups: int
) -> NDArray[np.float64]:
    """Return the contributions of each group of features, shape (n, n_groups).

    Parameters
    ----------
    explanation : Explanation
    label : object
        Class or target, None as in ``Explanation``.
    groups : ndarray of int64, shape (d,)
        Group of each feature; each of 0 ... n_groups - 1 has at least one feature.
    n_groups : int

    Returns
    -------
    ndarray of float64, shape (n, n_groups)
    """
    sums = np.zeros((len(explanation), n_groups))
    for start, stop in row_blocks(explanation.rows):
        block = explanation[start:stop].contributions(label)
        sums[start:stop] = _add_up(block, groups, n_groups)
    return sums


def _add_up(block: Rows, groups: NDArray[np.int64], n_groups: int) -> NDArray[np.float64]:
    if block.indptr is None or block.indices is None:
        order = np.argsort(groups, kind="stable")
        starts = np.searchsorted(groups[order], np.arange(n_groups))
        dense: NDArray[np.float64] = np.add.reduceat(block.values[:, order], starts, axis=1)
        return dense
    sums = np.zeros(block.n_rows * n_groups)
    row = np.repeat(np.arange(block.n_rows), np.diff(block.indptr))
    cell = row * n_groups + groups[block.indices]
    order = np.argsort(cell, kind="stable")
    starts = np.flatnonzero(np.diff(cell[order], prepend=-1))
    if len(starts):  # reduceat sums pairwise
        sums[cell[order][starts]] = np.add.reduceat(block.values[order], starts)
    return sums.reshape(block.n_rows, n_groups)
