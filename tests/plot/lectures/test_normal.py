"""The normal in the plane: ellipses, marginals, histograms."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from separable.plot import NormalDisplay
from tests.plot.clouds import texts_of

LECTURE = np.array([[1.0, 0.6], [0.6, 2.0]])


def test_ellipses_satisfy_the_quadratic_form():
    display = NormalDisplay.from_parameters((2, -1), LECTURE, n=50, sigmas=(0.5, 3))
    inverse = np.linalg.inv(LECTURE)
    for radius, points in display.ellipses.items():
        away = points - [2, -1]
        np.testing.assert_allclose(
            np.einsum("ni,ij,nj->n", away, inverse, away), radius**2, rtol=1e-12
        )
        np.testing.assert_allclose(points[0], points[-1], atol=1e-12)


def test_marginals_are_normal():
    display = NormalDisplay.from_parameters((2, -1), LECTURE, n=50)
    x = np.linspace(-5, 5, 31)
    for column, (m, v) in enumerate(((2, 1), (-1, 2))):
        expected = stats.norm(m, np.sqrt(v)).pdf(x)
        np.testing.assert_allclose(display.density(x, column), expected)


def test_points_are_of_the_distribution():
    display = NormalDisplay.from_parameters((2, -1), LECTURE, n=40_000)
    np.testing.assert_allclose(display.points.mean(axis=0), [2, -1], atol=0.03)
    np.testing.assert_allclose(np.cov(display.points.T), LECTURE, atol=0.05)
    inverse = np.linalg.inv(LECTURE)
    away = display.points - display.mean
    inside = np.einsum("ni,ij,nj->n", away, inverse, away) <= 9
    assert inside.mean() == pytest.approx(stats.chi2(2).cdf(9), abs=0.003)
    assert any("98.9%" in text for text in texts_of(display))


def test_what_is_drawn():
    display = NormalDisplay.from_parameters(n=100)
    assert len(display.axes_) == 3
    assert display.ax_ is display.axes_[0]
    bars = display.axes_[1].patches
    assert sum(bar.get_height() * bar.get_width() for bar in bars) == pytest.approx(1)
    assert any("[[1, 0.6], [0.6, 2]]" in text for text in texts_of(display))


def test_from_data():
    rng = np.random.default_rng(0)
    X = rng.multivariate_normal([0, 3], LECTURE, 200)
    display = NormalDisplay.from_data(X)
    np.testing.assert_allclose(display.mean, X.mean(axis=0))
    np.testing.assert_allclose(display.covariance, np.cov(X, rowvar=False))


def test_frames_name_the_axes():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(20, 2)), columns=["height", "weight"])
    display = NormalDisplay.from_data(X)
    assert display.ax_.get_xlabel() == "height"
    assert display.ax_.get_ylabel() == "weight"


def test_in_the_place_of_given_axes():
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, 2)
    display = NormalDisplay.from_parameters(n=20, ax=axes[1])
    assert display.figure_ is figure
    assert not axes[1].axison
    assert display.plot() is display
    assert display.figure_ is not figure


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"covariance": [[1, 2], [2, 1]]}, "positive definite"),
        ({"covariance": [[1, 0.5], [0.2, 1]]}, "symmetric"),
        ({"covariance": [[1, 0]]}, "2 x 2"),
        ({"mean": (0, np.nan)}, "two finite numbers"),
        ({"n": 0}, "n must be an int >= 1. Got 0"),
        ({"sigmas": (1, 0)}, "above 0"),
    ],
)
def test_refusals(arguments, message):
    with pytest.raises(ValueError, match=message):
        NormalDisplay.from_parameters(**arguments)


def test_wrong_number_of_columns():
    with pytest.raises(ValueError, match=r"2 columns. Got 3. Choose the columns"):
        NormalDisplay.from_data(np.eye(3))


def test_axes_placed_by_hand_cannot_be_divided():
    from matplotlib import pyplot as plt

    ax = plt.figure().add_axes((0.1, 0.1, 0.5, 0.5))
    with pytest.raises(ValueError, match="placed by hand"):
        NormalDisplay.from_parameters(n=5, ax=ax)
