"""Several learners on the same folds, beside scikit-learn's cross-validation of each."""

from __future__ import annotations

from time import sleep

import numpy as np
import pytest
from scipy import stats
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold, cross_val_score
from sklearn.preprocessing import StandardScaler

from separable import (
    LDA,
    AveragedPerceptron,
    LeastSquares,
    LinearSVM,
    LogisticRegression,
    MultinomialNB,
    Perceptron,
    Ridge,
)
from separable.fitting.scorers import MetricScorer
from separable.model.metrics.metric_registry import METRICS
from separable.select import Leaderboard, Standing, compare
from separable.select.comparison import standings_of
from tests.select.doubles import fitted

FOLDS = StratifiedKFold(4, shuffle=True, random_state=0)


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def test_each_learner_scores_as_by_scikit_learn(cancer):
    X, y = cancer
    given = {"lda": LDA(), "averaged": AveragedPerceptron(), "logistic": LogisticRegression(C=0.1)}
    board = compare(given, X, y, cv=FOLDS)
    assert {each.name: each.how for each in board} == {
        "lda": "sums", "averaged": "refit", "logistic": "lanes",
    }  # fmt: skip
    for name, estimator in given.items():
        expected = cross_val_score(estimator, X, y, cv=FOLDS)
        np.testing.assert_allclose(board[name].scores, expected, rtol=1e-12)
        assert board[name].mean == pytest.approx(expected.mean())
        error = expected.std(ddof=1) / 2
        assert board[name].standard_error == pytest.approx(error)
    means = [each.mean for each in board]
    assert means == sorted(means, reverse=True)
    assert board.best is board.rows[0]


def test_differences_are_paired_by_fold(cancer):
    X, y = cancer
    board = compare({"lda": LDA(), "logistic": LogisticRegression(C=0.1)}, X, y, cv=FOLDS)
    best, other = board
    apart = cross_val_score(other.estimator, X, y, cv=FOLDS)
    apart = apart - cross_val_score(best.estimator, X, y, cv=FOLDS)
    assert other.difference == pytest.approx(apart.mean())
    assert other.difference_error == pytest.approx(apart.std(ddof=1) / 2)
    assert (best.difference, best.difference_error) == (0, 0)
    assert (other in board.as_good()) == (abs(apart.mean()) <= apart.std(ddof=1) / 2)


def test_differences_beyond_noise_by_the_corrected_test(cancer):
    X, y = cancer
    folds = StratifiedKFold(5)
    given = {"logistic": LogisticRegression(), "lda": LDA(), "averaged": AveragedPerceptron()}
    board = compare(given, X, y, cv=folds)
    best = cross_val_score(board.best.estimator, X, y, cv=folds)
    assert (board.best.differs, board.best.to_dict()["p_value"]) == (None, None)
    for other in board.rows[1:]:
        apart = cross_val_score(other.estimator, X, y, cv=folds) - best
        error = np.sqrt((1 / 5 + 1 / 4) * apart.var(ddof=1))  # Nadeau and Bengio, 5 folds
        p = 2 * stats.t.sf(abs(apart.mean()) / error, 4)
        assert other.p_value == pytest.approx(p, rel=0.01)
        assert other.differs == (p < 0.05)
        assert other.to_dict()["differs"] is other.differs
    assert {each.differs for each in board.rows[1:]} == {True, False}
    lines = repr(board).splitlines()
    assert "significant" in lines[1]
    assert [line.split()[-3] for line in lines[3:]] == [
        "yes" if each.differs else "no" for each in board.rows[1:]
    ]


@pytest.mark.slow
def test_noise_is_seldom_taken_for_a_difference():
    rng, taken = np.random.default_rng(0), 0
    for _ in range(20):
        X, y = rng.normal(size=(60, 4)), rng.integers(0, 2, 60)
        board = compare({"a": LDA(), "b": LDA(shrinkage=0.9)}, X, y, cv=5)
        taken += bool(board.rows[1].differs)
    assert taken <= 3


def test_equal_ones_and_one_fold(cancer):
    X, y = cancer
    board = compare({"a": LDA(), "b": LDA()}, X, y, cv=3)
    assert (board.rows[1].differs, board.rows[1].p_value) == (False, 1.0)
    board = compare(
        {"a": LDA(), "b": AveragedPerceptron()}, X, y, cv=[(range(400), range(400, 569))]
    )
    assert board.rows[1].differs is None
    always = Leaderboard.of(
        [
            Standing(name, None, scores=np.full(3, value))
            for name, value in [("a", 0.9), ("b", 0.8)]
        ],
        "accuracy",
    )
    assert (always.rows[1].differs, always.rows[1].p_value) == (True, 0.0)


class Slow(LDA):
    """Takes its time to fit, and none to be asked."""

    def fit(self, X, y, sample_weight=None):
        sleep(0.05)
        return super().fit(X, y, sample_weight)

    def _needs_rows(self):
        return True


def test_the_time_of_a_fit_is_that_of_fits(cancer):
    X, y = cancer
    board = compare({"slow": Slow(), "svm": (LinearSVM(), {"C": [0.1, 1.0]})}, X, y, cv=3)
    assert 0.05 <= board["slow"].fit_seconds <= board["slow"].seconds / 3
    assert 0 < board["svm"].fit_seconds <= board["svm"].seconds / 6 * 1.01


@pytest.mark.slow
def test_the_best_of_a_grid_counts_and_of_equals_the_strongest_penalty(cancer):
    X, y = cancer
    grid = {"C": [0.001, 0.01, 0.1, 1.0]}
    (only,) = compare({"svm": (LinearSVM(), grid)}, X, y, cv=FOLDS)
    means = {C: cross_val_score(LinearSVM(C=C), X, y, cv=FOLDS).mean() for C in grid["C"]}
    assert only.params == {"C": max(means, key=means.get)}
    assert only.params["C"] == only.estimator.C
    np.testing.assert_allclose(only.tried_scores.mean(axis=0), list(means.values()), atol=1e-12)
    apart, label = np.array([[-2.0], [-1.0], [1.0], [2.0]] * 4), np.array([0, 0, 1, 1] * 4)
    (easy,) = compare({"svm": (LinearSVM(), {"C": [100.0, 1.0, 10.0]})}, apart, label, cv=2)
    assert easy.params == {"C": 1.0}


def test_a_metric_has_its_own_direction():
    X, y = load_diabetes(return_X_y=True)
    folds = KFold(3, shuffle=True, random_state=1)
    given = {"none": LeastSquares(), "ridge": (Ridge(), {"alpha": [0.01, 0.1, 1, 10]})}
    board = compare(given, X, y, cv=folds, scoring="rmse")
    assert (board.metric, board.greater_is_better) == ("rmse", False)
    for each in board:
        loss = cross_val_score(
            each.estimator, X, y, cv=folds, scoring="neg_root_mean_squared_error"
        )
        np.testing.assert_allclose(each.scores, -loss, rtol=1e-7)
    assert board.rows[0].mean <= board.rows[1].mean
    assert board.rows[1].difference >= 0
    theirs = compare(given, X, y, cv=folds, scoring="neg_root_mean_squared_error")
    assert [each.name for each in theirs] == [each.name for each in board]
    assert theirs.greater_is_better


def test_weights_in_learning_and_in_scores(cancer):
    X, y = cancer
    X, y = X[:120], y[:120]
    weight = np.random.default_rng(0).integers(1, 4, len(y)).astype(float)
    folds = list(FOLDS.split(X, y))
    given = {"sample_weight": weight, "score_weight": weight}
    board = compare({"lda": LDA(), "averaged": AveragedPerceptron()}, X, y, cv=folds, **given)
    for each in board:
        for k, (train, test) in enumerate(folds):
            model = fitted(each.estimator, X, y, train, weight)
            right = model.predict(X[test]) == y[test]
            assert each.scores[k] == pytest.approx(np.average(right, weights=weight[test]))


def test_groups(cancer):
    X, y = cancer
    groups = np.arange(len(y)) % 7
    board = compare({"lda": LDA()}, X, y, cv=GroupKFold(3), groups=groups)
    expected = cross_val_score(LDA(), X, y, cv=GroupKFold(3), groups=groups)
    np.testing.assert_allclose(board.best.scores, expected, rtol=1e-12)


def test_one_that_fails_is_listed_with_the_reason(cancer):
    X, y = cancer
    board = compare({"counts": MultinomialNB(), "lda": LDA()}, X, y, cv=3)
    assert [each.name for each in board] == ["lda", "counts"]
    assert "below 0" in board["counts"].failed or "negative" in board["counts"].failed.lower()
    assert np.isnan(board["counts"].mean)
    assert board.to_dict()["learners"][1]["mean"] is None
    assert "counts failed: " in repr(board)
    with pytest.raises(ValueError, match=r"No learner could be validated\. counts: "):
        compare({"counts": MultinomialNB()}, X, y, cv=3)


def test_what_a_metric_needs_is_asked_for_before_the_work(cancer):
    X, y = cancer
    given = {"svm": LinearSVM(), "lda": LDA()}
    board = compare(given, X, y, cv=3, scoring="log_loss")
    assert board["svm"].failed == "LinearSVM gives no probabilities, which log_loss needs."
    expected = cross_val_score(LDA(), X, y, cv=3, scoring="neg_log_loss")
    np.testing.assert_allclose(board["lda"].scores, -expected, rtol=1e-6)


def test_warnings_are_kept_not_raised():
    X = np.array([[0.0, 1], [1, 0], [0, 1.1], [1.1, 0]] * 5)
    y = np.array([0, 1, 1, 0] * 5)
    board = compare({"perceptron": Perceptron(max_iter=2)}, X, y, cv=2)
    assert "stopped after 2 epochs" in board.best.warnings[0]


def test_progress_and_order_of_equals(cancer):
    X, y = cancer
    seen = []
    given = {"b": LDA(), "a": LDA()}
    board = compare(given, X, y, cv=2, progress=lambda *told: seen.append(told))
    assert seen == [(0, 2, "b"), (1, 2, "a")]
    assert [each.name for each in board] == ["b", "a"]
    assert board.as_good() == [board["a"]]


def test_threads_give_the_same_scores(cancer):
    X, y = cancer
    given = {"logistic": (LogisticRegression(), {"C": [0.1, 1, 10]})}
    one, two = (compare(given, X, y, cv=3, n_jobs=n).best.tried_scores for n in (1, 2))
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "compare takes a dict of estimators by name"),
        ([LDA()], "compare takes a dict"),
        ({"a": (LDA(), 3)}, r"'a' must be an estimator or a pair"),
    ],
)
def test_wrong_use(given, message, cancer):
    with pytest.raises(ValueError, match=message):
        compare(given, *cancer)
    with pytest.raises(KeyError):
        Leaderboard((), "accuracy")["nobody"]


def test_the_classes_that_a_fold_lacks():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), np.array([0] * 14 + [1] * 14 + [2] * 2)
    folds = [(np.arange(1, 28), np.array([28, 29, 0])), (np.arange(2, 30), np.array([0, 1]))]
    board = compare({"logistic": LogisticRegression()}, X, y, cv=folds, scoring="log_loss")
    assert np.isfinite(board.best.scores).all()


def test_the_preferred_of_those_as_good_as_the_best(cancer):
    X, y = cancer
    given = {"lda": LDA(), "logistic": LogisticRegression(C=0.1), "svm": LinearSVM(C=0.1)}
    board = compare(given, X, y, cv=FOLDS)
    alike = {board.best.name, *(each.name for each in board.as_good())}
    for name in given:
        assert (board.preferred([name]).name == name) == (name in alike)
    assert board.preferred([]) is board.best


@pytest.mark.slow
def test_another_score_may_choose_among_parameters():
    X, y = load_iris(return_X_y=True)
    grid = {"C": [0.01, 100.0, 1e4]}
    cv = list(FOLDS.split(X, y))
    loss = MetricScorer(METRICS["log_loss"], np.unique(y))
    given = {"cv": cv, "scorer": MetricScorer(METRICS["accuracy"], np.unique(y)), "chooser": loss}
    learners = {"logistic": (LogisticRegression(), grid), "svm": (LinearSVM(), grid)}
    logistic, svm = standings_of(learners, X, y, **given)
    by_hand = [
        np.mean(cross_val_score(LogisticRegression(C=C), X, y, cv=cv, scoring="neg_log_loss"))
        for C in grid["C"]
    ]
    assert logistic.params["C"] == grid["C"][int(np.argmax(by_hand))]
    expected = cross_val_score(LogisticRegression(**logistic.params), X, y, cv=cv)
    np.testing.assert_allclose(logistic.scores, expected)
    assert svm.params["C"] == compare({"svm": learners["svm"]}, X, y, cv=cv).best.params["C"]


def test_a_number_of_folds_keeps_groups_together(cancer):
    X, y = cancer
    groups = np.arange(len(y)) // 7
    board = compare({"lda": LDA()}, X, y, cv=4, groups=groups)
    expected = cross_val_score(LDA(), X, y, cv=GroupKFold(4), groups=groups)
    np.testing.assert_allclose(board.best.scores, expected)


def test_accuracy_is_not_compared_with_r2(cancer):
    X, y = cancer
    given = {"ridge": Ridge(), "lda": LDA()}
    with pytest.raises(ValueError, match=r"'lda' is scored by accuracy and 'ridge' by R2"):
        compare(given, X, y)
    assert len(compare(given, X, y, scoring="neg_mean_squared_error")) == 2


def test_one_score_ranks(cancer):
    with pytest.raises(ValueError, match=r"scoring must be one score.*Got several: \['accuracy'"):
        compare({"lda": LDA()}, *cancer, scoring=["accuracy", "f1"])


def test_a_learner_that_fails_in_one_fold_is_not_as_good():
    good = Standing("good", None, scores=np.array([0.10, 0.11, 0.09, 0.10, 0.10]))
    near = Standing("near", None, scores=np.array([0.10, 0.122, 0.09, 0.096, 0.10]))
    wild = Standing("wild", None, scores=np.array([0.10, 0.11, 0.09, 0.10, 0.90]))
    board = Leaderboard.of([wild, near, good], "log_loss", greater_is_better=False)
    assert board["wild"].difference == pytest.approx(board["wild"].difference_error)
    assert [each.name for each in board.as_good()] == ["near"]
    assert board.preferred(["wild", "near", "good"]).name == "near"
