"""LinearSVR: scikit-learn's objective, and what epsilon does."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_diabetes
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVR
from sklearn.svm import LinearSVR as Theirs

from separable import LinearSVR, load
from separable.certified.solvers import policy
from separable.select import search

pytestmark = pytest.mark.native


@pytest.mark.parametrize("C", [0.1, 10.0])
@pytest.mark.parametrize("epsilon", [0.0, 20.0])
def test_the_same_as_scikit_learn(C, epsilon):
    X, y = load_diabetes(return_X_y=True)
    X = 20 * X
    weight = np.random.default_rng(0).uniform(0.5, 2, len(y))
    theirs = SVR(kernel="linear", C=C, epsilon=epsilon, tol=1e-9).fit(X, y, weight)
    w = theirs.coef_[0]
    rows = np.maximum(0, np.abs(y - theirs.predict(X)) - epsilon)
    objective = w @ w / 2 + C * weight @ rows
    for form in (np.asarray, sp.csr_array):
        ours = LinearSVR(C, epsilon=epsilon).fit(form(X), y, weight)
        one = ours.certificate_
        assert one.relative_gap < 1e-12
        assert one.dual <= objective <= one.dual * (1 + 1e-6)
        # as far from the optimum as their objective allows, and no further
        assert np.linalg.norm(ours.coef_ - w) <= np.sqrt(2 * (objective - one.dual)) + one.distance
        np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-2)


def test_without_an_intercept():
    X, y = load_diabetes(return_X_y=True)
    X, y = 20 * X, y - 150
    theirs = Theirs(C=1.0, epsilon=1.0, fit_intercept=False, tol=1e-12, max_iter=10**6).fit(X, y)
    ours = LinearSVR(epsilon=1.0, fit_intercept=False).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-3)
    assert ours.intercept_ == 0


def test_an_epsilon_that_covers_all_leaves_a_constant():
    X = np.arange(10.0)[:, None]
    y = 3 * X[:, 0]
    found = LinearSVR(epsilon=20.0).fit(X, y)
    assert found.coef_ == pytest.approx(0)
    assert found.certificate_.converged
    assert np.abs(y - found.predict(X)).max() <= 20 + 1e-9


def test_a_constant_target():
    X = np.random.default_rng(0).normal(size=(20, 3))
    found = LinearSVR().fit(X, np.full(20, 7.0))
    np.testing.assert_allclose(found.predict(X), 7.0)
    assert found.certificate_.converged


def test_outliers_pull_less_than_squares():
    x = np.arange(20.0)[:, None]
    y = 2 * x[:, 0] + 1
    y[3] += 1000
    found = LinearSVR(C=100.0).fit(x, y)
    np.testing.assert_allclose(found.coef_, [2.0], atol=1e-6)
    np.testing.assert_allclose(found.intercept_, 1.0, atol=1e-5)


@pytest.mark.parametrize("size", [1e-50, 1e50])
def test_targets_of_any_size(size):
    X, y = load_diabetes(return_X_y=True)
    plain = LinearSVR(standardize=True, epsilon=10.0).fit(X, y)
    other = LinearSVR(size, standardize=True, epsilon=10.0 * size).fit(X, y * size)
    np.testing.assert_allclose(other.predict(X) / size, plain.predict(X), rtol=1e-5)


def test_many_columns_too():
    rng = np.random.default_rng(0)
    X = sp.random_array((600, 1500), density=0.02, rng=rng, format="csr")
    y = X @ rng.normal(size=1500) + 0.1 * rng.normal(size=600)
    ours = LinearSVR(epsilon=0.1, tol=1e-6).fit(X, y)
    theirs = SVR(kernel="linear", epsilon=0.1, tol=1e-8).fit(X, y)
    away = ours.coef_ - np.asarray(theirs.coef_.todense()).ravel()
    assert np.linalg.norm(away) <= ours.certificate_.distance + 1e-5


def test_refused():
    X, y = load_diabetes(return_X_y=True)
    with pytest.raises(ValueError, match=r"'C' parameter of LinearSVR .* LogisticRegression only"):
        LinearSVR(np.inf).fit(X, y)
    with pytest.raises(ValueError, match=r"'epsilon' parameter of LinearSVR .* >= 0"):
        LinearSVR(epsilon=-0.1).fit(X, y)
    with pytest.raises(ValueError, match="LinearSVR predicts numbers"):
        LinearSVR().fit(X, np.where(y > 100, "high", "low"))


def test_the_model_predicts_without_its_learner(tmp_path):
    X, y = load_diabetes(return_X_y=True)
    learner = LinearSVR().fit(X, y)
    learner.model_.save(tmp_path / "model")
    np.testing.assert_array_equal(load(tmp_path / "model").predict(X), learner.predict(X))
    assert isinstance(learner.n_iter_, int)
    assert learner.coef_.shape == (10,)


def test_steps_that_lead_nowhere_end():
    rng = np.random.default_rng(0)
    X = sp.random(40, 60, density=0.1, random_state=0, format="csr")
    y, weight = (rng.normal(size=40) > 0).astype(np.float64), rng.integers(1, 3, 40) + 0.0
    weight[5:7] = 1e-12, 1e6
    with pytest.warns(ConvergenceWarning, match="relative gap"):
        found = LinearSVR(tol=0.0).fit(X, y, weight)
    # a row of weight 1e6 whose residual is 1e-17, the rounding of its score
    assert found.certificate_.relative_gap < 1e-11
    assert found.n_iter_ < 1000


def test_a_search_stops_at_its_work_budget_and_the_last_fit_does_not(monkeypatch):
    rng = np.random.default_rng(0)
    X = sp.random_array((700, 400), density=0.05, rng=rng, format="csr")
    X.data *= 10.0 ** rng.integers(-1, 2, 400)[X.indices]  # passes stall
    y = X @ rng.normal(size=400) + rng.normal(size=700)
    passes: list[int] = []

    def note(number, gap):
        passes.append(number)

    monkeypatch.setattr(policy, "SEARCH_WORK", 12.0 * X.nnz)
    with pytest.warns(ConvergenceWarning, match="stopped"):
        found = search(LinearSVR(callback=note), {"C": [0.01, 10.0]}, X, y, cv=2, refit=False)
    assert max(passes) == 12
    assert set(found.how_) == {"lanes"}
    assert LinearSVR(C=10.0).fit(X, y).certificate_.relative_gap <= 1e-6
