"""The margin found, and the bound no margin exceeds, enclose the one of the nearest points."""

from __future__ import annotations

import numpy as np
import pytest

from separable.geometry import separability
from tests.reference.separability import margin_bracket


def separable_set(seed):
    rng = np.random.default_rng(seed)
    n, d = rng.integers(4, 60), rng.integers(1, 8)
    y = np.r_[0, 1, rng.integers(0, 2, n - 2)]
    X = rng.normal(size=(n, d))
    X += np.where(y == 1, 1, -1)[:, None] * rng.choice([1.5, 3, 8])
    return X * rng.choice([1e-3, 1, 1e3]), y


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("precision", [0.3, 1e-3, 1e-6])
def test_the_bracket_holds_the_largest_margin(precision, fit_intercept):
    checked = 0
    for seed in range(40):
        X, y = separable_set(seed)
        low, high = margin_bracket(X, y, fit_intercept)
        if not 0 < high <= low * (1 + 1e-7):  # not separable, or the reference is not sharp
            continue
        checked += 1
        verdict = separability(X, y, fit_intercept=fit_intercept, precision=precision)
        assert verdict.separable
        assert 0 < verdict.margin <= high * (1 + 1e-12)
        assert verdict.margin_bound >= low * (1 - 1e-12)
        assert verdict.margin_bound <= verdict.margin * (1 + precision) / (1 - precision)
        assert verdict.proof.margins.shape == y.shape
        assert np.argmin(verdict.proof.margins) in verdict.proof.support
        # the margin is that of its own weights
        w, b = np.ravel(verdict.proof.weights), float(np.ravel(verdict.proof.intercept)[0])
        distances = np.where(y == 1, 1, -1) * (X @ w + b) / np.linalg.norm(w)
        assert verdict.margin == pytest.approx(distances.min(), rel=1e-9)
        assert fit_intercept or b == 0
    assert checked >= 20


def test_the_reference_knows_the_margin_of_and():
    X, y = np.array([[0, 0], [0, 1], [1, 0], [1, 1.0]]), np.array([0, 0, 0, 1])
    np.testing.assert_allclose(margin_bracket(X, y), np.sqrt(1 / 8), rtol=1e-7)
    # rows (1, 0) and (0, 1) against the origin: 1 / sqrt(2)
    np.testing.assert_allclose(margin_bracket(np.eye(2), y[2:], False), np.sqrt(1 / 2), rtol=1e-7)
