"""Ridge regression for many alphas from one eigendecomposition of the Gram matrix, d x d."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from separable.statistics.held_out import gap_of_means, squared_errors
from separable.statistics.sums import products_about

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.statistics.moments import Moments
    from separable.statistics.sums import Sums
    from separable.typing import Floats


__all__ = ["ColumnSide", "column_side"]

EPS = float(np.finfo(np.float64).eps)
TINY = float(np.finfo(np.float64).tiny)
#: Largest relative error of prediction errors for which the eigenvalues are used.
MAX_RELATIVE_ERROR = 1e-9


@dataclass(frozen=True)
class ColumnSide:
    """Eigendecomposition S = VsV' of the centered Gram matrix, with the centered targets.

    All columns have the same scale, so that the penalty |w|^2 is unchanged. The solution is
    w = V (s + alpha)^-1 V'c, c the products with the targets.

    Parameters
    ----------
    sums : Sums
        The sums it was computed from: columns in units of z = (x - origin) unit.
    kept : ndarray of int
        The columns that are not constant.
    values, vectors : ndarray, shapes (k,) and (k, k)
        s and V.
    projection : ndarray, shape (k, t)
        V'c.
    target_squares : ndarray, shape (t,)
        Squares of the centered targets in their units.
    fit_intercept : bool
        Whether columns are centered.
    whole : bool
        Whether one unit fits all columns; if not, some squares underflow to 0.
    trace : float
        Sum of the squared lengths of all columns.
    """

    sums: Sums
    kept: NDArray[np.intp]
    values: Floats
    vectors: Floats
    projection: Floats
    target_squares: Floats
    fit_intercept: bool
    whole: bool
    trace: float

    @property
    def n_features(self) -> int:
        """The number of columns d."""
        return int(self.sums.n_columns - self.projection.shape[1])

    @property
    def unit(self) -> float:
        """The power of two that columns were multiplied by."""
        return float(self.sums.scale[0])

    @property
    def target_unit(self) -> Floats:
        """The powers of two that targets in their units have to be multiplied by."""
        return 1.0 / self.sums.scale[self.n_features :]

    @property
    def mean(self) -> Floats:
        """Means of the columns, 0 without an intercept."""
        d = self.n_features
        return self.sums.means[0, :d] if self.fit_intercept else np.zeros(d)

    @property
    def length(self) -> Floats:
        """Roots of the sums of squares of the columns about their means."""
        with np.errstate(over="ignore"):
            return np.sqrt(np.diagonal(self.sums.scatter)[: self.n_features]) / self.unit

    @property
    def target_mean(self) -> Floats:
        """Means of the targets, 0 without an intercept."""
        means = self.sums.means[0, self.n_features :]
        return means if self.fit_intercept else np.zeros_like(means)

    def penalties(self, alphas: Floats) -> Floats:
        """Return alphas for columns in these units; infinite beside columns around 1e-300."""
        if self.unit == 1:
            return alphas
        with np.errstate(over="ignore"):
            return alphas * self.unit * self.unit

    def has_digits(self, alphas: Floats, inverse: Floats | None = None) -> NDArray[np.bool_]:
        """Return for which alphas the eigenvalues give accurate prediction errors.

        Rounding changes S by E with |E| = eps s_max. It changes predictions by at most
        eps s_max |w| / sqrt(s_min + alpha), to be compared with the errors, and 1 - h of a row by
        eps s_max / (s_min + alpha) h. ``inverse``: what `inverses` returns for these alphas.
        """
        if not self.whole:
            return np.zeros(len(alphas), bool)
        if not len(self.values):
            return np.ones(len(alphas), bool)
        inverse = self.inverses(alphas) if inverse is None else inverse
        high = EPS * self.values[-1]
        least = self.values[0] + self.penalties(alphas)
        squares = self.projection.T**2
        left = self.target_squares - (squares @ inverse).T
        fraction = self.values @ inverse / self.sums.rows[0]
        with np.errstate(over="ignore", invalid="ignore"):  # overflow counts as inaccurate
            size = (squares @ inverse**2).T
            moved = high**2 * size <= MAX_RELATIVE_ERROR**2 * left * least[:, None]
        enough: NDArray[np.bool_] = moved.all(axis=1) & (
            high * fraction <= MAX_RELATIVE_ERROR * least
        )
        return enough

    def inverses(self, alphas: Floats) -> Floats:
        """Return 1 / (s + alpha), (k, A); 0 where both are 0 up to rounding."""
        shifted = self.values[:, None] + self.penalties(alphas)
        if shifted.min(initial=1.0) >= TINY:
            inverse: Floats = 1.0 / shifted
            return inverse
        shifted[shifted < TINY] = 0.0
        return np.divide(1.0, shifted, out=np.zeros_like(shifted), where=shifted > 0)

    def basis(self) -> Floats:
        """Return the matrix that projects raw centered rows on the eigenvectors, (d, k)."""
        whole = np.zeros((self.n_features, len(self.kept)))
        whole[self.kept] = self.vectors * self.unit
        return whole

    def weights(self, alphas: Floats) -> tuple[Floats, Floats]:
        """Return raw weights, (A, t, d), and intercepts, (A, t), for all alphas."""
        t = self.projection.shape[1]
        weights = np.zeros((len(alphas), t, self.n_features))
        weights[:, :, self.kept] = self._in_units(alphas) * self.unit * self.target_unit[:, None]
        intercept = self.target_mean - weights @ self.mean
        return weights, intercept

    def _in_units(self, alphas: Floats) -> Floats:
        inner = self.projection.T[None] * self.inverses(alphas).T[:, None, :]
        return inner @ self.vectors.T

    def held_out_squares(self, held_out: Sums, alphas: Floats) -> tuple[Floats, Floats]:
        """Return the sums of squared errors of other rows, from their sums.

        Returns
        -------
        squares : ndarray, shape (A, t)
            In units of the targets, squared.
        fraction : ndarray, shape (A,)
            Its ratio to the largest term of the sum; cancellation if it is small.
        """
        d = self.n_features
        held_out, gap = gap_of_means(self.sums, held_out, fit_intercept=self.fit_intercept)
        down = held_out.scale / self.sums.scale  # 1 unless values are extreme
        w = self._in_units(alphas) / down[self.kept] * down[d:, None]
        squares, fraction = squared_errors(held_out, gap, self.kept, w)
        return squares / held_out.scale[d:] ** 2, fraction


def column_side(moments: Moments, *, fit_intercept: bool) -> ColumnSide:
    """Return the eigendecomposition of the Gram matrix.

    Parameters
    ----------
    moments : Moments
        With numbers as the target.
    fit_intercept : bool
        Whether columns are centered.
    """
    d = moments.n_features
    sums = in_one_unit(moments.sums, d)
    products, constant = products_about(sums, d, mean=fit_intercept)
    kept = np.flatnonzero(~constant)
    if len(kept):
        values, vectors = np.linalg.eigh(products[np.ix_(kept, kept)])
    else:
        values, vectors = np.empty(0), np.empty((0, 0))
    return ColumnSide(
        sums,
        kept,
        np.maximum(values, 0.0),
        vectors,
        vectors.T @ products[kept, d:],
        np.diagonal(products)[d:].copy(),
        fit_intercept,
        bool((moments.sums.scale[:d] == sums.scale[0]).all()),
        float(np.diagonal(products)[:d].sum()),
    )


def in_one_unit(sums: Sums, n_features: int) -> Sums:
    """Return sums whose columns of X all have the same scale, the smallest."""
    scale = sums.scale.copy()
    scale[:n_features] = scale[:n_features].min()
    return replace(sums.rescaled(scale), scale=scale)
