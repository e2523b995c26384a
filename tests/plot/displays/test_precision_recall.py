"""Precision against recall, against scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics import average_precision_score, precision_recall_curve

from separable import LogisticRegression
from separable.plot import PrecisionRecallDisplay


@pytest.mark.parametrize("weighted", [False, True])
def test_two_classes_are_those_of_scikit_learn(weighted):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    scores = np.round(y + rng.normal(size=300), 1)
    weight = rng.integers(1, 4, 300) if weighted else None
    display = PrecisionRecallDisplay.from_predictions(y, scores, sample_weight=weight)
    precision, recall, thresholds = precision_recall_curve(y, scores, sample_weight=weight)
    assert np.allclose(display.precision[0], precision[:-1][::-1])
    assert np.allclose(display.recall[0], recall[:-1][::-1])
    assert np.allclose(display.thresholds[0], thresholds[::-1])
    wanted = average_precision_score(y, scores, sample_weight=weight)
    assert display.average_precision[0] == pytest.approx(wanted)
    assert display.shares[0] == pytest.approx(np.average(y, weights=weight))
    assert np.array_equal(display.lines_[0].get_ydata()[1:], display.precision[0])


def test_several_classes():
    X, y = load_iris(return_X_y=True)
    fitted = LogisticRegression(C=0.1).fit(X, y)
    display = PrecisionRecallDisplay.from_estimator(fitted, X, y)
    chances = fitted.predict_proba(X)
    wanted = [average_precision_score(y == k, chances[:, k]) for k in range(3)]
    assert display.average_precision == pytest.approx(wanted)
    one = PrecisionRecallDisplay.from_estimator(fitted, X, y, positive=1)
    assert one.labels == [1]
    assert one.average_precision == pytest.approx(wanted[1:2])


def test_one_class_is_refused():
    with pytest.raises(ValueError, match="Every row is 'a'"):
        PrecisionRecallDisplay.from_predictions(["a", "a"], [0.2, 0.3], classes=["a", "b"])
