"""Regression with more columns than rows: the dual, n x n, from inner products of rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import eigh, qr, svd
from scipy.linalg.lapack import dpocon, dpotrf, dpotrs
from scipy.sparse import csr_array

from separable._core import native, portable
from separable.data.resources import check_row_products
from separable.data.rows import Rows, core_rows, index_of_columns, largest_magnitude
from separable.model.predict.scores import linear_scores
from separable.statistics.row_blocks import DENSE_FRACTION

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.statistics.weighted_rows import Data
    from separable.typing import Floats


__all__ = ["RowSide", "Spectrum", "ridge_weights", "row_products", "smallest_weights"]

#: Alternative to suggest if the n x n inner products do not fit in memory.
ALTERNATIVES = "use SGDRegressor, which keeps one number a column"
#: Larger values overflow when squared and summed.
MAX_VALUE = 1e150
#: Smallest reciprocal condition number for which the inner products are precise enough.
MIN_RECIPROCAL_CONDITION = 1e-9
#: The same for dense rows, of which a QR decomposition is the alternative.
MIN_DENSE_RECIPROCAL = 1e-6

EPS = float(np.finfo(np.float64).eps)


class RowSide:
    """Centered, weighted rows U = sqrt(C) (X - mean) and targets, and the kernel UU'.

    Parameters
    ----------
    data : Data
        Rows of positive weight.
    fit_intercept : bool
        Whether columns are centered.
    """

    def __init__(self, data: Data, *, fit_intercept: bool) -> None:
        rows, weight = data.rows, data.counted.weight
        numbers = data.numbers
        _refuse_large(largest_magnitude(rows, data.X), "X")
        _refuse_large(float(np.abs(numbers).max(initial=0.0)), "y")
        self.rows, self.fit_intercept = rows, fit_intercept
        self.is_weighted = weight is not None
        self.root = np.ones(rows.n_rows) if weight is None else np.sqrt(weight)
        fraction = self.root**2 / (self.root**2).sum()
        self.matrix: Any = rows.to_matrix()
        self.mean = np.zeros(rows.n_features)
        self.constant = np.zeros(0, np.intp)
        self.target_mean = np.zeros(numbers.shape[1])
        if fit_intercept:
            self.mean = np.asarray(self.matrix.T @ fraction, dtype=np.float64)
            self._set_constant_means()
            self.target_mean = fraction @ numbers
        self.targets: Floats = self.root[:, None] * (numbers - self.target_mean)
        self.direction: Floats = self.root / np.linalg.norm(self.root)

    def _set_constant_means(self) -> None:
        """Make the means of constant columns exact, so that centering gives 0."""
        full = np.flatnonzero(self._full)
        values = self._full_columns(self.rows) if self.rows.is_sparse else self.rows.values
        if values.size:
            constant = (values == values[0]).all(axis=0)
            self.constant = full[constant]
            self.mean[self.constant] = values[0, constant]

    def centred(self) -> Floats:
        """Return U; only for dense rows."""
        dense = self.about_means()
        self._take_out(dense)
        return dense

    def about_means(self) -> Floats:
        """Return U up to the rounding error of the means; only for dense rows."""
        dense: Floats = self.rows.values - self.mean
        if self.is_weighted:
            dense *= self.root[:, None]
        return dense

    def _take_out(self, u: Floats) -> None:
        """Project out the direction of the intercept, where only rounding error is left.

        The rounding error of a mean far from 0 shifts all rows alike. It would be one more
        direction, which the minimum-norm solution would use.
        """
        if self.fit_intercept:
            u -= np.multiply.outer(self.direction, self.direction @ u)

    def products(self, u: Floats | None = None) -> Floats:
        """Return UU', n x n; sparse rows stay sparse. ``u``: dense rows about their means."""
        check_row_products(self.rows.n_rows, "A fit to more columns than rows", ALTERNATIVES)
        with np.errstate(over="ignore", invalid="ignore"):
            whole = self._products(u)
        if not np.isfinite(whole).all():
            raise ValueError(
                "Products of rows overflow float64: X holds values above 1e150. Scale its columns, "
                "for example with sklearn.preprocessing.StandardScaler."
            )
        return whole

    def _products(self, u: Floats | None) -> Floats:
        if self.rows.is_sparse:
            whole = self._products_between(self._apart(self.rows), self._apart(self.rows))
            whole *= self.root
            whole *= self.root[:, None]
        else:
            u = self.about_means() if u is None else u
            whole = u @ u.T
        self._take_out(whole)
        self._take_out(whole.T)
        return whole

    def _apart(self, rows: Rows) -> tuple[Floats, Any]:
        """Split rows: full columns, dense and centered, and the other columns unchanged.

        Full columns may be far from 0, where centering after the product loses precision.
        """
        full = self._full
        if not rows.is_sparse and not self.rows.is_sparse:
            return rows.values - self.mean, rows.values[:, :0]
        u = self._full_columns(rows)
        u -= self.mean[full]
        return u, _canonical(rows).to_matrix()[:, ~full]

    def _full_columns(self, rows: Rows) -> Floats:
        """Return the full columns of sparse rows as dense ones."""
        rows = _canonical(rows)
        columns_of = index_of_columns(np.flatnonzero(self._full), rows.n_features)
        u = np.zeros((rows.n_rows, int(self._full.sum())))
        native.spread_columns(core_rows(rows), 0, rows.n_rows, columns_of, u)
        return u

    def _products_between(self, a: tuple[Floats, Any], b: tuple[Floats, Any]) -> Floats:
        """Return (x - mean)'(z - mean) of the rows x of one and z of the other."""
        mean = self.mean[~self._full]
        whole = a[1] @ b[1].T
        products = np.array(whole.todense() if hasattr(whole, "todense") else whole, np.float64)
        products -= np.asarray(b[1] @ mean)
        products -= np.asarray(a[1] @ mean)[:, None]
        products += mean @ mean
        products += a[0] @ b[0].T
        return products

    @cached_property
    def _full(self) -> NDArray[np.bool_]:
        """Mask of the columns that are stored dense and centered; the others are mostly 0."""
        if not self.rows.is_sparse:
            return np.ones(self.rows.n_features, np.bool_)
        assert self.rows.indices is not None
        filled = np.bincount(self.rows.indices, minlength=self.rows.n_features)
        return np.asarray(filled > DENSE_FRACTION * self.rows.n_rows)

    def decomposed(self, extra: float = 0.0) -> tuple[Floats, Floats]:
        """Return eigenvalues and eigenvectors of UU' + extra vv', v the direction of the intercept.

        They come from the inner products if these are precise enough, else from a QR of U'.
        """
        products = self.products()
        if extra:
            products += extra * np.multiply.outer(self.direction, self.direction)
        values, vectors = eigh(products, driver="evd", overwrite_a=True, check_finite=False)
        zero = values <= len(values) * EPS * values[-1]
        least = MIN_RECIPROCAL_CONDITION if self.rows.is_sparse else MIN_DENSE_RECIPROCAL
        if values[~zero].min(initial=values[-1]) > least * values[-1]:
            return np.where(zero, 0.0, values), vectors
        vectors, sizes, _ = svd(self._triangle(extra).T)
        return sizes**2, vectors

    def _triangle(self, extra: float) -> Floats:
        """Return R with UU' + extra vv' = R'R, by Householder QR."""
        n, d = self.rows.shape
        r: Floats = np.sqrt(extra) * self.direction[None, :]
        columns = self.matrix.tocsc() if self.rows.is_sparse else self.matrix
        step = max(1024, 4 * n)
        for start in range(0, d, step):
            part = columns[:, start : start + step]
            if self.rows.is_sparse:
                part = np.asarray(part.todense(), dtype=np.float64)
            part = self.root[:, None] * (part - self.mean[start : start + step])
            self._take_out(part)
            r = qr(np.vstack([r, part.T]), mode="r")[0][:n]
        if len(r) < n:
            r = np.vstack([r, np.zeros((n - len(r), n))])
        return r

    def spectrum(self, *, apart: bool = True) -> Spectrum:
        """Return the spectrum of UU'; ``apart``: with the eigenvalue of v moved away from 0."""
        extra = (self.squares or 1.0) if apart and self.fit_intercept else 0.0
        values, vectors = self.decomposed(extra)
        values[values < len(values) * EPS * values.max()] = 0.0
        projection = vectors.T @ self.targets
        return Spectrum(values, vectors, projection, self.root, self.direction, extra)

    @cached_property
    def squares(self) -> float:
        """The sum of squares of U."""
        if not self.rows.is_sparse:
            u = self.about_means()
            return float(np.einsum("ij,ij->", u, u))
        return float((self.root**2) @ self.squared_distances(self.rows))

    def squared_distances(self, rows: Rows) -> Floats:
        """Return |x - mean|^2 of rows."""
        u, thin = self._apart(rows)
        squares = np.empty(len(u))
        portable.Rows(u, u.shape[1]).squared_norms(squares)
        if thin.shape[1]:
            mean = self.mean[~self._full]
            own = np.asarray(thin.multiply(thin).sum(axis=1), dtype=np.float64).ravel()
            squares = (own - 2 * (thin @ mean) + mean @ mean) + squares
        return squares

    def back(self, dual: Floats, u: Floats | None = None) -> Floats:
        """Return U'a for a of shape (n, t), as (t, d)."""
        if u is not None:
            weights: Floats = np.ascontiguousarray((u.T @ dual).T)
        else:
            scaled = self.root[:, None] * dual
            sums = np.asarray(self.matrix.T @ scaled).T
            weights = sums - np.multiply.outer(scaled.sum(axis=0), self.mean)
        weights[:, self.constant] = 0.0
        return weights

    def forth(self, weights: Floats) -> Floats:
        """Return Uw for weights of shape (t, d), as (n, t)."""
        scores = linear_scores(self.rows, weights, -weights @ self.mean)
        scores *= self.root[:, None]
        return scores

    def residuals(self, weights: Floats, u: Floats | None = None) -> Floats:
        """Return the residuals, each multiplied by the square root of the row's weight."""
        left: Floats = self.targets - (self.forth(weights) if u is None else u @ weights.T)
        self._take_out(left)
        return left

    def products_with(self, rows: Rows) -> Floats:
        """Return the inner products (x - mean)'u of other rows with these, (m, n).

        The result for a row does not depend on the other rows: SciPy's sparse products add in the
        order of the columns, as ``linear_scores`` does.
        """
        u, thin = self._apart(rows)
        if not self.rows.is_sparse:
            return row_products(u, self.centred())
        own, own_thin = self._apart(self.rows)
        mean = self.mean[~self._full]
        products = np.asarray((thin @ own_thin.T).todense(), dtype=np.float64)
        products -= own_thin @ mean
        products -= (thin @ mean)[:, None]
        products += mean @ mean
        products += row_products(u, own)
        products *= self.root
        return products

    def intercept(self, weights: Floats) -> Floats:
        """Return the intercepts that go with weights."""
        plane: Floats = self.target_mean - weights @ self.mean
        return plane


def _refuse_large(largest: float, what: str) -> None:
    if largest > MAX_VALUE:
        raise ValueError(
            f"Products of rows overflow float64: {what} holds values above {MAX_VALUE:g}, up to "
            f"{largest:.3g}. Scale {'its columns' if what == 'X' else 'it'}, or give more rows "
            "than columns."
        )


@dataclass(frozen=True)
class Spectrum:
    """Eigenvalues and eigenvectors of UU' + extra vv', v the direction of the intercept.

    UU' has the eigenvalue 0 in the direction v. Moved to ``extra``, the sum of the others, it is
    distinct from them and can be removed without cancellation. extra is 0 without an intercept,
    and if the eigenvalue was not moved.
    """

    values: Floats
    vectors: Floats
    projection: Floats  # V'y, (n, t)
    root: Floats
    direction: Floats
    extra: float

    @cached_property
    def _squares(self) -> Floats:
        return self.vectors**2

    def left_out_errors(self, alpha: float) -> Floats | None:
        """Return the leave-one-out errors y_i - s_i, (n, t).

        e_i = (By)_i / B_ii, B the inverse of UU' + alpha I with the direction v projected out.
        None if B does not exist: no penalty and linearly dependent rows.
        """
        shifted = self.values + alpha
        if (shifted <= 0).any():
            return None
        diagonal = self._squares @ (1.0 / shifted)
        if self.extra:
            diagonal -= self.direction**2 / (self.extra + alpha)
        errors: Floats = self.vectors @ (self.projection / shifted[:, None])
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):  # no such score is best
            errors /= (diagonal * self.root)[:, None]
        return errors


def row_products(block: Floats, weights: Floats) -> Floats:
    """Return block @ weights.T; the result for a row does not depend on the others."""
    if not block.shape[1]:
        return np.zeros((len(block), len(weights)))
    return linear_scores(Rows(block, block.shape[1]), weights, np.zeros(len(weights)))


def _canonical(rows: Rows) -> Rows:
    """Return CSR rows in float64 with ascending columns, each once."""
    if rows.is_sparse:
        return rows.astype(np.dtype(np.float64)).canonical()
    dense = csr_array(rows.values.astype(np.float64, copy=False))
    return Rows(dense.data, rows.n_features, dense.indices, dense.indptr)


def smallest_weights(side: RowSide) -> tuple[Floats, int, Floats]:
    """Return the minimum-norm weights, the rank and the residual sums of squares.

    By Cholesky if the rows are clearly independent. Otherwise dense rows use Householder QR and an
    SVD; sparse rows the eigenvalues of UU' and two steps of iterative refinement.
    """
    weights, rank = _by_cholesky(side, 0.0)[0], side.rows.n_rows - side.fit_intercept
    if weights is None and side.rows.is_sparse:
        values, vectors = side.decomposed()
        good = values > (max(side.rows.shape) * EPS) ** 2 * values.max()
        weights, rank = _by_eigenvalues(side, values[good], vectors[:, good], 0.0), good.sum()
    elif weights is None:
        q, r = qr(side.centred().T, mode="economic")
        u, sizes, vt = svd(r.T)
        good = sizes > max(side.rows.shape) * EPS * sizes[0]
        with np.errstate(over="ignore", invalid="ignore"):  # refused below
            weights = (q @ (vt[good].T @ ((u[:, good].T @ side.targets) / sizes[good, None]))).T
        rank = good.sum()
    _refuse_infinite(weights)
    squares = (side.residuals(weights) ** 2).sum(axis=0)
    return weights, int(rank), squares


def ridge_weights(side: RowSide, alpha: float) -> tuple[Floats, float, Floats]:
    """Return the ridge weights for alpha > 0, the condition number and residual sums of squares.

    By Cholesky; if UU' lacks precision, by an SVD of dense rows or by eigenvalues.
    """
    weights, reciprocal = _by_cholesky(side, alpha)
    if weights is None and side.rows.is_sparse:
        values, vectors = side.decomposed()
        good = (
            values > (max(side.rows.shape) * EPS) ** 2 * values.max()
        )  # others lead to no weights
        weights = _by_eigenvalues(side, values[good], vectors[:, good], alpha)
    elif weights is None:
        q, r = qr(side.centred().T, mode="economic")
        u, sizes, vt = svd(r.T)
        sizes[sizes <= max(side.rows.shape) * EPS * sizes[0]] = 0.0  # rounding, as of equal rows
        shrunk = (u.T @ side.targets) * (sizes / (sizes**2 + alpha))[:, None]
        weights = (q @ (vt.T @ shrunk)).T
    _refuse_infinite(weights)
    squares = (side.residuals(weights) ** 2).sum(axis=0)
    return weights, float(np.sqrt(1.0 / reciprocal)) if reciprocal > 0 else np.inf, squares


def _by_cholesky(side: RowSide, alpha: float) -> tuple[Floats | None, float]:
    """Return w = U'a with (UU' + alpha I) a = y, and the reciprocal condition number.

    With up to two steps of iterative refinement. None if UU' + alpha I lacks precision. Without a
    penalty the direction of the intercept, in which UU' is 0, gets a positive eigenvalue: the
    targets have no part in it.
    """
    u = None if side.rows.is_sparse else side.about_means()
    products = side.products(u)
    if alpha > 0:
        products.ravel()[:: len(products) + 1] += alpha
    elif side.fit_intercept:
        size = float(np.trace(products)) / len(products)
        products += size * np.multiply.outer(side.direction, side.direction)
    lower, failed = dpotrf(products.T, lower=1)
    norm = np.abs(products).sum(axis=0).max()
    reciprocal = 0.0 if failed else float(dpocon(lower, norm, uplo="L")[0])
    least = MIN_RECIPROCAL_CONDITION
    if alpha == 0 and not side.rows.is_sparse:
        least = MIN_DENSE_RECIPROCAL
    if not reciprocal > least:
        return None, reciprocal
    dual = dpotrs(lower, side.targets, lower=1)[0]
    weights, last = side.back(dual, u), 1.0
    for _ in range(2):
        step = dpotrs(lower, side.residuals(weights, u) - alpha * dual, lower=1)[0]
        dual += step
        weights = side.back(dual, u)
        size = float(np.abs(step).max()) / (float(np.abs(dual).max()) or 1.0)
        if size * size <= EPS * last:  # the next step would change nothing
            break
        last = size
    return weights, reciprocal


def _refuse_infinite(weights: Floats) -> None:
    if not np.isfinite(weights).all():
        raise ValueError(
            "Weights overflow float64: the values of X are too small beside the targets. Multiply "
            "the columns of X by a large number, or divide y by one."
        )


def _by_eigenvalues(side: RowSide, values: Floats, vectors: Floats, alpha: float) -> Floats:
    """Return weights from eigenvalues of UU', with two steps of iterative refinement."""
    weights = np.zeros((side.targets.shape[1], side.rows.n_features))
    dual = np.zeros_like(side.targets)
    for _ in range(3):
        left = vectors.T @ (side.residuals(weights) - alpha * dual)
        dual += vectors @ (left / (values + alpha)[:, None])
        weights = side.back(dual)
    return weights
