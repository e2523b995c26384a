"""Certificates of all classes together, computed again in plain NumPy from their definition."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse, special
from scipy.optimize import minimize
from scipy.special import logsumexp

from separable.certified.duality.feasibility import feasible_points
from separable.certified.duality.gap import certify
from separable.certified.preparation import prepare
from separable.certified.problem import TOGETHER, Lane
from separable.data.rows import as_rows
from separable.losses import softmax as core
from separable.losses.loss import LOGISTIC
from separable.losses.softmax import best_intercepts, divergences, losses, softmax


def problem_of(X, y, weight=None, *, fit_intercept=True, standardize=False, n_classes=None):
    made = prepare(
        as_rows(X),
        LOGISTIC,
        y.astype(np.int32),
        weight,
        fit_intercept=fit_intercept,
        standardize=standardize,
    )
    return replace(made, n_classes=int(y.max()) + 1 if n_classes is None else n_classes)


def data(seed=0, n=60, d=4, K=4):
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(K), rng.integers(K, size=n - K)])
    X = rng.normal(size=(n, d)) + 0.5 * np.eye(K, d)[y]
    return X, y, rng


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("kind", ["dense", "sparse", "far", "standardize"])
def test_a_certificate_is_what_its_definition_says(kind, fit_intercept):
    X, y, rng = data()
    weight = rng.uniform(0.5, 2, len(y))
    if kind == "far":
        X = X * 2.0**80
    rows = sparse.csr_matrix(X) if kind == "sparse" else X
    made = problem_of(
        rows, y, weight, fit_intercept=fit_intercept, standardize=kind == "standardize"
    )
    C, value = 0.7, made.value
    p, W = rng.random((len(y), 4)), rng.normal(size=(X.shape[1], 4))
    found = certify(made, [Lane(C, TOGETHER)], p, 1e-6, W)

    Z = X if made.columns.shift is None else X - made.columns.shift
    Z = Z if made.columns.scale is None else Z * made.columns.scale
    c = C * weight / value
    z, b = found.dual, found.intercept
    S = Z @ W + b
    q = np.eye(4)[y] - z / c[:, None]
    V = Z.T @ z
    primal = (W**2).sum() / 2 + c @ (logsumexp(S, axis=1) - S[np.arange(len(y)), y])
    dual = -(c[:, None] * q * np.log(q)).sum() - (V**2).sum() / 2
    assert (q >= 0).all()
    np.testing.assert_allclose(q.sum(axis=1), 1, rtol=1e-13)
    if fit_intercept:
        np.testing.assert_allclose(z.sum(axis=0), 0, atol=1e-13 * c.sum())
        gradient = c @ (special.softmax(S, axis=1) - np.eye(4)[y])
        np.testing.assert_allclose(gradient, 0, atol=1e-12 * c.sum())
        assert abs(b.sum()) < 1e-10
    else:
        assert not b.any()
    certificate = found.certificates[0]
    np.testing.assert_allclose(certificate.primal, value * primal, rtol=1e-12)
    np.testing.assert_allclose(certificate.dual, value * dual, rtol=1e-10)
    np.testing.assert_allclose(certificate.gap, value * (primal - dual), rtol=1e-10)
    np.testing.assert_allclose(found.scores, S, rtol=1e-9, atol=1e-9)


def test_several_lanes_are_judged_as_each_by_itself():
    X, y, rng = data(1)
    fold = rng.integers(2, size=len(y)).astype(np.int32)
    made = replace(problem_of(X, y), fold=fold)
    lanes = [Lane(1.0, TOGETHER, 0), Lane(3.0, TOGETHER, 1)]
    p, W = rng.random((len(y), 8)), rng.normal(size=(4, 8))
    both = certify(made, lanes, p, 1e-6, W)
    for k, lane in enumerate(lanes):
        mine = slice(4 * k, 4 * k + 4)
        alone = certify(made, [lane], p[:, mine], 1e-6, W[:, mine])
        one = both.lane(k)
        assert one.certificates == alone.certificates
        np.testing.assert_array_equal(one.weights, alone.weights)
        np.testing.assert_array_equal(one.dual, alone.dual)
        np.testing.assert_array_equal(one.intercept, alone.intercept)
        assert not one.dual[fold == lane.fold].any()


def test_a_class_that_a_fold_lacks_is_no_part_of_its_model():
    X, y, rng = data(2)
    fold = np.where(y == 2, 0, -1).astype(np.int32)
    made = replace(problem_of(X, y), fold=fold)
    lane = Lane(1.0, TOGETHER, 0)
    p, W = rng.random((len(y), 4)), rng.normal(size=(4, 4))
    found = certify(made, [lane], p, 1e-6, W)
    present, known = [0, 1, 3], y != 2
    smaller = problem_of(X[known] - made.columns.shift, np.searchsorted(present, y[known]))
    smaller = replace(smaller, columns=replace(smaller.columns, shift=None))
    same = certify(smaller, [Lane(1.0, TOGETHER)], p[known][:, present], 1e-6, W[:, present])
    assert found.intercept[2] == -np.inf
    assert not found.weights[:, 2].any()
    assert not found.dual[:, 2].any()
    np.testing.assert_allclose(found.intercept[present], same.intercept, atol=1e-12)
    np.testing.assert_allclose(found.certificates[0].gap, same.certificates[0].gap, rtol=1e-12)


def test_the_gap_is_never_below_the_distance_to_the_optimum():
    X, y, rng = data(3)
    made = problem_of(X, y)

    def objective(flat):
        W, b = flat[:16].reshape(4, 4), flat[16:]
        S = X @ W + b
        value = (W**2).sum() / 2 + (logsumexp(S, axis=1) - S[np.arange(len(y)), y]).sum()
        r = special.softmax(S, axis=1) - np.eye(4)[y]
        return value, np.append((W + X.T @ r).ravel(), r.sum(axis=0))

    best = minimize(objective, np.zeros(20), jac=True, options={"gtol": 1e-9, "maxiter": 1000})
    for _ in range(20):
        W = best.x[:16].reshape(4, 4) + rng.exponential() * rng.normal(size=(4, 4))
        found = certify(made, [Lane(1.0, TOGETHER)], softmax(X @ W), 1e-6, W)
        one = found.certificates[0]
        assert one.dual <= best.fun + 1e-9
        assert one.primal - best.fun <= one.gap + 1e-9
    W = best.x[:16].reshape(4, 4)
    S = X @ W + best.x[16:]
    at_best = certify(made, [Lane(1.0, TOGETHER)], softmax(S), 1e-6, W)
    assert at_best.certificates[0].relative_gap < 1e-12


def test_probabilities_are_repaired_and_good_ones_are_left_alone():
    X, y, rng = data(4)
    made = problem_of(X, y)
    lane = Lane(2.0, TOGETHER)
    rows = made.softmax_losses(lane)
    good = rows.feasible(rng.random((len(y), 4)), fit_intercept=made.fit_intercept)
    np.testing.assert_allclose(rows.feasible(good, fit_intercept=True), good, atol=1e-14)
    z = feasible_points(made, lane, 2.0 * (np.eye(4)[y] - good))
    np.testing.assert_allclose(z, 2.0 * (np.eye(4)[y] - good), atol=1e-13)
    np.testing.assert_allclose(z.sum(axis=0), 0, atol=1e-12)
    broken = rng.random((len(y), 4)).astype(np.float32)
    broken[0], broken[1], broken[2, 1] = 0.0, np.nan, -1.0
    mended = rows.feasible(broken, fit_intercept=True)
    assert (mended >= 0).all()
    np.testing.assert_allclose(mended.sum(axis=1), 1, rtol=1e-14)
    np.testing.assert_allclose(mended.sum(axis=0), np.bincount(y), rtol=1e-13)


@pytest.mark.parametrize("size", [1e-3, 1.0, 30.0, 1e4])
def test_intercepts_are_the_best_ones(size):
    rng = np.random.default_rng(5)
    y = np.concatenate([np.arange(5), rng.integers(5, size=95)]).astype(np.int32)
    s, c = size * rng.normal(size=(100, 5)), rng.uniform(0, 2, 100)
    s[:, 2] -= 50 * size
    b = best_intercepts(y, s, c)
    gradient = c @ (special.softmax(s + b, axis=1) - np.eye(5)[y])
    if size <= 30:
        np.testing.assert_allclose(gradient, 0, atol=1e-9 * c.sum())
    at_best = c @ losses(y, s + b)
    for _ in range(50):
        other = b + rng.normal(size=5) * rng.exponential()
        assert c @ losses(y, s + other) >= at_best * (1 - 1e-12)


def test_divergences_have_digits_where_logarithms_cancel():
    s = np.array([[0.0, 1.0, -2.0], [800.0, 0.0, -800.0]])
    q = special.softmax(s, axis=1)
    move = np.array([1e-8, -1e-8, 0.0])
    near = divergences(q + move, s)
    np.testing.assert_allclose(near[0], 0.5 * (move**2 / q[0]).sum(), rtol=1e-6)
    np.testing.assert_allclose(divergences(np.eye(3)[[1, 2]], s), losses(np.array([1, 2]), s))


@pytest.mark.slow
@pytest.mark.parametrize("size", [pytest.param(1e30, marks=pytest.mark.long), 1e200])
def test_intercepts_of_scores_that_are_very_far_apart_are_found_in_few_steps(size, monkeypatch):
    rng = np.random.default_rng(0)
    s, y, c = rng.normal(size=(60, 3)), rng.integers(0, 3, 60).astype(np.int32), rng.random(60)
    near = best_intercepts(y, 1e8 * s, c) / 1e8
    seen, model = [], core._model
    monkeypatch.setattr(core, "_model", lambda *some: seen.append(1) or model(*some))
    np.testing.assert_allclose(best_intercepts(y, size * s, c) / size, near, atol=1e-5)
    assert len(seen) < 3000
