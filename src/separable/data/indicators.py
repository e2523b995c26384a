"""Binarization of rows: 1 for values above a threshold, else 0."""

from __future__ import annotations

import numpy as np

from separable.data.rows import Rows

__all__ = ["distinct_rows", "indicator_rows", "refuse_negative_threshold"]


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
