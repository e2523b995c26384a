"""LDA against the lecture's formulas, scikit-learn, refits and hard data."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import log_softmax
from sklearn.covariance import ledoit_wolf, oas
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

import separable
from separable import LDA
from separable.moments.regression.rank_warning import RankWarning
from tests.moments.leaving_out import refits, short_cut
from tests.reference import lda as reference
from tests.versions import NEWER_SKLEARN

pytestmark = pytest.mark.native


def make_problem(seed=0, n=60, d=4, classes=3):
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(classes), rng.integers(0, classes, n - classes)])
    X = rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + 1.5 * rng.normal(size=(classes, d))[y]
    return X, y


def scores(fitted, X):
    """Return scores of each class from the largest."""
    found = fitted.decision_function(X)
    if found.ndim == 1:
        found = np.stack([np.zeros_like(found), found], axis=1)
    return found - found.max(axis=1, keepdims=True)


# ------------------------------------------------------------------ the same as others


@pytest.mark.parametrize("classes", [2, 3, 5])
@pytest.mark.parametrize("covariance", ["unbiased", "mle"])
@pytest.mark.parametrize("shrinkage", [None, 0.0, 0.3, 1.0])
def test_equals_the_formulas(classes, covariance, shrinkage):
    X, y = make_problem(classes, classes=classes)
    weights = np.random.default_rng(1).integers(0, 4, len(y)).astype(float)
    weights[:classes] = 1
    for w in (None, weights, weights / 3 + 0.25):
        fitted = LDA(covariance=covariance, shrinkage=shrinkage).fit(X, y, w)
        priors, means, S = reference.estimates(X, y, w, covariance, shrinkage or 0.0)
        np.testing.assert_allclose(fitted.priors_, priors, rtol=1e-13)
        np.testing.assert_allclose(fitted.means_, means, rtol=1e-11)
        np.testing.assert_allclose(fitted.covariance_, S, rtol=1e-11, atol=1e-12)
        delta = reference.discriminants(X, priors, means, S)
        np.testing.assert_allclose(
            scores(fitted, X), delta - delta.max(axis=1, keepdims=True), atol=1e-9
        )
        np.testing.assert_allclose(fitted.predict_proba(X), reference.posterior(delta), atol=1e-11)


def test_scores_of_many_classes_are_discriminants_about_the_mean_of_the_means():
    X, y = make_problem()
    fitted = LDA().fit(X, y)
    priors, means, S = reference.estimates(X, y)
    middle = priors @ means
    np.testing.assert_allclose(fitted.xbar_, middle, rtol=1e-12)
    delta = reference.discriminants(X - middle, priors, means - middle, S)
    np.testing.assert_allclose(fitted.decision_function(X), delta, atol=1e-10)


@NEWER_SKLEARN
@pytest.mark.parametrize("classes", [2, 3, 6])
@pytest.mark.parametrize("given_priors", [False, True])
def test_equals_scikit_learn(classes, given_priors):
    X, y = make_problem(classes, n=200, d=6, classes=classes)
    priors = np.arange(1.0, classes + 1) / np.arange(1.0, classes + 1).sum()
    priors = priors if given_priors else None
    ours = LDA(priors, covariance="mle").fit(X, y)
    peer = LinearDiscriminantAnalysis(priors=priors).fit(X, y)
    np.testing.assert_array_equal(ours.predict(X), peer.predict(X))
    for method in ("decision_function", "predict_proba"):
        np.testing.assert_allclose(getattr(ours, method)(X), getattr(peer, method)(X), atol=1e-8)
    mine, theirs = ours.transform(X), peer.transform(X)
    sign = np.sign((mine * theirs).sum(axis=0))
    np.testing.assert_allclose(mine, sign * theirs, atol=1e-8)
    np.testing.assert_allclose(
        ours.explained_variance_ratio_, peer.explained_variance_ratio_, atol=1e-10
    )
    np.testing.assert_allclose(ours.coef_, peer.coef_, atol=1e-8)
    np.testing.assert_allclose(ours.intercept_, peer.intercept_, atol=1e-8)


@pytest.mark.parametrize("shrinkage", [0.05, 0.5, 1.0])
def test_a_fixed_shrinkage_is_scikit_learns(shrinkage):
    X, y = make_problem(n=100)
    ours = LDA(covariance="mle", shrinkage=shrinkage).fit(X, y)
    peer = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=shrinkage).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), peer.predict_proba(X), atol=1e-10)


@pytest.mark.parametrize(("rule", "peer"), [("oas", oas), ("auto", ledoit_wolf)])
@pytest.mark.parametrize("shape", [(60, 4), (25, 12), (12, 30)])
def test_shrinkage_by_rule_is_that_of_rows_about_their_means(rule, peer, shape):
    X, y = make_problem(5, *shape)
    centred = X - np.array([X[y == k].mean(axis=0) for k in range(3)])[y]
    expected = peer(centred, assume_centered=True)[1]
    for form in (np.asarray, sp.csr_array):
        fitted = LDA(shrinkage=rule).fit(form(X), y)
        assert fitted.shrinkage_ == pytest.approx(expected, rel=1e-10)
        assert fitted.evidence_["shrinkage"] == fitted.shrinkage_
    twice = LDA(shrinkage=rule).fit(X, y, np.full(len(y), 2.0))
    again = peer(np.vstack([centred, centred]), assume_centered=True)[1]
    assert twice.shrinkage_ == pytest.approx(again, rel=1e-10)


def test_logarithms_of_tiny_probabilities_are_exact():
    X = np.array([[-1.0], [1.0], [99.0], [101.0]])
    for y in ([0, 0, 1, 1], [0, 0, 1, 2]):
        fitted = LDA().fit(X, y)
        delta = reference.discriminants(X, *reference.estimates(X, np.array(y)))
        np.testing.assert_allclose(
            fitted.predict_log_proba(X), log_softmax(delta, axis=1), rtol=1e-9, atol=1e-12
        )
    assert fitted.predict_log_proba([[-1e3]])[0, 1] < -1000


def test_axes_have_unit_variance_within_classes_and_are_uncorrelated():
    X, y = make_problem(n=200, classes=4)
    fitted = LDA().fit(X, y)
    Z = fitted.transform(X)
    assert Z.shape == (200, 3)
    centred = Z - np.array([Z[y == k].mean(axis=0) for k in range(4)])[y]
    np.testing.assert_allclose(centred.T @ centred / (200 - 4), np.eye(3), atol=1e-10)
    assert fitted.explained_variance_ratio_.sum() == pytest.approx(1)
    two = LDA(n_components=2).fit(X, y)
    np.testing.assert_array_equal(two.transform(X), Z[:, :2])
    assert two.get_feature_names_out().tolist() == ["lda0", "lda1"]
    assert len(two.explained_variance_ratio_) == 2
    with pytest.raises(ValueError, match=r"cannot be larger than .* which is 3\. Got 4\."):
        LDA(n_components=4).fit(X, y)


def test_equal_means_have_no_axes():
    X = np.array([[0.0], [2.0], [0.0], [2.0]])
    fitted = LDA().fit(X, [0, 0, 1, 1])
    assert fitted.transform(X).shape == (4, 0)
    np.testing.assert_array_equal(fitted.decision_function(X), np.zeros(4))


def test_iris_three_errors_of_150():
    X, y = load_iris(return_X_y=True)
    assert (LDA().fit(X, y).predict(X) != y).sum() == 3


# ------------------------------------------------------------------ pieces


@given(st.integers(0, 10_000), st.sampled_from([None, 0.2, "oas"]))
def test_pieces_and_merges_equal_one_fit(seed, shrinkage):
    rng = np.random.default_rng(seed)
    X, y = make_problem(seed, n=int(rng.integers(15, 60)))
    whole = LDA(shrinkage=shrinkage).fit(X, y)
    cut = np.sort(rng.integers(1, len(y), 2))
    stream = LDA(shrinkage=shrinkage)
    for part in np.split(np.arange(len(y)), cut):
        if len(part):
            stream.partial_fit(X[part], y[part])
    np.testing.assert_array_equal(stream.coef_, whole.coef_)
    half = len(y) // 2
    parts = [
        LDA(shrinkage=shrinkage).partial_fit(X[s], y[s]) for s in (slice(half), slice(half, None))
    ]
    merged = parts[0].merge(parts[1])
    np.testing.assert_allclose(merged.decision_function(X), whole.decision_function(X), atol=1e-8)


def test_weights_are_repetitions_and_zero_is_absence():
    X, y = make_problem()
    weights = np.random.default_rng(0).integers(0, 3, len(y))
    weights[y == 2] = 0
    ours = LDA().fit(X, y, weights)
    assert ours.classes_.tolist() == [0, 1]
    repeated = LDA().fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_allclose(ours.coef_, repeated.coef_, rtol=1e-10)
    np.testing.assert_allclose(ours.intercept_, repeated.intercept_, rtol=1e-10)


@pytest.mark.parametrize("shrinkage", [None, "oas"])
def test_saved_and_explained_and_continued(tmp_path, shrinkage):
    X, y = make_problem()
    labels = np.array(["a", "b", "c"])[y]
    fitted = LDA(priors=np.array([0.5, 0.25, 0.25]), shrinkage=shrinkage).fit(X[:40], labels[:40])
    fitted.model_.save(tmp_path / "m.safetensors", include_state=True)
    loaded = separable.load(tmp_path / "m.safetensors")
    np.testing.assert_array_equal(loaded.predict_proba(X), fitted.predict_proba(X))
    assert loaded.parameters["priors"] == [0.5, 0.25, 0.25]
    explanation = loaded.explain(X[:1])
    assert explanation is not None
    further = LDA.from_model(loaded).partial_fit(X[40:], labels[40:])
    whole = LDA(priors=[0.5, 0.25, 0.25], shrinkage=shrinkage).fit(X, labels)
    np.testing.assert_allclose(further.decision_function(X), whole.decision_function(X), atol=1e-9)
    with pytest.raises(ValueError, match=r"Estimator 2 differs in priors"):
        fitted.merge(LDA(priors=[0.2, 0.4, 0.4], shrinkage=shrinkage).fit(X, labels))


def test_ledoit_wolf_is_for_fit_alone():
    X, y = make_problem()
    automatic = LDA(shrinkage="auto")
    with pytest.raises(ValueError, match=r"only fit can do it.*shrinkage='oas' or a number"):
        automatic.partial_fit(X, y)
    fitted = automatic.fit(X, y)
    with pytest.raises(ValueError, match=r"not partial_fit, merge or cross-validation"):
        fitted.merge(fitted)
    assert short_cut(LDA(shrinkage="auto"), X, y) is None


# ------------------------------------------------------------------ hard data


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize(
    ("factor", "shift"),
    [(1e6, 0), (1e-6, 0), (1, 1e6), (1, -1e6), (1e300, 0), (1e-300, 0), (None, 0)],
)
def test_scaling_and_shifting_columns_changes_no_prediction(form, factor, shift):
    X, y = make_problem(2)
    expected = LDA().fit(X, y).decision_function(X)
    factor = np.array([1e300, 1e-300, 1.0, 1e6]) if factor is None else factor
    moved = X * factor + shift
    found = LDA().fit(form(moved), y).decision_function(form(moved))
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-8)


def test_columns_shifted_by_a_milliard_keep_the_digits_they_have():
    X, y = make_problem(2)
    moved = X + 1e9
    expected = LDA().fit(moved - 1e9, y)
    found = LDA().fit(moved, y)
    np.testing.assert_allclose(
        found.predict_proba(moved), expected.predict_proba(moved - 1e9), atol=1e-5
    )
    assert (found.predict(moved) == expected.predict(moved - 1e9)).all()


@pytest.mark.parametrize("shrinkage", [0.1, "oas", "auto"])
@pytest.mark.parametrize("factor", [1e300, 1e-300])
def test_shrinkage_of_extreme_values(shrinkage, factor):
    X, y = make_problem(2)
    expected = LDA(shrinkage=shrinkage).fit(X, y).decision_function(X)
    found = LDA(shrinkage=shrinkage).fit(X * factor, y).decision_function(X * factor)
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_values_beyond_all_floats_are_refused():
    X, y = make_problem(2)
    with pytest.raises(ValueError, match=r"The weight of column \d overflows float64"):
        LDA().fit(X * 1e-308, y)
    with pytest.raises(ValueError, match="contains NaN in row 3, column 1"):
        LDA().fit(np.where(np.arange(X.size).reshape(X.shape) == 13, np.nan, X), y)


def test_singular_covariances_are_told_with_the_reason():
    X, y = make_problem(2, n=40)
    expected = LDA().fit(X, y).decision_function(X)
    for more, reason in (
        (np.full(40, 0.1), "column 4 is constant[;.]"),
        (y / 3, "column 4 is constant within every class"),
        (X[:, 2], r"column [24] is a linear combination of column [24]"),
        (3 * X[:, 0] - X[:, 1], "is a linear combination of .*"),
    ):
        for form in (np.asarray, sp.csr_array):
            wider = form(np.column_stack([X, more]))
            with pytest.warns(RankWarning, match=f"singular.*{reason}.*use shrinkage"):
                fitted = LDA().fit(wider, y)
            np.testing.assert_allclose(fitted.decision_function(wider), expected, atol=1e-9)
    assert fitted.evidence_["solved_by"] == "pseudo-inverse"
    assert fitted.evidence_["rank"] == 4
    assert fitted.evidence_["condition_number"] is None


def test_columns_are_named_by_the_frame():
    pd = pytest.importorskip("pandas")
    X, y = make_problem(2)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(e=1.0, f=X[:, 0])
    with pytest.warns(
        RankWarning, match="'e' is constant; '[af]' is a linear combination of '[af]'"
    ):
        fitted = LDA().fit(frame, y)
    assert fitted.set_output(transform="pandas").transform(frame).columns.tolist() == [
        "lda0",
        "lda1",
    ]


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_features_that_are_all_zero_leave_the_priors(form):
    y = np.array([0, 1, 1, 2, 2, 2])
    with pytest.warns(RankWarning, match="column 0 is constant; column 1 is constant"):
        fitted = LDA().fit(form(np.zeros((6, 2))), y)
    np.testing.assert_allclose(fitted.predict_proba([[5.0, 5.0]]), [[1 / 6, 2 / 6, 3 / 6]])
    assert LDA(shrinkage=0.5).fit(form(np.zeros((6, 2))), y).predict([[1, 1]]).tolist() == [2]


def test_a_class_of_one_row_is_a_class():
    X, y = make_problem(2, classes=2)
    X, y = np.vstack([X, [50.0] * 4]), np.append(y, 7)
    fitted = LDA().fit(X, y)
    assert fitted.predict([[50.0] * 4]).tolist() == [7]
    priors, means, S = reference.estimates(X, y)
    delta = reference.discriminants(X, priors, means, S)
    np.testing.assert_allclose(fitted.predict_proba(X), reference.posterior(delta), atol=1e-10)


def test_as_many_classes_as_rows_are_refused():
    with pytest.raises(
        ValueError, match=r"3 rows .* in 3 classes.* Add rows, or leave out classes"
    ):
        LDA().fit(np.eye(3)[:, :2], [0, 1, 2])
    with pytest.raises(ValueError, match=r"of weight 1\.5.* in 2 classes"):
        LDA().fit([[0.0], [1.0], [3.0]], [0, 1, 1], [0.5, 0.5, 0.5])
    with pytest.raises(ValueError, match="at least two classes"):
        LDA().fit([[0.0], [1.0]], [1, 1])


def test_parameters_are_checked():
    X, y = make_problem()
    for bad, what in (
        ({"priors": [0.5, 0.5]}, "priors has 2 numbers, but the rows have 3 classes"),
        ({"priors": [0.5, 0.5, 0.0]}, "finite floats > 0, one a class"),
        ({"priors": "even"}, "finite floats > 0, one a class"),
        ({"covariance": "full"}, "must be 'unbiased' or 'mle'"),
        ({"shrinkage": 1.5}, "'auto', 'oas' or a float from 0 to 1"),
        ({"shrinkage": "lw"}, "'auto', 'oas' or a float from 0 to 1"),
        ({"n_components": 0}, "None or an int >= 1"),
    ):
        with pytest.raises(ValueError, match=what):
            LDA(**bad).fit(X, y)
    with pytest.warns(UserWarning, match="priors sum to 4, not to 1"):
        fitted = LDA(priors=[1, 1, 2]).fit(X, y)
    np.testing.assert_allclose(fitted.priors_, [0.25, 0.25, 0.5])


# ------------------------------------------------------------------ more columns than rows


def make_wide(seed=0, n=20, d=50):
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(3), rng.integers(0, 3, n - 3)])
    X = rng.normal(size=(n, d)) * np.exp(rng.normal(size=d)) + rng.normal(size=(3, d))[y]
    X[rng.random((n, d)) < 0.5] = 0
    return X, y, rng.normal(size=(30, d))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("shrinkage", [None, 0.1, 1.0, "oas"])
@pytest.mark.parametrize("weighted", [False, True])
def test_products_of_rows_give_what_products_of_columns_give(form, shrinkage, weighted):
    X, y, test = make_wide()
    weights = np.random.default_rng(3).uniform(0.5, 2, len(y)) if weighted else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankWarning)
        wide = LDA(shrinkage=shrinkage).fit(form(X), y, weights)
        sums = LDA(shrinkage=shrinkage).partial_fit(X, y, sample_weight=weights)
        np.testing.assert_allclose(
            wide.decision_function(test), sums.decision_function(test), rtol=1e-7, atol=1e-7
        )
        mine, theirs = wide.transform(test), sums.transform(test)
    np.testing.assert_allclose(np.abs(mine), np.abs(theirs), rtol=1e-6, atol=1e-7)
    assert wide.evidence_["solved_by"] == "rows"
    np.testing.assert_allclose(wide.means_, sums.means_, atol=1e-12)


@NEWER_SKLEARN
def test_wide_data_equals_scikit_learns_svd():
    X, y, test = make_wide(1)
    with pytest.warns(RankWarning, match=r"singular: 50 columns and 20 rows\..*more rows"):
        ours = LDA(covariance="mle").fit(X, y)
    peer = LinearDiscriminantAnalysis().fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(test), peer.predict_proba(test), atol=1e-8)
    with pytest.raises(AttributeError, match=r"covariance_ has d.2 numbers"):
        _ = ours.covariance_
    with pytest.raises(ValueError, match="fewer rows than features"):
        ours.partial_fit(X, y)
    with pytest.raises(ValueError, match="fewer rows than features"):
        ours.merge(ours)


@pytest.mark.filterwarnings("ignore::separable.moments.regression.rank_warning.RankWarning")
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_scales_and_shifts_of_wide_data_change_no_prediction(form):
    X, y, _ = make_wide()
    expected = LDA().fit(X, y).decision_function(X)
    for factor in (1e300, 1e-300, np.where(np.arange(50) % 2, 1e200, 1e-200)):
        found = LDA().fit(form(X * factor), y).decision_function(form(X * factor))
        np.testing.assert_allclose(found, expected, rtol=1e-8)
    moved = LDA().fit(X + 1e5, y).decision_function(X + 1e5)
    np.testing.assert_allclose(moved, expected, rtol=1e-7)
    shrunk = LDA(shrinkage="auto").fit(X, y).decision_function(X)
    found = LDA(shrinkage="auto").fit(form(X * 1e300), y).decision_function(form(X * 1e300))
    np.testing.assert_allclose(found, shrunk, rtol=1e-8)


@pytest.mark.slow
def test_very_many_columns_never_meet_each_other():
    rng = np.random.default_rng(0)
    X = sp.random_array((12, 2_000_000), density=1e-4, rng=rng, format="csr")
    y = np.arange(12) % 3
    fitted = LDA(shrinkage=0.1).fit(X, y)
    assert (fitted.predict(X) == y).all()


def test_what_does_not_fit_in_memory_is_refused_with_other_learners(monkeypatch):
    X = sp.csr_array((3, 10**6))
    with pytest.raises(MemoryError, match=r"LinearGaussianNB.*MultinomialNB.*SGDClassifier"):
        LDA().partial_fit(X, [0, 1, 1])
    monkeypatch.setattr("separable.data.resources.UNCHECKED_BYTES", 0)
    monkeypatch.setattr("separable.data.resources.available_bytes", lambda: 10)
    with pytest.raises(MemoryError, match=r"products of all 3 rows.*LinearGaussianNB"):
        LDA().fit(X, [0, 1, 1])


# ------------------------------------------------------------------ leave-one-out


@pytest.mark.parametrize("classes", [2, 3, 4])
@pytest.mark.parametrize("covariance", ["unbiased", "mle"])
@pytest.mark.parametrize("shrinkage", [None, 0.0, 0.3, 1.0, "oas"])
@pytest.mark.parametrize("given_priors", [False, True])
def test_leave_one_out_equals_refitting(classes, covariance, shrinkage, given_priors):
    X, y = make_problem(classes, n=24, classes=classes)
    priors = np.arange(1.0, classes + 1) / np.arange(1.0, classes + 1).sum()
    learner = LDA(priors if given_priors else None, covariance, shrinkage)
    rng = np.random.default_rng(0)
    for weights in (None, rng.integers(1, 4, len(y)).astype(float), rng.uniform(0.5, 2, len(y))):
        expected = refits(learner, X, y, weights)
        for form in (np.asarray, sp.csr_array):
            found = short_cut(learner, form(X), y, weights)
            np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("shrinkage", [None, 0.3, "oas"])
def test_leave_one_out_of_a_class_of_one_row(shrinkage):
    X, y = make_problem(4, n=24, classes=4)
    y[y == 3] = 1
    y[5] = 3
    learner = LDA(shrinkage=shrinkage)
    found = short_cut(learner, X, y)
    assert np.isneginf(found[5, 3])
    np.testing.assert_allclose(found, refits(learner, X, y), rtol=1e-8, atol=1e-8)
    two = short_cut(learner, X, np.where(np.arange(24) == 5, 1, 0))
    assert np.isneginf(two[5, 1])
    given_priors = LDA([0.1, 0.2, 0.3, 0.4], shrinkage=shrinkage)
    left = short_cut(given_priors, X, y)[5]
    others = LDA(np.array([1, 2, 3]) / 6, shrinkage=shrinkage).fit(X[y != 3], y[y != 3])
    np.testing.assert_allclose(left[:3], scores(others, X[[5]])[0], atol=1e-8)
    assert np.isneginf(left[3])


@pytest.mark.filterwarnings("ignore::separable.moments.regression.rank_warning.RankWarning")
def test_leave_one_out_where_rows_hold_a_direction_up_alone():
    X, y = make_problem(5, n=24)
    lone = np.column_stack([X, np.arange(24) == 3])  # without row 3 the column is constant
    double = np.column_stack([X, X[:, 0], np.full(24, 7.0)])
    for wider in (lone, double):
        found = short_cut(LDA(), wider, y)
        np.testing.assert_allclose(found, refits(LDA(), wider, y), rtol=1e-8, atol=1e-8)
    outside = np.column_stack([X, X[:, 0] + y])  # dependent within classes, not between them
    assert short_cut(LDA(), outside, y) is None
    assert short_cut(LDA(), X[:4], y[:4]) is None


def test_leave_one_out_where_no_fit_would_work():
    X, y = np.array([[0.0], [1.0], [5.0]]), np.array([0, 0, 1])
    for shrinkage in (None, 0.5, "oas"):
        assert short_cut(LDA(shrinkage=shrinkage), X, y) is None
    X, y = np.array([[0.0], [1.0], [5.0], [6.0]]), np.array([0, 0, 1, 1])
    assert short_cut(LDA(), X, y, np.full(4, 0.6)) is None
    assert short_cut(LDA(covariance="mle"), X, y, np.full(4, 0.6)) is not None


@pytest.mark.filterwarnings("ignore::separable.moments.regression.rank_warning.RankWarning")
def test_leave_one_out_of_the_only_row_that_varies():
    X = np.array([[1.0, 2], [1, 2], [1, 2], [4, 2], [4, 2], [9, 7]])
    y = np.array([0, 0, 0, 1, 1, 1])
    for shrinkage in (0.5, "oas"):
        found = short_cut(LDA(shrinkage=shrinkage), X, y)
        expected = refits(LDA(shrinkage=shrinkage), X, y)
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8)


def test_leave_one_out_leaves_absent_rows_out():
    X, y = make_problem(5, n=24)
    weights = np.ones(24)
    weights[[2, 9]] = 0
    found = short_cut(LDA(), X, y, weights)
    np.testing.assert_allclose(found, refits(LDA(), X[weights > 0], y[weights > 0]), atol=1e-8)


def test_leave_one_out_of_extreme_and_shifted_columns():
    X, y = make_problem(5, n=24)
    expected = short_cut(LDA(), X, y)
    np.testing.assert_allclose(short_cut(LDA(), X * [1e300, 1e-300, 1, 1], y), expected, atol=1e-8)
    np.testing.assert_allclose(short_cut(LDA(), X + 1e5, y), expected, atol=1e-7)


@pytest.mark.filterwarnings("ignore::separable.moments.regression.rank_warning.RankWarning")
@pytest.mark.parametrize("shrinkage", [None, 0.3, "oas"])
def test_sparse_columns_far_from_0_with_fewer_rows(shrinkage):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(24, 60)) + 1e6, np.arange(24) % 3
    X[:, 40:] = np.where(rng.random((24, 20)) < 0.1, 1.0, 0.0)
    dense = LDA(shrinkage=shrinkage).fit(X, y).decision_function(X)
    found = LDA(shrinkage=shrinkage).fit(sp.csr_array(X), y).decision_function(X)
    np.testing.assert_allclose(found, dense, rtol=1e-7, atol=1e-7 * np.abs(dense).max())


def test_a_fit_that_fails_keeps_the_names_of_the_columns():
    X, y = np.random.default_rng(0).normal(size=(20, 2)), np.arange(20) % 2
    model = LDA().fit(pd.DataFrame(X, columns=["a", "b"]), y)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(pd.DataFrame(X * np.nan, columns=["c", "d"]), y)
    assert list(model.model_.feature_names) == ["a", "b"]
    model.partial_fit(pd.DataFrame(X, columns=["a", "b"]), y)
    assert list(model.model_.feature_names) == ["a", "b"]


@pytest.mark.filterwarnings("ignore::separable.moments.regression.rank_warning.RankWarning")
def test_sparse_classes_far_from_each_other_with_fewer_rows():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 40)), np.arange(12) % 2
    X[:, ::2] = np.where(y[:, None] == 0, 0.0, X[:, ::2] + 1e6)  # 0 in one class
    X[:3] += 1e-3
    dense = LDA().fit(X, y).decision_function(X)
    found = LDA().fit(sp.csr_array(X), y).decision_function(X)
    np.testing.assert_allclose(found, dense, rtol=1e-6)
