"""LeastSquaresClassifier against NumPy's least squares, refits and hard data."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import separable
from separable import LDA, LeastSquaresClassifier
from separable.moments.regression.rank_warning import RankWarning
from tests.moments.leaving_out import refits, short_cut
from tests.reference.least_squares_classifier import least_squares_classifier

pytestmark = pytest.mark.native
FORMS = [np.asarray, sp.csr_array]


def make_problem(seed=0, n=40, d=4, classes=3):
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(classes), rng.integers(0, classes, n - classes)])
    X = rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + rng.normal(size=(classes, d))[y]
    return X, y


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("classes", [2, 3, 5])
@pytest.mark.parametrize("weighted", [False, True])
def test_equals_reference(form, classes, weighted):
    X, y = make_problem(classes, classes=classes)
    weights = np.random.default_rng(0).uniform(0.2, 3, len(y)) if weighted else None
    fitted = LeastSquaresClassifier().fit(form(X), y, weights)
    w, b = least_squares_classifier(X, y, weights)
    np.testing.assert_allclose(fitted.coef_, w, atol=1e-11)
    np.testing.assert_allclose(fitted.intercept_, b, atol=1e-11)
    assert fitted.rank_ == 4
    assert fitted.condition_number_ > 1
    stream = LeastSquaresClassifier().partial_fit(
        form(X[:9]), y[:9], sample_weight=None if weights is None else weights[:9]
    )
    stream.partial_fit(form(X[9:]), y[9:], sample_weight=None if weights is None else weights[9:])
    np.testing.assert_allclose(stream.coef_, w, atol=1e-10)


def test_two_classes_point_where_lda_points():
    X, y = make_problem(classes=2)
    w, v = LeastSquaresClassifier().fit(X, y).coef_[0], LDA().fit(X, y).coef_[0]
    assert w @ v == pytest.approx(np.linalg.norm(w) * np.linalg.norm(v), rel=1e-12)


def test_scores_are_no_probabilities():
    X, y = make_problem()
    fitted = LeastSquaresClassifier().fit(X, y)
    np.testing.assert_allclose(fitted.decision_function(X).sum(axis=1), 1)
    assert fitted.decision_function(10 * X).min() < 0
    assert not hasattr(fitted, "predict_proba")
    with pytest.raises(AttributeError, match="link is 'score'"):
        fitted.model_.predict_proba(X)


def test_merged_saved_and_continued(tmp_path):
    X, y = make_problem()
    whole = LeastSquaresClassifier().fit(X, y)
    halves = [LeastSquaresClassifier().fit(X[s], y[s]) for s in (slice(20), slice(20, 40))]
    np.testing.assert_allclose(halves[0].merge(halves[1]).coef_, whole.coef_, atol=1e-11)
    halves[0].model_.save(tmp_path / "m.safetensors", include_state=True)
    loaded = separable.load(tmp_path / "m.safetensors")
    further = LeastSquaresClassifier.from_model(loaded).partial_fit(X[20:], y[20:])
    np.testing.assert_allclose(further.coef_, whole.coef_, atol=1e-11)


@pytest.mark.parametrize("form", FORMS)
def test_dependent_columns_are_named(form):
    X, y = make_problem()
    expected = LeastSquaresClassifier().fit(X, y).decision_function(X)
    wider = np.column_stack([X, np.ones(len(y)), X[:, 0] - X[:, 1]])
    with pytest.warns(
        RankWarning, match=r"column 4 is constant; column \d is a linear combination of"
    ):
        fitted = LeastSquaresClassifier().fit(form(wider), y)
    np.testing.assert_allclose(fitted.decision_function(form(wider)), expected, atol=1e-9)


@pytest.mark.parametrize("form", FORMS)
def test_more_columns_than_rows(form):
    X, y = make_problem(n=12, d=30)
    with pytest.warns(RankWarning, match="30 columns and 12 rows"):
        fitted = LeastSquaresClassifier().fit(form(X), y)
    np.testing.assert_allclose(fitted.decision_function(X), np.eye(3)[y], atol=1e-8)
    assert fitted.classes_.tolist() == [0, 1, 2]
    assert short_cut(LeastSquaresClassifier(), form(X), y) is None


@pytest.mark.parametrize(
    ("factor", "shift"), [(1e6, 0), (1e-6, 0), (1, 1e6), (1e300, 0), (1e-300, 0)]
)
def test_scaling_and_shifting_columns_changes_no_prediction(factor, shift):
    X, y = make_problem()
    expected = LeastSquaresClassifier().fit(X, y).decision_function(X)
    moved = X * factor + shift
    found = LeastSquaresClassifier().fit(moved, y).decision_function(moved)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-8)


def test_bad_input_is_refused():
    X, y = make_problem()
    with pytest.raises(ValueError, match="at least two classes"):
        LeastSquaresClassifier().fit(X, np.zeros(40))
    with pytest.raises(ValueError, match="length of column 0 overflows"):
        LeastSquaresClassifier().fit(X / np.abs(X).max() * 1.7e308, y)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("classes", [2, 3, 4])
def test_leave_one_out_equals_refitting(form, classes):
    X, y = make_problem(classes, n=24, classes=classes)
    X = np.column_stack([X, np.arange(24) == 3])  # without row 3 the column is constant
    X[7, 2] = 1e5
    rng = np.random.default_rng(0)
    learner = LeastSquaresClassifier()
    for weights in (None, rng.integers(1, 4, 24).astype(float), rng.uniform(0.5, 2, 24)):
        expected = refits(learner, X, y, weights)
        found = short_cut(learner, form(X), y, weights)
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8)


def test_leave_one_out_of_a_class_of_one_row():
    X, y = make_problem(4, n=24, classes=4)
    y[y == 3] = 1
    y[5] = 3
    found = short_cut(LeastSquaresClassifier(), X, y)
    assert np.isneginf(found[5, 3])
    expected = refits(LeastSquaresClassifier(), X, y)
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8)
    two = short_cut(LeastSquaresClassifier(), X, np.where(np.arange(24) == 5, 1, 0))
    assert np.isneginf(two[5, 1])
