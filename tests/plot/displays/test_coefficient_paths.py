"""Paths of weights."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris

from separable import Lasso, LogisticRegression, Ridge
from separable.plot import PathDisplay
from separable.select import Path, path

DIABETES = load_diabetes(return_X_y=True, as_frame=True)


def counts_above(display):
    (upper,) = display.ax_.child_axes
    return [each.get_text() for each in upper.get_xticklabels()]


def test_the_largest_weights_have_names_and_lines():
    X, y = DIABETES
    found = path(Lasso(), X, y, alphas=[1.0, 0.5, 0.1, 0.01])
    display = PathDisplay.from_path(found, feature_names=list(X.columns), top=3)
    assert display.values.tolist() == [0.01, 0.1, 0.5, 1.0]
    largest = np.abs(found.coefs[:, 0]).max(axis=0)
    assert display.names == X.columns[np.argsort(-largest)[:3]].tolist()
    for line, j in zip(display.lines_, display.named, strict=True):
        assert np.array_equal(line.get_ydata(), found.coefs[::-1, 0, j])
        assert line.get_xdata().tolist() == [0.01, 0.1, 0.5, 1.0]
    assert counts_above(display) == [str(n) for n in found.nonzeros[::-1]]
    assert display.ax_.get_xscale() == "log"


def test_from_estimator_is_the_path_with_names():
    X, y = DIABETES
    display = PathDisplay.from_estimator(Lasso(), X, y, values=10)
    assert set(display.names) <= set(X.columns)
    assert len(display.values) == 10
    ridge = PathDisplay.from_estimator(Ridge(), X, y, values=[0.0, 0.1, 1.0, 10.0])
    assert ridge.values[0] == 0.0
    assert "0" in [each.get_text() for each in ridge.ax_.get_xticklabels()]
    assert (ridge.lines_[0].get_xdata() > 0).all()


def test_several_classes_by_length_or_one_by_label():
    X, y = load_iris(return_X_y=True)
    found = path(LogisticRegression(), X, y, Cs=[0.1, 10, 100])
    found = replace(found, values=np.array([0.1, 10, np.inf]))
    display = PathDisplay.from_path(found)
    assert np.allclose(display.weights, np.sqrt((found.coefs**2).sum(axis=1)))
    one = PathDisplay.from_path(found, label=2)
    assert np.array_equal(one.weights, found.coefs[:, 2])
    assert "∞" in [each.get_text() for each in one.ax_.get_xticklabels()]


def test_many_columns_are_drawn_in_part():
    coefs = np.random.default_rng(0).normal(size=(5, 1, 75_000))
    coefs[:, :, 5_000:] = 0.0
    found = Path(
        "Lasso", "alpha", np.geomspace(0.01, 1, 5), coefs, np.zeros((5, 1)), None, None, None
    )
    display = PathDisplay.from_path(found)
    texts = [each.get_text() for each in display.ax_.get_legend().get_texts()]
    assert texts[-1] == "200 of 4992 other columns"
    assert len(display.ax_.lines) == 1 + 8 + 200


def test_one_value_and_weights_that_are_all_0():
    X, y = DIABETES
    PathDisplay.from_estimator(Lasso(), X, y, values=[0.5]).figure_.canvas.draw()
    display = PathDisplay.from_estimator(Lasso(), X, y, values=[1e6, 1e5])
    assert display.names == []
    display.figure_.canvas.draw()


def test_errors():
    X, y = DIABETES
    found = path(Lasso(), X, y, alphas=2)
    with pytest.raises(ValueError, match="feature_names has 1 names, and the path 10"):
        PathDisplay.from_path(found, feature_names=["a"])
    with pytest.raises(ValueError, match="top must be an int >= 1"):
        PathDisplay.from_path(found, top=0)
    with pytest.raises(ValueError, match="label selects one of three or more classes"):
        PathDisplay.from_path(found, label=1)
    iris = path(LogisticRegression(), *load_iris(return_X_y=True), Cs=[1.0])
    with pytest.raises(ValueError, match="label=7 is not a class of the path"):
        PathDisplay.from_path(iris, label=7)
