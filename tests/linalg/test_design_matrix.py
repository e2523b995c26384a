"""Design matrices: every product of every implementation against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from separable.data.rows import as_rows
from separable.linalg import design_matrix as module
from separable.linalg.design_matrix import design_matrix
from separable.linalg.row_space import RowSpace, compact

pytestmark = pytest.mark.native

KINDS = ["plain", "shifted", "scaled", "float32", "large", "sparse", "sparse scaled", "spread"]


def made(kind, n=37, d=9, seed=0):
    """Return a design matrix and the same matrix as an array."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.6) + (kind == "spread") * 3
    if kind == "float32":
        X = X.astype(np.float32)
    scale = rng.random(d) + 0.5 if "scaled" in kind or kind in ("large", "spread") else None
    if "sparse" in kind or kind == "spread":
        x = design_matrix(as_rows(csr_array(X)), None, scale)
        Z = X * (1.0 if scale is None else scale)
        if kind == "spread":
            x = x.spread(centred=False)
            assert isinstance(x, module.DenseMatrix)
        return x, Z
    shift = None if kind == "plain" else rng.normal(size=d)
    Z = X.astype(np.float64) - (0.0 if shift is None else shift)
    return design_matrix(as_rows(X), shift, scale), Z * (1.0 if scale is None else scale)


@pytest.fixture(params=KINDS)
def pair(request, monkeypatch):
    if request.param == "large":  # computed block by block
        monkeypatch.setattr(module, "MAX_KEPT_CELLS", 0)
        monkeypatch.setattr(module, "BLOCK", 40)
    return made(request.param)


def close(got, expected):
    assert got.shape == expected.shape
    np.testing.assert_allclose(got, expected, atol=1e-12, rtol=1e-12)


@pytest.mark.parametrize("k", [None, 1, 3])
def test_products(pair, k):
    x, Z = pair
    rng = np.random.default_rng(1)
    u = rng.normal(size=(9, k) if k else 9)
    r = rng.normal(size=(37, k) if k else 37)
    close(x.matvec(u), Z @ u)
    close(x.rmatvec(r), Z.T @ r)
    close(x.squared_norms(np.abs(r)), (Z**2).T @ np.abs(r))
    assert x.shape == Z.shape


@pytest.mark.parametrize("centred", [False, True])
def test_gram(pair, centred):
    x, Z = pair
    rng = np.random.default_rng(2)
    c = rng.random(37) * (rng.random(37) < 0.5)
    away = Z - c @ Z / c.sum() if centred else Z
    close(x.gram(c, centred=centred), (away.T * c) @ away)
    close(x.squared_norms(c, centred=centred), c @ away**2)


def test_rows_and_columns(pair):
    x, Z = pair
    rows, columns = np.array([30, 2, 2]), np.array([7, 0, 3])
    close(x.take(rows), Z[rows])
    close(x.take_columns(columns).take(np.arange(37)), Z[:, columns])
    close(x.row_norms(), (Z**2).sum(axis=1))
    close(x.row_gram(rows), Z[rows] @ Z[rows].T)
    whole = np.concatenate([block.copy() for _, block in x.blocks(5)])
    close(whole, Z)
    assert x.nnz in (Z.size, np.count_nonzero(Z))


@pytest.mark.parametrize("centred", [False, True])
@pytest.mark.parametrize("kind", ["shifted", "sparse scaled"])
def test_the_row_space_has_the_same_inner_products(kind, centred):
    x, Z = made(kind, n=8, d=20)
    space = compact(x, centred=centred)
    assert isinstance(space, RowSpace)
    rng = np.random.default_rng(4)
    u = rng.normal(size=(space.shape[1], 2))
    w = space.expand(u)
    np.testing.assert_allclose(w.T @ w, u.T @ u, atol=1e-10)
    moved = Z @ w - space.matvec(u)  # an intercept at most
    np.testing.assert_allclose(moved, np.broadcast_to(moved[0], moved.shape), atol=1e-10)
    np.testing.assert_allclose(space.project(w), u, atol=1e-10)
    np.testing.assert_allclose(space.project(w[:, 0]), u[:, 0], atol=1e-10)


def test_sparse_columns_far_from_zero_are_centred():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(50, 30)) * (rng.random((50, 30)) < 0.02)
    X[:, 3] = 1e6 + rng.normal(size=50)
    x, c = design_matrix(as_rows(csr_array(X))), np.ones(50)
    away = X - X.mean(axis=0)
    np.testing.assert_allclose(x.gram(c, centred=True), away.T @ away, atol=1e-8)
