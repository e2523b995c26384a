"""L4: the perceptron algorithm, dense and sparse, with both decks' step sizes."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from separable import Perceptron

pytestmark = pytest.mark.native


def test_by_hand():
    # (1,1) is +, (2,0) is -: the updates on paper, bias as x0 = 1.
    X, y = np.array([[1.0, 1.0], [2.0, 0.0]]), np.array([1, 0])
    # start 0:            row 1 scores 0, a mistake: w = (1, 1),  b = 1
    #                     row 2 scores 3, a mistake: w = (-1, 1), b = 0
    # second epoch:       row 1 scores 0, a mistake: w = (0, 2),  b = 1
    #                     row 2 scores 1, a mistake: w = (-2, 2), b = 0
    # third:              row 1 scores 0, a mistake: w = (-1, 3), b = 1
    #                     row 2 scores -1: right;    fourth epoch: no mistake
    learned = Perceptron(shuffle=False).fit(X, y)
    np.testing.assert_array_equal(learned.coef_, [[-1, 3]])
    np.testing.assert_array_equal(learned.intercept_, [1])
    assert learned.evidence_["mistakes"] == [2, 2, 1, 0]


def test_sparse_is_the_same_algorithm():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(30, 12)).astype(float)
    y = (X[:, 0] + X[:, 1] > X[:, 2]).astype(int)
    dense, sparse = (Perceptron().fit(form(X), y) for form in (np.asarray, sp.csr_array))
    np.testing.assert_array_equal(dense.coef_, sparse.coef_)


def test_twice_the_step_is_the_same_direction():
    # One deck steps by eta (y - yhat) x, twice the other's eta y x.
    rng = np.random.default_rng(1)
    X = rng.normal(size=(50, 3))
    y = (X @ [1, -2, 3] > 0).astype(int)
    one, two = Perceptron().fit(X, y), Perceptron(eta0=2.0).fit(X, y)
    np.testing.assert_array_equal(two.coef_, 2 * one.coef_)
    np.testing.assert_array_equal(two.predict(X), one.predict(X))
