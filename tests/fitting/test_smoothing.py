"""Smoothing levels of an additive model, against dense NumPy."""

from __future__ import annotations

import numpy as np

from separable.data.rows import as_rows
from separable.fitting.smoothing import Term, fit_additive

rng = np.random.default_rng(0)


def test_weights_are_the_ridge_solution_of_the_levels():
    X, w = rng.normal(size=(300, 7)), rng.uniform(0.5, 2, 300)
    y = np.column_stack([X[:, 0] + rng.normal(size=300), X @ rng.normal(size=7)])
    basis = rng.normal(size=(3, 3))
    terms = [Term(0, 3, basis), Term(3, 5), Term(5, 7)]
    fit = fit_additive(as_rows(X), terms, y, w)
    B = np.eye(7)
    B[:3, :3] = basis
    Z = (X - np.average(X, axis=0, weights=w)) @ B
    penalty = np.diag(np.repeat(fit.levels, [3, 2, 2]))
    # the last update moves the levels by less than the tolerance, so the weights nearly fit them
    g = np.linalg.solve(Z.T @ (w[:, None] * Z) + penalty, Z.T @ (w[:, None] * y))
    np.testing.assert_allclose(fit.weights, B @ g, atol=2e-3)
    residual = fit.predict(as_rows(X)) - y
    np.testing.assert_allclose(w @ residual, 0, atol=1e-8)


def test_terms_of_noise_are_smoothed_away():
    X = rng.normal(size=(500, 40))
    y = (3 * X[:, :5].sum(axis=1) + rng.normal(size=500))[:, None]
    fit = fit_additive(as_rows(X), [Term(0, 5), Term(5, 40)], y)
    assert fit.levels[1] > 100 * fit.levels[0]
    assert np.abs(fit.weights[5:]).max() < 0.05
    np.testing.assert_allclose(fit.weights[:5], 3, atol=0.2)


def test_a_constant_target_and_a_constant_column_stay_finite():
    X = np.column_stack([np.ones(50), rng.normal(size=50)])
    fit = fit_additive(as_rows(X), [Term(0, 1), Term(1, 2)], np.full((50, 1), 7.0))
    np.testing.assert_allclose(fit.predict(as_rows(X)), 7.0)
