"""LogisticRegression: scikit-learn's objective, raw columns, no penalty, probabilities."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression as Theirs
from sklearn.multiclass import OneVsRestClassifier

from separable import LogisticRegression, load
from separable.geometry import SeparationError
from tests.certified.engine_problems import use_solvers

pytestmark = pytest.mark.native


def objective(learner, X, y, w, b):
    m = np.where(y == learner.classes_[1], 1, -1) * (X @ w + b)
    return w @ w / 2 + learner.C * np.logaddexp(0, -m).sum()


@pytest.mark.parametrize("C", [1e-3, 1.0, 100.0])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_same_as_scikit_learn(C, fit_intercept):
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    weight = np.random.default_rng(0).uniform(0.5, 2, len(y))
    given = {"C": C, "fit_intercept": fit_intercept}
    theirs = Theirs(**given, solver="newton-cholesky", tol=1e-12, max_iter=1000)
    theirs.fit(X, y, weight)
    for form in (np.asarray, sp.csr_array):
        ours = LogisticRegression(**given).fit(form(X), y, weight)
        np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-6, atol=1e-7)
        np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-6, atol=1e-7)
        np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-7)
        odds = np.outer(theirs.decision_function(X), [-1, 1])
        np.testing.assert_allclose(
            ours.predict_log_proba(X), -np.logaddexp(0, -odds), rtol=1e-5, atol=1e-7
        )


def test_raw_columns_reach_the_optimum():
    X, y = load_breast_cancer(return_X_y=True)
    ours = LogisticRegression().fit(X, y)
    assert ours.certificate_.relative_gap <= 1e-6
    with pytest.warns(ConvergenceWarning):
        theirs = Theirs().fit(X, y)
    found = objective(ours, X, y, theirs.coef_[0], theirs.intercept_[0])
    mine = objective(ours, X, y, ours.coef_[0], ours.intercept_[0])
    assert mine == pytest.approx(ours.certificate_.primal)
    assert found > 1.2 * mine  # where their default stops


def test_many_columns_too():
    rng = np.random.default_rng(0)
    X = sp.random_array((1200, 3000), density=0.01, rng=rng, format="csr")
    y = (X @ rng.normal(size=3000) + 0.3 * rng.normal(size=1200) > 0).astype(int)
    ours = LogisticRegression(10.0, tol=1e-8).fit(X, y)
    theirs = Theirs(C=10.0, solver="newton-cg", tol=1e-10, max_iter=1000).fit(X, y)
    room = ours.certificate_.distance + 1e-5
    assert np.linalg.norm(ours.coef_ - theirs.coef_) <= room
    assert ours.certificate_.relative_gap <= 1e-8


@pytest.mark.parametrize("read", [load_iris, load_wine])
def test_one_against_the_rest(read):
    X, y = read(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    ours = LogisticRegression(multi_class="ovr").fit(X, y)
    theirs = OneVsRestClassifier(Theirs(tol=1e-12, solver="newton-cholesky")).fit(X, y)
    each = np.stack([one.coef_[0] for one in theirs.estimators_])
    np.testing.assert_allclose(ours.coef_, each, atol=1e-7)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-7)
    np.testing.assert_allclose(np.exp(ours.predict_log_proba(X)), ours.predict_proba(X))
    assert ours.n_iter_.shape == (3,)


def test_no_penalty():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 3))
    y = (X @ [1.0, -1.0, 0.5] + rng.logistic(size=200) > 0).astype(int)
    ours = LogisticRegression(C=np.inf).fit(X, y)
    assert ours.certificate_.relative_gap < 1e-12
    p = ours.predict_proba(X)[:, 1]
    np.testing.assert_allclose(X.T @ (y - p), 0, atol=1e-7)  # the likelihood has no slope
    assert (y - p).sum() == pytest.approx(0, abs=1e-7)
    # nothing that is penalised, so no unit of a column can matter
    units, far = np.array([1e6, 1e-6, 1.0]), np.array([0.0, 1e6, -1e6])
    other = LogisticRegression(C=np.inf).fit((X + far) * units, y)
    np.testing.assert_allclose(
        other.predict_proba((X + far) * units), ours.predict_proba(X), atol=1e-6
    )
    assert other.model_.parameters["C"] == np.inf


@pytest.mark.parametrize("shape", [(300, 30), (30, 300)])
def test_no_penalty_with_many_columns(shape, monkeypatch):
    rng = np.random.default_rng(0)
    X = sp.random_array(shape, density=0.2, rng=rng, format="csr")
    y = rng.integers(0, 2, shape[0])
    for _ in range(2):
        if shape[0] > shape[1]:
            found = LogisticRegression(np.inf).fit(X, y)
            assert found.evidence_["engine"] == "newton"
            assert found.certificate_.converged
        else:
            with pytest.raises(SeparationError, match="the classes are separable"):
                LogisticRegression(np.inf).fit(X, y)
        use_solvers(monkeypatch, "dual_cd", "newton")


def test_probabilities_without_scikit_learn(tmp_path):
    X, y = load_iris(return_X_y=True)
    learner = LogisticRegression().fit(X, y)
    learner.model_.save(tmp_path / "model")
    np.testing.assert_array_equal(
        load(tmp_path / "model").predict_proba(X), learner.predict_proba(X)
    )
