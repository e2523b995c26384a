"""Columns in which up to three values dominate all others, found from a sample of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from separable._core import native
from separable.data.checks.dominant_values import (
    MAX_DOMINANT,
    SQUARES,
    DominantValue,
    DominantValueWarning,
    dominant_in,
    message,
)
from separable.data.rows import core_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.data.rows import Rows
    from separable.typing import Floats


__all__ = ["SQUARES", "DominantValue", "DominantValueWarning", "dominant_values", "message"]

#: Size of the sample of rows.
SAMPLE_ROWS = 64


def dominant_values(
    rows: Rows,
    limit: float,
    length: Floats | None = None,
    mean: Floats | None = None,
    weight: float | None = None,
) -> list[DominantValue]:
    """Return the columns that up to three values dominate.

    Parameters
    ----------
    rows : Rows
        With finite values.
    limit : float
        All other values differ from the middle of the column by less than this fraction of the
        largest, and not all by 0.
    length, mean : ndarray, shape (d,), optional
        Norm of the centered columns, and their means, which rule out most columns. None: check
        all columns.
    weight : float, optional
        The number of rows. None: rows are weighted, and the mean is not used.
    """
    if rows.n_rows < 3:
        return []
    if rows.is_sparse:
        return _of_sparse(rows, limit, length, mean, weight)
    values, step = rows.values, max(1, rows.n_rows // SAMPLE_ROWS)
    found = native.close_pairs(core_rows(rows), step, 8 * limit, length, MAX_DOMINANT)
    if not found:
        return []
    columns = np.array(found)
    with np.errstate(over="ignore", invalid="ignore"):
        if length is None:
            middle = np.median(values[:, columns], axis=0)
        else:
            sample = np.asarray(values[::step][:, columns], np.float64)
            middle, length = np.median(sample, axis=0), length[columns]
            mean = None if mean is None else mean[columns]
            nearest = np.sort(np.abs(sample - middle), axis=0)[: max(1, len(sample) - MAX_DOMINANT)]
            close = nearest[-1] <= 4 * limit * length
            kept = _candidates(close, middle, length, mean, weight)
            columns, middle = columns[kept], middle[kept]
    if not len(columns):
        return []
    return dominant_in(values[:, columns], middle, limit, columns)


def _candidates(
    close: NDArray[np.bool_],
    middle: Any,
    length: Floats,
    mean: Floats | None,
    weight: float | None,
) -> NDArray[np.intp]:
    """Return the columns whose mean may come from a few large values."""
    if mean is not None and weight is not None:
        with np.errstate(over="ignore"):
            close = close & (np.abs(mean - middle) * (weight / 2.0) <= length)
    return np.flatnonzero(close & (length > 0))


def _of_sparse(
    rows: Rows,
    limit: float,
    length: Floats | None,
    mean: Floats | None,
    weight: float | None,
) -> list[DominantValue]:
    """Find dominant values in sparse rows, whose middle is 0."""
    assert rows.indices is not None
    assert rows.indptr is not None
    chosen = np.ones(rows.n_features, np.bool_)
    if length is not None:
        columns = _candidates(chosen, 0.0, length, mean, weight)
        chosen[:] = False
        chosen[columns] = True
    away = np.abs(rows.values)
    if not chosen.any() or not _spans(away, limit):
        return []
    column = rows.indices
    top = np.zeros(rows.n_features)
    np.maximum.at(top, column, away)
    large = away > limit * top[column]
    small = (away > 0) & ~large
    count = np.bincount(column[large], minlength=rows.n_features)
    other = np.bincount(column[small], minlength=rows.n_features)
    dominated = chosen & (count <= MAX_DOMINANT) & (other > 0)
    indices = np.flatnonzero(dominated[column])
    indices = indices[np.argsort(column[indices], kind="stable")]
    dominant = []
    for part in np.split(indices, np.flatnonzero(np.diff(column[indices])) + 1):
        if len(part):
            at, j = int(part[away[part].argmax()]), int(column[part[0]])
            row = int(np.searchsorted(rows.indptr, at, side="right")) - 1
            rest = float(np.max(away[part], where=small[part], initial=0.0))
            dominant.append(DominantValue(j, row, float(rows.values[at]), int(count[j]), rest))
    return dominant


def _spans(away: NDArray[Any], limit: float) -> bool:
    """Whether the largest value is far enough from the smallest to dominate anything."""
    least = np.min(away, where=away > 0, initial=np.inf)
    return bool(least < limit * away.max(initial=0.0))
