"""Reduction to the row space for n < d (the representer theorem).

The optimal weights are combinations of rows: w = Bu with |u| = |w|, and U, n x n, has the Gram
matrix of Z. Dense rows use the QR decomposition of Z', centred; sparse rows the eigenvectors of
ZZ'.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import eigh, qr

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.certified.problem import Problem
    from separable.typing import Floats


__all__ = ["RowSpace"]

#: Directions of a smaller relative norm are rounding.
ROUNDING = 1e-14


class RowSpace:
    """The design matrix in its row space; see `RowProducts`.

    Parameters
    ----------
    problem : Problem
        With fewer rows than columns.
    """

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._basis: Floats | None = None
        if problem.rows.is_sparse:
            self._rows = _root_of_products(problem)
        else:
            self._basis, self._rows = _orthogonal(problem)
        self.size = self._rows.shape[1]

    def matvec(self, u: Floats, b: float) -> Floats:
        """Return Uu + b."""
        return self._rows @ u + b

    def rmatvec(self, r: Floats) -> Floats:
        """Return U'r."""
        return r @ self._rows

    def products(self, c: Floats, r: Floats) -> tuple[Floats, Floats, Floats]:
        """Return U'CU, U'c and U'r, for c >= 0."""
        rooted = self._rows * np.sqrt(c)[:, None]
        return rooted.T @ rooted, c @ self._rows, r @ self._rows

    def rows(self, chosen: NDArray[np.intp]) -> Floats:
        """Return the given rows."""
        return self._rows[chosen]

    def weights(self, u: Floats) -> Floats:
        """Return the weights for the problem's columns."""
        if self._basis is not None:
            return self._basis @ u
        return self._problem.rmatvec((self._rows @ (u / self._norms()))[:, None])[:, 0]

    def start(self, weights: Floats) -> Floats:
        """Return u for the projection of weights of the problem's columns onto the row space."""
        start: Floats = self.starts(weights[None, :])[0]
        return start

    def starts(self, weights: Floats) -> Floats:
        """Return u for several weight vectors, (k, d)."""
        if self._basis is not None:
            seen: Floats = weights @ self._basis
            return seen
        scores = self._problem.matvec(np.ascontiguousarray(weights.T))
        start: Floats = scores.T @ self._rows / self._norms()
        return start

    def _norms(self) -> Floats:
        """Return the eigenvalues, which are the squared norms of the columns of U."""
        norms: Floats = np.einsum("ij,ij->j", self._rows, self._rows)
        return norms


def _orthogonal(problem: Problem) -> tuple[Floats, Floats]:
    """Return B, d x n, and U, n x n."""
    n, d = problem.rows.shape
    z = np.empty((n, d))
    for start, block in problem.blocks():
        z[start : start + len(block)] = block
    if problem.fit_intercept:
        z -= z.mean(axis=0)
    if problem.columns.scale is not None:
        z *= problem.columns.scale
    basis, factor = qr(z.T, mode="economic", overwrite_a=True, check_finite=False)
    # drop directions of pure rounding: centred rows have one, duplicate rows have more
    size = np.sqrt(np.einsum("ij,ij->i", factor, factor))
    kept = size >= ROUNDING * size.max(initial=0.0)
    return np.asarray(basis[:, kept], np.float64), np.ascontiguousarray(factor[kept].T, np.float64)


def _root_of_products(problem: Problem) -> Floats:
    """Return U = V S^1/2 with ZZ' = V S V'; its columns are orthogonal."""
    matrix = problem.rows.to_matrix().astype(np.float64)
    if problem.columns.scale is not None:
        matrix = matrix.multiply(problem.columns.scale).tocsr()
    products = np.zeros((matrix.shape[0],) * 2)
    (matrix @ matrix.T).todense(out=products)
    values, vectors = eigh(products, overwrite_a=True, check_finite=False)
    kept = values > 1e-15 * values[-1]
    return np.ascontiguousarray(vectors[:, kept] * np.sqrt(values[kept]))
