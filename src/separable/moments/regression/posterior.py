"""Posterior of Bayesian regression: covariance of the weights, predictive variance, draws.

The precisions maximize the marginal likelihood (evidence).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import brentq

from separable._core import portable
from separable.data.resources import check_column_products
from separable.model.predict.scores import linear_scores
from separable.moments.regression.leverage import FAR
from separable.moments.regression.row_side import row_products
from separable.statistics.weighted_rows import blocks_about

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from separable.data.rows import Rows
    from separable.moments.regression.column_side import ColumnSide
    from separable.moments.regression.row_side import RowSide, Spectrum
    from separable.typing import Floats

__all__ = ["ColumnPosterior", "Marginal", "Precisions", "RowPosterior"]

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
        """Return n draws of the weights minus their mean, (n, d)."""
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
        """Return n draws of the weights minus their mean, (n, d)."""
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


EPS = float(np.finfo(np.float64).eps)
#: Range of squares: outside, the search would overflow or underflow.
LEAST, MOST = 1e-240, 1e280
#: The ratio of the precisions is searched within this many decades of the largest eigenvalue.
DECADES = 15
#: Number of grid points before the best is refined.
GRID_SIZE = 301


@dataclass(frozen=True)
class Precisions:
    """Precisions that maximize the evidence.

    Parameters
    ----------
    alpha, beta : float
        Precision of the prior and of the noise.
    edge : str or None
        The precision that grows without bound and was stopped.
    """

    alpha: float
    beta: float
    edge: str | None


@dataclass(frozen=True)
class Marginal:
    """Log marginal likelihood log p(y | alpha, beta), weights and intercept integrated out.

    With lambda = alpha / beta, s the eigenvalues of X'X and q the squares of V'X'y, all centered:

        2 log p = N log(beta / 2 pi) + sum_k log(lambda / (s_k + lambda)) - beta Q - log W
        Q = |y|^2 - sum_k q_k / (s_k + lambda)

    where N = W - 1: one degree of freedom is the intercept, whose prior is flat with density 1.
    Without an intercept N = W and there is no log W.

    Parameters
    ----------
    values, projection : ndarray
        s > 0 and V'X'y, whose squares are q.
    target_squares : float
        |y|^2.
    residual_squares : float
        Residual sum of squares of least squares, above 0.
    weight : float
        W, the sum of the weights of the rows.
    fit_intercept : bool
    """

    values: Floats
    projection: Floats
    target_squares: float
    residual_squares: float
    weight: float
    fit_intercept: bool

    @classmethod
    def of(
        cls,
        values: Floats,
        projection: Floats,
        target_squares: float,
        target_mean: float,
        weight: float,
        *,
        fit_intercept: bool,
    ) -> Marginal:
        """Return the evidence; eigenvalues that are 0 up to rounding are dropped."""
        top = float(values.max(initial=0.0))
        if not (top < MOST and target_squares < MOST):
            raise ValueError(
                "Squares of X or y overflow float64, and so do the precisions. Scale X and y."
            )
        for name, squares in (("y", target_squares), ("X", top)):
            if 0 < squares < LEAST:
                raise ValueError(
                    f"Squares of {name} are so small that they vanish in float64. Scale {name}."
                )
        seen = values > len(values) * EPS * top
        values, projection = values[seen], projection[seen]
        rounding = (EPS * target_mean) ** 2 * weight
        least = max(target_squares * EPS * max(len(values), 1), rounding, 1.0 / MOST)
        left = max(target_squares - float(((projection / np.sqrt(values)) ** 2).sum()), least)
        return cls(values, projection, target_squares, left, weight, fit_intercept)

    @property
    def n(self) -> float:
        """N, the degrees of freedom of weights and noise."""
        return self.weight - 1.0 if self.fit_intercept else self.weight

    @cached_property
    def explained(self) -> Floats:
        """Squares of the target that least squares explains, by eigenvector."""
        return (self.projection / np.sqrt(self.values)) ** 2

    def penalised(self, ratio: float) -> float:
        """Return Q, the penalized residual sum of squares, without cancellation."""
        return self.residual_squares + ratio * float(self.explained @ (1.0 / (self.values + ratio)))

    def residuals(self, ratio: float) -> float:
        """Return the squared residuals of the posterior mean."""
        shrunk = ratio / (self.values + ratio)
        return self.residual_squares + float(self.explained @ (shrunk * shrunk))

    def size(self, ratio: float) -> float:
        """Return |w|^2 of the posterior mean."""
        w = self.projection / (self.values + ratio)
        return float(w @ w)

    def effective(self, ratio: float) -> float:
        """Return gamma = sum s / (s + lambda), the effective number of parameters."""
        return float(self.values @ (1.0 / (self.values + ratio)))

    def log_evidence(self, alpha: float, beta: float) -> float:
        """Return log p(y | alpha, beta)."""
        return float(self._log_evidences(np.array([alpha / beta]), beta)[0])

    def _log_evidences(self, ratios: Floats, beta: Any) -> Floats:
        """Return log p(y | beta ratio, beta) for several ratios; beta None: the best for each."""
        shifted = self.values + ratios[:, None]
        left = self.residual_squares + ratios * ((1.0 / shifted) @ self.explained)
        if beta is None:
            beta = self.n / left
        twice = self.n * np.log(beta / (2 * math.pi)) - beta * left
        twice += len(self.values) * np.log(ratios) - np.log(shifted).sum(axis=1)
        if self.fit_intercept:
            twice -= math.log(self.weight)
        return np.asarray(0.5 * twice)

    # ------------------------------------------------------------------ maximising

    def maximise(self, alpha: float | None, beta: float | None) -> Precisions:
        """Return the precisions that maximize the evidence; specified ones are kept.

        A one-dimensional search over lambda: a grid, then a root of the gradient next to the best
        grid point. Unlike a fixed-point iteration, it is never slow and finds the global maximum
        of the grid.
        """
        if alpha is not None and beta is not None:
            return Precisions(alpha, beta, None)
        top = float(self.values.max(initial=0.0)) or 1.0
        if alpha is not None:
            return self._free_noise(alpha)
        low, high = math.log(top) - DECADES * math.log(10), math.log(top) + DECADES * math.log(10)
        if beta is not None and self.size(0.0) > 0:  # alpha = gamma / |w|^2 is not far below this
            low = min(low, math.log(1e-3 / self.size(0.0)) - math.log(beta))

        def noise(ratio: float) -> float:
            return self.n / self.penalised(ratio) if beta is None else beta

        def gradient(log_ratio: float) -> float:
            ratio = math.exp(log_ratio)
            return self.effective(ratio) - noise(ratio) * ratio * self.size(ratio)

        def height(log_ratios: Floats) -> Floats:
            return self._log_evidences(np.exp(log_ratios), beta)

        best = _highest(height, gradient, low, high) if len(self.values) else high
        ratio = math.exp(best)
        edge = None
        if best >= high - 1e-6 or best <= low:
            edge = "noise_precision" if best <= low else "weight_precision"
        return Precisions(noise(ratio) * ratio, noise(ratio), edge)

    def _free_noise(self, alpha: float) -> Precisions:
        least = math.log(1e-3 * max(self.n, 1e-3) / max(self.target_squares, self.residual_squares))
        most = math.log(10 * max(self.n, 1e-3) / self.residual_squares)

        def gradient(log_beta: float) -> float:
            beta = math.exp(log_beta)
            ratio = alpha / beta
            return self.n - self.effective(ratio) - beta * self.residuals(ratio)

        def height(log_betas: Floats) -> Floats:
            betas = np.exp(log_betas)
            return self._log_evidences(alpha / betas, betas)

        best = _highest(height, gradient, least, most)
        edge = "noise_precision" if best >= most - 1e-6 else None
        return Precisions(alpha, math.exp(best), edge)


def _highest(
    height: Callable[[Floats], Floats], gradient: Callable[[float], float], low: float, high: float
) -> float:
    """Return the maximizer of a function of one variable, by its gradient.

    Function values cannot resolve the maximum beyond rounding, so the gradient decides: from the
    best grid point follow it uphill until it changes its sign, or to the end of the grid.
    """
    points = np.linspace(low, high, GRID_SIZE)
    grid, best = points.tolist(), int(np.argmax(height(points)))
    if gradient(grid[best]) > 0:
        while best + 1 < GRID_SIZE and gradient(grid[best + 1]) > 0:
            best += 1
        left, right = best, best + 1
    else:
        while best > 0 and gradient(grid[best - 1]) <= 0:
            best -= 1
        left, right = best - 1, best
    if left < 0:
        return low
    if right == GRID_SIZE:
        return high
    return float(brentq(gradient, grid[left], grid[right], xtol=1e-14, rtol=1e-14))
