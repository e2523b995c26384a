"""Parameters of scikit-learn that choose how to compute, in the learners and encoders."""

from __future__ import annotations

import logging
import pickle
from inspect import signature
from typing import Any

import numpy as np
import pytest
import sklearn.feature_extraction
import sklearn.linear_model
import sklearn.naive_bayes
import sklearn.preprocessing
import sklearn.svm
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import GridSearchCV
from sklearn.utils import estimator_html_repr

import separable
from separable import accepted_parameters
from separable.select import search

RNG = np.random.default_rng(3)
X = np.abs(RNG.normal(size=(60, 4))) * [1, 2, 3, 4]
NUMBERS = X @ [1.0, -1.0, 0.5, 0.0] + RNG.normal(size=60)
LABELS = np.where(np.median(NUMBERS) < NUMBERS, "b", "a")

ALPHAS = {"alphas": [0.1, 0.01]}
#: Learner, its scikit-learn class, its parameters, and what is accepted.
TABLE: list[tuple[str, Any, dict[str, Any], dict[str, Any]]] = [
    (
        "Lasso",
        sklearn.linear_model.Lasso,
        {"alpha": 0.1},
        {"precompute": True, "copy_X": False, "random_state": 7, "selection": "random"},
    ),
    (
        "ElasticNet",
        sklearn.linear_model.ElasticNet,
        {"alpha": 0.1},
        {"precompute": X.T @ X, "copy_X": False, "random_state": 7, "selection": "random"},
    ),
    (
        "LassoCV",
        sklearn.linear_model.LassoCV,
        ALPHAS,
        {"precompute": "auto", "copy_X": False, "verbose": 1, "selection": "random"},
    ),
    (
        "ElasticNetCV",
        sklearn.linear_model.ElasticNetCV,
        ALPHAS,
        {"precompute": "auto", "copy_X": False, "verbose": 1, "selection": "random"},
    ),
    (
        "LogisticRegression",
        sklearn.linear_model.LogisticRegression,
        {},
        {"solver": "saga", "dual": False, "intercept_scaling": 1, "verbose": 1},
    ),
    (
        "LogisticRegressionCV",
        sklearn.linear_model.LogisticRegressionCV,
        {"Cs": [0.1, 1.0]},
        {"solver": "newton-cholesky", "dual": False, "intercept_scaling": 1.0, "verbose": 0},
    ),
    (
        "LinearSVM",
        sklearn.svm.LinearSVC,
        {},
        {"dual": "auto", "multi_class": "ovr", "intercept_scaling": 1, "verbose": 2},
    ),
    (
        "LinearSVMCV",
        sklearn.svm.LinearSVC,
        {"Cs": [0.1, 1.0]},
        {"dual": True, "multi_class": "ovr", "intercept_scaling": 1, "verbose": 2},
    ),
    (
        "LinearSVR",
        sklearn.svm.LinearSVR,
        {},
        {"dual": "auto", "intercept_scaling": 1.0, "verbose": 0, "loss": "epsilon_insensitive"},
    ),
    (
        "Ridge",
        sklearn.linear_model.Ridge,
        {},
        {"copy_X": True, "max_iter": 100, "tol": 1e-3, "solver": "sag"},
    ),
    (
        "RidgeCV",
        sklearn.linear_model.RidgeCV,
        {},
        {"gcv_mode": "svd", "store_cv_results": False, "alpha_per_target": False},
    ),
    (
        "LeastSquares",
        sklearn.linear_model.LinearRegression,
        {},
        {"copy_X": False, "tol": 1e-6, "n_jobs": 2},
    ),
    (
        "BayesianRegression",
        sklearn.linear_model.BayesianRidge,
        {},
        {
            "max_iter": 300,
            "tol": 1e-3,
            "alpha_init": 1.0,
            "lambda_init": None,
            "compute_score": True,
            "alpha_1": 1e-6,
            "alpha_2": 0.0,
            "lambda_1": 1e-6,
            "lambda_2": 1e-7,
            "copy_X": True,
            "verbose": False,
        },
    ),
    (
        "LDA",
        LinearDiscriminantAnalysis,
        {},
        {"solver": "lsqr", "store_covariance": True, "tol": 1e-4, "covariance_estimator": None},
    ),
    ("LinearGaussianNB", sklearn.naive_bayes.GaussianNB, {}, {"var_smoothing": 1e-9}),
    ("MultinomialNB", sklearn.naive_bayes.MultinomialNB, {}, {"force_alpha": True}),
    ("BernoulliNB", sklearn.naive_bayes.BernoulliNB, {}, {"force_alpha": False}),
    ("ComplementNB", sklearn.naive_bayes.ComplementNB, {}, {"force_alpha": True}),
    (
        "Perceptron",
        sklearn.linear_model.Perceptron,
        {},
        {
            "verbose": 0,
            "n_jobs": -1,
            "penalty": None,
            "alpha": 1e-4,
            "l1_ratio": 0.15,
            "tol": 1e-3,
            "early_stopping": False,
            "validation_fraction": 0.1,
            "n_iter_no_change": 5,
        },
    ),
    ("SGDClassifier", sklearn.linear_model.SGDClassifier, {}, {"verbose": 0, "n_jobs": None}),
    ("SGDRegressor", sklearn.linear_model.SGDRegressor, {}, {"verbose": 1}),
    (
        "PolynomialEncoder",
        sklearn.preprocessing.PolynomialFeatures,
        {},
        {"order": "F"},
    ),
]
IDS = [row[0] for row in TABLE]


def _fitted(learner: Any) -> Any:
    classifier = getattr(learner, "_estimator_type", "") == "classifier"
    return learner.fit(X, LABELS if classifier else NUMBERS)


@pytest.mark.parametrize(("name", "theirs", "params", "accepted"), TABLE, ids=IDS)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_does_not_change_the_model(
    name: str,
    theirs: Any,
    params: dict[str, Any],
    accepted: dict[str, Any],
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(accepted_parameters, "_noted", set())
    kind = getattr(separable, name)
    assert not set(accepted) & set(signature(kind).parameters)
    assert set(accepted) <= set(signature(theirs).parameters)
    with caplog.at_level(logging.INFO, logger="separable"):
        given = kind(**params, **accepted)
        kind(**params, **accepted)
    assert len(caplog.messages) == len(accepted)  # once each
    assert all(any(f"{name}: {each}=" in text for text in caplog.messages) for each in accepted)
    plain, given = _fitted(kind(**params)), _fitted(given)
    if name == "PolynomialEncoder":
        np.testing.assert_array_equal(plain.transform(X), given.transform(X))
        return
    np.testing.assert_array_equal(plain.model_.weights, given.model_.weights)
    assert plain.model_.parameters == given.model_.parameters


@pytest.mark.parametrize(("name", "theirs", "params", "accepted"), TABLE, ids=IDS)
def test_is_a_parameter_that_was_given(
    name: str, theirs: Any, params: dict[str, Any], accepted: dict[str, Any]
) -> None:
    del theirs
    kind = getattr(separable, name)
    assert not set(accepted) & set(kind(**params).get_params())
    given = kind(**params).set_params(**accepted)
    for made in (given, clone(given), pickle.loads(pickle.dumps(given))):
        assert set(accepted) <= set(made.get_params())
        assert all(f"{each}=" in repr(made) for each in accepted)
        assert "<div" in estimator_html_repr(made)


@pytest.mark.parametrize(
    ("learner", "grid"),
    [
        (separable.LogisticRegression(), {"solver": ["lbfgs", "liblinear"], "C": [0.1, 1.0]}),
        (separable.LinearSVM(), {"dual": [True, False]}),
        (separable.Ridge(), {"solver": ["svd", "cholesky"], "alpha": [0.1, 1.0]}),
        (separable.Lasso(), {"selection": ["cyclic", "random"], "alpha": [0.1, 1.0]}),
    ],
)
def test_keys_of_a_grid(learner: Any, grid: dict[str, Any]) -> None:
    y = LABELS if learner._estimator_type == "classifier" else NUMBERS
    for found in (GridSearchCV(learner, grid, cv=3).fit(X, y), search(learner, grid, X, y, cv=3)):
        scores = np.asarray(found.cv_results_["mean_test_score"])
        key = next(iter(grid))
        values = np.asarray(found.cv_results_[f"param_{key}"], dtype=object)
        first, second = (scores[values == value] for value in grid[key])
        np.testing.assert_allclose(first, second, rtol=1e-12)


@pytest.mark.parametrize(
    ("penalty", "l1_ratio", "C"), [("l1", 1.0, 0.3), ("l2", 0.0, 0.3), (None, 0.0, np.inf)]
)
def test_penalty_is_meant(penalty: str | None, l1_ratio: float, C: float) -> None:
    model = separable.LogisticRegression(penalty=penalty, C=0.3, l1_ratio=0.5)  # type: ignore[call-arg]
    assert (model.l1_ratio, model.C) == (l1_ratio, C)
    assert (clone(model).l1_ratio, clone(model).C) == (l1_ratio, C)
    theirs = sklearn.linear_model.LogisticRegression(
        C=C, l1_ratio=l1_ratio, solver="saga", tol=1e-9, max_iter=20_000
    )
    np.testing.assert_allclose(
        model.set_params(tol=1e-12).fit(X, LABELS).coef_, theirs.fit(X, LABELS).coef_, atol=1e-4
    )


def test_penalty_elasticnet_leaves_the_ratio() -> None:
    grid = {"penalty": ["elasticnet"], "l1_ratio": [0.2]}
    model = GridSearchCV(separable.LogisticRegression(), grid, cv=2).fit(X, LABELS).best_estimator_
    assert model.l1_ratio == 0.2
    with pytest.raises(ValueError, match=r"'penalty' parameter of LogisticRegression must be"):
        separable.LogisticRegression(penalty="l3")  # type: ignore[call-arg]


@pytest.mark.filterwarnings("ignore::UserWarning")  # C at the edge of the grid
def test_penalty_of_the_search() -> None:
    search_l1 = separable.LogisticRegressionCV(Cs=[0.1, 1.0], penalty="l1")  # type: ignore[call-arg]
    assert search_l1.fit(X, LABELS).l1_ratio_ == 1.0


def test_n_alphas_is_the_number_of_alphas() -> None:
    assert separable.LassoCV(n_alphas=7).fit(X, NUMBERS).alphas_.shape == (7,)  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("name", "params", "message"),
    [
        ("Lasso", {"selection": "cyclical"}, "must be 'cyclic' or 'random'. Got 'cyclical'"),
        ("LogisticRegression", {"solver": "lbgfs"}, "'lbfgs'"),
        ("LinearSVM", {"intercept_scaling": 10}, "must be 1. Got 10"),
        ("LinearSVM", {"multi_class": "crammer_singer"}, "must be 'ovr'"),
        ("Ridge", {"tol": "small"}, "None or a number"),
        ("LinearSVR", {"loss": "squared_epsilon_insensitive"}, "'epsilon_insensitive'. Got"),
        ("Perceptron", {"penalty": "l2"}, "SGDClassifier"),
        ("BayesianRegression", {"alpha_1": 0.1}, "from 0 to 1e-6"),
        ("LinearGaussianNB", {"var_smoothing": 0.1}, r"from 0 to 1e-9.*sklearn\.GaussianNB has it"),
        ("RidgeCV", {"store_cv_results": True}, r"must be False.*sklearn\.RidgeCV has those"),
        ("RidgeCV", {"alpha_per_target": True}, r"must be False.*sklearn\.RidgeCV has one"),
    ],
)
def test_other_values_are_refused(name: str, params: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        getattr(separable, name)(**params)
    with pytest.raises(ValueError, match=message):
        getattr(separable, name)().set_params(**params)


def test_unknown_parameters_are_refused() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'solvr'"):
        separable.Ridge(solvr="svd")  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="Invalid parameter 'solvr'"):
        separable.Ridge().set_params(solvr="svd")


def test_dict_encoder_accepts_dtype_and_sort() -> None:
    records: list[dict[str, Any]] = [{"b": 1.0, "a": "x"}, {"a": "y"}]
    given = separable.DictEncoder(sparse=False, dtype=np.float64, sort=True)  # type: ignore[call-arg]
    expected = separable.DictEncoder(sparse=False).fit_transform(records)
    np.testing.assert_array_equal(given.fit_transform(records), expected)
