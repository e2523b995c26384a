"""Every loss of the registry against its formula and against finite differences."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.optimize
import scipy.special

from separable._core import native
from separable.learn.plain import LOSSES as VALUES
from separable.learn.plain import SLOPES
from separable.online.base_sgd import LOSSES

pytestmark = [
    pytest.mark.native,
    pytest.mark.kernel,
    pytest.mark.filterwarnings("ignore:.* has no effect"),  # one set of options, all modes
]
EPSILON = 0.3

each_loss = pytest.mark.parametrize("name", LOSSES)


def evaluate(name, s, y, slope):
    out = np.empty(len(s))
    native.write_loss(name, EPSILON, s, y, gradient=slope, out=out)
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
        evaluate(name, s, y, slope=False), VALUES[name](s, y, EPSILON), rtol=1e-13, atol=1e-15
    )


@each_loss
def test_slope_is_the_derivative(name):
    s, y = points(name)
    h = 1e-6
    up, down = (evaluate(name, s + d, y, slope=False) for d in (h, -h))
    slope, gradient = (up - down) / (2 * h), evaluate(name, s, y, slope=True)
    kink = np.abs(up - 2 * evaluate(name, s, y, slope=False) + down) > 0.1 * h
    assert kink.sum() < 8  # at a kink any slope between the two sides is one
    np.testing.assert_allclose(gradient[~kink], slope[~kink], rtol=1e-5, atol=1e-6)


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


#: Losses whose implicit slope is not that of a closed form.
NOT_CLOSED = ("log_loss", "sigmoid_mse")
GAINS = 10.0 ** np.arange(-6, 7)


def implicit(name, s, y, gain):
    out = np.empty(len(s))
    native.write_implicit_gradients(name, EPSILON, s, y, np.full(len(s), gain), out)
    return out


@pytest.mark.parametrize("gain", GAINS)
@pytest.mark.parametrize("name", [name for name in LOSSES if name not in NOT_CLOSED])
def test_implicit_step_ends_where_its_slope_is(name, gain):
    s, y = points(name)
    s, y = np.concatenate([s, gain * s[:100]]), np.concatenate([y, y[:100]])
    a = implicit(name, s, y, gain)
    # the slopes on both sides of the end; at a kink all between them are right
    h = 1e-9 * (1 + np.abs(s) + gain)
    low, high = (evaluate(name, s - gain * a + side, y, slope=True) for side in (-h, h))
    slack = 1e-9 * (1 + np.abs(a))
    whole = (name == "perceptron") & (s == 0)  # there the step is whole, by definition
    assert ((low - slack <= a) & (a <= high + slack) | whole).all()


@pytest.mark.parametrize("gain", [*GAINS, 0.2, 0.249, 0.25, 3.0])
def test_implicit_slope_of_the_log_loss(gain):
    s, y = points("log_loss")
    gradient = np.abs(implicit("log_loss", s, y, gain))
    exact = np.array([
        scipy.optimize.brentq(lambda a: a - scipy.special.expit(-m - gain * a), 0, 1, xtol=1e-15)  # noqa: B023
        for m in y * s
    ])  # fmt: skip
    # one step of Newton's method where the gain is small, four elsewhere
    assert np.abs(gradient - exact).max() < (2e-3 if gain < 0.25 else 5e-4)
    if gain >= 0.25:
        assert (gradient <= exact + 1e-6).all()  # what is not exact is shorter
    if 0.25 <= gain <= 3:
        np.testing.assert_allclose(gradient, exact, rtol=0, atol=1e-9)


def test_implicit_slope_of_the_sigmoid_is_between_zero_and_the_slope():
    s, y = points("sigmoid_mse")
    slope = evaluate("sigmoid_mse", s, y, slope=True)
    for gain in GAINS:
        np.testing.assert_allclose(implicit("sigmoid_mse", s, y, gain), slope / (1 + gain / 4))


@pytest.mark.parametrize("gain", GAINS)
@each_loss
def test_implicit_step_does_not_overshoot(name, gain):
    s, y = points(name)
    after = s - gain * implicit(name, s, y, gain)
    start = evaluate(name, s, y, slope=True)
    end = evaluate(name, after, y, slope=True)
    beyond = start * end < -1e-12 * (1 + start**2)  # the lowest point is between the two
    assert not (beyond & (s != 0)).any()
    assert (
        evaluate(name, after, y, slope=False)
        <= evaluate(name, s, y, slope=False) * (1 + 1e-12) + 1e-300
    )[s != 0].all()


def test_extreme_scores_stay_finite():
    s, y = np.array([-1e300, -800.0, 800.0, 1e300]), np.ones(4)
    np.testing.assert_allclose(evaluate("log_loss", s, y, slope=False)[:2], [1e300, 800.0])
    for name in ("log_loss", "sigmoid_mse"):
        for slope in (False, True):
            assert np.isfinite(evaluate(name, s, y, slope=slope)).all()
