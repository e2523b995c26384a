"""Moments by exact arithmetic: fractions, rounded once at the end."""

from __future__ import annotations

from fractions import Fraction

import numpy as np


def _exact(X):
    return [[Fraction(float(x)) for x in row] for row in X]


def _mean(rows, weights):
    total = sum(weights)
    columns = zip(*rows, strict=True)
    return [sum(w * x for w, x in zip(weights, c, strict=True)) / total for c in columns]


def _scatter(rows, weights, mean):
    d = len(mean)
    gaps = [[x - m for x, m in zip(row, mean, strict=True)] for row in rows]
    return [
        [sum(w * g[j] * g[k] for w, g in zip(weights, gaps, strict=True)) for k in range(d)]
        for j in range(d)
    ]


def moments(X, weights=None):
    """Return weight, mean and scatter of rows, each rounded from the exact number."""
    weights = [Fraction(1)] * len(X) if weights is None else [Fraction(float(w)) for w in weights]
    rows = _exact(X)
    mean = _mean(rows, weights)
    scatter = _scatter(rows, weights, mean)
    return float(sum(weights)), np.array(mean, float), np.array(scatter, float)


def within(X, y, weights=None):
    """Return the scatter about the means of the classes."""
    X, y = np.asarray(X), np.asarray(y)
    weights = np.ones(len(y)) if weights is None else np.asarray(weights)
    parts = [moments(X[y == k], weights[y == k])[2] for k in np.unique(y[weights > 0])]
    return np.sum(parts, axis=0)
