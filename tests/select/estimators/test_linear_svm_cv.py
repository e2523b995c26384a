"""LinearSVMCV against independent fits and GridSearchCV."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.model_selection import GridSearchCV, ShuffleSplit, StratifiedKFold

from separable import LinearSVM, LinearSVMCV
from separable.model.parameters import ParameterError
from tests.certified.engine_problems import use_solvers
from tests.select.estimators.searches import classes, text

pytestmark = [
    pytest.mark.native,
    pytest.mark.filterwarnings("ignore::separable.fitting.best_candidate.GridEdgeWarning"),
]

CS = [0.01, 1.0, 10.0]
PASSES_FIRST = ("dual_cd", "semismooth_newton", "interior_point")


def check_fits(search, X, y, splits):
    """Fit every fold and C by itself, and compare within the certificates."""
    for fold, (train, test) in enumerate(splits):
        for place, C in enumerate(search.Cs_):
            alone = LinearSVM(C, loss=search.loss).fit(X[train], y[train])
            mine = search.coefs_paths_[fold, place]
            far = np.linalg.norm(mine[:, :-1] - alone.coef_, axis=1)
            for k, certificate in enumerate(search.certificates_path_[fold, place]):
                assert certificate.converged
                assert certificate.dual <= alone.certificates_[k].primal * (1 + 1e-9)
                assert alone.certificates_[k].dual <= certificate.primal * (1 + 1e-9)
                assert far[k] <= certificate.distance + alone.certificates_[k].distance + 1e-6
            scores = X[test] @ mine[:, :-1].T + mine[:, -1]
            found = scores[:, 0] > 0 if len(mine) == 1 else scores.argmax(axis=1)
            assert search.scores_[fold, place] == np.mean(found == y[test])


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize(
    ("k", "form"),
    [
        (2, sp.csr_array),
        (3, np.asarray),
        pytest.param(2, np.asarray, marks=pytest.mark.long),
        pytest.param(3, sp.csr_array, marks=pytest.mark.long),
    ],
)
def test_lanes_equal_independent_fits(loss, k, form):
    X, y = classes(k=k)
    X = form(X)
    search = LinearSVMCV(CS, loss=loss, cv=3).fit(X, y)
    check_fits(search, X, y, StratifiedKFold(3).split(np.zeros(len(y)), y))


@pytest.mark.parametrize("cv", [StratifiedKFold(3), ShuffleSplit(3, random_state=0)])
def test_passes_over_many_columns(cv, monkeypatch):
    X, y = text()
    use_solvers(monkeypatch, *PASSES_FIRST)
    search = LinearSVMCV([0.1, 1.0], cv=cv).fit(X, y)
    check_fits(search, X, y, cv.split(np.zeros(len(y)), y))


@pytest.mark.slow
def test_scores_are_those_of_grid_search():
    X, y = classes(n=200, noise=2)
    peer = GridSearchCV(LinearSVM(tol=1e-8), {"C": CS}, cv=4, scoring="roc_auc").fit(X, y)
    mine = LinearSVMCV(CS, cv=4, scoring="roc_auc", tol=1e-8).fit(X, y)
    expected = np.stack([peer.cv_results_[f"split{k}_test_score"] for k in range(4)])
    np.testing.assert_allclose(mine.scores_, expected, rtol=1e-12)
    assert (mine.evidence_["scoring"], LinearSVMCV(CS).fit(X, y).evidence_["scoring"]) == (
        "roc_auc",
        "accuracy",
    )
    np.testing.assert_allclose(mine.coef_, LinearSVM(mine.C_).fit(X, y).coef_, rtol=1e-4)
    assert mine.model_.learner == "LinearSVMCV"


@pytest.mark.parametrize("few", [True, False])
def test_same_bits_with_threads(few, monkeypatch):
    if not few:
        use_solvers(monkeypatch, *PASSES_FIRST)
    X, y = text(150, 400)
    one, two = (LinearSVMCV([0.1, 1.0], cv=3, n_jobs=jobs).fit(X, y) for jobs in (1, 2))
    assert one.coefs_paths_.tobytes() == two.coefs_paths_.tobytes()
    assert one.coef_.tobytes() == two.coef_.tobytes()


def test_weights_count_in_the_accuracy():
    X, y = classes(noise=3)
    weight = np.arange(90) % 4 * 1.0
    half = np.arange(90) < 45
    search = LinearSVMCV([1.0], cv=[(half, ~half)]).fit(X, y, weight)
    alone = LinearSVM().fit(X[half], y[half], weight[half])
    right = alone.predict(X[~half]) == y[~half]
    assert search.best_score_ == pytest.approx(np.average(right, weights=weight[~half]))


def test_there_are_no_probabilities():
    X, y = classes()
    search = LinearSVMCV(CS).fit(X, y)
    assert not hasattr(search, "predict_proba")
    with pytest.raises(AttributeError, match="neg_log_loss"):
        LinearSVMCV(CS, scoring="neg_log_loss").fit(X, y)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"loss": "log"}, "'loss' parameter of LinearSVMCV must be 'hinge' or"),
        (
            {"Cs": [np.inf]},
            "'Cs' parameter of LinearSVMCV must be an int >= 1 or a sequence of f",
        ),
    ],
)
def test_bad_parameters(more, message):
    with pytest.raises(ParameterError, match=message):
        LinearSVMCV(**more).fit(*classes())
