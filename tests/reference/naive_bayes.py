"""Naive Bayes in plain NumPy, by its definitions: probabilities, then their logarithms."""

from __future__ import annotations

import numpy as np


def _counts(X, y, weight):
    classes = np.unique(y)
    weight = np.ones(len(y)) if weight is None else weight
    n = np.array([weight[y == k].sum() for k in classes])
    sums = np.array([(weight[y == k, None] * X[y == k]).sum(axis=0) for k in classes])
    return classes, n, sums


def multinomial(X, y, Z, alpha=1.0, weight=None):
    """Return log P(k) + sum_j z_j log p_kj for the rows of Z, (m, K)."""
    _, n, sums = _counts(X, y, weight)
    p = (sums + alpha) / (sums + alpha).sum(axis=1, keepdims=True)
    return np.log(n / n.sum()) + np.array([[(z * np.log(row)).sum() for row in p] for z in Z])


def bernoulli(X, y, Z, alpha=1.0, weight=None, binarize=0.0):
    """Return log P(k) + sum_j log of p_kj or 1 - p_kj for the rows of Z, (m, K)."""
    _, n, sums = _counts(np.greater(X, binarize).astype(float), y, weight)
    p = (sums + alpha) / (n[:, None] + 2 * alpha)
    return np.log(n / n.sum()) + np.array(
        [[np.log(np.where(z > binarize, row, 1 - row)).sum() for row in p] for z in Z]
    )


def complement(X, y, Z, alpha=1.0, weight=None, norm=False):
    """Return -sum_j z_j log q_kj, q_k the probabilities outside class k; (m, K)."""
    classes, _, sums = _counts(X, y, weight)
    rest = np.array([np.delete(sums, k, axis=0).sum(axis=0) for k in range(len(classes))]) + alpha
    w = np.log(rest / rest.sum(axis=1, keepdims=True))
    w = w / w.sum(axis=1, keepdims=True) if norm else -w
    return np.array([[(z * row).sum() for row in w] for z in Z])
