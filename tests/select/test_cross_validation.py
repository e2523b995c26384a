"""``cross_validate``: equal to refitting, fold by fold, in every score and prediction."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.linear_model import Perceptron as PeerPerceptron
from sklearn.metrics import get_scorer, make_scorer, mean_squared_error
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneOut,
    PredefinedSplit,
    RepeatedKFold,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
    check_cv,
)
from sklearn.model_selection import cross_validate as peer_cross_validate
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from separable import (
    BernoulliNB,
    ComplementNB,
    LeastSquares,
    LeastSquaresClassifier,
    MultinomialNB,
    Perceptron,
    SGDRegressor,
)
from separable.moments.regression.rank_warning import RankWarning
from separable.select import cross_validate, leave_one_out
from tests.select.doubles import Discriminant, NeedsRows, fitted

CVS = {
    "k-fold": 5,
    "shuffled": KFold(4, shuffle=True, random_state=0),
    "two": 2,
    "repeated": RepeatedKFold(n_splits=3, n_repeats=2, random_state=0),
    "shuffles": ShuffleSplit(4, test_size=0.3, random_state=0),
    "time": TimeSeriesSplit(3),
    "groups": GroupKFold(3),
    "leave-one-out": LeaveOneOut(),
    "predefined": PredefinedSplit(np.tile([-1, 0, 1, 2], 15)),
}
FORMATS = {
    "dense": np.ascontiguousarray,
    "float32": lambda X: X.astype(np.float32),
    "fortran": np.asfortranarray,
    "csr": sp.csr_array,
    "csc": sp.csc_matrix,
}
#: In an ordinary run each way to split meets two formats, and each format three or four ways.
CVS_AND_FORMATS = pytest.mark.parametrize(
    ("name", "form"),
    [
        pytest.param(name, form, marks=() if (i + k) % 5 in (0, 3) else pytest.mark.long)
        for i, name in enumerate(CVS)
        for k, form in enumerate(FORMATS)
    ],
)


def regression(seed=0, n=60, d=4, t=None, noise=0.5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.6) + np.arange(d)
    y = X @ rng.normal(size=(d, t or 1)) + noise * rng.normal(size=(n, t or 1)) + 3
    return X, y if t else y[:, 0]


def classification(seed=0, n=60, d=4, classes=3):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % classes)
    X = (rng.normal(size=(n, d)) + np.eye(classes, d)[y] * 1.5) * (rng.random((n, d)) < 0.7)
    return X, y


def compare_with_refits(found, estimator, X, y, cv, metrics, weight=None, groups=None):
    """Fit every fold anew and compare everything."""
    classifier = metrics[0] == "accuracy"
    splits = list(check_cv(cv, y, classifier=classifier).split(X, y, groups))
    X = X.tocsr() if sp.issparse(X) else X
    assert found.n_folds == len(splits)
    for k, (train, test) in enumerate(splits):
        one = fitted(estimator, X, y, train, weight)
        mine = (found.fold == k).nonzero()[0]
        place = np.argsort(test, kind="stable")
        np.testing.assert_array_equal(found.rows[mine], test[place])
        assert (found.n_train[k], found.n_test[k]) == (len(train), len(test))
        expected = one.predict(X[test])[place]
        if classifier:
            np.testing.assert_array_equal(found.predictions[mine], expected)
            np.testing.assert_allclose(
                found.decision_scores[mine],
                one.decision_function(X[test])[place],
                rtol=1e-8,
                atol=1e-8,
            )
            np.testing.assert_allclose(
                found.probabilities[mine], one.predict_proba(X[test])[place], rtol=1e-8, atol=1e-10
            )
        else:
            scale = np.abs(expected).max()
            np.testing.assert_allclose(
                found.predictions[mine], expected, rtol=1e-8, atol=1e-8 * scale
            )
        for metric in metrics:
            score = get_scorer(metric)(one, X[test], y[test])
            np.testing.assert_allclose(found.scores[metric][k], score, rtol=1e-8, atol=1e-10)


@CVS_AND_FORMATS
def test_regression_from_sums_equals_refitting(name, form):
    X, y = regression()
    X, cv, groups = FORMATS[form](X), CVS[name], np.arange(60) % 7 if name == "groups" else None
    metrics = ["neg_mean_squared_error", "neg_median_absolute_error"]
    found = cross_validate(LeastSquares(), X, y, cv, metrics, groups=groups)
    compare_with_refits(found, LeastSquares(), X, y, cv, metrics, groups=groups)
    assert found.how.count("sums") >= 0.9 * found.n_folds
    assert found.classes is found.decision_scores is found.probabilities is None


@CVS_AND_FORMATS
@pytest.mark.parametrize("classes", [2, 3])
def test_classification_from_sums_equals_refitting(name, form, classes):
    X, y = classification(classes=classes)
    X, cv, groups = FORMATS[form](X), CVS[name], np.arange(60) % 7 if name == "groups" else None
    found = cross_validate(Discriminant(), X, y, cv, ["accuracy"], groups=groups)
    compare_with_refits(found, Discriminant(), X, y, cv, ["accuracy"], groups=groups)
    assert set(found.how) == {"sums"}
    np.testing.assert_array_equal(found.classes, np.arange(classes))


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "estimator",
    [
        MultinomialNB(alpha=0.1),
        MultinomialNB(fit_prior=False),
        ComplementNB(),
        ComplementNB(norm=True),
        BernoulliNB(alpha=0.3),
        BernoulliNB(binarize=None),
    ],
    ids=str,
)
def test_naive_bayes_of_texts_from_sums_equals_refitting(estimator, weighted, classes):
    """Each fold uses few of the columns, and held-out rows some that no other row has."""
    rng = np.random.default_rng(classes)
    X = sp.random(40, 2000, 0.01, "csr", random_state=rng)
    if estimator.get_params().get("binarize", 0.0) is not None:
        X.data = rng.integers(1, 9, X.nnz) / 4
    y = np.arange(40) % classes
    weight = rng.choice([0.5, 1.0, 3.0], 40) if weighted else None
    cv = StratifiedKFold(4, shuffle=True, random_state=0)
    found = cross_validate(estimator, X, y, cv, "accuracy", sample_weight=weight)
    assert set(found.how) == {"sums"}
    for train, test in cv.split(X, y):
        given = None if weight is None else weight[train]
        one = clone(estimator).fit(X[train], y[train], sample_weight=given)
        np.testing.assert_allclose(
            found.decision_scores[test], one.decision_function(X[test]), rtol=1e-10, atol=1e-10
        )
        np.testing.assert_array_equal(found.predictions[test], one.predict(X[test]))


@pytest.mark.slow
@given(
    seed=st.integers(0, 2**31),
    n=st.integers(12, 80),
    d=st.integers(1, 6),
    folds=st.integers(2, 12),
    shuffle=st.booleans(),
    weigh=st.sampled_from(["no", "some", "zeros"]),
    shift=st.sampled_from([0.0, 1e6]),
    t=st.sampled_from([None, 2]),
)
@settings(max_examples=settings().max_examples // 3)
def test_any_regression(seed, n, d, folds, shuffle, weigh, shift, t):
    X, y = regression(seed, n, d, t)
    X += shift
    rng = np.random.default_rng(seed)
    weight = {
        "no": None,
        "some": rng.random(n) + 0.1,
        "zeros": rng.integers(0, 3, n).astype(float),
    }[weigh]
    cv = KFold(min(folds, n), shuffle=shuffle, random_state=0 if shuffle else None)
    metrics = ["neg_mean_squared_error"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankWarning)
        found = cross_validate(LeastSquares(), X, y, cv, metrics, sample_weight=weight)
    compare_with_refits(found, LeastSquares(), X, y, cv, metrics, weight)


@pytest.mark.slow
@given(
    seed=st.integers(0, 2**31),
    n=st.integers(30, 80),
    classes=st.integers(2, 4),
    folds=st.integers(2, 5),
    weigh=st.booleans(),
)
@settings(max_examples=settings().max_examples // 2)
def test_any_classification(seed, n, classes, folds, weigh):
    X, y = classification(seed, n, classes=classes)
    y = np.array(["ant", "bee", "cat", "dog"])[y]
    rng = np.random.default_rng(seed)
    weight = rng.integers(1, 4, n) + 0.0 if weigh else None
    cv = StratifiedKFold(folds)
    found = cross_validate(Discriminant(), X, y, cv, ["accuracy"], sample_weight=weight)
    compare_with_refits(found, Discriminant(), X, y, cv, ["accuracy"], weight)


def test_folds_of_classifiers_are_stratified_and_the_table_adds_up():
    X, y = classification(n=61)
    order = np.argsort(y, kind="stable")
    found = cross_validate(Discriminant(), X[order], y[order])
    assert found.n_test.sum() == 61
    np.testing.assert_array_equal(found.rows, np.arange(61))
    folds = StratifiedKFold(5).split(X[order], y[order])
    for k, (_, test) in enumerate(folds):
        np.testing.assert_array_equal(np.flatnonzero(found.fold == k), test)
    assert list(found.scores) == ["accuracy"]
    scores = found.scores["accuracy"]
    assert found.mean["accuracy"] == pytest.approx(scores.mean())
    assert found.standard_error["accuracy"] == pytest.approx(scores.std(ddof=1) / 5**0.5)


# ------------------------------------------------------------------ digits


def test_columns_that_do_not_vary():
    X, y = regression(n=100)
    X = np.column_stack([X, np.full(100, 0.1), np.full(100, 1e8 + 0.1)])
    with pytest.warns(RankWarning, match=r"constant.*\[in 5 of 5 folds, first in fold 0\]"):
        found = cross_validate(LeastSquares(), X, y, 5, "neg_mean_squared_error")
    compare_with_refits(found, LeastSquares(), X, y, 5, ["neg_mean_squared_error"])


def test_columns_that_depend_on_each_other_are_refitted():
    X, y = regression(n=100)
    X = np.column_stack([X, X[:, 0] - X[:, 1]])
    with pytest.warns(RankWarning, match="is a linear combination of"):
        found = cross_validate(LeastSquares(), X, y, 5, "neg_mean_squared_error")
    assert set(found.how) == {"refit"}
    compare_with_refits(found, LeastSquares(), X, y, 5, ["neg_mean_squared_error"])


@pytest.mark.filterwarnings("ignore::separable.fitting.splits.OrderedRowsWarning")
def test_sums_that_refuse_are_refitted():
    x = np.linspace(0, 1, 60)
    X = x[:, None] ** np.arange(1, 9) + 1e-9 * np.random.default_rng(0).normal(size=(60, 8))
    y = np.sin(9 * x)
    found = cross_validate(LeastSquares(), X, y, 5, "neg_mean_squared_error")
    assert "refit" in found.how
    compare_with_refits(found, LeastSquares(), X, y, 5, ["neg_mean_squared_error"])


def test_a_line_without_noise_is_refitted_and_its_error_is_right():
    X, y = regression(noise=1e-7, n=100)
    found = cross_validate(LeastSquares(), X, y, 5, "neg_mean_squared_error")
    assert set(found.how) == {"refit"}
    for k, (train, test) in enumerate(KFold(5).split(X)):
        error = mean_squared_error(y[test], fitted(LeastSquares(), X, y, train).predict(X[test]))
        assert found.scores["neg_mean_squared_error"][k] == pytest.approx(-error, rel=1e-12)


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_extreme_columns(scale):
    X, y = regression(n=80)
    X = X * scale
    found = cross_validate(LeastSquares(), X, y, 4, "neg_mean_squared_error")
    compare_with_refits(found, LeastSquares(), X, y, 4, ["neg_mean_squared_error"])
    assert set(found.how) == {"sums"}


def test_more_columns_than_rows_is_refitted():
    X, y = regression(n=10, d=20)
    with pytest.warns(RankWarning, match="20 columns and 5 rows"):
        found = cross_validate(LeastSquares(), X, y, 2, "neg_mean_squared_error")
    assert found.how == ("refit", "refit")
    compare_with_refits(found, LeastSquares(), X, y, 2, ["neg_mean_squared_error"])


def test_sums_that_do_not_fit_in_memory_are_not_kept(monkeypatch):
    X, y = regression()
    monkeypatch.setattr("separable.moments.fold_sums.available_bytes", lambda: 5000)
    assert set(cross_validate(LeastSquares(), X, y, 20, "r2").how) == {"refit"}
    assert set(cross_validate(LeastSquares(), X, y, 2, "r2").how) == {"sums"}


def test_learners_that_need_the_rows_are_refitted():
    X, y = classification()
    found = cross_validate(NeedsRows(), X, y)
    assert set(found.how) == {"refit"}
    np.testing.assert_array_equal(
        found.predictions, cross_validate(Discriminant(), X, y).predictions
    )


# ------------------------------------------------------------------ as scikit-learn does


@pytest.mark.parametrize(
    ("estimator", "scoring"),
    [
        (LinearRegression(), ["r2", "neg_root_mean_squared_error", "neg_max_error"]),
        (LeastSquares(), ["r2", "neg_root_mean_squared_error", "neg_max_error"]),
        (make_pipeline(StandardScaler(), LeastSquares()), ["r2", "neg_mean_absolute_error"]),
        (SGDRegressor(max_iter=20, tol=None), ["r2"]),
    ],
)
def test_scores_of_regression_are_those_of_scikit_learn(estimator, scoring):
    X, y = regression(n=90)
    cv = KFold(4, shuffle=True, random_state=1)
    found = cross_validate(estimator, X, y, cv, scoring)
    peer = peer_cross_validate(estimator, X, y, cv=cv, scoring=scoring)
    for name in scoring:
        np.testing.assert_allclose(found.scores[name], peer[f"test_{name}"], rtol=1e-8)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(
    "estimator",
    [Discriminant(), LogisticRegression(), KNeighborsClassifier(), Perceptron(max_iter=50)],
    ids=lambda e: type(e).__name__,
)
@pytest.mark.filterwarnings("ignore:Perceptron stopped")
def test_scores_of_classification_are_those_of_scikit_learn(estimator, classes):
    X, y = classification(n=90, classes=classes)
    scoring = ["accuracy", "f1_macro", "balanced_accuracy"]
    if classes == 2:
        scoring += ["roc_auc", "average_precision", "f1", "precision", "recall"]
    if hasattr(estimator, "predict_proba"):
        scoring += ["neg_log_loss", "roc_auc_ovr"]
    found = cross_validate(estimator, X, y, 3, scoring)
    peer = peer_cross_validate(estimator, X, y, cv=3, scoring=scoring)
    for name in scoring:
        np.testing.assert_allclose(found.scores[name], peer[f"test_{name}"], rtol=1e-8)
    assert set(found.how) == {"sums" if isinstance(estimator, Discriminant) else "refit"}


def test_every_form_of_scoring():
    X, y = regression()
    error = make_scorer(mean_squared_error, greater_is_better=False)
    seen = []

    def spread(estimator, X, y):
        seen.append(estimator.coef_)
        return {"low": -1.0, "high": float(len(y))}

    both = cross_validate(LeastSquares(), X, y, 3, {"a": "neg_mean_squared_error", "b": error})
    np.testing.assert_allclose(both.scores["a"], both.scores["b"], rtol=1e-12)
    assert list(cross_validate(LeastSquares(), X, y, 3, error).scores) == ["mean_squared_error"]
    assert list(cross_validate(LeastSquares(), X, y, 3).scores) == ["r2"]
    pipe = make_pipeline(StandardScaler(), LeastSquares())
    assert list(cross_validate(pipe, X, y, 3).scores) == ["r2"]
    assert list(cross_validate(Discriminant(), X, y > np.median(y), 3).scores) == ["accuracy"]
    several = cross_validate(LeastSquares(), X, y, 3, spread)
    assert several.mean == {"low": -1.0, "high": 20.0}
    assert len(seen) == 3


def test_an_own_score_is_the_default():
    class Own(LinearRegression):
        def score(self, X, y, sample_weight=None):
            return 7.0

    X, y = regression()
    assert cross_validate(Own(), X, y, 3).mean == {"score": 7.0}


def test_data_frames_lists_and_pandas_targets():
    X, y = regression()
    frame = pd.DataFrame(X, columns=list("abcd"))
    plain = cross_validate(LeastSquares(), X, y, 4)
    for mine, target in ((frame, pd.Series(y)), (X.tolist(), y.tolist()), (frame, y)):
        found = cross_validate(LeastSquares(), mine, target, 4)
        assert set(found.how) == {"sums"}
        np.testing.assert_allclose(found.predictions, plain.predictions, rtol=1e-12)
    shuffled = KFold(4, shuffle=True, random_state=0)
    one = cross_validate(LeastSquares(), frame, pd.Series(y), shuffled)
    two = cross_validate(LeastSquares(), X, y, shuffled)
    np.testing.assert_allclose(one.predictions, two.predictions, rtol=1e-12)


# ------------------------------------------------------------------ weights


def test_weights_are_for_learning_and_score_weights_for_scores():
    X, y = regression(n=80)
    rng = np.random.default_rng(3)
    weight = rng.integers(1, 4, 80).astype(float)
    plain = cross_validate(LeastSquares(), X, y, 4, "neg_mean_squared_error", sample_weight=weight)
    compare_with_refits(plain, LeastSquares(), X, y, 4, ["neg_mean_squared_error"], weight)
    both = cross_validate(
        LeastSquares(), X, y, 4, "neg_mean_squared_error", weight, score_weight=weight
    )
    np.testing.assert_array_equal(both.predictions, plain.predictions)
    # weight k is the row k times, all of them in one fold
    times = weight.astype(int)
    repeated = cross_validate(
        LeastSquares(),
        np.repeat(X, times, axis=0),
        np.repeat(y, times),
        PredefinedSplit(np.repeat(np.arange(80) // 20, times)),
        "neg_mean_squared_error",
    )
    np.testing.assert_allclose(
        both.scores["neg_mean_squared_error"],
        repeated.scores["neg_mean_squared_error"],
        rtol=1e-10,
    )


@pytest.mark.filterwarnings("ignore::separable.fitting.splits.OrderedRowsWarning")
def test_rows_of_weight_0_teach_nothing_but_are_predicted():
    X, y = regression(n=40)
    y[:5] += 100
    weight = np.ones(40)
    weight[:5] = 0
    found = cross_validate(LeastSquares(), X, y, 4, "neg_mean_squared_error", sample_weight=weight)
    compare_with_refits(found, LeastSquares(), X, y, 4, ["neg_mean_squared_error"], weight)
    assert len(found.predictions) == 40
    with pytest.raises(ValueError, match="All held-out rows of the fold have score_weight 0") as e:
        cross_validate(LeastSquares(), X, y, 8, score_weight=weight)
    assert e.value.__notes__ == ["This was fold 0 of 8, counted from 0."]


def test_weights_reach_the_last_step_of_a_pipeline():
    X, y = regression()
    weight = np.random.default_rng(0).random(60)
    pipe = make_pipeline(StandardScaler(), LinearRegression())
    found = cross_validate(pipe, X, y, 3, sample_weight=weight)
    plain = cross_validate(LinearRegression(), X, y, 3, sample_weight=weight)
    np.testing.assert_allclose(found.predictions, plain.predictions, rtol=1e-9)
    with pytest.raises(ValueError, match="KNeighborsClassifier learns without sample_weight"):
        cross_validate(KNeighborsClassifier(), X, y > 3, 3, sample_weight=weight)


# ------------------------------------------------------------------ classes that are missing


def test_a_class_that_a_fold_lacks_is_as_in_refitting():
    X, y = classification(n=30, classes=3)
    y = np.sort(y)
    splits = [(np.arange(20), np.arange(20, 30)), (np.arange(10, 30), np.arange(10))]
    splits.append((np.r_[0:5, 12:30], np.r_[5:12]))
    found = cross_validate(Discriminant(), X, y, splits)
    assert found.how == ("sums",) * 3
    for k, (train, test) in enumerate(splits):
        one = fitted(Discriminant(), X, y, train)
        mine = found.fold == k
        np.testing.assert_array_equal(found.predictions[mine], one.predict(X[test]))
        at = np.searchsorted(found.classes, one.classes_)
        np.testing.assert_allclose(
            found.probabilities[mine][:, at], one.predict_proba(X[test]), rtol=1e-9
        )
        assert found.probabilities[mine].sum() == pytest.approx(len(test))
        if k < 2:
            score = one.decision_function(X[test])
            np.testing.assert_allclose(found.decision_scores[mine][:, at[1]], score, rtol=1e-9)
            assert (found.decision_scores[mine][:, at[0]] == 0).all()
            gone = 2 - 2 * k
            assert (found.decision_scores[mine][:, gone] == -np.inf).all()


@pytest.mark.parametrize("learner", [MultinomialNB, BernoulliNB, ComplementNB])
def test_one_class_alone_is_refused_by_naive_bayes_too(learner):
    X, y = np.arange(14.0).reshape(7, 2), np.array([0, 0, 0, 0, 0, 1, 1])
    splits = [([0, 1, 5, 6], [2, 3, 4]), ([0, 1, 2, 3, 4], [5, 6])]
    with pytest.raises(ValueError, match="only one class: 0") as refused:
        cross_validate(learner(), X, y, splits)
    assert "fold 1 of 2" in refused.value.__notes__[0]


@pytest.mark.parametrize("validate", [cross_validate, leave_one_out])
def test_a_scorer_that_asks_for_what_is_not_there_names_the_learner(validate):
    X, y = np.random.default_rng(0).normal(size=(30, 2)), np.arange(30) % 2
    with pytest.raises(AttributeError, match=r"'neg_log_loss'.*LeastSquaresClassifier.*proba"):
        validate(LeastSquaresClassifier(), X, y, scoring="neg_log_loss")


def test_one_class_alone_is_refused_as_in_fitting():
    X, y = classification(n=20, classes=2)
    y = np.sort(y)
    with pytest.raises(ValueError, match="needs at least two classes") as caught:
        cross_validate(Discriminant(), X, y, KFold(2))
    assert caught.value.__notes__ == ["This was fold 0 of 2, counted from 0."]
    with pytest.raises(ValueError, match="class"):
        cross_validate(PeerPerceptron(), X, y, KFold(2))


# ------------------------------------------------------------------ bad input


@pytest.mark.parametrize(
    ("cv", "message"),
    [
        (11, "Cannot have number of splits n_splits=11 greater than the number of samples"),
        (1, "cv must be a number of folds, 2 or more, .*Got 1"),
        ([], "cv gives no folds"),
        ([([0, 1, 2], [])], "Fold 0 has no test rows"),
        ([([0, 1, 2], [3]), ([], [3])], "Fold 1 has no train rows"),
        ([([0, 1, 2], [2, 3])], "Fold 0 trains on row 2, which it also holds out"),
        ([([0, 1, 2], [10])], r"Fold 0 names test row 10, but rows are numbered 0 \.\.\. 9"),
        ([([0, -1], [1])], "Fold 0 names train row -1"),
        ([([0.0, 1.0], [2])], "The train rows of fold 0 are float64. Give row numbers"),
        ("five", "cv must be a number of folds, .*Got 'five'"),
    ],
)
def test_bad_folds(cv, message):
    X, y = regression(n=10, d=2)
    with pytest.raises(ValueError, match=message):
        cross_validate(LeastSquares(), X, y, cv)


def test_masks_and_repeated_training_rows():
    X, y = regression(n=30, d=2)
    mask = np.arange(30) < 20
    found = cross_validate(LeastSquares(), X, y, [(mask, ~mask)], "neg_mean_squared_error")
    assert found.n_train.tolist() == [20]
    assert np.isnan(found.standard_error["neg_mean_squared_error"])
    boot = np.random.default_rng(0).integers(0, 20, 20)
    found = cross_validate(LeastSquares(), X, y, [(boot, np.arange(20, 30))])
    np.testing.assert_allclose(
        found.predictions, fitted(LeastSquares(), X, y, boot).predict(X[20:]), rtol=1e-9
    )


@pytest.mark.parametrize(
    ("scoring", "message"),
    [
        ("nonsense", "nonsense"),
        ([], "scoring is empty"),
        (["r2", "r2"], "scoring names the same scorer twice"),
        (mean_squared_error, "metric function rather than a scorer"),
        (lambda e, X, y: "good", "The scorer '<lambda>' returned str, not a number"),
    ],
)
def test_bad_scoring(scoring, message):
    X, y = regression()
    with pytest.raises(ValueError, match=message):
        cross_validate(LeastSquares(), X, y, 3, scoring)


def test_one_row_folds_have_no_r2_and_that_is_said_once():
    from sklearn.exceptions import UndefinedMetricWarning

    X, y = regression(n=12, d=2)
    with pytest.warns(UndefinedMetricWarning, match="in 12 of 12 folds") as told:
        found = cross_validate(LeastSquares(), X, y, LeaveOneOut())
    assert len(told) == 1
    assert np.isnan(found.scores["r2"]).all()


def test_bad_data():
    X, y = regression()
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        cross_validate(LeastSquares(), X, y[:-1])
    with pytest.raises(ValueError, match="y is None"):
        cross_validate(LeastSquares(), X, None)
    with pytest.raises(ValueError, match="sample_weight has 3 entries, X has 60 rows"):
        cross_validate(LeastSquares(), X, y, sample_weight=[1, 2, 3])
    with pytest.raises(TypeError, match="StandardScaler has no predict"):
        cross_validate(StandardScaler(), X, y)
    with pytest.raises(TypeError, match="Expected an estimator with fit and predict, got <class"):
        cross_validate(LeastSquares, X, y)
    X[17, 2] = np.nan
    with pytest.raises(ValueError, match="contains NaN in row 17, column 2"):
        cross_validate(LeastSquares(), X, y)
    with pytest.raises(ValueError, match="fit_intercept"):
        cross_validate(LeastSquares(fit_intercept="yes"), X, y)


def test_the_estimator_stays_as_it_is():
    X, y = regression()
    line = LeastSquares().fit(X[:20], y[:20])
    before = line.coef_.copy()
    cross_validate(line, X, y)
    np.testing.assert_array_equal(line.coef_, before)


# ------------------------------------------------------------------ the result


def test_the_result_as_text_and_dict():
    X, y = regression(n=30, d=2)
    found = cross_validate(LeastSquares(), X, y, 3, ["r2", "neg_mean_squared_error"])
    lines = repr(found).splitlines()
    assert lines[0] == "LeastSquares, 3 folds, 30 held-out rows"
    assert lines[1].split() == ["fold", "train", "test", "by", "r2", "neg_mean_squared_error"]
    assert lines[2].split()[:4] == ["0", "20", "10", "sums"]
    assert [line.split()[0] for line in lines[5:]] == ["mean", "std."]
    plain = found.to_dict()
    assert plain["mean"] == found.mean
    assert plain["predictions"] == found.predictions.tolist()
    assert plain["how"] == ["sums"] * 3
    assert plain["classes"] is None
    import json

    assert json.loads(json.dumps(plain)) == plain


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (
            {"scoring": "acuracy"},
            r"'acuracy' is not the name of a scorer\. Did you mean 'accuracy'",
        ),
        ({"scoring": "log_loss"}, "Did you mean 'neg_log_loss'"),
        ({"scoring": ["r2", "zzzz"]}, r"'zzzz' is not the name of a scorer\. sklearn"),
        ({"score_weight": [1.0]}, "score_weight has 1 entries, X has 6 rows"),
        ({"score_weight": [1, 1, -1, 1, 1, 1]}, "score_weight must be finite and >= 0; row 2"),
        ({"groups": [1, 2]}, r"groups must name one group a row, shape \(6,\)\. Got \(2,\)"),
    ],
)
def test_messages_name_what_is_wrong(given, words):
    X = np.arange(6.0)[:, None]
    with pytest.raises(ValueError, match=words):
        cross_validate(LeastSquares(), X, X[:, 0], 2, **given)


@pytest.mark.parametrize("cv", [KFold(2), [([0, 1, 2], [3, 4, 5])]], ids=["KFold", "pairs"])
@pytest.mark.filterwarnings("ignore:The groups parameter is ignored")
def test_folds_that_tear_groups_apart_are_refused(cv):
    X = np.arange(6.0)[:, None]
    with pytest.raises(ValueError, match=r"Fold 0 trains on rows of group 'b'.*GroupKFold"):
        cross_validate(LeastSquares(), X, X[:, 0], cv, groups=list("aabbcc"))
    found = cross_validate(LeastSquares(), X, X[:, 0], cv, groups=list("aaabbb"))
    assert len(found.how) >= 1
