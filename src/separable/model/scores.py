"""Scores: rows times weights plus intercept, in float64, without copying the data whole.

The sums are short or pairwise, so that a score differs from the exact one by less than
1e-12 times the sum of the absolute terms, whatever the number of features.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from separable.data.rows import Rows

__all__ = ["linear_scores", "refuse_overflow", "row_blocks", "segment_sums"]

#: Values held at once: half a megabyte in float64, so that temporary arrays stay in the cache.
BLOCK = 1 << 16
#: Columns added up before the partial sum is put aside, which bounds the rounding error.
COLUMNS = 4096


def linear_scores(
    rows: Rows, weights: NDArray[np.float64], intercept: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the scores X W' + b, shape (n, k).

    Parameters
    ----------
    rows : Rows
        X, n x d, dense or CSR.
    weights : ndarray of float64, shape (k, d)
    intercept : ndarray of float64, shape (k,)

    Returns
    -------
    ndarray of float64, shape (n, k)
    """
    multiply = _multiply_sparse if rows.is_sparse else _multiply_dense
    scores = np.empty((rows.n_rows, len(weights)))
    with np.errstate(over="ignore", invalid="ignore"):
        for start, stop in row_blocks(rows, min(rows.n_features, COLUMNS)):
            scores[start:stop] = multiply(rows.slice(start, stop), weights)
        scores += intercept
    finite = np.isfinite(scores)
    if not finite.all():
        refuse_overflow(int(np.flatnonzero(~finite.all(axis=1))[0]))
    return scores


def row_blocks(
    rows: Rows, width: int | None = None, most: int | None = None
) -> Iterator[tuple[int, int]]:
    """Yield (start, stop) of blocks of rows with at most so many values, or of a single row.

    ``width`` says how many values of a dense row are used at once, if not all; ``most`` how many
    values a block may have, if not ``BLOCK``.
    """
    n, start, most = rows.n_rows, 0, most or BLOCK
    step = max(1, most // (width or rows.n_features))
    while start < n:
        if rows.indptr is None:
            stop = min(n, start + step)
        else:
            end = int(rows.indptr[start]) + most
            stop = max(start + 1, int(np.searchsorted(rows.indptr, end, side="right")) - 1)
        yield start, stop
        start = stop


def segment_sums(values: NDArray[np.float64], indptr: NDArray[Any]) -> NDArray[np.float64]:
    """Return the sum of ``values[indptr[i]:indptr[i + 1]]`` for each i, 0 where that is empty."""
    sums = np.zeros(len(indptr) - 1)
    filled = np.flatnonzero(indptr[1:] > indptr[:-1])
    if len(filled):  # reduceat adds pairwise; it has no word for an empty segment, so skip those
        sums[filled] = np.add.reduceat(values, indptr[filled])
    return sums


def _multiply_dense(block: Rows, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    scores = np.zeros((block.n_rows, len(weights)))
    for start in range(0, block.n_features, COLUMNS):
        columns = slice(start, start + COLUMNS)
        scores += block.values[:, columns].astype(np.float64, copy=False) @ weights[:, columns].T
    return scores


def _multiply_sparse(block: Rows, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    assert block.indices is not None
    assert block.indptr is not None
    scores = np.empty((block.n_rows, len(weights)))
    for k, w in enumerate(weights):  # one class at a time: its weights fit the cache
        terms = w[block.indices]
        terms *= block.values
        scores[:, k] = segment_sums(terms, block.indptr)
    return scores


def refuse_overflow(row: int) -> NoReturn:
    """Say that the score of a row is not finite, and what to do."""
    raise ValueError(
        f"The score of row {row} overflows float64: its values times the weights exceed 1.8e308. "
        "Scale the features, for example with separable.TableEncoder, and train again."
    )
