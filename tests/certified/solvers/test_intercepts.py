"""The best intercept of logistic losses: a root of the derivative."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import expit

from separable.losses.loss import LOGISTIC


@pytest.mark.parametrize("size", [1e-3, 1.0, 30.0, 1e6])
def test_the_derivative_is_zero_there(size):
    for seed in range(50):
        rng = np.random.default_rng(seed)
        s, c = size * rng.normal(size=40), rng.random(40) + 0.1
        y = np.where(rng.random(40) < 0.3, 1.0, -1.0)
        y[:2] = 1.0, -1.0
        b = LOGISTIC.best_intercept(y, s, c)

        def gradient(b, y=y, s=s, c=c):
            return c @ (expit(s + b) - (y > 0))

        expected = brentq(gradient, -50 - 5 * size, 50 + 5 * size, xtol=1e-15, rtol=1e-15)
        assert b == pytest.approx(expected, rel=1e-12, abs=1e-12)
