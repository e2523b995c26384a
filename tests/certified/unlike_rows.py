"""Sparse rows of very unlike norms, with classes from a noisy hyperplane."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp


def unlike_rows(kind, n, d, nnz=30, seed=0):
    """Return rows and their classes, 0 and 1.

    ``kind``: what makes norms unlike: Zipf's counts of words, log-normal or Pareto's values, or
    sizes of whole rows or columns.
    """
    random = np.random.default_rng(seed)
    row = np.repeat(np.arange(n), nnz)
    column = random.integers(0, d, n * nnz)
    if kind == "counts":
        p = 1.0 / np.arange(1, d + 1) ** 1.1
        column = random.choice(d, size=n * nnz, p=p / p.sum())
        value = np.clip(random.zipf(1.7, n * nnz), 1, 10_000).astype(float)
    elif kind == "lognormal":
        value = random.lognormal(0, 2, n * nnz) * random.choice([-1, 1], n * nnz)
    elif kind == "pareto":
        value = np.clip(random.pareto(1.0, n * nnz) + 1, 0, 10_000)
    elif kind == "long rows":
        value = random.standard_normal(n * nnz) * np.exp(2 * random.standard_normal(n))[row]
    else:
        value = random.standard_normal(n * nnz) * np.exp(2 * random.standard_normal(d))[column]
    X = sp.csr_array((value, (row.astype(np.int32), column.astype(np.int32))), shape=(n, d))
    X.sum_duplicates()
    s = X @ random.standard_normal(d)
    noisy = s / np.median(np.abs(s)) + random.standard_normal(n)
    y = np.where(random.random(n) < 0.1, noisy <= 0, noisy > 0).astype(int)
    return X, y


KINDS = ("counts", "lognormal", "pareto", "long rows", "long columns")


def hinge_objective(X, y, w, b, C):
    """Return 1/2 |w|^2 + C sum of hinge losses."""
    return w @ w / 2 + C * np.maximum(0, 1 - (2 * y - 1) * (X @ w + b)).sum()
