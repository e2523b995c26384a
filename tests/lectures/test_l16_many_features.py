"""L16: separable data is not a separable problem; with many features anything is separable."""

from math import comb

import numpy as np

from separable.geometry import separability, suggest_features


def share_by_cover(n, d):
    """Return the share of all labellings of n points in d dimensions that are separable."""
    return 2.0 ** (1 - n) * sum(comb(n - 1, k) for k in range(d + 1))


def test_the_share_of_random_sets_that_are_separable():
    rng = np.random.default_rng(0)
    for n, d in [(12, 2), (12, 5), (12, 8), (12, 11)]:
        found = []
        for _ in range(60):
            X, y = rng.normal(size=(n, d)), rng.integers(0, 2, n)
            y[:2] = 0, 1
            found.append(separability(X, y).separable)
        expected = share_by_cover(n, d)
        assert abs(np.mean(found) - expected) < 0.2, (n, d)
    assert np.mean(found) == 1.0  # as many columns as rows, less one, separate any labels


def test_features_that_separate_random_labels_predict_nothing():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(50, 6)), rng.integers(0, 2, 50)
    assert separability(X, y).separable is False
    found = suggest_features(X, y, degree=3, cv=3)
    assert found.separable
    assert found.error > 0.3
    assert "This is overfitting." in found.reason


def test_features_that_are_behind_the_classes_predict():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(120, 2))
    found = suggest_features(X, (X**2).sum(axis=1) > 1.2)
    assert found.features == ("x0^2", "x1^2")
    assert found.error < 0.2 < found.error_before
