"""LinearGaussianNB against LDA's formulas with a diagonal, refits and hard data."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.naive_bayes import GaussianNB

import separable
from separable import LinearGaussianNB
from separable.moments.regression.rank_warning import RankWarning
from tests.moments.leaving_out import refits, short_cut
from tests.reference import lda as reference

pytestmark = pytest.mark.native
FORMS = [np.asarray, sp.csr_array]


def make_problem(seed=0, n=40, d=5, classes=3):
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(classes), rng.integers(0, classes, n - classes)])
    X = rng.normal(size=(n, d)) + rng.normal(size=(classes, d))[y]
    X[rng.random((n, d)) < 0.5] = 0
    return X, y


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("classes", [2, 3, 5])
@pytest.mark.parametrize("covariance", ["unbiased", "mle"])
def test_equals_lda_with_a_diagonal(form, classes, covariance):
    X, y = make_problem(classes, classes=classes)
    weights = np.random.default_rng(1).uniform(0.2, 3, len(y))
    for w in (None, weights):
        fitted = LinearGaussianNB(covariance=covariance).fit(form(X), y, w)
        priors, means, S = reference.estimates(X, y, w, covariance, diagonal=True)
        np.testing.assert_allclose(fitted.means_, means, atol=1e-12)
        np.testing.assert_allclose(fitted.variances_, np.diag(S), rtol=1e-11)
        np.testing.assert_allclose(fitted.priors_, priors, rtol=1e-12)
        delta = reference.discriminants(X, priors, means, S)
        shares = reference.posterior(delta)
        np.testing.assert_allclose(fitted.predict_proba(form(X)), shares, atol=1e-11)
        np.testing.assert_allclose(fitted.predict_log_proba(form(X)), np.log(shares), atol=1e-9)
        np.testing.assert_array_equal(fitted.predict(form(X)), delta.argmax(axis=1))


def test_weights_are_those_of_the_formula():
    X, y = make_problem()
    fitted = LinearGaussianNB().fit(X, y)
    middle = fitted.priors_ @ fitted.means_
    np.testing.assert_allclose(fitted.coef_, (fitted.means_ - middle) / fitted.variances_)


def test_given_priors():
    X, y = make_problem()
    fitted = LinearGaussianNB(priors=[0.2, 0.3, 0.5]).fit(X, y)
    _, means, S = reference.estimates(X, y, diagonal=True)
    delta = reference.discriminants(X, np.array([0.2, 0.3, 0.5]), means, S)
    np.testing.assert_allclose(fitted.predict_proba(X), reference.posterior(delta), atol=1e-11)
    with pytest.raises(ValueError, match="priors has 2 numbers"):
        LinearGaussianNB(priors=[0.5, 0.5]).fit(X, y)


@given(st.integers(0, 10_000), st.sampled_from(FORMS))
def test_pieces_and_merges_equal_one_fit(seed, form):
    X, y = make_problem(seed)
    whole = LinearGaussianNB().fit(form(X), y)
    cut = int(np.random.default_rng(seed).integers(1, len(y)))
    stream = LinearGaussianNB().partial_fit(form(X[:cut]), y[:cut])
    stream.partial_fit(form(X[cut:]), y[cut:])
    np.testing.assert_array_equal(stream.coef_, whole.coef_)
    parts = [LinearGaussianNB().partial_fit(form(X[s]), y[s]) for s in (slice(cut), slice(cut, 99))]
    merged = parts[0].merge(parts[1])
    np.testing.assert_allclose(merged.coef_, whole.coef_, rtol=1e-9, atol=1e-9)


def test_saved_and_continued(tmp_path):
    X, y = make_problem()
    fitted = LinearGaussianNB().fit(X[:30], y[:30])
    fitted.model_.save(tmp_path / "m.safetensors", include_state=True)
    loaded = separable.load(tmp_path / "m.safetensors")
    np.testing.assert_array_equal(loaded.predict_proba(X), fitted.predict_proba(X))
    further = LinearGaussianNB.from_model(loaded).partial_fit(X[30:], y[30:])
    whole = LinearGaussianNB().fit(X, y)
    np.testing.assert_allclose(further.coef_, whole.coef_, rtol=1e-10)


@pytest.mark.parametrize("form", FORMS)
def test_columns_without_variance_have_no_weight(form):
    X, y = make_problem()
    expected = LinearGaussianNB().fit(X, y)
    wider = np.column_stack([X, np.full(len(y), 0.1), np.zeros(len(y))])
    fitted = LinearGaussianNB().fit(form(wider), y, np.full(len(y), 0.3))
    np.testing.assert_array_equal(fitted.coef_[:, 5:], 0)
    assert fitted.evidence_["constant_columns"] == 2
    fitted = LinearGaussianNB().fit(form(wider), y)
    np.testing.assert_allclose(fitted.coef_[:, :5], expected.coef_, rtol=1e-10)
    with pytest.warns(RankWarning, match="column 5: constant within every class, but not the same"):
        fitted = LinearGaussianNB().fit(form(np.column_stack([X, y / 3])), y)
    np.testing.assert_array_equal(fitted.coef_[:, 5], 0)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("factor", [1e6, 1e-6, 1e300, 1e-300])
def test_scales_change_no_prediction(form, factor):
    X, y = make_problem()
    expected = LinearGaussianNB().fit(X, y).decision_function(X)
    scaled = X * np.where(np.arange(5) == 2, 1.0, factor)
    found = LinearGaussianNB().fit(form(scaled), y).decision_function(form(scaled))
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_shifts_change_no_prediction():
    X, y = make_problem()
    expected = LinearGaussianNB().fit(X, y).decision_function(X)
    found = LinearGaussianNB().fit(X + 1e6, y).decision_function(X + 1e6)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-8)


@pytest.mark.slow
def test_columns_are_not_limited():
    X = sp.random_array((12, 1_000_000), density=1e-4, rng=np.random.default_rng(0), format="csr")
    y = np.arange(12) % 3
    fitted = LinearGaussianNB().fit(X, y)
    assert fitted.coef_.shape == (3, 1_000_000)
    assert (fitted.predict(X) == y).all()


# ------------------------------------------------------------------ leave-one-out


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("covariance", ["unbiased", "mle"])
@pytest.mark.parametrize("given_priors", [False, True])
def test_leave_one_out_equals_refitting(form, classes, covariance, given_priors):
    X, y = make_problem(classes, n=24, classes=classes)
    # columns that hold one row alone, all but one, nothing, and a row far away
    X = np.column_stack([X, np.arange(24) == 3, np.arange(24) != 5, np.ones(24)])
    X[7, 2] = 1e5
    priors = np.arange(1.0, classes + 1) / np.arange(1.0, classes + 1).sum()
    learner = LinearGaussianNB(priors if given_priors else None, covariance)
    rng = np.random.default_rng(0)
    for weights in (None, rng.integers(1, 4, 24).astype(float), rng.uniform(0.5, 2, 24)):
        expected = refits(learner, X, y, weights)
        found = short_cut(learner, form(X), y, weights)
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("form", FORMS)
def test_leave_one_out_of_a_class_of_one_row(form):
    X, y = make_problem(4, n=24, classes=4)
    y[y == 3] = 1
    y[5] = 3
    found = short_cut(LinearGaussianNB(), form(X), y)
    assert np.isneginf(found[5, 3])
    np.testing.assert_allclose(found, refits(LinearGaussianNB(), X, y), rtol=1e-8, atol=1e-8)


def test_leave_one_out_adds_up_values_that_are_there_twice():
    X, y = make_problem(1, n=24)
    csr = sp.csr_array(X)
    twice = sp.csr_array(
        (
            np.repeat(csr.data / 2, 2),
            np.repeat(csr.indices, 2),
            2 * csr.indptr,
        ),
        shape=X.shape,
    )
    found = short_cut(LinearGaussianNB(), twice, y)
    np.testing.assert_allclose(found, refits(LinearGaussianNB(), X, y), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_attributes_and_joint_probabilities_in_the_words_of_scikit_learn(form, n_classes):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)) * [1, 10, 0.1], np.arange(40) % n_classes
    ours = LinearGaussianNB(covariance="mle").fit(form(X), y)
    theirs = GaussianNB(var_smoothing=0.0).fit(X, y)
    np.testing.assert_allclose(ours.theta_, theirs.theta_, rtol=1e-12)
    np.testing.assert_allclose(ours.class_prior_, theirs.class_prior_)
    np.testing.assert_allclose(ours.class_count_, theirs.class_count_)
    assert ours.var_.shape == theirs.var_.shape
    theirs.var_ = np.array(ours.var_)  # shared by the classes
    np.testing.assert_allclose(
        ours.predict_joint_log_proba(form(X)), theirs.predict_joint_log_proba(X), rtol=1e-10
    )
