"""Design matrix of leave-one-out: dense blocks with a constant column for the intercept."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from separable._core import native
from separable.certified.design.row_products import row_products
from separable.certified.design.row_space import RowSpace
from separable.data.core_rows import core_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from separable.certified.problem import Problem
    from separable.typing import Floats, Indices


__all__ = ["BLOCK", "LeftOutRows", "parts_of", "row_dots"]

#: Cells of a block.
BLOCK = 1 << 19


def parts_of(places: Indices, width: int) -> Iterator[Indices]:
    """Yield places some at a time, so that a block of that width is not too large."""
    step = max(16, BLOCK // max(1, width))
    for start in range(0, len(places), step):
        yield places[start : start + step]


def row_dots(a: Floats, b: Floats) -> Floats:
    """Return a_i.b_i for each row i."""
    dots: Floats = np.einsum("ij,ij->i", a, b)
    return dots


class LeftOutRows:
    """Rows x, n x m, of a problem: its columns, or with fewer rows the space that these span.

    Parameters
    ----------
    problem : Problem
    by_rows : bool
        Whether the space of the rows is taken. |u| is the same there; single columns are lost.
    """

    def __init__(self, problem: Problem, *, by_rows: bool) -> None:
        self.problem, self.n_rows = problem, problem.rows.n_rows
        self._space = RowSpace(problem) if by_rows else None
        self._products = row_products(problem) if self._space is None else self._space
        self._centre: Floats | None = getattr(self._products, "centre", None)
        self.has_last = problem.fit_intercept
        self.size = self._products.size + self.has_last

    @property
    def has_columns(self) -> bool:
        """Whether columns are those of the problem."""
        return self._space is None

    def each_part(self) -> Iterator[Indices]:
        """Yield all rows, some at a time."""
        return parts_of(np.arange(self.n_rows), self.size)

    def take(self, chosen: Indices) -> Floats:
        """Return some rows, with 1 in the end where there is an intercept."""
        x = self.columns_of(chosen) if self._space is None else self._space.rows(chosen)
        return np.append(x, np.ones((len(x), 1)), axis=1) if self.has_last else x

    def columns_of(self, chosen: Indices) -> Floats:
        """Return the given rows in the problem's columns as a dense array."""
        rows, columns = self.problem.rows, self.problem.columns
        if rows.is_sparse:
            x = np.zeros((len(chosen), rows.n_features))
            place = np.arange(rows.n_features, dtype=np.int64)
            native.spread_columns(core_rows(rows.take(chosen)), 0, len(chosen), place, x)
        else:
            x = np.array(rows.values[chosen], dtype=np.float64)
        for shift in (columns.shift, self._centre):
            if shift is not None:
                x -= shift
        if columns.scale is not None:
            x *= columns.scale
        return x

    def sums(self, curvature: Floats, gradient: Floats) -> tuple[Floats, Floats]:
        """Return sum_i curvature_i x_i x_i' and sum_i gradient_i x_i."""
        products, mixed, correlation = self._products.products(curvature, gradient)
        if not self.has_last:
            return products, correlation
        whole = np.empty((self.size, self.size))
        whole[:-1, :-1] = products
        whole[-1, :-1] = whole[:-1, -1] = mixed
        whole[-1, -1] = curvature.sum()
        return whole, np.append(correlation, gradient.sum())

    def weights(self, u: Floats) -> Floats:
        """Return weights of the problem's columns as those of these, the last one 0."""
        seen = self._products.start(u)
        return np.append(seen, 0.0) if self.has_last else seen

    def many_weights(self, u: Floats) -> Floats:
        """Return many weights of the problem's columns, (k, d), as those of these, (k, m)."""
        seen = u if self._space is None else self._space.starts(u)
        return np.append(seen, np.zeros((len(seen), 1)), axis=1) if self.has_last else seen
