"""LinearSVM: scikit-learn's objectives, and probabilities from held-out scores."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC, LinearSVC

from separable import LinearSVM, LinearSVMCV, load
from separable.certified.inference.platt_scaling import (
    CalibrationWarning,
    folds_of_rows,
    sigmoid_of_scores,
)
from separable.data.rows import as_rows
from tests.certified.engine_problems import use_solvers
from tests.reference.calibration import sigmoid_of_scores as reference

pytestmark = pytest.mark.native
LOSS = pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])


def scaled(read):
    X, y = read(return_X_y=True)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


# ---------------------------------------------------------------------- the machine


@pytest.mark.parametrize("C", [1e-3, 1.0, 100.0])
def test_hinge_is_scikit_learns_svc(C):
    X, y = scaled(load_breast_cancer)
    weight = np.random.default_rng(0).uniform(0.5, 2, len(y))
    theirs = SVC(kernel="linear", C=C, tol=1e-10).fit(X, y, weight)
    w = theirs.coef_[0]
    rows = np.maximum(0, 1 - np.where(y == 1, 1, -1) * theirs.decision_function(X))
    objective = w @ w / 2 + C * weight @ rows
    for form in (np.asarray, sp.csr_array):
        ours = LinearSVM(C).fit(form(X), y, weight)
        one = ours.certificate_
        assert one.relative_gap < 1e-12
        assert one.dual <= objective <= one.dual * (1 + 1e-4)
        # as far from the optimum as their objective allows, and no further
        assert np.linalg.norm(ours.coef_ - w) <= np.sqrt(2 * (objective - one.dual)) + one.distance
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-3)
        np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-3)


@LOSS
def test_without_an_intercept_it_is_linear_svc(loss):
    X, y = scaled(load_breast_cancer)
    theirs = LinearSVC(loss=loss, fit_intercept=False, tol=1e-10, max_iter=10**6).fit(X, y)
    ours = LinearSVM(loss=loss, fit_intercept=False).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)


@LOSS
def test_a_large_constant_column_stands_for_an_intercept_that_is_free(loss):
    X, y = scaled(load_breast_cancer)
    given = {"loss": loss, "tol": 1e-9, "max_iter": 10**6, "C": 0.1}
    theirs = LinearSVC(**given, intercept_scaling=30.0).fit(X, y)
    ours = LinearSVM(0.1, loss=loss).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=2e-3)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=2e-3)


@pytest.mark.parametrize("read", [load_iris, load_wine])
def test_one_against_the_rest(read):
    X, y = scaled(read)
    ours = LinearSVM().fit(X, y)
    theirs = OneVsRestClassifier(SVC(kernel="linear", tol=1e-10)).fit(X, y)
    # b is not unique where no row is on the margin, so the weights are compared
    each = np.stack([one.coef_[0] for one in theirs.estimators_])
    np.testing.assert_allclose(ours.coef_, each, atol=1e-4)
    assert isinstance(ours.n_iter_, int)


@LOSS
def test_many_columns_too(loss):
    rng = np.random.default_rng(0)
    X = sp.random_array((1200, 3000), density=0.01, rng=rng, format="csr")
    y = (X @ rng.normal(size=3000) + 0.3 * rng.normal(size=1200) > 0).astype(int)
    given = {"C": 2.0, "loss": loss, "fit_intercept": False}
    ours = LinearSVM(tol=1e-6, **given).fit(X, y)
    theirs = LinearSVC(tol=1e-9, max_iter=10**5, **given).fit(X, y)
    room = ours.certificate_.distance + 1e-4
    assert np.linalg.norm(ours.coef_ - theirs.coef_) <= room
    assert ours.certificate_.relative_gap <= 1e-6


def test_small_gaps_are_reached_with_many_columns():
    rng = np.random.default_rng(0)
    X = sp.random_array((2100, 2200), density=0.01, rng=rng, format="csr")
    y = rng.integers(0, 2, 2100)
    found = LinearSVM(tol=1e-10).fit(X, y)
    assert found.evidence_["engine"] in {"descent", "semismooth-newton"}
    assert found.certificate_.relative_gap <= 1e-10


def test_the_margin_of_separable_rows():
    # the closest rows are (0, 1) and (0, -1), so w = (0, 1) and the margin is 1 on either side
    X = np.array([[0.0, 1.0], [2.0, 3.0], [-1.0, 2.0], [0.0, -1.0], [3.0, -4.0]])
    found = LinearSVM(100.0).fit(X, [1, 1, 1, 0, 0])
    np.testing.assert_allclose(found.coef_, [[0.0, 1.0]], atol=1e-7)
    np.testing.assert_allclose(found.intercept_, [0.0], atol=1e-7)
    np.testing.assert_allclose(found.dual_coef_ @ X, found.coef_, atol=1e-7)
    assert found.certificate_.primal == pytest.approx(0.5)


def test_refused():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=r"'C' parameter of LinearSVM .* LogisticRegression only"):
        LinearSVM(np.inf).fit(X, y)
    with pytest.raises(ValueError, match=r"'loss' parameter of LinearSVM must be 'hinge' or 'sq"):
        LinearSVM(loss="log_loss").fit(X, y)


# ---------------------------------------------------------------------- probabilities


def test_there_are_none_unless_asked_for():
    X, y = load_iris(return_X_y=True)
    learner = LinearSVM().fit(X, y)
    for method in ("predict_proba", "predict_log_proba"):
        assert not hasattr(learner, method)
        with pytest.raises(AttributeError) as caught:
            getattr(learner, method)
        assert "LinearSVM(probability=True)" in str(caught.value.__cause__ or caught.value)
    assert learner.model_.calibration is None


@LOSS
@pytest.mark.parametrize("read", [load_breast_cancer, load_wine])
def test_probabilities_are_honest(loss, read):
    X, y = scaled(read)
    train = np.arange(len(y)) % 2 == 0
    learner = LinearSVM(0.1, loss=loss, probability=True).fit(X[train], y[train])
    plain = LinearSVM(0.1, loss=loss).fit(X[train], y[train])
    np.testing.assert_array_equal(learner.coef_, plain.coef_)  # the machine is the same
    shares = learner.predict_proba(X[~train])
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    np.testing.assert_allclose(np.exp(learner.predict_log_proba(X[~train])), shares)
    truth = np.eye(len(learner.classes_))[y[~train]]
    assert np.mean(np.sum((shares - truth) ** 2, axis=1)) < 0.08
    np.testing.assert_allclose(shares.mean(axis=0), truth.mean(axis=0), atol=0.04)
    assert (shares.argmax(axis=1) == learner.predict(X[~train])).mean() > 0.95
    assert learner.model_.calibration.shape == (len(learner.coef_), 2)


def test_the_sigmoid_is_fitted_to_rows_held_out():
    X, y = scaled(load_breast_cancer)
    learner = LinearSVM(probability=True, random_state=4).fit(X, y)
    seed = int(np.random.RandomState(4).randint(0, 2**31 - 1))
    fold = folds_of_rows(as_rows(X), y.astype(np.int32), seed)
    scores = np.empty(len(y))
    for k in range(5):
        without = LinearSVM().fit(X[fold != k], y[fold != k])
        scores[fold == k] = without.decision_function(X[fold == k])
    np.testing.assert_allclose(learner.model_.calibration[0], reference(scores, y == 1), rtol=1e-4)


@pytest.mark.slow
def test_weight_k_is_the_row_k_times_for_probabilities_too():
    X, y = scaled(load_wine)
    weight = np.random.default_rng(0).integers(0, 3, len(y))
    often = np.random.default_rng(1).permutation(np.repeat(np.arange(len(y)), weight))
    for form in (np.asarray, sp.csr_array):
        one = LinearSVM(probability=True).fit(form(X), y, weight)
        other = LinearSVM(probability=True).fit(form(X[often]), y[often])
        np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X), atol=1e-6)


@given(seed=st.integers(0, 10_000), size=st.sampled_from([1e-8, 1.0, 1e8]))
def test_the_sigmoid_is_the_best_there_is(seed, size):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 60))
    is_positive = rng.random(n) < rng.uniform(0.1, 0.9)
    is_positive[:2] = True, False
    scores = size * (rng.normal(size=n) + rng.uniform(0, 4) * is_positive)
    weight = rng.uniform(0.1, 3, n) if rng.integers(2) else None
    gradient, offset = sigmoid_of_scores(scores, is_positive, weight)
    assert gradient >= 0
    wanted = reference(scores / size, is_positive, weight)
    if wanted[0] > 1e-6:
        np.testing.assert_allclose([gradient * size, offset], wanted, rtol=1e-4, atol=1e-5)
    elif wanted[0] < -1e-6:
        assert gradient == 0  # scores that point the wrong way say nothing


@pytest.mark.parametrize("gap", [0.0, 1e-300, 1e300])
def test_sigmoids_of_scores_of_any_kind(gap):
    is_positive = np.arange(40) % 2 == 0
    scores = np.where(is_positive, gap, -gap)
    gradient, offset = sigmoid_of_scores(scores, is_positive)
    share = 1 / (1 + np.exp(-(gradient * gap + offset)))
    assert share == pytest.approx(0.5 if gap == 0 else 21 / 22, abs=1e-6)  # never 1


def test_folds_are_functions_of_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5))
    X[30:] = X[:30]
    label = np.tile(np.arange(30) % 3, 2).astype(np.int32)
    fold = folds_of_rows(as_rows(X), label, 7)
    np.testing.assert_array_equal(fold[:30], fold[30:])  # no row is held out from its copy
    for k in range(3):
        assert np.bincount(fold[:30][label[:30] == k]).tolist() == [2, 2, 2, 2, 2]
    order = rng.permutation(60)
    np.testing.assert_array_equal(folds_of_rows(as_rows(X[order]), label[order], 7), fold[order])
    sparse = folds_of_rows(as_rows(sp.csr_array(X)), label, 7)
    np.testing.assert_array_equal(sparse[:30], sparse[30:])
    assert (folds_of_rows(as_rows(X), label, 8) != fold).any()


def test_a_class_of_one_row_is_told():
    X, y = scaled(load_iris)
    y = y.copy()
    y[7] = 3
    with pytest.warns(CalibrationWarning, match=r"1 of 4 classes have one row only.*\(row 7\)"):
        learner = LinearSVM(probability=True).fit(X, y)
    assert np.isfinite(learner.predict_proba(X)).all()


@pytest.mark.parametrize("k", [2, 3, 7])
def test_classes_of_one_row_each_have_probabilities(k):
    X = np.random.default_rng(0).normal(size=(k, 2))
    with pytest.warns(CalibrationWarning, match=f"{k} of {k} classes have one row only"):
        learner = LinearSVM(probability=True).fit(X, np.arange(k))
    np.testing.assert_allclose(learner.predict_proba(X).sum(axis=1), 1)


def test_probabilities_are_saved(tmp_path):
    X, y = scaled(load_wine)
    learner = LinearSVM(probability=True).fit(X, y)
    learner.model_.save(tmp_path / "model")
    np.testing.assert_array_equal(
        load(tmp_path / "model").predict_proba(X), learner.predict_proba(X)
    )


def test_rows_of_any_length_with_a_few_thousand_columns_reach_the_optimum(monkeypatch):
    """Passes alone end at a relative gap of about 1 there; Newton steps take over."""
    use_solvers(monkeypatch, "dual_cd", "semismooth_newton")
    rng = np.random.default_rng(0)
    X = 100 * sp.random(520, 420, density=0.02, random_state=1, format="csr")
    y = X @ rng.normal(size=420) + 100 * rng.normal(size=520) > 0
    model = LinearSVM().fit(X, y)
    assert model.evidence_["engine"] == "semismooth-newton"
    assert model.certificate_.converged


# ------------------------------------------------------------------ the l1 penalty


def test_l1_penalty_is_that_of_linear_svc():
    X, y = load_iris(return_X_y=True)
    ours = LinearSVM(C=0.1, loss="squared_hinge", penalty="l1", fit_intercept=False).fit(X, y)
    theirs = LinearSVC(
        C=0.1, penalty="l1", dual=False, fit_intercept=False, tol=1e-10, max_iter=100_000
    ).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-6)
    assert ours.evidence_["engine"] == "coordinates"
    assert ours.certificate_.relative_gap < 1e-10
    assert ours.certificate_.distance == np.inf


def test_l1_penalty_learns_nothing_from_little():
    X, y = load_iris(return_X_y=True)
    model = LinearSVM(C=1e-6, loss="squared_hinge", penalty="l1").fit(X, y)
    assert not model.coef_.any()


def test_l1_penalty_with_warm_start_and_probability():
    X, y = load_iris(return_X_y=True)
    parameters = {"C": 0.5, "loss": "squared_hinge", "penalty": "l1"}
    warm = LinearSVM(**parameters, warm_start=True).fit(X, y)
    first = warm.n_iter_
    assert warm.fit(X, y).n_iter_ < first
    shares = LinearSVM(**parameters, probability=True).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)


def test_l1_penalty_needs_the_squared_hinge():
    X, y = load_iris(return_X_y=True)
    for learner in (LinearSVM, LinearSVMCV):
        text = f"'penalty' parameter of {learner.__name__} must be 'l2'.* Use .*'squared_hinge'"
        with pytest.raises(ValueError, match=text):
            learner(penalty="l1").fit(X, y)


def test_gap_of_the_l1_penalty_says_nothing_about_weights():
    X, y = load_iris(return_X_y=True)
    model = LinearSVM(C=100, loss="squared_hinge", penalty="l1", max_iter=1)
    with pytest.warns(ConvergenceWarning, match=r"was asked for\. More passes"):
        model.fit(X, y)


def test_l1_search_finds_a_strength():
    X, y = load_iris(return_X_y=True)
    search = LinearSVMCV(Cs=[0.1, 1.0, 1e3], loss="squared_hinge", penalty="l1").fit(X, y)
    assert search.best_score_ > 0.9
