"""Linear discriminant analysis with more columns than rows: the dual, n x n.

U are the rows, centered by the mean of their class and multiplied by the square root of their
weight. The within-class scatter S = U'U is never formed. With UU' = Q diag(l) Q' its eigenvectors
are V = U'Q diag(l)^-1/2. Only products with U are needed, so sparse rows stay sparse.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import eigh
from scipy.sparse import csr_array

from separable.data.resources import check_row_products
from separable.data.rows import largest_magnitude
from separable.moments.base_classifier import class_priors
from separable.moments.discriminant.covariance import (
    EPS,
    RANK_TOLERANCE,
    centres_of,
    degrees_of_freedom,
    ledoit_wolf,
    oas,
)
from separable.statistics.row_blocks import DENSE_FRACTION
from separable.statistics.sums import Sums

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.statistics.weighted_rows import Data
    from separable.typing import Floats


__all__ = ["WideClasses"]

#: Alternatives to suggest if the n x n inner products do not fit in memory.
ALTERNATIVES = "use LinearGaussianNB, MultinomialNB for counts of words, or SGDClassifier"


class WideClasses:
    """LDA of few rows with many columns.

    Parameters
    ----------
    data : Data
        Rows of positive weight.
    priors, covariance, shrinkage
        As in ``LDA``.
    """

    def __init__(self, data: Data, priors: Any, covariance: str, shrinkage: Any) -> None:
        rows = data.rows
        check_row_products(rows.n_rows, "LDA", ALTERNATIVES)
        largest_magnitude(rows, data.X)
        _, self.label = np.unique(data.y, return_inverse=True)
        weight = data.counted.weight
        weight = np.ones(rows.n_rows) if weight is None else weight
        self.root = np.sqrt(weight)
        X: Any = rows.to_matrix().astype(np.float64)  # the only copy; changed in place
        scale = _scale(X, together=shrinkage is not None and shrinkage != 0)
        by_class = csr_array((weight, (self.label, np.arange(rows.n_rows))))
        total: Floats = np.bincount(self.label, weight).astype(np.float64)
        full = np.zeros(0, np.intp)
        if rows.is_sparse:
            X.data *= scale[X.indices]
            full, dense = _full_columns(X)
            origin = np.zeros(rows.n_features)
            origin[full] = dense.mean(axis=0)
            dense -= origin[full]
            means = (by_class @ X).toarray()
            means[:, full] = by_class @ dense
            means /= total[:, None]
            dense -= means[self.label][:, full]
            X = X + _placed(dense, full, rows.n_features)
        else:
            X *= scale
            origin = X.mean(axis=0)
            X -= origin
            means = np.asarray(by_class @ X) / total[:, None]
        none = np.zeros(rows.n_features)
        sums = Sums(np.bincount(self.label), total, origin / scale, scale, means, none)
        self.freedom = degrees_of_freedom(sums, covariance)
        self.means = sums.means
        self.centres = centres_of(sums, class_priors(priors, total))
        self._set_rows(X, means, full, shrinkage)
        self._decompose(shrinkage, float(total.sum()))

    # Products with U, or with U of standardized columns.

    def _set_rows(self, X: Any, means: Floats, full: NDArray[np.intp], shrinkage: Any) -> None:
        """Store the rows, with standardized columns unless shrinkage is used.

        Full columns of sparse rows are already centered by class.
        """
        self._sparse = not isinstance(X, np.ndarray)
        if not self._sparse:
            for k, mean in enumerate(means):
                np.subtract(X, mean, out=X, where=(self.label == k)[:, None])
            X *= self.root[:, None]
            squares = np.einsum("ij,ij->j", X, X)
            size = np.abs(means).max(axis=0) * EPS * len(X)
            varied = squares > size**2
        else:
            size = np.abs(means).max(axis=0) * EPS * X.shape[0]
            means = means.copy()
            means[:, full] = 0.0
            about_zero = (X * X).T @ self.root**2
            within = np.bincount(self.label, self.root**2) @ means**2
            squares = np.maximum(about_zero - within, 0.0)
            varied = squares > np.maximum(RANK_TOLERANCE * about_zero, size**2)
        plain = shrinkage is not None and shrinkage != 0
        deviation = np.ones(len(squares)) if plain else np.sqrt(squares / self.freedom)
        kept = np.ones(len(squares), bool) if plain else varied
        self.divisor = np.divide(1.0, deviation, out=np.zeros_like(deviation), where=kept)
        self._means = means * self.divisor
        if self._sparse:
            X.data *= self.divisor[X.indices]
        else:
            X *= self.divisor
        self._rows = X

    def _times(self, columns: Floats) -> Floats:
        """Return U c for columns c, (d, t)."""
        product = np.asarray(self._rows @ columns)
        if self._sparse:
            product = self.root[:, None] * (product - (self._means @ columns)[self.label])
        return product

    def _back(self, dual: Floats) -> Floats:
        """Return U'a for a of shape (n, t), as (d, t)."""
        if not self._sparse:
            return np.asarray(self._rows.T @ dual)
        scaled = self.root[:, None] * dual
        by_class = np.zeros((len(self._means), scaled.shape[1]))
        np.add.at(by_class, self.label, scaled)
        return np.asarray(self._rows.T @ scaled) - self._means.T @ by_class

    def _products(self) -> Floats:
        """Return UU'."""
        if not self._sparse:
            return np.asarray(self._rows @ self._rows.T)
        whole = np.asarray((self._rows @ self._rows.T).todense())
        products = np.asarray(self._rows @ self._means.T)[:, self.label]
        whole -= products
        whole -= products.T
        whole += (self._means @ self._means.T)[np.ix_(self.label, self.label)]
        whole *= self.root
        whole *= self.root[:, None]
        return whole

    def _decompose(self, shrinkage: Any, weight: float) -> None:
        values, vectors = eigh(self._products())
        good = values > max(RANK_TOLERANCE, 10 * len(values) * EPS) * max(values[-1], 0.0)
        self.values, self.vectors = values[good], vectors[:, good]
        self.rank = int(good.sum())
        d, trace = self._means.shape[1], float(self.values.sum())
        self.shrinkage = 0.0 if shrinkage is None else shrinkage
        if isinstance(shrinkage, str):
            relative = self.values / trace if trace else self.values
            squares = float(relative @ relative)
            if shrinkage == "oas":
                self.shrinkage = float(oas(1.0, squares, weight, d))
            else:
                lengths = np.einsum("ij,j,ij->i", self.vectors, relative, self.vectors)
                fourth = float(np.sum(lengths**2 / self.root**2))
                self.shrinkage = ledoit_wolf(1.0, squares, fourth, weight, d)
        self._ridge = self.shrinkage * trace / d

    def solve(self, points: Floats) -> Floats:
        """Return Sigma^-1 p for each row p of ``points``, (k, d), in units of z."""
        gap = (points * self.divisor).T
        products = self.vectors.T @ self._times(gap)
        if self._ridge == 0:
            solved = self._back(self.vectors @ (products / self.values[:, None] ** 2))
            return (self.freedom * solved).T * self.divisor
        rest = (1.0 - self.shrinkage) / ((1.0 - self.shrinkage) * self.values + self._ridge)
        solved = gap - self._back(self.vectors @ (products * rest[:, None]))
        shrunk: Floats = (self.freedom / self._ridge * solved).T
        return shrunk


def _full_columns(X: Any) -> tuple[NDArray[np.intp], Floats]:
    """Remove the full columns from sparse rows; return their indices and values.

    Full columns may be far from 0, where centering after squaring loses precision. Columns that
    are mostly 0 are not.
    """
    n, d = X.shape
    full = np.flatnonzero(np.bincount(X.indices, minlength=d) > DENSE_FRACTION * n)
    dense: Floats = X[:, full].toarray()
    gone = np.zeros(d, np.bool_)
    gone[full] = True
    X.data[gone[X.indices]] = 0.0
    X.eliminate_zeros()
    return full, dense


def _placed(dense: Floats, columns: NDArray[np.intp], n_features: int) -> Any:
    """Return the values of some columns as sparse rows with all columns."""
    n, k = dense.shape
    structure = (np.tile(columns, n), np.arange(n + 1) * k)
    return csr_array((dense.ravel(), *structure), shape=(n, n_features))


def _scale(X: Any, *, together: bool) -> Floats:
    """Return powers of two that scale each column, or all columns alike, below 1."""
    largest = np.zeros(X.shape[1])
    if isinstance(X, np.ndarray):
        largest = np.maximum(X.max(axis=0), -X.min(axis=0))
    else:
        np.maximum.at(largest, X.indices, np.abs(X.data))
    if together:
        largest[:] = largest.max()
    _, exponent = np.frexp(largest)
    scale: Floats = np.ldexp(1.0, np.clip(-exponent, -1022, 1022))
    return scale
