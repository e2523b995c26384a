"""LpRegression: other minimisers, conditions of optimality, certificates and laws, for every p."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_diabetes
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Lasso as Theirs

from separable import LpRegression, Ridge, load
from separable.select import path
from tests.certified.block_oracles import (
    POWERS,
    best_subset,
    bounded_minimum,
    mean_loss,
    penalty,
    refitted,
    smooth_minimum,
)
from tests.long_cases import first

pytestmark = pytest.mark.native

EVERY = [*POWERS, "inf"]
CONVEX = ["1", "4/3", "3/2", "2", "inf"]
LOCAL = ["0", "1/2", "2/3"]


def made(seed, n=40, d=6):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) @ rng.normal(size=(d, d))
    return X, X @ np.where(rng.random(d) < 0.5, rng.normal(size=d), 0) + rng.normal(size=n)


def objective(model, X, y, weight=None, scale=1.0):
    w, b = model.coef_, model.intercept_
    power = str(model.p)
    return mean_loss(X, y, w, b, weight) + model.alpha * penalty(power, scale * w)


# --------------------------------------------------------------------- other minimisers


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("alpha", [0.01, 0.5])
def test_the_lasso_of_scikit_learn(alpha, seed):
    X, y = made(seed)
    theirs = Theirs(alpha, tol=1e-14, max_iter=10**6).fit(X, y)
    ours = LpRegression(1, alpha).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-8)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-8)


@pytest.mark.parametrize("alpha", [0.01, 0.5])
def test_p_2_is_ridge(alpha):
    X, y = made(1)
    weight = np.random.default_rng(0).integers(0, 4, len(y))
    theirs = Ridge(2 * alpha * weight.sum()).fit(X, y, weight)
    ours = LpRegression(2, alpha).fit(X, y, weight)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-10)
    assert ours.certificate_.relative_gap < 1e-13


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("alpha", [0.01, 1.0])
@pytest.mark.parametrize("p", ["4/3", "3/2", "2"])
def test_smooth_powers_against_scipy(p, alpha, seed):
    X, y = made(seed)
    ours = LpRegression(p, alpha).fit(X, y).certificate_
    assert ours.primal == pytest.approx(smooth_minimum(p, alpha, X, y), rel=1e-8)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("alpha", [0.01, 1.0, 5.0])
def test_the_largest_weight_against_scipy(alpha, seed):
    X, y = made(seed)
    ours = LpRegression("inf", alpha).fit(X, y).certificate_
    assert ours.relative_gap < 1e-11
    assert ours.primal == pytest.approx(bounded_minimum(alpha, X, y), rel=1e-6)


# --------------------------------------------------------------------- conditions of optimality


@given(seed=st.integers(0, 10**6), log_alpha=st.floats(-3, 1), p=st.sampled_from(list(POWERS)))
def test_no_weight_alone_lowers_the_objective(seed, log_alpha, p):
    X, y = made(seed, n=20, d=4)
    model = LpRegression(p, 10.0**log_alpha).fit(X, y)
    assert model.certificate_.converged
    Z, t = X - X.mean(axis=0), y - y.mean()
    w, n = model.coef_, len(y)
    best = objective(model, X, y)
    assert best == pytest.approx(model.certificate_.primal, rel=1e-12)
    for j in range(4):
        # on a fine grid around 0, around w_j and around the least squares
        r = t - Z @ w + Z[:, j] * w[j]
        m = Z[:, j] @ r / (Z[:, j] @ Z[:, j])
        size = abs(m) + abs(w[j])
        grid = np.concatenate(
            [np.linspace(-size, size, 2001), w[j] + size * np.geomspace(1e-8, 1), [0]]
        )
        others = penalty(p, np.delete(w, j))
        costs = np.abs(grid) ** POWERS[p] if p != "0" else (grid != 0).astype(float)
        values = ((r[:, None] - Z[:, j, None] * grid) ** 2).sum(axis=0) / (2 * n)
        assert best <= (values + model.alpha * (costs + others)).min() * (1 + 1e-12)


@pytest.mark.parametrize("p", LOCAL)
def test_below_1_only_a_local_optimum_is_claimed(p):
    X, y = made(0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # no ConvergenceWarning for that
        model = LpRegression(p, 0.1).fit(X, y)
    one = model.certificate_
    assert one.is_local
    assert one.converged
    assert (one.dual, one.gap, one.relative_gap) == (-np.inf, np.inf, np.inf)
    assert one.left <= 1e-12 * one.primal
    assert "nothing is known of the global optimum" in one.claim
    told = model.evidence_
    assert told["claim"] == one.claim
    assert told["dual"] is told["gap"] is told["relative_gap"] is None
    assert told["converged"]
    assert one.times(2.0).primal == 2 * one.primal
    assert one.times(2.0).left == 2 * one.left


def test_convex_certificates_are_not_local():
    X, y = made(0)
    for p in CONVEX:
        assert not LpRegression(p).fit(X, y).certificate_.is_local


@pytest.mark.slow
@pytest.mark.parametrize("alpha", first(1, [0.3, 0.003, 0.03]))
def test_counting_against_all_supports(alpha):
    found = 0
    for seed in range(20):
        X, y = made(seed, n=30, d=7)
        ours = LpRegression(0, alpha).fit(X, y).certificate_.primal
        least = best_subset(alpha, X, y)
        assert ours >= least * (1 - 1e-10)
        found += ours <= least * (1 + 1e-10)
        # never above least squares on the columns that the lasso of the same strength chooses
        same = np.flatnonzero(Theirs(alpha, tol=1e-10, max_iter=10**5).fit(X, y).coef_)
        assert ours <= refitted(alpha, X, y, same) * (1 + 1e-10)
    assert found >= 15  # of 20: the others are local optima


# --------------------------------------------------------------------- certificates


def dual_in_numpy(p, alpha, X, y, z):
    """The dual value of z, -inf where it is not feasible: nothing of ours but z."""
    n = len(y)
    v = (X - X.mean(axis=0)).T @ z
    assert abs(z.sum()) <= 1e-12 * np.abs(z).sum()
    if p == "inf":
        assert np.abs(v).sum() <= alpha * (1 + 1e-12)
        conjugate = 0.0
    elif p == "1":
        assert np.abs(v).max() <= alpha * (1 + 1e-12)
        conjugate = 0.0
    else:
        power = POWERS[p]
        q = power / (power - 1)
        conjugate = alpha * (power - 1) * ((np.abs(v) / (alpha * power)) ** q).sum()
    return z @ y - n * z @ z / 2 - conjugate


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("alpha", [0.05, 2.0])
@pytest.mark.parametrize("p", CONVEX)
def test_the_certificate_in_numpy(p, alpha, seed):
    X, y = made(seed)
    X += 5.0
    model = LpRegression(p, alpha).fit(X, y)
    one = model.certificate_
    assert one.primal == pytest.approx(objective(model, X, y), rel=1e-12)
    dual = dual_in_numpy(p, alpha, X, y, model.dual_coef_[0])
    assert one.dual == pytest.approx(dual, rel=1e-10)
    assert one.gap >= 0
    assert one.gap == pytest.approx(one.primal - one.dual, abs=1e-10 * one.primal)


@pytest.mark.parametrize("p", ["1", "4/3", "3/2", "inf"])  # p = 2 is solved at once
def test_a_fit_that_was_ended_is_certified_too(p):
    X, y = made(2)
    with pytest.warns(
        ConvergenceWarning, match=r"relative gap .* 1.0e-06 was asked for. More passes"
    ):
        model = LpRegression(p, 0.01, callback=lambda number, gap: number == 1).fit(X, y)
    one = model.certificate_
    assert not one.converged
    best = LpRegression(p, 0.01).fit(X, y).certificate_.primal
    assert one.dual <= best <= one.primal
    assert one.gap >= one.primal - best


def test_a_local_search_that_was_ended_says_so():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 600))
    y = X[:, :20].sum(axis=1) + rng.normal(size=200)
    with pytest.warns(ConvergenceWarning, match="a change of one weight still takes"):
        LpRegression(0.5, 0.01, callback=lambda number, left: True).fit(X, y)


# --------------------------------------------------------------------- laws


@pytest.mark.parametrize("p", EVERY)
def test_weights_are_repetitions(p):
    X, y = made(3)
    weight = np.random.default_rng(1).integers(0, 3, len(y))
    one = LpRegression(p, 0.1).fit(X, y, weight)
    other = LpRegression(p, 0.1).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(one.coef_, other.coef_, atol=1e-7)
    assert one.certificate_.primal == pytest.approx(other.certificate_.primal, rel=1e-10)


@pytest.mark.slow
@given(
    seed=st.integers(0, 10**6), p=st.sampled_from(CONVEX), times=st.sampled_from([0.01, 3.0, 1e4])
)
@settings(max_examples=30, deadline=None)
def test_order_and_units(seed, p, times):
    X, y = made(seed, n=20, d=5)
    order = np.random.default_rng(seed).permutation(5)
    one = LpRegression(p, 0.2).fit(X, y)
    np.testing.assert_allclose(
        LpRegression(p, 0.2).fit(X[:, order], y).coef_, one.coef_[order], atol=1e-6
    )
    # w of t y is t w where alpha grows with t^(2 - p); at p = inf the penalty is of the first power
    power = 1.0 if p == "inf" else POWERS[p]
    scaled = LpRegression(p, 0.2 * times ** (2 - power)).fit(X, times * y)
    np.testing.assert_allclose(scaled.coef_, times * one.coef_, atol=1e-6 * times)


@pytest.mark.parametrize("p", EVERY)
@pytest.mark.parametrize("form", first(1, [sp.csr_array, sp.csc_array, sp.coo_array]))
def test_sparse_is_dense(p, form):
    X, y = made(4)
    X[np.abs(X) < 1] = 0
    dense = LpRegression(p, 0.1).fit(X, y)
    sparse = LpRegression(p, 0.1).fit(form(X), y)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, atol=1e-8)
    single = LpRegression(p, 0.1).fit(X.astype(np.float32), y)
    np.testing.assert_allclose(single.coef_, dense.coef_, atol=1e-4)


@pytest.mark.parametrize("p", EVERY)
def test_shifted_and_standardised_columns(p):
    X, y = made(5)
    one = LpRegression(p, 0.1).fit(X, y)
    np.testing.assert_allclose(LpRegression(p, 0.1).fit(X + 1e6, y).coef_, one.coef_, atol=1e-5)
    inside = LpRegression(p, 0.1, standardize=True).fit(X, y)
    by_hand = LpRegression(p, 0.1).fit((X - X.mean(axis=0)) / X.std(axis=0), y)
    np.testing.assert_allclose(inside.coef_ * X.std(axis=0), by_hand.coef_, atol=1e-8)
    assert inside.certificate_.primal == pytest.approx(by_hand.certificate_.primal, rel=1e-10)
    assert objective(inside, X, y, scale=inside.scale_) == pytest.approx(inside.certificate_.primal)


@pytest.mark.parametrize("p", [p for p in EVERY if p != "0"])
def test_huge_columns_end_at_least_squares(p):
    X, y = made(6)
    with warnings.catch_warnings():  # a penalty below rounding proves nothing
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = LpRegression(p, 1e-6).fit(X * 2.0**300, y)
    exact = np.linalg.lstsq(X - X.mean(axis=0), y - y.mean(), rcond=None)[0]
    np.testing.assert_allclose(found.coef_ * 2.0**300, exact, rtol=1e-6)


@pytest.mark.parametrize("size", [2.0**300, 2.0**-300, 2.0**900])
@pytest.mark.parametrize("alpha", [1e-6, 0.02, 0.2])
def test_counting_takes_columns_of_any_size(size, alpha):
    # a count of weights does not depend on their units
    X, y = made(6)
    found = LpRegression(0, alpha).fit(X * size, y)
    w = found.coef_ * size
    support = np.flatnonzero(w)
    exact = np.zeros(6)
    Z = X - X.mean(axis=0)
    exact[support] = np.linalg.lstsq(Z[:, support], y - y.mean(), rcond=None)[0]
    np.testing.assert_allclose(w, exact, rtol=1e-9)
    assert found.certificate_.converged
    assert refitted(alpha, X, y, support) <= best_subset(alpha, X, y) * (1 + 1e-10)
    assert found.certificate_.primal == pytest.approx(refitted(alpha, X, y, support), rel=1e-9)


def test_huge_columns_say_what_hides_the_penalty():
    X, y = made(6)
    with pytest.warns(ConvergenceWarning, match=r"Columns of X of size .* standardize=True"):
        LpRegression(1, 1e-6).fit(X * 2.0**300, y)


@pytest.mark.parametrize(("p", "size"), [("2", 1e200), ("3/2", 1e250), ("4/3", 1e300)])
def test_a_penalty_below_the_range_of_numbers_is_refused(p, size):
    X, y = made(6)
    with pytest.raises(ValueError, match="make the penalty of their weights less than float64"):
        LpRegression(p).fit(X * size, y)


@pytest.mark.parametrize("p", EVERY)
def test_no_column_tells_anything(p):
    X, _ = made(0)
    model = LpRegression(p).fit(X, np.full(len(X), 3.1))
    np.testing.assert_allclose(model.coef_, 0, atol=1e-12)
    np.testing.assert_allclose(model.intercept_, 3.1)
    assert model.certificate_.converged


@pytest.mark.parametrize("p", EVERY)
def test_a_constant_column_has_no_weight(p):
    X, y = made(7)
    wider = np.c_[X, np.full(len(y), 4.0)]
    for standardize in (False, True):
        found = LpRegression(p, 0.1, standardize=standardize).fit(wider, y)
        if p != "inf":
            assert found.coef_[-1] == 0
        one = LpRegression(p, 0.1, standardize=standardize).fit(X, y)
        assert found.certificate_.primal == pytest.approx(one.certificate_.primal, rel=1e-9)


@pytest.mark.parametrize("p", EVERY)
def test_warm_starts_and_files(p, tmp_path):
    X, y = made(8)
    model = LpRegression(p, 0.2, warm_start=True).fit(X, y)
    cold = LpRegression(p, 0.1).fit(X, y)
    warm = model.set_params(alpha=0.1).fit(X, y)
    if p in CONVEX:
        np.testing.assert_allclose(warm.coef_, cold.coef_, atol=1e-7)
    else:
        assert warm.certificate_.primal <= cold.certificate_.primal * (1 + 1e-12)
    model.model_.save(tmp_path / "model")
    again = load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


@pytest.mark.parametrize("p", EVERY)
def test_more_columns_than_rows(p):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 700))
    y = X[:, :4] @ [3.0, -2.0, 1.0, 1.0] + 0.1 * rng.normal(size=60)
    model = LpRegression(p, 0.1).fit(X, y)
    assert model.certificate_.converged
    if p in ("0", "1/2", "2/3", "1"):
        assert set(np.flatnonzero(np.abs(model.coef_) > 0.3)) == {0, 1, 2, 3}
        assert np.count_nonzero(model.coef_) < 60


@pytest.mark.parametrize("p", ["4/3", "3/2", "2"])
def test_many_columns_take_accelerated_steps(p):
    rng = np.random.default_rng(0)
    X = sp.random_array((40, 2500), density=0.05, rng=rng, format="csr")
    y = X[:, :5].sum(axis=1) + 0.1 * rng.normal(size=40)
    model = LpRegression(p, 0.05).fit(X, y)
    assert model.certificate_.converged
    assert model.evidence_["engine"] == "accelerated"


def test_the_largest_weight_of_many_columns():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 2100))
    X[:, 5:] *= 1e-3
    y = X[:, :5].sum(axis=1) + rng.normal(size=100)
    model = LpRegression("inf", 1.0, tol=1e-3).fit(X, y)
    assert model.certificate_.converged
    assert model.evidence_["engine"] == "accelerated"


# --------------------------------------------------------------------- limits of p


def test_the_penalty_sets_how_sparse_it_is():
    X, y = load_diabetes(return_X_y=True)
    X = X / X.std(axis=0)
    used = {p: np.count_nonzero(LpRegression(p, 3.0).fit(X, y).coef_) for p in EVERY}
    assert used["0"] < 10
    assert used["1"] < 10
    assert [used[p] for p in ("4/3", "3/2", "2", "inf")] == [10] * 4


def test_a_penalty_that_is_large_leaves_the_mean():
    X, y = made(9)
    for p in ("0", "1/2", "2/3", "1", "inf"):
        model = LpRegression(p, 1e6).fit(X, y)
        assert not model.coef_.any()
        np.testing.assert_allclose(model.intercept_, y.mean())
        assert model.certificate_.converged


@pytest.mark.parametrize("p", ["1", "inf"])
def test_paths_start_where_all_weights_are_0(p):
    X, y = made(3)
    found = path(LpRegression(p), X, y, alphas=6)
    assert not found.coefs[0].any()
    assert found.coefs[1].any()
    assert all(one.converged for (one,) in found.certificates)


@pytest.mark.parametrize("p", EVERY)
def test_paths_of_given_alphas(p):
    X, y = made(3)
    found = path(LpRegression(p), X, y, alphas=[1.0, 0.1])
    alone = LpRegression(p, 0.1).fit(X, y)
    assert found.certificates[1][0].primal <= alone.certificate_.primal * (1 + 1e-10)
    if p not in ("1", "inf"):
        with pytest.raises(ValueError, match="Give the alphas as a list"):
            path(LpRegression(p), X, y)


# --------------------------------------------------------------------- messages


@pytest.mark.parametrize(
    ("given", "same"),
    [(0.5, "1/2"), (2 / 3, "2/3"), (np.float64(1.5), "3/2"), (np.inf, "inf"), (2, "2")],
)
def test_powers_as_numbers_and_as_text(given, same):
    X, y = made(0)
    one, other = LpRegression(given, 0.1).fit(X, y), LpRegression(same, 0.1).fit(X, y)
    np.testing.assert_array_equal(one.coef_, other.coef_)


@pytest.mark.parametrize("p", [3, -1, 0.6, "two", None, True, np.nan])
def test_other_powers_are_refused(p):
    with pytest.raises(
        ValueError, match=r"'p' parameter .* one of 0, 1/2, 2/3, 1, 4/3, 3/2, 2 and inf"
    ):
        LpRegression(p).fit([[1.0], [2.0]], [1.0, 2.0])


def test_a_penalty_is_needed():
    with pytest.raises(
        ValueError, match=r"'alpha' parameter .* \(without a penalty use LeastSquares"
    ):
        LpRegression(alpha=0.0).fit([[1.0], [2.0]], [1.0, 2.0])


@pytest.mark.parametrize("p", [0, "1/2", 1, 1.5, "inf"])
def test_no_more_passes_than_asked(p):
    rng = np.random.default_rng(0)
    X = np.cumsum(rng.normal(size=(100, 30)), axis=1)
    y = X[:, 0] + rng.normal(size=100)
    starts = 40 if p in (0, "1/2") else 1  # those of the lasso, of larger strengths, and the end
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = LpRegression(p, alpha=1e-3, max_iter=2).fit(X, y)
    assert found.n_iter_ <= 2 * starts


@pytest.mark.parametrize("seed", range(3))
def test_columns_that_say_the_same_and_a_weak_penalty(seed):
    X, y = made(seed, n=20, d=50)
    alpha = 1e-3 * np.abs((X - X.mean(axis=0)).T @ (y - y.mean())).max() / len(y)
    model = LpRegression(1, alpha).fit(X, y)
    assert model.certificate_.relative_gap < 1e-9
    twice = LpRegression(1, alpha).fit(np.hstack([X, X]), y)
    assert twice.certificate_.relative_gap < 1e-9
    assert twice.certificate_.primal == pytest.approx(model.certificate_.primal, rel=1e-9)


@pytest.mark.parametrize("p", CONVEX)
def test_a_target_far_from_0_keeps_its_certificate(p):
    X, y = made(3)
    y = np.round(64 * y) / 64  # the shift loses none of its digits
    near, far = (LpRegression(p, 0.3).fit(X, y + shift).certificate_ for shift in (0.0, 2.0**40))
    assert far.primal == pytest.approx(near.primal, rel=1e-12)
    assert far.dual == pytest.approx(near.dual, rel=1e-12)


@pytest.mark.parametrize("seed", [8, 11, 30])
def test_the_largest_weight_of_columns_in_many_units(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 5))
    y = X @ rng.normal(size=5) + rng.normal(size=60)
    X *= 10.0 ** np.array([-6, -3, 0, 3, 6])
    alpha = 1e-9 * np.abs((X - X.mean(axis=0)).T @ (y - y.mean())).max() / 60
    assert LpRegression("inf", alpha).fit(X, y).certificate_.converged


@pytest.mark.parametrize("alpha", [1e-320, 1e305])
def test_an_alpha_beyond_the_range_of_numbers_is_refused(alpha):
    X, y = made(0)
    with pytest.raises(ValueError, match=r"times the weight of all rows.*beyond the range"):
        LpRegression(1, alpha).fit(X, y)
