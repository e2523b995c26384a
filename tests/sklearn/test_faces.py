"""The faces against scikit-learn's own classes, solved to more digits."""

from __future__ import annotations

import importlib

import numpy as np
import pytest
from sklearn import linear_model, naive_bayes, svm
from sklearn.datasets import load_iris, make_regression

import separable.sklearn as faces
from separable import accepted_parameters

CLASSIFIERS = [
    ("LogisticRegression", linear_model, {"solver": "newton-cholesky", "tol": 1e-12}, {}),
    ("LinearSVC", svm, {"dual": False, "tol": 1e-12, "max_iter": 100_000}, {"C": 0.1}),
    ("RidgeClassifier", linear_model, {}, {"alpha": 2.0}),
    ("RidgeClassifierCV", linear_model, {}, {}),
]
REGRESSORS = [
    ("LinearRegression", linear_model, {}, {}),
    ("Ridge", linear_model, {}, {"alpha": 3.0}),
    ("RidgeCV", linear_model, {}, {}),
    ("Lasso", linear_model, {"tol": 1e-12}, {"alpha": 0.5}),
    ("ElasticNet", linear_model, {"tol": 1e-12}, {"alpha": 0.5}),
    ("BayesianRidge", linear_model, {"tol": 1e-12, "max_iter": 10_000}, {}),
]


def compare(name, module, precise, options, X, y):
    ours = getattr(faces, name)(**options).fit(X, y)
    theirs = getattr(module, name)(**options, **precise).fit(X, y)
    assert ours.coef_.shape == theirs.coef_.shape
    assert np.shape(ours.intercept_) == np.shape(theirs.intercept_)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-5, atol=1e-6)
    assert isinstance(ours, getattr(module, name))


@pytest.mark.parametrize(("name", "module", "precise", "options"), CLASSIFIERS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_classifier_equals_that_of_scikit_learn(name, module, precise, options, n_classes):
    X, y = load_iris(return_X_y=True)
    compare(name, module, precise, options, X, np.minimum(y, n_classes - 1))


@pytest.mark.parametrize(("name", "module", "precise", "options"), REGRESSORS)
def test_regressor_equals_that_of_scikit_learn(name, module, precise, options):
    X, y = make_regression(60, 6, noise=5, random_state=1)
    compare(name, module, precise, options, X, y)


@pytest.mark.parametrize("name", ["BernoulliNB", "ComplementNB", "GaussianNB", "MultinomialNB"])
def test_naive_bayes_equals_that_of_scikit_learn(name):
    X, y = load_iris(return_X_y=True)
    ours, theirs = (getattr(each, name)().fit(X, y) for each in (faces, naive_bayes))
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-10)


#: What scikit-learn's own fits end in: its solvers, and SciPy's as its modules call them.
SOLVERS = {
    "sklearn.linear_model._base": ["_preprocess_data", "lsqr", "optimize", "linalg"],
    "sklearn.linear_model._ridge": ["_ridge_regression", "ridge_regression", "_RidgeGCV"],
    "sklearn.linear_model._logistic": ["_logistic_regression_path", "_fit_liblinear"],
    "sklearn.linear_model._coordinate_descent": ["cd_fast", "enet_path", "lasso_path"],
    "sklearn.linear_model._bayes": ["pinvh", "linalg", "fast_logdet"],
    "sklearn.svm._classes": ["_fit_liblinear"],
    "sklearn.discriminant_analysis": ["_class_cov", "svd", "eigh"],
    "sklearn.naive_bayes": ["safe_sparse_dot"],
}


LEARNERS = [name for name in faces.__all__ if hasattr(getattr(faces, name), "predict")]


@pytest.mark.filterwarnings("ignore::FutureWarning")  # of defaults that will change
@pytest.mark.parametrize("name", LEARNERS)
def test_fit_calls_no_solver_of_scikit_learn(name, monkeypatch):
    for module, functions in SOLVERS.items():
        known = vars(importlib.import_module(module))
        for function in set(functions) & set(known):
            monkeypatch.setitem(known, function, None)
    face = getattr(faces, name)
    for parent in face.__mro__:
        if parent.__module__.startswith("sklearn.") and "fit" in vars(parent):
            monkeypatch.setattr(parent, "fit", None)
    X, y = load_iris(return_X_y=True)
    assert face().fit(X, y).n_features_in_ == 4


def test_float32_gives_float32():
    X, y = make_regression(60, 6, noise=5, random_state=1)
    ridge = faces.Ridge().fit(X.astype(np.float32), y.astype(np.float32))
    assert ridge.coef_.dtype == np.float32
    assert ridge.model_.weights.dtype == np.float64


def test_model_follows_weights_that_are_set():
    X, y = make_regression(60, 6, noise=5, random_state=1)
    lasso = faces.Lasso().fit(X, y)
    assert lasso.model_.evidence
    lasso.coef_ = np.arange(6.0)
    np.testing.assert_allclose(
        lasso.model_.decision_function(X[:3]).ravel(), X[:3] @ np.arange(6) + lasso.intercept_
    )
    assert not lasso.model_.evidence


def test_intercept_scaling_penalizes_the_intercept():
    X, y = load_iris(return_X_y=True)
    y = np.minimum(y, 1)
    small, large = (
        faces.LinearSVC(C=0.01, intercept_scaling=scaling).fit(X, y) for scaling in (0.1, 100.0)
    )
    assert abs(small.intercept_[0]) < abs(large.intercept_[0])


def test_solver_parameter_has_no_effect_and_is_noted_once(caplog, monkeypatch):
    monkeypatch.setattr(accepted_parameters, "_noted", set())
    X, y = make_regression(60, 6, noise=5, random_state=1)
    with caplog.at_level("INFO", logger="separable"):
        fits = [faces.Ridge(solver="svd").fit(X, y) for _ in range(2)]
    assert np.array_equal(fits[0].coef_, faces.Ridge().fit(X, y).coef_)
    assert [record.getMessage() for record in caplog.records] == [
        "Ridge: solver='svd' is accepted and has no effect: separable chooses the solver."
    ]
