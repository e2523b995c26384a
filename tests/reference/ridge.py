"""Ridge regression in exact rational arithmetic, and by its formula."""

from __future__ import annotations

from fractions import Fraction

import numpy as np


def exact_ridge(X, y, alpha, weight=None, fit_intercept=True):
    """Return w and b: (sum c x x' + alpha I) w = sum c x y with b unpenalised, by elimination."""
    n, d = X.shape
    rows = [[Fraction(float(v)) for v in row] + [Fraction(int(fit_intercept))] for row in X]
    target = [Fraction(float(v)) for v in y]
    c = [Fraction(1)] * n if weight is None else [Fraction(float(v)) for v in weight]
    size = d + bool(fit_intercept)
    table = [
        [sum(c[i] * rows[i][j] * rows[i][k] for i in range(n)) for k in range(size)]
        + [sum(c[i] * rows[i][j] * target[i] for i in range(n))]
        for j in range(size)
    ]
    for j in range(d):
        table[j][j] += Fraction(float(alpha))
    for j in range(size):
        pivot = next(k for k in range(j, size) if table[k][j] != 0)
        table[j], table[pivot] = table[pivot], table[j]
        table[j] = [v / table[j][j] for v in table[j]]
        for k in range(size):
            if k != j and table[k][j] != 0:
                table[k] = [a - table[k][j] * b for a, b in zip(table[k], table[j], strict=True)]
    answer = [float(row[-1]) for row in table]
    return np.array(answer[:d]), answer[d] if fit_intercept else 0.0


def ridge(X, y, alpha, weight=None, fit_intercept=True):
    """Return w and b by least squares over the rows and sqrt(alpha) I below them."""
    c = np.ones(len(y)) if weight is None else weight
    m, t = (c @ X / c.sum(), c @ y / c.sum()) if fit_intercept else (np.zeros(X.shape[1]), 0.0)
    Z = (X - m) * np.sqrt(c)[:, None]
    below = np.sqrt(alpha) * np.eye(X.shape[1])
    target = np.concatenate([(y - t) * np.sqrt(c), np.zeros(X.shape[1])])
    w = np.linalg.lstsq(np.vstack([Z, below]), target, rcond=None)[0]
    return w, t - w @ m


def left_out(X, y, alpha, weight=None, fit_intercept=True):
    """Return what each row is predicted by a fit to all others."""
    predicted = np.empty(len(y))
    for i in range(len(y)):
        other = np.arange(len(y)) != i
        c = None if weight is None else weight[other]
        w, b = ridge(X[other], y[other], alpha, c, fit_intercept)
        predicted[i] = X[i] @ w + b
    return predicted
