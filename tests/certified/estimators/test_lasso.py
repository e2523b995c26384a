"""Lasso and ElasticNet: scikit-learn's objective, certificates computed again, and laws."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_diabetes
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import ElasticNet as TheirNet
from sklearn.linear_model import Lasso as Theirs
from sklearn.model_selection import ShuffleSplit

from separable import ElasticNet, Lasso, LassoCV, load
from separable.certified import problem
from separable.certified.solvers.options import GramOptions
from separable.select import cross_validate, path
from tests.certified.engine_problems import use_options
from tests.long_cases import first
from tests.reference import lasso as reference

pytestmark = [pytest.mark.native, pytest.mark.kernel]


def data(n=60, d=8, seed=0, rho=0.5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    for j in range(1, d):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
    w = np.where(np.arange(d) % 3 == 0, rng.normal(size=d), 0.0)
    return X, X @ w + 0.5 * rng.normal(size=n) + 3.0


@pytest.fixture(params=["sums", "rows"])
def engine(request, monkeypatch):
    """Both engines: the one of sums, and the one of rows."""
    if request.param == "rows":
        use_options(monkeypatch, gram=GramOptions(max_columns=0))
    return request.param


def follows(model, X, y, c=None):
    """Check the conditions of the optimum, column by column."""
    c = np.ones(len(y)) if c is None else c
    ratio = getattr(model, "l1_ratio", 1.0)
    r = y - X @ model.coef_ - model.intercept_
    if model.fit_intercept:
        assert abs(c @ r) <= 1e-9 * (c @ np.abs(y))
    for j, w in enumerate(model.coef_):
        gradient = (c * X[:, j]) @ r / c.sum() - model.alpha * (1 - ratio) * w
        room = 1e-7 * (1 + np.abs(X[:, j] * y).max())
        if w != 0:
            assert gradient == pytest.approx(np.sign(w) * model.alpha * ratio, abs=room)
        else:
            assert (gradient if model.positive else abs(gradient)) <= model.alpha * ratio + room


@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("alpha", first(2, [1e-3, 1.0, 0.1]))
def test_the_same_as_scikit_learn(engine, alpha, fit_intercept, positive):
    X, y = load_diabetes(return_X_y=True)
    X = 20 * X
    weight = np.random.default_rng(0).integers(0, 4, len(y)).astype(float)
    common = {"fit_intercept": fit_intercept, "positive": positive}
    for ratio in (1.0, 0.7):
        ours = ElasticNet(alpha, l1_ratio=ratio, **common)
        theirs = TheirNet(alpha, l1_ratio=ratio, tol=1e-13, max_iter=10**5, **common)
        if ratio == 1.0:
            ours, theirs = (
                Lasso(alpha, **common),
                Theirs(alpha, tol=1e-13, max_iter=10**5, **common),
            )
        for c in (None, weight):
            ours.fit(X, y, c)
            theirs.fit(X, y, c)
            np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-6)
            assert ours.intercept_ == pytest.approx(theirs.intercept_, abs=1e-7)
            assert ours.certificate_.relative_gap < 1e-12
            follows(ours, X, y, c)
    assert (ours.evidence_["engine"] == "sums") == (engine == "sums")


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("ratio", [1.0, 0.5, 0.01])
def test_the_certificate_computed_again(ratio):
    X, y = data()
    c = np.random.default_rng(1).uniform(0, 2, len(y))
    for alpha in (1e-3, 0.05, 0.5):
        model = ElasticNet(alpha, l1_ratio=ratio).fit(X, y, c)
        one = model.certificate_
        w, b = model.coef_, model.intercept_
        assert one.primal == pytest.approx(reference.objective(X, y, w, b, alpha, ratio, c))
        assert reference.gap(X, y, w, b, alpha, ratio, c) == pytest.approx(
            one.gap, abs=1e-12 * one.primal
        )
        assert one.gap >= 0
        found = reference.learn(X, y, alpha, ratio, c=c, passes=300)
        best = reference.objective(X, y, *found, alpha, ratio, c)
        assert one.dual <= best * (1 + 1e-9)
        assert one.primal <= best * (1 + 1e-12)


@pytest.mark.usefixtures("engine")
def test_the_dual_point_proves_the_certificate():
    X, y = data()
    model = Lasso(0.1).fit(X, y)
    z = model.dual_coef_[0]
    assert abs(z.sum()) < 1e-12
    assert np.abs(X.T @ z).max() <= 0.1 * (1 + 1e-12)
    dual = z @ y - len(y) * (z @ z) / 2
    assert dual == pytest.approx(model.certificate_.dual, rel=1e-12)


def test_what_distance_says():
    X, y = data()
    net = ElasticNet(0.1, l1_ratio=0.5).fit(X, y)
    assert net.certificate_.convexity == pytest.approx(0.05)
    assert net.certificate_.distance < 1e-5
    assert Lasso(0.1).fit(X, y).certificate_.distance == np.inf


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_matrix, sp.coo_array])
def test_sparse_rows(form):
    X, y = data(n=80)
    X[np.abs(X) < 0.7] = 0.0
    for model in (Lasso(0.05), ElasticNet(0.05, fit_intercept=False), Lasso(0.1, standardize=True)):
        dense = model.fit(X, y).coef_.copy()
        np.testing.assert_allclose(model.fit(form(X), y).coef_, dense, atol=1e-9)


@pytest.mark.usefixtures("engine")
def test_single_precision():
    X, y = data()
    X = X.astype(np.float32)
    found = Lasso(0.05).fit(X, y)
    np.testing.assert_allclose(found.coef_, Lasso(0.05).fit(X.astype(float), y).coef_, atol=1e-9)
    assert found.coef_.dtype == np.float64


@pytest.mark.parametrize("shift", [1e3, 1e9])
def test_columns_far_from_0(shift):
    X, y = data()
    near = Lasso(0.05).fit(X, y)
    far = Lasso(0.05).fit(X + shift, y + shift)
    np.testing.assert_allclose(far.coef_, near.coef_, atol=1e-13 * shift + 1e-10)
    assert far.certificate_.converged


@pytest.mark.parametrize("scale", [1e-6, 1e6, 1e100, 1e-100])
def test_columns_in_other_units(scale):
    X, y = data()
    near = Lasso(0.05).fit(X, y)
    far = Lasso(0.05 * scale).fit(X * scale, y)
    np.testing.assert_allclose(far.coef_ * scale, near.coef_, rtol=1e-9)
    assert far.certificate_.converged


def test_standardised_columns():
    X, y = data()
    X = X * np.logspace(-4, 4, X.shape[1]) + 5
    X[:, 2] = 7.0  # says nothing
    deviation = X.std(axis=0)
    Z = np.divide(X, deviation, where=deviation > 0, out=np.zeros_like(X))
    ours = ElasticNet(0.05, l1_ratio=0.8, standardize=True).fit(X, y)
    theirs = TheirNet(0.05, l1_ratio=0.8, tol=1e-13, max_iter=10**5).fit(Z, y)
    np.testing.assert_allclose(ours.coef_ * deviation, theirs.coef_, atol=1e-9)
    np.testing.assert_allclose(ours.scale_, deviation, atol=1e-12)
    np.testing.assert_allclose(ours.mean_, X.mean(axis=0))
    assert ours.coef_[2] == 0


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("shape", [(20, 60), (40, 300)])
def test_more_columns_than_rows(shape):
    X, y = data(*shape)
    model = Lasso(0.05).fit(X, y)
    assert model.certificate_.relative_gap < 1e-10
    follows(model, X, y)
    assert np.count_nonzero(model.coef_) <= shape[0]
    assert model.evidence_["nonzeros"] == np.count_nonzero(model.coef_)


def test_columns_that_say_the_same():
    X, y = data()
    X = np.hstack([X, X[:, :3], np.ones((len(y), 1))])
    for model in (Lasso(0.01), ElasticNet(0.01), Lasso(1e-6)):
        model.fit(X, y)
        assert model.certificate_.converged
        follows(model, X, y)
    twins = ElasticNet(0.01).fit(X, y).coef_
    np.testing.assert_allclose(twins[:3], twins[8:11], atol=1e-9)


@pytest.mark.parametrize("positive", [False, True])
def test_many_more_columns_than_rows_from_sums(monkeypatch, positive):
    """At small alphas more columns enter than are independent; they leave again."""
    use_options(monkeypatch, gram=GramOptions(rows_per_column=0.0))
    X, y = data(15, 60, rho=0.9)
    for alpha in (1e-2, 1e-4, 1e-6):
        model = Lasso(alpha, positive=positive).fit(X, y)
        assert model.certificate_.converged
        follows(model, X, y)
        assert model.evidence_["engine"] == "sums" or alpha < 1e-3


def test_a_perfect_fit_is_judged_by_the_rows():
    X, _ = data(n=300)
    y = X @ np.arange(8.0) + 2
    model = Lasso(1e-9).fit(X, y)
    assert model.certificate_.converged
    np.testing.assert_allclose(model.coef_, np.arange(8.0), atol=1e-7)


def test_a_constant_target():
    X, _ = data()
    model = Lasso(0.1).fit(X, np.full(len(X), 7.0))
    np.testing.assert_array_equal(model.coef_, 0)
    assert model.intercept_ == pytest.approx(7.0)
    assert model.certificate_.converged


@pytest.mark.usefixtures("engine")
def test_l1_ratio_0_is_ridge():
    from separable import Ridge

    X, y = data()
    ours = ElasticNet(0.3, l1_ratio=0.0).fit(X, y)
    theirs = Ridge(0.3 * len(y)).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-9)


# ---------------------------------------------------------------------- laws

seeds = st.integers(0, 10**6)
strengths = st.floats(-3, 0).map(lambda power: 10.0**power)


@given(seed=seeds, alpha=strengths, ratio=st.sampled_from([1.0, 0.9, 0.5]))
@settings(max_examples=20)
def test_a_weight_is_the_row_so_many_times(seed, alpha, ratio):
    X, y = data(30, 4, seed)
    c = np.random.default_rng(seed).integers(0, 4, len(y))
    c[0] = 1
    model = ElasticNet(alpha, l1_ratio=ratio)
    weighed = model.fit(X, y, c).coef_.copy()
    repeated = model.fit(np.repeat(X, c, axis=0), np.repeat(y, c)).coef_
    np.testing.assert_allclose(weighed, repeated, atol=1e-8)


@given(seed=seeds, alpha=strengths, t=st.sampled_from([1e-3, 7.0, 1e5]))
@settings(max_examples=20)
def test_a_target_in_other_units(seed, alpha, t):
    X, y = data(30, 4, seed)
    near, far = Lasso(alpha).fit(X, y), Lasso(alpha * t).fit(X, t * y)
    np.testing.assert_allclose(far.coef_, t * near.coef_, atol=1e-8 * t)


@given(seed=seeds, positive=st.booleans())
@settings(max_examples=20)
def test_from_the_largest_alpha_on_all_weights_are_0(seed, positive):
    X, y = data(30, 4, seed)
    correlation = (X - X.mean(axis=0)).T @ (y - y.mean()) / len(y)
    largest = max(correlation) if positive else np.abs(correlation).max()
    if largest <= 0:
        return
    model = Lasso(largest * (1 + 1e-12), positive=positive).fit(X, y)
    assert not model.coef_.any()
    assert Lasso(largest * 0.99, positive=positive).fit(X, y).coef_.any()


@given(seed=seeds, alpha=strengths, positive=st.booleans())
@settings(max_examples=20)
def test_both_engines_find_the_same(seed, alpha, positive):
    X, y = data(40, 6, seed, rho=0.9)
    with pytest.MonkeyPatch.context() as patch:
        model = ElasticNet(alpha, l1_ratio=0.8, positive=positive)
        sums = model.fit(X, y)
        one, w = sums.certificate_, sums.coef_.copy()
        use_options(patch, gram=GramOptions(max_columns=0))
        other = model.fit(X, y).certificate_
        assert model.evidence_["engine"] != "sums"
        assert one.dual <= other.primal * (1 + 1e-12)
        assert other.dual <= one.primal * (1 + 1e-12)
        np.testing.assert_allclose(model.coef_, w, atol=1e-7)


# ---------------------------------------------------------------------- how a fit goes


@pytest.mark.usefixtures("engine")
def test_a_warm_start_goes_on(monkeypatch):
    monkeypatch.setattr(problem, "SMALL", 10)
    X, y = data(n=400, d=30, rho=0.95)
    model = Lasso(1e-3, warm_start=True).fit(X, y)
    first, w = model.n_iter_, model.coef_.copy()
    again = model.fit(X, y)
    assert again.n_iter_ <= 1 < first
    np.testing.assert_allclose(again.coef_, w, atol=1e-3)
    model.fit(X[:, :5], y)  # other columns: from the start
    assert model.coef_.shape == (5,)


def test_the_callback_ends_the_fit():
    X, y = data(n=2000, d=200, rho=0.99)
    seen = []

    def told(number, gap):
        seen.append((number, gap))
        return len(seen) == 2

    with pytest.warns(ConvergenceWarning, match="stopped after .* larger alpha bring it closer"):
        model = Lasso(1e-6, callback=told).fit(X, y)
    assert len(seen) == 2
    assert not model.certificate_.converged
    assert model.certificate_.gap >= 0


@pytest.mark.usefixtures("engine")
def test_no_more_passes_than_asked():
    X, y = data(n=2000, d=200, rho=0.99)
    with pytest.warns(ConvergenceWarning, match="Lasso stopped after 3 passes"):
        model = Lasso(1e-6, max_iter=3).fit(X, y)
    assert model.n_iter_ == 3
    assert model.dual_gap_ == model.certificate_.gap > 0


def test_through_a_file(tmp_path):
    X, y = data()
    model = ElasticNet(0.1).fit(X, y)
    model.model_.save(tmp_path / "net.safetensors")
    back = load(tmp_path / "net.safetensors")
    np.testing.assert_array_equal(back.predict(X), model.predict(X))
    assert back.evidence["nonzeros"] == np.count_nonzero(model.coef_)
    assert back.learner == "ElasticNet"


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (Lasso(-1), "'alpha' parameter of Lasso must be a finite float >= 0"),
        (Lasso(positive="yes"), "'positive' parameter of Lasso must be a bool"),
        (Lasso(tol=-1), "'tol' parameter of Lasso must be None or a finite float >= 0"),
        (
            ElasticNet(l1_ratio=1.5),
            "'l1_ratio' parameter of ElasticNet must be a float from 0 to 1",
        ),
    ],
)
def test_bad_parameters(model, words):
    X, y = data()
    with pytest.raises(ValueError, match=words):
        model.fit(X, y)


def test_bad_data():
    X, y = data()
    with pytest.raises(ValueError, match="y should be a 1d array, got an array of shape"):
        LassoCV().fit(X, np.column_stack([y, y]))
    with pytest.raises(ValueError, match="y contains NaN or infinity: row 0, column 1"):
        Lasso().fit(X, np.column_stack([y, y * np.nan]))
    bad = X.copy()
    bad[3, 2] = np.nan
    for model in (Lasso(), LassoCV(), LassoCV(cv=ShuffleSplit(2, train_size=4))):
        with pytest.raises(ValueError, match="X contains NaN in row 3, column 2"):
            model.fit(bad, y)
        with pytest.raises(ValueError, match="X contains NaN in row 3, column 'c'"):
            model.fit(pd.DataFrame(bad, columns=list("abcdefgh")), y)
    for few in (bad, np.hstack([bad[:9], bad[:9]])):
        with pytest.raises(ValueError, match="X contains NaN in row 3, column 2"):
            cross_validate(Lasso(), few, y[: len(few)], cv=2)
        with pytest.raises(ValueError, match="X contains NaN in row 3, column 2"):
            path(Lasso(), few, y[: len(few)])
    with pytest.raises(ValueError, match="Every sample weight is zero"):
        Lasso().fit(X, y, np.zeros(len(y)))


def test_a_target_far_from_0_keeps_its_certificate(engine):
    X, y = data()
    y = np.round(64 * y) / 64  # the shift loses none of its digits
    for ratio in (1.0, 0.5):
        near, far = (ElasticNet(0.1, l1_ratio=ratio).fit(X, y + shift) for shift in (0.0, 2.0**40))
        # the last bit of an intercept of 2^40 is 2^-12, and costs up to its square over 8
        lost = far.certificate_.primal - near.certificate_.primal
        assert -1e-12 <= lost <= 2.0**-27 + 1e-12
        assert far.certificate_.gap >= lost
        assert far.certificate_.converged
        assert far.certificate_.dual == pytest.approx(near.certificate_.dual, rel=1e-12)
        np.testing.assert_allclose(far.coef_, near.coef_, rtol=1e-9)
        assert far.intercept_ == pytest.approx(near.intercept_ + 2.0**40, rel=1e-15)


@pytest.mark.parametrize("alpha", [1e-12, 1e-14, 1e-16])
@pytest.mark.parametrize("ratio", [0.0, 1e-3, 0.5])
def test_columns_that_say_the_same_under_next_to_no_penalty(alpha, ratio):
    X, y = data()
    X = np.column_stack([X, X[:, :3], np.ones(len(y)), np.zeros(len(y))])
    found = ElasticNet(alpha, l1_ratio=ratio).fit(X, y).certificate_
    away = X - X.mean(axis=0)
    rest = y - y.mean() - away @ np.linalg.pinv(away) @ y
    assert found.converged
    assert found.primal == pytest.approx(0.5 * np.mean(rest**2), rel=1e-9)


@pytest.mark.parametrize("alpha", [1e-320, 1e305])
def test_an_alpha_beyond_the_range_of_numbers_is_refused(alpha):
    X, y = data()
    with pytest.raises(ValueError, match=r"times the weight of all rows.*beyond the range"):
        Lasso(alpha).fit(X, y)
