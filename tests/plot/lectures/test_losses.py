"""Losses against the margin, by their formulas."""

from __future__ import annotations

import numpy as np
import pytest

from separable.plot import LossesDisplay
from tests.plot.clouds import texts_of

FORMULAS = {
    "zero_one": lambda m: (m <= 0).astype(float),
    "perceptron": lambda m: np.maximum(0, -m),
    "hinge": lambda m: np.maximum(0, 1 - m),
    "squared_hinge": lambda m: np.maximum(0, 1 - m) ** 2,
    "log_loss": lambda m: np.log1p(np.exp(-m)),
    "sigmoid_mse": lambda m: (1 - 1 / (1 + np.exp(-m))) ** 2,
    "squared_error": lambda m: (1 - m) ** 2 / 2,
    "epsilon_insensitive": lambda m: np.maximum(0, np.abs(1 - m) - 0.1),
    "squared_epsilon_insensitive": lambda m: np.maximum(0, np.abs(1 - m) - 0.1) ** 2,
    "modified_huber": lambda m: np.where(m >= -1, np.maximum(0, 1 - m) ** 2, -4 * m),
    "huber": lambda m: np.where(
        np.abs(1 - m) <= 0.1, (1 - m) ** 2 / 2, 0.1 * np.abs(1 - m) - 0.1**2 / 2
    ),
}


@pytest.mark.parametrize("name", FORMULAS)
def test_values(name):
    display = LossesDisplay.from_names([name])
    np.testing.assert_allclose(display.values[name], FORMULAS[name](display.margins), atol=1e-12)
    (line, _) = display.ax_.lines
    if name != "zero_one":  # which is drawn as a step
        np.testing.assert_array_equal(line.get_ydata(), display.values[name])


def test_all_losses_have_a_formula_and_a_line():
    from separable.online.base_sgd import LOSSES

    assert set(FORMULAS) == {"zero_one", *LOSSES}
    display = LossesDisplay.from_names(list(FORMULAS))
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert len(set(labels)) == len(FORMULAS)
    looks = {(line.get_color(), line.get_linestyle()) for line in display.ax_.lines[:-1]}
    assert len(looks) == len(FORMULAS)


def test_default():
    display = LossesDisplay.from_names()
    assert list(display.values)[:3] == ["zero_one", "perceptron", "hinge"]
    assert any("margin m = y (w.x + b)" in text for text in texts_of(display))


def test_refusals():
    with pytest.raises(ValueError, match=r"loss 'exp' is not known. There are: zero_one, "):
        LossesDisplay.from_names(["exp"])
    with pytest.raises(ValueError, match="margins must be a list of finite numbers"):
        LossesDisplay.from_names(margins=[0, np.inf])


def test_the_step_is_at_0_whatever_the_margins():
    display = LossesDisplay.from_names(["zero_one"], margins=[-3.0, -1.1, 0.7, 2.0])
    x, y = display.ax_.lines[0].get_data()
    np.testing.assert_array_equal(x, [-3, 0, 0, 2])
    np.testing.assert_array_equal(y, [1, 1, 0, 0])
