"""Learning curves with their forecast."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes

from separable import LDA, LeastSquares
from separable.plot import LearningCurveDisplay


def curve_of(mean, low, high, baseline=0.6):
    scores = np.column_stack([mean - 0.01, mean, mean + 0.01])
    return SimpleNamespace(
        learner="LDA",
        metric="1 - error rate",
        sizes=np.array([50, 100, 200]),
        scores=scores,
        mean=scores.mean(axis=1),
        standard_error=scores.std(axis=1, ddof=1) / np.sqrt(3),
        baseline=baseline,
        greater_is_better=True,
        forecast=SimpleNamespace(
            sizes=np.array([400, 800]), mean=(low + high) / 2, low=low, high=high, level=0.9
        ),
        curve_at=lambda sizes: 1 - 2 / np.asarray(sizes, dtype=float) ** 0.5,
    )


@pytest.fixture
def curve():
    return curve_of(np.array([0.7, 0.8, 0.85]), np.array([0.84, 0.83]), np.array([0.9, 0.95]))


def test_what_is_measured_and_what_is_expected(curve):
    display = LearningCurveDisplay.from_curve(curve)
    assert display.curve is curve
    drawn = [line.get_xydata() for line in display.ax_.lines]
    assert any(np.array_equal(each, np.column_stack([curve.sizes, curve.mean])) for each in drawn)
    ahead = np.column_stack([curve.forecast.sizes, curve.forecast.mean])
    assert any(np.array_equal(each, ahead) for each in drawn)
    texts = [each.get_text() for each in display.ax_.get_legend().get_texts()]
    assert "forecast, 90% interval" in texts
    assert "best constant: 0.6" in texts
    ticks = [each.get_text() for each in display.ax_.get_xticklabels()]
    assert {"200", "400", "800"} <= set(ticks)
    assert display.ax_.get_xscale() == "log"


def test_the_law_does_not_stretch_the_axis(curve):
    curve.curve_at = lambda sizes: -100.0 / np.asarray(sizes, dtype=float)
    display = LearningCurveDisplay.from_curve(curve)
    assert display.ax_.get_ylim()[0] > 0.5


def test_without_a_forecast(curve):
    display = LearningCurveDisplay.from_curve(curve, forecast=False)
    texts = [each.get_text() for each in display.ax_.get_legend().get_texts()]
    assert not any("forecast" in text for text in texts)
    unknown = curve_of(np.array([0.7, 0.8, 0.85]), np.full(2, np.nan), np.full(2, np.nan), None)
    unknown.curve_at = lambda sizes: np.full(len(sizes), np.nan)
    display = LearningCurveDisplay.from_curve(unknown)
    ticks = [each.get_text() for each in display.ax_.get_xticklabels()]
    assert "800" not in ticks


def test_of_an_estimator():
    X, y = load_breast_cancer(return_X_y=True)
    display = LearningCurveDisplay.from_estimator(LDA(), X, y, sizes=[60, 120, 240], repeats=2)
    assert display.curve.scores.shape == (3, 2)
    assert "240 rows" in display.ax_.get_title(loc="left")


@pytest.mark.filterwarnings("ignore::separable.moments.regression.rank_warning.DependentColumns")
def test_small_sizes_of_a_regression_do_not_flatten_the_curve():
    X, y = load_diabetes(return_X_y=True)
    display = LearningCurveDisplay.from_estimator(LeastSquares(), X, y)
    curve = display.curve
    low, high = display.ax_.get_ylim()
    mse0 = curve.constant_errors.mean()
    assert curve.mean.min() < -5 * mse0  # of fewer rows than columns
    assert -1.3 * mse0 < low < -mse0
    assert high < 1.3 * mse0
    marks = [line for line in display.ax_.lines if line.get_label() == "below"]
    assert marks[0].get_xdata().tolist() == curve.sizes[curve.mean < -mse0].tolist()
    (law,) = [line for line in display.ax_.lines if line.get_label() == "power law fitted"]
    assert law.get_xdata().min() >= curve.sizes[curve.mean > low].min() * (1 - 1e-12)
