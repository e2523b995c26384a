"""search against GridSearchCV and independent fits."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression as PeerLogistic
from sklearn.metrics import make_scorer, matthews_corrcoef
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from separable import (
    LDA,
    AveragedPerceptron,
    LinearSVM,
    LinearSVR,
    LogisticRegression,
    MultinomialNB,
    Ridge,
)
from separable.fitting.best_candidate import one_standard_error_index
from separable.select import cross_validate, search
from tests.certified.engine_problems import use_solvers
from tests.select.estimators.searches import classes, text
from tests.versions import NEWER_SKLEARN

pytestmark = pytest.mark.native

CS = [0.01, 1.0, 10.0]


def numbers(n=80, d=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, X @ rng.normal(size=d) + rng.normal(size=n) + 2


def counts(n=80, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    return rng.poisson(1 + 2 * np.eye(3, 5)[y]).astype(float), y


def check_against_peer(estimator, grid, X, y, how, rtol=1e-6, atol=1e-8, **more):
    """Compare the whole table with GridSearchCV's."""
    mine = search(estimator, grid, X, y, **more)
    groups = more.pop("groups", None)
    weight = more.pop("sample_weight", None)
    more.pop("score_weight", None)  # the peer takes its weights for both
    extra = {} if weight is None else {"sample_weight": weight}
    peer = GridSearchCV(estimator, grid, **{"cv": 5, **more}).fit(X, y, groups=groups, **extra)
    assert set(mine.cv_results_) == set(peer.cv_results_)
    assert mine.cv_results_["params"] == peer.cv_results_["params"]
    for key, values in peer.cv_results_.items():
        if "_test_" in key and "rank" not in key:
            np.testing.assert_allclose(mine.cv_results_[key], values, rtol=rtol, atol=atol)
        if key.startswith("param_"):
            assert mine.cv_results_[key].tolist() == values.tolist()
            np.testing.assert_array_equal(mine.cv_results_[key].mask, values.mask)
    assert set(mine.how_) == {how}
    assert mine.n_splits_ == peer.n_splits_
    assert mine.multimetric_ == peer.multimetric_
    return mine, peer


# ------------------------------------------------------------------ as GridSearchCV


@pytest.mark.slow
@pytest.mark.parametrize(
    ("learner", "k", "form"),
    [
        (LogisticRegression(), 3, sp.csr_array),
        (LinearSVM(loss="squared_hinge"), 2, np.asarray),
        *(
            pytest.param(learner, k, form, marks=pytest.mark.long)
            for learner, k, form in [
                (LogisticRegression(), 2, np.asarray),
                (LogisticRegression(), 2, sp.csr_array),
                (LogisticRegression(), 3, np.asarray),
                (LinearSVM(loss="squared_hinge"), 2, sp.csr_array),
                (LinearSVM(loss="squared_hinge"), 3, np.asarray),
                (LinearSVM(loss="squared_hinge"), 3, sp.csr_array),
            ]
        ),
    ],
)
def test_lanes(learner, k, form):
    X, y = classes(k=k)
    grid = {"C": CS, "class_weight": [None, "balanced"], "standardize": [False, True]}
    mine, peer = check_against_peer(learner, grid, form(X), y, "lanes", cv=3)
    assert mine.best_params_ == peer.best_params_
    assert mine.best_index_ == peer.best_index_
    assert mine.best_score_ == pytest.approx(peer.best_score_)
    np.testing.assert_array_equal(mine.predict(form(X)), peer.predict(form(X)))
    np.testing.assert_allclose(
        mine.decision_function(form(X)), peer.decision_function(form(X)), rtol=1e-6, atol=1e-8
    )
    assert mine.score(form(X), y) == peer.score(form(X), y)
    np.testing.assert_array_equal(mine.classes_, peer.classes_)
    assert mine.refit_time_ > 0
    assert mine.cv_results_["mean_fit_time"].min() > 0


FOLDS = KFold(3, shuffle=True, random_state=0)
HALVES = ShuffleSplit(3, train_size=0.5, random_state=0)
REPEATED = RepeatedStratifiedKFold(n_splits=2, n_repeats=2, random_state=0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cv", "weighted"),
    [
        (FOLDS, False),
        pytest.param(HALVES, True, marks=NEWER_SKLEARN),
        (REPEATED, False),
        pytest.param(FOLDS, True, marks=[pytest.mark.long, NEWER_SKLEARN]),
        pytest.param(HALVES, False, marks=pytest.mark.long),
        pytest.param(REPEATED, True, marks=[pytest.mark.long, NEWER_SKLEARN]),
    ],
)
def test_splitters_and_weights(cv, weighted):
    X, y = classes(k=3)
    weight = np.arange(90) % 3 * 1.0 if weighted else None
    scoring = ["accuracy", "neg_log_loss"]
    check_against_peer(
        LogisticRegression(),
        {"C": CS},
        X,
        y,
        "lanes",
        cv=cv,
        scoring=scoring,
        refit="accuracy",
        sample_weight=weight,
        score_weight=weight,
    )


def test_passes_over_many_columns(monkeypatch):
    use_solvers(monkeypatch, "dual_cd", "newton")
    X, y = text()
    learner = LogisticRegression(tol=1e-6)
    check_against_peer(
        learner, {"C": CS}, X, y, "lanes", rtol=1e-2, atol=1e-3, scoring="neg_log_loss", cv=3
    )
    one, two = (search(learner, {"C": CS}, X, y, cv=3, n_jobs=jobs) for jobs in (1, 2))
    for fold in range(3):
        key = f"split{fold}_test_score"
        np.testing.assert_array_equal(one.cv_results_[key], two.cv_results_[key])
    assert one.best_estimator_.coef_.tobytes() == two.best_estimator_.coef_.tobytes()


def test_regression_by_lanes():
    X, y = numbers()
    grid = {"C": [0.1, 1.0], "epsilon": [0.0, 0.2]}
    mine, _ = check_against_peer(LinearSVR(), grid, X, y, "lanes", rtol=1e-4, cv=3)
    assert mine.scorer_ is not None
    assert not hasattr(mine, "predict_proba")


@pytest.mark.parametrize(
    ("learner", "grid", "data"),
    [
        (Ridge(), {"alpha": [0.1, 1.0, 10.0], "fit_intercept": [True, False]}, numbers),
        (MultinomialNB(), {"alpha": [0.1, 1.0]}, counts),
        (LDA(), {"shrinkage": [0.1, 0.5]}, counts),
    ],
    ids=["ridge", "nb", "lda"],
)
def test_sums(learner, grid, data):
    check_against_peer(learner, grid, *data(), "sums")


@pytest.mark.parametrize(
    ("learner", "grid"),
    [
        (AveragedPerceptron(), {"max_iter": [1, 5]}),
        (KNeighborsClassifier(), [{"n_neighbors": [1, 3]}, {"p": [1]}]),
        (PeerLogistic(), {"C": [0.1, 1.0]}),
        (LinearSVM(probability=True), {"C": [0.1, 1.0]}),
        (LDA(), {}),
    ],
    ids=lambda each: type(each).__name__,
)
def test_others(learner, grid):
    X, y = classes(k=3)
    how = "sums" if isinstance(learner, LDA) else "refit"
    check_against_peer(learner, grid, X, y, how, cv=2)


def test_alphas_of_wide_ridge_share_the_spectrum_of_a_fold():
    X, y = numbers(n=20, d=40)
    check_against_peer(Ridge(), {"alpha": [0.1, 1.0]}, X, y, "lanes")


@pytest.mark.slow
@pytest.mark.parametrize("weighted", [False, True])
def test_pipelines_fit_their_steps_in_each_fold(weighted):
    X, y = classes(k=3)
    X = X * [1, 100, 0.01, 1, 1, 1]
    pipe = make_pipeline(StandardScaler(), PolynomialFeatures(), LogisticRegression())
    grid = {"polynomialfeatures__degree": [1, 2], "logisticregression__C": CS}
    if not weighted:
        mine, peer = check_against_peer(pipe, grid, X, y, "lanes", scoring="neg_log_loss", cv=3)
        np.testing.assert_allclose(mine.predict_proba(X), peer.predict_proba(X), rtol=1e-6)
        return
    weight = np.arange(90) % 3 + 0.5
    mine = search(pipe, grid, X, y, sample_weight=weight, cv=3)
    peer = GridSearchCV(pipe, grid, cv=3).fit(X, y, logisticregression__sample_weight=weight)
    np.testing.assert_allclose(
        mine.cv_results_["mean_test_score"], peer.cv_results_["mean_test_score"]
    )


@pytest.mark.slow
def test_pipelines_of_text():
    rng = np.random.default_rng(0)
    words = np.array(["good", "bad", "film", "plot", "dull", "fine"])
    y = np.arange(60) % 2
    texts = [" ".join(rng.choice(words, 6, p=np.roll([3, 1, 2, 2, 1, 3], k) / 12)) for k in y]
    pipe = make_pipeline(TfidfVectorizer(), LinearSVM())
    grid = {"linearsvm__C": CS, "tfidfvectorizer__binary": [True, False]}
    check_against_peer(pipe, grid, texts, y, "lanes", cv=3)
    alone = make_pipeline(LogisticRegression())
    check_against_peer(alone, {"logisticregression__C": CS}, *classes(), "lanes")


@pytest.mark.slow
def test_several_scores():
    X, y = classes()
    scoring = {"acc": "accuracy", "mcc": make_scorer(matthews_corrcoef)}
    mine, peer = check_against_peer(
        LogisticRegression(), {"C": CS}, X, y, "lanes", scoring=scoring, refit="mcc"
    )
    assert mine.best_index_ == peer.best_index_
    assert set(mine.scorer_) == set(peer.scorer_)
    assert mine.score(X, y) == peer.score(X, y)
    found = search(LogisticRegression(), {"C": CS}, X, y, scoring=scoring, refit=False)
    with pytest.raises(AttributeError, match="refit must name the one that selects"):
        _ = found.best_params_
    with pytest.raises(ValueError, match=r"one of \['acc', 'mcc'\], or False"):
        search(LogisticRegression(), {"C": CS}, X, y, scoring=scoring)


def test_a_callable_gets_a_fitted_estimator():
    X, y = classes()
    frame = pd.DataFrame(X, columns=list("abcdef"))

    def scorer(model, X, y):
        assert model.feature_names_in_.tolist() == list(X.columns)
        return float(np.abs(model.coef_).sum())

    check_against_peer(LogisticRegression(), {"C": CS}, frame, y, "lanes", scoring=scorer)


def test_without_refit():
    X, y = classes()
    found = search(LogisticRegression(), {"C": CS}, X, y, refit=False)
    assert found.best_params_["C"] in CS
    with pytest.raises(AttributeError, match="no best_estimator_: the search was made with refit"):
        found.predict(X)
    with pytest.raises(AttributeError, match="'Search' object has no attribute 'nonsense'"):
        _ = found.nonsense


def test_groups_and_score_weight():
    X, y = classes()
    groups = np.arange(90) // 15
    check_against_peer(
        LogisticRegression(), {"C": CS}, X, y, "lanes", cv=GroupKFold(3), groups=groups
    )
    weight = np.arange(90) % 4 * 1.0
    found = search(LogisticRegression(), {"C": [1.0]}, X, y, score_weight=weight)
    expected = cross_validate(LogisticRegression(), X, y, score_weight=weight)
    assert found.best_score_ == pytest.approx(expected.mean["accuracy"])
    assert set(expected.how) == {"lanes"}


# ------------------------------------------------------------------ choosing


@pytest.mark.slow
def test_one_standard_error():
    X, y = classes(n=200, noise=3)
    Cs = np.logspace(-3, 2, 12)
    found = search(LogisticRegression(), {"C": Cs}, X, y, scoring="neg_log_loss", select="1se")
    table = found.cv_results_
    error = table["std_test_score"] / np.sqrt(4)  # std is with 1/k
    expected = one_standard_error_index(table["mean_test_score"], error, 1 / Cs)
    best = int(np.argmax(table["mean_test_score"]))
    assert found.best_index_ == expected != best
    assert found.best_params_["C"] < Cs[best]
    pipe = make_pipeline(StandardScaler(), Ridge())
    strong = search(
        pipe, {"ridge__alpha": [1e-3, 1.0, 1e3]}, *numbers(), select="1se", scoring="r2"
    )
    assert strong.best_params_["ridge__alpha"] >= 1e-3
    with pytest.raises(ValueError, match=r"only C or alpha\. It has .'C', 'class_weight'"):
        search(LogisticRegression(), {"C": Cs, "class_weight": [None]}, X, y, select="1se")
    with pytest.raises(ValueError, match="select must be 'min' or '1se'"):
        search(LogisticRegression(), {"C": Cs}, X, y, select="max")


# ------------------------------------------------------------------ bad input


@pytest.mark.parametrize(
    ("grid", "error", "message"),
    [
        ({"c": [1]}, ValueError, "Invalid parameter 'c' for estimator LogisticRegression"),
        ({"C": []}, ValueError, "has no values"),
        ({"C": 1.0}, TypeError, "needs to be a list or a numpy array"),
        ([], ValueError, "The grid is empty"),
        ("C", TypeError, "Parameter grid"),
        ({"C": [1.0, -1.0]}, ValueError, "'C' parameter of LogisticRegression must be"),
        ({"C": [1.0], "tol": ["x"]}, ValueError, "'tol' parameter of LogisticRegression"),
    ],
)
def test_bad_grids(grid, error, message):
    with pytest.raises(error, match=message):
        search(LogisticRegression(), grid, *classes())


def test_bad_folds():
    X, y = classes()
    y = np.sort(y)
    with pytest.raises(ValueError, match="rows that fold 0 trains on hold only one class"):
        search(LogisticRegression(), {"C": CS}, X, y, cv=[(np.arange(70, 90), np.arange(70))])
    with pytest.raises(ValueError, match="cv gives no folds"):
        search(LogisticRegression(), {"C": CS}, X, y, cv=[])
    with pytest.raises(TypeError, match="Expected an estimator"):
        search(LogisticRegression, {"C": CS}, X, y)
    with pytest.raises(ValueError, match="y is None"):
        search(LogisticRegression(), {"C": CS}, X, None)


def test_warnings_come_once():
    X, y = classes()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        search(LogisticRegression(max_iter=1, tol=0.0), {"C": CS}, X + 1e3, y, cv=3, refit=False)
    told = [str(each.message) for each in caught if each.category is ConvergenceWarning]
    assert len(told) <= 1
    for each in told:
        assert "of 9 fits, first in fit" in each


def test_the_estimator_stays_as_it_is():
    X, y = classes()
    learner = LogisticRegression(C=5.0)
    before = clone(learner).get_params()
    search(learner, {"C": CS}, X, y)
    assert learner.get_params() == before
    assert not hasattr(learner, "_model")


@pytest.mark.slow
def test_the_table_is_shown():
    X, y = classes()
    found = search(LogisticRegression(), {"C": np.logspace(-3, 3, 25)}, X, y)
    lines = repr(found).splitlines()
    assert lines[0] == "LogisticRegression, 25 candidates, 5 folds"
    assert lines[1].split() == ["rank", "by", "C", "mean", "score", "std"]
    assert lines[-1] == "... and 5 more"
