"""L10: the Widrow-Hoff rule, w -= eta (w.x - y) x."""

from __future__ import annotations

import numpy as np
import pytest

from separable import WidrowHoff

pytestmark = pytest.mark.native


def test_by_hand():
    # eta = 1/4, no intercept. Start (0, 0).
    # row (1, 0), y = 2: error -2, w = (0.5, 0)
    # row (1, 1), y = 0: error 0.5, w = (0.375, -0.125)
    # again (1, 0):      error -1.625, w = (0.78125, -0.125)
    # again (1, 1):      error 0.65625, w = (0.6171875, -0.2890625)
    learner = WidrowHoff(eta0=0.25, fit_intercept=False, shuffle=False, max_iter=2, tol=None)
    learned = learner.fit([[1.0, 0.0], [1.0, 1.0]], [2.0, 0.0])
    np.testing.assert_array_equal(learned.coef_, [0.6171875, -0.2890625])
    assert learned.evidence_["mean_squared_error"] == [
        (2**2 + 0.5**2) / 2,
        (1.625**2 + 0.65625**2) / 2,
    ]


def test_the_bias_is_a_feature_that_is_one():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 3)), rng.normal(size=30)
    with_b = WidrowHoff(shuffle=False, max_iter=3, tol=None).fit(X, y)
    with_one = WidrowHoff(shuffle=False, max_iter=3, tol=None, fit_intercept=False)
    with_one.fit(np.hstack([X, np.ones((30, 1))]), y)
    np.testing.assert_allclose(
        with_one.coef_, np.append(with_b.coef_, with_b.intercept_), rtol=1e-12
    )


def test_it_ends_near_least_squares():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(100, 2))
    y = X @ [2.0, -1.0] + 0.1 * rng.normal(size=100)
    learned = WidrowHoff(eta0=0.001, fit_intercept=False).fit(X, y)
    np.testing.assert_allclose(learned.coef_, np.linalg.lstsq(X, y, rcond=None)[0], atol=0.01)
