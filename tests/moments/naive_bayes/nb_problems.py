"""Problems for the naive Bayes tests."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from hypothesis import strategies as st

from tests.online.problems import FORMATS

__all__ = ["FORMATS", "counts_problem", "problems", "with_duplicates"]


def counts_problem(seed, n=30, d=8, classes=3, weighted=False):
    """Return counts, labels that hold every class, and weights or None."""
    rng = np.random.default_rng(seed)
    X = rng.poisson(0.8, size=(n, d)).astype(float)
    y = rng.permutation(np.concatenate([np.arange(classes), rng.integers(0, classes, n - classes)]))
    weight = rng.choice([0.0, 0.5, 1.0, 2.25, 3.0], n) if weighted else None
    if weight is not None:
        weight[[np.flatnonzero(y == k)[0] for k in range(classes)]] = 1.0
    return X, y, weight


@st.composite
def problems(draw):
    classes = draw(st.integers(2, 4))
    n, d = draw(st.integers(classes, 25)), draw(st.integers(2, 9))
    seed, weighted = draw(st.integers(0, 2**31)), draw(st.booleans())
    return counts_problem(seed, n, d, classes, weighted)


def with_duplicates(X):
    """Return the same matrix in CSR with every value in two parts, columns not sorted."""
    row, column = np.nonzero(X)
    value = X[row, column]
    part = np.where(np.abs(value) < 1, value / 2, np.floor(value / 2))  # the parts add up exactly
    order = np.lexsort((-np.tile(column, 2), np.tile(row, 2)))
    data = np.concatenate([part, value - part])[order]
    indptr = np.concatenate([[0], np.cumsum(2 * np.count_nonzero(X, axis=1))])
    return sp.csr_array((data, np.tile(column, 2)[order], indptr), shape=X.shape)
