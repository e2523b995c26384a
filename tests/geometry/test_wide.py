"""Many rows and many columns that no hyperplane separates: single columns clear most rows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from separable.geometry import separability
from separable.geometry.cone import dependencies


def texts(seed, n=2000, d=6000, words=12):
    """Return counts of words in short texts, most of them rare, and two classes."""
    rng = np.random.default_rng(seed)
    frequency = 1.0 / (np.arange(d) + 5.0)
    columns = rng.choice(d, n * words, p=frequency / frequency.sum())
    rows = np.repeat(np.arange(n), words)
    X = sparse.coo_array((np.ones(len(rows)), (rows, columns)), shape=(n, d)).tocsr()
    return X, rng.integers(0, 2, n)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_texts_that_contradict_each_other(dtype):
    X, y = texts(0)
    X = sparse.vstack([X, X[[3, 8]]]).tocsr().astype(dtype)
    y = np.r_[y, 1 - y[[3, 8]]]
    verdict = separability(X, y)
    assert verdict.kind == "quasi-separable"
    assert verdict.proof.boundary.tolist() == [3, 8, 2000, 2001]
    assert verdict.verify(X, y)
    assert verdict.verify(X, y, exact=True)
    other = y.copy()
    other[100] = 1 - other[100]
    assert not verdict.verify(X, other)


@pytest.mark.slow
def test_texts_whose_boundary_needs_whole_numbers():
    X, y = texts(1, 600, 3000)
    rng = np.random.default_rng(1)
    extra = np.zeros((3, X.shape[1]))
    extra[:, :1500] = rng.random((3, 1500))
    X = sparse.vstack([X, extra, extra]).tocsr()
    y = np.r_[y, 0, 1, 0, 1, 0, 1]
    verdict = separability(X, y)
    assert verdict.kind == "quasi-separable"
    assert verdict.proof.boundary.tolist() == list(range(600, 606))
    assert verdict.verify(X, y)


@pytest.mark.slow
@pytest.mark.parametrize("d", [1500, 3000])
def test_texts_of_fewer_columns_are_not_written_as_fractions(d, monkeypatch):
    X, y = texts(1, 1000, d)
    extra = np.zeros((3, d))
    extra[:, : d // 2] = np.random.default_rng(1).random((3, d // 2))
    X = sparse.vstack([X, extra, extra]).tocsr()
    y = np.r_[y, 0, 1, 0, 1, 0, 1]
    monkeypatch.setattr(dependencies, "null_vectors", None)  # one for each column: minutes
    verdict = separability(X, y)
    assert verdict.kind == "quasi-separable"
    assert verdict.verify(X, y)


@pytest.mark.slow
def test_too_many_rows_that_no_column_clears_are_undecided():
    rng = np.random.default_rng(2)
    X = sparse.random_array((3200, 3000), density=0.01, rng=rng, format="csr")
    X = sparse.vstack([X, X]).tocsr()
    y = np.arange(6400) < 3200
    verdict = separability(X, y)
    assert verdict.kind == "undecided"
    assert "no separating hyperplane" in verdict.reason
