"""Planes in three dimensions."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib import pyplot as plt
from mpl_toolkits.mplot3d.art3d import Poly3DCollection
from sklearn.datasets import load_breast_cancer, load_iris

from separable import LinearSVM, LogisticRegression, Ridge
from separable.plot import Planes3dDisplay

X, Y = load_iris(return_X_y=True)


def test_three_columns():
    svm = LinearSVM(loss="hinge").fit(X[50:, 1:], Y[50:])
    display = Planes3dDisplay.from_estimator(svm, X[50:, 1:], Y[50:])
    assert sorted(display.planes) == [-1, 0, 1]
    for level, corners in display.planes.items():
        assert np.allclose(svm.decision_function(corners), level)
    drawn = [each for each in display.ax_.collections if isinstance(each, Poly3DCollection)]
    assert len(drawn) == 3
    wrong = (svm.predict(X[50:, 1:]) != Y[50:]).sum()
    title = display.ax_.get_title(loc="left").replace("\n", " ")
    assert f"{wrong} of 100 rows misclassified" in title


def test_w_is_at_a_right_angle_to_the_plane():
    svm = LinearSVM(loss="hinge").fit(X[50:, 1:], Y[50:])
    display = Planes3dDisplay.from_estimator(svm, X[50:, 1:], Y[50:])
    foot, tip = display.normal
    corners = display.planes[0.0]
    assert abs(svm.decision_function([foot])[0]) < 1e-9
    assert svm.decision_function([tip])[0] > 0
    np.testing.assert_allclose((corners - corners[0]) @ (tip - foot), 0, atol=1e-9)
    sides = display.box[1] - display.box[0]
    drawn = display.ax_._box_aspect
    np.testing.assert_allclose(drawn / drawn[0], sides / sides[0])  # all in cm: one scale


def test_more_columns_keep_the_true_plane():
    data, y = load_breast_cancer(return_X_y=True)
    data = data / data.std(axis=0)
    model = LogisticRegression().fit(data, y)
    display = Planes3dDisplay.from_estimator(model, data, y, margin=None)
    points = display.view.in_space(display.planes[0.0])
    w, b = model.coef_[0], model.intercept_[0]
    scale = np.linalg.norm(w) * np.linalg.norm(points, axis=1) + abs(b)
    assert (np.abs(points @ w + b) / scale).max() < 1e-9
    assert list(display.planes) == [0.0]


def test_two_of_three_classes():
    model = LogisticRegression().fit(X, Y)
    display = Planes3dDisplay.from_estimator(model, X, Y, classes=(0, 2))
    assert len(display.points) == 100
    assert display.codes.sum() == 50


def test_without_labels():
    svm = LinearSVM().fit(X[50:, 1:], Y[50:])
    assert Planes3dDisplay.from_estimator(svm, X[:, 1:]).codes is None


def test_errors():
    svm = LinearSVM().fit(X[50:, 1:], Y[50:])
    with pytest.raises(ValueError, match="needs axes in three dimensions"):
        Planes3dDisplay.from_estimator(svm, X[50:, 1:], Y[50:], ax=plt.figure().add_subplot())
    with pytest.raises(ValueError, match="at least three features, and the model has 2"):
        Planes3dDisplay.from_estimator(LinearSVM().fit(X[50:, :2], Y[50:]), X[50:, :2])
    with pytest.raises(ValueError, match="3 classes have many planes"):
        Planes3dDisplay.from_estimator(LogisticRegression().fit(X, Y), X, Y)
    with pytest.raises(ValueError, match="Ridge predicts numbers"):
        Planes3dDisplay.from_estimator(Ridge().fit(X, Y), X)
