"""LogisticRegressionCV against independent fits, GridSearchCV and rules by hand."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import LogisticRegressionCV as PeerCV
from sklearn.metrics import get_scorer, log_loss
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    LeaveOneOut,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
)

import separable
from separable import LinearSVMCV, LogisticRegression, LogisticRegressionCV, TableEncoder
from separable.data import read
from separable.datasets import PENGUINS
from separable.fitting.best_candidate import (
    GridEdgeWarning,
    best_index,
    edge_of,
    one_standard_error_index,
)
from separable.model.parameters import ParameterError
from separable.select.estimators import search_table
from tests.certified.engine_problems import use_solvers
from tests.interrupts import ctrl_c
from tests.select.estimators.searches import classes, text
from tests.versions import NEWER_SKLEARN

pytestmark = [
    pytest.mark.native,
    pytest.mark.filterwarnings("ignore::separable.fitting.best_candidate.GridEdgeWarning"),
]

CS = [0.01, 1.0, 100.0]
SPLITTERS = [
    3,
    KFold(4, shuffle=True, random_state=1),
    ShuffleSplit(3, random_state=0),
    ShuffleSplit(2, train_size=0.4, random_state=0),
    RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0),
    [(np.r_[0:50, 0:20], np.arange(50, 80)), (np.arange(40, 90), np.arange(40))],
]


def splits_of(cv, y):
    if isinstance(cv, list):
        return cv
    return list((StratifiedKFold(cv) if isinstance(cv, int) else cv).split(np.zeros(len(y)), y))


def by_hand(search, X, y, weight=None):
    """Fit every fold and C by itself; compare weights within the certificates, and the scores."""
    splits = splits_of(search.cv or 5, y)
    plain = {
        name: value
        for name, value in search.get_params().items()
        if name in LogisticRegression().get_params()
    }
    for fold, (train, test) in enumerate(splits):
        for place, C in enumerate(search.Cs_):
            each = None if weight is None else weight[train]
            alone = LogisticRegression(**{**plain, "C": C}).fit(X[train], y[train], each)
            mine = search.coefs_paths_[fold, 0, place]
            far = np.linalg.norm(mine[:, : X.shape[1]] - alone.coef_, axis=1)
            paths = search.certificates_path_[fold, place] if search.tol else ()
            for k, certificate in enumerate(paths):
                assert certificate.converged
                assert certificate.dual <= alone.certificates_[k].primal * (1 + 1e-9)
                assert alone.certificates_[k].dual <= certificate.primal * (1 + 1e-9)
                if not search.standardize:
                    assert far[k] <= certificate.distance + alone.certificates_[k].distance + 1e-7
            score = -log_loss(
                y[test],
                alone.predict_proba(X[test]),
                labels=np.unique(y),
                sample_weight=None if weight is None else weight[test],
            )
            np.testing.assert_allclose(search.scores_[fold, 0, place], score, rtol=2e-2, atol=1e-4)


# ------------------------------------------------------------------ as independent fits


@pytest.mark.parametrize("cv", SPLITTERS, ids=lambda cv: str(cv).partition("(")[0][:12])
@pytest.mark.parametrize(
    ("form", "k"),
    [
        (np.asarray, 2),
        (sp.csr_array, 3),
        pytest.param(np.asarray, 3, marks=pytest.mark.long),
        pytest.param(sp.csr_array, 2, marks=pytest.mark.long),
    ],
)
@pytest.mark.parametrize("tol", [None, 1e-4])
def test_lanes_equal_independent_fits(cv, k, form, tol):
    X, y = classes(k=k)
    search = LogisticRegressionCV(CS, cv=cv, tol=tol).fit(form(X), y)
    by_hand(search, form(X), y)


@pytest.mark.parametrize(
    "more",
    [
        {"fit_intercept": False},
        {"standardize": True},
        {"class_weight": "balanced"},
        {"class_weight": {0: 3.0}},
        {"standardize": True, "class_weight": "balanced", "fit_intercept": False},
    ],
    ids=str,
)
@pytest.mark.parametrize("weighted", [False, True])
def test_parameters_and_weights(more, weighted):
    X, y = classes()
    X = X * [1, 10, 0.1, 1, 1, 1] + 3
    weight = np.arange(len(y)) % 3 * 1.0 if weighted else None  # some rows are absent
    search = LogisticRegressionCV(CS, cv=3, **more).fit(X, y, weight)
    by_hand(search, X, y, weight)


def test_passes_over_many_columns(monkeypatch):
    use_solvers(monkeypatch, "dual_cd", "newton")
    X, y = text()
    search = LogisticRegressionCV([0.1, 1.0, 10.0], cv=4).fit(X, y)
    assert search.evidence_["engine"] == "descent"
    by_hand(search, X, y)


@pytest.mark.slow
def test_scores_are_those_of_grid_search_and_its_model_too():
    X, y = classes(k=3)
    for scoring in ("accuracy", "neg_log_loss", "roc_auc_ovr", "balanced_accuracy"):
        grid = {"C": CS[:2]}
        peer = GridSearchCV(LogisticRegression(), grid, scoring=scoring, cv=2).fit(X, y)
        mine = LogisticRegressionCV(CS[:2], scoring=scoring, cv=2).fit(X, y)
        for fold in range(2):
            expected = peer.cv_results_[f"split{fold}_test_score"]
            np.testing.assert_allclose(mine.scores_[fold, 0], expected, rtol=1e-3)
        assert mine.best_score_ == pytest.approx(peer.best_score_, rel=1e-3)
        np.testing.assert_allclose(
            mine.decision_function(X),
            LogisticRegression(mine.C_).fit(X, y).decision_function(X),
            rtol=1e-6,
        )


@NEWER_SKLEARN
def test_scikit_learn_says_the_same():
    X, y = classes(n=150)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peer = PeerCV(
            Cs=CS,
            cv=3,
            scoring="neg_log_loss",
            tol=1e-10,
            max_iter=10_000,
            l1_ratios=(0,),
            use_legacy_attributes=False,
        ).fit(X, y)
    mine = LogisticRegressionCV(CS, cv=3).fit(X, y)
    assert mine.C_ == peer.C_
    np.testing.assert_allclose(mine.scores_, peer.scores_, rtol=1e-3)
    np.testing.assert_allclose(mine.coef_, peer.coef_, rtol=1e-4)
    assert mine.coefs_paths_.shape == peer.coefs_paths_.shape
    np.testing.assert_allclose(mine.coefs_paths_, peer.coefs_paths_, rtol=0.05, atol=0.02)
    assert mine.n_iter_.shape == peer.n_iter_.shape
    np.testing.assert_array_equal(mine.Cs_, peer.Cs_)


def test_a_callable_scorer_gets_a_fitted_learner():
    X, y = classes(k=3)
    frame = pd.DataFrame(X, columns=list("abcdef"))
    seen = []

    def scorer(model, X, y):
        seen.append((type(model), model.C, model.coef_.shape, list(X.columns)))
        return model.score(X, y)

    search = LogisticRegressionCV(CS, cv=3, scoring=scorer).fit(frame, y)
    expected = LogisticRegressionCV(CS, cv=3, scoring="accuracy").fit(X, y)
    np.testing.assert_array_equal(search.scores_, expected.scores_)
    assert {each[1] for each in seen} == set(CS)
    assert seen[0][0] is LogisticRegression
    assert seen[0][2:] == ((3, 6), list("abcdef"))
    with pytest.raises(ValueError, match="several scores"):
        LogisticRegressionCV(CS, cv=3, scoring=lambda m, X, y: {"a": 1, "b": 2}).fit(X, y)


# ------------------------------------------------------------------ same bits


def bits(search):
    return [search.scores_.tobytes(), search.coefs_paths_.tobytes(), search.coef_.tobytes()]


@pytest.mark.parametrize("few", [True, False])
def test_same_bits_with_threads(few, monkeypatch):
    if not few:
        use_solvers(monkeypatch, "dual_cd", "newton")
    X, y = text(200, 500)
    Cs = np.logspace(-2, 1, 7)
    one, two = (LogisticRegressionCV(Cs, cv=4, n_jobs=jobs).fit(X, y) for jobs in (1, 2))
    assert bits(one) == bits(two)


def penguins():
    table = read(PENGUINS).table
    columns = table.drop_columns(["species"])
    X = TableEncoder().fit(columns).encode(columns).to_matrix()
    return X, np.array(table["species"].to_pylist())


@pytest.mark.parametrize("jobs", [2, 4])
def test_same_bits_with_threads_that_take_newton_steps(jobs):
    """Large C need Newton steps after L-BFGS, whose expansions threads must not share."""
    X, y = penguins()
    one = LogisticRegressionCV(cv=2).fit(X, y)
    for _ in range(20):
        many = LogisticRegressionCV(cv=2, n_jobs=jobs).fit(X, y)
        assert many.n_iter_.tolist() == one.n_iter_.tolist()
        assert bits(many) == bits(one)


def test_same_scores_whatever_the_order_of_strengths(monkeypatch):
    use_solvers(monkeypatch, "dual_cd", "newton")
    X, y = text()
    Cs = np.logspace(-2, 1, 5)
    up, down = (LogisticRegressionCV(C, cv=4).fit(X, y) for C in (Cs, Cs[::-1]))
    np.testing.assert_array_equal(up.scores_, down.scores_[:, :, ::-1])
    assert up.C_ == down.C_


# ------------------------------------------------------------------ choosing


def test_rules_by_hand():
    mean, penalty = np.array([0.1, 0.5, 0.58, 0.6, 0.6]), np.array([16.0, 8.0, 4.0, 2.0, 1.0])
    assert best_index(mean, penalty) == 3  # ties go to more regularisation
    assert best_index(mean[::-1], penalty[::-1]) == 1
    assert one_standard_error_index(mean, np.full(5, 0.05), penalty) == 2
    assert one_standard_error_index(mean, np.full(5, 0.11), penalty) == 1
    assert one_standard_error_index(mean, np.zeros(5), penalty) == 3
    assert one_standard_error_index(mean, np.full(5, np.nan), penalty) == 3
    assert one_standard_error_index(mean, np.full(5, 9.0), penalty) == 0
    assert edge_of(penalty, 0) == "largest"
    assert edge_of(penalty, 4) == "smallest"
    assert edge_of(penalty, 1) is None
    assert edge_of(penalty[:1], 0) is None


@pytest.mark.slow
def test_one_standard_error_takes_a_smaller_strength():
    X, y = classes(n=200, noise=3)
    best = LogisticRegressionCV(20).fit(X, y)
    simple = LogisticRegressionCV(20, select="1se").fit(X, y)
    table = best.cv_results_
    k = int(np.argmax(table["mean_score"]))
    within = table["mean_score"] >= table["mean_score"][k] - table["standard_error"][k]
    assert simple.C_ == table["C"][within].min() < best.C_
    assert simple.best_score_ == table["mean_score"][table["C"] == simple.C_]
    np.testing.assert_allclose(table["mean_score"], best.scores_.mean(axis=0)[0])
    np.testing.assert_allclose(
        table["standard_error"], best.scores_.std(axis=0, ddof=1)[0] / np.sqrt(5)
    )


def test_ties_go_to_the_smaller_strength():
    X = np.r_[np.full((20, 1), -1.0), np.full((20, 1), 1.0)]
    y = np.r_[np.zeros(20), np.ones(20)]
    search = LogisticRegressionCV([10.0, 0.1, 1.0], scoring="accuracy").fit(X, y)
    assert (search.scores_ == 1).all()
    assert search.C_ == 0.1


@pytest.mark.filterwarnings("error::separable.fitting.best_candidate.GridEdgeWarning")
def test_the_edge_of_the_grid_is_told():
    X, y = classes()
    with pytest.warns(GridEdgeWarning, match=r"The best C, 1e-05, is the largest .* try larger"):
        search = LogisticRegressionCV([1e-6, 1e-5]).fit(X, y)
    assert search.evidence_["at_edge"] == "largest"
    with pytest.warns(GridEdgeWarning, match=r"The best C, 10000, is the smallest .* try smaller"):
        LogisticRegressionCV([1e4, 1e5]).fit(*classes(noise=5))
    search = LogisticRegressionCV(12).fit(X, y)
    assert search.evidence_["at_edge"] is None
    LogisticRegressionCV([0.5]).fit(X, y)  # one has no edge


def test_what_is_found_is_told():
    X, y = classes(k=3)
    search = LogisticRegressionCV(5, cv=4, tol=1e-4).fit(X, y)
    assert search.Cs_.tolist() == np.logspace(-4, 4, 5).tolist()
    assert search.scores_.shape == search.n_iter_.shape == (4, 1, 5)
    assert search.certificates_path_.shape == (4, 5, 1)
    assert search.coefs_paths_.shape == (4, 1, 5, 3, 7)
    assert search.cv_results_["fold_scores"].shape == (5, 4)
    told = search.evidence_
    assert (told["C"], told["best_score"]) == (search.C_, search.best_score_)
    assert (told["validation"], told["scoring"]) == ("4 folds", "neg_log_loss")
    assert told["search"]["models"] == told["search"]["converged"] == 20
    assert told["search"]["worst_relative_gap"] <= told["search"]["tol"] == 1e-4
    assert search.certificate_.converged
    assert search.predict_proba(X).shape == (90, 3)


def test_models_of_a_search_without_tol_have_no_certificates():
    X, y = classes(k=3)
    search = LogisticRegressionCV(5, cv=4).fit(X, y)
    with pytest.raises(AttributeError, match="Give tol, such as tol=1e-4, to have each of them"):
        _ = search.certificates_path_
    assert search.evidence_["search"] == {"models": 20}
    assert search.certificate_.converged


def test_large_paths_are_not_kept(monkeypatch):
    monkeypatch.setattr(search_table, "MOST_PATHS", 100)
    X, y = classes()
    search = LogisticRegressionCV(CS, tol=1e-4).fit(X, y)
    with pytest.raises(AttributeError, match="more than 100 numbers and is not kept"):
        _ = search.coefs_paths_
    assert search.certificates_path_.shape == (5, 3, 1)


def test_without_refit_there_is_no_model():
    X, y = classes()
    search = LogisticRegressionCV(CS, refit=False).fit(X, y)
    assert search.C_ in CS
    with pytest.raises(AttributeError, match=r"refit=False\) only searches"):
        search.predict(X)
    with pytest.raises(NotFittedError):
        _ = LogisticRegressionCV().C_


def test_model_goes_through_a_file(tmp_path):
    X, y = classes()
    search = LogisticRegressionCV(CS, cv=KFold(3)).fit(X, y)
    search.model_.save(tmp_path / "m.safetensors")
    model = separable.load(tmp_path / "m.safetensors")
    assert model.learner == "LogisticRegressionCV"
    assert model.parameters["Cs"] == CS
    assert model.parameters["cv"] is None
    assert model.evidence["C"] == search.C_
    np.testing.assert_array_equal(model.predict_proba(X), search.predict_proba(X))


# ------------------------------------------------------------------ warnings, errors, ends


def test_models_that_do_not_converge_are_told_once(monkeypatch):
    use_solvers(monkeypatch, "dual_cd", "newton")
    X, y = text()
    with pytest.warns(ConvergenceWarning) as caught:
        LogisticRegressionCV([0.01, 100.0], cv=3, max_iter=2, tol=1e-9).fit(X, y)
    told = [str(each.message) for each in caught if each.category is ConvergenceWarning]
    assert len(told) == 2  # the search, and the last fit
    assert "stopped 6 of 6 models of its search before they converged" in told[0]
    assert "1.0e-09 was requested" in told[0]


def test_one_class_in_a_fold():
    X, y = classes()
    y = np.sort(y)
    with pytest.raises(ValueError, match=r"fold 0 trains on hold only one class: 1\. Use strat"):
        LogisticRegressionCV(CS, cv=[(np.arange(70, 90), np.arange(70))]).fit(X, y)
    with pytest.raises(ValueError, match="y holds only one class"):
        LogisticRegressionCV(CS).fit(X, np.zeros(90))


def test_a_class_that_a_fold_has_not_learned():
    X, y = classes(k=3)
    order = np.argsort(y, kind="stable")
    X, y = X[order], np.array(["a", "b", "c"])[y[order]]
    n_a = int((y == "a").sum())
    cv = [(np.arange(n_a, 90), np.arange(n_a)), (np.arange(0, 90, 2), np.arange(1, 90, 2))]
    search = LogisticRegressionCV(CS, cv=cv).fit(X, y)
    alone = LogisticRegression(1.0).fit(X[n_a:], y[n_a:])
    np.testing.assert_allclose(search.coefs_paths_[0, 0, 1, 2, :-1], alone.coef_[0], rtol=1e-2)
    assert np.isnan(search.coefs_paths_[0, 0, :, :2]).all()
    apart = LogisticRegressionCV(CS, cv=cv, multi_class="ovr", tol=1e-4).fit(X, y)
    assert apart.certificates_path_[0, 0].tolist()[:2] == [None, None]
    np.testing.assert_allclose(search.scores_[0], np.log(np.finfo(float).eps))
    accuracy = LogisticRegressionCV(CS, cv=cv, scoring="accuracy").fit(X, y)
    assert (accuracy.scores_[0] == 0).all()


def test_leave_one_out_and_groups():
    X, y = classes(n=24)
    search = LogisticRegressionCV([1.0], cv=LeaveOneOut()).fit(X, y)
    by_hand(search, X, y)
    groups = np.arange(24) % 4
    splits = list(GroupKFold(4).split(X, y, groups))
    assert LogisticRegressionCV(CS, cv=splits).fit(X, y).scores_.shape == (4, 1, 3)


def test_weights_of_folds():
    X, y = classes()
    weight = np.ones(90)
    weight[:45] = 0
    halves = [(np.arange(45), np.arange(45, 90)), (np.arange(45, 90), np.arange(45))]
    with pytest.raises(ValueError, match="All rows that fold 0 trains on have weight 0"):
        LogisticRegressionCV(CS, cv=halves).fit(X, y, weight)
    with pytest.raises(ValueError, match="All rows that fold 0 holds out have weight 0"):
        LogisticRegressionCV(CS, cv=halves[1:]).fit(X, y, weight)


def test_a_weight_is_so_many_rows():
    X, y = classes(n=60)
    weight = np.arange(60) % 3
    places = np.repeat(np.arange(60), weight)
    half = np.arange(60) < 30
    pairs = [(half, ~half), (~half, half)]
    repeated = [(train[places], test[places]) for train, test in pairs]
    mine = LogisticRegressionCV(CS, cv=pairs).fit(X, y, weight)
    other = LogisticRegressionCV(CS, cv=repeated).fit(X[places], y[places])
    np.testing.assert_allclose(mine.scores_, other.scores_, rtol=1e-6)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"Cs": []}, "'Cs' parameter of LogisticRegressionCV must be an int >= 1 or a sequence"),
        ({"Cs": 0}, "'Cs' parameter"),
        ({"Cs": [1, -1]}, "'Cs' parameter"),
        ({"Cs": [np.nan]}, "'Cs' parameter"),
        ({"Cs": "many"}, "'Cs' parameter"),
        ({"cv": 1}, "'cv' parameter of LogisticRegressionCV must be None, an int >= 2"),
        ({"select": "max"}, "'select' parameter .* must be 'min' or '1se'"),
        ({"scoring": 3}, "'scoring' parameter"),
        ({"refit": "yes"}, "'refit' parameter"),
        ({"tol": -1}, "'tol' parameter"),
    ],
)
def test_bad_parameters(more, message):
    with pytest.raises(ParameterError, match=message):
        LogisticRegressionCV(**more).fit(*classes())


def test_scorers_that_fail_name_the_fold():
    X, y = classes()
    with pytest.raises(ValueError, match="'nonsense'"):
        LogisticRegressionCV(CS, scoring="nonsense").fit(X, y)

    def broken(model, X, y):
        raise RuntimeError("no")

    with pytest.raises(RuntimeError) as caught:
        LogisticRegressionCV(CS, scoring=broken).fit(X, y)
    assert caught.value.__notes__ == ["This was fold 0 of 5, counted from 0."]
    with pytest.raises(ValueError, match=r"The score with C=0\.01 is nan"):
        LogisticRegressionCV(CS, scoring=lambda m, X, y: float("nan")).fit(X, y)


def test_callback_ends_the_work(monkeypatch):
    use_solvers(monkeypatch, "dual_cd", "newton")
    seen = []

    def callback(number, gap):
        seen.append((number, gap))
        return True

    X, y = text()
    with pytest.warns(ConvergenceWarning):
        search = LogisticRegressionCV([1.0, 10.0], cv=3, callback=callback).fit(X, y)
    assert (search.n_iter_ == 1).all()
    assert seen[0][0] == 1


def test_the_learner_stays_as_it_is():
    X, y = classes()
    search = LogisticRegressionCV(CS)
    before = search.get_params()
    assert search.fit(X, y) is search
    assert search.get_params() == before


@pytest.mark.parametrize("jobs", [1, 2])
def test_ctrl_c_stops_it(jobs):
    rng = np.random.default_rng(0)
    X = sp.random_array((6000, 6000), density=0.002, format="csr", rng=rng)
    search = LogisticRegressionCV(30, tol=1e-12, max_iter=100_000, n_jobs=jobs)
    with pytest.raises(KeyboardInterrupt), ctrl_c():
        search.fit(X, rng.integers(0, 2, 6000))


@pytest.mark.parametrize(
    ("learner", "scoring"),
    [
        *((LogisticRegressionCV, name) for name in (None, "roc_auc", "neg_log_loss", "f1")),
        *((LinearSVMCV, name) for name in (None, "roc_auc", "f1")),
    ],
)
def test_score_is_by_scoring(learner, scoring):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = (X[:, 0] + rng.normal(size=60) > 0.3).astype(int)
    model = learner(5, scoring=scoring, cv=3).fit(X, y)
    weight = rng.integers(0, 3, 60).astype(float)
    peer = get_scorer("accuracy" if scoring is None else scoring)
    assert model.score(X, y) == pytest.approx(peer(model, X, y))
    assert model.score(X, y, weight) == pytest.approx(peer(model, X, y, sample_weight=weight))
