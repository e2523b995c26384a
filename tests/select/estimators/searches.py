"""Small problems with noise, for searches over C."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp


def classes(n=90, d=6, k=2, seed=0, noise=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    scores = X @ rng.normal(size=(d, k)) + noise * rng.normal(size=(n, k))
    return X, scores.argmax(axis=1)


def text(n=400, d=1500, seed=0, noise=0.5):
    """Sparse rows with so many columns that passes, many models at a time, learn them."""
    rng = np.random.default_rng(seed)
    X = sp.random_array((n, d), density=0.02, format="csr", rng=rng, data_sampler=rng.random)
    X = X / np.maximum(np.sqrt(X.multiply(X).sum(axis=1)), 1e-9)[:, None]
    y = X @ rng.normal(size=d) + noise * rng.normal(size=n) * 0.2 > 0
    return sp.csr_array(X), y.astype(int)
