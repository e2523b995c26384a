"""Reduction to the row space for n < d (the representer theorem).

The optimal weights are combinations of rows: w = Bu with |u| = |w|, and U, n x n, has the Gram
matrix of Z. Dense rows use the QR decomposition of Z', centred; sparse rows the eigenvectors of
ZZ'.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh, qr

from separable.data.rows import Rows
from separable.linalg.design_matrix import DenseMatrix, DesignMatrix, SparseMatrix
from separable.typing import Floats

#: Directions of a smaller relative norm are rounding.
ROUNDING = 1e-14


def compact(x: DesignMatrix, *, centred: bool) -> DesignMatrix:
    """Return an equal matrix, up to an intercept, for solvers that factor m x m systems.

    Its weights are converted by `DesignMatrix.expand` and `DesignMatrix.project`.
    """
    n, d = x.shape
    return RowSpace(x, centred=centred) if n < d else x.spread(centred=centred)


class RowSpace(DenseMatrix):
    """A design matrix in its row space.

    Parameters
    ----------
    x : DesignMatrix
        With fewer rows than columns.
    centred : bool
        Whether columns may be centred, as there is an intercept.
    """

    def __init__(self, x: DesignMatrix, *, centred: bool) -> None:
        self._x, self._basis = x, None
        if isinstance(x, SparseMatrix):
            values = _root_of_products(x)
        else:
            self._basis, values = _orthogonal(x, centred=centred)
        super().__init__(Rows(values, values.shape[1]), None, None)
        self._squares = np.einsum("ij,ij->j", values, values)  # eigenvalues, for sparse rows

    def expand(self, u: Floats) -> Floats:
        """Return the weights for the columns of the matrix."""
        if self._basis is not None:
            return self._basis @ u
        return self._x.rmatvec(self.matvec(_divide(u, self._squares)))

    def project(self, w: NDArray[Any]) -> Floats:
        """Return u for the projection of weights of the matrix onto the row space."""
        w = np.asarray(w, dtype=np.float64)
        if self._basis is not None:
            u: Floats = self._basis.T @ w
            return u
        return _divide(self.rmatvec(self._x.matvec(w)), self._squares)


def _divide(u: Floats, by: Floats) -> Floats:
    return (u.T / by).T


def _orthogonal(x: DesignMatrix, *, centred: bool) -> tuple[Floats, Floats]:
    """Return B, d x n, and U, n x n."""
    z = np.array(x.take(np.arange(x.shape[0])))
    if centred:
        z -= z.mean(axis=0)
    basis, factor = qr(z.T, mode="economic", overwrite_a=True, check_finite=False)
    # drop directions of pure rounding: centred rows have one, duplicate rows have more
    size = np.sqrt(np.einsum("ij,ij->i", factor, factor))
    kept = size >= ROUNDING * size.max(initial=0.0)
    return np.asarray(basis[:, kept], np.float64), np.ascontiguousarray(factor[kept].T, np.float64)


def _root_of_products(x: DesignMatrix) -> Floats:
    """Return U = V S^1/2 with ZZ' = V S V'; its columns are orthogonal."""
    products = x.row_gram(np.arange(x.shape[0]))
    values, vectors = eigh(products, overwrite_a=True, check_finite=False)
    kept = values > 1e-15 * values[-1]
    return np.ascontiguousarray(vectors[:, kept] * np.sqrt(values[kept]))
