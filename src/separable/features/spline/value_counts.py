"""Counts of the distinct values of a column: a quantile sketch of bounded size that merges exactly.

Up to `MAX_DISTINCT` distinct values are kept as they are. Beyond that, the lowest bits of the
mantissa are cleared, one at a time, until the values fit. A part of the rows never needs fewer bits
than all rows, so the state does not depend on how the rows were divided or in which order they
came. (Clearing bits of float64 is the bucketing of HDR histograms and of DDSketch, VLDB 2019.)
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["MAX_DISTINCT", "ValueCounts"]

#: Maximum number of distinct values.
MAX_DISTINCT = 1 << 16
#: Without these bits, fewer than MAX_DISTINCT values of float64 differ.
MANTISSA_BITS = 52


def _no_values() -> NDArray[np.float64]:
    return np.empty(0)


def _no_counts() -> NDArray[np.int64]:
    return np.empty(0, np.int64)


@dataclass(frozen=True)
class ValueCounts:
    """Distinct values of a column, ascending, with their counts.

    Parameters
    ----------
    values : ndarray of float64
    counts : ndarray of int64
    missing : int
        Number of missing values.
    cleared : int
        Number of low bits of the mantissa that are cleared in all values.
    """

    values: NDArray[np.float64] = field(default_factory=_no_values)
    counts: NDArray[np.int64] = field(default_factory=_no_counts)
    missing: int = 0
    cleared: int = 0

    @classmethod
    def of(cls, column: NDArray[np.float64]) -> ValueCounts:
        """Count the values of a column, NaN for missing ones."""
        present = column[~np.isnan(column)] + 0.0  # -0.0 becomes 0.0
        values, counts = np.unique(present, return_counts=True)
        missing = len(column) - len(present)
        return cls(values, counts.astype(np.int64), missing)._within_limit()

    def merge(self, other: ValueCounts) -> ValueCounts:
        """Return the counts of the rows of both."""
        cleared = max(self.cleared, other.cleared)
        values = np.concatenate([_cleared(each.values, cleared) for each in (self, other)])
        order = np.argsort(values, kind="stable")
        counts = np.concatenate([self.counts, other.counts])[order]
        missing = self.missing + other.missing
        return ValueCounts(*_added(values[order], counts), missing, cleared)._within_limit()

    def _within_limit(self) -> ValueCounts:
        """Clear as few bits as the limit allows."""
        if len(self.values) <= MAX_DISTINCT:
            return self
        cleared = bisect_left(
            range(MANTISSA_BITS),
            True,
            key=lambda n: _n_distinct(_cleared(self.values, n)) <= MAX_DISTINCT,
        )
        parts = _added(_cleared(self.values, cleared), self.counts)
        return ValueCounts(*parts, self.missing, cleared)


def _cleared(values: NDArray[np.float64], n_bits: int) -> NDArray[np.float64]:
    """Return values rounded toward 0 by clearing low bits; ascending values stay ascending."""
    bits = (values.view(np.int64) >> n_bits) << n_bits
    return bits.view(np.float64) + 0.0  # -0.0 becomes 0.0


def _n_distinct(ascending: NDArray[np.float64]) -> int:
    return 1 + int(np.count_nonzero(np.diff(ascending)))


def _added(
    ascending: NDArray[np.float64], counts: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the distinct values with the sums of their counts."""
    starts = np.flatnonzero(np.diff(ascending, prepend=np.nan) != 0)
    return ascending[starts], np.add.reduceat(counts, starts) if len(starts) else counts
