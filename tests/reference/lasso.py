"""The elastic net by its definition: coordinate descent on the rows, and the certificate."""

from __future__ import annotations

import numpy as np


def objective(X, y, w, b, alpha, l1_ratio=1.0, c=None):
    """Return the objective of scikit-learn's ``ElasticNet``."""
    c = np.ones(len(y)) if c is None else c
    squares = c @ (y - X @ w - b) ** 2 / (2 * c.sum())
    return squares + alpha * (l1_ratio * np.abs(w).sum() + (1 - l1_ratio) / 2 * w @ w)


def gap(X, y, w, b, alpha, l1_ratio=1.0, c=None):
    """Return how far the objective is from the dual one at r / W, scaled until it is feasible."""
    c = np.ones(len(y)) / len(y) if c is None else c / c.sum()
    r = c * (y - X @ w - b)
    r -= c * r.sum()
    pull = X.T @ r - (c @ X) * r.sum()
    if l1_ratio == 1:
        r = r * min(1.0, alpha / max(np.abs(pull).max(), 1e-300))
        beyond = 0.0
    else:
        over = np.maximum(0.0, np.abs(pull) - alpha * l1_ratio)
        beyond = over @ over / (2 * alpha * (1 - l1_ratio))
    dual = r @ y - (r**2 / np.where(c > 0, c, 1)).sum() / 2 - beyond
    return objective(X, y, w, b, alpha, l1_ratio, c) - dual


def learn(X, y, alpha, l1_ratio=1.0, *, c=None, positive=False, passes=3000):
    """Return w and b after many passes over the columns."""
    c = np.ones(len(y)) / len(y) if c is None else c / c.sum()
    Z, t = X - c @ X, y - c @ y
    w = np.zeros(X.shape[1])
    for _ in range(passes):
        for j, z in enumerate(Z.T):
            square = c @ z**2
            v = c @ (z * (t - Z @ w)) + square * w[j]
            size = max(0.0, (v if positive else abs(v)) - alpha * l1_ratio)
            w[j] = np.sign(v) * size / (square + alpha * (1 - l1_ratio)) if square > 0 else 0.0
    return w, c @ y - c @ X @ w
