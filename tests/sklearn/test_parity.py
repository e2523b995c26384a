"""Options that choose the solution, against scikit-learn's classes solved to more digits."""

from __future__ import annotations

import importlib
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.covariance import OAS
from sklearn.datasets import load_diabetes, load_iris

import separable.sklearn as faces
from separable.sklearn.patching import HOMES

RNG = np.random.default_rng(0)
X, Y = load_iris(return_X_y=True)
X = X + RNG.normal(scale=0.5, size=X.shape)
ROWS = np.r_[0:50, 60:95, 110:130]  # classes of different sizes
X, Y = X[ROWS], Y[ROWS]
D, T = load_diabetes(return_X_y=True)
D, T = D[:120] * 20, T[:120] / 30
PRECISE = {"tol": 1e-12, "max_iter": 100_000}
LIBLINEAR = {"tol": 1e-9, "max_iter": 1_000_000}
OWN = {"model_", "certificate_", "learner_", "n_iter_", "dual_gap_"}
#: Attributes that scikit-learn has and ours has not.
MISSING = {"singular_"}

CLASSIFIERS = [
    ("LinearDiscriminantAnalysis", {"solver": "lsqr", "shrinkage": "auto"}, {}),
    ("LinearDiscriminantAnalysis", {"solver": "lsqr", "priors": [0.2, 0.3, 0.5]}, {}),
    ("LinearDiscriminantAnalysis", {"solver": "eigen", "shrinkage": 0.3}, {}),
    ("LinearDiscriminantAnalysis", {"solver": "eigen", "covariance_estimator": OAS()}, {}),
    ("LinearDiscriminantAnalysis", {"store_covariance": True, "priors": [0.5, 0.4, 0.1]}, {}),
    ("LinearSVC", {"dual": False, "class_weight": "balanced"}, LIBLINEAR),
    ("LinearSVC", {"dual": False, "class_weight": {0: 1, 1: 3, 2: 0.5}}, LIBLINEAR),
    ("LinearSVC", {"dual": False, "penalty": "l1", "C": 0.5}, LIBLINEAR),
    ("LogisticRegression", {"C": 0.3, "class_weight": "balanced"}, PRECISE),
    ("RidgeClassifier", {"class_weight": "balanced"}, {}),
    ("RidgeClassifierCV", {"class_weight": "balanced"}, {}),
    ("GaussianNB", {"var_smoothing": 0.1}, {}),
]
REGRESSORS = [
    ("LinearRegression", {"positive": True}, {}),
    ("Ridge", {"alpha": 5.0}, {}),
    ("RidgeCV", {"store_cv_results": True, "scoring": "neg_mean_absolute_error"}, {}),
    ("Lasso", {"alpha": 0.1, "positive": True}, PRECISE),
    ("LassoCV", {"alphas": [0.01, 0.1, 1.0]}, PRECISE),
    ("ElasticNetCV", {"l1_ratio": [0.5, 0.9], "alphas": [0.1, 1.0]}, PRECISE),
    ("BayesianRidge", {}, {"tol": 1e-12, "max_iter": 10_000}),
    ("LinearSVR", {"epsilon": 0.5}, LIBLINEAR),
]


def fitted(name, options, precise, *data):
    theirs = getattr(importlib.import_module(HOMES[name]), name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of convergence, and of defaults that will change
        return getattr(faces, name)(**options).fit(*data), theirs(**options, **precise).fit(*data)


def compare_attributes(ours, theirs):
    names = [{a for a in vars(each) if a.endswith("_") and a[0] != "_"} for each in (ours, theirs)]
    assert names[1] - MISSING <= {*names[0], *OWN}
    for name in names[1] - OWN - MISSING:
        mine, their = getattr(ours, name), getattr(theirs, name)
        assert type(mine) is type(their), name
        if name in ("scalings_", "classes_") or their is None:  # the sign of an axis is free
            mine, their = (np.abs(each) if name == "scalings_" else each for each in (mine, their))
        close(mine, their, name)


def close(mine, their, name):
    if isinstance(their, str | type(None)):
        assert mine == their, name
        return
    mine, their = np.asarray(mine), np.asarray(their)
    assert (mine.shape, mine.dtype) == (their.shape, their.dtype), name
    scale = np.abs(their).max(initial=0) if their.dtype.kind == "f" else 1.0
    np.testing.assert_allclose(mine, their, atol=2e-4 * scale, rtol=2e-4, err_msg=name)


@pytest.mark.parametrize(("name", "options", "precise"), CLASSIFIERS)
@pytest.mark.parametrize("weighted", [False, True])
def test_classifiers(name, options, precise, weighted):
    data = (X, Y, RNG.uniform(0.5, 2, len(Y))) if weighted else (X, Y)
    if weighted and name == "LinearDiscriminantAnalysis":
        pytest.skip("takes no weights")
    ours, theirs = fitted(name, options, precise, *data)
    compare_attributes(ours, theirs)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    if hasattr(theirs, "predict_proba"):
        close(ours.predict_proba(X), theirs.predict_proba(X), "predict_proba")


@pytest.mark.parametrize(("name", "options", "precise"), REGRESSORS)
@pytest.mark.parametrize("shape", ["vector", "column", "two targets", "sparse"])
def test_regressors(name, options, precise, shape):
    target = {"column": T[:, None], "two targets": np.c_[T, T**2 / 10]}.get(shape, T)
    rows = sparse.csr_array(D) if shape == "sparse" else D
    single = name in ("LassoCV", "ElasticNetCV", "BayesianRidge", "LinearSVR")
    if shape == "two targets" and single:
        pytest.skip("takes one target")
    if shape == "sparse" and (options.get("positive") or name == "BayesianRidge"):
        pytest.skip("takes no sparse rows")
    ours, theirs = fitted(name, options, precise, rows, target)
    compare_attributes(ours, theirs)
    close(ours.predict(rows), theirs.predict(rows), "predict")


def test_separable_classes_without_a_penalty_warn():
    with pytest.warns(UserWarning, match=r"no finite solution.*are those of C=1e\+06"):
        model = faces.LogisticRegression(C=np.inf).fit(D, np.sort(T)[-2] < T)
    assert model.score(D, np.sort(T)[-2] < T) == 1.0


def test_model_of_several_learners():
    ours, _ = fitted("Lasso", {"alpha": 0.1}, {}, D, np.c_[T, -T])
    np.testing.assert_allclose(ours.model_.decision_function(D), ours.predict(D))
    ours, _ = fitted("LinearSVC", {"class_weight": "balanced", "dual": False}, {}, X, Y)
    np.testing.assert_array_equal(ours.model_.predict(X), ours.predict(X))
    assert ours.certificate_.converged


def test_progress_bar_of_callbacks():
    callback = pytest.importorskip("sklearn.callback")
    seen = []

    class Recorder:
        def setup(self, estimator, context):
            seen.append("setup")

        def teardown(self, estimator, context):
            seen.append("teardown")

        def on_fit_task_begin(self, estimator, context):
            seen.append("begin")

        def on_fit_task_end(self, estimator, context):
            seen.append("end")

    assert isinstance(Recorder(), callback.FitCallback)
    faces.LogisticRegression().set_callbacks(Recorder()).fit(X, Y)
    assert seen == ["setup", "begin", "end", "teardown"]
