"""Rows as indicators: 1 where a value is above a threshold, 0 elsewhere."""

from __future__ import annotations

import numpy as np

from separable.data.rows import Rows

__all__ = ["distinct_rows", "indicator_rows", "refuse_negative_threshold"]


def indicator_rows(rows: Rows, threshold: float) -> Rows:
    """Return the rows with 1 for every value above the threshold and 0 for the others.

    Parameters
    ----------
    rows : Rows
        Sparse ones stay sparse, which a threshold below 0 does not allow.
    threshold : float

    Returns
    -------
    Rows
        Of the same float type; in CSR every column stands at most once in a row.
    """
    refuse_negative_threshold(rows, threshold)
    rows = distinct_rows(rows)
    values = (rows.values > threshold).astype(rows.values.dtype)
    return Rows(values, rows.n_features, rows.indices, rows.indptr)


def refuse_negative_threshold(rows: Rows, threshold: float | None) -> None:
    """Refuse a threshold that every value that is left out of sparse rows would exceed."""
    if rows.is_sparse and threshold is not None and threshold < 0:
        raise ValueError(
            f"The threshold {threshold:g} is below 0, so every zero that a sparse matrix leaves "
            "out would be an indicator of 1. Pass dense rows, or a threshold >= 0."
        )


def distinct_rows(rows: Rows) -> Rows:
    """Return the rows with every column at most once in a row; the same object if that is so."""
    if rows.indptr is None or rows.indices is None or len(rows.indices) < 2:
        return rows
    ascends = np.diff(rows.indices) > 0
    starts = rows.indptr[1:-1]  # a row may start below the end of the one before
    ascends[starts[(starts > 0) & (starts < len(rows.indices))] - 1] = True
    if ascends.all():
        return rows
    row = np.repeat(np.arange(rows.n_rows), np.diff(rows.indptr))
    cell = np.sort(row * rows.n_features + rows.indices)
    return rows if (np.diff(cell) > 0).all() else rows.sum_duplicates()
