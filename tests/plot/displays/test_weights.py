"""Bars of weights."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression as TheirLogistic
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from separable import LinearModel, LogisticRegression, Ridge, VotedPerceptron
from separable.plot import WeightsDisplay


def test_the_strongest_weights_in_order():
    w = np.array([[0.5, -3.0, 0.0, 2.0, -0.1]])
    model = LinearModel(w, [0.0], ["no", "yes"], "score", list("abcde"))
    display = WeightsDisplay.from_estimator(model, top=3)
    assert display.names == [["d", "a", "b"]]
    assert display.weights[0].tolist() == [2.0, 0.5, -3.0]
    assert [bar.get_width() for bar in display.ax_.patches] == [2.0, 0.5, -3.0]
    assert [each.get_text() for each in display.ax_.get_yticklabels()] == ["d", "a", "b"]
    assert display.n_nonzero == 4
    assert "for no" in display.ax_.get_xlabel()
    assert "for yes" in display.ax_.get_xlabel()


def test_groups_of_classes():
    model = LinearModel(np.eye(3) - 0.5, np.zeros(3), list("abc"), "score")
    display = WeightsDisplay.from_estimator(model, top=1)
    assert display.names == [["x0"], ["x0"], ["x0"]] or len(display.names) == 3
    two = WeightsDisplay.from_estimator(model, classes=["c", "a"])
    assert two.scores == [2, 0]
    assert [each.get_text() for each in two.ax_.texts] == ["c", "a"]


def test_many_columns_and_classes():
    rng = np.random.default_rng(0)
    model = LinearModel(rng.normal(size=(100, 75_000)), np.zeros(100), np.arange(100), "score")
    display = WeightsDisplay.from_estimator(model)
    assert display.scores == list(range(8))
    best = np.argsort(-np.abs(model.weights[0]))[:4]
    assert set(display.features[0]) == set(best)
    assert "8 of 100 classes" in display.ax_.get_title(loc="left")


def test_names_come_from_pipelines_and_frames():
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(30, 2)), columns=["age", "height"])
    y = X.age > 0
    for pipeline in (
        make_pipeline(StandardScaler(), LogisticRegression()),
        make_pipeline(StandardScaler(), TheirLogistic()),
        LogisticRegression(),
    ):
        display = WeightsDisplay.from_estimator(pipeline.fit(X, y))
        assert set(display.names[0]) == {"age", "height"}


def test_regression_and_weights_that_are_all_0():
    X = np.arange(6.0).reshape(3, 2)
    display = WeightsDisplay.from_estimator(Ridge().fit(X, [1, 2, 3]), feature_names=["u", "v"])
    assert "raises it" in display.ax_.get_xlabel()
    zero = LinearModel([[0.0, 0.0]], [0.0], [0, 1], "score")
    display = WeightsDisplay.from_estimator(zero)
    assert "all 2 weights are 0" in display.ax_.get_title(loc="left")
    display.figure_.canvas.draw()


def test_errors():
    model = LinearModel([[1.0, 2.0]], [0.0], [0, 1], "score")
    with pytest.raises(ValueError, match=r"top must be an int >= 1\. Got 0"):
        WeightsDisplay.from_estimator(model, top=0)
    with pytest.raises(ValueError, match="feature_names has 1 names, and the model 2"):
        WeightsDisplay.from_estimator(model, feature_names=["a"])
    with pytest.raises(ValueError, match="classes selects among the scores of three"):
        WeightsDisplay.from_estimator(model, classes=[0])
    three = LinearModel(np.eye(3), np.zeros(3), list("abc"), "score")
    with pytest.raises(ValueError, match="'z' is not a class of the model"):
        WeightsDisplay.from_estimator(three, classes=["z"])
    with pytest.raises(TypeError, match="VotedPerceptron has no weights of one linear model"):
        WeightsDisplay.from_estimator(VotedPerceptron().fit([[0.0], [1.0]], [0, 1]))
    with pytest.raises(NotFittedError, match="LogisticRegression instance is not fitted"):
        WeightsDisplay.from_estimator(TheirLogistic())


def test_weights_of_pairs_of_classes_are_no_model():
    """Of three classes there are three pairs: their weights look like those of the classes."""
    X, y = load_iris(return_X_y=True)
    with pytest.raises(TypeError, match=r"SVC has no weights.*for each pair of classes"):
        WeightsDisplay.from_estimator(SVC(kernel="linear").fit(X, y))
    two = SVC(kernel="linear").fit(X[50:], y[50:])
    (weights,), (columns,) = (
        getattr(WeightsDisplay.from_estimator(two), name) for name in ("weights", "features")
    )
    np.testing.assert_array_equal(weights, two.coef_[0][columns])


def test_the_title_says_how_many_there_are():
    def title(weights, **more):
        model = LinearModel([weights], [0.0], [0, 1], "score", learner="Me")
        return WeightsDisplay.from_estimator(model, **more).ax_.get_title(loc="left")

    assert title([1.0, 2.0]) == "Me: all 2 weights"
    assert title([1.0, 2.0], top=1) == "Me: the 1 largest of 2 weights"
    assert title([1.0, 0.0]) == "Me: the one weight that is not 0 (of 2)"


def test_names_that_differ_in_the_middle_stay_apart():
    names = [f"the pressure of day {k} as it was measured at noon" for k in range(6)]
    model = LinearModel([np.arange(1.0, 7.0)], [0.0], [0, 1], "score", names)
    ticks = [each.get_text() for each in WeightsDisplay.from_estimator(model).ax_.get_yticklabels()]
    assert len(set(ticks)) == 6
    assert max(map(len, ticks)) <= 24
