"""Design matrices: the products with Z = (X - shift) scale that solvers and certificates need.

Solvers see data through `DesignMatrix` alone. `design_matrix` returns the dense or sparse one of
given rows, `row_space.compact` the one in which m x m systems are small and accurate.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separable._core import native, portable
from separable.data.rows import Rows, core_rows
from separable.linalg.blas import add_rows_to_scatter, aligned_zeros, fill_lower
from separable.typing import Floats, Indices

#: Cells of a block of rows that is read, centred or densified at a time.
BLOCK = 1 << 16
#: Maximum cells of a dense matrix that is kept; larger ones are computed block by block.
MAX_KEPT_CELLS = 1 << 22
#: Dense multiplications in the time of one sparse multiplication.
DENSE_IS_FASTER = 8
#: Sparse columns whose mean is more than this many standard deviations are centred, and so spread.
MAX_MEAN = 100.0
#: Doubles per cache line.
LINE = 8


def in_lines(numbers: NDArray[Any]) -> NDArray[Any]:
    """Return values by lane, shape (m, k), zero-padded to whole cache lines unless k = 1.

    Examples
    --------
    >>> in_lines(np.ones((2, 3))).shape, in_lines(np.ones((2, 1))).shape
    ((2, 8), (2, 1))
    """
    m, k = numbers.shape
    if k == 1 or (k % LINE == 0 and numbers.flags.c_contiguous):
        return np.ascontiguousarray(numbers)
    wide = aligned_zeros((m, -(-k // LINE) * LINE), numbers.dtype)
    wide[:, :k] = numbers
    return wide


def _step(n_columns: int) -> int:
    """Return the rows of a block."""
    return max(1, BLOCK // max(1, n_columns))


def dense_blocks(rows: Rows) -> Iterator[tuple[int, Floats]]:
    """Yield the first row and the values of each block of dense rows, in float64."""
    step = _step(rows.n_features)
    for start in range(0, rows.n_rows, step):
        yield start, np.asarray(rows.values[start : start + step], dtype=np.float64)


class DesignMatrix(ABC):
    """A matrix Z, n x m.

    Weights u and residuals r are vectors or have one column a right-hand side.

    Parameters
    ----------
    shape : tuple of int
    """

    def __init__(self, shape: tuple[int, int]) -> None:
        self.shape = shape

    @property
    def nnz(self) -> int:
        """Number of stored cells."""
        return self.shape[0] * self.shape[1]

    # ------------------------------------------------------------------ products

    @abstractmethod
    def matvec(self, u: NDArray[Any]) -> Floats:
        """Return Zu, (n,) or (n, k)."""

    @abstractmethod
    def rmatvec(self, r: Floats) -> Floats:
        """Return Z'r, (m,) or (m, k)."""

    @abstractmethod
    def blocks(self, step: int | None = None) -> Iterator[tuple[slice, Floats]]:
        """Yield slices of at most ``step`` rows and their values, dense.

        A block may be overwritten when the next one is requested.
        """

    @abstractmethod
    def take(self, rows: Indices) -> Floats:
        """Return the given rows as a dense array."""

    def gram(self, c: Floats, *, centred: bool = False) -> Floats:
        """Return Z'CZ for c >= 0, C = diag(c).

        Centred: about the means with weights c, as an intercept makes it.
        """
        gram = self._gram(c)
        total = float(c.sum())
        if centred and total > 0:
            sums = self.rmatvec(c)
            gram -= np.outer(sums / total, sums)
        return gram

    def _gram(self, c: Floats) -> Floats:
        m = self.shape[1]
        gram, root = np.zeros((m, m)), np.sqrt(c)
        step = max(64, BLOCK // max(1, m))
        buffer = np.empty((step, m))
        for here, block in self.blocks(step):
            factor = root[here]
            used = np.flatnonzero(factor)
            if 3 * len(used) < 2 * len(block):
                block, factor = block[used], factor[used]
            part = buffer[: len(block)]
            np.multiply(block, factor[:, None], out=part)
            add_rows_to_scatter(gram, part)
        fill_lower(gram)
        return gram

    def squared_norms(self, c: Floats, *, centred: bool = False) -> Floats:
        """Return sum_i c_i z_ij^2 of each column, the diagonal of `gram`; (m, k) for k weights."""
        squares = self._squared_norms(c)
        total = c.sum(axis=0)
        if centred and (total > 0).all():
            squares = np.maximum(squares - self.rmatvec(c) ** 2 / total, 0.0)
        return squares

    def _squared_norms(self, c: Floats) -> Floats:
        sums = np.zeros((self.shape[1], *c.shape[1:]))
        for here, block in self.blocks():
            sums += (block * block).T @ c[here]
        return sums

    def row_norms(self) -> Floats:
        """Return the squared norm of each row, (n,)."""
        norms, ones = np.empty(self.shape[0]), np.ones(self.shape[1])
        for here, block in self.blocks():
            norms[here] = (block * block) @ ones
        return norms

    def row_gram(self, rows: Indices) -> Floats:
        """Return the inner products of the given rows."""
        part = self.take(rows)
        return part @ part.T

    # ------------------------------------------------------------------ other views

    @abstractmethod
    def take_columns(self, columns: Indices) -> DesignMatrix:
        """Return the matrix of the given columns."""

    def spread(self, *, centred: bool) -> DesignMatrix:
        """Return an equal matrix, dense where that makes `gram` faster.

        Also if columns may be ``centred`` and lie so far from 0 that it makes it more accurate.
        """
        del centred
        return self

    def expand(self, u: Floats) -> Floats:
        """Return weights u of a compact matrix as weights of the matrix that it came from."""
        return u

    def project(self, w: Floats) -> Floats:
        """Return weights of the matrix that a compact one came from as weights of this one."""
        return w


def design_matrix(
    rows: Rows, shift: Floats | None = None, scale: Floats | None = None
) -> DesignMatrix:
    """Return the design matrix of rows, with z = (x - shift) scale.

    Parameters
    ----------
    shift, scale : ndarray, shape (d,), or None
        None: 0 and 1. Sparse rows have no shift.
    """
    if rows.is_sparse:
        assert shift is None
        return SparseMatrix(rows, scale)
    return DenseMatrix(rows, shift, scale)


class DenseMatrix(DesignMatrix):
    """A design matrix of dense rows, or of sparse rows that are spread.

    Parameters
    ----------
    shift, scale : ndarray, shape (d,), or None
    """

    def __init__(self, rows: Rows, shift: Floats | None, scale: Floats | None) -> None:
        super().__init__(rows.shape)
        self._rows, self._shift, self._scale = rows, shift, scale

    @cached_property
    def _kept(self) -> Floats | None:
        """The matrix, if the rows are that or it is small."""
        is_plain = not self._rows.is_sparse and self._shift is None and self._scale is None
        if is_plain and self._rows.values.dtype == np.float64:
            return self._rows.values
        if self.shape[0] * self.shape[1] > MAX_KEPT_CELLS:
            return None
        whole = np.empty(self.shape)
        for _ in self._made(_step(self.shape[1]), whole):
            pass
        return whole

    @cached_property
    def _core(self) -> portable.Rows:
        return core_rows(self._rows)

    def _made(self, step: int, whole: Floats | None = None) -> Iterator[tuple[slice, Floats]]:
        """Yield blocks computed from the rows, as parts of ``whole`` or in one buffer."""
        n, d = self.shape
        buffer = np.empty((min(step, n), d)) if whole is None else whole
        place = np.arange(d, dtype=np.int64)
        for start in range(0, n, step):
            here = slice(start, min(start + step, n))
            block = buffer[: here.stop - start] if whole is None else whole[here]
            if self._rows.is_sparse:
                block[:] = 0.0
                native.spread_columns(self._core, start, len(block), place, block)
                block = block if self._shift is None else np.subtract(block, self._shift, out=block)
            elif self._shift is None:
                block[:] = self._rows.values[here]
            else:
                np.subtract(self._rows.values[here], self._shift, out=block)
            if self._scale is not None:
                block *= self._scale
            yield here, block

    def blocks(self, step: int | None = None) -> Iterator[tuple[slice, Floats]]:
        """Yield slices of at most ``step`` rows and their values."""
        step = step or _step(self.shape[1])
        if self._kept is None:
            yield from self._made(step)
            return
        for start in range(0, self.shape[0], step):
            here = slice(start, min(start + step, self.shape[0]))
            yield here, self._kept[here]

    def matvec(self, u: NDArray[Any]) -> Floats:
        """Return Zu."""
        u = np.asarray(u, dtype=np.float64)
        if self._kept is not None:
            scores: Floats = self._kept @ u
            return scores
        scores = np.empty((self.shape[0], *u.shape[1:]))
        for here, block in self.blocks():
            scores[here] = block @ u
        return scores

    def rmatvec(self, r: Floats) -> Floats:
        """Return Z'r."""
        if self._kept is not None:
            return self._kept.T @ r
        sums = np.zeros((self.shape[1], *r.shape[1:]))
        for here, block in self.blocks():
            sums += block.T @ r[here]
        return sums

    def take(self, rows: Indices) -> Floats:
        """Return the given rows."""
        if self._kept is not None:
            return self._kept[rows]
        part = DenseMatrix(self._rows.take(rows), self._shift, self._scale)
        return next(part._made(len(rows)))[1] if len(rows) else np.empty((0, self.shape[1]))

    def take_columns(self, columns: Indices) -> DesignMatrix:
        """Return the matrix of the given columns."""
        if len(columns) == self.shape[1] and (np.diff(columns) == 1).all():
            return self
        return DenseMatrix(
            take_columns(self._rows, columns), *_parts(columns, self._shift, self._scale)
        )


class SparseMatrix(DesignMatrix):
    """A design matrix of sparse rows, by compiled products.

    Parameters
    ----------
    scale : ndarray, shape (d,), or None
    """

    def __init__(self, rows: Rows, scale: Floats | None) -> None:
        super().__init__(rows.shape)
        self._rows, self._scale = rows, scale

    @property
    def nnz(self) -> int:
        """Number of stored cells."""
        return int(self._rows.values.size)

    @cached_property
    def _scaled(self) -> Rows:
        """The rows of Z; scaled values are float64, whatever those of X are."""
        if self._scale is None:
            return self._rows
        values = self._rows.values * self._scale[self._rows.indices]
        return Rows(values, self.shape[1], self._rows.indices, self._rows.indptr)

    @cached_property
    def core(self) -> portable.Rows:
        """The rows of Z in the format of the compiled core."""
        return core_rows(self._scaled)

    def matvec(self, u: NDArray[Any]) -> Floats:
        """Return Zu."""
        wide = in_lines(u if u.ndim == 2 else u[:, None])
        scores = aligned_zeros((self.shape[0], wide.shape[1]), np.dtype(np.float64))
        native.score_rows(self.core, wide, scores)
        return scores[:, : u.shape[1]] if u.ndim == 2 else scores[:, 0]

    def rmatvec(self, r: Floats) -> Floats:
        """Return Z'r."""
        wide = in_lines(r if r.ndim == 2 else r[:, None])
        sums = aligned_zeros((self.shape[1], wide.shape[1]), wide.dtype)
        native.add_rows(self.core, wide, sums)
        return sums[:, : r.shape[1]] if r.ndim == 2 else sums[:, 0]

    def blocks(self, step: int | None = None) -> Iterator[tuple[slice, Floats]]:
        """Yield slices of at most ``step`` rows and their values, dense."""
        return DenseMatrix(self._scaled, None, None)._made(step or _step(self.shape[1]))

    def take(self, rows: Indices) -> Floats:
        """Return the given rows as a dense array."""
        part = np.zeros((len(rows), self.shape[1]))
        place = np.arange(self.shape[1], dtype=np.int64)
        native.spread_columns(core_rows(self._scaled.take(rows)), 0, len(rows), place, part)
        return part

    def gram(self, c: Floats, *, centred: bool = False) -> Floats:
        """Return Z'CZ for c >= 0; centred: about the means with weights c."""
        x = self._centred_x if centred else self
        return super().gram(c, centred=centred) if x is self else x.gram(c, centred=centred)

    @cached_property
    def _centred_x(self) -> DesignMatrix:
        return self.spread(centred=True)

    def _gram(self, c: Floats) -> Floats:
        if self._is_dense:
            return super()._gram(c)
        gram = np.zeros((self.shape[1],) * 2)
        native.add_outer(self.core, c, gram)
        gram += gram.T.copy()
        gram[np.diag_indices(len(gram))] *= 0.5
        return gram

    def _squared_norms(self, c: Floats) -> Floats:
        if c.ndim == 2:
            return np.stack([self._squared_norms(np.ascontiguousarray(one)) for one in c.T], axis=1)
        sums = np.zeros(self.shape[1])
        native.add_squares(self.core, c, sums)
        return sums

    def row_norms(self) -> Floats:
        """Return the squared norm of each row, (n,)."""
        norms = np.empty(self.shape[0])
        self.core.squared_norms(norms)
        return norms

    def row_gram(self, rows: Indices) -> Floats:
        """Return the inner products of the given rows."""
        part = self._scaled.to_matrix()[rows].astype(np.float64)
        gram = np.zeros((len(rows),) * 2)
        (part @ part.T).todense(out=gram)
        return gram

    def take_columns(self, columns: Indices) -> DesignMatrix:
        """Return the matrix of the given columns."""
        return SparseMatrix(take_columns(self._rows, columns), *_parts(columns, self._scale))

    @cached_property
    def _is_dense(self) -> bool:
        """Whether products of columns are faster with zeros."""
        length = np.diff(np.asarray(self._rows.indptr)).astype(np.float64)
        n, d = self.shape
        return DENSE_IS_FASTER * float(length @ length) > n * float(d) ** 2

    def spread(self, *, centred: bool) -> DesignMatrix:
        """Return an equal matrix, dense where that makes `gram` faster or more accurate."""
        shift = self._far_means() if centred else None
        if shift is None and not self._is_dense:
            return self
        return DenseMatrix(self._scaled, shift, None)

    def _far_means(self) -> Floats | None:
        """Return the means of columns that lie far from 0, 0 for the others; None: no column."""
        n = self.shape[0]
        ones = np.ones(n)
        mean, squares = self.rmatvec(ones) / n, self._squared_norms(ones) / n
        rest = np.maximum(squares - mean**2, 0.0)
        far = (mean**2 > MAX_MEAN**2 * rest) & (rest > 1e-20 * mean**2)  # constants stay sparse
        return np.where(far, mean, 0.0) if far.any() else None


def take_columns(rows: Rows, columns: Indices) -> Rows:
    """Return the rows with the given columns alone."""
    if rows.is_sparse:
        matrix = rows.to_matrix()[:, columns]
        return Rows(matrix.data, len(columns), matrix.indices, matrix.indptr)
    return Rows(np.ascontiguousarray(rows.values[:, columns]), len(columns))


def _parts(columns: Indices, *vectors: Floats | None) -> list[Floats | None]:
    return [None if one is None else one[columns] for one in vectors]
