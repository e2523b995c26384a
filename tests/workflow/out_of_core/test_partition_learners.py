"""Learners over partitions against the same learners in memory."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import log_loss

from separable import LDA, ElasticNet, Lasso, LinearSVM, LogisticRegression, Ridge
from separable.data.rows import as_rows
from separable.errors import OptionError
from separable.statistics.partitions import Batch, InMemoryPartitions
from separable.workflow.out_of_core.held_out_sums import held_out_means
from separable.workflow.out_of_core.partition_learners import PartitionData, partition_learner

FOLDS = 3


def table(classes: int) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(7)
    X = rng.standard_normal((300, 4))
    scores = X @ rng.standard_normal((4, max(1, classes)))
    scores += rng.standard_normal(scores.shape)
    y = scores.argmax(axis=1).astype(np.int32) if classes else scores[:, 0]
    return X, y, (np.arange(300) % FOLDS).astype(np.int32)


def data(X: Any, y: Any, fold: Any, classes: Any) -> PartitionData:
    whole = Batch(as_rows(X), y, None, fold)
    parts = [whole.slice(*pair) for pair in pairwise([0, 100, 170, 300])]
    return PartitionData(InMemoryPartitions(parts), classes, FOLDS)


@pytest.mark.parametrize("classes", [2, 3])
def test_logistic_search_and_fit(classes: int) -> None:
    X, y, fold = table(classes)
    labels = np.array(["a", "b", "c"])[:classes]
    rows = data(X, y, fold, labels)
    learner = partition_learner("logistic-regression", {})
    losses, errors = held_out_means(rows.partitions, learner.search(rows, [0.1, 1.0]))
    for index, C in enumerate([0.1, 1.0]):
        for k in range(FOLDS):
            train, test = fold != k, fold == k
            other = LogisticRegression(C=C).fit(X[train], y[train])
            here = index * FOLDS + k
            probabilities = other.predict_proba(X[test])
            assert losses[here] == pytest.approx(log_loss(y[test], probabilities), abs=2e-3)
            assert errors[here] == pytest.approx(
                np.mean(other.predict(X[test]) != y[test]), abs=0.021
            )
    model, certificate = learner.fit(rows, 1.0)
    other = LogisticRegression(C=1.0).fit(X, labels[y])
    assert certificate is not None
    assert certificate.converged
    away = float(np.linalg.norm(model.weights - other.coef_))
    assert away <= certificate.distance + other.certificate_.distance
    assert model.predict(X).tolist() == other.predict(X).tolist()


@pytest.mark.parametrize(
    ("name", "made", "settings"),
    [
        ("ridge", Ridge(alpha=2.0), {"alpha": 2.0}),
        ("lasso", Lasso(alpha=0.1), {"alpha": 0.1}),
        ("elastic-net", ElasticNet(alpha=0.1, l1_ratio=0.3), {"alpha": 0.1, "l1_ratio": 0.3}),
    ],
)
def test_regression_from_sums(name: str, made: Any, settings: Any) -> None:
    X, y, fold = table(0)
    rows = data(X, y, fold, None)
    learner = partition_learner(name, settings)
    losses, _ = held_out_means(rows.partitions, learner.search(rows, [None]))
    for k in range(FOLDS):
        other = made.fit(X[fold != k], y[fold != k])
        rest = y[fold == k] - other.predict(X[fold == k])
        assert losses[k] == pytest.approx(float(np.mean(rest**2)), rel=1e-3)
    model, certificate = learner.fit(rows, None)
    other = made.fit(X, y)
    np.testing.assert_allclose(model.weights[0], other.coef_, atol=1e-4)
    if certificate is not None:
        assert certificate.converged
        assert certificate.dual <= other.certificate_.primal
        assert other.certificate_.dual <= certificate.primal


def test_lda_from_sums() -> None:
    X, y, fold = table(3)
    rows = data(X, y, fold, np.array(["a", "b", "c"]))
    model, _ = partition_learner("lda", {}).fit(rows, None)
    other = LDA().fit(X, np.array(["a", "b", "c"])[y])
    np.testing.assert_allclose(model.weights, other.coef_, rtol=1e-9)
    assert model.classes is not None
    assert model.classes.tolist() == ["a", "b", "c"]


def test_svm_of_three_classes() -> None:
    X, y, fold = table(3)
    rows = data(X, y, fold, np.arange(3))
    model, certificate = partition_learner("linear-svm", {"loss": "squared_hinge"}).fit(rows, 0.5)
    other = LinearSVM(C=0.5, loss="squared_hinge").fit(X, y)
    assert certificate is not None
    assert certificate.converged
    np.testing.assert_allclose(model.weights, other.coef_, atol=1e-3)


def test_what_is_not_possible_is_refused() -> None:
    with pytest.raises(OptionError, match="needs all rows in memory"):
        partition_learner("averaged-perceptron", {})
    with pytest.raises(OptionError, match=r"l1_ratio=0\.0 only"):
        partition_learner("logistic-regression", {"l1_ratio": 0.5})


def test_a_class_in_one_fold_only_is_refused() -> None:
    X, y, fold = table(2)
    y[:] = 0
    y[fold == 1] = 1
    with pytest.raises(ValueError, match="has too few rows"):
        data(X, y, fold, np.array(["a", "b"])).check_folds()
