"""Perceptron without a limit of epochs: proofs of overlap, convergence, budget."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import linprog
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

from separable import Perceptron
from separable.online import overlap
from tests.online.problems import DTYPES, FORMATS, separable_problem

pytestmark = [
    pytest.mark.native,
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]


def is_separable(X, side, *, fit_intercept=True):
    """Return whether w, b with y (w.x + b) >= 1 exist, by a linear program."""
    Z = np.hstack([X, np.ones((len(X), 1))]) if fit_intercept else X
    result = linprog(
        np.zeros(Z.shape[1]), -side[:, None] * Z, -np.ones(len(Z)), bounds=(None, None)
    )
    return result.status == 0


def overlapping(seed, n=120, d=4, classes=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, (X @ rng.normal(size=(d, classes)) + 2 * rng.normal(size=(n, classes))).argmax(1)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_verdicts_equal_a_linear_program(fit_intercept):
    kinds = set()
    for seed in range(60):
        rng = np.random.default_rng(seed)
        n, d = rng.integers(5, 40), rng.integers(1, 5)
        X = rng.integers(-3, 4, size=(n, d)).astype(float)
        y = rng.integers(0, 2, n) if seed % 2 else (X[:, 0] * 3 - X[:, -1] > 1).astype(int)
        if len(np.unique(y)) < 2:
            continue
        fitted = Perceptron(fit_intercept=fit_intercept).fit(X, y)
        expected = is_separable(X, 2.0 * y - 1, fit_intercept=fit_intercept)
        assert fitted.evidence_["converged"] == expected, seed
        if not expected:
            assert fitted.evidence_["stopped_by"] == "overlap", seed
            assert fitted.evidence_["separability"][0]["margin"] < 1e-9
        kinds.add(expected)
    assert kinds == {True, False}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("form", FORMATS)
def test_overlap_ends_with_the_pocket(form, dtype):
    X, y = overlapping(0)
    with pytest.warns(ConvergenceWarning, match=r"no hyperplane separates the classes 0 and 1\. "):
        fitted = Perceptron().fit(FORMATS[form](X.astype(dtype)), y)
    evidence = fitted.evidence_
    assert evidence["stopped_by"] == "overlap"
    assert not evidence["converged"]
    assert evidence["pocket_mistakes"] == [evidence["training_mistakes"]]
    assert evidence["training_mistakes"] == (fitted.predict(X.astype(dtype)) != y).sum()
    assert evidence["updates"] == sum(evidence["mistakes"])


def test_the_pocket_beats_the_last_weights():
    best, last = [], []
    for seed in range(20):
        X, y = overlapping(seed, classes=2 + seed % 3)
        best.append(Perceptron().fit(X, y).score(X, y))
        last.append(Perceptron(max_iter=30).fit(X, y).score(X, y))
    assert np.mean(best) > np.mean(last) + 0.02


def test_classes_that_do_not_overlap_go_on():
    X, y = load_iris(return_X_y=True)
    names = np.array(["a", "b", "c"])[y]
    with pytest.warns(ConvergenceWarning, match=r"class 'b' from the rest \(nor do 1 more\)"):
        fitted = Perceptron().fit(X, names)
    evidence = fitted.evidence_
    assert evidence["converged_models"] == [True, False, False]
    assert [v and v["kind"] for v in evidence["separability"]] == [None, "overlap", "overlap"]
    for model in range(3):
        side = np.where(y == model, 1.0, -1.0)
        assert is_separable(X, side) == evidence["converged_models"][model]
    assert evidence["pocket_mistakes"] == [(fitted.predict(X) != names).sum()]


def test_many_epochs_of_separable_rows_have_the_bits_of_the_textbook_run():
    for seed in range(10):
        X, y = separable_problem(seed, n=80)
        decided, textbook = Perceptron().fit(X, y), Perceptron(max_iter=10**6).fit(X, y)
        np.testing.assert_array_equal(decided.coef_, textbook.coef_)
        assert decided.evidence_["mistakes"] == textbook.evidence_["mistakes"][:10_000]


def narrow(gap):
    """Return rows of one column whose classes are so far apart."""
    return np.array([[0.0], [1.0], [1.0 + gap], [2.0]]), np.array([0, 0, 1, 1])


def test_separable_rows_are_learned_whatever_number_of_epochs_that_takes():
    X, y = narrow(1e-4)
    fitted = Perceptron().fit(X, y)
    assert fitted.n_iter_ > 10_000
    assert fitted.evidence_["converged"]
    assert fitted.evidence_["separability"][0]["kind"] == "separable"
    assert len(fitted.evidence_["mistakes"]) == 10_000
    assert fitted.evidence_["updates"] > sum(fitted.evidence_["mistakes"])


def test_budget_that_ends_on_separable_rows_says_so():
    X, y = narrow(1e-4)
    with pytest.warns(ConvergenceWarning, match=r"separable, by a margin of at least \d.*Stand"):
        fitted = Perceptron(max_work=2000).fit(X, y)
    assert fitted.evidence_["stopped_by"] == "max_work"
    assert fitted.n_iter_ == 500
    assert 0 < fitted.evidence_["separability"][0]["margin"] <= 5e-5


def test_margin_far_below_the_budget_ends_early(monkeypatch):
    monkeypatch.setattr(overlap, "HOPELESS_EPOCHS", 100)
    X, y = narrow(1e-8)
    with pytest.warns(ConvergenceWarning, match=r"far below the mistake bound.*separable, by a m"):
        fitted = Perceptron(max_work=40_000).fit(X, y)
    assert fitted.evidence_["stopped_by"] == "bound"
    assert 200 < fitted.n_iter_ < 400  # of 10 000


def test_undecided_goes_on_within_the_budget(monkeypatch):
    monkeypatch.setattr(overlap, "MAX_CHECK_SIZE", 0)
    X, y = overlapping(1)
    with pytest.warns(ConvergenceWarning, match=r"100 epochs \(max_work=4.8e\+04\).*may not be"):
        fitted = Perceptron(max_work=48_000).fit(X, y)
    assert fitted.n_iter_ == 100
    assert fitted.evidence_["separability"] == [overlap.UNDECIDED._asdict()]


def test_given_epochs_are_made_without_a_question():
    X, y = overlapping(2)
    fitted = Perceptron(max_iter=60).fit(X, y)
    assert fitted.n_iter_ == 60
    assert fitted.evidence_["stopped_by"] == "max_iter"
    assert "separability" not in fitted.evidence_


def test_rows_of_weight_0_prove_nothing():
    X, y = separable_problem(4, n=60)
    X, y = np.vstack([X, X[:20]]), np.append(y, 1 - y[:20])
    weight = np.repeat([1.0, 0.0], [60, 20])
    assert Perceptron().fit(X, y, sample_weight=weight).evidence_["converged"]
    assert Perceptron().fit(X, y).evidence_["stopped_by"] == "overlap"


def test_columns_of_any_size_and_far_from_0_prove_overlap():
    X, y = overlapping(3)
    for moved in (
        X * [1e-8, 1e8, 1, 1],
        X + np.array([0, 1e6, 0, -1e3]),
        np.hstack([X, X @ X[:4].T]),
    ):
        assert Perceptron().fit(moved, y).evidence_["stopped_by"] == "overlap"


def test_repeated_indices_and_empty_rows():
    X, y = overlapping(5)
    X[:3] = 0
    tidy = sp.csr_array(X)
    messy = sp.csr_array(
        (np.repeat(tidy.data / 2, 2), np.repeat(tidy.indices, 2), 2 * tidy.indptr), shape=X.shape
    )
    a, b = Perceptron().fit(tidy, y).evidence_, Perceptron().fit(messy, y).evidence_
    assert a["stopped_by"] == b["stopped_by"] == "overlap"


def test_a_tie_rule_that_rows_on_the_boundary_satisfy_is_not_stopped():
    X, y = np.array([[1.0], [2.0], [0.0]]), np.array([1, 1, 0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted = Perceptron(ties="negative", fit_intercept=False).fit(X, y)
    assert fitted.evidence_["converged"]
