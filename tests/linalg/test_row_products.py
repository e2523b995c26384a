"""Products of rows that the engines are made of, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from separable._core import native
from separable.data.rows import as_rows, core_rows

pytestmark = [pytest.mark.native, pytest.mark.kernel]


@pytest.fixture(params=["dense", "sparse"])
def rows(request):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(13, 7)) * (rng.random((13, 7)) < 0.6)
    return X, core_rows(as_rows(X if request.param == "dense" else csr_array(X)))


def test_products(rows):
    X, core = rows
    rng = np.random.default_rng(1)
    c, w = rng.random(13) * (rng.random(13) < 0.7), rng.normal(size=7)
    pairs, squares = np.zeros((7, 7)), np.zeros(7)
    native.add_outer(core, c, pairs)
    native.add_squares(core, c, squares)
    whole = pairs + pairs.T
    whole[np.diag_indices(7)] /= 2
    np.testing.assert_allclose(whole, (X.T * c) @ X, atol=1e-12)
    np.testing.assert_allclose(squares, c @ X**2, atol=1e-12)
    scores, sums = np.empty(13), np.ones(7)
    native.add_curved(core, c, w, 0.5, scores, sums)
    np.testing.assert_allclose(scores, X @ w + 0.5, atol=1e-12)
    np.testing.assert_allclose(sums, 1.0 + X.T @ (c * (X @ w + 0.5)), atol=1e-12)
    one = np.empty((13, 1))
    native.score_rows(core, w[:, None].copy(), one)
    np.testing.assert_allclose(one[:, 0], X @ w, atol=1e-12)


def test_shapes_are_checked(rows):
    _, core = rows
    with pytest.raises(ValueError, match="weights and products do not fit the rows"):
        native.add_outer(core, np.ones(13), np.zeros((7, 6)))
    with pytest.raises(ValueError, match="weights and sums do not fit the rows"):
        native.add_squares(core, np.ones(12), np.zeros(7))
    with pytest.raises(ValueError, match="weights, scores and sums do not fit the rows"):
        native.add_curved(core, np.ones(13), np.ones(7), 0.0, np.empty(13), np.zeros(8))


@pytest.mark.parametrize("is_signed", [True, False])
@pytest.mark.parametrize("scaled", [True, False])
def test_the_largest_score_of_any_row(rows, scaled, is_signed):
    X, core = rows
    rng = np.random.default_rng(2)
    factor = rng.normal(size=13) ** 2 if scaled else None
    w = np.zeros((7, 8))
    w[:, :3] = rng.normal(size=(7, 3))
    scores = X @ w * (1.0 if factor is None else factor[:, None])
    expected = scores.max(axis=0) if is_signed else np.abs(scores).max(axis=0)
    found = native.largest_scores(core, w, factor, is_signed)
    np.testing.assert_allclose(found, np.maximum(expected, 0.0), atol=1e-12)


def test_weights_that_do_not_fit_are_refused():
    start, column = np.array([4, 5, 7]), np.array([1, 0, 2])
    table = native.spread_weights(start, column, np.arange(1.0, 4.0), 3)
    assert table.tolist() == [[0.0, 1.0, 0.0], [2.0, 0.0, 3.0]]
    for bad, d in ((start, 2), (np.array([4, 5, 8]), 3)):
        with pytest.raises(ValueError, match=r"no such column|do not fit"):
            native.spread_weights(bad, column, np.ones(3), d)
