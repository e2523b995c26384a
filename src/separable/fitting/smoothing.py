"""A smoothing level for each term of an additive model: a curve, a pair, a category.

Each term has a ridge penalty of its own level in the basis of its features. The levels maximize the
likelihood of a Gaussian model in which weights are random too, by the updates of Fellner (1986) and
Schall (1991); see Wood and Fasiolo (2017), "A generalized Fellner-Schall method". Classes are 0/1
targets that share the levels. All of it happens on sums: one product of features with features.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from separable.data.rows import Rows
    from separable.typing import Floats

__all__ = ["DEFAULT_OPTIONS", "AdditiveFit", "SmoothingOptions", "Term", "fit_additive"]


@dataclass(frozen=True)
class SmoothingOptions:
    """Limits of the estimation of levels.

    Parameters
    ----------
    rows : int
        Most rows; of more, every second, third, ...
    features : int
        Most features: the cost grows with their cube.
    updates : int
        Most updates of the levels.
    tolerance : float
        The updates end when no level changes by more than this fraction.
    least, most : float
        Range of the levels, relative to the rows.
    """

    rows: int = 20_000
    features: int = 2500
    updates: int = 8
    tolerance: float = 0.1
    least: float = 1e-9
    most: float = 1e6


DEFAULT_OPTIONS = SmoothingOptions()


@dataclass(frozen=True)
class Term:
    """Neighbouring features with one level.

    Parameters
    ----------
    start, stop : int
        Range of the features.
    basis : ndarray, shape (stop - start, m), or None
        Basis in which the penalty applies; None: the features themselves.
    """

    start: int
    stop: int
    basis: Floats | None = None

    @property
    def size(self) -> int:
        """Number of basis functions."""
        return self.stop - self.start if self.basis is None else self.basis.shape[1]


@dataclass(frozen=True)
class AdditiveFit:
    """An additive model, fitted by penalized least squares.

    Parameters
    ----------
    levels : ndarray, shape (terms,)
        Penalties of the squared weights in the basis of each term.
    weights : ndarray, shape (features, targets)
    intercept : ndarray, shape (targets,)
    """

    levels: Floats
    weights: Floats
    intercept: Floats

    def predict(self, rows: Rows) -> Floats:
        """Return the predictions, shape (rows, targets)."""
        return np.asarray(rows.to_matrix() @ self.weights) + self.intercept


def fit_additive(
    rows: Rows,
    terms: Sequence[Term],
    targets: Floats,
    weight: Floats | None = None,
    options: SmoothingOptions = DEFAULT_OPTIONS,
) -> AdditiveFit:
    """Fit an additive model with a level for each term.

    Parameters
    ----------
    rows : Rows
    terms : sequence of Term
        They cover the features from first to last.
    targets : ndarray, shape (n, k)
    weight : ndarray, shape (n,), optional
    options : SmoothingOptions
    """
    sums = _Sums.of(rows, terms, targets, weight)
    sizes = np.array([term.size for term in terms])
    firsts = np.cumsum(sizes) - sizes
    levels = np.full(len(terms), 1.0)
    weights = np.zeros_like(sums.products)
    for _ in range(options.updates):
        system = sums.gram.copy()
        system.flat[:: len(system) + 1] += np.repeat(levels, sizes)
        factor, failed = dpotrf(system, lower=1, overwrite_a=1)
        if failed:
            break
        weights = dpotrs(factor, sums.products, lower=1)[0]
        inverse = np.diag(dpotri(factor, lower=1, overwrite_c=1)[0])
        free = sizes - levels * np.add.reduceat(inverse, firsts)
        noise = sums.residuals(weights) / max(sums.total - free.sum(), 1.0)
        squares = np.add.reduceat(weights**2, firsts) @ (1.0 / noise)
        wanted = targets.shape[1] * np.maximum(free, 1e-6) / np.maximum(squares, 1e-300)
        wanted = np.clip(wanted, options.least * sums.total, options.most * sums.total)
        change = np.abs(np.log(wanted / levels)).max()
        levels = wanted
        if change < options.tolerance:
            break
    return sums.fitted(terms, levels, weights, firsts)


@dataclass(frozen=True)
class _Sums:
    """Centred products of the basis functions with each other and with the scaled targets."""

    gram: Floats
    products: Floats
    squares: Floats
    means: Floats
    target_means: Floats
    scales: Floats
    total: float

    @classmethod
    def of(cls, rows: Rows, terms: Sequence[Term], targets: Floats, weight: Floats | None) -> _Sums:
        X: Any = rows.to_matrix()
        w = np.ones(rows.n_rows) if weight is None else np.asarray(weight, np.float64)
        total = float(w.sum())
        means = np.asarray(X.T @ w) / total
        target_means = w @ targets / total
        scales = np.sqrt(w @ (targets - target_means) ** 2 / total)
        scaled = (targets - target_means) / np.where(scales > 0, scales, 1.0)
        root = X * np.sqrt(w)[:, None] if weight is not None else X
        product = root.T @ root
        gram = product.toarray() if hasattr(product, "toarray") else np.asarray(product)
        gram -= total * np.outer(means, means)
        products = np.asarray(X.T @ (w[:, None] * scaled))
        return cls(
            _in_basis(_in_basis(gram, terms).T, terms),
            _in_basis(products, terms),
            np.maximum(w @ scaled**2, 1e-300),
            means,
            target_means,
            scales,
            total,
        )

    def residuals(self, weights: Floats) -> Floats:
        """Return the squared residuals of each target, at least a tiny part of its squares."""
        fitted = self.gram @ weights
        left = self.squares - ((2.0 * self.products - fitted) * weights).sum(axis=0)
        clipped: Floats = np.maximum(left, 1e-9 * self.squares)
        return clipped

    def fitted(
        self, terms: Sequence[Term], levels: Floats, weights: Floats, firsts: Floats
    ) -> AdditiveFit:
        parts = []
        for term, first in zip(terms, firsts.tolist(), strict=True):
            own = weights[first : first + term.size]
            parts.append(own if term.basis is None else term.basis @ own)
        features = np.concatenate(parts) * self.scales
        return AdditiveFit(levels, features, self.target_means - self.means @ features)


def _in_basis(sums: Floats, terms: Sequence[Term]) -> Floats:
    """Return sums over features as sums over basis functions, in the first dimension."""
    return np.concatenate(
        [
            sums[term.start : term.stop]
            if term.basis is None
            else term.basis.T @ sums[term.start : term.stop]
            for term in terms
        ]
    )
