"""Weights as images."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits

from separable import LDA, LinearModel, Ridge
from separable.plot import WeightImagesDisplay

from .clouds import texts_of


def test_images_are_the_weights_around_zero():
    X, y = load_digits(return_X_y=True)
    model = LDA(shrinkage=0.1).fit(X, y)
    display = WeightImagesDisplay.from_estimator(model, (8, 8))
    np.testing.assert_array_equal(display.images.reshape(10, 64), model.coef_)
    for ax, weights, digit in zip(display.axes_, model.coef_, range(10), strict=True):
        (image,) = ax.images
        np.testing.assert_array_equal(np.asarray(image.get_array()).ravel(), weights)
        assert image.get_clim() == (-display.limit, display.limit)  # 0 is in the middle
        assert ax.get_title() == str(digit)
    assert display.limit == np.abs(model.coef_).max()
    assert any("against" in text for text in texts_of(display))  # the colour bar's label


def test_models_of_scikit_learn():
    from sklearn.linear_model import RidgeClassifier

    X, y = load_digits(return_X_y=True)
    model = RidgeClassifier().fit(X, y)
    display = WeightImagesDisplay.from_estimator(model, (8, 8))
    np.testing.assert_array_equal(display.images.reshape(10, 64), model.coef_)


def test_two_classes_have_one_image():
    model = LinearModel([[1.0, -2.0, 0.0, 0.5, 0.0, 0.0]], [0.0], ["no", "yes"], "score")
    display = WeightImagesDisplay.from_estimator(model, (2, 3))
    assert display.titles == ("yes against no",)
    np.testing.assert_array_equal(display.images[0], [[1, -2, 0], [0.5, 0, 0]])


def test_numbers_have_one_image_too():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 4))
    display = WeightImagesDisplay.from_estimator(Ridge().fit(X, X[:, 0]), (2, 2))
    assert display.titles == ("weights",)


def test_weights_that_are_all_0():
    model = LinearModel(np.zeros((1, 4)), [0.0], [0, 1], "score")
    assert WeightImagesDisplay.from_estimator(model, (2, 2)).limit == 1.0


def test_in_the_place_of_given_axes():
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, 2, layout="constrained")
    model = LinearModel(np.eye(4)[:3], np.zeros(3), [0, 1, 2], "score")
    display = WeightImagesDisplay.from_estimator(model, (2, 2), ax=axes[0], columns=2)
    assert display.figure_ is figure
    assert len(display.axes_) == 3


def test_refusals():
    model = LinearModel(np.eye(4)[:3], np.zeros(3), [0, 1, 2], "score")
    with pytest.raises(ValueError, match=r"shape=\(3, 3\) has 9 pixels, but the model has 4"):
        WeightImagesDisplay.from_estimator(model, (3, 3))
