"""Column-major design matrix, for coordinate descent."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from separable._core import native, portable
from separable.data.rows import Rows, core_rows
from separable.linalg.blas import aligned_zeros
from separable.linalg.design_matrix import in_lines
from separable.typing import Floats

if TYPE_CHECKING:
    from separable.certified.problem import Problem


@dataclass(frozen=True)
class ReadColumns:
    """The transposed design matrix, with columns z / factor and weights u * factor.

    Sparse columns are scaled by powers of two only, which is exact; the rest of the scale is the
    factor.

    Parameters
    ----------
    rows : Rows
        d x n.
    factor : ndarray, shape (d,), or None
        None: 1.
    """

    rows: Rows
    factor: Floats | None = None

    @cached_property
    def core(self) -> portable.Rows:
        """The columns in the format of the compiled core."""
        return core_rows(self.rows)

    @classmethod
    def of(cls, problem: Problem, dtype: np.dtype[Any]) -> ReadColumns:
        """Transpose the rows of a problem; dense values that change become ``dtype``."""
        return _sparse(problem) if problem.rows.is_sparse else _dense(problem, dtype)

    def penalty(self, l1: float, l2: float) -> tuple[Floats, Floats]:
        """Return the l1 and l2 weights of each column in this scale."""
        if self.factor is None:
            d = self.rows.n_rows
            return np.full(d, l1), np.full(d, l2)
        return l1 / self.factor, l2 / self.factor**2

    # ------------------------------------------------------------------ products

    @property
    def is_exact(self) -> bool:
        """Whether products are those of the problem's columns in float64."""
        return self.rows.is_sparse or self.rows.values.dtype == np.float64

    def rmatvec(self, r: Floats) -> Floats:
        """Return Z'r for r of shape (n, k), padded to whole cache lines."""
        if not self.rows.is_sparse:
            correlation: Floats = self.rows.values @ r
            return correlation
        sums = aligned_zeros((self.rows.n_rows, r.shape[1]), r.dtype)
        native.score_rows(self.core, r, sums)
        return sums if self.factor is None else sums * self.factor[:, None]

    def max_correlations(self, r: Floats, *, is_signed: bool) -> Floats:
        """Return max_j |Z'r|_j, or max_j (Z'r)_j if signed, of each lane; at least 0."""
        if self.rows.is_sparse:
            found = native.largest_scores(self.core, r, self.factor, is_signed)
            return np.array(found)
        return max_correlations(self.rmatvec(r), is_signed=is_signed)

    def take(self, there: NDArray[np.intp]) -> ReadColumns:
        """Return the given columns."""
        factor = None if self.factor is None else self.factor[there]
        return ReadColumns(self.rows.take(there), factor)

    def written_out(self) -> Floats:
        """Return all columns of the problem as a dense array, (d, n)."""
        if not self.rows.is_sparse:
            return np.asarray(self.rows.values, dtype=np.float64)
        values = np.asarray(self.rows.to_matrix().todense(), dtype=np.float64)
        return values if self.factor is None else values * self.factor[:, None]

    def matvec(self, u: Floats) -> Floats:
        """Return Zu for u of shape (d, k), padded to whole cache lines."""
        if not self.rows.is_sparse:
            scores: Floats = np.ascontiguousarray(self.rows.values.T @ u)
            return scores
        w = u if self.factor is None else u * self.factor[:, None]
        scores = aligned_zeros((self.rows.n_features, u.shape[1]), u.dtype)
        native.add_rows(self.core, in_lines(w), scores)
        return scores


def max_correlations(correlation: Floats, *, is_signed: bool) -> Floats:
    """Return the largest correlation of each lane, absolute or signed, at least 0."""
    most: Floats = correlation.max(axis=0, initial=0.0)
    return most if is_signed else np.maximum(most, -correlation.min(axis=0, initial=0.0))


def _sparse(problem: Problem) -> ReadColumns:
    rows, scale = problem.rows, problem.columns.scale
    matrix = rows.to_matrix().tocsc()
    values = matrix.data
    factor = None
    if scale is not None:
        factor, power = np.frexp(scale)
        factor[scale == 0] = 1.0
        whole = np.where(scale == 0, 0.0, np.ldexp(1.0, power))
        values = values * np.repeat(whole, np.diff(matrix.indptr)).astype(np.float64)
        values = values.astype(rows.values.dtype, copy=False)
    return ReadColumns(Rows(values, rows.n_rows, matrix.indices, matrix.indptr), factor)


def _dense(problem: Problem, dtype: np.dtype[Any]) -> ReadColumns:
    rows, columns = problem.rows, problem.columns
    if columns.shift is None and columns.scale is None:
        values = np.ascontiguousarray(rows.values.T)
    else:
        values = np.empty((rows.n_features, rows.n_rows), dtype)
        for here, block in problem.x.blocks():
            values[:, here] = block.T
    return ReadColumns(Rows(values, rows.n_rows))
