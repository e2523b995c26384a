"""L16: separable data is not a separable problem: what separates may predict, or not."""

import numpy as np

from separable.geometry import separability, suggest_features


def test_features_that_separate_random_labels_predict_nothing():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(50, 6)), rng.integers(0, 2, 50)
    assert separability(X, y).separable is False
    result = suggest_features(X, y, degree=3, cv=2)
    assert result.separable
    assert result.error > 0.3
    assert "This is overfitting." in result.reason


def test_features_that_are_behind_the_classes_predict():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(120, 2))
    result = suggest_features(X, (X**2).sum(axis=1) > 1.2)
    assert result.features == ("x0^2", "x1^2")
    assert result.error < 0.2 < result.error_before
