"""Regression with more columns than rows: from the n x n side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh, qr, svd
from scipy.linalg.lapack import dpocon

from separable._core import native
from separable.data.core_rows import core_rows
from separable.data.memory import available_bytes
from separable.data.rows import largest_magnitude
from separable.model.scores import linear_scores

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.data.rows import Rows
    from separable.moments.data import Data

    Floats = NDArray[np.float64]

__all__ = ["RowSide", "Spectrum", "ridge_weights", "smallest_weights"]

#: Matrices of n x n numbers that are held at once.
MATRICES = 4
#: One over the condition number of products, below which they lack the digits.
LEAST_SHARE = 1e-9
#: Columns with more than this share of non-zeros are centred as dense ones.
FULL = 0.25

EPS = float(np.finfo(np.float64).eps)


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
        self.rows, self.fit_intercept = rows, fit_intercept
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
        self.direction: Floats = self.root / np.linalg.norm(self.root)

    def centred(self) -> Floats:
        """Return U; only for dense rows."""
        dense: Floats = self.root[:, None] * (self.rows.values - self.mean)
        return dense

    def products(self) -> Floats:
        """Return UU', n x n; sparse rows stay sparse."""
        check_rows_fit(self.rows.n_rows)
        with np.errstate(over="ignore", invalid="ignore"):
            whole = self._products()
        if not np.isfinite(whole).all():
            raise ValueError(
                "Products of rows overflow float64: X holds values above 1e150. Scale its columns, "
                "for example with sklearn.preprocessing.StandardScaler."
            )
        return whole

    def _products(self) -> Floats:
        if not self.rows.is_sparse:
            u = self.centred()
            return u @ u.T
        full = self._full_columns()
        place = np.full(self.rows.n_features, -1, np.int64)
        place[full] = np.arange(len(full))
        u = np.zeros((self.rows.n_rows, len(full)))
        native.spread_columns(core_rows(self.rows), 0, self.rows.n_rows, place, u)
        u -= self.mean[full]
        thin, mean = self.matrix[:, place < 0], self.mean[place < 0]
        whole = np.asarray((thin @ thin.T).todense(), dtype=np.float64)
        along = np.asarray(thin @ mean)
        whole -= along
        whole -= along[:, None]
        whole += mean @ mean
        whole += u @ u.T
        whole *= self.root
        whole *= self.root[:, None]
        return whole

    def _full_columns(self) -> NDArray[np.intp]:
        """Return the columns that are centred as dense ones; the others are mostly 0."""
        filled = np.bincount(self.rows.indices, minlength=self.rows.n_features)  # type: ignore[arg-type]
        return np.flatnonzero(filled > FULL * self.rows.n_rows)

    def decomposed(self, extra: float = 0.0) -> tuple[Floats, Floats]:
        """Return eigenvalues and eigenvectors of UU' + extra vv', v along the roots of weights.

        Of products where these have the digits, else of U itself, some columns at a time.
        """
        check_rows_fit(self.rows.n_rows)
        if self.rows.is_sparse:
            products = self.products()
            if extra:
                products += extra * np.multiply.outer(self.direction, self.direction)
            values, vectors = eigh(products)
            zero = values <= len(values) * EPS * values[-1]
            if values[~zero].min(initial=values[-1]) > LEAST_SHARE * values[-1]:
                return np.where(zero, 0.0, values), vectors
        vectors, sizes, _ = svd(self._triangle(extra).T)
        return sizes**2, vectors

    def _triangle(self, extra: float) -> Floats:
        """Return R with UU' + extra vv' = R'R, by Householder's method."""
        n, d = self.rows.shape
        r: Floats = np.sqrt(extra) * self.direction[None, :]
        columns = self.matrix.tocsc() if self.rows.is_sparse else self.matrix
        step = max(1024, 4 * n)
        for start in range(0, d, step):
            part = columns[:, start : start + step]
            if self.rows.is_sparse:
                part = np.asarray(part.todense(), dtype=np.float64)
            part = self.root[:, None] * (part - self.mean[start : start + step])
            r = qr(np.vstack([r, part.T]), mode="r")[0][:n]
        if len(r) < n:
            r = np.vstack([r, np.zeros((n - len(r), n))])
        return r

    def spectrum(self, *, apart: bool = True) -> Spectrum:
        """Return the eigenvalues of UU'; ``apart``: that of the intercept moved away from 0."""
        extra = (self.squares() or 1.0) if apart and self.fit_intercept else 0.0
        values, vectors = self.decomposed(extra)
        values[values < len(values) * EPS * values.max()] = 0.0
        along = vectors.T @ self.targets
        return Spectrum(values, vectors, along, self.root, self.direction, extra)

    def squares(self) -> float:
        """Return the sum of squares of U."""
        if not self.rows.is_sparse:
            u = self.centred()
            return float(np.einsum("ij,ij->", u, u))
        return float((self.root**2) @ self.squared_distances(self.rows))

    def squared_distances(self, rows: Rows) -> Floats:
        """Return |x - mean|^2 of rows."""
        matrix: Any = rows.to_matrix()
        if not rows.is_sparse:
            away = matrix - self.mean
            return np.asarray(np.einsum("ij,ij->i", away, away))
        own = np.asarray(matrix.multiply(matrix).sum(axis=1), dtype=np.float64).ravel()
        return np.asarray(own - 2 * (matrix @ self.mean) + self.mean @ self.mean)

    def back(self, dual: Floats) -> Floats:
        """Return U'a for a of shape (n, t), as (t, d)."""
        scaled = self.root[:, None] * dual
        sums = np.asarray(self.matrix.T @ scaled).T
        weights: Floats = sums - np.multiply.outer(scaled.sum(axis=0), self.mean)
        return weights

    def forth(self, weights: Floats) -> Floats:
        """Return Uw for weights of shape (t, d), as (n, t)."""
        scores = linear_scores(self.rows, weights, -weights @ self.mean)
        scores *= self.root[:, None]
        return scores

    def residuals(self, weights: Floats) -> Floats:
        """Return what weights leave of the targets, each row times the root of its weight."""
        return self.targets - self.forth(weights)

    def products_with(self, rows: Rows) -> Floats:
        """Return the products (x - mean)'u of other rows with these, (m, n)."""
        other: Any = rows.to_matrix()
        if not (rows.is_sparse or self.rows.is_sparse):
            return np.asarray((other - self.mean) @ self.centred().T)
        whole = other @ self.matrix.T
        if hasattr(whole, "todense"):
            whole = whole.todense()
        products = np.array(whole, dtype=np.float64)
        products -= np.asarray(other @ self.mean)[:, None]
        products -= np.asarray(self.matrix @ self.mean)
        products += self.mean @ self.mean
        products *= self.root
        return products

    def intercept(self, weights: Floats) -> Floats:
        """Return the intercepts that go with weights."""
        plane: Floats = self.target_mean - weights @ self.mean
        return plane


def check_rows_fit(n_rows: int) -> None:
    """Refuse, before anything is allocated, products of rows that do not fit in memory."""
    need, there = MATRICES * 8 * n_rows * n_rows, available_bytes()
    if need > there:
        raise MemoryError(
            f"With more columns than rows, products of all {n_rows} rows are needed, "
            f"{need / 2**30:.1f} GiB in all, and {there / 2**30:.1f} GiB are available. Use "
            "SGDRegressor, which keeps one number a column."
        )


@dataclass(frozen=True)
class Spectrum:
    """Eigenvalues and eigenvectors of UU' + extra vv', v the direction that an intercept takes.

    UU' has the eigenvalue 0 in the direction v. Moved to ``extra``, the sum of the others, it can
    be told from them, and taken out again without loss of digits. Without an intercept, and where
    nothing was moved, extra is 0.
    """

    values: Floats
    vectors: Floats
    along: Floats  # V'y, (n, t)
    root: Floats
    direction: Floats
    extra: float

    def left_out_errors(self, alpha: float) -> Floats | None:
        """Return y_i - s_i, (n, t), s_i being the score of row i from the fit to all others.

        e_i = (By)_i / B_ii, B the inverse of UU' + alpha I with the direction v taken out. None
        without a penalty where rows depend on each other, for then B does not exist.
        """
        shifted = self.values + alpha
        if (shifted <= 0).any():
            return None
        diagonal = (self.vectors**2) @ (1.0 / shifted)
        if self.extra:
            diagonal -= self.direction**2 / (self.extra + alpha)
        errors: Floats = self.vectors @ (self.along / shifted[:, None])
        errors /= (diagonal * self.root)[:, None]
        return errors


def smallest_weights(side: RowSide) -> tuple[Floats, int, Floats]:
    """Return weights of smallest norm, rank and residual squares.

    Dense rows are factored by Householder's method; of sparse ones the products are decomposed, and
    the weights improved by the residuals twice.
    """
    if side.rows.is_sparse:
        values, vectors = side.decomposed()
        good = values > (max(side.rows.shape) * EPS) ** 2 * values.max()
        weights = _by_eigenvalues(side, values[good], vectors[:, good], 0.0)
    else:
        q, r = qr(side.centred().T, mode="economic")
        u, sizes, vt = svd(r.T)
        good = sizes > max(side.rows.shape) * EPS * sizes[0]
        weights = (q @ (vt[good].T @ ((u[:, good].T @ side.targets) / sizes[good, None]))).T
    squares = (side.residuals(weights) ** 2).sum(axis=0)
    return weights, int(good.sum()), squares


def ridge_weights(side: RowSide, alpha: float) -> tuple[Floats, float, Floats]:
    """Return the weights with penalty alpha > 0, the condition number and residual squares.

    w = U'a with (UU' + alpha I) a = y, by Cholesky's method, improved by the residuals twice.
    Where the products lack the digits, singular values of dense rows or eigenvalues.
    """
    products = side.products()
    n = len(products)
    products[np.diag_indices(n)] += alpha
    try:
        factor = cho_factor(products)
        norm = np.abs(products).sum(axis=0).max()
        share = float(dpocon(factor[0], norm, uplo="L" if factor[1] else "U")[0])
    except LinAlgError:
        share = 0.0
    if share > LEAST_SHARE:
        dual = np.zeros_like(side.targets)
        weights = np.zeros((side.targets.shape[1], side.rows.n_features))
        for _ in range(3):
            dual += cho_solve(factor, side.residuals(weights) - alpha * dual)
            weights = side.back(dual)
    elif side.rows.is_sparse:
        values, vectors = side.decomposed()
        weights = _by_eigenvalues(side, np.maximum(values, 0.0), vectors, alpha)
    else:
        q, r = qr(side.centred().T, mode="economic")
        u, sizes, vt = svd(r.T)
        shrunk = (u.T @ side.targets) * (sizes / (sizes**2 + alpha))[:, None]
        weights = (q @ (vt.T @ shrunk)).T
    squares = (side.residuals(weights) ** 2).sum(axis=0)
    return weights, float(np.sqrt(1.0 / share)) if share > 0 else np.inf, squares


def _by_eigenvalues(side: RowSide, values: Floats, vectors: Floats, alpha: float) -> Floats:
    """Return weights from eigenvalues of the products, improved by the residuals twice."""
    weights = np.zeros((side.targets.shape[1], side.rows.n_features))
    dual = np.zeros_like(side.targets)
    for _ in range(3):
        left = vectors.T @ (side.residuals(weights) - alpha * dual)
        dual += vectors @ (left / (values + alpha)[:, None])
        weights = side.back(dual)
    return weights
