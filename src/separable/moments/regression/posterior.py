"""Posterior of Bayesian regression: covariance of the weights, predictive variance, draws."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from separable._core import portable
from separable.data.memory import check_column_products
from separable.model.predict.scores import linear_scores
from separable.moments.regression.leverage import FAR
from separable.moments.regression.row_side import row_products
from separable.statistics.centered_rows import blocks_about

if TYPE_CHECKING:
    from collections.abc import Iterator

    from separable.data.rows import Rows
    from separable.moments.regression.column_side import ColumnSide
    from separable.moments.regression.row_side import RowSide, Spectrum
    from separable.typing import Floats


__all__ = ["ColumnPosterior", "RowPosterior"]

#: Maximum number of inner products of new rows with training rows held at once.
MAX_PRODUCTS = 1 << 20


@dataclass(frozen=True)
class ColumnPosterior:
    """Posterior covariance Sigma = (beta X'X + alpha I)^-1 = V (beta s + alpha)^-1 V', X centered.

    Parameters
    ----------
    side : ColumnSide
    alpha, beta : float
        The precisions of prior and noise.
    """

    side: ColumnSide
    alpha: float
    beta: float

    def _spreads(self) -> Floats:
        """Return the posterior standard deviation along each eigenvector."""
        unit = self.side.unit
        values = self.side.values / unit / unit
        deviations: Floats = 1.0 / np.sqrt(self.beta * values + self.alpha)
        return deviations

    def covariance(self) -> Floats:
        """Return Sigma."""
        side = self.side
        whole = np.diag(np.full(side.n_features, 1.0 / self.alpha))
        half = side.vectors * self._spreads()
        whole[np.ix_(side.kept, side.kept)] = half @ half.T
        return whole

    def variances(self, rows: Rows) -> Floats:
        """Return (x - mean)'Sigma (x - mean) of rows."""
        side = self.side
        basis = np.zeros((side.n_features, side.n_features))
        still = np.setdiff1d(np.arange(side.n_features), side.kept)
        basis[np.ix_(side.kept, np.arange(len(side.kept)))] = side.vectors * self._spreads()
        basis[still, len(side.kept) + np.arange(len(still))] = self.alpha**-0.5
        result = np.empty(rows.n_rows)
        for start, stop, block in self._blocks(rows, basis):
            portable.Rows(block, block.shape[1]).squared_norms(result[start:stop])
        return result

    def _blocks(self, rows: Rows, basis: Floats) -> Iterator[tuple[int, int, Floats]]:
        """Yield (start, stop, (X - mean) basis) for blocks; a row does not depend on the others.

        Only the training columns decide whether a row is centered before or after the product.
        """
        mean, axes = self.side.mean, np.ascontiguousarray(basis.T)
        far = np.abs(mean) * np.sqrt(self.side.sums.weight[0]) > FAR * self.side.length
        step = max(64, MAX_PRODUCTS // len(mean))
        if basis[far].any():
            for part, block in blocks_about(rows, mean, step=step):
                yield part.start, part.stop, row_products(block, axes)
            return
        for start in range(0, rows.n_rows, step):
            stop = min(start + step, rows.n_rows)
            yield start, stop, linear_scores(rows.slice(start, stop), axes, -(mean @ basis))

    def draw(self, n: int, random: Any) -> Floats:
        """Return n draws of what the weights are away from their mean, (n, d)."""
        normal = random.normal(size=(n, self.side.n_features))
        drawn: Floats = normal * self.alpha**-0.5
        kept = self.side.kept
        drawn[:, kept] = (normal[:, kept] * self._spreads()) @ self.side.vectors.T
        return drawn


@dataclass(frozen=True)
class RowPosterior:
    """Posterior covariance in the dual, n x n: Sigma = (I - U'(UU' + lambda I)^-1 U) / alpha.

    It keeps the training rows.

    Parameters
    ----------
    side : RowSide
    spectrum : Spectrum
        Of UU'.
    alpha, beta : float
    """

    side: RowSide
    spectrum: Spectrum
    alpha: float
    beta: float

    def covariance(self) -> Floats:
        """Return Sigma, d x d."""
        d = self.side.rows.n_features
        instead = "ask for predict(X, return_std=True), which needs none"
        check_column_products(d, "covariance_", instead, products=True)
        shifted = self.spectrum.values + self.alpha / self.beta
        half = self.side.back(self.spectrum.vectors / np.sqrt(shifted))
        whole: Floats = half.T @ half
        np.negative(whole, out=whole)
        whole[np.diag_indices(d)] += 1.0
        whole /= self.alpha
        return whole

    def variances(self, rows: Rows) -> Floats:
        """Return (x - mean)'Sigma (x - mean) of rows."""
        shifted = self.spectrum.values + self.alpha / self.beta
        result = np.empty(rows.n_rows)
        own = self.side.rows
        step = max(1, MAX_PRODUCTS // (own.n_rows if own.is_sparse else max(own.shape)))
        for start in range(0, rows.n_rows, step):
            block = rows.slice(start, min(start + step, rows.n_rows))
            projection = row_products(self.side.products_with(block), self.spectrum.vectors.T)
            whole = self.side.squared_distances(block)
            explained = row_products(projection * projection, 1.0 / shifted[None, :])[:, 0]
            result[start : start + step] = whole - explained
        return np.maximum(result, 0.0) / self.alpha

    def draw(self, n: int, random: Any) -> Floats:
        """Return n draws of what the weights are away from their mean, (n, d)."""
        normal = random.normal(size=(n, self.side.rows.n_features))
        values, ratio = self.spectrum.values, self.alpha / self.beta
        # (1 - sqrt(lambda / (s + lambda))) / s, without cancellation
        root = np.sqrt(ratio / (values + ratio))
        shrink = 1.0 / ((values + ratio) * (1.0 + root))
        projection = self.spectrum.vectors.T @ self.side.forth(normal)
        drawn: Floats = normal - self.side.back(
            self.spectrum.vectors @ (projection * shrink[:, None])
        )
        drawn *= self.alpha**-0.5
        return drawn
