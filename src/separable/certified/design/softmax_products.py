"""Design matrices for multinomial logistic regression: products with K columns at once."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from separable._core import native, portable
from separable.certified.design.row_space import RowSpace
from separable.certified.problem import BLOCK
from separable.data.core_rows import core_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from separable.certified.problem import Problem
    from separable.typing import Floats

    Array = NDArray[Any]

__all__ = ["BlockRows", "MultinomialRows", "SparseRows", "WrittenRows", "hessian_product"]


def hessian_product(c: Array, q: Array, ds: Array) -> Array:
    """Return the Hessian product of each row: the change of c (q - 1[y = k]) with scores by ds."""
    mean = np.einsum("ik,ik->i", q, ds)
    change: Array = ds - mean[:, None]
    change *= q
    change *= c[:, None]
    return change


#: Maximum cells of cached centred rows; larger blocks are recomputed for each product.
KEPT = 1 << 24


class MultinomialRows(Protocol):
    """The interface of a design matrix U, n x m, equivalent to Z up to intercepts."""

    size: int
    dtype: np.dtype[Any]

    def matvec(self, u: Floats) -> Floats:
        """Return Uu for u of shape (m, K)."""

    def rmatvec(self, r: Floats) -> Floats:
        """Return U'r for r of shape (n, K)."""

    def hessian_products(
        self, c: Array, q: Array, u: Floats, b: Floats
    ) -> tuple[Array, Floats, Floats]:
        """Return ds = Uu + b, and U'r and the sums of r, r being the Hessian product of ds.

        The costs c and probabilities q are in `dtype`.
        """

    def squares(self, c: Floats) -> Floats:
        """Return sum_i c_ik U_ij^2, (m, K)."""

    def lengths(self, v: Floats) -> Floats:
        """Return sum_j v_j U_ij^2, (n,)."""

    def take(self, chosen: NDArray[np.intp]) -> Floats:
        """Return the given rows in float64, as a copy."""

    def blocks(self, step: int) -> Iterator[tuple[slice, Floats]]:
        """Yield slices of at most ``step`` rows, and their values in float64."""

    def weights(self, u: Floats) -> Floats:
        """Return weights of the problem's columns, (d, K)."""

    def start(self, weights: Floats) -> Floats:
        """Return the u of weights of the problem's columns."""


class WrittenRows:
    """A small dense design matrix in float64, centred, or in its row space.

    Parameters
    ----------
    problem : Problem
    """

    dtype: np.dtype[Any] = np.dtype(np.float64)

    def __init__(self, problem: Problem) -> None:
        n, d = problem.rows.shape
        self._space = RowSpace(problem) if n < d else None
        if self._space is not None:
            self.matrix = self._space.rows(np.arange(n))
        else:
            self.matrix = _written(problem)
            if problem.fit_intercept:
                self.matrix -= self.matrix.mean(axis=0)
            if problem.columns.scale is not None:
                self.matrix *= problem.columns.scale
        self.size = self.matrix.shape[1]

    def matvec(self, u: Floats) -> Floats:
        """Return Uu."""
        return self.matrix @ u

    def rmatvec(self, r: Floats) -> Floats:
        """Return U'r."""
        return self.matrix.T @ r

    def hessian_products(
        self, c: Array, q: Array, u: Floats, b: Floats
    ) -> tuple[Array, Floats, Floats]:
        """Return ds = Uu + b, and U'r and the sums of r, r being the Hessian product of ds."""
        ds = self.matrix @ u + b
        r = hessian_product(c, q, ds)
        return ds, self.matrix.T @ r, r.sum(axis=0)

    def squares(self, c: Floats) -> Floats:
        """Return sum_i c_ik U_ij^2."""
        return (self.matrix**2).T @ c

    def lengths(self, v: Floats) -> Floats:
        """Return sum_j v_j U_ij^2."""
        return self.matrix**2 @ v

    def take(self, chosen: NDArray[np.intp]) -> Floats:
        """Return the given rows."""
        return self.matrix[chosen]

    def blocks(self, step: int) -> Iterator[tuple[slice, Floats]]:
        """Yield slices and their rows."""
        for start in range(0, len(self.matrix), step):
            here = slice(start, start + step)
            yield here, self.matrix[here]

    def weights(self, u: Floats) -> Floats:
        """Return weights of the problem's columns."""
        if self._space is None:
            return u
        return np.stack([self._space.weights(one) for one in u.T], axis=1)

    def start(self, weights: Floats) -> Floats:
        """Return the u of weights of the problem's columns."""
        if self._space is None:
            return weights
        return np.stack([self._space.start(one) for one in weights.T], axis=1)


def _written(problem: Problem) -> Floats:
    """Return all rows in float64, shifted but not scaled."""
    n, d = problem.rows.shape
    whole = np.zeros((n, d))
    if problem.rows.is_sparse:
        native.spread_columns(problem.core, 0, n, np.arange(d, dtype=np.int64), whole)
    else:
        for start, block in problem.blocks():
            whole[start : start + len(block)] = block
    return whole


class _Plain:
    """A design matrix in the problem's columns."""

    dtype: np.dtype[Any] = np.dtype(np.float64)

    def __init__(self, problem: Problem) -> None:
        self._problem, self.size = problem, problem.rows.n_features

    def weights(self, u: Floats) -> Floats:
        """Return u, which has the weights for the problem's columns."""
        return u

    def start(self, weights: Floats) -> Floats:
        """Return the weights, which are u."""
        return weights


class BlockRows(_Plain):
    """A dense design matrix in cache-sized blocks, centred and multiplied in one float type.

    Parameters
    ----------
    problem : Problem
    dtype : dtype
        Type of the products; sums over blocks are float64.
    """

    def __init__(self, problem: Problem, dtype: np.dtype[Any]) -> None:
        super().__init__(problem)
        self.dtype = dtype
        shift = problem.columns.shift
        # any centre works with an intercept; this one needs no conversion
        self._centre = None if shift is None else shift.astype(problem.rows.values.dtype)

    def _blocks(self) -> Iterable[tuple[slice, Array]]:
        """Yield unscaled blocks; one may be overwritten by the next."""
        return self._made() if self._kept is None else self._kept

    @cached_property
    def _kept(self) -> list[tuple[slice, Array]] | None:
        """All blocks if they fit the cache limit."""
        if self._problem.rows.n_rows * self.size > KEPT:
            return None
        return [(here, block.copy()) for here, block in self._made()]

    def _made(self) -> Iterator[tuple[slice, Array]]:
        values = self._problem.rows.values
        n, d = values.shape
        step = max(1, BLOCK // max(1, d))
        centred = np.empty((min(step, n), d), values.dtype)
        cast = np.empty((min(step, n), d), self.dtype)
        for start in range(0, n, step):
            block = values[start : start + step]
            here = slice(start, start + len(block))
            if self._centre is not None:
                block = np.subtract(block, self._centre, out=centred[: len(block)])
            if block.dtype != self.dtype:
                cast[: len(block)] = block
                block = cast[: len(block)]
            yield here, block

    def _scaled(self, u: Floats) -> Array:
        scale = self._problem.columns.scale
        w = u if scale is None else u * scale[:, None]
        return np.ascontiguousarray(w, dtype=self.dtype)

    def _sums(self, sums: Floats) -> Floats:
        scale = self._problem.columns.scale
        return sums.T if scale is None else (sums * scale).T

    def matvec(self, u: Floats) -> Floats:
        """Return Uu."""
        w = self._scaled(u)
        scores = np.empty((self._problem.rows.n_rows, w.shape[1]))
        for here, block in self._blocks():
            scores[here] = block @ w
        return scores

    def rmatvec(self, r: Floats) -> Floats:
        """Return U'r."""
        r = r.astype(self.dtype, copy=False)
        sums = np.zeros((r.shape[1], self.size))
        for here, block in self._blocks():
            sums += r[here].T @ block
        return self._sums(sums)

    def hessian_products(
        self, c: Array, q: Array, u: Floats, b: Floats
    ) -> tuple[Array, Floats, Floats]:
        """Return ds = Uu + b, and U'r and the sums of r, r being the Hessian product of ds."""
        w, b = self._scaled(u), b.astype(self.dtype)
        ds, total = np.empty(q.shape, self.dtype), np.zeros(len(b))
        sums = np.zeros((len(b), self.size))
        for here, block in self._blocks():
            moved = np.matmul(block, w, out=ds[here])
            moved += b
            r = hessian_product(c[here], q[here], moved)
            total += r.sum(axis=0)
            sums += r.T @ block
        return ds, self._sums(sums), total

    def squares(self, c: Floats) -> Floats:
        """Return sum_i c_ik U_ij^2."""
        sums = np.zeros((c.shape[1], self.size))
        for here, block in self._blocks():
            sums += c[here].T @ (block * block)
        return self._sums(self._sums(sums).T)

    def lengths(self, v: Floats) -> Floats:
        """Return sum_j v_j U_ij^2."""
        w, lengths = self._scaled(self._scaled(v[:, None])), np.empty(self._problem.rows.n_rows)
        for here, block in self._blocks():
            lengths[here] = ((block * block) @ w)[:, 0]
        return lengths

    def take(self, chosen: NDArray[np.intp]) -> Floats:
        """Return the given rows."""
        return self._rows(chosen)

    def blocks(self, step: int) -> Iterator[tuple[slice, Floats]]:
        """Yield slices and their rows in float64."""
        for start in range(0, self._problem.rows.n_rows, step):
            here = slice(start, start + step)
            yield here, self._rows(here)

    def _rows(self, chosen: Any) -> Floats:
        scale = self._problem.columns.scale
        rows = self._problem.rows.values[chosen]
        if self._centre is not None:
            rows = rows - self._centre
        rows = np.asarray(rows, dtype=np.float64)
        return rows if scale is None else rows * scale


class SparseRows(_Plain):
    """A sparse design matrix, by compiled products."""

    def matvec(self, u: Floats) -> Floats:
        """Return Uu."""
        return self._problem.matvec(u)

    def rmatvec(self, r: Floats) -> Floats:
        """Return U'r."""
        return self._problem.rmatvec(r)

    def hessian_products(
        self, c: Array, q: Array, u: Floats, b: Floats
    ) -> tuple[Array, Floats, Floats]:
        """Return ds = Uu + b, and U'r and the sums of r, r being the Hessian product of ds."""
        ds = self.matvec(u)
        ds += b
        r = hessian_product(c, q, ds)
        return ds, self.rmatvec(r), r.sum(axis=0)

    def squares(self, c: Floats) -> Floats:
        """Return sum_i c_ik U_ij^2."""
        sums = np.zeros((c.shape[1], self.size))
        for cost, mine in zip(np.ascontiguousarray(c.T), sums, strict=True):
            native.add_squares(self._problem.core, cost, mine)
        scale = self._problem.columns.scale
        return sums.T if scale is None else (sums * scale**2).T

    @cached_property
    def _squares(self) -> portable.Rows:
        rows = self._problem.rows
        return core_rows(replace(rows, values=rows.values**2))

    def lengths(self, v: Floats) -> Floats:
        """Return sum_j v_j U_ij^2."""
        scale, lengths = self._problem.columns.scale, np.empty((self._problem.rows.n_rows, 1))
        w = v if scale is None else v * scale**2
        native.score_rows(self._squares, np.ascontiguousarray(w[:, None]), lengths)
        return lengths[:, 0]

    def take(self, chosen: NDArray[np.intp]) -> Floats:
        """Return the given rows as a dense array."""
        part = core_rows(self._problem.rows.take(chosen))
        block = np.zeros((len(chosen), self.size))
        native.spread_columns(part, 0, len(block), np.arange(self.size, dtype=np.int64), block)
        scale = self._problem.columns.scale
        return block if scale is None else block * scale

    def blocks(self, step: int) -> Iterator[tuple[slice, Floats]]:
        """Yield slices and their rows as dense arrays."""
        n, d = self._problem.rows.shape
        place, scale = np.arange(d, dtype=np.int64), self._problem.columns.scale
        for start in range(0, n, step):
            block = np.zeros((min(step, n - start), d))
            native.spread_columns(self._problem.core, start, len(block), place, block)
            here = slice(start, start + len(block))
            yield here, block if scale is None else block * scale
