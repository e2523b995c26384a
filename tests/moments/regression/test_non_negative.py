"""Least squares and ridge regression with weights of at least 0."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import linear_model
from sklearn.model_selection import cross_val_score

import separable
from separable import ElasticNet, LeastSquares, Ridge, TableEncoder, TableRegressor
from separable.select import cross_validate, leave_one_out

RNG = np.random.default_rng(11)
X = RNG.normal(np.array([0, 1, 0, 2, 0, 5]), size=(40, 6))
Y = X @ RNG.normal(size=(6, 2)) + RNG.normal(size=(40, 2))
WEIGHT = RNG.integers(0, 4, 40).astype(float)


def _objective(w: Any, b: float, y: Any, weight: Any, alpha: float) -> float:
    return float(weight @ (y - X @ w - b) ** 2 + alpha * w @ w)


def _best_of_all_subsets(
    y: Any, weight: Any, alpha: float, *, fit_intercept: bool
) -> tuple[Any, float]:
    """Return the best solution among those of all subsets of columns without negative weights."""
    root = np.sqrt(weight)[:, None]
    best: tuple[Any, float] = (np.zeros(6), 0.0)
    lowest = np.inf
    for size in range(7):
        for used in map(list, itertools.combinations(range(6), size)):
            columns = np.column_stack([X[:, used], np.full(40, float(fit_intercept))])
            penalty = np.sqrt(alpha) * np.eye(size, size + 1)
            system = np.vstack([columns * root, penalty])
            solved = np.linalg.lstsq(system, np.r_[y * root[:, 0], np.zeros(size)], rcond=None)[0]
            w, b = np.zeros(6), solved[-1] if fit_intercept else 0.0
            w[used] = solved[:-1]
            value = _objective(w, b, y, weight, alpha)
            if (w >= 0).all() and value < lowest:
                best, lowest = (w, b), value
    return best


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("alpha", [0.0, 3.0, 100.0])
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
def test_weights_are_the_best_of_all_subsets(
    alpha: float, fit_intercept: bool, weight: Any
) -> None:
    learner: Any = (
        Ridge(alpha, fit_intercept, positive=True)
        if alpha
        else LeastSquares(fit_intercept, positive=True)
    )
    model = learner.fit(X, Y, weight)
    counted = np.ones(40) if weight is None else weight
    for target, y in enumerate(Y.T):
        w, b = _best_of_all_subsets(y, counted, alpha, fit_intercept=fit_intercept)
        np.testing.assert_allclose(model.coef_[target], w, atol=1e-11)
        np.testing.assert_allclose(np.ravel(model.intercept_)[target], b, atol=1e-10)
    left = counted @ (Y - model.predict(X)) ** 2
    np.testing.assert_allclose(model.evidence_["residual_squares"], left, rtol=1e-9)
    assert (model.coef_ == 0).any()
    assert (model.coef_ > 0).any()


def test_one_target_and_sparse_rows() -> None:
    dense = Ridge(2.0, positive=True).fit(X, Y[:, 0])
    sparse = Ridge(2.0, positive=True).fit(sp.csr_array(X), Y[:, 0])
    np.testing.assert_allclose(dense.coef_, sparse.coef_, atol=1e-12)
    theirs = linear_model.Ridge(2.0, positive=True, tol=1e-12, max_iter=100_000).fit(X, Y[:, 0])
    np.testing.assert_allclose(dense.coef_, theirs.coef_, atol=1e-5)
    assert dense.condition_number_ >= 1


def test_streams_merges_and_files_keep_the_constraint(tmp_path: Any) -> None:
    whole = LeastSquares(positive=True).fit(X, Y[:, 0])
    first, second = (LeastSquares(positive=True).partial_fit(X[k::2], Y[k::2, 0]) for k in (0, 1))
    np.testing.assert_allclose(first.merge(second).coef_, whole.coef_, atol=1e-12)
    whole.model_.save(tmp_path / "model.safetensors", include_state=True)
    again = LeastSquares.from_model(separable.load(tmp_path / "model.safetensors"))
    assert again.positive
    np.testing.assert_allclose(again.coef_, whole.coef_, atol=1e-12)


@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_units_of_the_target_do_not_matter(scale: float) -> None:
    plain, scaled = (LeastSquares(positive=True).fit(X, Y[:, 0] * unit) for unit in (1.0, scale))
    np.testing.assert_allclose(scaled.coef_ / scale, plain.coef_, rtol=1e-10)


def test_wide_and_dependent_columns_satisfy_the_optimality_conditions() -> None:
    wide = RNG.normal(size=(12, 30))
    for columns in (wide, np.column_stack([X, X, X[:, 0] - X[:, 1]])):
        y = Y[: len(columns), 0]
        model = LeastSquares(positive=True).fit(columns, y)
        gradient = (columns - columns.mean(axis=0)).T @ (model.predict(columns) - y)
        assert (model.coef_ >= 0).all()
        assert gradient.min() > -1e-9
        assert np.abs(gradient[model.coef_ > 0]).max() < 1e-9


def test_nothing_is_learned_from_a_column_that_only_falls() -> None:
    model = LeastSquares(positive=True).fit(-X[:, :1], X[:, 0])
    assert model.coef_.tolist() == [0.0]
    assert model.intercept_ == pytest.approx(X[:, 0].mean())


@pytest.mark.parametrize("made", [LeastSquares(positive=True), Ridge(2.0, positive=True)])
def test_folds_and_left_out_rows_are_fitted_with_the_constraint(made: Any) -> None:
    expected = [
        type(made)(**made.get_params())
        .fit(np.delete(X, i, 0), np.delete(Y[:, 0], i))
        .predict(X[[i]])
        for i in range(len(X))
    ]
    left_out = leave_one_out(made, X, Y[:, 0]).predictions
    np.testing.assert_allclose(left_out.ravel(), np.ravel(expected), rtol=1e-9)
    scores = cross_validate(made, X, Y[:, 0], cv=4).scores["r2"]
    np.testing.assert_allclose(scores, cross_val_score(made, X, Y[:, 0], cv=4), rtol=1e-9)


def test_summary_is_refused() -> None:
    with pytest.raises(ValueError, match=r"no summary with positive=True.*Use positive=False"):
        LeastSquares(positive=True).fit(X, Y[:, 0]).summary()
    with pytest.raises(ValueError, match=r"'positive' parameter of Ridge must be"):
        Ridge(positive="yes").fit(X, Y[:, 0])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "learner", [Ridge(positive=True), ElasticNet(0.01, l1_ratio=0, positive=True)]
)
def test_weights_of_curves_are_those_of_the_features(learner: Any) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": X[:, 0], "b": X[:, 1]})
    encoder = TableEncoder(curves=True)
    model = TableRegressor(learner, encoder=encoder).fit(frame, -np.sin(2 * X[:, 0]) + X[:, 1])
    assert model.model_.weights.min() >= 0
