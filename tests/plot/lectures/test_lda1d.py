"""LDA of one column: densities, and boundaries by the formula."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn.exceptions import NotFittedError

from separable import LDA
from separable.plot import Lda1dDisplay
from tests.plot.clouds import texts_of


@pytest.mark.parametrize("deviation", [0.5, 1.0, 3.0])
def test_with_equal_priors_the_true_boundary_is_half_way(deviation):
    # the slide has (mu_1 + mu_2) / (2 sigma)
    display = Lda1dDisplay.from_parameters((-1.0, 4.0), deviation, n=10)
    np.testing.assert_allclose(display.true_boundaries, [1.5])


def test_priors_move_the_boundary():
    display = Lda1dDisplay.from_parameters((0.0, 2.0), 1.5, priors=(0.8, 0.2), n=50)
    expected = 1.0 + 1.5**2 * np.log(0.8 / 0.2) / 2.0
    np.testing.assert_allclose(display.true_boundaries, [expected])


def test_the_estimated_boundary_is_where_the_densities_cross():
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b"], [30, 70])
    X = rng.normal(np.where(y == "a", -1.0, 2.0), 1.3)[:, None]
    display = Lda1dDisplay.from_estimator(LDA().fit(X, y), X, y)
    m = [X[y == c].mean() for c in "ab"]
    s2 = sum(((X[y == c] - X[y == c].mean()) ** 2).sum() for c in "ab") / 98
    expected = (m[0] + m[1]) / 2 + s2 * np.log(30 / 70) / (m[1] - m[0])
    np.testing.assert_allclose(display.boundaries, [expected])
    heights = display.estimated.densities(display.boundaries)
    np.testing.assert_allclose(heights[0], heights[1])
    normal = 0.3 * stats.norm(m[0], np.sqrt(s2)).pdf(display.boundaries)
    np.testing.assert_allclose(heights[0], normal)
    assert len(display.true_boundaries) == 0


def test_given_priors_are_those_of_the_estimator():
    X, y = np.array([[1.0], [3.0], [6.0], [8.0]]), [0, 0, 1, 1]
    display = Lda1dDisplay.from_estimator(LDA(priors=[0.9, 0.1]).fit(X, y), X, y)
    np.testing.assert_allclose(display.boundaries, [4.5 + 2 * np.log(9) / 5])


def test_of_three_classes_only_borders_of_the_best_are_drawn():
    display = Lda1dDisplay.from_parameters((-3.0, 0.0, 4.0), 1.0, n=60)
    np.testing.assert_allclose(display.true_boundaries, [-1.5, 2.0])  # not 0.5, of the outer two
    # a class that is never the best one has no border
    rare = Lda1dDisplay.from_parameters((-1.0, 0.0, 1.0), 1.0, priors=(0.495, 0.01, 0.495), n=60)
    np.testing.assert_allclose(rare.true_boundaries, [0.0], atol=1e-12)


def test_lines_drawn():
    display = Lda1dDisplay.from_parameters((-1.25, 1.25), 1.0, n=40)
    upright = {
        (line.get_linestyle(), line.get_xdata()[0])
        for line in display.ax_.lines
        if len(line.get_xdata()) == 2 and line.get_xdata()[0] == line.get_xdata()[1]
    }
    assert upright == {("-", display.boundaries[0]), ("--", 0.0)}
    area = sum(bar.get_height() * bar.get_width() for bar in display.ax_.patches)
    assert area == pytest.approx(1)
    assert any("true boundary: 0" in text for text in texts_of(display))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"means": (1.0,)}, "true means must be 2 finite"),
        ({"deviation": 0.0}, "deviation must be a finite float > 0. Got 0.0"),
        ({"priors": (0.5, 0.6)}, "sum 1"),
        ({"n": -1}, "n must be an int"),
    ],
)
def test_refusals(arguments, message):
    with pytest.raises(ValueError, match=message):
        Lda1dDisplay.from_parameters(**arguments)


def test_two_columns_are_refused():
    X, y = np.eye(4)[:, :2], [0, 0, 1, 1]
    two, one = LDA(shrinkage=0.5).fit(X, y), LDA(shrinkage=0.5).fit(X[:, :1], y)
    with pytest.raises(ValueError, match=r"estimator of 1 column. Got one that was fitted to 2"):
        Lda1dDisplay.from_estimator(two, X[:, :1], y)
    with pytest.raises(ValueError, match=r"1 column. Got 2"):
        Lda1dDisplay.from_estimator(one, X, y)
    with pytest.raises(NotFittedError, match="not fitted"):
        Lda1dDisplay.from_estimator(LDA(), X, y)
