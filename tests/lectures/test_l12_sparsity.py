"""L12: the lasso makes weights 0 where ridge only makes them small."""

from __future__ import annotations

import numpy as np
import pytest

from separable import ElasticNet, Lasso, Ridge

pytestmark = pytest.mark.native


def planted(n=60, d=30, used=4, seed=0):
    """Rows of many columns of which few count."""
    rng = np.random.default_rng(seed)
    w = np.zeros(d)
    w[:used] = [3.0, -2.0, 1.5, 1.0]
    X = rng.normal(size=(n, d))
    return X, X @ w + 0.5 * rng.normal(size=n), w


def rest(model, X, y):
    return float(np.mean((y - model.predict(X)) ** 2))


def ridge_of_equal_fit(X, y, target):
    """Return the ridge whose squared error on the same rows is the one asked for."""
    low, high = 1e-6, 1e6
    for _ in range(200):
        alpha = np.sqrt(low * high)
        low, high = (alpha, high) if rest(Ridge(alpha).fit(X, y), X, y) < target else (low, alpha)
    return Ridge(alpha).fit(X, y)


def test_by_hand():
    # columns at right angles, X'X / n = 1: ridge divides, the lasso subtracts and stops at 0
    X = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    y = X @ [3.0, 0.5]
    np.testing.assert_allclose(Lasso(1.0).fit(X, y).coef_, [2.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(Lasso(0.2).fit(X, y).coef_, [2.8, 0.3], atol=1e-12)
    np.testing.assert_allclose(Ridge(4.0).fit(X, y).coef_, [1.5, 0.25], atol=1e-12)
    net = ElasticNet(1.0, l1_ratio=0.5).fit(X, y)  # first less 1/2, then over 1 + 1/2
    np.testing.assert_allclose(net.coef_, [2.5 / 1.5, 0.0], atol=1e-12)


def test_at_equal_fit_the_lasso_is_sparse_and_ridge_is_not():
    X, y, w = planted()
    lasso = Lasso(0.2).fit(X, y)
    ridge = ridge_of_equal_fit(X, y, rest(lasso, X, y))
    assert rest(ridge, X, y) == pytest.approx(rest(lasso, X, y), rel=1e-6)
    assert np.flatnonzero(lasso.coef_).tolist() == np.flatnonzero(w).tolist()
    assert (ridge.coef_ != 0).all()
    # each has the smaller penalty of its own kind
    assert np.abs(lasso.coef_).sum() < np.abs(ridge.coef_).sum()
    assert (ridge.coef_**2).sum() < (lasso.coef_**2).sum()
    # where few columns count the sparse one predicts new rows better
    new_X, new_y, _ = planted(n=2000, seed=1)
    assert rest(lasso, new_X, new_y) < 0.5 * rest(ridge, new_X, new_y)


def test_along_the_path_weights_leave_one_after_the_other():
    X, y, _ = planted()
    most = np.abs((X - X.mean(axis=0)).T @ (y - y.mean())).max() / len(y)
    counts = [
        int((Lasso(alpha).fit(X, y).coef_ != 0).sum())
        for alpha in most * np.array([1.0001, 0.9, 0.3, 0.1, 0.01])
    ]
    assert counts[:2] == [0, 1]
    assert counts == sorted(counts)
    assert all((Ridge(alpha).fit(X, y).coef_ != 0).all() for alpha in (0.1, 10.0, 1e4))


def test_the_elastic_net_keeps_twins_together():
    X, y, _ = planted()
    twins = np.column_stack([X[:, 0], X])
    net = ElasticNet(0.1, l1_ratio=0.5).fit(twins, y).coef_
    assert net[0] == pytest.approx(net[1], rel=1e-6)
    assert net[0] > 0.5
    # to the lasso only their sum matters
    alone, both = Lasso(0.1).fit(X, y), Lasso(0.1).fit(twins, y)
    assert both.coef_[:2].sum() == pytest.approx(alone.coef_[0], rel=1e-6)
    assert both.certificate_.primal == pytest.approx(alone.certificate_.primal, rel=1e-9)
