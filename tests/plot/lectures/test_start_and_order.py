"""How start, order and step change the perceptron's solution."""

from __future__ import annotations

import numpy as np
import pytest

from separable import Perceptron
from separable.plot import StartAndOrderDisplay
from tests.plot.clouds import texts_of, two_clouds

pytestmark = pytest.mark.native


def perceptron(X, side, w, b, eta):
    updates = 0
    while True:
        before = updates
        for x, s in zip(X, side, strict=True):
            if s * (w @ x + b) <= 0:
                w, b, updates = w + eta * s * x, b + eta * s, updates + 1
        if updates == before:
            return w, b, updates


def test_answers_are_the_slides():
    X, y = two_clouds(20)
    side = np.where(y == 1, 1.0, -1.0)
    starts = np.array([[0.0, 0, 0], [-3, 1, 2], [1, -4, 0.5]])
    display = StartAndOrderDisplay.from_data(X, y, starts=starts, steps=(0.2, 5.0), seeds=(4,))
    runs = [(start, 1.0) for start in starts] + [(starts[-1], eta) for eta in (0.2, 5.0)]
    solutions = display.solutions["start"] + display.solutions["step"]
    for (start, eta), solution in zip(runs, solutions, strict=True):
        w, b, updates = perceptron(X, side, start[:2], start[2], eta)
        np.testing.assert_allclose(solution.coef, w, atol=1e-12)
        assert solution.intercept == pytest.approx(b)
        assert solution.updates == updates
        margins = side * (X @ w + b) / np.linalg.norm(w)
        assert solution.margin == pytest.approx(margins.min())
        assert solution.margin > 0
    assert "from w = (1, -4)" in " ".join(
        display.axes_[2].get_title(loc="left").split()
    ) + " ".join(display.axes_[2].get_title().split())


def test_orders_are_those_of_the_seeds():
    X, y = two_clouds(30, 2, gap=0.4)
    display = StartAndOrderDisplay.from_data(X, y, seeds=(0, 7))
    for seed, solution in zip((0, 7), display.solutions["order"], strict=True):
        fitted = Perceptron(random_state=seed).fit(X, y)
        np.testing.assert_array_equal(solution.coef, fitted.coef_[0])


def test_answers_differ_and_all_separate():
    X, y = two_clouds(20)
    display = StartAndOrderDisplay.from_data(X, y)
    for solutions in display.solutions.values():
        directions = [a.coef / np.linalg.norm(a.coef) for a in solutions]
        assert np.ptp(directions, axis=0).max() > 0.05
        assert all(solution.margin > 0 for solution in solutions)


def test_boundaries_drawn():
    X, y = two_clouds(20)
    display = StartAndOrderDisplay.from_data(X, y)
    assert len(display.axes_) == 3
    for ax, solutions in zip(display.axes_, display.solutions.values(), strict=True):
        lines = [line for line in ax.lines if len(line.get_xdata()) == 2]
        for line, solution in zip(lines, solutions, strict=True):
            points = np.column_stack(line.get_data())
            np.testing.assert_allclose(points @ solution.coef + solution.intercept, 0, atol=1e-9)
    assert any("seed 2: " in text for text in texts_of(display))


def test_refusals():
    X, y = two_clouds(12)
    with pytest.raises(ValueError, match="rows of three finite numbers"):
        StartAndOrderDisplay.from_data(X, y, starts=[[1, 2]])
    with pytest.raises(ValueError, match="draws two classes"):
        StartAndOrderDisplay.from_data(X, np.zeros(12, dtype=int))
    with pytest.raises(ValueError, match="'eta0' parameter of Perceptron"):
        StartAndOrderDisplay.from_data(X, y, steps=(0.0,))
