"""Minimal set of columns that makes classes separable.

Adding columns preserves separability, so bisection finds the shortest sufficient prefix of an
ordering with few verdicts. Columns are ordered by separating weights and rescaled by them, which
favours few columns (as in reweighted l1: Candes, Wakin and Boyd 2008). Finally each column is
dropped once and restored if the verdict needs it. A column that was needed once stays needed, so
one round is enough.
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

#: Maximum number of reweighting rounds.
MAX_ROUNDS = 12
#: Scale of the given columns relative to the candidates.
KEPT_SCALE = 100.0
#: Relative precision of margins in the search, where only weights matter.
SEARCH_PRECISION = 0.1


@dataclass(frozen=True)
class FeatureTable:
    """Given columns and candidate columns.

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
        """Return the given columns followed by some candidates."""
        added = self.extra[:, columns]
        if isinstance(self.base, np.ndarray):
            return np.hstack([self.base, added if scale is None else added * scale])
        from scipy.sparse import diags_array, hstack

        added = added if scale is None else added @ diags_array(scale)
        return hstack([self.base, added], format="csr")

    def ask(self, columns: Indices, precision: float = 1e-3) -> Verdict:
        """Return the verdict with some candidates added."""
        return _verdict(self.matrix(columns), self.label, precision)

    def separates(self, columns: Indices) -> bool:
        """Return whether the classes are proved separable with some candidates added."""
        return self.ask(columns, SEARCH_PRECISION).kind == "separable"

    def sizes(self, columns: Indices, scale: Floats) -> Floats | None:
        """Return |weight| of each candidate for separating weights; None if not separable."""
        matrix = self.matrix(columns, scale)
        d = self.base.shape[1]
        matrix = _times(as_rows(matrix), np.append(np.full(d, KEPT_SCALE), np.ones(len(columns))))
        proof = _verdict(matrix, self.label, SEARCH_PRECISION).proof
        if not isinstance(proof, Separation):
            return None
        sizes: Floats = scale * np.linalg.norm(np.atleast_2d(proof.weights)[:, d:], axis=0)
        return sizes


def _verdict(X: Any, label: NDArray[np.int32], precision: float) -> Verdict:
    """Return the joint verdict on two or more classes."""
    result = separability(X, label, precision=precision)
    assert isinstance(result, Verdict)
    return result


def small_set(table: FeatureTable) -> Indices | None:
    """Return a minimal set of candidates; None if all together do not separate."""
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
    """Return the length of the shortest sufficient prefix."""
    low, high = 0, len(columns)
    while high - low > 1:
        middle = (low + high) // 2
        if table.separates(columns[:middle]):
            high = middle
        else:
            low = middle
    return high


def _none_to_drop(table: FeatureTable, columns: Indices) -> Indices:
    """Drop columns that are not needed, trying the last first."""
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
