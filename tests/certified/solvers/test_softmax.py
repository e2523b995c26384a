"""All classes together: the optimum of scikit-learn's objective, with a certificate to check."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import logsumexp, softmax
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression as Theirs
from sklearn.preprocessing import StandardScaler

from separable import LogisticRegression, LogisticRegressionCV
from separable.certified.preparation import prepare
from separable.certified.problem import TOGETHER, Lane
from separable.certified.solvers.options import NewtonOptions, SolverOptions
from separable.certified.solvers.policy import solver_of
from separable.data.rows import as_rows
from separable.fitting.best_candidate import GridEdgeWarning
from separable.geometry import SeparationError
from separable.losses.loss import LOGISTIC
from separable.model.files.model_file import load
from separable.select import path
from tests.certified.engine_problems import use_options, use_solvers

pytestmark = pytest.mark.native


def theirs(X, y, weight=None, **given):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        solver = "newton-cholesky" if X.shape[1] < 30 else "newton-cg"  # which takes 5 s for digits
        model = Theirs(solver=solver, tol=1e-12, max_iter=1000, **given)
        return model.fit(X, y, sample_weight=weight)


def data(seed=0, n=200, d=5, K=4, noise=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    scores = X @ rng.normal(size=(d, K)) + noise * rng.gumbel(size=(n, K)) + rng.normal(size=K)
    y = scores.argmax(axis=1)
    y[:K] = np.arange(K)
    return X, y, rng


def check(model, X, y, weight=None, tol=1e-9):
    """Compute the certificate again, and look whether the gradient is 0."""
    K, n = len(model.classes_), len(y)
    code = np.searchsorted(model.classes_, y)
    c = model.C * (np.ones(n) if weight is None else weight)
    W, b, z = model.coef_, model.intercept_, model.dual_coef_
    S = X @ W.T + b
    primal = (W**2).sum() / 2 + c @ (logsumexp(S, axis=1) - S[np.arange(n), code])
    used = c > 0
    p = np.eye(K)[code[used]] - z.T[used] / c[used, None]
    V = z @ (X - X.mean(axis=0))
    entropy = -np.where(p > 0, p * np.log(np.where(p > 0, p, 1)), 0).sum(axis=1)
    dual = c[used] @ entropy - (V**2).sum() / 2
    (one,) = model.certificates_
    assert (p >= -1e-13).all()
    np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-12)
    np.testing.assert_allclose(z.sum(axis=1), 0, atol=1e-12 * c.sum())
    assert one.primal == pytest.approx(primal, rel=tol)
    assert one.dual == pytest.approx(dual, rel=tol, abs=tol * primal)
    assert one.converged
    r = c[:, None] * (softmax(S, axis=1) - np.eye(K)[code])
    size = c @ np.abs(X) + np.abs(W).max()
    assert (np.abs(r.T @ X + W) <= 1e-6 * size).all()
    np.testing.assert_allclose(b.sum(), 0, atol=1e-9 * (1 + np.abs(b).max()))


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("source", [load_iris, load_wine, load_digits])
def test_weights_are_those_of_scikit_learn(source, C):
    X, y = source(return_X_y=True)
    if source is load_digits:
        X, y = X[::4], y[::4]
    X = StandardScaler().fit_transform(X)
    tol = None  # to rounding, but for digits
    if source is load_digits:
        tol = 1e-12 if C > 1 else 1e-13
    model, other = LogisticRegression(C=C, tol=tol).fit(X, y), theirs(X, y, C=C)
    np.testing.assert_allclose(model.coef_, other.coef_, atol=2e-6 * np.abs(other.coef_).max())
    np.testing.assert_allclose(model.predict_proba(X), other.predict_proba(X), atol=1e-6)
    np.testing.assert_array_equal(model.predict(X), other.predict(X))
    np.testing.assert_allclose(
        model.intercept_, other.intercept_ - other.intercept_.mean(), atol=1e-5
    )
    check(model, X, y)


@pytest.mark.parametrize("kind", ["float32", "sparse", "weights", "class_weight", "no intercept"])
def test_so_are_those_of_other_rows_and_weights(kind):
    X, y, rng = data(1)
    given, weight = {}, None
    rows = X
    if kind == "float32":
        X = rows = X.astype(np.float32)
    if kind == "sparse":
        X[rng.random(X.shape) < 0.5] = 0.0
        rows = sp.csr_array(X)
    if kind == "weights":
        weight = rng.uniform(0, 3, len(y))
        weight[5:15] = 0.0
    if kind == "class_weight":
        given["class_weight"] = {0: 1.0, 1: 3.0, 2: 0.5, 3: 1.0}
    if kind == "no intercept":
        given["fit_intercept"] = False
    model = LogisticRegression(C=2.0, **given).fit(rows, y, weight)
    other = theirs(X.astype(np.float64), y, weight, C=2.0, **given)
    np.testing.assert_allclose(model.coef_, other.coef_, atol=1e-6)
    np.testing.assert_allclose(
        model.intercept_, other.intercept_ - other.intercept_.mean(), atol=1e-6
    )
    assert model.certificate_.relative_gap < 1e-12
    if kind in ("float32", "sparse", "weights"):
        check(model, X.astype(np.float64), y, weight)


@pytest.mark.parametrize("scale", [1e-6, 1e6, 1e100])
def test_columns_may_be_of_any_size(scale):
    X, y, _ = data(2)
    model = LogisticRegression(C=1.0 / scale**2).fit(X * scale, y)
    plain = LogisticRegression(C=1.0).fit(X, y)
    np.testing.assert_allclose(model.coef_ * scale, plain.coef_, rtol=1e-6, atol=1e-9)
    assert model.certificate_.relative_gap < 1e-10
    np.testing.assert_allclose(model.dual_coef_ * scale**2, plain.dual_coef_, atol=1e-7)


def test_columns_may_be_far_from_0():
    X, y, _ = data(3)
    plain, far = LogisticRegression().fit(X, y), LogisticRegression().fit(X + 2.0**30, y)
    np.testing.assert_allclose(far.coef_, plain.coef_, atol=1e-5)
    assert far.certificate_.relative_gap < 1e-10


def test_standardized_columns_are_penalised_in_their_units():
    X, y, rng = data(4)
    X = X * 10.0 ** rng.uniform(-3, 3, X.shape[1]) + 5
    model = LogisticRegression(standardize=True).fit(X, y)
    other = theirs(StandardScaler().fit_transform(X), y)
    np.testing.assert_allclose(model.coef_ * X.std(axis=0), other.coef_, atol=1e-6)
    np.testing.assert_allclose(model.predict_proba(X), theirs_proba(other, X), atol=1e-6)


def theirs_proba(other, X):
    return other.predict_proba(StandardScaler().fit_transform(X))


def test_the_names_of_classes_only_order_them():
    X, y, _ = data(5)
    model = LogisticRegression().fit(X, y)
    names = np.array(["d", "b", "a", "c"])
    named = LogisticRegression().fit(X, names[y])
    order = np.argsort(names)
    np.testing.assert_allclose(named.coef_, model.coef_[order], atol=1e-8)
    np.testing.assert_allclose(named.intercept_, model.intercept_[order], atol=1e-8)


def test_a_weight_of_k_is_the_row_k_times():
    X, y, rng = data(6, n=80)
    times = rng.integers(0, 4, len(y))
    times[:4] = 1
    weighted = LogisticRegression().fit(X, y, times.astype(float))
    repeated = LogisticRegression().fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-8)
    assert weighted.dual_coef_.shape == (4, 80)
    assert not weighted.dual_coef_[:, times == 0].any()


def test_two_classes_together_are_the_binary_model_with_half_the_penalty():
    X, y, _ = data(7, K=2)
    made = prepare(
        as_rows(X), LOGISTIC, y.astype(np.int32), None, fit_intercept=True, standardize=False
    )
    options = SolverOptions(force="newton")
    (found,) = solver_of(replace(made, n_classes=2), options).solve([Lane(1.0, TOGETHER)])
    W = found.solution.weights
    # w_1 = -w_0 = w / 2, so 1/2 (|w_0|^2 + |w_1|^2) = 1/4 |w|^2: C counts twice
    binary = LogisticRegression(C=2.0).fit(X, y)
    np.testing.assert_allclose(W[:, 1] - W[:, 0], binary.coef_[0], atol=1e-8)
    np.testing.assert_allclose(W.sum(axis=1), 0, atol=1e-12)
    primal = found.solution.certificates[0].primal
    assert primal == pytest.approx(binary.certificate_.primal / 2, rel=1e-10)


@pytest.mark.parametrize("kind", ["small", "dense", "sparse"])
def test_without_a_penalty(kind, monkeypatch):
    X, y, _ = data(8, n=300, d=3, noise=3.0)
    if kind != "small":
        monkeypatch.setattr("separable.certified.problem.TINY", 0)
    model = LogisticRegression(C=np.inf).fit(sp.csr_array(X) if kind == "sparse" else X, y)
    other, near = theirs(X, y, C=np.inf), 1e-6 if kind == "small" else 2e-3
    np.testing.assert_allclose(model.predict_proba(X), other.predict_proba(X), atol=near)
    one = model.certificate_
    assert one.converged
    assert not one.is_penalised
    np.testing.assert_allclose(model.dual_coef_ @ X, 0, atol=1e-9)
    np.testing.assert_allclose(model.coef_.sum(axis=0), 0, atol=1e-9)


def test_separable_classes_have_no_optimum_without_a_penalty():
    X, _, rng = data(9, d=2)
    y = (X @ rng.normal(size=(2, 3))).argmax(axis=1)
    with pytest.raises(SeparationError, match="the classes are separable"):
        LogisticRegression(C=np.inf).fit(X, y)


def test_many_columns_without_a_penalty_are_refused(monkeypatch):
    use_options(monkeypatch, newton=NewtonOptions(max_unpenalized_weights=10))
    X, y, _ = data(10)
    with pytest.raises(ValueError, match="C=inf, no penalty, is solved for 4 classes together"):
        LogisticRegression(C=np.inf).fit(X, y)


def test_a_class_of_one_row_and_many_classes():
    X, y, rng = data(11)
    y[y == 3] = 2
    y[0] = 3
    check(LogisticRegression().fit(X, y), X, y)
    y = np.concatenate([np.arange(70), rng.integers(70, size=210)])
    X = rng.normal(size=(70, 6))[y] + rng.normal(size=(280, 6))
    model = LogisticRegression(tol=1e-12).fit(X, y)
    assert model.coef_.shape == (70, 6)
    check(model, X, y)


@pytest.mark.parametrize("kind", ["dense", "float32", "sparse"])
@pytest.mark.parametrize("solver", ["lbfgs", "newton", "newton_cg", "dual_cd"])
def test_every_solver_on_every_kind_of_rows(kind, solver, monkeypatch):
    use_solvers(monkeypatch, solver)
    X, y, rng = data(12, n=500, d=12)
    if kind == "sparse":
        X[rng.random(X.shape) < 0.5] = 0.0
    rows = {"sparse": sp.csr_array(X), "float32": X.astype(np.float32)}.get(kind, X)
    for tol in (1e-4, 1e-10):
        model = LogisticRegression(tol=tol).fit(rows, y)
        assert model.certificate_.converged
        other = theirs(X, y)
        away = np.linalg.norm(model.coef_ - other.coef_)
        assert away <= model.certificate_.distance + 1e-5
        engines = {"dual_cd": ["descent"], "newton_cg": ["newton-cg"]}
        assert model.evidence_["engine"] in engines.get(solver, [solver, "newton-cg"])


@pytest.mark.parametrize("rows", ["dense", "sparse"])
def test_threads_change_no_bit(rows, monkeypatch):
    if rows == "sparse":
        use_solvers(monkeypatch, "dual_cd", "newton")
    X, y, _ = data(13)
    X = sp.csr_array(X) if rows == "sparse" else X
    found = [LogisticRegressionCV([0.1, 1, 10], n_jobs=n_jobs, cv=3).fit(X, y) for n_jobs in (1, 3)]
    np.testing.assert_array_equal(found[0].coefs_paths_, found[1].coefs_paths_)
    np.testing.assert_array_equal(found[0].coef_, found[1].coef_)


def test_callbacks_warm_starts_and_most_passes(monkeypatch):
    X, y, _ = data(14)
    with pytest.warns(ConvergenceWarning, match="stopped after 1 passes"):
        LogisticRegression(callback=lambda number, gap: True).fit(X, y)
    with pytest.warns(ConvergenceWarning, match="stopped after 2 passes"):
        short = LogisticRegression(max_iter=2, C=100.0).fit(X, y)
    assert short.certificate_.gap > 0
    model = LogisticRegression(warm_start=True).fit(X, y)
    first, before = model.coef_.copy(), model.n_iter_[0]
    model.fit(X, y)
    assert model.n_iter_[0] < before
    np.testing.assert_allclose(model.coef_, first, atol=1e-9)
    model.set_params(C=3.0).fit(X, y)
    np.testing.assert_allclose(model.coef_, LogisticRegression(C=3.0).fit(X, y).coef_, atol=1e-7)


def test_folds_are_those_of_refits_also_where_one_lacks_classes():
    X, y, rng = data(15, n=120)
    y[y == 3] = 0
    y[:2] = 3
    fold = np.concatenate([[0, 0], rng.integers(3, size=118)])
    splits = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(3)]
    with pytest.warns(GridEdgeWarning):
        search = LogisticRegressionCV([0.1, 1.0], cv=splits, tol=1e-12).fit(X, y)
    assert search.certificates_path_.shape == (3, 2, 1)
    assert search.coefs_paths_.shape == (3, 1, 2, 4, 6)
    for k, (train, test) in enumerate(splits):
        for s, C in enumerate([0.1, 1.0]):
            alone = LogisticRegression(C=C).fit(X[train], y[train])
            present = alone.classes_
            found = search.coefs_paths_[k, 0, s]
            away = search.certificates_path_[k, s, 0].distance + alone.certificate_.distance
            np.testing.assert_allclose(found[present, :-1], alone.coef_, rtol=0, atol=away)
            np.testing.assert_allclose(found[present, -1], alone.intercept_, rtol=0, atol=1e-5)
            assert np.isnan(found[np.setdiff1d(np.arange(4), present)]).all()
            share = np.zeros((len(test), 4))
            share[:, present] = alone.predict_proba(X[test])
            eps = np.finfo(float).eps
            mine = np.log(np.clip(share[np.arange(len(test)), y[test]], eps, 1 - eps)).mean()
            assert search.scores_[k, 0, s] == pytest.approx(mine, rel=1e-5)


def test_a_fold_of_two_classes_has_the_binary_model():
    X, y, _ = data(16, n=90, K=3)
    test = np.flatnonzero(y == 2)
    train = np.flatnonzero(y != 2)
    splits = [(train, test), (np.arange(10, 90), np.arange(10))]
    search = LogisticRegressionCV([1.0], cv=splits).fit(X, y)
    alone = LogisticRegression().fit(X[train], y[train])
    np.testing.assert_allclose(search.coefs_paths_[0, 0, 0, 1, :-1], alone.coef_[0], atol=1e-3)


def test_one_model_a_class_is_there_too():
    X, y, _ = data(17)
    model = LogisticRegression(multi_class="ovr").fit(X, y)
    assert len(model.certificates_) == 4
    assert model.model_.link == "logistic"
    for k in range(4):
        alone = LogisticRegression().fit(X, y == k)
        np.testing.assert_allclose(model.coef_[k], alone.coef_[0], atol=1e-9)
    search = LogisticRegressionCV([1.0], multi_class="ovr", tol=1e-4).fit(X, y)
    assert search.certificates_path_.shape == (5, 1, 4)


def test_the_model_says_softmax_and_goes_through_a_file(tmp_path):
    X, y, _ = data(18)
    model = LogisticRegression().fit(X, y)
    assert model.model_.link == "softmax"
    np.testing.assert_allclose(model.predict_proba(X), softmax(model.decision_function(X), axis=1))
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), model.predict_proba(X))
    path = tmp_path / "model.sep"
    model.model_.save(path)
    np.testing.assert_array_equal(load(path).predict_proba(X), model.predict_proba(X))
    two = LogisticRegression().fit(X, y == 1)
    assert two.model_.link == "logistic"


def test_parameters_that_cannot_work():
    X, y, _ = data(19)
    with pytest.raises(ValueError, match="'multi_class' parameter of LogisticRegression must be"):
        LogisticRegression(multi_class="auto").fit(X, y)
    with pytest.raises(ValueError, match="'l1_ratio' parameter of LogisticRegression must be"):
        LogisticRegression(l1_ratio=2).fit(X, y)
    with pytest.raises(ValueError, match="'l1_ratios' parameter of LogisticRegressionCV must be"):
        LogisticRegressionCV(l1_ratios=[]).fit(X, y)
    with pytest.raises(ValueError, match=r"with C=inf has no penalty, so a share of l1, 0\.5"):
        LogisticRegression(C=np.inf, l1_ratio=0.5).fit(X, y > 0)


@pytest.mark.parametrize("C", [1.0, np.inf])
def test_a_warm_start_has_little_left_to_do(C):
    X, y, _ = data(20, noise=3.0)
    for standardize in (False, True):
        model = LogisticRegression(C=C, warm_start=True, standardize=standardize).fit(X * 50, y)
        before, weights = model.n_iter_[0], model.coef_.copy()
        model.fit(X * 50, y)
        assert model.n_iter_[0] < before
        np.testing.assert_allclose(model.coef_, weights, atol=1e-9)


@pytest.mark.parametrize("l1_ratio", [0.3, 1.0])
def test_shares_of_l1_for_two_classes_and_for_one_model_a_class(l1_ratio):
    X, y, _ = data(21)
    model = LogisticRegression(0.1, l1_ratio=l1_ratio, multi_class="ovr").fit(X, y)
    assert len(model.certificates_) == 4
    for k in range(4):
        two = LogisticRegression(0.1, l1_ratio=l1_ratio).fit(X, y == k)
        np.testing.assert_allclose(model.coef_[k], two.coef_[0], atol=1e-7)
        w, r = two.coef_[0], 0.1 * ((y == k) - two.predict_proba(X)[:, 1])
        correlation = r @ X - (1 - l1_ratio) * w  # a subgradient: sign(w) l1_ratio, or smaller
        np.testing.assert_allclose(correlation[w != 0], l1_ratio * np.sign(w[w != 0]), atol=1e-6)
        assert (np.abs(correlation) <= l1_ratio + 1e-6).all()
    again = LogisticRegression(0.1, l1_ratio=l1_ratio, warm_start=True).fit(X, y == 0)
    weights = again.coef_.copy()
    np.testing.assert_allclose(again.fit(X, y == 0).coef_, weights, atol=1e-9)


@pytest.mark.parametrize(
    "weights",
    [
        lambda X, y: LogisticRegression(0.02, l1_ratio=1.0).fit(X, y).coef_,
        lambda X, y: LogisticRegressionCV([0.02], l1_ratios=1.0).fit(X, y).coef_,
        lambda X, y: LogisticRegressionCV([0.02], l1_ratios=[1.0]).fit(X, y).coefs_paths_[0, 0, 0],
        lambda X, y: (
            LogisticRegressionCV([0.02]).fit(X, y).set_params(l1_ratios=1.0).fit(X, y).coef_
        ),
        lambda X, y: path(LogisticRegression(l1_ratio=1.0), X, y, Cs=[0.02]).coefs[0],
    ],
    ids=["fit", "search", "fold of a search", "fitted before", "path"],
)
def test_no_way_leaves_the_l1_part_out(weights):
    X, y, rng = data()
    X[:, 1:] = rng.normal(size=(len(X), X.shape[1] - 1))  # these say nothing
    assert (weights(X, y)[:, 1:5] == 0).all()


def test_the_share_of_l1_is_searched_too():
    X, y, _ = data(22, d=8)
    y = y > 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GridEdgeWarning)
        search = LogisticRegressionCV([0.01, 0.1, 1.0], l1_ratios=[0, 0.5, 1]).fit(X, y)
        alone = [LogisticRegressionCV([0.01, 0.1, 1.0], l1_ratios=r).fit(X, y) for r in (0, 0.5, 1)]
    best = int(np.argmax([one.best_score_ for one in alone]))
    assert search.l1_ratio_ == [0, 0.5, 1][best] == search.evidence_["l1_ratio"]
    np.testing.assert_array_equal(search.scores_[:, [best]], alone[best].scores_)
    np.testing.assert_array_equal(search.coef_, alone[best].coef_)
    with pytest.raises(ValueError, match=r"C=inf has no penalty, so a share of l1, \[0, 1\]"):
        LogisticRegressionCV([1.0, np.inf], l1_ratios=[0, 1]).fit(X, y)


@pytest.mark.filterwarnings("ignore::separable.fitting.best_candidate.GridEdgeWarning")
def test_a_search_that_fails_leaves_the_share_of_l1_that_was_found():
    X, y, _ = data(23)
    search = LogisticRegressionCV([0.5, 1.0, 2.0], l1_ratios=0.25).fit(X, y > 1)
    search.set_params(l1_ratios=[0.5, 1.0], scoring=lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        search.fit(X, y > 1)
    assert search.l1_ratio_ == 0.25
