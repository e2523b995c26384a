"""Class counts in the columns of a few sparse rows: all that their scores need.

Held-out texts use a fraction of the vocabulary. Their scores need the log-probabilities of those
columns and the sums over all columns, not the weights of a model.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from separable.data.rows import Rows

if TYPE_CHECKING:
    from separable.statistics.class_counts import ClassCounts
    from separable.typing import Floats

__all__ = ["CountsOfRows"]


@dataclass(frozen=True)
class CountsOfRows:
    """Rows with the columns that they use, and the counts of the classes there.

    Parameters
    ----------
    rows : Rows
        With m columns.
    sums : ndarray, shape (K, m)
        The sums of these columns.
    counts : ClassCounts
        Of all d columns.
    """

    rows: Rows
    sums: Floats
    counts: ClassCounts

    @classmethod
    def of(cls, rows: Rows, counts: ClassCounts) -> CountsOfRows | None:
        """Return the counts for sparse rows; None if they use most of the columns."""
        if not rows.is_sparse or rows.indices is None:
            return None
        used = np.zeros(rows.n_features, np.bool_)
        used[rows.indices] = True
        columns = np.flatnonzero(used)
        if 2 * len(columns) > rows.n_features:
            return None
        number = np.zeros(rows.n_features, rows.indices.dtype)
        number[columns] = np.arange(len(columns))
        few = Rows(rows.values, len(columns), number[rows.indices], rows.indptr)
        return cls(few, np.ascontiguousarray(counts.sums[:, columns]), counts)

    @cached_property
    def totals(self) -> Floats:
        """The sum over all columns of each class, (K,)."""
        total: Floats = self.counts.sums.sum(axis=1)
        return total

    @cached_property
    def numbers_of_sums(self) -> list[tuple[Floats, Floats]] | None:
        """The distinct sums of each class and their numbers of columns; None if they are many."""
        sums = self.counts.sums
        if not self.counts.is_whole or sums.max() > sums.size:
            return None
        numbers = [np.bincount(of_class.astype(np.int64)) for of_class in sums]
        every = [times.astype(np.float64) for times in numbers]
        return [(np.flatnonzero(times).astype(np.float64), times[times > 0]) for times in every]
