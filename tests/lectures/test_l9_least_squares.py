"""L9: least squares, and why it is not computed by its formula."""

from __future__ import annotations

import numpy as np

from separable import LeastSquares


def test_the_formula_gives_the_same_weights_on_kind_data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3))
    y = X @ [1.0, -2.0, 0.5] + rng.normal(size=50)
    w = np.linalg.inv(X.T @ X) @ X.T @ y
    np.testing.assert_allclose(LeastSquares(fit_intercept=False).fit(X, y).coef_, w, rtol=1e-12)


def test_the_formula_loses_all_digits_where_least_squares_keeps_them():
    x = np.arange(1.0, 12.0)
    X = np.stack([x**k for k in range(1, 8)], axis=1)
    w = np.ones(7)
    y = X @ w  # whole numbers, so that nothing is rounded
    design = np.column_stack([np.ones(11), X])
    formula = np.linalg.inv(design.T @ design) @ design.T @ y
    learned = LeastSquares().fit(X, y)
    assert np.abs(formula[1:] - w).max() > 1e-4
    np.testing.assert_allclose(learned.coef_, w, rtol=1e-11)
    np.testing.assert_allclose(learned.intercept_, 0, atol=1e-9)
