"""Rows made of rows: concatenation, and binarization at a threshold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.rows import Rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["distinct_rows", "indicator_rows", "refuse_negative_threshold", "stack_rows"]


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


def indicator_rows(rows: Rows, threshold: float) -> Rows:
    """Return the rows binarized at a threshold.

    Parameters
    ----------
    rows : Rows
        Sparse rows stay sparse, so the threshold must be >= 0.
    threshold : float

    Returns
    -------
    Rows
        Same float dtype; in CSR without duplicate columns.
    """
    refuse_negative_threshold(rows, threshold)
    rows = distinct_rows(rows)
    values = (rows.values > threshold).astype(rows.values.dtype)
    return Rows(values, rows.n_features, rows.indices, rows.indptr)


def refuse_negative_threshold(rows: Rows, threshold: float | None) -> None:
    """Reject a negative threshold for sparse rows: every implicit zero would exceed it."""
    if rows.is_sparse and threshold is not None and threshold < 0:
        raise ValueError(
            f"The threshold {threshold:g} is negative, so every implicit zero of a sparse matrix "
            "would become 1. Pass dense rows, or a threshold >= 0."
        )


def distinct_rows(rows: Rows) -> Rows:
    """Return the rows without duplicate columns; the same object if there are none."""
    if rows.indptr is None or rows.indices is None or len(rows.indices) < 2:
        return rows
    ascends = np.diff(rows.indices) > 0
    starts = rows.indptr[1:-1]  # a row may start below the end of the previous one
    ascends[starts[(starts > 0) & (starts < len(rows.indices))] - 1] = True
    if ascends.all():
        return rows
    row = np.repeat(np.arange(rows.n_rows), np.diff(rows.indptr))
    cell = np.sort(row * rows.n_features + rows.indices)
    return rows if (np.diff(cell) > 0).all() else rows.sum_duplicates()
