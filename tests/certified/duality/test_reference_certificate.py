"""The reference certificate itself: a bound on both sides of the optimum, tight at it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from tests.reference.certificate import LOSSES, certify, certify_svr

INTERCEPT = pytest.mark.parametrize("intercept", [True, False])


def problem(seed, n=25, d=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-1, 1, d) + rng.normal(size=d)
    y = np.where(X @ rng.normal(size=d) + rng.normal(size=n) > 0, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    return X, y, 10.0 ** rng.uniform(-1, 1) * rng.uniform(0.5, 2, n), rng


@INTERCEPT
@pytest.mark.parametrize("loss", LOSSES)
@given(seed=st.integers(0, 10_000))
def test_any_dual_point_bounds_any_weights(loss, intercept, seed):
    X, y, c, rng = problem(seed)
    found = certify(loss, X, y, c, c * rng.random(len(y)) * 2, intercept=intercept)
    value = LOSSES[loss][0]
    for size in (0.0, 1e-3, 1.0):
        w, b = found.w + size * rng.normal(size=3), found.b + intercept * size * rng.normal()
        primal = 0.5 * w @ w + c @ value(y * (X @ w + b))
        assert found.dual <= primal * (1 + 1e-12)
    assert found.gap >= -1e-12 * found.primal
    assert found.gap == pytest.approx(found.primal - found.dual, rel=1e-9, abs=1e-9 * found.primal)


@INTERCEPT
@pytest.mark.parametrize("loss", ["logistic", "squared_hinge"])
@pytest.mark.parametrize("seed", range(3))
def test_tight_at_the_optimum(loss, intercept, seed):
    X, y, c, _ = problem(seed)
    value = LOSSES[loss][0]

    def objective(v):
        return 0.5 * v[:3] @ v[:3] + c @ value(y * (X @ v[:3] + v[3] * intercept))

    best = minimize(objective, np.zeros(4), method="BFGS", options={"gtol": 1e-9})
    m = y * (X @ best.x[:3] + best.x[3] * intercept)
    a = c / (1 + np.exp(m)) if loss == "logistic" else 2 * c * np.maximum(0, 1 - m)
    found = certify(loss, X, y, c, a, intercept=intercept)
    assert found.relative_gap < 1e-5
    assert found.dual <= best.fun * (1 + 1e-9)
    assert best.fun <= found.primal * (1 + 1e-9)


@INTERCEPT
@given(seed=st.integers(0, 10_000))
def test_regression_too(intercept, seed):
    X, y, c, rng = problem(seed)
    y = X @ rng.normal(size=3) + rng.normal(size=len(y))
    found = certify_svr(X, y, c, 0.1, c * rng.normal(size=len(y)), intercept=intercept)
    w, b = found.w + 1e-3 * rng.normal(size=3), found.b
    primal = 0.5 * w @ w + c @ np.maximum(0, np.abs(y - X @ w - b) - 0.1)
    assert found.dual <= primal * (1 + 1e-12)
    assert found.gap >= -1e-12 * found.primal
    assert found.gap == pytest.approx(found.primal - found.dual, rel=1e-9, abs=1e-9 * found.primal)
