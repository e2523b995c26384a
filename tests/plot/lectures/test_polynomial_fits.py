"""Polynomials with and without ridge."""

from __future__ import annotations

import numpy as np
import pytest

from separable.plot import PolynomialFitsDisplay
from tests.plot.clouds import texts_of


def data(n=15, seed=1):
    rng = np.random.default_rng(seed)
    x = np.sort(rng.uniform(0, 3, n))
    return x[:, None], np.sin(2 * x) + rng.normal(0, 0.2, n)


@pytest.mark.parametrize("degree", [1, 2, 5])
def test_fits_are_least_squares_and_ridge(degree):
    x, y = data()
    display = PolynomialFitsDisplay.from_data(x, y, degrees=(degree,), alpha=0.3)
    z = 2 * (x[:, 0] - x.min()) / np.ptp(x) - 1
    grid = 2 * (display.grid - x.min()) / np.ptp(x) - 1
    powers, on_grid = (v[:, None] ** np.arange(1, degree + 1) for v in (z, grid))
    middle = powers.mean(axis=0)
    for fit, alpha in ((display.plain[degree], 0.0), (display.ridge[degree], 0.3)):
        away = powers - middle
        w = np.linalg.solve(away.T @ away + alpha * np.eye(degree), away.T @ (y - y.mean()))
        np.testing.assert_allclose(
            fit.values, y.mean() + (on_grid - middle) @ w, rtol=1e-7, atol=1e-7
        )
        assert fit.weight_length == pytest.approx(np.linalg.norm(w))
        residual = y - y.mean() - away @ w
        assert fit.training_mse == pytest.approx((residual**2).mean())


def test_ridge_costs_training_error_and_saves_weights():
    x, y = data()
    display = PolynomialFitsDisplay.from_data(x, y, true_function=lambda v: np.sin(2 * v))
    assert list(display.plain) == [1, 3, 12]
    for degree, plain in display.plain.items():
        assert plain.training_mse <= display.ridge[degree].training_mse
        assert plain.weight_length > display.ridge[degree].weight_length
    errors = [
        np.sqrt(((fits[12].values - display.true_values) ** 2).mean())
        for fits in (display.plain, display.ridge)
    ]
    assert errors[1] < 0.5 < errors[0]
    assert any("true function" in text for text in texts_of(display))


def test_in_the_place_of_given_axes():
    from matplotlib import pyplot as plt

    _, axes = plt.subplots(1, 2)
    display = PolynomialFitsDisplay.from_data(*data(), degrees=(1, 2), ax=axes[0])
    assert not any("true function" in text for text in texts_of(display))


def test_refusals():
    x, y = data()
    with pytest.raises(ValueError, match=r"degrees must be ints >= 1. Got \(0,\)"):
        PolynomialFitsDisplay.from_data(x, y, degrees=(0,))
    with pytest.raises(ValueError, match="alpha must be a finite float > 0"):
        PolynomialFitsDisplay.from_data(x, y, alpha=0)
    with pytest.raises(ValueError, match="PolynomialFitsDisplay predicts numbers"):
        PolynomialFitsDisplay.from_data(x, np.repeat("a", len(y)))


def test_panels_with_none_below_them_have_numbers_on_their_axis():
    x, y = data()
    display = PolynomialFitsDisplay.from_data(x, y, degrees=(1, 2, 3, 4))
    display.figure_.draw_without_rendering()
    shown = [bool(ax.get_xticklabels()) for ax in display.axes_]  # which are seen
    assert shown == [False, True, True, True]
    assert [bool(ax.get_xlabel()) for ax in display.axes_] == shown


def test_both_lines_are_seen_where_they_are_the_same():
    x, y = data()
    (ax,) = PolynomialFitsDisplay.from_data(x, y, degrees=(1,), alpha=1e-9).axes_
    plain, ridge = ax.lines[-2:]
    np.testing.assert_allclose(plain.get_ydata(), ridge.get_ydata(), atol=1e-6)
    assert plain.get_linewidth() > 2 * ridge.get_linewidth()
