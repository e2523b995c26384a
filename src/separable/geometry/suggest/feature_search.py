"""A small set of columns that makes classes separable, no member of which can be dropped.

What separates with some columns separates with more, so questions can be halved: of columns in any
order, the shortest beginning that is enough is found with few verdicts. The order is by weights
that separate, each column then scaled by its own weight, which turns the smallest |w| into a small
number of columns (as in reweighted l1: Candes, Wakin and Boyd 2008). At the end each member that is
left is dropped once, and comes back where the verdict needs it; what was needed once is needed from
then on, so one round is enough.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.rows import Rows, as_rows
from separable.geometry.proofs.proof import Separation
from separable.geometry.separability import separability
from separable.geometry.verdict import Verdict

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.typing import Floats, Indices


__all__ = ["FeatureTable", "small_set"]

#: Rounds of scaling columns by their weights, at most.
MAX_ROUNDS = 12
#: How much more a column that is there in any case weighs than one that may be added.
KEPT_SCALE = 100.0
#: Relative precision of margins in the search, where only weights matter.
SEARCH_PRECISION = 0.1


@dataclass(frozen=True)
class FeatureTable:
    """Columns that are there, and columns that may be added.

    Parameters
    ----------
    base, extra : ndarray or csr_array, shapes (n, d) and (n, p)
    label : ndarray of int, shape (n,)
    """

    base: Any
    extra: Any
    label: NDArray[np.int32]

    @classmethod
    def of(cls, base: Rows, extra: Rows, label: NDArray[np.int32]) -> FeatureTable:
        """Scale columns to a largest value of 1."""
        kept, added = (_times(rows, 1.0 / _largest(rows)).to_matrix() for rows in (base, extra))
        return cls(kept, added, label)

    def take(self, rows: Indices) -> FeatureTable:
        """Return the table of some rows."""
        return FeatureTable(self.base[rows], self.extra[rows], self.label[rows])

    def matrix(self, columns: Indices, scale: Floats | None = None) -> Any:
        """Return the columns that are there, and some that may be added behind them."""
        added = self.extra[:, columns]
        if isinstance(self.base, np.ndarray):
            return np.hstack([self.base, added if scale is None else added * scale])
        from scipy.sparse import diags_array, hstack

        added = added if scale is None else added @ diags_array(scale)
        return hstack([self.base, added], format="csr")

    def ask(self, columns: Indices, precision: float = 1e-3) -> Verdict:
        """Return the verdict on rows with some columns added."""
        return _verdict(self.matrix(columns), self.label, precision)

    def separates(self, columns: Indices) -> bool:
        """Return whether classes are proven to be separable with some columns added."""
        return self.ask(columns, SEARCH_PRECISION).kind == "separable"

    def sizes(self, columns: Indices, scale: Floats) -> Floats | None:
        """Return the size of the weight of each added column, that separate; None: nothing does."""
        matrix = self.matrix(columns, scale)
        d = self.base.shape[1]
        matrix = _times(as_rows(matrix), np.append(np.full(d, KEPT_SCALE), np.ones(len(columns))))
        proof = _verdict(matrix, self.label, SEARCH_PRECISION).proof
        if not isinstance(proof, Separation):
            return None
        sizes: Floats = scale * np.linalg.norm(np.atleast_2d(proof.weights)[:, d:], axis=0)
        return sizes


def _verdict(X: Any, label: NDArray[np.int32], precision: float) -> Verdict:
    """Return the verdict on two classes, or on more together."""
    result = separability(X, label, precision=precision)
    assert isinstance(result, Verdict)
    return result


def small_set(table: FeatureTable) -> Indices | None:
    """Return columns to add, none of which can be dropped; None: all together are not enough."""
    columns = np.arange(table.extra.shape[1])
    if table.separates(columns[:0]):
        return columns[:0]
    scale = np.ones(len(columns))
    for _ in range(MAX_ROUNDS):
        size = table.sizes(columns, scale)
        if size is None:
            break
        order = np.argsort(-size, kind="stable")
        kept = order[: _shortest(table, columns[order])]
        shrunk = len(kept) < len(columns)
        columns, scale = columns[kept], np.maximum(size[kept] / size.max(), 1e-6)
        if not shrunk and len(columns) == 1:
            break
    if size is None and len(columns) == table.extra.shape[1] and not table.separates(columns):
        return None
    return _none_to_drop(table, columns)


def _shortest(table: FeatureTable, columns: Indices) -> int:
    """Return how many of the first columns are enough; all of them are."""
    low, high = 0, len(columns)
    while high - low > 1:
        middle = (low + high) // 2
        if table.separates(columns[:middle]):
            high = middle
        else:
            low = middle
    return high


def _none_to_drop(table: FeatureTable, columns: Indices) -> Indices:
    """Return columns without those that can be dropped, the last tried first."""
    kept = list(columns)
    for column in columns[::-1]:
        rest = [each for each in kept if each != column]
        if table.separates(np.array(rest, dtype=np.intp)):
            kept = rest
    return np.sort(np.array(kept, dtype=np.intp))


def _largest(rows: Rows) -> Floats:
    """Return the largest magnitude of each column, 1 where it is 0."""
    if rows.indptr is None or rows.indices is None:
        largest = np.abs(rows.values).max(axis=0).astype(np.float64)
    else:
        largest = np.zeros(rows.n_features)
        np.maximum.at(largest, rows.indices, np.abs(rows.values).astype(np.float64))
    return np.where(largest > 0, largest, 1.0)


def _times(rows: Rows, scale: Floats) -> Rows:
    """Return rows with columns multiplied, in float64."""
    values = rows.values.astype(np.float64)
    if rows.indptr is None or rows.indices is None:
        return Rows(values * scale, rows.n_features)
    return Rows(values * scale[rows.indices], rows.n_features, rows.indices, rows.indptr)
