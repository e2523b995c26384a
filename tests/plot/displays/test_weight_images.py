"""Weights as images."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from sklearn.datasets import load_digits

from separable import LDA, LinearModel, Ridge
from separable.plot import WeightImagesDisplay
from tests.plot.clouds import texts_of


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
    magnitudes = np.sort(np.abs(model.coef_).ravel())
    assert np.sum(magnitudes > display.limit) == len(magnitudes) // 100  # washes out no other
    assert any("against" in text for text in texts_of(display))  # the colour bar's label


def test_outlines_are_of_the_mean_images():
    X, y = load_digits(return_X_y=True)
    model = LDA(shrinkage=0.1).fit(X, y)
    display = WeightImagesDisplay.from_estimator(model, (8, 8), X, y)
    expected = [X[y == digit].mean(axis=0).reshape(8, 8) for digit in range(10)]
    np.testing.assert_allclose(display.means, expected)
    for ax, mean in zip(display.axes_, expected, strict=True):
        (outline,) = ax.collections
        assert outline.levels == [(mean.max() + mean.min()) / 2]
    two = LDA(shrinkage=0.1).fit(X[y < 2], y[y < 2])
    display = WeightImagesDisplay.from_estimator(two, (8, 8), X[y < 2], y[y < 2])
    np.testing.assert_allclose(display.means, expected[1:2])
    with pytest.raises(ValueError, match="need y"):
        WeightImagesDisplay.from_estimator(model, (8, 8), X)


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


def test_long_names_and_flat_images_fit():
    names = [f"newsgroup.topic.{k:02d}.something" for k in range(20)]
    weights = np.random.default_rng(0).normal(size=(20, 5))
    model = LinearModel(weights, np.zeros(20), names, "score")
    display = WeightImagesDisplay.from_estimator(model, (1, 5))
    display.figure_.draw_without_rendering()
    boxes = [ax.title.get_window_extent() for ax in display.axes_]
    assert all(box.x0 >= 0 for box in boxes)
    assert all(left.x1 < right.x0 for left, right in pairwise(boxes[:5]))
    assert len({ax.get_title() for ax in display.axes_}) == 20
    wide, high = display.figure_.get_size_inches()
    assert high < wide / 2  # as flat as the images


@pytest.mark.parametrize("classes", [[0, 1], None])
def test_one_image_has_room_for_its_words(classes):
    link = "identity" if classes is None else "score"
    model = LinearModel(np.eye(1, 64), [0.0], classes, link)
    display = WeightImagesDisplay.from_estimator(model, (8, 8))
    display.figure_.draw_without_rendering()
    around, (wide, high) = display.figure_.get_tightbbox(), display.figure_.get_size_inches()
    assert min(around.x0, around.y0) >= -0.02
    assert around.x1 <= wide + 0.02
    assert around.y1 <= high + 0.02
    told = display.figure_.get_suptitle()
    assert ("for the class" in told) == (classes is not None)
    assert ("the prediction" in told.replace("\n", " ")) == (classes is None)
