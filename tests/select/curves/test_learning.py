"""Learning curves beside fits to each size, and scikit-learn's curve on the same splits."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression as PeerLogistic
from sklearn.model_selection import learning_curve as peer_curve
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from separable import (
    LDA,
    AveragedPerceptron,
    ElasticNet,
    GroupLasso,
    Lasso,
    LassoCV,
    LeastSquares,
    LinearSVM,
    LinearSVR,
    LogisticRegression,
    LpRegression,
    MultinomialNB,
    Perceptron,
    Ridge,
    SGDClassifier,
    SGDRegressor,
    VotedPerceptron,
    WidrowHoff,
)
from separable.fitting.fold_fits import Problem
from separable.select import learning_curve
from separable.select.curves.learning import growing_fits
from separable.select.curves.training_sizes import Repetition, read_sizes, repetitions
from tests.select.doubles import NeedsRows, fitted

SPLITS = {"repeats": 3, "test_size": 0.3, "random_state": 0}


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X), y


@pytest.fixture(scope="module")
def three():
    X, y = load_iris(return_X_y=True)
    return X, np.array(["setosa", "versicolor", "virginica"])[y]


@pytest.fixture(scope="module")
def diabetes():
    X, y = load_diabetes(return_X_y=True)
    return 20 * X, y


def in_units(estimator, X, y, made, rows, weight=None, score_weight=None):
    """Return what the lecture measures of a fit to some rows, in plain NumPy."""
    answers = fitted(estimator, X, y, rows, weight).predict(X[made.test])
    truth = y[made.test]
    score_weight = np.ones(len(y)) if score_weight is None else score_weight
    mean = lambda values: np.average(values, weights=score_weight[made.test])  # noqa: E731
    if is_classifier(estimator):
        return 1 - mean(answers != truth)
    return mean((truth - y[made.train].mean()) ** 2) - mean((truth - answers) ** 2)


def by_fits(estimator, X, y, sizes, **weights):
    labels = y if is_classifier(estimator) else None
    made = repetitions(len(y), labels, None, **SPLITS)
    return np.array(
        [[in_units(estimator, X, y, one, one.train[:m], **weights) for one in made] for m in sizes]
    )


def quietly(call, *given, **named):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return call(*given, **named)


# ---------------------------------------------------------------------- the same as fits

ONCE = {"max_iter": 1, "shuffle": False}
CLASSIFIERS = [
    (LDA(shrinkage=0.1), "sums"),
    (LogisticRegression(tol=1e-9), "warm"),
    (LogisticRegression(tol=1e-9, multi_class="ovr", C=0.1), "warm"),
    (LogisticRegression(l1_ratio=1.0, tol=1e-8, C=0.5), "warm"),
    (LinearSVM(tol=1e-8, C=0.1), "warm"),
    (LinearSVM(tol=1e-8, loss="squared_hinge", standardize=True), "warm"),
    (Perceptron(**ONCE), "stream"),
    (AveragedPerceptron(**ONCE), "stream"),
    (VotedPerceptron(**ONCE), "stream"),
    (SGDClassifier(tol=None, **ONCE), "stream"),
    (AveragedPerceptron(max_iter=3), "refit"),
    (NeedsRows(), "refit"),
    (PeerLogistic(), "refit"),
    (make_pipeline(StandardScaler(), LogisticRegression(tol=1e-9)), "refit"),
]
REGRESSORS = [
    (LeastSquares(), "sums"),
    (Ridge(alpha=2.0), "sums"),
    (Lasso(alpha=1.0, tol=1e-9), "warm"),
    (ElasticNet(alpha=0.1, tol=1e-9), "warm"),
    (LinearSVR(tol=1e-8, C=10.0), "warm"),
    (GroupLasso(groups=[0] * 5 + [1] * 5, alpha=1.0, tol=1e-9), "warm"),
    (LpRegression(p=1, alpha=1.0, tol=1e-9), "warm"),
    (LpRegression(p="1/2", alpha=1.0), "refit"),
    (WidrowHoff(eta0=1e-3, **ONCE), "stream"),
    (SGDRegressor(tol=None, **ONCE), "stream"),
    (LassoCV(alphas=5, cv=3), "refit"),
]


def named(estimator_and_how):
    return f"{type(estimator_and_how[0]).__name__}-{estimator_and_how[1]}"


def assert_as_fits(estimator, how, X, y, sizes):
    curve = quietly(learning_curve, estimator, X, y, sizes=sizes, **SPLITS)
    assert set(curve.how[1:]) == {how}
    np.testing.assert_array_equal(curve.sizes, sizes)
    expected = quietly(by_fits, estimator, X, y, sizes)
    scale = 1.0 if is_classifier(estimator) else np.var(y)
    loose = {"warm": 2e-5, "sums": 1e-8}.get(how, 1e-12)  # of the number to predict, squared
    np.testing.assert_allclose(curve.scores, expected, rtol=0, atol=loose * scale)


@pytest.mark.parametrize(("estimator", "how"), CLASSIFIERS, ids=map(named, CLASSIFIERS))
def test_classifiers_as_fits_to_each_size(estimator, how, three):
    X, y = three
    assert_as_fits(estimator, how, X, y, [30, 60, 105])


@pytest.mark.parametrize(
    ("estimator", "how"),
    [
        pytest.param(*each, id=named(each), marks=pytest.mark.long if k % 3 else ())
        for k, each in enumerate(CLASSIFIERS)
    ],
)
def test_classifiers_of_two_classes_as_fits_to_each_size(estimator, how, cancer):
    X, y = cancer
    assert_as_fits(estimator, how, X, y, [40, 90, 200])


@pytest.mark.parametrize(("estimator", "how"), REGRESSORS, ids=map(named, REGRESSORS))
def test_regressors_as_fits_to_each_size(estimator, how, diabetes):
    assert_as_fits(estimator, how, *diabetes, [60, 120, 300])


def test_warm_models_are_the_optimum_within_their_certificates(cancer):
    X, y = cancer
    found = []

    def keep(model, rows, answers):
        del rows, answers
        found.append((model.coef_.copy(), model.certificate_.gap))
        return 0.0

    learner, sizes = LogisticRegression(tol=1e-6), [50, 100, 200]
    learning_curve(learner, X, y, sizes=sizes, scoring=keep, **SPLITS)
    made = repetitions(len(y), y, None, **SPLITS)
    fits = [clone(learner).fit(X[one.train[:m]], y[one.train[:m]]) for one in made for m in sizes]
    for (w, gap), cold in zip(found, fits, strict=True):
        apart = np.sqrt(2 * gap) + np.sqrt(2 * cold.certificate_.gap)
        assert np.linalg.norm(w - cold.coef_) <= apart


def test_as_by_scikit_learn_on_the_same_splits(cancer):
    X, y = cancer
    made = repetitions(len(y), y, None, **SPLITS)
    splits = [(one.train, one.test) for one in made]
    sizes = [20, 100, 380]
    for estimator, scoring in [(LDA(shrinkage=0.1), None), (PeerLogistic(), "roc_auc")]:
        _, _, theirs = peer_curve(estimator, X, y, train_sizes=sizes, cv=splits, scoring=scoring)
        ours = learning_curve(estimator, X, y, sizes=sizes, scoring=scoring, **SPLITS)
        np.testing.assert_allclose(ours.scores, theirs, atol=1e-12)


def test_weights_in_learning_and_in_scores(cancer, diabetes):
    for (X, y), estimators in [
        (cancer, (LDA(shrinkage=0.1), LogisticRegression(tol=1e-9), Perceptron(**ONCE))),
        (diabetes, (Ridge(), Lasso(alpha=1.0, tol=1e-9))),
    ]:
        weight = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
        weights = {"weight": weight, "score_weight": 1 + weight}
        for estimator in estimators:
            expected = quietly(by_fits, estimator, X, y, [50, 200], **weights)
            curve = quietly(
                learning_curve, estimator, X, y, sizes=[50, 200], sample_weight=weight,
                score_weight=1 + weight, **SPLITS,
            )  # fmt: skip
            np.testing.assert_allclose(curve.scores, expected, atol=1e-5 * np.var(y))


def test_wide_rows_are_solved_from_the_rows():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 60)), rng.normal(size=120)
    curve = learning_curve(Ridge(), X, y, sizes=[20, 40, 80], **SPLITS)
    assert curve.how == ("refit", "refit", "sums")
    np.testing.assert_allclose(curve.scores, by_fits(Ridge(), X, y, [20, 40, 80]), atol=1e-8)


def test_a_class_that_comes_late_is_fitted_anew(three):
    X, y = three
    order = np.argsort(np.where(y == "virginica", 1, 0), kind="stable")[::2]
    made = Repetition(order[np.argsort(np.arange(75) % 50 + (np.arange(75) >= 50) * 50)], order[:1])
    problem = Problem(Perceptron(**ONCE), X, y, len(y), None)
    for sizes, how in [([40, 60, 75], "refit"), ([60, 75], "stream")]:
        fits = growing_fits(problem, made, np.array(sizes))
        folds = [quietly(each.fit) for each in fits]
        assert folds[-1].how == how
        cold = quietly(fitted, problem.estimator, X, y, made.train)
        np.testing.assert_array_equal(folds[-1].estimator.coef_, cold.coef_)


# ---------------------------------------------------------------------- units


def test_the_baseline_is_the_best_constant(cancer, diabetes):
    X, y = cancer
    curve = learning_curve(LDA(shrinkage=0.1), X, y, sizes=[50], **SPLITS)
    made = repetitions(len(y), y, None, **SPLITS)
    errors = [np.mean(y[one.test] != np.bincount(y[one.train]).argmax()) for one in made]
    np.testing.assert_allclose(curve.constant_errors, errors)
    assert curve.baseline == pytest.approx(1 - np.mean(errors))
    assert (curve.metric, curve.ceiling) == ("1 - error rate", 1.0)
    X, y = diabetes
    curve = learning_curve(LeastSquares(), X, y, sizes=[100], **SPLITS)
    made = repetitions(len(y), None, None, **SPLITS)
    mse0 = [np.mean((y[one.test] - y[one.train].mean()) ** 2) for one in made]
    np.testing.assert_allclose(curve.constant_errors, mse0)
    assert (curve.metric, curve.baseline) == ("MSE0 - MSE", 0.0)
    assert curve.ceiling == pytest.approx(np.mean(mse0))


def test_several_numbers_at_once():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3))
    Y = X @ rng.normal(size=(3, 2)) + 0.1 * rng.normal(size=(90, 2))
    curve = learning_curve(LeastSquares(), X, Y, sizes=[20, 60], **SPLITS)
    each = [learning_curve(LeastSquares(), X, y, sizes=[20, 60], **SPLITS).scores for y in Y.T]
    np.testing.assert_allclose(curve.scores, np.mean(each, axis=0), rtol=1e-9)


def test_metrics_keep_their_direction(cancer):
    X, y = cancer
    learner = LogisticRegression()
    ours = learning_curve(learner, X, y, sizes=[50, 300], scoring="log_loss", **SPLITS)
    theirs = learning_curve(learner, X, y, sizes=[50, 300], scoring="neg_log_loss", **SPLITS)
    np.testing.assert_allclose(ours.scores, -theirs.scores, rtol=1e-6)
    assert (ours.greater_is_better, theirs.greater_is_better) == (False, True)
    assert (ours.baseline, ours.constant_errors, ours.ceiling) == (None, None, 0.0)


# ---------------------------------------------------------------------- rows and sizes


@settings(max_examples=60)
@given(
    st.integers(12, 80), st.integers(1, 4), st.integers(0, 9), st.floats(0.1, 0.6), st.booleans()
)
def test_parts_are_disjoint_and_classes_in_proportion(n, repeats, seed, share, with_classes):
    labels = np.arange(n) % 3 if with_classes else None
    given = {"repeats": repeats, "test_size": share, "random_state": seed}
    made = repetitions(n, labels, None, **given)
    assert len(made) == repeats
    for one in made:
        assert not set(one.train) & set(one.test)
        assert sorted([*one.train, *one.test]) == list(range(n))
        if labels is not None:
            assert len(set(labels[one.train[:6]].tolist())) == 3
            for m in range(6, len(one.train) + 1):
                counts = np.bincount(labels[one.train[:m]], minlength=3)
                shares = np.bincount(labels[one.train], minlength=3) / len(one.train)
                assert np.abs(counts - m * shares).max() <= 2.5
    again = repetitions(n, labels, None, **given)
    assert all(np.array_equal(a.train, b.train) for a, b in zip(made, again, strict=True))
    sizes = read_sizes(None, made, labels)
    assert 1 <= len(sizes) <= 9
    assert (np.diff(sizes) > 0).all()
    assert sizes[-1] == len(made[0].train)


def test_two_rows_of_each_class_come_first():
    labels = np.repeat([0, 1, 2], [500, 6, 4])
    (one,) = repetitions(510, labels, None, repeats=1, test_size=0.3, random_state=0)
    assert np.bincount(labels[one.train[:6]]).tolist() == [2, 2, 2]
    assert read_sizes(None, [one], labels)[0] == 10


def test_groups_stay_together_and_come_one_behind_the_other(three):
    X, y = three
    groups = np.random.default_rng(0).integers(0, 15, len(y))
    made = repetitions(len(y), y, groups, **SPLITS)
    for one in made:
        assert not set(groups[one.train]) & set(groups[one.test])
        runs = np.count_nonzero(np.diff(groups[one.train])) + 1
        assert runs == len(set(groups[one.train]))
        assert 0.15 * len(y) <= len(one.test) <= 0.45 * len(y)
    assert len({len(one.train) for one in made}) == 1
    curve = learning_curve(LDA(shrinkage=0.1), X, y, groups=groups, **SPLITS)
    assert curve.sizes[-1] == len(made[0].train)


def test_sizes_as_shares_and_as_rows(cancer):
    X, y = cancer
    n = len(repetitions(len(y), y, None, **SPLITS)[0].train)
    curve = learning_curve(LDA(shrinkage=0.1), X, y, sizes=[1.0, 0.25, 0.5], **SPLITS)
    assert curve.sizes.tolist() == [int(n * 0.25), int(n * 0.5), n]
    usual = learning_curve(MultinomialNB(), np.abs(X), y, **SPLITS)
    assert len(usual.sizes) == 9
    ratios = usual.sizes[1:] / usual.sizes[:-1]
    assert ratios.max() / ratios.min() < 1.15


@pytest.mark.slow
def test_any_kind_of_rows(cancer):
    X, y = cancer
    X = np.where(np.abs(X) > 1, X, 0.0)
    given = {"sizes": [60, 300], **SPLITS}
    for estimator in (LDA(shrinkage=0.1), LogisticRegression(tol=1e-9), Perceptron(**ONCE)):
        dense = quietly(learning_curve, estimator, X, y, **given).scores
        for other in (
            sp.csr_matrix(X), sp.csc_array(X), X.astype(np.float32),
            pd.DataFrame(X, columns=[f"c{k}" for k in range(30)]),
        ):  # fmt: skip
            found = quietly(learning_curve, estimator, other, y, **given).scores
            np.testing.assert_allclose(found, dense, atol=0.02)


@pytest.mark.long
def test_processes_change_nothing(cancer):
    X, y = cancer
    alone = learning_curve(LogisticRegression(), X, y, sizes=[40, 80], **SPLITS)
    shared = learning_curve(LogisticRegression(), X, y, sizes=[40, 80], n_jobs=2, **SPLITS)
    np.testing.assert_array_equal(alone.scores, shared.scores)
    assert alone.how == shared.how


def test_the_estimator_stays_as_it_is(cancer):
    X, y = cancer
    learner = LogisticRegression(C=0.5)
    before = learner.get_params()
    learning_curve(learner, X, y, sizes=[40, 80], **SPLITS)
    assert learner.get_params() == before
    assert not hasattr(learner, "_model")


# ---------------------------------------------------------------------- results, errors, warnings


def test_results_as_text_and_as_plain_values(cancer):
    X, y = cancer
    curve = learning_curve(LDA(shrinkage=0.1), X, y, sizes=[20, 40, 80, 160, 320], **SPLITS)
    np.testing.assert_allclose(curve.mean, curve.scores.mean(axis=1))
    np.testing.assert_allclose(curve.standard_error, curve.scores.std(axis=1, ddof=1) / np.sqrt(3))
    plain = json.loads(json.dumps(curve.to_dict()))
    assert plain["sizes"] == [20, 40, 80, 160, 320]
    assert plain["forecast"]["sizes"] == [640, 1280]
    text = repr(curve)
    assert text == curve.to_text()
    for part in ("LDA, 3 repetitions, 171 rows held out", "1 - error rate", "Forecast"):
        assert part in text


def test_warnings_come_once():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), rng.integers(0, 2, 60)
    with pytest.warns(ConvergenceWarning, match=r"in 6 of 6 fits, first in fit 0") as caught:
        learning_curve(Perceptron(max_iter=2), X, y, sizes=[20, 40], **SPLITS)
    assert len(caught) == 1


class Untyped(BaseEstimator):
    """Neither a classifier nor a regressor."""

    def fit(self, X, y):
        self.n_ = len(X)
        return self

    def predict(self, X):
        return np.zeros(len(X))

    def score(self, X, y):
        return float(self.n_)


def test_one_that_is_neither_is_asked_for_its_own_score():
    curve = learning_curve(Untyped(), np.zeros((50, 1)), np.zeros(50), sizes=[10, 30], repeats=2)
    np.testing.assert_array_equal(curve.scores, [[10, 10], [30, 30]])
    assert (curve.metric, curve.baseline) == ("score", None)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"repeats": 0}, "repeats must be an int >= 1. Got 0"),
        ({"test_size": 1.0}, "test_size must be a float above 0 and below 1. Got 1.0"),
        ({"random_state": None}, "random_state must be an int >= 0. Got None"),
        ({"sizes": []}, "sizes must be None, ints"),
        ({"sizes": ["a"]}, "sizes must be None, ints"),
        ({"sizes": [0.5, 1.5]}, "sizes that are floats are fractions"),
        ({"sizes": [0, 5]}, "A size must be from 1 to 105.*Got 0"),
        ({"sizes": [5, 106]}, "A size must be from 1 to 105.*Got 106"),
        ({"groups": [1, 2]}, r"groups must name one group a row, shape \(150,\)"),
        ({"groups": [1] * 150}, "groups has only one group"),
        ({"scoring": ["accuracy", "f1"]}, "A learning curve has one score"),
        ({"scoring": "log_loss", "estimator": LinearSVM()}, "gives no probabilities"),
        ({"y": None}, "y is None"),
        ({"y": [0] * 150}, "class"),
        ({"y": [0.0, np.nan] * 75}, "NaN"),
        ({"y": [0, 1]}, "inconsistent numbers"),
    ],
)
def test_errors(three, changed, message):
    X, y = three
    given = {"estimator": LDA(), "X": X, "y": y, **changed}
    with pytest.raises(ValueError, match=message):
        learning_curve(**given)


def test_bad_rows_are_named():
    X, y = load_diabetes(return_X_y=True)
    X[7, 3] = np.inf
    with pytest.raises(ValueError, match=r"row 7"):
        learning_curve(LeastSquares(), X, y)
    X[7, 3], y[3] = 0.0, np.nan
    with pytest.raises(ValueError, match=r"row 3 holds nan"):
        learning_curve(LeastSquares(), X, y)


def test_an_error_says_which_fit_it_was(three):
    X, y = three
    with pytest.raises(ValueError, match="class") as caught:
        learning_curve(PeerLogistic(), X, y, sizes=[1, 20])
    assert "a fit to 1 rows, in repetition 0" in caught.value.__notes__[-1]
