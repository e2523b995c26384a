"""Ridge with many sparse columns against a QR of dense rows, refits and scikit-learn."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array, hstack, random_array
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Ridge as PeerRidge
from sklearn.model_selection import GridSearchCV, KFold

from separable import Ridge, RidgeCV
from separable.data.rows import as_rows
from separable.moments.regression import sparse_ridge
from separable.moments.regression.sparse_ridge import orthogonal_run
from separable.select import leave_one_out, search

pytestmark = pytest.mark.native


def one_hot(rng, n, levels):
    return csr_array((np.ones(n), (np.arange(n), rng.integers(0, levels, n))), shape=(n, levels))


def problem(kind, n=1500, seed=0):
    """Return sparse rows with more than 600 columns, and targets."""
    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=(n, 4)) * [1.0, 1e3, 1e-3, 1.0] + [0.0, 1e5, 0.0, 0.0]
    numbers[:, 3] = 7.0  # constant
    parts = {
        "one feature": [csr_array(numbers), one_hot(rng, n, 640)],
        "two features": [one_hot(rng, n, 400), csr_array(numbers), one_hot(rng, n, 300)],
        "text": [random_array((n, 700), density=0.02, rng=rng, format="csr")],
    }[kind]
    X = csr_array(hstack(parts, format="csr"))
    return X, X @ rng.normal(size=X.shape[1]) + rng.normal(size=n)


def dense_ridge(X, y, alpha, weight=None, intercept=True):
    """Return weights and intercept by QR of the dense rows with d more, sqrt(alpha) e_j."""
    X, c = X.toarray(), np.ones(len(y)) if weight is None else weight
    mean, y_mean = (c @ X / c.sum(), c @ y / c.sum()) if intercept else (0.0, 0.0)
    root = np.sqrt(c)
    q, r = np.linalg.qr(
        np.vstack([root[:, None] * (X - mean), np.sqrt(alpha) * np.eye(X.shape[1])])
    )
    w = np.linalg.solve(r, q[: len(y)].T @ (root * (y - y_mean)))
    return w, y_mean - mean @ w if intercept else 0.0


@pytest.mark.parametrize("kind", ["one feature", "two features", "text"])
@pytest.mark.parametrize("alpha", [0.01, 1.0, 300.0])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_equals_the_qr_of_dense_rows(kind, alpha, intercept, weighted):
    X, y = problem(kind)
    weight = np.random.default_rng(1).integers(0, 3, len(y)).astype(float) if weighted else None
    model = Ridge(alpha, intercept).fit(X, y, weight)
    w, b = dense_ridge(X, y, alpha, weight, intercept)
    np.testing.assert_allclose(model.coef_, w, rtol=0, atol=1e-9 * np.abs(w).max())
    np.testing.assert_allclose(model.intercept_, [b], rtol=1e-9, atol=1e-7 * np.abs(y).max())
    assert model.evidence_["solved_by"] == "conjugate gradients"
    assert model.evidence_["digits"] > 10
    if intercept and kind != "text":
        constant = 3 if kind == "one feature" else 403
        assert model.coef_[constant] == 0


def test_the_evidence_states_the_residual_of_the_published_weights():
    X, y = problem("two features")
    for alpha in (0.1, 100.0):
        model = Ridge(alpha).fit(X, y)
        Z = (X.toarray() - X.mean(axis=0)).astype(np.longdouble)
        residual = y - X.toarray() @ model.coef_.astype(np.longdouble) - model.intercept_
        left = np.linalg.norm((Z.T @ residual - alpha * model.coef_).astype(float))
        right = np.linalg.norm((Z.T @ (y - y.mean())).astype(float))
        assert model.evidence_["relative_residual"] == pytest.approx(left / right, abs=1e-16)
        assert model.evidence_["residual_squares"] == pytest.approx(float(residual @ residual))


def test_one_elimination_is_exact_and_a_rest_takes_iterations():
    for kind, iterates in (("one feature", False), ("two features", True)):
        X, y = problem(kind)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sparse_ridge, "MAX_DENSE", 4)
            assert (Ridge().fit(X, y).evidence_["n_iter"] > 0) == iterates


@given(seed=st.integers(0, 1000), density=st.floats(0.01, 0.6))
def test_the_longest_run_of_columns_that_share_no_row(seed, density):
    X = random_array((6, 12), density=density, rng=np.random.default_rng(seed), format="csr")
    X.sort_indices()
    shared = (X.toarray() != 0).astype(int)
    longest = max(
        stop - start
        for start in range(12)
        for stop in range(start + 1, 13)
        if shared[:, start:stop].sum(axis=1).max() <= 1
    )
    start, stop = orthogonal_run(as_rows(csr_array(X)))
    assert stop - start == longest
    assert shared[:, start:stop].sum(axis=1).max() <= 1


@pytest.mark.parametrize("kind", ["one feature", "two features"])
def test_searches_equal_fits_of_their_own(kind):
    X, y = problem(kind)
    grid, folds = {"alpha": [0.1, 3.0, 100.0]}, KFold(4, shuffle=True, random_state=0)
    ours = search(Ridge(), grid, X, y, cv=folds, scoring="neg_mean_squared_error")
    theirs = GridSearchCV(
        PeerRidge(solver="cholesky"), grid, cv=folds, scoring="neg_mean_squared_error"
    ).fit(X.toarray(), y)
    assert set(ours.how_) == {"lanes"}
    expected = theirs.cv_results_["mean_test_score"]
    np.testing.assert_allclose(ours.cv_results_["mean_test_score"], expected, rtol=1e-7)
    chosen = RidgeCV(grid["alpha"], cv=folds).fit(X, y)
    np.testing.assert_allclose(chosen.cv_results_["mean_score"], expected, rtol=1e-7)
    assert chosen.alpha_ == theirs.best_params_["alpha"]
    np.testing.assert_array_equal(chosen.coef_, Ridge(chosen.alpha_).fit(X, y).coef_)


def test_several_targets_and_rows_of_weight_zero_in_a_search():
    X, y = problem("one feature")
    Y = np.column_stack([y, y**2 / np.abs(y).max()])
    weight = (np.arange(len(y)) % 5 > 0).astype(float)
    alphas = [0.5, 20.0, 1e5]
    ours = RidgeCV(alphas, cv=3).fit(X, Y, weight)
    dense = RidgeCV(alphas, cv=3).fit(X.toarray(), Y, weight)
    for name in ("mean_score", "standard_error", "fold_scores"):
        np.testing.assert_allclose(ours.cv_results_[name], dense.cv_results_[name], rtol=1e-7)
    np.testing.assert_allclose(ours.coef_, dense.coef_, rtol=0, atol=1e-9)


def test_default_alphas_and_leave_one_out_equal_those_of_dense_rows():
    X, y = problem("one feature")
    weight = np.random.default_rng(2).integers(0, 3, len(y)).astype(float)
    ours, dense = RidgeCV().fit(X, y, weight), RidgeCV().fit(X.toarray(), y, weight)
    for name in ("alpha", "mean_score", "standard_error"):
        np.testing.assert_allclose(ours.cv_results_[name], dense.cv_results_[name], rtol=1e-6)
    assert ours.evidence_["validation"] == "leave-one-out"


def test_leave_one_out_of_two_features_is_exact():
    X, y = problem("two features", n=900)
    left = leave_one_out(Ridge(5.0), X, y)
    for row in (0, 17, 899):
        others = np.delete(np.arange(900), row)
        w, b = dense_ridge(X[others], y[others], 5.0)
        assert left.predictions[row] == pytest.approx(
            float(X[[row]].toarray()[0] @ w + b), rel=1e-8
        )


def test_more_columns_than_rows(monkeypatch):
    monkeypatch.setattr(sparse_ridge, "MIN_WIDE_ROWS", 300)
    X, y = problem("text", n=500)
    w, b = dense_ridge(X, y, 2.0)
    model = Ridge(2.0).fit(X, y)
    assert model.evidence_["solved_by"] == "conjugate gradients"
    np.testing.assert_allclose(model.coef_, w, rtol=0, atol=1e-10)
    np.testing.assert_allclose(model.intercept_, [b], rtol=1e-10)


def test_a_dense_system_takes_over_where_iterations_fail(monkeypatch):
    X, y = problem("text")
    monkeypatch.setattr(sparse_ridge, "MAX_ITER", 2)
    model = Ridge(0.01).fit(X, y)
    assert "cholesky" in model.evidence_["solved_by"]
    np.testing.assert_allclose(model.coef_, dense_ridge(X, y, 0.01)[0], rtol=0, atol=1e-9)
    found = search(Ridge(), {"alpha": [0.01]}, X, y, cv=2)
    assert found.how_ == ("refit",)
    monkeypatch.setattr(sparse_ridge, "MAX_DENSE_SYSTEM", 100)
    with pytest.warns(ConvergenceWarning, match="2 iterations of conjugate gradients"):
        short = Ridge(0.01).fit(X, y)
    assert short.evidence_["relative_residual"] > 1e-7


@pytest.mark.parametrize("size", [1e-200, 1e-160, 1e160, 1e300])
def test_values_whose_squares_leave_float64_are_solved_from_scaled_sums(size):
    X, y = problem("one feature")
    X = X.copy()
    X.data = X.data.copy()
    X.data[X.indices == 0] *= size
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sparse, dense = Ridge().fit(X, y), Ridge().fit(X.toarray(), y)
    np.testing.assert_allclose(sparse.predict(X), dense.predict(X.toarray()), rtol=1e-8)


def test_bad_values_are_named_and_there_are_no_sums_to_merge():
    X, y = problem("one feature")
    model = Ridge().fit(X, y)
    with pytest.raises(ValueError, match="many sparse columns"):
        model.partial_fit(X, y)
    with pytest.raises(ValueError, match="many sparse columns"):
        model.merge(model)
    halves = Ridge().partial_fit(X[:700], y[:700]).partial_fit(X[700:], y[700:])
    np.testing.assert_allclose(halves.coef_, model.coef_, rtol=0, atol=1e-9)
    X.data[5] = np.nan
    with pytest.raises(ValueError, match="NaN in row 1, column 0"):
        Ridge().fit(X, y)


@pytest.mark.parametrize("sparse", [True, False])
def test_wide_rows_share_their_spectrum_in_searches(sparse):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 70)) + 3.0, rng.normal(size=40)
    grid = {"alpha": [1e-9, 0.1, 10.0, 300.0]}
    ours = search(Ridge(), grid, csr_array(X) if sparse else X, y, cv=4)
    theirs = GridSearchCV(PeerRidge(solver="svd"), grid, cv=4).fit(X, y)
    assert set(ours.how_) == {"lanes"}
    expected = theirs.cv_results_["mean_test_score"]
    np.testing.assert_allclose(ours.cv_results_["mean_test_score"], expected, rtol=1e-6)
