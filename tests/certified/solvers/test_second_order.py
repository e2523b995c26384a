"""The d x d engines: the optimum on every kind of problem, and a certificate that holds."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.svm import SVC, SVR

from tests.certified.engine_problems import LOSSES, check, data, lane, problem, run
from tests.long_cases import first
from tests.reference.objective import primal

ALL = pytest.mark.parametrize("name", LOSSES)


def solve(made, C, **how):
    return run(made, lane(C), **{"tol": 1e-6, "max_iter": 300, "to_rounding": True, **how})


def targets(name, seed, **kind):
    return data(seed, regression=name == "epsilon_insensitive", **kind)


@ALL
@pytest.mark.parametrize("C", first(3, [1e-6, 1.0, 1e6, 1e-3, 1e3]))
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
def test_every_strength_reaches_rounding(name, C, sparse, intercept):
    for seed in range(3):
        X, y = targets(name, seed)
        made = problem(name, X, y, sparse=sparse, intercept=intercept)
        solution, steps = solve(made, C)
        check(name, X, y, made, lane(C), solution, tol=1e-11)
        assert 1 <= steps <= 60


@ALL
@pytest.mark.parametrize("C", first(2, [1e-3, 1e3, 1.0]))
@pytest.mark.parametrize(
    "kind",
    [
        {"scale": np.array([1e-6, 1.0, 1e3, 1e6])},
        {"scale": np.array([1e-3, 1.0, 1.0, 1e2]), "shift": np.array([0.0, 1e4, -30.0, 1e5])},
        {"noise": 0.0},
        {"n": 200, "d": 12},
        {"n": 12, "d": 30},
    ],
    ids=["scaled", "shifted", "separable", "more", "wide"],
)
def test_bad_columns(name, C, kind):
    for seed in range(3):
        X, y = targets(name, seed, **kind)
        made = problem(name, X, y, centred=True)
        solution, _ = solve(made, C)
        check(name, X, y, made, lane(C), solution, tol=1e-6)


@ALL
@pytest.mark.parametrize("size", [1e-100, 1e100])
def test_extreme_sizes_end_with_a_bound(name, size):
    X, y = targets(name, 0, scale=size)
    solution, _ = solve(problem(name, X, y), 1.0)
    (found,) = solution.certificates
    assert np.isfinite(solution.weights).all()
    assert 0 <= found.relative_gap <= 1 + 1e-12
    assert found.dual <= found.primal * (1 + 1e-12)


@ALL
def test_shift_of_a_billion(name):
    X, y = targets(name, 3)
    plain, _ = solve(problem(name, X, y, centred=True), 1.0)
    far = X + 2.0**30
    made = problem(name, far, y, centred=True)
    solution, _ = solve(made, 1.0)
    weights, _ = made.columns.raw(solution.weights, solution.intercept)
    np.testing.assert_allclose(weights, plain.weights, atol=1e-5)
    assert solution.certificates[0].relative_gap < 1e-9


@ALL
def test_duplicated_and_constant_columns(name):
    X, y = targets(name, 1)
    X = np.column_stack([X, X[:, :2], np.full(len(X), 7.0), np.zeros(len(X))])
    for C in (1e-2, 1.0, 1e4):
        solution, _ = solve(problem(name, X, y), C)
        check(name, X, y, problem(name, X, y), lane(C), solution, tol=1e-9)
        np.testing.assert_allclose(solution.weights[:2], solution.weights[4:6], atol=1e-8)
        assert abs(solution.weights[-1, 0]) < 1e-12


@ALL
@pytest.mark.parametrize("sparse", [False, True])
def test_weights_and_folds(name, sparse):
    X, y = targets(name, 2, n=60)
    rng = np.random.default_rng(0)
    weight, fold = rng.uniform(0.1, 3.0, 60), rng.integers(0, 3, 60).astype(np.int32)
    made = problem(name, X, y, sparse=sparse, weight=weight, fold=fold)
    solution, _ = run(made, lane(2.0, fold=1), tol=1e-6, max_iter=200, to_rounding=True)
    check(name, X, y, made, lane(2.0, fold=1), solution, tol=1e-11)
    kept = fold != 1
    alone = problem(name, X[kept], y[kept], sparse=sparse, weight=weight[kept])
    same, _ = solve(alone, 2.0)
    np.testing.assert_allclose(solution.weights, same.weights, atol=1e-7)


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_as_libsvm(C):
    X, y = data(5, n=80)
    theirs = SVC(kernel="linear", C=C, tol=1e-10).fit(X, y)
    solution, _ = solve(problem("hinge", X, y), C)
    np.testing.assert_allclose(solution.weights[:, 0], theirs.coef_[0], atol=1e-4)
    X, y = data(6, n=80, regression=True)
    theirs = SVR(kernel="linear", C=C, tol=1e-10, epsilon=0.1).fit(X, y)
    solution, _ = solve(problem("epsilon_insensitive", X, y), C)
    np.testing.assert_allclose(solution.weights[:, 0], theirs.coef_[0], atol=1e-4)


@ALL
def test_wide_rows_have_the_same_optimum_in_either_format(name):
    X, y = targets(name, 4, n=15, d=50)
    X[np.abs(X) < 1.0] = 0.0
    dense, _ = solve(problem(name, X, y), 0.5)
    sparse, _ = solve(problem(name, X, y, sparse=True), 0.5)
    assert dense.certificates[0].relative_gap < 1e-10
    assert sparse.certificates[0].relative_gap < 1e-10
    np.testing.assert_allclose(dense.weights, sparse.weights, atol=1e-6)


@ALL
def test_start_and_stop(name):
    X, y = targets(name, 7)
    made = problem(name, X, y)
    best, steps = solve(made, 1.0)
    again, fewer = solve(made, 1.0, start=best.weights)
    assert again.certificates[0].relative_gap < 1e-10
    assert LOSSES[name].name in ("hinge", "epsilon_insensitive") or fewer <= steps
    told = []
    stopped, count = solve(made, 1.0, on_step=lambda k, gap: told.append((k, gap)) or k == 2)
    assert [k for k, _ in told] == [1, 2]
    assert count == 2
    found = stopped.certificates[0]
    assert found.dual <= best.certificates[0].primal * (1 + 1e-12)
    w, b = stopped.weights[:, 0], stopped.intercept[0]
    np.testing.assert_allclose(found.primal, primal(name, X, y, np.ones(len(y)), w, b), rtol=1e-9)


@ALL
def test_same_bits_twice(name):
    X, y = targets(name, 8)
    one, two = (solve(problem(name, X, y), 3.0)[0] for _ in range(2))
    np.testing.assert_array_equal(one.weights, two.weights)
    np.testing.assert_array_equal(one.dual, two.dual)


def test_no_penalty():
    X, y = data(9, n=200, noise=2.0)
    solution, _ = solve(problem("log_loss", X, y), np.inf)
    (found,) = solution.certificates
    assert found.relative_gap < 1e-10
    w, b, z = solution.weights[:, 0], solution.intercept[0], solution.dual[:, 0]
    one = np.ones(len(y))
    np.testing.assert_allclose(primal("log_loss", X, y, one, w, b, penalised=False), found.primal)
    assert np.abs(X.T @ z).max() < 1e-9
    assert abs(z.sum()) < 1e-9
    for size in (1e-6, 1e6):  # no penalty: columns' sizes do not matter
        other, _ = solve(problem("log_loss", X * size, y), np.inf)
        np.testing.assert_allclose(other.scores, solution.scores, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("shape", [(40, 4), (10, 25)])
@pytest.mark.parametrize("sparse", [False, True])
def test_no_penalty_and_separable_classes_end_unproved(shape, sparse):
    X, y = data(10, n=shape[0], d=shape[1], noise=0.0)
    solution, _ = solve(problem("log_loss", X, y, sparse=sparse), np.inf)
    (found,) = solution.certificates
    assert not found.converged
    assert found.dual < 1e-20
    assert found.relative_gap > 0.99
    assert ((solution.scores[:, 0] > 0) == (y > 0)).all()


def test_no_penalty_is_for_the_logistic_loss():
    X, y = data(0)
    with pytest.raises(ValueError, match="C=inf needs the logistic loss, not 'hinge': choose a"):
        solve(problem("hinge", X, y), np.inf)


@ALL
@pytest.mark.parametrize("sparse", [False, True])
def test_many_rows_start_from_some(name, sparse):
    X, y = targets(name, 11, n=30_000, d=40, noise=3.0)
    if sparse:
        X[np.abs(X) < 1.2] = 0.0
    fold = np.repeat(np.arange(6), 5000).astype(np.int32)
    made = problem(name, X, y, sparse=sparse, centred=not sparse, fold=fold)
    solution, steps = run(made, lane(1.0, fold=2), tol=1e-6, max_iter=200, to_rounding=True)
    check(name, X, y, made, lane(1.0, fold=2), solution, tol=1e-6)
    assert steps <= (4 if name in ("log_loss", "squared_hinge") else 70)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["hinge", "epsilon_insensitive"])
def test_many_rows_stop_when_told(name):
    X, y = targets(name, 13, n=30_000, d=40, noise=3.0)
    made = problem(name, X, y, centred=True)
    for most in (1, 4, 12):
        solution, steps = solve(made, 1.0, on_step=lambda k, gap, most=most: k == most)
        assert steps == most
        assert 0 <= solution.certificates[0].relative_gap <= 1 + 1e-12
    solution, steps = solve(made, 1.0, max_iter=3)
    assert steps == 3


@ALL
def test_sparse_but_full_and_shifted_columns(name):
    X, y = targets(name, 12)
    X = X + np.array([0.0, 1e4, 0.0, 0.0])
    solution, _ = solve(problem(name, X, y, sparse=True), 1.0)
    assert solution.certificates[0].relative_gap < 1e-6
