"""Problems for the online tests, and the formats they come in."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from hypothesis import strategies as st

FORMATS = {
    "dense": lambda X: np.ascontiguousarray(X),
    "csr32": lambda X: _csr(X, np.int32),
    "csr64": lambda X: _csr(X, np.int64),
    "fortran": np.asfortranarray,
    "csc": sp.csc_array,
}
DTYPES = (np.float32, np.float64)


def _csr(X, index):
    csr = sp.csr_array(X)
    csr.indices, csr.indptr = csr.indices.astype(index), csr.indptr.astype(index)
    return csr


@st.composite
def integer_problems(draw, classes=2, max_rows=30, max_features=40):
    """Small integers: sums and products are exact in float32, so results are exact too."""
    seed = draw(st.integers(0, 2**31))
    n = draw(st.integers(classes, max_rows))
    d = draw(st.integers(1, max_features))
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, size=(n, d)) * (rng.random((n, d)) < draw(st.sampled_from([0.3, 1.0])))
    label = np.concatenate([np.arange(classes), rng.integers(0, classes, n - classes)])
    return X.astype(np.float64), rng.permutation(label)


def separable_problem(seed, n=None, d=None):
    """Rows at least a margin away from a random plane."""
    rng = np.random.default_rng(seed)
    n = n or int(rng.integers(4, 60))
    d = d or int(rng.integers(1, 8))
    w, b = rng.normal(size=d), rng.normal()
    X = rng.normal(size=(n, d)) * np.exp(rng.normal())
    s = X @ w + b
    side = np.where(s > 0, 1, -1)
    X += np.outer(side * rng.uniform(0.05, 0.5) * np.abs(s).mean() / (w @ w), w)
    if len(set(side)) == 1:
        X[0] -= w * (side[0] * 3 * np.abs(X @ w + b).max() / (w @ w))
        side[0] = -side[0]
    return X, (side > 0).astype(int)
