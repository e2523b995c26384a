"""Regression with more columns than rows: from the n x n side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import eigh, qr, svd

from separable.data.rows import largest_magnitude
from separable.model.scores import linear_scores

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.moments.data import Data

    Floats = NDArray[np.float64]

__all__ = ["RowSide", "smallest_weights"]


class RowSide:
    """Rows U = sqrt(C) (X - mean), and targets likewise, as products of rows with each other.

    Parameters
    ----------
    data : Data
        Rows that all count.
    fit_intercept : bool
        Whether columns are centred.
    """

    def __init__(self, data: Data, *, fit_intercept: bool) -> None:
        rows, weight = data.rows, data.counted.weight
        largest_magnitude(rows, data.X)
        self.rows = rows
        self.root = np.ones(rows.n_rows) if weight is None else np.sqrt(weight)
        share = self.root**2 / (self.root**2).sum()
        numbers = data.y.reshape(len(data.y), -1)
        self.matrix: Any = rows.to_matrix()
        self.mean = np.zeros(rows.n_features)
        self.target_mean = np.zeros(numbers.shape[1])
        if fit_intercept:
            self.mean = np.asarray(self.matrix.T @ share, dtype=np.float64)
            self.target_mean = share @ numbers
        self.targets: Floats = self.root[:, None] * (numbers - self.target_mean)

    def centred(self) -> Floats:
        """Return U; only for dense rows."""
        dense: Floats = self.root[:, None] * (self.rows.values - self.mean)
        return dense

    def products(self) -> Floats:
        """Return UU', n x n; sparse rows stay sparse."""
        if not self.rows.is_sparse:
            u = self.centred()
            return u @ u.T
        whole = np.asarray((self.matrix @ self.matrix.T).todense(), dtype=np.float64)
        along = np.asarray(self.matrix @ self.mean)
        whole -= along
        whole -= along[:, None]
        whole += self.mean @ self.mean
        whole *= self.root
        whole *= self.root[:, None]
        return whole

    def back(self, dual: Floats) -> Floats:
        """Return U'a for a of shape (n, t), as (t, d)."""
        scaled = self.root[:, None] * dual
        sums = np.asarray(self.matrix.T @ scaled).T
        weights: Floats = sums - np.multiply.outer(scaled.sum(axis=0), self.mean)
        return weights

    def residuals(self, weights: Floats) -> Floats:
        """Return what weights leave of the targets, each row times the root of its weight."""
        scores = linear_scores(self.rows, weights, -weights @ self.mean)
        left: Floats = self.targets - self.root[:, None] * scores
        return left

    def intercept(self, weights: Floats) -> Floats:
        """Return the intercepts that go with weights."""
        plane: Floats = self.target_mean - weights @ self.mean
        return plane


def smallest_weights(data: Data, *, fit_intercept: bool) -> tuple[Floats, Floats, int, Floats]:
    """Return weights of smallest norm, intercepts, rank and residual squares.

    Dense rows are factored by Householder's method; of sparse ones the products are decomposed, and
    the weights improved by the residuals twice.
    """
    side = RowSide(data, fit_intercept=fit_intercept)
    n, eps = side.rows.n_rows, np.finfo(np.float64).eps
    if side.rows.is_sparse:
        values, vectors = eigh(side.products())
        good = values > n * eps * values[-1]
        weights = np.zeros((side.targets.shape[1], side.rows.n_features))
        for _ in range(3):
            left = vectors[:, good].T @ side.residuals(weights)
            weights = weights + side.back(vectors[:, good] @ (left / values[good, None]))
    else:
        q, r = qr(side.centred().T, mode="economic")
        u, sizes, vt = svd(r.T)
        good = sizes > max(side.rows.shape) * eps * sizes[0]
        weights = (q @ (vt[good].T @ ((u[:, good].T @ side.targets) / sizes[good, None]))).T
    squares = (side.residuals(weights) ** 2).sum(axis=0)
    return weights, side.intercept(weights), int(good.sum()), squares
