"""SGD, the perceptron and the search of C in separable.sklearn, against scikit-learn's own."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn import linear_model
from sklearn.datasets import load_iris, make_regression
from sklearn.preprocessing import scale

import separable.sklearn as faces
from separable.sklearn.theirs import VERSION

STEPS = [
    {"learning_rate": "constant", "eta0": 0.01},
    {"learning_rate": "invscaling", "eta0": 0.1, "penalty": "l1"},
    {"learning_rate": "optimal", "alpha": 0.01},
    {"learning_rate": "optimal", "alpha": 0.01, "average": True},
]


def rows():
    X, y = load_iris(return_X_y=True)
    return scale(X), y


@pytest.mark.parametrize("steps", STEPS)
@pytest.mark.parametrize("kind", ["dense", "weighted", "sparse"])
@pytest.mark.parametrize("loss", ["hinge", "log_loss", "squared_hinge", "modified_huber"])
def test_classifier_takes_the_steps_of_scikit_learn(loss, kind, steps):
    X, y = rows()
    X = sparse.csr_array(X) if kind == "sparse" else X
    weight = np.linspace(0.3, 2.5, len(y)) if kind == "weighted" else None
    options = {"loss": loss, "shuffle": False, "max_iter": 5, "tol": None} | steps
    ours, theirs = (
        each.SGDClassifier(**options).fit(X, y, sample_weight=weight)
        for each in (faces, linear_model)
    )
    scale_of = np.abs(theirs.coef_).max()
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-3, atol=1e-4 * scale_of)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-3, atol=1e-4 * scale_of)
    assert (ours.n_iter_, ours.t_) == (theirs.n_iter_, theirs.t_)


@pytest.mark.parametrize(
    "loss",
    ["squared_error", "huber", "epsilon_insensitive", "squared_epsilon_insensitive"],
)
def test_regressor_takes_the_steps_of_scikit_learn(loss):
    X, y = make_regression(60, 4, noise=1, random_state=1)
    options = {"loss": loss, "shuffle": False, "max_iter": 5, "tol": None, "eta0": 0.001}
    ours, theirs = (each.SGDRegressor(**options).fit(X, y) for each in (faces, linear_model))
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-4)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-4)


def test_perceptron_takes_the_steps_of_scikit_learn():
    X, y = rows()
    options = {"shuffle": False, "max_iter": 5, "tol": None}
    ours, theirs = (each.Perceptron(**options).fit(X, y) for each in (faces, linear_model))
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-4)


def test_partial_fit_continues():
    X, y = rows()
    ours = faces.SGDClassifier()
    for part in np.array_split(np.arange(150), 5):
        ours.partial_fit(X[part], y[part], classes=[0, 1, 2])
    assert ours.coef_.shape == (3, 4)
    assert ours.t_ == 151


@pytest.mark.parametrize("legacy", [True, False])
@pytest.mark.parametrize("ratios", [(0.0,), (0.5, 1.0)])
def test_search_equals_that_of_scikit_learn(ratios, legacy):
    X, y = rows()
    options = {"Cs": [0.1, 1.0], "l1_ratios": ratios, "cv": 3, "scoring": "neg_log_loss"}
    options |= {"use_legacy_attributes": legacy, "solver": "saga", "max_iter": 20_000}
    ours, theirs = (
        each.LogisticRegressionCV(**options, tol=1e-8).fit(X, y) for each in (faces, linear_model)
    )
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    np.testing.assert_array_equal(ours.C_, theirs.C_)
    np.testing.assert_array_equal(ours.l1_ratio_, theirs.l1_ratio_)
    for mine, other in ((ours.scores_, theirs.scores_), (ours.coefs_paths_, theirs.coefs_paths_)):
        parts = zip(mine.values(), other.values(), strict=True) if legacy else [(mine, other)]
        for one, two in parts:
            np.testing.assert_allclose(one, two, atol=1e-4)
    assert ours.n_iter_.shape == theirs.n_iter_.shape


@pytest.mark.parametrize("kept", [[0, 1], [1, 2], [2]])
def test_fold_that_lacks_a_class_has_a_model_of_all_classes(kept):
    X, y = rows()
    rest = np.flatnonzero(~np.isin(y, kept))
    folds = [(np.flatnonzero(np.isin(y, kept))[::2], rest), (np.arange(0, 150, 2), rest)]
    options = {"Cs": [0.01, 1.0], "l1_ratios": (0.0,), "scoring": "neg_brier_score", "cv": folds}
    options["use_legacy_attributes"] = False
    ours = faces.LogisticRegressionCV(**options).fit(X, y)
    theirs = linear_model.LogisticRegressionCV(**options, tol=1e-8, max_iter=10_000).fit(X, y)
    np.testing.assert_allclose(
        ours.coefs_paths_[..., :-1], theirs.coefs_paths_[..., :-1], atol=1e-4
    )
    np.testing.assert_allclose(ours.scores_, theirs.scores_, atol=1e-4)
    assert ours.C_ == theirs.C_


def test_fold_whose_rows_of_a_class_weigh_nothing_has_a_model_of_all_classes():
    X, y = rows()
    folds = [(np.arange(0, 150, 2), np.arange(1, 150, 2))]
    weight = np.where((y == 0) & (np.arange(150) % 2 == 0), 0.0, 1.0)
    options = {"Cs": [0.1], "l1_ratios": (0.0,), "scoring": "accuracy", "cv": folds}
    options["use_legacy_attributes"] = False
    ours = faces.LogisticRegressionCV(**options).fit(X, y, weight)
    theirs = linear_model.LogisticRegressionCV(**options, tol=1e-8, max_iter=10_000)
    theirs.fit(X, y, weight)
    np.testing.assert_allclose(
        ours.coefs_paths_[..., :-1], theirs.coefs_paths_[..., :-1], atol=1e-4
    )
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)


@pytest.mark.parametrize("by", ["class_weight", "sample_weight"])
@pytest.mark.parametrize("label", [0, 2])
@pytest.mark.parametrize("name", ["LogisticRegression", "LinearSVC", "SGDClassifier", "Perceptron"])
def test_class_without_weight_is_kept_and_not_predicted(name, label, by):
    y = np.arange(90) % 3
    X = np.random.default_rng(0).normal(size=(90, 3)) + 8 * np.eye(3)[y]
    face = getattr(faces, name)()
    if by == "class_weight":
        face.set_params(class_weight={label: 0.0}).fit(X, y)
    else:
        face.fit(X, y, sample_weight=np.where(y == label, 0.0, 1.0))
    assert face.coef_.shape == (3, 3)
    np.testing.assert_array_equal(face.predict(X)[y != label], y[y != label])


@pytest.mark.parametrize("name", ["SGDClassifier", "SGDRegressor"])
def test_models_name_the_public_learner(name):
    X, y = rows()
    fitted = getattr(faces, name)().fit(X, y)
    assert fitted.model_.learner == name
    copied = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(copied.predict(X), fitted.predict(X))


@pytest.mark.skipif(VERSION < (1, 8), reason="scikit-learn warns from 1.8 on")
@pytest.mark.parametrize("name", ["SGDClassifier", "SGDRegressor"])
def test_negative_power_t_warns_as_in_scikit_learn(name):
    X, y = rows()
    for package in (faces, linear_model):
        with pytest.warns(FutureWarning, match="Negative values for `power_t` are deprecated"):
            getattr(package, name)(power_t=-0.1).fit(X, y)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("class_weight", [{0: 1.0, 1: 5.0, 2: 0.5}, {1: 2.0}, "balanced"])
@pytest.mark.parametrize("name", ["SGDClassifier", "Perceptron"])
def test_the_weight_of_a_class_counts_in_its_own_model(name, class_weight):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    y = np.digitize(X @ [1.0, -2.0, 0.5, 0.0] + rng.normal(size=200), [-1, 1.5])
    options = {"class_weight": class_weight, "shuffle": False, "tol": None, "max_iter": 5}
    ours = getattr(faces, name)(**options).fit(X, y)
    theirs = getattr(linear_model, name)(**options).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-6, atol=1e-9)
    np.testing.assert_array_equal(ours.model_.predict(X), theirs.predict(X))
