"""Every loss of the registry against its formula and against finite differences."""

from __future__ import annotations

import numpy as np
import pytest

from separable._core import native
from separable.online.sgd_base import LOSSES
from tests.reference.sgd import SLOPES

pytestmark = pytest.mark.native
EPSILON = 0.3

VALUES = {
    "perceptron": lambda s, y: np.maximum(0, -y * s),
    "hinge": lambda s, y: np.maximum(0, 1 - y * s),
    "squared_hinge": lambda s, y: np.maximum(0, 1 - y * s) ** 2,
    "log_loss": lambda s, y: np.logaddexp(0, -y * s),
    "sigmoid_mse": lambda s, y: ((y + 1) / 2 - 1 / (1 + np.exp(-s))) ** 2,
    "squared_error": lambda s, y: (s - y) ** 2 / 2,
    "huber": lambda s, y: np.where(
        np.abs(s - y) <= EPSILON, (s - y) ** 2 / 2, EPSILON * np.abs(s - y) - EPSILON**2 / 2
    ),
    "epsilon_insensitive": lambda s, y: np.maximum(0, np.abs(s - y) - EPSILON),
}
each_loss = pytest.mark.parametrize("name", LOSSES)


def evaluate(name, s, y, slope):
    out = np.empty(len(s))
    native.write_loss(name, EPSILON, s, y, slope=slope, out=out)
    return out


def points(name):
    rng = np.random.default_rng(0)
    s = np.concatenate([rng.normal(size=400) * 3, rng.normal(size=100) * 30, [0.0, 1.0, -1.0]])
    y = rng.choice([-1.0, 1.0], len(s)) if LOSSES[name].classes_only else rng.normal(size=len(s))
    return s, y


@each_loss
def test_value_is_its_formula(name):
    s, y = points(name)
    np.testing.assert_allclose(
        evaluate(name, s, y, slope=False), VALUES[name](s, y), rtol=1e-13, atol=1e-15
    )


@each_loss
def test_slope_is_the_derivative(name):
    s, y = points(name)
    h = 1e-6
    up, down = (evaluate(name, s + d, y, slope=False) for d in (h, -h))
    slope, found = (up - down) / (2 * h), evaluate(name, s, y, slope=True)
    kink = np.abs(up - 2 * evaluate(name, s, y, slope=False) + down) > 0.1 * h
    assert kink.sum() < 8  # at a kink any slope between the two sides is one
    np.testing.assert_allclose(found[~kink], slope[~kink], rtol=1e-5, atol=1e-6)


@each_loss
def test_slope_is_that_of_the_reference(name):
    s, y = points(name)
    expected = [SLOPES[name](float(a), float(b), EPSILON) for a, b in zip(s, y, strict=True)]
    np.testing.assert_allclose(evaluate(name, s, y, slope=True), expected, rtol=1e-12, atol=1e-15)


@each_loss
def test_convex_as_stated(name):
    s = np.linspace(-6, 6, 2001)
    slopes = np.diff(evaluate(name, s, np.ones_like(s), slope=True))
    assert LOSSES[name].convex == bool((slopes >= -1e-12).all())


def test_extreme_scores_stay_finite():
    s, y = np.array([-1e300, -800.0, 800.0, 1e300]), np.ones(4)
    np.testing.assert_allclose(evaluate("log_loss", s, y, slope=False)[:2], [1e300, 800.0])
    for name in ("log_loss", "sigmoid_mse"):
        for slope in (False, True):
            assert np.isfinite(evaluate(name, s, y, slope=slope)).all()
