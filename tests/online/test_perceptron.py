"""Perceptron against its reference, its theorem and its evidence."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from separable import Perceptron
from separable.learn import plain as reference
from separable.online import base_perceptron, runs
from tests.online.problems import DTYPES, FORMATS, integer_problems, separable_problem

pytestmark = [
    pytest.mark.native,
    pytest.mark.kernel,
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]

XOR = np.array([[0, 0], [0, 1], [1, 0], [1, 1.0]]), np.array([0, 1, 1, 0])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("form", FORMATS)
@given(integer_problems(), st.sampled_from([1.0, 0.5, 4.0]), st.booleans())
def test_binary_equals_reference(form, dtype, problem, eta, fit_intercept):
    X, y = problem
    w, b, mistakes, _ = reference.perceptron(X, 2 * y - 1, 5, eta=eta, fit_intercept=fit_intercept)
    ours = Perceptron(shuffle=False, max_iter=5, eta0=eta, fit_intercept=fit_intercept)
    ours.fit(FORMATS[form](X.astype(dtype)), y)
    np.testing.assert_array_equal(ours.coef_, [w])
    np.testing.assert_array_equal(ours.intercept_, [b if fit_intercept else 0])
    assert ours.evidence_["mistakes"] == mistakes
    assert ours.evidence_["updates"] == sum(mistakes)
    assert ours.n_iter_ == len(mistakes)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("classes", [3, 17, 33])
def test_one_vs_rest_equals_reference_of_each_class(classes, form, dtype):
    rng = np.random.default_rng(classes)
    X = rng.integers(-2, 3, size=(120, 37)).astype(float)
    y = np.concatenate([np.arange(classes), rng.integers(0, classes, 120 - classes)])
    ours = Perceptron(shuffle=False, max_iter=4).fit(FORMATS[form](X.astype(dtype)), y)
    total = np.zeros(4, dtype=int)
    for k in range(classes):
        w, b, mistakes, _ = reference.perceptron(X, np.where(y == k, 1, -1), 4)
        np.testing.assert_array_equal(ours.coef_[k], w)
        assert ours.intercept_[k] == b
        total[: len(mistakes)] += mistakes
    assert ours.evidence_["mistakes"] == total.tolist()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("form", FORMATS)
@given(st.integers(2, 18).flatmap(lambda k: integer_problems(classes=k)))
def test_argmax_equals_reference(form, dtype, problem):
    X, y = problem
    k = y.max() + 1
    W, b, mistakes, _ = reference.argmax_perceptron(X, y, k, 4)
    ours = Perceptron(multi_class="argmax", shuffle=False, max_iter=4)
    ours.fit(FORMATS[form](X.astype(dtype)), y)
    if k == 2:
        W, b = W[1:] - W[:1], b[1:] - b[:1]
    np.testing.assert_array_equal(ours.coef_, W)
    np.testing.assert_array_equal(ours.intercept_, b)
    assert ours.evidence_["mistakes"] == mistakes


@given(integer_problems(), st.data())
def test_start_is_taken(problem, data):
    X, y = problem
    start = np.array(
        data.draw(st.lists(st.integers(-5, 5), min_size=X.shape[1] + 1, max_size=X.shape[1] + 1)),
        float,
    )
    w, b, _, _ = reference.perceptron(X, 2 * y - 1, 3, start=start)
    ours = Perceptron(shuffle=False, max_iter=3)
    ours.fit(X, y, coef_init=start[:-1][None], intercept_init=start[-1:])
    np.testing.assert_array_equal(ours.coef_, [w])
    np.testing.assert_array_equal(ours.intercept_, [b])


@pytest.mark.parametrize(
    "seeds", [range(200), pytest.param(range(200, 1000), marks=pytest.mark.long)], ids=str
)
def test_updates_stay_within_the_bound_on_separable_sets(seeds):
    for seed in seeds:
        X, y = separable_problem(seed)
        fitted = Perceptron(max_iter=10**6).fit(X, y)
        evidence = fitted.evidence_
        assert evidence["converged"], seed
        assert (fitted.predict(X) == y).all(), seed
        # the theorem, recomputed from public arrays
        Z = np.hstack([np.ones((len(X), 1)), X])
        v = np.concatenate([fitted.intercept_, fitted.coef_[0]])
        gamma = ((2 * y - 1) * (Z @ v)).min() / np.linalg.norm(v)
        radius = np.linalg.norm(Z, axis=1).max()
        assert gamma > 0
        assert evidence["gamma"] == pytest.approx(gamma, rel=1e-9)
        assert evidence["radius"] == pytest.approx(radius, rel=1e-9)
        assert evidence["bound"] == pytest.approx((radius / gamma) ** 2, rel=1e-9)
        assert evidence["updates"] <= evidence["bound"], seed
        geometric = ((2 * y - 1) * (X @ v[1:] + v[0])).min() / np.linalg.norm(v[1:])
        assert evidence["margin"] == pytest.approx(geometric, rel=1e-9)


def test_separable_where_scikit_learn_stops_early():
    from sklearn.linear_model import Perceptron as Theirs

    left = 0
    for seed in range(40):
        X, y = separable_problem(seed, n=200, d=3)
        left += (Theirs(random_state=0).fit(X, y).predict(X) != y).sum()
        assert Perceptron(max_iter=10**6).fit(X, y).score(X, y) == 1
    assert left > 0  # the comparison is real: their default leaves training errors


def test_bound_needs_zero_start_and_unit_weights():
    X, y = separable_problem(3)
    assert Perceptron().fit(X, y).evidence_["bound"] is not None
    weighted = Perceptron().fit(X, y, sample_weight=np.full(len(y), 2.0)).evidence_
    assert weighted["bound"] is None
    assert weighted["margin"] > 0
    started = Perceptron().fit(X, y, coef_init=np.ones((1, X.shape[1]))).evidence_
    assert started["bound"] is None


def test_unconverged_warns_with_what_is_left():
    X, y = XOR
    with pytest.warns(
        ConvergenceWarning, match=r"7 epochs \(max_iter=7\) with \d of 4 training rows"
    ):
        fitted = Perceptron(max_iter=7).fit(X, y)
    assert not fitted.evidence_["converged"]
    assert fitted.evidence_["bound"] is None
    not_right = (2 * y - 1) * (X @ fitted.coef_[0] + fitted.intercept_[0]) <= 0
    assert fitted.evidence_["training_mistakes"] == not_right.sum()


def test_converged_does_not_warn():
    X, y = separable_problem(5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Perceptron().fit(X, y)


def test_work_budget_stops_large_inseparable_data():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(2000, 5)), rng.integers(0, 2, 2000)
    with pytest.warns(ConvergenceWarning, match=r"3 epochs \(max_work=3e\+04\)"):
        fitted = Perceptron(max_work=3e4).fit(X, y)
    assert fitted.n_iter_ == 3


@pytest.mark.parametrize("rule", ["ovr", "argmax"])
def test_pocket_is_never_worse_than_the_last_weights(rule):
    rng = np.random.default_rng(1)
    for classes in (2, 4):
        X = rng.normal(size=(300, 4))
        y = (X @ rng.normal(size=(4, classes)) + 1.5 * rng.normal(size=(300, classes))).argmax(1)
        last = Perceptron(max_iter=30, multi_class=rule).fit(X, y)
        best = Perceptron(max_iter=30, multi_class=rule, pocket=True).fit(X, y)
        assert best.evidence_["training_mistakes"] < last.evidence_["training_mistakes"]
        if classes == 2 or rule == "argmax":
            # the pocket's own count is the count of rows wrong
            assert sum(best.evidence_["pocket_mistakes"]) == best.evidence_["training_mistakes"]


@given(integer_problems())
def test_pocket_on_small_data_is_the_best_of_all_weights_met(problem):
    X, y = problem
    side = 2 * y - 1
    *_, history = reference.perceptron(X, side, 8)
    met = np.vstack([np.zeros(X.shape[1] + 1), history])
    fewest = ((met @ np.hstack([X, np.ones((len(X), 1))]).T) * side <= 0).sum(axis=1).min()
    best = Perceptron(shuffle=False, max_iter=8, pocket=True).fit(X, y)
    assert best.evidence_["training_mistakes"] == fewest


@pytest.mark.parametrize("options", [{"pocket": True}, {"multi_class": "argmax"}])
def test_the_default_limit_on_epochs_is_named(options):
    X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    with pytest.warns(ConvergenceWarning, match=r"10000 epochs \(max_iter=10000\)"):
        fitted = Perceptron(**options).fit(X, y)
    assert fitted.evidence_["stopped_by"] == "max_iter"


def test_pocket_keeps_a_separating_plane():
    X, y = separable_problem(11)
    assert Perceptron(pocket=True).fit(X, y).evidence_["converged"]


def test_shuffle_is_seeded_and_differs_by_seed():
    X, y = separable_problem(8, n=60, d=5)
    a, b, c = (Perceptron(random_state=s).fit(X, y).coef_ for s in (0, 0, 1))
    np.testing.assert_array_equal(a, b)
    assert (a != c).any()


@pytest.mark.parametrize("n", [50, 20_000])  # one window of the shuffle, and many
def test_shuffle_visits_every_row_once_an_epoch(n):
    # Row i is the i-th unit vector and starts mistaken: one epoch touches each weight once.
    rows = sp.eye_array(n, format="csr")
    fitted = Perceptron(max_iter=1, fit_intercept=False).fit(rows, np.arange(n) % 2)
    np.testing.assert_array_equal(fitted.coef_[0], 2 * (np.arange(n) % 2) - 1)


@pytest.mark.parametrize("form", ["dense", "csr32", "csr64"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_copying_shuffled_rows_changes_no_bit(monkeypatch, form, dtype):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 9)) * (rng.random((200, 9)) < 0.5)
    y, weight = rng.integers(0, 3, 200), rng.integers(0, 9, 200) / 4
    X = FORMATS[form](X.astype(dtype))
    if form != "dense":  # columns that stand twice in a row are copied as they stand
        X = sp.csr_array(
            (np.repeat(X.data / 2, 2), np.repeat(X.indices, 2), 2 * X.indptr), shape=X.shape
        )
    in_place = Perceptron(max_iter=6).fit(X, y, sample_weight=weight)
    monkeypatch.setattr(runs, "MIN_COPY_BYTES", 0)
    copied = Perceptron(max_iter=6).fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(in_place.coef_, copied.coef_)
    assert in_place.evidence_ == copied.evidence_
    huge = X * dtype(1e30)
    with pytest.raises(ValueError, match=r"row \d+ overflowed") as caught:
        Perceptron(max_iter=6, eta0=1e300 if dtype is np.float64 else 1e30).fit(huge, y)
    row = int(re.search(r"row (\d+)", str(caught.value))[1])
    monkeypatch.setattr(runs, "MIN_COPY_BYTES", 10**9)
    with pytest.raises(ValueError, match=f"row {row} overflowed"):
        Perceptron(max_iter=6, eta0=1e300 if dtype is np.float64 else 1e30).fit(huge, y)


def test_float32_agrees_with_float64():
    for seed in range(30):
        X, y = separable_problem(seed, n=80)
        X = X.astype(np.float32)
        single = Perceptron(max_iter=10**6).fit(X, y)
        double = Perceptron(max_iter=10**6).fit(X.astype(np.float64), y)
        assert single.evidence_["converged"]
        assert double.evidence_["converged"]
        assert (single.predict(X) == double.predict(X)).all()


@pytest.mark.parametrize("max_iter", [200, 400, pytest.param(10**6, marks=pytest.mark.long)])
def test_float32_convergence_is_confirmed_in_double(monkeypatch, max_iter):
    # float32 puts every row on its side although float64 does not: learning goes on in float64
    rng = np.random.default_rng(566)
    n, d = rng.integers(4, 30), rng.integers(1, 4)
    offsets = 1e4 * rng.integers(1, 3)
    X = offsets + rng.integers(-3, 4, size=(n, d)) * rng.choice([0.001, 0.01, 1])
    X = X.astype(np.float32)
    y = (X[:, 0] > np.median(X[:, 0])).astype(int)
    types = []
    run_epochs = base_perceptron.run_epochs
    monkeypatch.setattr(
        base_perceptron,
        "run_epochs",
        lambda state, *rest: (types.append(state.dtype.name), run_epochs(state, *rest))[1],
    )
    fitted = Perceptron(max_iter=max_iter, max_work=np.inf).fit(X, y)
    assert types == ["float32", "float64"]
    assert fitted.n_iter_ <= max_iter + 1  # at least one epoch follows in float64
    exact = X.astype(np.float64) @ fitted.coef_[0] + fitted.intercept_[0]
    assert fitted.evidence_["training_mistakes"] == ((2 * y - 1) * exact <= 0).sum()
    assert fitted.evidence_["converged"] == ((2 * y - 1) * exact > 0).all()


def test_warm_start_takes_a_given_start_too():
    X, y = XOR
    first = Perceptron(shuffle=False, max_iter=2, warm_start=True).fit(X, y)
    kept = first.coef_[0].copy()
    moved = first.fit(X, y, intercept_init=[100.0])
    w, b, _, _ = reference.perceptron(X, 2 * y - 1, 2, start=np.append(kept, 100.0))
    np.testing.assert_array_equal(moved.coef_[0], w)
    np.testing.assert_array_equal(moved.intercept_, [b])


def test_warm_start_continues():
    X, y = XOR
    once = Perceptron(shuffle=False, max_iter=6).fit(X, y)
    twice = Perceptron(shuffle=False, max_iter=3, warm_start=True).fit(X, y).fit(X, y)
    np.testing.assert_array_equal(once.coef_, twice.coef_)
    np.testing.assert_array_equal(once.intercept_, twice.intercept_)
    with pytest.raises(ValueError, match="warm_start"):
        twice.fit(X, [0, 1, 2, 0])


def test_duplicate_and_unsorted_indices_and_empty_rows():
    messy = sp.csr_array(
        (np.array([1.0, 2.0, 4.0, 3.0, 5.0]), np.array([3, 1, 3, 2, 0]), np.array([0, 3, 3, 5])),
        shape=(3, 4),
    )
    tidy = messy.toarray()
    y, weight = [1, 0, 1], [3.0, 2.5, 1.0]
    a = Perceptron(shuffle=False, max_iter=5).fit(messy, y, sample_weight=weight)
    b = Perceptron(shuffle=False, max_iter=5).fit(tidy, y, sample_weight=weight)
    np.testing.assert_array_equal(a.coef_, b.coef_)
    np.testing.assert_array_equal(messy.indices, [3, 1, 3, 2, 0])  # the caller's matrix is kept
    assert a.evidence_["training_mistakes"] == b.evidence_["training_mistakes"]
