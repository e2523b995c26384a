"""The vectors of several classes together, against vectors written out one by one."""

import numpy as np
import pytest
import scipy.sparse as sp

from separable.data.rows import as_rows
from separable.geometry.cone.cone_rows import JointRows


def written_out(X, label, K, fit_intercept):
    """Return all vectors, a row of a matrix each."""
    wide = np.column_stack([X, np.ones(len(X))]) if fit_intercept else X
    result = []
    for x, y in zip(wide, label, strict=True):
        for k in range(K):
            if k == y:
                continue
            vector = np.zeros((K, wide.shape[1]))
            vector[y] += x
            vector[k] -= x
            result.append(vector[1:].ravel())
    return np.array(result)


@pytest.mark.parametrize("K", [2, 3, 5])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array, lambda X: X.astype(np.float32)])
def test_products(K, fit_intercept, kind):
    rng = np.random.default_rng(K)
    X = rng.normal(size=(12, 3)).astype(np.float32).astype(float)
    X[rng.random(X.shape) < 0.3] = 0.0
    label = np.arange(12) % K
    Z = written_out(X, label, K, fit_intercept)
    cone = JointRows.of(as_rows(kind(X)), label, K, fit_intercept)
    assert (cone.size, cone.dimension) == Z.shape
    u, a = rng.normal(size=cone.dimension), rng.random(cone.size) * (rng.random(cone.size) < 0.5)
    np.testing.assert_allclose(cone.scores(u), Z @ u, atol=1e-12)
    np.testing.assert_allclose(cone.magnitudes(u), abs(Z) @ abs(u), atol=1e-12)
    np.testing.assert_allclose(cone.sums(a), Z.T @ a, atol=1e-12)
    np.testing.assert_allclose(cone.gram(a), Z.T @ (a[:, None] * Z), atol=1e-12)
    chosen = np.array([0, 3, 3, cone.size - 1])
    np.testing.assert_array_equal(cone.take(chosen), Z[chosen])
    np.testing.assert_array_equal(cone.raw(u), u)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_columns_seen_otherwise_are_those_that_came(kind):
    rng = np.random.default_rng(0)
    X, label = rng.normal(size=(10, 3)) * [1e6, 1e-6, 0] + [1e9, 0, 7], np.arange(10) % 3
    plain = JointRows.of(as_rows(kind(X)), label, 3, True)
    seen = plain.seen()
    u = rng.normal(size=seen.dimension)
    size = plain.magnitudes(seen.raw(u))
    np.testing.assert_allclose(plain.scores(seen.raw(u)) / size, seen.scores(u) / size, atol=1e-12)


def test_vectors_have_names():
    label = np.array([0, 2, 1])
    cone = JointRows.of(as_rows(np.eye(3)), label, 3, True)
    pairs = cone.pairs(np.arange(cone.size))
    assert pairs.tolist() == [[0, 1], [0, 2], [1, 0], [1, 1], [2, 0], [2, 2]]
    assert cone.row_class_pairs(pairs).tolist() == list(range(6))
    with pytest.raises(ValueError, match="own class"):
        cone.row_class_pairs(np.array([[0, 0]]))
    u = np.arange(8.0)
    np.testing.assert_array_equal(cone.packed(*cone.unpacked(u)), u)
