"""LassoCV and ElasticNetCV: scikit-learn's searches, from sums as from refits, and what is told."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_diabetes
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import ElasticNetCV as TheirNet
from sklearn.linear_model import LassoCV as Theirs
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit, cross_val_score

from separable import ElasticNet, ElasticNetCV, Lasso, LassoCV
from separable.certified.solvers.options import GramOptions
from separable.fitting.best_candidate import GridEdgeWarning
from separable.select import cross_validate, path, search
from tests.certified.engine_problems import use_options
from tests.certified.estimators.test_lasso import data
from tests.versions import NEWER_SKLEARN

pytestmark = pytest.mark.native


@pytest.fixture(params=["sums", "rows"])
def engine(request, monkeypatch):
    """Both engines: the one of sums, and the one of rows."""
    if request.param == "rows":
        use_options(monkeypatch, gram=GramOptions(max_columns=0))
    return request.param


@NEWER_SKLEARN
@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_same_as_scikit_learn(engine, fit_intercept, positive):
    X, y = load_diabetes(return_X_y=True)
    X, y = 20 * X[:200], y[:200]
    common = {"cv": 4, "eps": 1e-2, "fit_intercept": fit_intercept, "positive": positive}
    ours = LassoCV(12, **common).fit(X, y)
    theirs = Theirs(alphas=12, tol=1e-12, max_iter=10**5, **common).fit(X, y)
    np.testing.assert_allclose(ours.alphas_, theirs.alphas_, rtol=1e-10)
    np.testing.assert_allclose(ours.mse_path_, theirs.mse_path_, rtol=1e-6)
    assert ours.alpha_ == pytest.approx(theirs.alpha_, rel=1e-10)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
    np.testing.assert_array_equal(ours.scores_, -ours.mse_path_.T)
    assert ours.certificates_path_.shape == ours.n_iter_path_.shape == (4, 12)
    assert isinstance(ours.n_iter_, int)
    assert all(one.converged for one in ours.certificates_path_.ravel())
    assert (ours.evidence_["engine"] == "sums") == (engine == "sums")
    assert ours.evidence_["search"]["converged"] == 48


@NEWER_SKLEARN
@pytest.mark.usefixtures("engine")
def test_mixtures():
    X, y = data(120, 10)
    ratios = [0.2, 0.7, 1.0]
    ours = ElasticNetCV(8, l1_ratio=ratios, cv=3).fit(X, y)
    theirs = TheirNet(alphas=8, l1_ratio=ratios, cv=3, tol=1e-12, max_iter=10**5).fit(X, y)
    assert ours.alphas_.shape == (3, 8)
    np.testing.assert_allclose(ours.alphas_, theirs.alphas_, rtol=1e-10)
    np.testing.assert_allclose(ours.mse_path_, theirs.mse_path_, rtol=1e-6)
    assert (ours.alpha_, ours.l1_ratio_) == pytest.approx((theirs.alpha_, theirs.l1_ratio_))
    assert ours.scores_.shape == (3, 3, 8)
    assert ours.coefs_paths_.shape == (3, 3, 8, 11)
    assert ours.cv_results_["fold_scores"].shape == (24, 3)
    assert ours.cv_results_["l1_ratio"][8] == 0.7
    last = ElasticNet(ours.alpha_, l1_ratio=ours.l1_ratio_).fit(X, y)
    np.testing.assert_allclose(ours.coef_, last.coef_, atol=1e-9)


@pytest.mark.usefixtures("engine")
@pytest.mark.filterwarnings("ignore::separable.fitting.best_candidate.GridEdgeWarning")
@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize(
    "cv", [3, KFold(3, shuffle=True, random_state=0), ShuffleSplit(3, random_state=0)]
)
def test_the_same_as_refits(cv, standardize):
    X, y = data(90, 6)
    alphas = np.array([0.5, 0.05, 0.01])
    weight = np.random.default_rng(3).uniform(0, 2, len(y))
    found = LassoCV(alphas, cv=cv, standardize=standardize).fit(X, y)
    for place, alpha in enumerate(found.alphas_):
        plain = Lasso(alpha, standardize=standardize)
        scores = cross_val_score(plain, X, y, cv=cv, scoring="neg_mean_squared_error")
        np.testing.assert_allclose(found.scores_[:, place], scores, rtol=1e-9)
    weighed = LassoCV(alphas, cv=3, standardize=standardize).fit(X, y, weight)
    for fold, (train, test) in enumerate(KFold(3).split(X)):
        one = Lasso(0.05, standardize=standardize).fit(X[train], y[train], weight[train])
        error = np.average((y[test] - one.predict(X[test])) ** 2, weights=weight[test])
        assert weighed.mse_path_[1, fold] == pytest.approx(error, rel=1e-9)


def test_other_rows():
    X, y = data(120, 6)
    plain = LassoCV(5, cv=3).fit(X, y)
    for rows in (sp.csr_array(X), np.asfortranarray(X)):
        again = LassoCV(5, cv=3).fit(rows, y)
        np.testing.assert_allclose(again.mse_path_, plain.mse_path_, rtol=1e-9)
        np.testing.assert_allclose(again.coef_, plain.coef_, atol=1e-10)
    single = LassoCV(5, cv=3).fit(X.astype(np.float32), y)
    np.testing.assert_allclose(single.mse_path_, plain.mse_path_, rtol=1e-5)
    far = LassoCV(5, cv=3).fit(X + 1e9, y)
    np.testing.assert_allclose(far.mse_path_, plain.mse_path_, rtol=1e-4)


@pytest.mark.usefixtures("engine")
def test_the_first_model_has_no_weights():
    for positive in (False, True):
        X, y = data(50, 5)
        weight = np.random.default_rng(1).uniform(0.1, 3, len(y))
        found = LassoCV(4, positive=positive).fit(X, y, weight)
        assert not Lasso(found.alphas_[0], positive=positive).fit(X, y, weight).coef_.any()
        assert Lasso(0.99 * found.alphas_[0], positive=positive).fit(X, y, weight).coef_.any()


def test_a_perfect_fit_is_scored_by_the_rows():
    X, _ = data(200, 5)
    y = X @ np.arange(5.0)
    found = LassoCV([1e-6, 1e-8], cv=2)
    with pytest.warns(GridEdgeWarning):
        found.fit(X, y)
    for k, (train, test) in enumerate(KFold(2).split(X)):
        w, b = found.coefs_paths_[k, 1, :5], found.coefs_paths_[k, 1, 5]
        error = np.mean((y[test] - X[test] @ w - b) ** 2)
        assert found.mse_path_[1, k] == pytest.approx(error, rel=1e-6)
        assert found.certificates_path_[k, 1].converged
        assert len(train) == 100


def test_the_strongest_penalty_within_a_standard_error():
    X, y = data(80, 10)
    best, simple = LassoCV(30).fit(X, y), LassoCV(30, select="1se").fit(X, y)
    mean, error = best.cv_results_["mean_score"], best.cv_results_["standard_error"]
    top = int(np.argmax(mean))
    assert best.alpha_ == best.alphas_[top]
    within = best.alphas_[mean >= mean[top] - error[top]]
    assert simple.alpha_ == within.max() > best.alpha_
    assert np.count_nonzero(simple.coef_) <= np.count_nonzero(best.coef_)


def test_scorers():
    X, y = data(90, 5)
    r2 = LassoCV(5, cv=3, scoring="r2").fit(X, y)
    mine = LassoCV(5, cv=3, scoring=lambda each, A, b: each.score(A, b)).fit(X, y)
    np.testing.assert_allclose(r2.scores_, mine.scores_, rtol=1e-12)
    assert r2.evidence_["scoring"] == "r2"
    assert r2.mse_path_.shape == (5, 3)
    assert r2.best_score_ == r2.scores_.mean(axis=0).max()

    def bad(estimator, X, y):
        raise RuntimeError("no")

    with pytest.raises(RuntimeError) as told:
        LassoCV(5, cv=3, scoring=bad).fit(X, y)
    assert "fold 0 of 3" in told.value.__notes__[0]


def test_threads_change_no_bit():
    X, y = data(300, 8)
    one, two = LassoCV(6).fit(X, y), LassoCV(6, n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(one.coefs_paths_, two.coefs_paths_)
    np.testing.assert_array_equal(one.coef_, two.coef_)


def test_the_edge_of_alphas():
    X, y = data()
    with pytest.warns(GridEdgeWarning, match="best alpha, 0.5, is the smallest that was tried"):
        found = LassoCV([5.0, 0.5]).fit(X, y)
    assert found.evidence_["at_edge"] == "smallest"
    np.testing.assert_array_equal(found.alphas_, [5.0, 0.5])


def test_the_callback_ends_the_search():
    X, y = data(2000, 100, rho=0.99)
    seen = []

    def told(number, gap):
        seen.append((number, gap))
        return len(seen) == 3

    with pytest.warns(ConvergenceWarning, match="models of its search before they converged"):
        LassoCV(5, eps=1e-6, cv=2, callback=told, tol=1e-12).fit(X, y)
    assert len(seen) == 4  # and once of the last fit


def test_bad_input():
    X, y = data()
    for bad in (0, [], [-1.0], [np.inf], "all"):
        with pytest.raises(ValueError, match="'alphas' parameter of LassoCV must be an int >= 1"):
            LassoCV(bad).fit(X, y)
    with pytest.raises(ValueError, match="'eps' parameter of LassoCV must be a float above 0"):
        LassoCV(eps=2.0).fit(X, y)
    with pytest.raises(ValueError, match="'l1_ratio' parameter of ElasticNetCV must be a float"):
        ElasticNetCV(l1_ratio=[0.5, 2.0]).fit(X, y)
    with pytest.raises(ValueError, match="With l1_ratio=0 no alpha makes all weights 0"):
        ElasticNetCV(l1_ratio=0.0).fit(X, y)
    with pytest.raises(ValueError, match="'select' parameter of LassoCV must be 'min' or '1se'"):
        LassoCV(select="best").fit(X, y)
    with pytest.raises(ValueError, match="Use Lasso with an alpha, or add rows"):
        LassoCV().fit(X[:1], y[:1])
    weight = np.ones(len(y))
    weight[:20] = 0
    with pytest.raises(ValueError, match="All rows that fold 0 holds out have weight 0"):
        LassoCV(cv=3).fit(X, y, weight)
    with pytest.raises(AttributeError, match=r"LassoCV has no dual_coef_\. Fit Lasso"):
        _ = LassoCV(5).fit(X, y).dual_coef_


@pytest.mark.filterwarnings("ignore::separable.fitting.best_candidate.GridEdgeWarning")
@pytest.mark.usefixtures("engine")
def test_rows_of_a_group_stay_together():
    X, y = data(60, 4)
    groups = np.repeat(np.arange(12), 5)
    folds = list(GroupKFold(4).split(X, y, groups))
    told = ElasticNetCV([0.1, 1.0], cv=folds).fit(X, y)
    for cv in (4, GroupKFold(4)):
        found = ElasticNetCV([0.1, 1.0], cv=cv).fit(X, y, groups=groups)
        np.testing.assert_array_equal(found.mse_path_, told.mse_path_)
    assert LassoCV(3).fit(X, y, groups=groups).scores_.shape == (5, 3)
    with pytest.raises(ValueError, match="groups must name one group a row"):
        LassoCV(3).fit(X, y, groups=groups[:-1])


@pytest.mark.filterwarnings("ignore::separable.fitting.best_candidate.GridEdgeWarning")
def test_alphas_that_were_given_are_the_same_for_every_mixture():
    X, y = data(60, 4)
    given = {"alphas": [0.1, 1.0], "l1_ratio": [0.5, 0.7], "cv": 3}
    ours, theirs = ElasticNetCV(**given).fit(X, y), TheirNet(**given, tol=1e-10).fit(X, y)
    np.testing.assert_array_equal(ours.alphas_, theirs.alphas_)
    np.testing.assert_allclose(ours.mse_path_, theirs.mse_path_, rtol=1e-3)


# ---------------------------------------------------------------------- select


@pytest.mark.usefixtures("engine")
def test_a_path():
    X, y = data(100, 7)
    found = path(ElasticNet(l1_ratio=0.8), X, y, alphas=6)
    assert found.parameter == "alpha"
    assert found.nonzeros[0] == 0 < found.nonzeros[-1]
    assert found.n_iter.shape == (6,)
    for place, alpha in enumerate(found.values):
        one = ElasticNet(alpha, l1_ratio=0.8).fit(X, y)
        np.testing.assert_allclose(found.coefs[place, 0], one.coef_, atol=1e-9)
        np.testing.assert_allclose(found.intercepts[place], one.intercept_, atol=1e-9)
        assert found.certificates[place][0].converged
    back = path(ElasticNet(l1_ratio=0.8), X, y, alphas=found.values[::-1])
    np.testing.assert_allclose(back.coefs[::-1], found.coefs, atol=1e-9)
    assert "nonzero" in repr(found)


def test_a_path_of_bad_alphas():
    X, y = data()
    with pytest.raises(ValueError, match="alphas must be an int >= 1 or finite floats > 0"):
        path(Lasso(), X, y, alphas=[1.0, 0.0])
    with pytest.raises(ValueError, match="Lasso has no Cs: give alphas"):
        path(Lasso(), X, y, [1.0])
    with pytest.warns(ConvergenceWarning, match="larger alpha"):
        path(Lasso(max_iter=1, tol=1e-15), *data(500, 40, rho=0.99), alphas=[1e-5])


@pytest.mark.usefixtures("engine")
def test_searches_and_folds():
    X, y = data(90, 6)
    grid = {"alpha": [0.3, 0.03], "l1_ratio": [0.5, 1.0]}
    found = search(ElasticNet(), grid, X, y, cv=3)
    assert set(found.how_) == {"lanes"}
    for params, score in zip(
        found.cv_results_["params"], found.cv_results_["mean_test_score"], strict=True
    ):
        refits = cross_val_score(ElasticNet(**params), X, y, cv=3)
        assert score == pytest.approx(refits.mean(), rel=1e-9)
    folds = cross_validate(Lasso(0.1), X, y, cv=3)
    refits = cross_val_score(Lasso(0.1), X, y, cv=3)
    np.testing.assert_allclose(folds.scores["r2"], refits, rtol=1e-9)
