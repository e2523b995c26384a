"""Design matrix of leave-one-out: dense blocks with a constant column for the intercept."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from separable.certified.problem import Problem
from separable.linalg.row_space import RowSpace
from separable.typing import Floats, Indices

#: Cells of a block.
BLOCK = 1 << 19


def parts_of(indices: Indices, width: int) -> Iterator[Indices]:
    """Yield places some at a time, so that a block of that width is not too large."""
    step = max(16, BLOCK // max(1, width))
    for start in range(0, len(indices), step):
        yield indices[start : start + step]


def row_dots(a: Floats, b: Floats) -> Floats:
    """Return a_i.b_i for each row i."""
    dots: Floats = np.einsum("ij,ij->i", a, b)
    return dots


class LeftOutRows:
    """Rows x, n x m, of a problem: its columns, or with fewer rows the space that these span.

    Parameters
    ----------
    by_rows : bool
        Whether the space of the rows is taken. |u| is the same there; single columns are lost.
    """

    def __init__(self, problem: Problem, *, by_rows: bool) -> None:
        self.problem, self.n_rows = problem, problem.rows.n_rows
        centred = problem.fit_intercept
        self._x = (
            RowSpace(problem.x, centred=centred) if by_rows else problem.x.spread(centred=centred)
        )
        self.has_columns, self.has_last = not by_rows, problem.fit_intercept
        self.size = self._x.shape[1] + self.has_last

    def each_part(self) -> Iterator[Indices]:
        """Yield all rows, some at a time."""
        return parts_of(np.arange(self.n_rows), self.size)

    def take(self, chosen: Indices) -> Floats:
        """Return some rows, with 1 in the end where there is an intercept."""
        x = self._x.take(chosen)
        return np.append(x, np.ones((len(x), 1)), axis=1) if self.has_last else x

    def columns_of(self, chosen: Indices) -> Floats:
        """Return the given rows in the problem's columns as a dense array."""
        return (self._x if self.has_columns else self.problem.x).take(chosen)

    def sums(self, curvature: Floats, gradient: Floats) -> tuple[Floats, Floats]:
        """Return sum_i curvature_i x_i x_i' and sum_i gradient_i x_i."""
        products = self._x.gram(curvature)
        mixed, correlation = self._x.rmatvec(np.stack([curvature, gradient], axis=1)).T
        if not self.has_last:
            return products, correlation
        whole = np.empty((self.size, self.size))
        whole[:-1, :-1] = products
        whole[-1, :-1] = whole[:-1, -1] = mixed
        whole[-1, -1] = curvature.sum()
        return whole, np.append(correlation, gradient.sum())

    def weights(self, u: Floats) -> Floats:
        """Return weights of the problem's columns as those of these, the last one 0."""
        seen = self._x.project(u)
        return np.append(seen, 0.0) if self.has_last else seen

    def many_weights(self, u: Floats) -> Floats:
        """Return many weights of the problem's columns, (k, d), as those of these, (k, m)."""
        seen = self._x.project(u.T).T
        return np.append(seen, np.zeros((len(seen), 1)), axis=1) if self.has_last else seen
