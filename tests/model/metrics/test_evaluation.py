"""Evaluations: every figure, what is left out and why, and how they are told."""

from __future__ import annotations

import json

import numpy as np
import pytest
import sklearn.metrics as sk

from separable import LinearModel, VotedPerceptron
from separable.model.metrics.evaluation import evaluation
from separable.model.metrics.metric_registry import METRICS, Predictions

RNG = np.random.default_rng(7)
X = RNG.normal(size=(200, 2))
WEIGHT = RNG.integers(0, 3, 200)
SPAM = LinearModel([[1.0, 0.2]], [0.0], ["ham", "spam"], "logistic")
TRUTH = np.where(X[:, 0] + RNG.normal(size=200) > 0, "spam", "ham")


def test_figures_of_two_classes():
    found = SPAM.evaluate(X, TRUTH, WEIGHT)
    predicted, spam = SPAM.predict(X), SPAM.predict_proba(X)[:, 1]
    assert found.task == "classification"
    assert found.rows == np.count_nonzero(WEIGHT)
    assert found.positive == "spam"
    assert found.figures["accuracy"] == sk.accuracy_score(TRUTH, predicted, sample_weight=WEIGHT)
    assert found.figures["roc_auc"] == pytest.approx(
        sk.roc_auc_score(TRUTH == "spam", spam, sample_weight=WEIGHT)
    )
    assert set(found.figures) == {m.name for m in METRICS.values() if m.task == "classification"}
    keep = WEIGHT > 0
    assert found.correct == np.count_nonzero((predicted == TRUTH)[keep])
    assert found.confusion.tolist() == sk.confusion_matrix(TRUTH[keep], predicted[keep]).tolist()
    assert found.left_out == {}
    assert found.notes == ()


def test_the_positive_class_can_be_chosen():
    found = SPAM.evaluate(X, TRUTH, positive="ham")
    assert found.figures["precision"] == pytest.approx(
        sk.precision_score(TRUTH, SPAM.predict(X), pos_label="ham")
    )
    assert "precision of ham" in str(found)


def test_the_best_constant_answer():
    found = SPAM.evaluate(X, TRUTH)
    labels, counts = np.unique(TRUTH, return_counts=True)
    assert found.constant == labels[counts.argmax()]
    assert found.constant_correct == counts.max()
    shares = np.tile(counts / 200, (200, 1))
    assert found.constant_figures["accuracy"] == counts.max() / 200
    assert found.constant_figures["log_loss"] == pytest.approx(sk.log_loss(TRUTH, shares))
    assert found.constant_figures["roc_auc"] == 0.5
    assert found.constant_figures["average_precision"] == pytest.approx(counts[1] / 200)


def test_the_constant_of_the_training_rows():
    predictions = Predictions(np.array([1.0, 2.0, 3.0]))
    found = evaluation(predictions, [1, 2, 4], constant=0.0)
    assert found.constant == 0.0
    assert found.constant_figures["mae"] == pytest.approx(7 / 3)
    labels = Predictions(np.array(["a", "b"]), classes=np.array(["a", "b"]))
    assert evaluation(labels, ["a", "a"], constant="b").constant_figures["accuracy"] == 0.0
    with pytest.raises(ValueError, match="constant='c' is not a class of the model"):
        evaluation(labels, ["a", "a"], constant="c")


def test_standard_errors_are_of_means_over_rows():
    found = SPAM.evaluate(X, TRUTH)
    p = found.figures["accuracy"]
    assert found.standard_errors["accuracy"] == pytest.approx(np.sqrt(p * (1 - p) / 200))
    twice = SPAM.evaluate(X, TRUTH, np.full(200, 2.0))
    assert twice.standard_errors["accuracy"] == pytest.approx(found.standard_errors["accuracy"])
    losses = -np.log(SPAM.predict_proba(X)[np.arange(200), (TRUTH == "spam").astype(int)])
    assert found.standard_errors["log_loss"] == pytest.approx(losses.std() / np.sqrt(200))


def test_one_class_in_the_truth():
    found = SPAM.evaluate(X, np.full(200, "ham"))
    assert "roc_auc" not in found.figures
    assert found.left_out["roc_auc"] == "every row is 'ham'"
    assert found.left_out["recall"] == "no row is 'spam'"
    assert found.to_dict()["roc_auc"] is None
    assert "ROC AUC: none, for every row is 'ham'" in str(found)
    assert "No row is of this class: 'spam'." in str(found)


THREE = LinearModel([[1.0], [2.0], [0.0]], [0, 0, 0], ["a", "b", "c"], "score")


def test_more_classes_what_is_missing_and_what_is_unknown():
    y_true = np.array(["a", "b", "b", "d"] * 50)
    found = THREE.evaluate(X[:, :1], y_true)
    predicted = THREE.predict(X[:, :1])
    assert found.positive is None
    present = ["a", "b", "d"]
    assert found.figures["balanced_accuracy"] == pytest.approx(
        sk.recall_score(y_true, predicted, labels=present, average="macro", zero_division=0)
    )
    assert [each.label for each in found.classes] == ["a", "b", "c", "d"]
    assert [each.known for each in found.classes] == [True, True, True, False]
    assert found.classes[2].recall is None
    assert found.notes == (
        "50 rows have a label that the model does not know ('d'): predicted wrongly, with "
        "probability 0.",
        "Never predicted, so of precision 0: 'a'.",
        "No row is of this class, so left out of means over classes: 'c'.",
    )
    assert found.left_out == {
        "log_loss": "the model gives no probabilities",
        "brier": "the model gives no probabilities",
    }
    text = str(found)
    assert "mean F1" in text
    assert text.splitlines()[6].split() == [
        "is",
        "\\",
        "predicted",
        *"abc",
        "precision",
        "recall",
        "F1",
    ]


def test_many_classes_are_cut():
    labels = [f"k{i:03}" for i in range(30)]
    predictions = Predictions(np.array(labels), classes=np.array(labels))
    found = evaluation(predictions, labels)
    assert "... 22 more classes" in str(found)
    assert "k007" in str(found)
    assert "k008" not in str(found)
    assert len(found.to_dict()["confusion"]) == 30
    many = np.arange(300)
    found = evaluation(Predictions(many, classes=many), many)
    assert found.confusion is None
    assert found.figures["accuracy"] == 1.0


def test_numbers():
    model = LinearModel([[1.0, 0.1]], [0.5], None, "identity")
    y_true = X[:, 0] + RNG.normal(size=200) / 4
    found = model.evaluate(X, y_true, WEIGHT)
    predicted = model.predict(X)
    assert found.figures["r2"] == pytest.approx(
        sk.r2_score(y_true, predicted, sample_weight=WEIGHT)
    )
    assert found.constant == pytest.approx(np.average(y_true, weights=WEIGHT))
    assert found.constant_figures["r2"] == pytest.approx(0)
    told = found.to_dict()
    assert [told[name] for name in ("rows", "r2", "rmse", "mae")] == [
        np.count_nonzero(WEIGHT),
        *(found.figures[name] for name in ("r2", "rmse", "mae")),
    ]
    assert told["constant_rmse"] == found.constant_figures["rmse"]
    assert {"correct", "confusion", "classes"}.isdisjoint(told)
    lines = str(found).splitlines()
    assert [line.split()[0] for line in lines] == ["the", "R2", "root", "mean", "median"]


def test_several_targets():
    model = LinearModel([[1.0], [2.0]], [0, 1], None, "identity")
    y_true = np.column_stack([X[:, 0], X[:, 0]])
    found = model.evaluate(X[:, :1], y_true)
    assert found.constant == pytest.approx(y_true.mean(axis=0).tolist())
    assert found.figures["rmse"] == pytest.approx(
        sk.root_mean_squared_error(y_true, model.predict(X[:, :1]))
    )


def test_numbers_that_are_all_the_same():
    found = evaluation(Predictions(np.array([1.0, 2.0])), [0.0, 0.0])
    assert found.left_out == {
        "r2": "all true values are the same",
        "mape": "a true value is 0, and relative errors are undefined",
    }
    assert "R2: none, for all true values are the same" in str(found)


def test_votes():
    model = VotedPerceptron().fit(X, TRUTH).model_
    found = model.evaluate(X, TRUTH)
    assert found.figures["accuracy"] == np.mean(model.predict(X) == TRUTH)
    assert "log_loss" in found.left_out


def test_the_dict_is_json():
    for found in (SPAM.evaluate(X, TRUTH), evaluation(Predictions(np.array([1e300])), [-1e300])):
        told = found.to_dict()
        assert json.loads(json.dumps(told, allow_nan=False)) == told


def test_names_are_shown_safely():
    labels = np.array(["\x1b[31mred", "x" * 100])
    text = str(evaluation(Predictions(labels, classes=labels), labels))
    assert "\x1b" not in text
    assert max(map(len, text.splitlines())) < 100


def test_a_table_goes_through_the_encoder():
    from separable import TableClassifier

    table = {"x": X[:, 0], "z": X[:, 1]}
    fitted = TableClassifier().fit(table, TRUTH)
    found = fitted.model_.evaluate(table, TRUTH)
    assert found.figures["accuracy"] == fitted.score(table, TRUTH)
