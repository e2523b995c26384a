"""Balls of powers, and where they touch."""

from __future__ import annotations

import numpy as np
import pytest

from separable.plot import LpBallsDisplay
from separable.plot.lectures.lp_balls import ball
from tests.plot.clouds import texts_of

pytestmark = pytest.mark.native

POWERS = {0: 0.0, "1/2": 0.5, "2/3": 2 / 3, 1: 1.0, "4/3": 4 / 3, "3/2": 1.5, 2: 2.0}


def size(p, w):
    w = np.abs(w)
    if p == "inf":
        return w.max(axis=-1)
    return (w > 0).sum(axis=-1) if p == 0 else (w ** POWERS[p]).sum(axis=-1)


@pytest.mark.parametrize("p", [*POWERS, "inf"])
def test_outline_has_the_size_of_the_solution(p):
    display = LpBallsDisplay.from_parameters(powers=[p], alpha=0.5)
    (solution,) = display.solutions
    assert solution.size == pytest.approx(size(p, solution.weights))
    if p == 0:
        assert len(solution.outline) == 0
        return
    np.testing.assert_allclose(size(p, solution.outline), solution.size)
    assert (np.sign(solution.outline) == [1, 1]).all(axis=1).any()
    assert (np.sign(solution.outline) == [-1, -1]).all(axis=1).any()


@pytest.mark.parametrize("p", [*POWERS, "inf"])
def test_the_ball_touches_the_lowest_ellipse(p):
    display = LpBallsDisplay.from_parameters(powers=[p])
    (solution,) = display.solutions
    axis = np.linspace(-3, 3, 401)
    plane = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    inside = plane[size(p, plane) <= solution.size + 1e-12]
    assert display.error(solution.weights) <= display.error(inside).min() + 1e-9
    ellipse = display.touching_ellipse(solution)
    np.testing.assert_allclose(display.error(ellipse), display.error(solution.weights))


def test_corners_give_zeros():
    display = LpBallsDisplay.from_parameters()
    zeros = {str(s.p): int((s.weights == 0).sum()) for s in display.solutions}
    assert zeros == {"0": 1, "1/2": 1, "2/3": 1, "1": 1, "4/3": 0, "3/2": 0, "2": 0, "inf": 0}
    assert len(display.axes_) == 8
    assert any("p = 1: w = (1.35, 0)" in text for text in texts_of(display))


def test_from_data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2)) @ [[1.0, 0.4], [0, 1]] + 5
    y = X @ [2.0, 0.3] + rng.normal(size=40)
    display = LpBallsDisplay.from_data(X, y, alpha=0.4, powers=[2])
    away, z = X - X.mean(axis=0), y - y.mean()
    np.testing.assert_allclose(display.minimum, np.linalg.lstsq(away, z, rcond=None)[0])
    expected = np.linalg.solve(away.T @ away / 40 + 0.8 * np.eye(2), away.T @ z / 40)
    np.testing.assert_allclose(display.solutions[0].weights, expected, rtol=1e-6)
    # the bowl is the squared error, but for what is left at its minimum
    least = 0.5 * ((z - away @ display.minimum) ** 2).mean()
    for w in rng.normal(size=(5, 2)):
        assert display.error(w) == pytest.approx(0.5 * ((z - away @ w) ** 2).mean() - least)


def test_a_penalty_that_leaves_nothing():
    display = LpBallsDisplay.from_parameters(alpha=100.0, powers=[1, 0])
    for solution in display.solutions:
        assert not solution.weights.any()
        assert len(solution.outline) == 0


def test_refusals():
    with pytest.raises(ValueError, match="'p' parameter of LpRegression"):
        LpBallsDisplay.from_parameters(powers=[3])
    with pytest.raises(ValueError, match="no penalty of power 3"):
        ball(3, 1.0)
    with pytest.raises(ValueError, match="bowl must be symmetric and positive definite"):
        LpBallsDisplay.from_parameters(bowl=[[1, 2], [2, 1]])
    with pytest.raises(ValueError, match="minimum must be two finite numbers"):
        LpBallsDisplay.from_parameters(minimum=(1, 2, 3))
