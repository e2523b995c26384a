"""Histograms of margins."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from separable import LinearModel, LinearSVM, LogisticRegression, Ridge
from separable.plot import MarginsDisplay

X, Y = load_iris(return_X_y=True)


def heights(display):
    """Return the counts of all outlines that are drawn."""
    return [patch.get_data().values for patch in display.ax_.patches if not patch.get_fill()]


def test_two_classes():
    svm = LinearSVM(C=1.0).fit(X[50:], Y[50:])
    display = MarginsDisplay.from_estimator(svm, X[50:], Y[50:])
    wanted = np.where(Y[50:] == 2, 1, -1) * svm.decision_function(X[50:])
    assert np.allclose(display.margins, wanted)
    assert [each.sum() for each in heights(display)] == [50, 50]
    assert f"{(wanted <= 0).sum()} of 100 rows" in display.ax_.get_title(loc="left")
    assert display.level == 1.0


def test_distances():
    svm = LinearSVM().fit(X[50:], Y[50:])
    display = MarginsDisplay.from_estimator(svm, X[50:], Y[50:], unit="distance")
    scores = np.where(Y[50:] == 2, 1, -1) * svm.decision_function(X[50:])
    assert np.allclose(display.margins * np.linalg.norm(svm.coef_), scores)
    assert display.level == pytest.approx(1 / np.linalg.norm(svm.coef_))
    assert "distance" in display.ax_.get_xlabel()


def test_three_classes_and_a_pipeline():
    pipeline = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, Y)
    display = MarginsDisplay.from_estimator(pipeline, X, Y, bins=7)
    scores = pipeline.decision_function(X)
    others = scores.copy()
    others[np.arange(150), Y] = -np.inf
    assert np.allclose(display.margins, scores[np.arange(150), Y] - others.max(axis=1))
    assert [len(each) for each in heights(display)] == [7, 7, 7]


def test_many_classes_share_one_histogram():
    W = np.random.default_rng(0).normal(size=(20, 2))
    model = LinearModel(W, np.zeros(20), np.arange(20), "score")
    display = MarginsDisplay.from_estimator(model, W, np.arange(20))
    texts = [each.get_text() for each in display.ax_.get_legend().get_texts()]
    assert "20 classes" in texts


def test_one_row_and_a_model_without_weights():
    model = LinearModel([[1.0, 0.0]], [0.5], ["a", "b"], "score")
    display = MarginsDisplay.from_estimator(model, [[1.0, 1.0]], ["b"])
    assert display.margins.tolist() == [1.5]
    flat = LinearModel([[0.0, 0.0]], [0.5], ["a", "b"], "score")
    MarginsDisplay.from_estimator(flat, [[1.0, 1.0]], ["b"], unit="distance").figure_.canvas.draw()


def test_errors():
    svm = LinearSVM().fit(X[:100], Y[:100])
    with pytest.raises(ValueError, match="unit must be 'score' or 'distance'"):
        MarginsDisplay.from_estimator(svm, X[:100], Y[:100], unit="metre")
    with pytest.raises(ValueError, match="predicts numbers"):
        MarginsDisplay.from_estimator(Ridge().fit(X, Y), X, Y)
    with pytest.raises(ValueError, match=r"label 2 .*no class of the model"):
        MarginsDisplay.from_estimator(svm, X, Y)


def test_no_bin_has_rows_of_both_sides():
    svm = LinearSVM().fit(X[50:, :2], Y[50:])
    display = MarginsDisplay.from_estimator(svm, X[50:, :2], Y[50:])
    edges = display.ax_.patches[-1].get_data().edges
    assert (edges == 0.0).sum() == 1
    below = sum(each[edges[:-1] < 0].sum() for each in heights(display))
    assert below == (display.margins < 0).sum() > 0
    assert sum(each.sum() for each in heights(display)) == 100
