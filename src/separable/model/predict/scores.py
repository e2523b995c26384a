"""Scores: rows times weights plus intercept, in float64 with a fixed summation order.

The score of a row is bit-identical alone and in every batch, dense and sparse, at every CPU level:
the compiled core sums the products of a row in column order
(``cpp/include/separable/model/scores.hpp``). It differs from the exact score by less than 1e-12
times the sum of the absolute terms.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from separable._core import native, portable
from separable.data.rows import check_finite

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from separable.data.rows import Rows

__all__ = ["linear_scores", "refuse_overflow", "row_blocks", "segment_sums"]

#: Values per block: half a megabyte of float64, so that temporary arrays stay in the cache.
BLOCK = 1 << 16


def linear_scores(
    rows: Rows,
    weights: NDArray[np.float64],
    intercept: NDArray[np.float64],
    names: Sequence[str] | None = None,
) -> NDArray[np.float64]:
    """Return the scores X W' + b, shape (n, k); raise if values of X or scores are not finite.

    A value that is not finite makes the score of its row so, whatever its weight.

    Parameters
    ----------
    rows : Rows
        X, n x d, dense or CSR.
    weights : ndarray of float64, shape (k, d)
    intercept : ndarray of float64, shape (k,)
    names : sequence of str, optional
        Names of the columns, for the message.

    Returns
    -------
    ndarray of float64, shape (n, k)
    """
    scores = np.empty((rows.n_rows, len(weights)))
    core = portable.Rows(rows.values, rows.n_features, rows.indices, rows.indptr)
    bad = native.linear_scores(core, weights, intercept, scores)
    if bad >= 0:
        check_finite(rows, names)
        refuse_overflow(bad)
    return scores


def row_blocks(
    rows: Rows, width: int | None = None, most: int | None = None
) -> Iterator[tuple[int, int]]:
    """Yield (start, stop) of blocks of rows with at most ``most`` values, or of a single row.

    ``width`` is the number of values of a dense row used at once, by default all; ``most`` is
    ``BLOCK`` by default.
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
    """Return the sum of ``values[indptr[i]:indptr[i + 1]]`` for each i, 0 if empty."""
    sums = np.zeros(len(indptr) - 1)
    filled = np.flatnonzero(indptr[1:] > indptr[:-1])
    if len(filled):  # reduceat sums pairwise, but not empty segments: skip those
        sums[filled] = np.add.reduceat(values, indptr[filled])
    return sums


def refuse_overflow(row: int) -> NoReturn:
    """Raise the error for a score that is not finite."""
    raise ValueError(
        f"The score of row {row} overflows float64: its values times the weights exceed 1.8e308. "
        "Scale the features, for example with separable.TableEncoder, and train again."
    )
