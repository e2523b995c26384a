"""Confusion matrices."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics import accuracy_score
from sklearn.metrics import confusion_matrix as theirs

from separable import LDA, Ridge
from separable.plot import ConfusionMatrixDisplay

X, Y = load_iris(return_X_y=True)


def written(display):
    return [each.get_text() for each in display.ax_.texts]


def test_counts_and_figures():
    fitted = LDA().fit(X[:, :2], Y)
    display = ConfusionMatrixDisplay.from_estimator(fitted, X[:, :2], Y)
    predicted = fitted.predict(X[:, :2])
    assert np.array_equal(display.confusion, theirs(Y, predicted))
    assert display.accuracy == pytest.approx(accuracy_score(Y, predicted))
    assert display.constant == pytest.approx(1 / 3)
    assert written(display) == [str(n) for n in theirs(Y, predicted).ravel()]
    shares = display.ax_.images[0].get_array()
    assert np.allclose(shares, theirs(Y, predicted, normalize="true"))


@pytest.mark.parametrize("normalize", ["true", "pred", "all"])
def test_shares(normalize):
    display = ConfusionMatrixDisplay.from_predictions(list("aabbb"), list("ababb"))
    display.plot(normalize=normalize)
    wanted = theirs(list("aabbb"), list("ababb"), normalize=normalize)
    assert written(display) == [f"{n:.2f}" for n in wanted.ravel()]


def test_weights_order_and_classes_without_rows():
    display = ConfusionMatrixDisplay.from_predictions(
        ["a", "b"], ["a", "a"], labels=["c", "b", "a"], sample_weight=[0.5, 2.0]
    )
    assert display.confusion.tolist() == [[0, 0, 0], [0, 0, 2.0], [0, 0, 0.5]]
    assert [each.get_text() for each in display.ax_.get_xticklabels()] == ["c", "b", "a"]


def test_a_hundred_classes_have_no_numbers_and_few_names():
    y = np.arange(100)
    display = ConfusionMatrixDisplay.from_predictions(y, np.roll(y, 1))
    assert written(display) == []
    assert len(display.ax_.get_xticks()) <= 25
    few = ConfusionMatrixDisplay.from_predictions(y[:18], y[:18])
    assert written(few) == []
    assert len(written(few.plot(values=True))) == 18**2


def test_labels_that_the_model_does_not_know_are_shown():
    fitted = LDA().fit(X[:100], Y[:100])
    display = ConfusionMatrixDisplay.from_estimator(fitted, X, Y)
    assert display.labels.tolist() == [0, 1, 2]
    assert display.confusion[2].sum() == 50


def test_errors():
    with pytest.raises(ValueError, match="Ridge predicts numbers"):
        ConfusionMatrixDisplay.from_estimator(Ridge().fit(X, Y), X, Y)
    with pytest.raises(ValueError, match=r"Got shapes \(2,\) and \(1,\)"):
        ConfusionMatrixDisplay.from_predictions([1, 2], [1])
    with pytest.raises(ValueError, match="labels has no 'b'"):
        ConfusionMatrixDisplay.from_predictions(["a", "b"], ["a", "a"], labels=["a"])
    with pytest.raises(ValueError, match="Input y contains NaN"):
        ConfusionMatrixDisplay.from_predictions([1.0, np.nan], [1.0, 1.0])
    with pytest.raises(ValueError, match="normalize must be 'true'"):
        ConfusionMatrixDisplay.from_predictions(["a"], ["a"], normalize="rows")
