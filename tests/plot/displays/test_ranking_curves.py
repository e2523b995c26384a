"""ROC and precision-recall curves, against scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.metrics import (
    average_precision_score,
    precision_recall_curve,
    roc_auc_score,
    roc_curve,
)

from separable import LDA, LinearModel, LogisticRegression, Ridge
from separable.plot import PrecisionRecallDisplay, RocDisplay


@pytest.mark.parametrize("weighted", [False, True])
def test_roc_of_two_classes_is_that_of_scikit_learn(weighted):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    scores = np.round(y + rng.normal(size=300), 1)  # ties
    weight = rng.integers(0, 4, 300) if weighted else None
    display = RocDisplay.from_predictions(y, scores, sample_weight=weight)
    fpr, tpr, thresholds = roc_curve(y, scores, sample_weight=weight, drop_intermediate=False)
    keep = slice(None)
    if weighted:  # scores of rows of weight 0 alone are no thresholds here
        keep = np.isin(thresholds, [np.inf, *scores[weight > 0]])
    assert np.allclose(display.fpr[0], fpr[keep])
    assert np.allclose(display.tpr[0], tpr[keep])
    assert np.allclose(display.thresholds[0], thresholds[keep])
    assert display.areas[0] == pytest.approx(roc_auc_score(y, scores, sample_weight=weight))
    assert np.array_equal(display.lines_[0].get_xdata(), display.fpr[0])


def test_the_other_class_may_be_the_positive_one():
    y, scores = np.array(["a", "b", "b", "a"]), np.array([0.3, 0.2, 0.9, 0.1])
    display = RocDisplay.from_predictions(y, scores, positive="a")
    assert display.labels == ["a"]
    assert display.areas[0] == pytest.approx(roc_auc_score(y == "a", -scores))


def test_estimator_and_model_agree():
    X, y = load_breast_cancer(return_X_y=True)
    fitted = LogisticRegression(standardize=True, C=0.01).fit(X[::2], y[::2])
    area = roc_auc_score(y[1::2], fitted.decision_function(X[1::2]))
    for each in (fitted, fitted.model_):
        assert RocDisplay.from_estimator(each, X[1::2], y[1::2]).areas[0] == pytest.approx(area)


def test_each_of_several_classes_against_the_rest():
    X, y = load_iris(return_X_y=True)
    fitted = LDA().fit(X, y)
    display = RocDisplay.from_estimator(fitted, X, y)
    chances = fitted.predict_proba(X)
    assert display.labels == [0, 1, 2]
    wanted = [roc_auc_score(y == k, chances[:, k]) for k in range(3)]
    assert display.areas == pytest.approx(wanted)
    mean = roc_auc_score(y, chances, multi_class="ovr")
    assert f"mean AUC {mean:.3f}" in display.ax_.get_title(loc="left")


def test_of_many_classes_the_lowest_have_names():
    rng = np.random.default_rng(0)
    y = np.arange(200) % 20
    scores = np.eye(20)[y] + rng.normal(size=(200, 20))
    display = RocDisplay.from_predictions(y, scores)
    lowest = [display.labels[k] for k in np.argsort(display.areas)[:3]]
    texts = [each.get_text() for each in display.ax_.get_legend().get_texts()]
    assert [text.split(":")[0] for text in texts[:3]] == list(map(str, lowest))
    assert texts[3:] == ["17 other classes", "chance: AUC 0.500"]


def test_errors():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=r"Every row is 1\. A curve needs rows of that class"):
        RocDisplay.from_predictions([1, 1], [0.2, 0.3], classes=[0, 1])
    with pytest.raises(ValueError, match=r"scores of shape \(3,\) do not fit 3 classes"):
        RocDisplay.from_predictions([0, 1, 2], [0.1, 0.2, 0.3])
    with pytest.raises(ValueError, match="Ridge predicts numbers"):
        RocDisplay.from_estimator(Ridge().fit(X, y), X, y)
    with pytest.raises(ValueError, match="positive='c' is not a class"):
        RocDisplay.from_predictions(["a", "b"], [0.1, 0.2], positive="c")
    with pytest.raises(ValueError, match="Scores of row 1 is nan"):
        RocDisplay.from_predictions(["a", "b"], [0.1, np.nan])
    three = LinearModel(np.eye(3), np.zeros(3), [0, 1, 2], "score")
    with pytest.raises(ValueError, match="No row is 2, the positive class"):
        RocDisplay.from_estimator(three, np.eye(3)[:2], [0, 1], positive=2)


def test_scores_that_are_no_numbers_are_refused():
    with pytest.raises(ValueError, match=r"scores must be numbers.*ConfusionMatrixDisplay"):
        RocDisplay.from_predictions([0, 1], ["no", "yes"])


@pytest.mark.parametrize("weighted", [False, True])
def test_precision_and_recall_of_two_classes_are_those_of_scikit_learn(weighted):
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
    assert display.prevalence[0] == pytest.approx(np.average(y, weights=weight))
    assert np.array_equal(display.lines_[0].get_ydata()[1:], display.precision[0])


def test_average_precision_of_several_classes():
    X, y = load_iris(return_X_y=True)
    fitted = LogisticRegression(C=0.1).fit(X, y)
    display = PrecisionRecallDisplay.from_estimator(fitted, X, y)
    chances = fitted.predict_proba(X)
    wanted = [average_precision_score(y == k, chances[:, k]) for k in range(3)]
    assert display.average_precision == pytest.approx(wanted)
    one = PrecisionRecallDisplay.from_estimator(fitted, X, y, positive=1)
    assert one.labels == [1]
    assert one.average_precision == pytest.approx(wanted[1:2])


def test_precision_of_one_class_is_refused():
    with pytest.raises(ValueError, match="Every row is 'a'"):
        PrecisionRecallDisplay.from_predictions(["a", "a"], [0.2, 0.3], classes=["a", "b"])
