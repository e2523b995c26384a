"""All classes together with an l1 or elastic net penalty: optimal, sparse, and proven."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import logsumexp, rel_entr, softmax
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression as Theirs
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

from separable import LogisticRegression, LogisticRegressionCV
from separable.certified.duality.gap import certify
from separable.certified.preparation import prepare
from separable.certified.problem import TOGETHER, Lane
from separable.certified.solvers.options import SolverOptions
from separable.certified.solvers.policy import solver_of
from separable.data.rows import as_rows
from separable.losses.loss import LOGISTIC
from separable.penalties.elastic_net import ElasticNetPenalty
from separable.select import path

pytestmark = pytest.mark.native


def data(seed=0, n=120, d=6, K=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    scores = X @ rng.normal(size=(d, K)) + rng.gumbel(size=(n, K)) + rng.normal(size=K)
    y = scores.argmax(axis=1)
    y[:K] = np.arange(K)
    return X, y, rng


def objective(X, y, W, b, C, ratio, weight=None):
    s = X @ W.T + b
    loss = logsumexp(s, axis=1) - s[np.arange(len(y)), y]
    c = np.ones(len(y)) if weight is None else weight
    return ratio * abs(W).sum() + (1 - ratio) / 2 * (W**2).sum() + C * (c @ loss)


def check_optimal(model, X, y, weight=None, tol=1e-6):
    """Look at the conditions of every weight and intercept."""
    W, b, ratio = model.coef_, model.intercept_, model.l1_ratio
    c = model.C * (np.ones(len(y)) if weight is None else weight)
    p = softmax(X @ W.T + b, axis=1)
    z = c[:, None] * (np.eye(len(W))[y] - p)
    left = z.T @ X - (1 - ratio) * W
    size = np.abs(z).T @ np.abs(X) + 1
    assert (np.abs(left - ratio * np.sign(W))[W != 0] <= tol * size[W != 0]).all()
    assert (np.abs(left)[W == 0] <= ratio + tol * size[W == 0]).all()
    if model.fit_intercept:
        np.testing.assert_allclose(z.sum(axis=0), 0, atol=tol * c.sum())
        assert abs(b.sum()) < 1e-9


def rounding_of_gap(model, X):
    """Return a bound of the rounding in the relative gap, which the certificate adds.

    X'z is known up to its rounding, bounded here by the largest cell; a dual point is feasible only
    after scaling by that much, and the dual changes by as many times |w|_1.
    """
    sums = np.abs(model.dual_coef_).sum() * np.abs(X).max()
    rounding = (len(X) + 4) * np.finfo(float).eps * sums
    return rounding * np.abs(model.coef_).sum() / model.certificate_.primal


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("ratio", [1.0, 0.5, 0.05])
def test_every_weight_meets_its_condition(ratio, sparse, fit_intercept):
    X, y, _ = data()
    if sparse:
        X[np.abs(X) < 0.5] = 0
    for C in (0.02, 0.3, 20.0):
        model = LogisticRegression(C, l1_ratio=ratio, fit_intercept=fit_intercept)
        model.fit(sp.csr_array(X) if sparse else X, y)
        assert model.certificate_.relative_gap < 1e-12 + rounding_of_gap(model, X)
        assert model.coef_.shape == (4, 6)
        assert len(model.certificates_) == 1
        check_optimal(model, X, y)


@pytest.mark.parametrize(
    ("load", "ratio"),
    [
        (load_iris, 1.0),
        (load_wine, 0.5),
        (load_digits, 1.0),
        *(
            pytest.param(load, ratio, marks=pytest.mark.long)
            for load, ratio in ((load_iris, 0.5), (load_wine, 1.0), (load_digits, 0.5))
        ),
    ],
)
def test_no_worse_than_saga(load, ratio):
    X, y = load(return_X_y=True)
    if load is load_digits:
        X, y = X[::6], y[::6]
    X = StandardScaler().fit_transform(X)
    C = 0.1
    ours = LogisticRegression(C, l1_ratio=ratio).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = Theirs(solver="saga", penalty="elasticnet", l1_ratio=ratio, C=C, tol=1e-6)
        theirs.set_params(max_iter=500 if load is load_digits else 5000).fit(X, y)
    mine = objective(X, y, ours.coef_, ours.intercept_, C, ratio)
    other = objective(X, y, theirs.coef_, theirs.intercept_, C, ratio)
    one = ours.certificate_
    assert one.primal - one.dual <= 1e-12 * one.primal
    assert one.relative_gap < 1e-9  # with a bound on the rounding of sums over all rows
    np.testing.assert_allclose(ours.certificate_.primal, mine, rtol=1e-12)
    assert mine <= other * (1 + 1e-12)
    np.testing.assert_allclose(other, mine, rtol=5e-3)


@pytest.mark.parametrize("ratio", [1.0, 0.4])
def test_certificate_in_ten_lines(ratio):
    X, y, rng = data(1)
    c = 0.3 * rng.integers(1, 4, len(y)).astype(float)
    model = LogisticRegression(1.0, l1_ratio=ratio, tol=1e-3).fit(X, y, sample_weight=c)
    W, z = model.coef_, model.dual_coef_
    primal = objective(X, y, W, model.intercept_, 1.0, ratio, c)
    p = np.eye(4)[y] - z.T / c[:, None]
    assert p.min() >= -1e-14
    np.testing.assert_allclose(p.sum(axis=1), 1)
    np.testing.assert_allclose(z.sum(axis=1), 0, atol=1e-11)
    correlation = z @ X
    over = np.maximum(np.abs(correlation) - ratio, 0)
    if ratio == 1:
        assert over.max() <= 1e-13
    conjugate = 0 if ratio == 1 else (over**2).sum() / (2 * (1 - ratio))
    dual = -(c @ np.where(p > 0, p * np.log(np.maximum(p, 1e-300)), 0)).sum() - conjugate
    one = model.certificate_
    np.testing.assert_allclose([one.primal, one.dual], [primal, dual], rtol=1e-12)
    assert one.gap >= 0
    assert abs(one.gap - (primal - dual)) < 1e-11 * primal
    assert np.isinf(one.distance) == (ratio == 1)


@pytest.mark.parametrize("ratio", [1.0, 0.6])
def test_gap_is_primal_less_dual_far_from_the_optimum(ratio):
    X, y, rng = data(2)
    problem = prepare(as_rows(X), LOGISTIC, y.astype(np.int32), None, fit_intercept=True,
                      standardize=False)  # fmt: skip
    problem = replace(problem, penalty=ElasticNetPenalty(ratio), n_classes=4)
    u = rng.normal(size=(6, 4))
    for p in (
        rng.dirichlet(np.ones(4), len(y)),
        np.zeros((len(y), 4)),
        np.full((len(y), 4), np.nan),
    ):
        one = certify(problem, [Lane(2.0, TOGETHER)], p, 1e-6, u)
        certificate = one.certificates[0]
        np.testing.assert_allclose(
            certificate.gap, certificate.primal - certificate.dual, rtol=1e-9
        )
        shares = np.eye(4)[y] - one.dual / 2.0
        np.testing.assert_allclose(one.dual.sum(axis=0), 0, atol=1e-11)
        assert shares.min() >= -1e-14
        if ratio == 1:
            assert np.abs(problem.x.rmatvec(one.dual)).max() <= 1
        divergence = 2.0 * rel_entr(np.maximum(shares, 0), softmax(one.scores, axis=1)).sum()
        assert certificate.gap >= divergence * (1 - 1e-9)


def test_all_weights_are_0_below_the_first_strength():
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    prior = np.bincount(y) / len(y)
    for ratio in (1.0, 0.5):
        first = ratio / np.abs(X.T @ (np.eye(3)[y] - prior)).max()
        below = LogisticRegression(first * (1 - 1e-9), l1_ratio=ratio).fit(X, y)
        above = LogisticRegression(first * 1.01, l1_ratio=ratio).fit(X, y)
        assert not below.coef_.any()
        np.testing.assert_allclose(below.predict_proba(X[:1])[0], prior)
        assert np.count_nonzero(above.coef_) == 1


@pytest.mark.parametrize("ratio", [1.0, 0.5])
def test_weights_are_repeated_rows(ratio):
    X, y, rng = data(3)
    times = rng.integers(0, 4, len(y))
    times[:4] = 1
    given = {"C": 0.5, "l1_ratio": ratio}
    weighted = LogisticRegression(**given).fit(X, y, sample_weight=times)
    repeated = LogisticRegression(**given).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-7)
    np.testing.assert_allclose(weighted.intercept_, repeated.intercept_, atol=1e-7)
    check_optimal(weighted, X, y, times)


def test_relabelling_classes_permutes():
    X, y, _ = data(4)
    order = np.array([2, 0, 3, 1])
    one = LogisticRegression(0.3, l1_ratio=1.0).fit(X, y)
    other = LogisticRegression(0.3, l1_ratio=1.0).fit(X, order[y])
    np.testing.assert_allclose(other.coef_[order], one.coef_, atol=1e-7)
    np.testing.assert_array_equal(other.coef_[order] != 0, one.coef_ != 0)


def test_a_tiny_share_of_l1_is_almost_the_l2_model():
    X, y, _ = data(5)
    plain = LogisticRegression(2.0).fit(X, y)
    almost = LogisticRegression(2.0, l1_ratio=1e-7).fit(X, y)
    np.testing.assert_allclose(almost.coef_, plain.coef_, atol=1e-5)
    np.testing.assert_allclose(almost.intercept_, plain.intercept_, atol=1e-5)


@pytest.mark.parametrize("ratio", [1.0, 0.5])
def test_sparse_and_dense_float32_and_float64_agree(ratio):
    X, y, _ = data(6)
    X = np.where(np.abs(X) < 0.7, 0, X).astype(np.float32)
    given = {"C": 0.5, "l1_ratio": ratio}
    expected = LogisticRegression(**given).fit(X.astype(np.float64), y)
    wide = sp.csr_array(X)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    for rows in (X, sp.csr_array(X), sp.csc_array(X.astype(np.float64)), wide):
        model = LogisticRegression(**given).fit(rows, y)
        np.testing.assert_allclose(model.coef_, expected.coef_, atol=1e-7)


@pytest.mark.parametrize("sparse", [False, True])
def test_standardised(sparse):
    X, y, _ = data(7)
    X *= 10.0 ** np.arange(-2, 4)
    if sparse:
        X[np.abs(X) < 0.3 * X.std(axis=0)] = 0
    scale = X.std(axis=0)
    model = LogisticRegression(0.4, l1_ratio=0.7, standardize=True)
    model.fit(sp.csr_array(X) if sparse else X, y)
    by_hand = LogisticRegression(0.4, l1_ratio=0.7).fit(X / scale, y)
    np.testing.assert_allclose(model.coef_ * scale, by_hand.coef_, atol=1e-7)
    np.testing.assert_allclose(model.intercept_, by_hand.intercept_, atol=1e-6)


@pytest.mark.parametrize("ratio", [1.0, 0.5])
@pytest.mark.parametrize("unit", [2.0**-60, 2.0**50])
def test_units_of_all_columns(ratio, unit):
    X, y, _ = data(8)
    C = 0.3 / unit
    model = LogisticRegression(C, l1_ratio=ratio).fit(X * unit, y)
    assert model.certificate_.converged
    check = objective(X * unit, y, model.coef_, model.intercept_, C, ratio)
    np.testing.assert_allclose(model.certificate_.primal, check, rtol=1e-9)
    if ratio == 1:  # w unit is the optimum of columns as they were, with C unit
        plain = LogisticRegression(0.3, l1_ratio=1.0).fit(X, y)
        np.testing.assert_allclose(model.coef_ * unit, plain.coef_, atol=1e-7)


def test_shifted_columns():
    X, y, _ = data(9)
    plain = LogisticRegression(1.0, l1_ratio=1.0).fit(X, y)
    far = LogisticRegression(1.0, l1_ratio=1.0).fit(X + 2.0**30, y)
    np.testing.assert_allclose(far.coef_, plain.coef_, atol=1e-4)
    assert far.certificate_.converged


def test_equal_columns_and_empty_ones():
    X, y, _ = data(10)
    X = np.hstack([X, X, np.zeros((len(X), 1)), np.ones((len(X), 1))])
    for ratio in (1.0, 0.5):
        model = LogisticRegression(2.0, l1_ratio=ratio).fit(X, y)
        assert model.certificate_.relative_gap < 1e-9
        assert not model.coef_[:, -2:].any()


def test_separable_classes_have_an_optimum():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(5), 8)
    X = 10 * np.eye(5)[y] + 0.1 * rng.normal(size=(40, 5))
    for ratio in (1.0, 0.5):
        model = LogisticRegression(1e4, l1_ratio=ratio).fit(X, y)
        assert model.certificate_.converged
        assert model.score(X, y) == 1


def test_more_columns_than_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3000))
    y = (X[:, :3] @ rng.normal(size=(3, 3))).argmax(axis=1)
    model = LogisticRegression(0.3, l1_ratio=1.0).fit(X, y)
    assert model.certificate_.relative_gap < 1e-10
    assert 0 < np.count_nonzero(model.coef_) < 180
    check_optimal(model, X, y)


def problem_of(X, y, ratio=1.0, fold=None, **given):
    problem = prepare(as_rows(X), LOGISTIC, y.astype(np.int32), None, fit_intercept=True,
                      standardize=False)  # fmt: skip
    K = int(y.max()) + 1
    return replace(problem, penalty=ElasticNetPenalty(ratio), n_classes=K, fold=fold, **given)


def test_a_fold_without_a_class():
    X, y, _ = data(11, K=4)
    fold = np.where(y == 2, 0, -1).astype(np.int32)
    fold[0] = 0
    problem = problem_of(X, y, 0.8, fold)
    solver = solver_of(problem, SolverOptions())
    (solved,) = solver.solve([Lane(0.5, TOGETHER, 0)])
    found = solved.solution
    assert np.isneginf(found.intercept[2])
    assert not found.weights[:, 2].any()
    present = fold != 0
    alone = LogisticRegression(0.5, l1_ratio=0.8).fit(X[present], y[present])
    np.testing.assert_allclose(found.weights[:, [0, 1, 3]].T, alone.coef_, atol=1e-7)
    np.testing.assert_allclose(found.certificates[0].primal, alone.certificate_.primal)


@pytest.mark.slow
def test_threads_change_no_bit():
    X, y, _ = data(12)
    given = {"Cs": [0.001, 1.0, 1e3], "l1_ratios": [0.5, 1.0], "cv": StratifiedKFold(2)}
    one = LogisticRegressionCV(**given).fit(X, y)
    three = LogisticRegressionCV(n_jobs=3, **given).fit(X, y)
    np.testing.assert_array_equal(one.coef_, three.coef_)
    assert one.l1_ratio_ == three.l1_ratio_


def test_search_over_folds_is_what_single_fits_find():
    X, y, _ = data(13)
    folds = StratifiedKFold(3)
    search = LogisticRegressionCV([0.001, 0.5, 1e3], l1_ratios=1.0, cv=folds).fit(X, y)
    scores = np.zeros((3, 3))
    for f, (train, test) in enumerate(folds.split(X, y)):
        for s, C in enumerate(search.Cs_):
            model = LogisticRegression(C, l1_ratio=1.0).fit(X[train], y[train])
            p = model.predict_proba(X[test])
            scores[f, s] = -np.log(p[np.arange(len(test)), y[test]]).mean()
    np.testing.assert_allclose(np.abs(search.scores_[:, 0]), scores, rtol=1e-6)


@pytest.mark.slow
def test_paths_grow_from_nothing():
    X, y = load_iris(return_X_y=True)
    found = path(LogisticRegression(l1_ratio=1.0), X, y)
    assert found is not None


@pytest.mark.slow
def test_warm_start_goes_on():
    X, y = load_digits(return_X_y=True)
    for ratio in (1.0, 0.5):
        model = LogisticRegression(0.02, l1_ratio=ratio, warm_start=True).fit(X, y)
        cold = model.n_iter_[0]
        first = model.coef_
        model.fit(X, y)
        assert model.n_iter_[0] < cold / 2
        np.testing.assert_allclose(model.coef_, first, atol=1e-7)


def test_callback_ends_a_fit():
    X, y = load_digits(return_X_y=True)
    seen = []

    def stop(number, gap):
        seen.append((number, gap))
        return number == 3

    with pytest.warns(ConvergenceWarning, match="relative gap"):
        model = LogisticRegression(l1_ratio=1.0, callback=stop).fit(X, y)
    assert [number for number, _ in seen] == [1, 2, 3]
    assert 0 < model.certificate_.relative_gap <= 1


def test_too_few_passes_are_told():
    X, y = load_digits(return_X_y=True)
    with pytest.warns(ConvergenceWarning, match="after . passes"):
        model = LogisticRegression(l1_ratio=1.0, max_iter=2).fit(X, y)
    assert model.certificate_.gap >= 0


def test_no_penalty_has_no_share_of_l1():
    X, y, _ = data(14)
    with pytest.raises(ValueError, match="C=inf"):
        next(solver_of(problem_of(X, y), SolverOptions()).solve([Lane(np.inf, TOGETHER)]))
