"""L11: ridge regression, and the Gaussian prior behind it."""

from __future__ import annotations

import numpy as np
import pytest

from separable import BayesianRegression, LeastSquares, Ridge

pytestmark = pytest.mark.native


def polynomial(x, degree):
    return x[:, None] ** np.arange(1, degree + 1)


def test_by_hand():
    # X'X = [[2, 1], [1, 2]], X'y = (3, 3); alpha = 1: [[3, 1], [1, 3]] w = (3, 3), w = (3/4, 3/4)
    X, y = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [1.0, 1.0, 2.0]
    shrunk = Ridge(alpha=1.0, fit_intercept=False).fit(X, y)
    np.testing.assert_allclose(shrunk.coef_, [0.75, 0.75], rtol=1e-15)
    np.testing.assert_allclose(LeastSquares(fit_intercept=False).fit(X, y).coef_, [1, 1])


def test_ridge_is_its_formula():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 4)), rng.normal(size=50)
    for alpha in (0.1, 1.0, 10.0):
        expected = np.linalg.inv(X.T @ X + alpha * np.eye(4)) @ X.T @ y
        result = Ridge(alpha, fit_intercept=False).fit(X, y).coef_
        np.testing.assert_allclose(result, expected, rtol=1e-12)


def test_the_posterior_of_the_prior_is_the_slides():
    # noise of variance 1, w ~ N(0, alpha^-1 I): N((X'X + alpha I)^-1 X'y, (X'X + alpha I)^-1)
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(30, 3)), rng.normal(size=30)
    posterior = BayesianRegression(
        weight_precision=2.5, noise_precision=1.0, fit_intercept=False
    ).fit(X, y)
    covariance = np.linalg.inv(X.T @ X + 2.5 * np.eye(3))
    np.testing.assert_allclose(posterior.covariance_, covariance, rtol=1e-12)
    np.testing.assert_allclose(posterior.coef_, covariance @ X.T @ y, rtol=1e-12)


def test_a_polynomial_of_high_degree_needs_the_penalty():
    rng = np.random.default_rng(2)
    x, new = rng.uniform(-1, 1, 15), np.linspace(-0.95, 0.95, 200)
    y = np.sin(3 * x) + 0.2 * rng.normal(size=15)
    errors = {}
    for learner in (LeastSquares(), Ridge(0.01)):
        predicted = learner.fit(polynomial(x, 12), y).predict(polynomial(new, 12))
        errors[type(learner).__name__] = np.sqrt(((predicted - np.sin(3 * new)) ** 2).mean())
    assert errors["Ridge"] < 0.3 < 1.0 < errors["LeastSquares"]


def test_the_band_is_wide_where_there_are_no_rows():
    x = np.linspace(-1, 0, 20)
    line = BayesianRegression(weight_precision=1.0, noise_precision=25.0).fit(x[:, None], 2 * x)
    _, std = line.predict([[-0.5], [0.5], [3.0]], return_std=True)
    assert std[0] < std[1] < std[2]
    assert std[0] > 0.2  # never below the noise
