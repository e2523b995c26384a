"""Metrics against scikit-learn's, on random data with weights and ties."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import sklearn.metrics as sk
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.datasets import load_iris

from separable import LDA, LinearModel
from separable.model.metrics.metric_registry import (
    METRICS,
    Predictions,
    UndefinedMetric,
    metric_named,
    predictions_of,
)

CLASSES = {
    2: np.array(["ham", "spam"]),
    3: np.array([-1, 4, 7]),
    5: np.array(["a", "b", "c", "d", "e"]),
}


@st.composite
def class_problems(draw, sizes=(2, 3, 5)):
    k, n = draw(st.sampled_from(sizes)), draw(st.integers(2, 40))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    classes = CLASSES[k]
    y_true = classes[rng.integers(0, k, n)]
    chances = rng.dirichlet(np.ones(k), n).round(1)  # with ties
    chances = (chances + 0.1) / (chances + 0.1).sum(axis=1, keepdims=True)
    weight = rng.integers(0, 4, n) / 2 if draw(st.booleans()) else np.ones(n)
    weight[0] = 1.0
    predictions = Predictions(classes[chances.argmax(axis=1)], chances, chances, classes)
    return y_true, predictions, weight


def seen(y_true, weight):
    """The labels of rows that count."""
    return np.unique(y_true[weight > 0])


def ours(name, problem, **more):
    y_true, predictions, weight = problem
    return METRICS[name](y_true, predictions, weight, **more)


@given(class_problems())
def test_metrics_of_labels(problem):
    y_true, predictions, weight = problem
    keep = weight > 0
    t, p, w = y_true[keep], predictions.predicted[keep], weight[keep]
    assert ours("accuracy", problem) == pytest.approx(sk.accuracy_score(t, p, sample_weight=w))
    constant = min(len(np.unique(t)), len(np.unique(p))) == 1
    mcc = 0.0 if constant else sk.matthews_corrcoef(t, p, sample_weight=w)
    assert ours("mcc", problem) == pytest.approx(mcc, abs=1e-12)
    mean = {"labels": seen(y_true, weight), "average": "macro", "zero_division": 0}
    assert ours("balanced_accuracy", problem) == pytest.approx(
        sk.recall_score(t, p, sample_weight=w, **mean)
    )
    assert ours("f1_macro", problem) == pytest.approx(sk.f1_score(t, p, sample_weight=w, **mean))
    if len(predictions.classes) > 2:
        for name, score in (
            ("f1", sk.f1_score),
            ("recall", sk.recall_score),
            ("precision", sk.precision_score),
        ):
            assert ours(name, problem) == pytest.approx(score(t, p, sample_weight=w, **mean))


@given(class_problems(), st.data())
def test_metrics_of_one_class(problem, data):
    y_true, predictions, weight = problem
    positive = data.draw(st.sampled_from(predictions.classes.tolist()))
    t, p = y_true == positive, predictions.predicted == positive
    assume(t[weight > 0].any())
    chance = predictions.probabilities[:, predictions.classes.tolist().index(positive)]
    assert ours("average_precision", problem, positive=positive) == pytest.approx(
        sk.average_precision_score(t, chance, sample_weight=weight)
    )
    for name, score in (
        ("f1", sk.f1_score),
        ("recall", sk.recall_score),
        ("precision", sk.precision_score),
    ):
        assert ours(name, problem, positive=positive) == pytest.approx(
            score(t, p, sample_weight=weight, zero_division=0)
        )
    assume(not t[weight > 0].all())
    assert ours("roc_auc", problem, positive=positive) == pytest.approx(
        sk.roc_auc_score(t, chance, sample_weight=weight)
    )


@given(class_problems())
def test_metrics_of_probabilities(problem):
    y_true, predictions, weight = problem
    labels = predictions.classes.tolist()
    assert ours("log_loss", problem) == pytest.approx(
        sk.log_loss(y_true, predictions.probabilities, sample_weight=weight, labels=labels)
    )
    if len(labels) == 2:
        theirs = sk.brier_score_loss(
            y_true, predictions.probabilities[:, 1], sample_weight=weight, pos_label=labels[1]
        )
    else:
        wrong = predictions.probabilities - (y_true[:, None] == predictions.classes)
        theirs = np.average((wrong**2).sum(axis=1), weights=weight)
    assert ours("brier", problem) == pytest.approx(theirs)


@given(class_problems(sizes=(3, 5)))
def test_roc_auc_of_many_classes_is_the_mean_of_one_against_the_rest(problem):
    y_true, predictions, weight = problem
    present = seen(y_true, weight)
    assume(len(present) > 1)
    columns = dict(zip(predictions.classes.tolist(), predictions.probabilities.T, strict=True))
    parts = [
        sk.roc_auc_score(y_true == label, columns[label], sample_weight=weight)
        for label in present.tolist()
    ]
    assert ours("roc_auc", problem) == pytest.approx(np.mean(parts))
    parts = [
        sk.average_precision_score(y_true == label, columns[label], sample_weight=weight)
        for label in present.tolist()
    ]
    assert ours("average_precision", problem) == pytest.approx(np.mean(parts))


@given(st.integers(0, 2**32 - 1), st.integers(3, 40), st.booleans(), st.sampled_from([None, 1, 3]))
def test_metrics_of_numbers(seed, n, weighted, targets):
    rng = np.random.default_rng(seed)
    shape = n if targets is None else (n, targets)
    y_true = rng.normal(size=shape).round(2) + 0.001
    predictions = Predictions(y_true + rng.normal(size=shape).round(1))
    weight = rng.integers(1, 5, n) / 2 if weighted else None
    theirs = {
        "r2": sk.r2_score,
        "rmse": sk.root_mean_squared_error,
        "mae": sk.mean_absolute_error,
        "mape": sk.mean_absolute_percentage_error,
    }
    for name, score in theirs.items():
        expected = score(y_true, predictions.predicted, sample_weight=weight)
        assert METRICS[name](y_true, predictions, weight) == pytest.approx(expected), name
    times = np.ones(n, int) if weight is None else (2 * weight).astype(int)
    repeated = (np.repeat(each, times, axis=0) for each in (y_true, predictions.predicted))
    expected = sk.median_absolute_error(*repeated)  # scikit-learn 1.6 weights in another way
    assert METRICS["median_ae"](y_true, predictions, weight) == pytest.approx(expected)


def test_weights_are_rows_so_many_times():
    rng = np.random.default_rng(0)
    classes = CLASSES[2]
    y_true, scores = classes[rng.integers(0, 2, 60)], rng.normal(size=60).round(1)
    chances = 1 / (1 + np.exp(-np.outer(scores, [-1, 1])))
    times = rng.integers(0, 4, 60)
    one = Predictions(classes[(scores > 0).astype(int)], scores, chances, classes)
    many = Predictions(
        *(np.repeat(a, times, axis=0) for a in (one.predicted, scores, chances)), classes
    )
    numbers, copies = Predictions(scores), Predictions(np.repeat(scores, times))
    target = rng.normal(size=60) + 5
    for name, metric in METRICS.items():
        if metric.task == "classification":
            pair = metric(y_true, one, times), metric(np.repeat(y_true, times), many)
        else:
            pair = metric(target, numbers, times), metric(np.repeat(target, times), copies)
        assert pair[0] == pytest.approx(pair[1]), name


@pytest.mark.parametrize("name", ["roc_auc", "average_precision"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_perfect_order_is_exactly_one(name, n_classes):
    for n in range(2 * n_classes, 60):
        y_true = np.minimum(np.arange(n), n_classes - 1)
        apart = np.arange(n) / n  # so that every row has a score of its own
        scores = (
            y_true + apart if n_classes == 2 else 2 * np.eye(n_classes)[y_true] + apart[:, None]
        )
        predictions = Predictions(y_true, scores, None, np.arange(n_classes))
        assert METRICS[name](y_true, predictions) == 1.0
        assert METRICS[name](y_true, predictions, np.full(n, 0.1)) == 1.0
        assert METRICS[name](y_true, predictions, np.linspace(0.1, 3, n)) <= 1.0


def test_scores_of_two_classes_are_the_second_ones():
    predictions = Predictions(
        np.array([0, 1, 1]), np.array([-2.0, 0.5, 3.0]), classes=np.array([0, 1])
    )
    assert METRICS["roc_auc"]([0, 1, 1], predictions) == 1.0
    assert METRICS["roc_auc"]([0, 1, 1], predictions, positive=0) == 1.0
    assert METRICS["roc_auc"]([1, 1, 0], predictions) == 0.0
    assert METRICS["average_precision"]([0, 1, 1], predictions, positive=0) == 1.0


def test_scores_of_many_classes_may_be_shifted_from_row_to_row():
    X, y = load_iris(return_X_y=True)
    model = LDA().fit(X, y).model_
    expected = sk.roc_auc_score(y, model.predict_proba(X), multi_class="ovr")
    assert model.evaluate(X, y).figures["roc_auc"] == pytest.approx(expected)


def test_probability_zero_is_clipped_as_scikit_learn_does():
    chances = np.array([[1.0, 0.0], [0.5, 0.5]])
    predictions = Predictions(np.array([0, 0]), None, chances, np.array([0, 1]))
    assert METRICS["log_loss"]([1, 0], predictions) == pytest.approx(sk.log_loss([1, 0], chances))
    assert METRICS["log_loss"]([1, 0], predictions) == pytest.approx(
        (-np.log(np.finfo(float).eps) + np.log(2)) / 2
    )


def test_unknown_labels_are_wrong_with_probability_zero():
    chances = np.array([[0.9, 0.1], [0.2, 0.8]])
    predictions = Predictions(np.array(["a", "b"]), chances, chances, np.array(["a", "b"]))
    y_true = ["a", "z"]
    assert METRICS["accuracy"](y_true, predictions) == 0.5
    assert METRICS["balanced_accuracy"](y_true, predictions) == 0.5
    assert METRICS["brier"](y_true, predictions) == pytest.approx(
        (0.01 + (0.04 + 0.64 + 1) / 2) / 2
    )
    assert METRICS["precision"](y_true, predictions) == 0.0
    assert METRICS["roc_auc"](y_true, predictions, positive="a") == 1.0


@pytest.mark.parametrize(
    ("name", "y_true", "reason"),
    [
        ("roc_auc", [1, 1], "every row is 1"),
        ("roc_auc", [0, 0], "every row is 0"),
        ("average_precision", [0, 0], "no row is 1"),
        ("recall", [0, 0], "no row is 1"),
        ("log_loss", [0, 1], "the model gives no probabilities"),
        ("brier", [0, 1], "the model gives no probabilities"),
        ("roc_auc", [0, 1], "the model gives no scores"),
    ],
)
def test_undefined(name, y_true, reason):
    predictions = Predictions(np.array([1, 1]), classes=np.array([0, 1]))
    with pytest.raises(UndefinedMetric, match=reason):
        METRICS[name](y_true, predictions)


def test_undefined_of_numbers():
    predictions = Predictions(np.array([1.0, 2.0]))
    with pytest.raises(UndefinedMetric, match="a true value is 0"):
        METRICS["mape"]([0, 1], predictions)
    with pytest.raises(UndefinedMetric, match="all true values are the same"):
        METRICS["r2"]([3, 3], predictions)


def test_large_numbers_do_not_overflow():
    predictions = Predictions(np.array([1e200, 3e200]))
    assert METRICS["rmse"]([2e200, 2e200], predictions) == pytest.approx(1e200)
    assert METRICS["r2"]([1e200, 2e200], predictions) == pytest.approx(-1.0)


NUMBERS = Predictions(np.array([1.0, 2.0]))
LABELS = Predictions(np.array([0, 1]), classes=np.array([0, 1]))


@pytest.mark.parametrize(
    ("predictions", "y_true", "more", "problem"),
    [
        (NUMBERS, [1.0, np.nan], {}, "The target of row 1 is nan"),
        (NUMBERS, [1.0, np.inf], {}, "The target of row 1 is inf"),
        (NUMBERS, [1.0], {}, "The target has 1 rows and the predictions 2"),
        (
            NUMBERS,
            [[1.0, 2], [1, 2]],
            {},
            r"The target has shape \(2, 2\) and the predictions \(2,\)",
        ),
        (NUMBERS, ["a", "b"], {}, "The target must be numbers"),
        (NUMBERS, [1, 2], {"positive": 1}, "names a class, and the predictions are numbers"),
        (NUMBERS, [1, 2], {"weight": [1, -1]}, "Weight of row 1 is -1: it must be >= 0"),
        (NUMBERS, [1, 2], {"weight": [1, np.nan]}, "Weight of row 1 is nan"),
        (NUMBERS, [1, 2], {"weight": [1]}, r"Weight must have shape \(2,\)"),
        (NUMBERS, [1, 2], {"weight": [0, 0]}, "no row to measure of a weight above 0"),
        (Predictions(np.array([])), [], {}, "There is no row to measure"),
        (Predictions(np.array([1, np.nan])), [1, 2], {}, "Predicted of row 1 is nan"),
        (LABELS, [0, np.nan], {}, "The label of row 1 is missing"),
        (LABELS, [0, None], {}, "The label of row 1 is missing"),
        (LABELS, [0, 1], {"positive": 2}, "positive=2 is not a class of the model"),
        (LABELS, ["0", "1"], {}, "No true label is a class of the model"),
        (LABELS, [[0], [1]], {}, "one label per row"),
        (
            Predictions(np.array([0, 3]), classes=np.array([0, 1])),
            [0, 1],
            {},
            "prediction 3 is not one of",
        ),
        (
            Predictions(np.array([0, 1]), np.array([1.0, np.nan]), classes=np.array([0, 1])),
            [0, 1],
            {},
            "Scores of row 1 is nan",
        ),
    ],
)
def test_bad_input(predictions, y_true, more, problem):
    with pytest.raises(ValueError, match=problem):
        METRICS["accuracy" if predictions.classes is not None else "mae"](
            y_true, predictions, **more
        )


def test_a_metric_of_the_other_task():
    with pytest.raises(ValueError, match=r"accuracy is a figure of classes.*Use one of: r2, rmse"):
        METRICS["accuracy"]([1, 2], NUMBERS)
    with pytest.raises(ValueError, match=r"'rmse' is not a metric of classification. There are"):
        metric_named("rmse", "classification")
    with pytest.raises(ValueError, match="'acc' is not a metric"):
        metric_named("acc")
    assert metric_named("rmse", "regression") is METRICS["rmse"]


def test_labels_may_be_objects_and_bools():
    predictions = Predictions(np.array([True, False]), classes=np.array([False, True]))
    assert METRICS["accuracy"](np.array([1, 1]), predictions) == 0.5
    predictions = Predictions(np.array(["a", "b"]), classes=np.array(["a", "b"]))
    assert METRICS["accuracy"](np.array(["a", "a"], dtype=object), predictions) == 0.5


def test_answers_of_a_model():
    model = LinearModel([[1.0]], [0.0], ["a", "b"], "logistic")
    predictions = predictions_of(model, [[1.0], [-1.0]])
    assert predictions.predicted.tolist() == ["b", "a"]
    assert predictions.scores is not None
    assert predictions.scores.tolist() == [1.0, -1.0]
    assert predictions.probabilities is not None
    assert np.array_equal(predictions.probabilities, model.predict_proba([[1.0], [-1.0]]))
    model = LinearModel([[1.0], [2.0]], [0.0, 1.0], None, "identity")
    assert predictions_of(model, [[1.0]]).predicted.tolist() == [[1.0, 3.0]]


def test_names_need_no_numpy():
    code = "import sys, separable.model.metrics.metric_registry; print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
