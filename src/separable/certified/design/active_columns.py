"""Gram matrix of the active columns, for block coordinate descent."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from separable._core import native
from separable.certified.design.row_products import row_products
from separable.certified.problem import Columns
from separable.data.rows import Rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.certified.problem import Problem
    from separable.typing import Floats


__all__ = ["ColumnProducts", "curvatures"]


class ColumnProducts:
    """The Gram matrix of some columns of a problem.

    Parameters
    ----------
    problem : Problem
    columns : ndarray of intp
        In block order.
    """

    def __init__(self, problem: Problem, columns: NDArray[np.intp]) -> None:
        self.columns = columns
        self._fit_intercept = problem.fit_intercept
        self._rows = row_products(_restricted(problem, columns))

    def products(self, c: Floats) -> Floats:
        """Return Z'CZ with the intercept profiled out."""
        h, sums, _ = self._rows.products(c, c)
        total = float(c.sum())
        if self._fit_intercept and total > 0:
            h -= np.outer(sums / total, sums)
        return h


def _restricted(problem: Problem, columns: NDArray[np.intp]) -> Problem:
    """Return the problem restricted to some columns, in their order."""
    if len(columns) == problem.rows.n_features and (np.diff(columns) == 1).all():
        return problem
    rows, seen = problem.rows, problem.columns
    if rows.is_sparse:
        matrix = rows.to_matrix()[:, columns]
        part = Rows(matrix.data, len(columns), matrix.indices, matrix.indptr)
    else:
        part = Rows(np.ascontiguousarray(rows.values[:, columns]), len(columns))
    return replace(
        problem,
        rows=part,
        columns=Columns(
            None if seen.shift is None else seen.shift[columns],
            None if seen.scale is None else seen.scale[columns],
        ),
    )


def curvatures(problem: Problem, c: Floats) -> Floats:
    """Return the diagonal of Z'CZ with the intercept profiled out."""
    rows, scale = problem.rows, problem.columns.scale
    squares = np.zeros(rows.n_features)
    if rows.indptr is None or rows.indices is None:
        unit = 1.0 if scale is None else scale
        for start, block in problem.blocks():
            scaled = block * unit  # scale before squaring, to avoid overflow
            squares += np.einsum("i,ij,ij->j", c[start : start + len(block)], scaled, scaled)
    elif scale is None:
        native.add_squares(problem.core, c, squares)
    else:
        cells = rows.values * scale[rows.indices]
        cells *= cells
        cells *= np.repeat(c, np.diff(rows.indptr))
        squares += np.bincount(rows.indices, weights=cells, minlength=rows.n_features)
    total = float(c.sum())
    if problem.fit_intercept and total > 0:
        squares -= problem.rmatvec(c[:, None])[:, 0] ** 2 / total
    return np.maximum(squares, 0.0)
