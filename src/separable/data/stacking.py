"""Vertical concatenation of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.rows import Rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["stack_rows"]


def stack_rows(parts: Sequence[Rows], n_features: int) -> Rows:
    """Concatenate row blocks vertically, in order.

    The result is dense if all parts are, else CSR. The float dtype is the widest of the parts;
    indices are int32 if they fit. Parts without rows are ignored.

    Parameters
    ----------
    parts : sequence of Rows
    n_features : int
        Number of columns of each part.

    Returns
    -------
    Rows
    """
    parts = [part for part in parts if part.n_rows] or parts[:1]
    if not parts:
        return Rows(np.empty((0, n_features)), n_features)
    if len(parts) == 1 and parts[0].indptr is None:
        return parts[0]
    if not any(part.is_sparse for part in parts):
        return Rows(np.concatenate([part.values for part in parts]), n_features)
    sparse = [_as_csr(part) for part in parts]
    lengths = np.concatenate([np.diff(indptr) for _, _, indptr in sparse])
    indptr = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=indptr[1:])
    small = max(int(indptr[-1]), n_features) <= np.iinfo(np.int32).max
    index = np.int32 if small else np.int64
    return Rows(
        np.concatenate([values for values, _, _ in sparse]),
        n_features,
        np.concatenate([indices.astype(index, copy=False) for _, indices, _ in sparse]),
        indptr.astype(index),
    )


def _as_csr(rows: Rows) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    if rows.indptr is not None and rows.indices is not None:
        first, last = rows.indptr[0], rows.indptr[-1]
        return rows.values[first:last], rows.indices[first:last], rows.indptr - first
    row, column = np.nonzero(rows.values)
    indptr = np.searchsorted(row, np.arange(rows.n_rows + 1))
    return rows.values[row, column], column, indptr
