"""Design matrix of the second-order solvers: matvec, rmatvec and weighted Gram matrix.

Columns are those of the problem, also centred if a large mean would cost digits. The scale of the
columns does not matter: Newton steps are invariant to it, and `Cholesky` equilibrates its matrix.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from separable._core import native
from separable.certified.problem import BLOCK
from separable.linalg.blas import add_rows_to_scatter, fill_lower

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    from separable.certified.problem import Problem
    from separable.typing import Floats

    Blocks = Iterable[tuple[int, Floats]]

__all__ = ["DenseProducts", "RowProducts", "SparseProducts", "row_products", "spread_blocks"]

#: Maximum cells of cached centred rows; larger blocks are recomputed for each product.
KEPT = 1 << 22
#: Columns whose mean is more than this many standard deviations are centred.
SHIFTED = 100.0
#: Columns of a larger scale, or less than its inverse, are scaled before squaring.
FAR = 2.0**100
#: Dense multiplications in the time of one sparse multiplication.
DENSE_IS_FASTER = 8


class RowProducts(Protocol):
    """The interface of a design matrix U, n x m, equivalent to Z up to an intercept."""

    size: int

    def matvec(self, u: Floats, b: float) -> Floats:
        """Return Uu + b."""

    def rmatvec(self, r: Floats) -> Floats:
        """Return U'r."""

    def products(self, c: Floats, r: Floats) -> tuple[Floats, Floats, Floats]:
        """Return U'CU, U'c and U'r, for c >= 0."""

    def rows(self, chosen: NDArray[np.intp]) -> Floats:
        """Return the given rows as a dense array."""

    def weights(self, u: Floats) -> Floats:
        """Return the weights for the problem's columns, shape (d,)."""

    def start(self, weights: Floats) -> Floats:
        """Return u for given weights of the problem's columns."""


def row_products(problem: Problem) -> RowProducts:
    """Return the design matrix of a problem, dense or sparse."""
    rows = problem.rows
    n, d = rows.shape
    is_far = _is_far(problem.columns.scale)
    if not rows.is_sparse:
        has_centre = problem.columns.shift is not None or is_far
        return DenseProducts(problem, problem.blocks, None if has_centre else _centre(problem))
    if is_far:
        return DenseProducts(problem, lambda: spread_blocks(problem), None)
    centre = _centre(problem)
    length = np.diff(np.asarray(rows.indptr)).astype(np.float64)
    if centre is None and DENSE_IS_FASTER * float(length @ length) <= n * float(d) ** 2:
        return SparseProducts(problem)
    return DenseProducts(problem, lambda: spread_blocks(problem), centre)


def _is_far(scale: Floats | None) -> bool:
    """Return whether squares of the raw columns may overflow or underflow."""
    if scale is None:
        return False
    used = scale[scale > 0]
    return bool(((used > FAR) | (used < 1.0 / FAR)).any())


def _centre(problem: Problem) -> Floats | None:
    """Return the means of the columns to centre, 0 for the others; None: no column."""
    if not problem.fit_intercept:
        return None
    n, d = problem.rows.shape
    sums, squares = np.zeros(d), np.zeros(d)
    ones = np.ones(n)
    if problem.rows.is_sparse:
        table = np.zeros((d, 1))
        native.add_rows(problem.core, ones[:, None], table)
        sums = table[:, 0]
        native.add_squares(problem.core, ones, squares)
    else:
        for _, block in problem.blocks():
            sums += block.sum(axis=0)
            squares += np.einsum("ij,ij->j", block, block)
    mean = sums / n
    rest = np.maximum(squares / n - mean**2, 0.0)
    far = mean**2 > SHIFTED**2 * rest
    if problem.rows.is_sparse:  # do not densify for constant columns
        far &= rest > 1e-20 * mean**2
    return np.where(far, mean, 0.0) if far.any() else None


def spread_blocks(problem: Problem) -> Iterator[tuple[int, Floats]]:
    """Yield blocks of sparse rows as dense arrays."""
    n, d = problem.rows.shape
    place = np.arange(d, dtype=np.int64)
    step = max(1, BLOCK // d)
    for start in range(0, n, step):
        block = np.zeros((min(step, n - start), d))
        native.spread_columns(problem.core, start, len(block), place, block)
        yield start, block


class DenseProducts:
    """A design matrix of dense blocks.

    Parameters
    ----------
    problem : Problem
    blocks : callable
        Yields the first row and the unscaled values of each block, in order.
    centre : ndarray, shape (d,), or None
        Subtracted from each row.
    """

    def __init__(
        self, problem: Problem, blocks: Callable[[], Blocks], centre: Floats | None
    ) -> None:
        n, self.size = problem.rows.shape
        self.centre, self._n = centre, n
        scale = problem.columns.scale
        is_far = _is_far(scale)
        self._scale: Floats | None = None if is_far else scale
        self._first: Floats | None = scale if is_far else None
        self._made = blocks
        self._kept: list[tuple[int, Floats]] | None = None
        if n * self.size <= KEPT:
            whole = np.empty((n, self.size))
            for start, block in self._blocks():
                whole[start : start + len(block)] = block
            self._kept = [(0, whole)]

    def _blocks(self) -> Blocks:
        if self._kept is not None:
            yield from self._kept
            return
        for start, block in self._made():
            centred = block if self.centre is None else block - self.centre
            yield start, centred if self._first is None else centred * self._first

    def matvec(self, u: Floats, b: float) -> Floats:
        """Return Uu + b."""
        w = u if self._scale is None else u * self._scale
        scores = np.empty(self._n)
        for start, block in self._blocks():
            scores[start : start + len(block)] = block @ w
        scores += b
        return scores

    def rmatvec(self, r: Floats) -> Floats:
        """Return U'r."""
        sums = np.zeros(self.size)
        for start, block in self._blocks():
            sums += r[start : start + len(block)] @ block
        return sums if self._scale is None else sums * self._scale

    def products(self, c: Floats, r: Floats) -> tuple[Floats, Floats, Floats]:
        """Return U'CU, U'c and U'r, for c >= 0."""
        products, sums = np.zeros((self.size, self.size)), np.zeros((2, self.size))
        root, both = np.sqrt(c), np.stack([c, r])
        step = max(64, BLOCK // self.size)
        buffer = np.empty((step, self.size))
        for first, whole in self._blocks():
            for start in range(0, len(whole), step):
                block = whole[start : start + step]
                here = slice(first + start, first + start + len(block))
                sums += both[:, here] @ block
                used = np.flatnonzero(root[here])
                if 3 * len(used) < 2 * len(block):
                    block, factor = block[used], root[here][used]
                else:
                    factor = root[here]
                part = buffer[: len(block)]
                np.multiply(block, factor[:, None], out=part)
                add_rows_to_scatter(products, part)
        fill_lower(products)
        return _scaled(self._scale, products, sums)

    def rows(self, chosen: NDArray[np.intp]) -> Floats:
        """Return the given rows as a dense array."""
        found = [
            block[chosen[(chosen >= start) & (chosen < start + len(block))] - start]
            for start, block in self._blocks()
        ]
        some = np.concatenate(found)
        return some if self._scale is None else some * self._scale

    def weights(self, u: Floats) -> Floats:
        """Return u, which has the weights for the problem's columns."""
        return u

    def start(self, weights: Floats) -> Floats:
        """Return the weights, which are u."""
        return weights


class SparseProducts:
    """A sparse design matrix.

    Parameters
    ----------
    problem : Problem
    """

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self.size = problem.rows.n_features
        self._matrix: Any = None

    def matvec(self, u: Floats, b: float) -> Floats:
        """Return Uu + b."""
        return self._problem.matvec(u[:, None])[:, 0] + b

    def rmatvec(self, r: Floats) -> Floats:
        """Return U'r."""
        return self._problem.rmatvec(r[:, None])[:, 0]

    def products(self, c: Floats, r: Floats) -> tuple[Floats, Floats, Floats]:
        """Return U'CU, U'c and U'r, for c >= 0."""
        problem = self._problem
        pairs, sums = np.zeros((self.size, self.size)), np.zeros((2, self.size))
        native.add_outer(problem.core, c, pairs)
        native.add_rows(problem.core, c[:, None], sums[0, :, None])
        native.add_rows(problem.core, r[:, None], sums[1, :, None])
        products = pairs + pairs.T
        products[np.diag_indices(self.size)] *= 0.5
        return _scaled(problem.columns.scale, products, sums)

    def rows(self, chosen: NDArray[np.intp]) -> Floats:
        """Return the given rows as a dense array."""
        if self._matrix is None:
            self._matrix = self._problem.rows.to_matrix()
        some: Floats = np.asarray(self._matrix[chosen].todense(), dtype=np.float64)
        scale = self._problem.columns.scale
        return some if scale is None else some * scale

    def weights(self, u: Floats) -> Floats:
        """Return u, which has the weights for the problem's columns."""
        return u

    def start(self, weights: Floats) -> Floats:
        """Return the weights, which are u."""
        return weights


def _scaled(scale: Floats | None, products: Floats, sums: Floats) -> tuple[Floats, Floats, Floats]:
    if scale is not None:
        products *= scale
        products *= scale[:, None]
        sums = sums * scale
    return products, sums[0], sums[1]
