"""RidgeCV against refits and scikit-learn's RidgeCV and GridSearchCV."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.linear_model import Ridge as PeerRidge
from sklearn.linear_model import RidgeCV as PeerCV
from sklearn.metrics import make_scorer, mean_absolute_error
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    LeaveOneOut,
    RepeatedKFold,
    ShuffleSplit,
    cross_val_score,
)

import separable
from separable import LeastSquares, Ridge, RidgeCV
from separable.fitting.best_candidate import GridEdgeWarning
from separable.model.parameters import ParameterError
from separable.moments.regression import ridge_validation
from separable.moments.regression.rank_warning import RankWarning
from tests.moments.leaving_out import refits
from tests.reference import ridge as refit
from tests.reference import ridge_cv as reference

pytestmark = [
    pytest.mark.native,
    pytest.mark.filterwarnings("ignore::separable.fitting.best_candidate.GridEdgeWarning"),
]

ALPHAS = np.logspace(-3, 3, 7)
SHAPES = [(60, 4), (12, 30)]
SPLITTERS = [
    3,
    KFold(4, shuffle=True, random_state=1),
    ShuffleSplit(6, random_state=0),
    RepeatedKFold(n_splits=3, n_repeats=2, random_state=0),
    LeaveOneOut(),
]


def problem(n=60, d=4, seed=0, targets=None, noise=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + rng.normal(size=d)
    shape = (d,) if targets is None else (d, targets)
    return X, X @ rng.normal(size=shape) + noise * rng.normal(size=(n, *shape[1:])) + 3


def splits_of(cv, n):
    return list((KFold(cv) if isinstance(cv, int) else cv).split(np.zeros(n)))


# ------------------------------------------------------------------ folds


@pytest.mark.parametrize("cv", SPLITTERS, ids=lambda cv: str(cv).partition("(")[0])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
def test_folds_equal_refits(cv, shape, intercept, weighted, sparse):
    X, y = problem(*shape)
    weight = np.arange(len(y)) % 3 + 0.5 if weighted else None
    expected = reference.fold_scores(X, y, ALPHAS, splits_of(cv, len(y)), weight, intercept)
    search = RidgeCV(ALPHAS, cv, intercept).fit(csr_array(X) if sparse else X, y, weight)
    found = search.cv_results_
    np.testing.assert_allclose(found["fold_scores"], expected, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(found["mean_score"], expected.mean(axis=1), rtol=1e-8)
    k = expected.shape[1]
    error = expected.std(axis=1, ddof=1) / np.sqrt(k)
    np.testing.assert_allclose(found["standard_error"], error, rtol=1e-7)
    best = int(np.argmax(expected.mean(axis=1)))
    assert search.alpha_ == ALPHAS[best]
    assert search.best_score_ == pytest.approx(expected[best].mean(), rel=1e-8)
    w, b = refit.ridge(X, y, search.alpha_, weight, intercept)
    np.testing.assert_allclose(search.coef_, w, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(search.intercept_, [b], rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("scoring", [None, "r2", "neg_median_absolute_error"])
@pytest.mark.parametrize("shape", SHAPES)
def test_folds_equal_a_grid_search(scoring, shape):
    X, y = problem(*shape)
    cv = KFold(3, shuffle=True, random_state=0)
    search = RidgeCV(ALPHAS, cv, scoring=scoring).fit(X, y)
    peer = GridSearchCV(
        PeerRidge(solver="svd"),
        {"alpha": ALPHAS},
        cv=cv,
        scoring=scoring or "neg_mean_squared_error",
    ).fit(X, y)
    expected = peer.cv_results_["mean_test_score"]
    np.testing.assert_allclose(search.cv_results_["mean_score"], expected, rtol=1e-8)
    assert search.alpha_ == peer.best_params_["alpha"]
    np.testing.assert_allclose(search.coef_, peer.best_estimator_.coef_, rtol=1e-8, atol=1e-12)


@pytest.mark.slow
@given(seed=st.integers(0, 1000), cv=st.sampled_from([2, 3, None]), targets=st.sampled_from([1, 3]))
def test_several_targets(seed, cv, targets):
    X, y = problem(15, 4, seed, targets)
    search = RidgeCV(ALPHAS, cv).fit(X, y)
    splits = splits_of(LeaveOneOut() if cv is None else cv, 15)
    each = [reference.fold_scores(X, y[:, j], ALPHAS, splits) for j in range(targets)]
    expected = np.mean(each, axis=(0, 2))
    np.testing.assert_allclose(search.cv_results_["mean_score"], expected, rtol=1e-8)


# ------------------------------------------------------------------ leave-one-out


@pytest.mark.parametrize("shape", [*SHAPES, (8, 7), (7, 7), (6, 7)])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
def test_leave_one_out_equals_refits(shape, intercept, weighted, sparse):
    X, y = problem(*shape)
    weight = np.arange(len(y)) % 3 + 0.5 if weighted else None
    search = RidgeCV(ALPHAS, None, intercept).fit(csr_array(X) if sparse else X, y, weight)
    c = np.ones(len(y)) if weight is None else weight
    squares = np.array([(y - refit.left_out(X, y, a, weight, intercept)) ** 2 for a in ALPHAS])
    mean = squares @ c / c.sum()
    np.testing.assert_allclose(search.cv_results_["mean_score"], -mean, rtol=1e-8)
    spread = np.sqrt((squares - mean[:, None]) ** 2 @ c / c.sum() / (len(y) - 1))
    np.testing.assert_allclose(search.cv_results_["standard_error"], spread, rtol=1e-6)
    assert search.alpha_ == ALPHAS[np.argmin(mean)]
    assert "fold_scores" not in search.cv_results_


@pytest.mark.parametrize("scoring", [None, "neg_mean_absolute_error", "r2"])
@pytest.mark.parametrize("shape", SHAPES)
def test_leave_one_out_equals_scikit_learn(scoring, shape):
    X, y = problem(*shape)
    search = RidgeCV(ALPHAS, scoring=scoring).fit(X, y)
    peer = PeerCV(ALPHAS, scoring=scoring).fit(X, y)
    assert search.alpha_ == peer.alpha_
    assert search.best_score_ == pytest.approx(peer.best_score_, rel=1e-8)
    np.testing.assert_allclose(search.coef_, peer.coef_, rtol=1e-7, atol=1e-10)


def test_a_callable_scores_weights_too():
    X, y = problem(30)
    scorer = make_scorer(mean_absolute_error, greater_is_better=False)
    weight = np.arange(30) % 3 + 1.0
    search = RidgeCV([0.1, 1.0], scoring=scorer).fit(X, y, weight)
    error = np.abs(y - refit.left_out(X, y, 1.0, weight))
    assert search.cv_results_["mean_score"][1] == pytest.approx(-(weight @ error) / weight.sum())
    assert np.isnan(search.cv_results_["standard_error"]).all()
    assert search.evidence_["standard_error"] is None


def test_rows_that_determine_the_fit_alone_are_refitted():
    X, y = problem(20, 3)
    X = np.column_stack([X, np.eye(20)[7] * 1e5])  # 1 - h = 1e-12 and less
    expected = [((y - refit.left_out(X, y, a)) ** 2).mean() for a in ALPHAS]
    search = RidgeCV(ALPHAS).fit(X, y)
    np.testing.assert_allclose(-search.cv_results_["mean_score"], expected, rtol=1e-8)


# ------------------------------------------------------------------ few digits


@pytest.mark.slow
@pytest.mark.parametrize("cv", [None, 5])
@pytest.mark.parametrize("noise", [1e-7, 1e-10])
def test_errors_of_a_nearly_perfect_fit_have_digits(cv, noise):
    X, y = problem(80, 4, noise=noise)
    alphas = np.logspace(-14, -4, 5)
    search = RidgeCV(alphas, cv).fit(X, y)
    splits = splits_of(LeaveOneOut() if cv is None else cv, 80)
    expected = np.empty((5, len(splits)))
    for k, (train, test) in enumerate(splits):
        for a, alpha in enumerate(alphas):
            fitted = Ridge(alpha).fit(X[train], y[train])  # refined: no digits are missing
            expected[a, k] = -((fitted.predict(X[test]) - y[test]) ** 2).mean()
    found = search.cv_results_["mean_score"]
    tolerance = max(1e-8, 1e-14 / noise)  # rounding of the predictions themselves
    np.testing.assert_allclose(found, expected.mean(axis=1), rtol=10 * tolerance)


@pytest.mark.parametrize("cv", [None, 4])
@pytest.mark.parametrize("hard", ["scales", "one-hot", "nearly"])
def test_alphas_that_eigenvalues_cannot_see(cv, hard):
    rng = np.random.default_rng(0)
    X, y = problem(60, 4)
    if hard == "scales":
        X[:, 0] *= 1e7
        X[:, 1] *= 1e-6
    elif hard == "one-hot":
        X = np.column_stack([X, np.eye(3)[rng.integers(3, size=60)]])
        y = y + X[:, -1]
    else:
        X[:, 3] = X[:, 2] + 1e-5 * rng.normal(size=60)
    alphas = np.array([1e-14, 1e-9, 1e-4, 1.0])
    splits = splits_of(LeaveOneOut() if cv is None else cv, 60)
    expected = np.zeros(4)
    for train, test in splits:
        for a, alpha in enumerate(alphas):
            fitted = Ridge(alpha).fit(X[train], y[train])
            expected[a] -= ((fitted.predict(X[test]) - y[test]) ** 2).mean() / len(splits)
    found = RidgeCV(alphas, cv).fit(X, y).cv_results_["mean_score"]
    np.testing.assert_allclose(found, expected, rtol=1e-8)


@pytest.mark.parametrize("cv", [None, 4])
def test_tiny_alphas_with_more_columns_than_rows(cv):
    X, y = problem(12, 30)
    X[7] = X[3] + 1e-5 * X[8]  # rows that nearly depend on each other
    alphas = np.array([0.0, 1e-12, 1e-8, 1e-3])
    splits = splits_of(LeaveOneOut() if cv is None else cv, 12)
    expected = np.zeros(4)
    for train, test in splits:
        for a, alpha in enumerate(alphas):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RankWarning)
                fitted = Ridge(alpha).fit(X[train], y[train])
            expected[a] -= ((fitted.predict(X[test]) - y[test]) ** 2).mean() / len(splits)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankWarning)
        found = RidgeCV(alphas, cv).fit(X, y).cv_results_["mean_score"]
    np.testing.assert_allclose(found, expected, rtol=1e-8)


def test_columns_far_from_0_keep_their_digits():
    X, y = problem(60, 4)
    for cv in (None, 5):
        near, far = RidgeCV(ALPHAS, cv).fit(X, y), RidgeCV(ALPHAS, cv).fit(X + 1e7, y)
        np.testing.assert_allclose(
            far.cv_results_["mean_score"], near.cv_results_["mean_score"], rtol=1e-6
        )


@pytest.mark.parametrize("size", [1e-250, 1e-160, 1e160, 1e250])
@pytest.mark.parametrize("cv", [None, 3])
def test_extreme_columns(size, cv):
    X, y = problem(40, 3)
    X[:, 1] *= size
    if size < 1:  # it has nothing to say
        expected = RidgeCV(ALPHAS, cv).fit(X[:, [0, 2]], y)
    else:  # it is not penalised, as good as
        long = X / [1, size, 1] * [1, 1e5, 1]
        expected = RidgeCV(ALPHAS, cv).fit(long, y)
    search = RidgeCV(ALPHAS, cv).fit(X, y)
    np.testing.assert_allclose(
        search.cv_results_["mean_score"], expected.cv_results_["mean_score"], rtol=1e-7
    )
    assert np.isfinite(RidgeCV(cv=cv).fit(X, y).coef_).all()


def test_errors_that_overflow_are_named():
    X, y = problem(20, 2)
    with pytest.raises(ValueError, match=r"score with alpha=0.001 is -inf.*scale y"):
        RidgeCV(ALPHAS).fit(X, y * 1e200)


# ------------------------------------------------------------------ choosing


@pytest.mark.filterwarnings("error::separable.fitting.best_candidate.GridEdgeWarning")
def test_a_best_alpha_at_the_edge_is_told():
    X, y = problem(200, 3)
    with pytest.warns(GridEdgeWarning, match=r"The best alpha, 1e\+08, is the smallest .* smaller"):
        search = RidgeCV([1e8, 1e9]).fit(X, y)
    assert search.evidence_["at_edge"] == "smallest"
    with pytest.warns(GridEdgeWarning, match="is the largest that was tried.*try larger ones"):
        RidgeCV([1e-6, 1e-7], cv=3).fit(X, np.random.default_rng(0).normal(size=200))
    assert RidgeCV([5.0]).fit(X, y).evidence_["at_edge"] is None  # nothing to choose
    perfect = RidgeCV().fit(X, X @ [1.0, 2.0, 3.0])  # the default grid ends where nothing changes
    assert perfect.evidence_["at_edge"] == "smallest"


def test_there_is_no_alpha_below_0_to_try():
    X, _ = problem(200, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("error", GridEdgeWarning)
        assert RidgeCV([0.0, 1e8]).fit(X, X @ [1.0, 2.0, 3.0]).alpha_ == 0


@pytest.mark.parametrize("cv", [None, 3])
def test_alphas_that_overflow_beside_tiny_columns_are_infinite(cv):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 3)) * 1e-300, rng.normal(size=30)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        assert np.isfinite(RidgeCV(cv=cv).fit(X, y).coef_).all()


@pytest.mark.parametrize("cv", [None, 3])
@pytest.mark.parametrize("shape", [(40, 4), (25, 30)], ids=["tall", "wide"])
@pytest.mark.parametrize("exponent", [-1000, -660, -530, -250, 250, 490])
def test_the_unit_of_y_does_not_change_the_choice(cv, shape, exponent):
    """Squares of y below 1e-160 are 0 in float64, and every alpha would tie."""
    X, y = problem(*shape)
    one, other = RidgeCV(cv=cv).fit(X, y), RidgeCV(cv=cv).fit(X, np.ldexp(y, exponent))
    assert other.alpha_ == one.alpha_
    assert one.alpha_ < one.cv_results_["alpha"].max()
    np.testing.assert_allclose(np.ldexp(other.coef_, -exponent), one.coef_, rtol=1e-6)
    np.testing.assert_allclose(
        other.cv_results_["mean_score"],
        np.ldexp(one.cv_results_["mean_score"], 2 * exponent),
        rtol=1e-6,
    )
    if exponent in (-250, 250):  # fourth powers are beyond float64, but their root is not
        np.testing.assert_allclose(
            other.cv_results_["standard_error"],
            np.ldexp(one.cv_results_["standard_error"], 2 * exponent),
            rtol=1e-6,
        )


def test_a_scorer_of_numbers_whose_squares_vanish_is_refused():
    X, y = problem(40, 3)
    with pytest.raises(ValueError, match=r"squares of numbers below .* vanish .* Divide y"):
        RidgeCV(scoring="r2", cv=3).fit(X, y * 1e-200)


@pytest.mark.parametrize("size", [1e-200, 1e-160, 1e-150, 1e150, 1e200])
def test_default_alphas_that_float64_does_not_hold_are_warned_of(size):
    X, y = problem(40, 3)
    with pytest.warns(GridEdgeWarning, match="does not hold the default alphas.*StandardScaler"):
        RidgeCV().fit(X * size, y)


@pytest.mark.parametrize("learner", [RidgeCV(), RidgeCV(cv=3), Ridge(1e-40), LeastSquares()])
@pytest.mark.parametrize("form", [np.asarray, csr_array])
@pytest.mark.parametrize("value", [3.0, 0.1, 1e5])
def test_constant_columns_tell_nothing_also_where_they_are_many(learner, form, value):
    """A mean that is rounded must not leave its rounding as something to learn from."""
    rng = np.random.default_rng(0)
    X, y = np.full((20, 50), value), rng.normal(size=20)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        predicted = learner.fit(form(X), y).predict(form(X))
    np.testing.assert_allclose(predicted, y.mean(), rtol=1e-9)


def test_ties_go_to_more_regularisation():
    X = np.zeros((6, 2))
    search = RidgeCV([1.0, 100.0, 10.0]).fit(X, np.arange(6.0))
    assert search.alpha_ == 100.0
    assert RidgeCV([1.0, 100.0, 10.0], cv=3).fit(X, np.arange(6.0)).alpha_ == 100.0


def test_the_default_grid_follows_the_units_of_the_columns():
    X, y = problem(50, 4)
    one, other = RidgeCV().fit(X, y), RidgeCV().fit(X * 1024, y)
    assert len(one.cv_results_["alpha"]) == 28
    mean_square = ((X - X.mean(axis=0)) ** 2).sum() / 4
    ends = one.cv_results_["alpha"][[0, -1]] / mean_square
    np.testing.assert_allclose(ends, [1e-6, 1e3])
    np.testing.assert_allclose(other.alpha_, one.alpha_ * 2**20)
    np.testing.assert_allclose(other.predict(X * 1024), one.predict(X), rtol=1e-10)
    wide = RidgeCV().fit(csr_array(X[:3]), y[:3])
    mean_square = ((X[:3] - X[:3].mean(axis=0)) ** 2).sum() / 4
    np.testing.assert_allclose(wide.cv_results_["alpha"][0], mean_square * 1e-6)


def test_no_penalty_may_be_tried():
    X, y = problem(40, 3)
    search = RidgeCV([0.0, 1e-3]).fit(X, y)
    error = ((y - refits(LeastSquares(), X, y)) ** 2).mean()
    np.testing.assert_allclose(-search.cv_results_["mean_score"][0], error, rtol=1e-8)
    wide = problem(6, 12)
    assert np.isfinite(RidgeCV([0.0, 1.0], cv=3).fit(*wide).cv_results_["mean_score"]).all()
    assert np.isfinite(RidgeCV([0.0, 1.0]).fit(*wide).cv_results_["mean_score"]).all()


def test_rows_are_read_once_where_folds_are_a_partition(monkeypatch):
    X, y = problem(60, 4)
    read = []
    add_data = separable.Moments.add_data

    def counting(self, data, chosen=None):
        read.append(len(y) if chosen is None else len(chosen))
        return add_data(self, data, chosen)

    monkeypatch.setattr(separable.Moments, "add_data", counting)
    RidgeCV(ALPHAS, 5).fit(X, y)
    assert read == [12] * 5
    read.clear()
    RidgeCV(ALPHAS, ShuffleSplit(2, random_state=0)).fit(X, y)
    assert read == [6, 6, 54, 54, 60]


def test_rows_of_weight_zero_are_absent():
    X, y = problem(30, 3)
    weight = (np.arange(30) % 4 > 0).astype(float)
    keep = weight > 0
    X[~keep] = 1e6
    a, b = RidgeCV(ALPHAS).fit(X, y, weight), RidgeCV(ALPHAS).fit(X[keep], y[keep])
    np.testing.assert_allclose(a.cv_results_["mean_score"], b.cv_results_["mean_score"], rtol=1e-12)
    with pytest.raises(ValueError, match="Fold 1 of 3 has no rows held out"):
        RidgeCV(ALPHAS, 3).fit(X, y, (np.arange(30) >= 10).astype(float))


def test_partition_is_told_from_other_splits():
    rows = np.arange(6)
    halves = [(rows[3:], rows[:3]), (rows[:3], rows[3:])]
    assert ridge_validation._is_partition(halves, 6)
    assert not ridge_validation._is_partition(halves[:1], 6)
    assert not ridge_validation._is_partition([(rows[4:], rows[:3]), (rows[:3], rows[3:])], 6)
    assert not ridge_validation._is_partition([(rows[[3, 3, 4]], rows[:3]), halves[1]], 6)
    assert not ridge_validation._is_partition([halves[0], halves[0]], 6)


def test_lists_of_splits_may_overlap():
    X, y = problem(20, 2)
    splits = [(np.arange(10), np.arange(10, 20)), (np.arange(5), np.arange(8, 20))]
    search = RidgeCV(ALPHAS, splits).fit(X, y)
    expected = reference.fold_scores(X, y, ALPHAS, splits)
    np.testing.assert_allclose(search.cv_results_["fold_scores"], expected, rtol=1e-9)


def test_nested_in_scikit_learn():
    X, y = problem(60, 4)
    scores = cross_val_score(RidgeCV(cv=3), X, y, cv=4)
    assert scores.shape == (4,)
    assert np.isfinite(scores).all()


# ------------------------------------------------------------------ going on


def test_ridge_goes_on_with_the_choice(tmp_path):
    X, y = problem(80, 4)
    with pytest.raises(AttributeError, match=r"no partial_fit: a stream .* to_ridge\(\)"):
        RidgeCV().partial_fit(X, y)
    assert not hasattr(RidgeCV(), "partial_fit")
    search = RidgeCV(ALPHAS, KFold(4), scoring="r2").fit(X[:50], y[:50])
    search.model_.save(tmp_path / "search.st", include_state=True)
    resumed = RidgeCV.from_model(separable.load(tmp_path / "search.st"))
    np.testing.assert_allclose(resumed.coef_, search.coef_, rtol=1e-10)
    assert resumed.alpha_ == resumed.evidence_["alpha"] == search.alpha_
    expected = Ridge(search.alpha_).fit(X, y)
    before = search.coef_.copy()
    for learner in (search, resumed):
        ridge = learner.to_ridge().partial_fit(X[50:], y[50:])
        assert ridge.alpha == search.alpha_
        np.testing.assert_allclose(ridge.coef_, expected.coef_, rtol=1e-11)
    np.testing.assert_array_equal(search.coef_, before)
    with pytest.raises(AttributeError, match="knows its alpha, not the scores"):
        resumed.cv_results_  # noqa: B018
    with pytest.raises(ValueError, match="fewer rows than features"):
        RidgeCV().fit(X[:3], y[:3]).to_ridge()


def test_merging_asks_for_the_same_choice():
    X, y = problem(80, 4)
    a, b = (RidgeCV([2.0]).fit(X[part], y[part]) for part in (slice(0, 30), slice(30, 80)))
    merged = a.merge(b)
    np.testing.assert_allclose(merged.coef_, Ridge(2.0).fit(X, y).coef_, rtol=1e-11)
    odd = RidgeCV([3.0]).fit(X, y)
    with pytest.raises(ValueError, match=r"Estimator 2 chose alpha=3, the first 2.*Ridge\(alpha"):
        a.merge(odd)
    with pytest.raises(ValueError, match="differs in alphas"):
        a.merge(RidgeCV(np.array([2.0, 2.0])).fit(X, y))


def test_bad_parameters_and_data_are_named():
    X, y = problem(10, 2)
    for bad in ([], [-1.0], [np.nan], "abc", 1.0, [[1.0]]):
        with pytest.raises(ParameterError, match="'alphas' parameter of RidgeCV must be None or a"):
            RidgeCV(bad).fit(X, y)
    for bad in (1, True, "five", 2.5):
        with pytest.raises(ParameterError, match="'cv' parameter of RidgeCV must be None, an int"):
            RidgeCV(cv=bad).fit(X, y)
    with pytest.raises(ParameterError, match="'scoring' parameter"):
        RidgeCV(scoring=3).fit(X, y)
    with pytest.raises(ValueError, match="Cannot have number of splits n_splits=11"):
        RidgeCV(cv=11).fit(X, y)
    with pytest.raises(ValueError, match="at least two rows to leave one out"):
        RidgeCV().fit(X[:1, :1], y[:1])
    with pytest.raises(ValueError, match="gives no folds"):
        RidgeCV(cv=[]).fit(X, y)
    X[4, 0] = np.inf
    with pytest.raises(ValueError, match="row 4"):
        RidgeCV(cv=2).fit(X, y)


def test_float32_and_duplicates_in_sparse_rows():
    X, y = problem(40, 3)
    small = X.astype(np.float32)
    a, b = RidgeCV(ALPHAS).fit(small, y), RidgeCV(ALPHAS).fit(small.astype(float), y)
    np.testing.assert_allclose(a.cv_results_["mean_score"], b.cv_results_["mean_score"], rtol=1e-10)
    halves = csr_array(
        (np.repeat(X.ravel() / 2, 2), np.tile(np.repeat(np.arange(3), 2), 40), np.arange(41) * 6),
        shape=(40, 3),
    )
    for cv in (None, 4):
        a, b = RidgeCV(ALPHAS, cv).fit(halves, y), RidgeCV(ALPHAS, cv).fit(X, y)
        np.testing.assert_allclose(
            a.cv_results_["mean_score"], b.cv_results_["mean_score"], rtol=1e-10
        )


def test_splits_are_checked():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(9000, 2)), rng.normal(size=9000)
    test = np.arange(9000) < 4000
    masks = RidgeCV(cv=[(~test, test), (test, ~test)]).fit(X, y)
    places = [(np.flatnonzero(~test), np.flatnonzero(test))]
    numbers = RidgeCV(cv=[*places, places[0][::-1]]).fit(X, y)
    np.testing.assert_array_equal(masks.coef_, numbers.coef_)
    with pytest.raises(ValueError, match="Fold 0 trains on row 0, which it also holds out"):
        RidgeCV(cv=[(np.arange(9000), np.arange(10))]).fit(X, y)
    with pytest.raises(ValueError, match="Fold 0 names test row -1"):
        RidgeCV(cv=[(np.arange(10), np.array([-1]))]).fit(X, y)
