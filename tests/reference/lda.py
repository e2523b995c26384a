"""Linear discriminant analysis as the lecture writes it down, with an explicit inverse."""

from __future__ import annotations

import numpy as np


def estimates(X, y, weights=None, covariance="unbiased", shrinkage=0.0, diagonal=False):
    """Return priors, means and the covariance within classes."""
    weights = np.ones(len(X)) if weights is None else weights
    classes = np.unique(y[weights > 0])
    total = np.array([weights[y == k].sum() for k in classes])
    means = np.array([weights[y == k] @ X[y == k] for k in classes]) / total[:, None]
    S = sum(
        w * np.outer(x - means[list(classes).index(k)], x - means[list(classes).index(k)])
        for x, k, w in zip(X, y, weights, strict=True)
        if w > 0
    )
    S = S / (total.sum() - (len(classes) if covariance == "unbiased" else 0))
    S = (1 - shrinkage) * S + shrinkage * np.trace(S) / len(S) * np.eye(len(S))
    return total / total.sum(), means, np.diag(np.diag(S)) if diagonal else S


def discriminants(X, priors, means, covariance):
    """Return delta_k(x) = x'S^-1 mu_k - mu_k'S^-1 mu_k / 2 + log pi_k, (n, K)."""
    inverse = np.linalg.inv(covariance)
    half = np.array([m @ inverse @ m / 2 for m in means])
    return X @ inverse @ means.T - half + np.log(priors)


def posterior(delta):
    """Return the probabilities of Bayes' rule."""
    powers = np.exp(delta - delta.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)
