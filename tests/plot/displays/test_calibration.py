"""Calibration: shares by bin with intervals."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.calibration import calibration_curve
from sklearn.datasets import load_iris
from statsmodels.stats.proportion import proportion_confint

from separable import LinearSVM, LogisticRegression
from separable.plot import CalibrationDisplay


@pytest.fixture(scope="module")
def sample():
    rng = np.random.default_rng(0)
    chances = rng.beta(0.7, 0.9, 400)
    return (rng.uniform(size=400) < chances**2).astype(int), chances


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
def test_bins_are_those_of_scikit_learn(sample, strategy):
    y, chances = sample
    display = CalibrationDisplay.from_predictions(y, chances, bins=8, strategy=strategy)
    share, mean = calibration_curve(y, chances, n_bins=8, strategy=strategy)
    assert np.allclose(display.fraction, share)
    assert np.allclose(display.probability, mean)
    assert display.counts.sum() == 400
    assert display.brier == pytest.approx(np.mean((chances - y) ** 2))


def test_intervals_are_those_of_wilson(sample):
    y, chances = sample
    display = CalibrationDisplay.from_predictions(y, chances)
    right = np.round(display.fraction * display.counts)
    low, high = proportion_confint(right, display.counts, method="wilson")
    assert np.allclose(display.low, low)
    assert np.allclose(display.high, high)


def test_empty_bins_are_left_out():
    display = CalibrationDisplay.from_predictions([0, 1, 1], [0.05, 0.95, 1.0])
    assert display.counts.tolist() == [1, 2]
    display = CalibrationDisplay.from_predictions([0, 1], [0.0, 1.0], bins=1)
    assert display.fraction.tolist() == [0.5]


def test_a_class_of_several():
    X, y = load_iris(return_X_y=True)
    fitted = LogisticRegression(C=0.01).fit(X, y)
    display = CalibrationDisplay.from_estimator(fitted, X, y, positive=1, bins=5)
    share, _ = calibration_curve(y == 1, fitted.predict_proba(X)[:, 1], n_bins=5)
    assert np.allclose(display.fraction, share)
    assert display.label == 1


def test_errors(sample):
    X, y = load_iris(return_X_y=True)
    fitted = LogisticRegression().fit(X, y)
    with pytest.raises(ValueError, match=r"There are 3 classes.*positive=0"):
        CalibrationDisplay.from_estimator(fitted, X, y)
    with pytest.raises(ValueError, match="gives no probabilities"):
        CalibrationDisplay.from_estimator(LinearSVM().fit(X[:100], y[:100]), X[:100], y[:100])
    with pytest.raises(ValueError, match=r"Probabilities lie between 0 and 1\. Got -1 to 2"):
        CalibrationDisplay.from_predictions([0, 1], [-1, 2])
    with pytest.raises(ValueError, match=r"bins must be an int >= 1\. Got 0"):
        CalibrationDisplay.from_predictions(*sample, bins=0)
    with pytest.raises(ValueError, match="strategy must be 'uniform' or 'quantile'"):
        CalibrationDisplay.from_predictions(*sample, strategy="even")
