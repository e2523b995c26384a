"""Choice of knots: quantiles of the training values, and frequent values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.features.spline.value_counts import ValueCounts

__all__ = ["choose_knots", "knot_texts"]

#: Fraction of the rows beyond the outer knots, on each side.
TAIL = 0.001
#: A value is frequent if it has the rows of this many gaps between quantile knots.
FREQUENT_GAPS = 2.0


def choose_knots(counts: ValueCounts, n_knots: int) -> NDArray[np.float64]:
    """Return the knots of a column, ascending; empty if fewer than two values are present.

    Parameters
    ----------
    counts : ValueCounts
    n_knots : int
        Number of quantile knots. Frequent values are knots besides.
    """
    if len(counts.values) < 2:
        return np.empty(0)
    values, weights = _without_tails(counts.values, counts.counts)
    if len(values) <= n_knots:
        return values
    frequent = weights * n_knots >= FREQUENT_GAPS * weights.sum()
    rest = _quantile_indices(np.where(frequent, 0, weights), n_knots)
    indices = np.unique([*rest, *np.flatnonzero(frequent), 0, len(values) - 1])
    knots: NDArray[np.float64] = values[indices]
    return knots


def _without_tails(
    values: NDArray[np.float64], counts: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Leave out values beyond the outer quantiles, unless a single value would remain."""
    ranks = np.cumsum(counts)
    ends = np.searchsorted(ranks, np.array([TAIL, 1.0 - TAIL]) * ranks[-1])
    first, last = ends.tolist()
    kept = slice(None) if first == last else slice(first, last + 1)
    return values[kept], counts[kept]


def _quantile_indices(counts: NDArray[np.int64], n_knots: int) -> NDArray[np.intp]:
    """Return the indices of evenly spaced quantiles, from the first to the last of the rows."""
    ranks = np.cumsum(counts)
    wanted = np.linspace(0.0, 1.0, n_knots) * ranks[-1]
    indices: NDArray[np.intp] = np.searchsorted(ranks, np.maximum(wanted, 0.5))
    return indices


def knot_texts(knots: NDArray[np.float64]) -> list[str]:
    """Return knots as short texts that are all different.

    Examples
    --------
    >>> knot_texts(np.array([0.5, 18, 1234]))
    ['0.5', '18', '1234']
    """
    largest = float(np.abs(knots).max(initial=1.0))
    least = min(max(3, int(np.log10(max(largest, 1.0))) + 1), 15)
    for digits in range(least, 18):
        texts = [f"{knot:.{digits}g}" for knot in knots.tolist()]
        if len(set(texts)) == len(texts):
            break
    return texts
