"""A class in the middle that least squares never chooses."""

from __future__ import annotations

import numpy as np
import pytest

from separable.plot import MaskedClassDisplay
from tests.plot.clouds import texts_of


def data():
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b", "c"], 20)
    return (rng.uniform(0, 8, 60) + np.repeat([0, 10, 20], 20))[:, None], y


def test_lines_are_least_squares_of_indicators():
    X, y = data()
    display = MaskedClassDisplay.from_data(X, y)
    ones = np.column_stack([X, np.ones(60)])
    indicators = (y[:, None] == np.array(["a", "b", "c"])).astype(float)
    slopes, offsets = np.linalg.lstsq(ones, indicators, rcond=None)[0]
    model = display.models["least squares"]
    np.testing.assert_allclose(model.coef_[:, 0], slopes, atol=1e-12)
    np.testing.assert_allclose(model.intercept_, offsets)
    drawn = [line for line in display.axes_[0].lines if len(line.get_xdata()) == 300][:3]
    for k, line in enumerate(drawn):
        np.testing.assert_allclose(line.get_ydata(), slopes[k] * line.get_xdata() + offsets[k])


def test_the_middle_class_is_masked_and_lda_chooses_it():
    display = MaskedClassDisplay.from_data(*data())
    assert display.never_chosen("least squares") == ["b"]
    assert display.never_chosen("LDA") == []
    told = texts_of(display)
    assert any("never chosen: b" in text for text in told)
    assert any("every class is chosen" in text for text in told)


def test_refusals():
    X, y = data()
    with pytest.raises(ValueError, match=r"three classes or more. Got 2: \['a', 'b'\]"):
        MaskedClassDisplay.from_data(X[:40], y[:40])


def test_long_names_and_many_classes_leave_room_for_the_lines():
    names = [f"class number {k} of the seven there are" for k in range(7)]
    x = np.linspace(0, 30, 70)[:, None]
    display = MaskedClassDisplay.from_data(x, np.repeat(names, 10))
    display.figure_.draw_without_rendering()
    (legend,) = display.figure_.legends
    box, (wide, _) = legend.get_window_extent(), display.figure_.bbox.size
    assert box.x0 >= 0
    assert box.x1 <= wide
    assert len({text.get_text() for text in legend.get_texts()}) == 7
    for ax in display.axes_:
        assert ax.get_window_extent().width > 0.35 * wide
        assert not box.overlaps(ax.get_window_extent())
