"""Multinomial dual coordinate descent: the optimum, proved, whatever stands beside a model."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.sparse import csr_array
from scipy.special import log_softmax, logsumexp, softmax
from sklearn.linear_model import LogisticRegression

from separable._core import native
from separable.certified.problem import TOGETHER, Columns, Lane, Problem
from separable.certified.solvers.dual_cd import PassedRows, descend
from separable.certified.solvers.softmax_dual_cd import most_models
from separable.certified.solvers.solved import Start
from separable.data.rows import as_rows, core_rows
from separable.losses.loss import LOGISTIC

pytestmark = [pytest.mark.native, pytest.mark.kernel]

INTERCEPT = pytest.mark.parametrize("intercept", [True, False])
DTYPES = pytest.mark.parametrize("dtype", [np.float32, np.float64])
NO_CLASS = -1e30


def table(classes=4, seed=0, n=90, d=25, dtype=np.float64):
    """Rows of norm about 1 and their classes, each of which some row has."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.4) / np.sqrt(0.4 * d)
    signal = X @ rng.normal(size=(d, classes)) * 3 + rng.gumbel(size=(n, classes))
    y = signal.argmax(axis=1)
    y[:classes] = np.arange(classes)
    return X.astype(dtype), y.astype(np.int32)


def make(classes=4, seed=0, n=90, d=25, *, sparse=True, dtype=np.float64, weights=False, **more):
    X, y = table(classes, seed, n, d, dtype)
    rng = np.random.default_rng(seed + 1)
    return Problem(
        as_rows(csr_array(X) if sparse else X),
        LOGISTIC,
        y,
        weight=rng.uniform(0.5, 2, n) if weights else None,
        fold=(np.arange(n) // 2 % 3).astype(np.int32),
        n_classes=classes,
        **more,
    )


def model(strength, fold=-1):
    return Lane(strength, TOGETHER, fold)


def run(problem, lanes, tol=1e-6, max_iter=2000, dtype=np.float32, **more):
    passed = PassedRows.of(problem, np.dtype(dtype))
    found, passes = descend(problem, passed, lanes, tol=tol, max_iter=max_iter, seed=0, **more)
    assert found.width == problem.n_classes
    assert found.weights.shape == (problem.rows.n_features, len(lanes) * problem.n_classes)
    assert found.dual.shape == (problem.rows.n_rows, len(lanes) * problem.n_classes)
    return found, passes


def dense(problem):
    X = problem.rows.to_matrix()
    return np.asarray(X.todense() if problem.rows.is_sparse else X, dtype=np.float64)


def objective(X, y, c, w, b):
    """The primal and its slopes by weights and intercepts, from the formula."""
    s = X @ w + b
    p = softmax(s, axis=1)
    p[np.arange(len(y)), y] -= 1
    r = c[:, None] * p
    loss = logsumexp(s, axis=1) - s[np.arange(len(y)), y]
    return 0.5 * np.vdot(w, w) + c @ loss, w + X.T @ r, r.sum(axis=0)


def dual_value(X, z, y, c):
    """The dual of points z = c (1[y = k] - p)."""
    used = c > 0
    p = -z[used] / c[used, None]
    p[np.arange(len(p)), y[used]] += 1
    assert p.min() >= -1e-12
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-12)
    p = np.clip(p, 1e-300, 1)
    return -(c[used] @ (p * np.log(p)).sum(axis=1)) - 0.5 * np.sum((X.T @ z) ** 2)


def optimum(X, y, c, classes, *, intercept):
    """The least primal by SciPy."""
    d = X.shape[1]

    def fun(flat):
        w, b = flat[: d * classes].reshape(d, classes), flat[d * classes :]
        value, by_w, by_b = objective(X, y, c, w, b if intercept else 0 * b)
        return value, np.concatenate([by_w.ravel(), by_b if intercept else 0 * by_b])

    options = {"maxiter": 5000, "ftol": 1e-15, "gtol": 1e-9, "maxfun": 10_000}
    start = np.zeros(d * classes + classes)
    return minimize(fun, start, jac=True, method="L-BFGS-B", options=options).fun


def check(problem, lanes, found, X=None):
    """Each certificate is what formulas say of the same weights and dual points."""
    X, y, K = dense(problem) if X is None else X, problem.target, problem.n_classes
    for k, lane in enumerate(lanes):
        one, c = found.lane(k), problem.costs(lane)
        b = np.where(np.isfinite(one.intercept), one.intercept, -1e300)
        mine, (primal, *_) = one.certificates[0], objective(X, y, c, one.weights, b)
        dual = dual_value(X, one.dual, y, c)
        size = abs(primal) + 1e-300
        assert one.width == K
        assert mine.primal == pytest.approx(primal, rel=1e-10)
        assert mine.dual == pytest.approx(dual, rel=1e-8, abs=1e-9 * size)
        assert mine.gap == pytest.approx(primal - dual, rel=1e-5, abs=1e-9 * size)
        if problem.fit_intercept:
            assert abs(one.dual.sum(axis=0)).max() <= 1e-11 * abs(one.dual).sum()


# ------------------------------------------------------------------ the optimum


@INTERCEPT
@DTYPES
@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize(
    "classes", [2, 3, 8, 17, *(pytest.param(k, marks=pytest.mark.long) for k in (5, 11, 16, 40))]
)
def test_every_number_of_classes_is_certified(classes, sparse, dtype, intercept):
    problem = make(classes, sparse=sparse, weights=True, fit_intercept=intercept)
    lanes = [model(C, fold) for C in (0.3, 3.0) for fold in (-1, 0, 2)]
    for first in range(0, len(lanes), most_models(np.dtype(dtype), classes)):
        some = lanes[first : first + most_models(np.dtype(dtype), classes)]
        found, passes = run(problem, some, dtype=dtype)
        assert all(one.converged for one in found.certificates)
        assert passes.min() >= 1
        check(problem, some, found)


@INTERCEPT
@pytest.mark.parametrize("strength", [0.1, 10.0])
@pytest.mark.parametrize("classes", [2, 3, 7, 20])
def test_finds_what_scipy_finds(classes, strength, intercept):
    problem = make(classes, weights=True, fit_intercept=intercept)
    lane = model(strength, 1)
    found, _ = run(problem, [lane], tol=1e-9, dtype=np.float64)
    best = optimum(
        dense(problem), problem.target, problem.costs(lane), classes, intercept=intercept
    )
    mine = found.certificates[0]
    assert mine.converged
    assert mine.dual <= best * (1 + 1e-12)
    assert mine.primal == pytest.approx(best, rel=1e-8)


@INTERCEPT
@pytest.mark.parametrize("classes", [3, 18])
def test_finds_what_lbfgs_finds(classes, intercept):
    problem = make(classes, weights=True, fit_intercept=intercept)
    found, _ = run(problem, [model(2.0)], tol=1e-10, dtype=np.float64)
    theirs = LogisticRegression(C=2.0, tol=1e-9, max_iter=10_000, fit_intercept=intercept)
    theirs.fit(dense(problem), problem.target, sample_weight=problem.weight)
    np.testing.assert_allclose(found.weights.T, theirs.coef_, atol=2e-4)
    b = found.intercept - found.intercept.mean()
    np.testing.assert_allclose(b, theirs.intercept_ - np.mean(theirs.intercept_), atol=2e-4)


@DTYPES
@pytest.mark.parametrize("classes", [2, 3, 10, 20])
def test_float_types_reach_their_limits(classes, dtype):
    problem = make(classes, n=60, d=100)  # more columns than rows: curved in all directions
    tol = 1e-12 if dtype == np.float64 else 1e-7
    found, _ = run(problem, [model(1.0)], tol=tol, max_iter=500, dtype=dtype)
    assert found.certificates[0].relative_gap <= tol


def test_columns_shifted_and_scaled():
    problem = make(sparse=False)
    rng = np.random.default_rng(0)
    shift, scale = rng.normal(size=25), rng.uniform(0.5, 2, 25)
    columns = Columns(shift, scale)
    seen = Problem(problem.rows, LOGISTIC, problem.target, columns=columns, n_classes=4)
    found, _ = run(seen, [model(1.0)])
    check(seen, [model(1.0)], found, (dense(problem) - shift) * scale)
    assert found.certificates[0].converged


def test_a_common_scale_changes_no_objective():
    problem = make()
    columns = Columns(None, np.full(25, 0.5))
    seen = Problem(problem.rows, LOGISTIC, problem.target, columns=columns, value=0.25, n_classes=4)
    one, _ = run(problem, [model(1.0)])
    two, _ = run(seen, [model(1.0)])
    gaps = one.certificates[0].gap + two.certificates[0].gap
    assert abs(one.certificates[0].primal - two.certificates[0].primal) <= gaps


def test_a_fold_may_hold_out_all_rows_of_a_class():
    X, y = table(5)
    fold = (y == 3).astype(np.int32)
    problem = Problem(as_rows(csr_array(X)), LOGISTIC, y, fold=fold, n_classes=5)
    lanes = [model(1.0, 1), model(1.0, -1)]
    for one in lanes:
        found, _ = run(problem, [one])
        assert found.certificates[0].converged
        check(problem, [one], found)
    found, _ = run(problem, lanes[:1])
    assert found.intercept[3] == -np.inf
    assert not found.weights[:, 3].any()


# ------------------------------------------------------------------ neighbours


@DTYPES
@pytest.mark.parametrize("classes", [2, 3, 4])
def test_neighbours_change_no_bit(classes, dtype):
    problem = make(classes, weights=True)
    lanes = [model(C, fold) for C in (0.01, 1.0, 50.0) for fold in (-1, 0, 2)]
    lanes = lanes[: most_models(np.dtype(dtype), classes)][::-1]
    many, many_passes = run(problem, lanes, tol=1e-5, dtype=dtype)
    assert len(set(many_passes.tolist())) > 1 or len(lanes) < 3
    for k, lane in enumerate(lanes):
        alone, passes = run(problem, [lane], tol=1e-5, dtype=dtype)
        assert passes[0] == many_passes[k]
        np.testing.assert_array_equal(alone.weights, many.lane(k).weights)
        np.testing.assert_array_equal(alone.dual, many.lane(k).dual)


def test_most_models():
    assert [native.class_stride(k, 4) for k in (1, 3, 9, 16, 17, 33)] == [2, 4, 16, 16, 32, 48]
    assert [most_models(np.dtype(np.float64), k) for k in (2, 4, 5, 8, 9)] == [4, 2, 1, 1, 1]


# ------------------------------------------------------------------ hard cases


@INTERCEPT
@pytest.mark.parametrize("exponent", [-6, -3, 3, 6])
def test_any_strength_ends_with_a_true_bound(intercept, exponent):
    problem = make(fit_intercept=intercept)
    lanes = [model(10.0**exponent), model(3 * 10.0**exponent, 1)]
    found, passes = run(problem, lanes, tol=1e-9, max_iter=40)
    assert passes.max() <= 40
    check(problem, lanes, found)
    assert all(np.isfinite(one.gap) and one.gap >= 0 for one in found.certificates)


@INTERCEPT
@DTYPES
def test_rows_of_zeros(dtype, intercept):
    X, y = table()
    X[::3] = 0.0
    problem = Problem(as_rows(csr_array(X)), LOGISTIC, y, fit_intercept=intercept, n_classes=4)
    found, _ = run(problem, [model(1.0)], tol=1e-6, dtype=dtype)
    check(problem, [model(1.0)], found)
    assert found.certificates[0].converged


def test_only_rows_of_zeros():
    _, y = table()
    problem = Problem(as_rows(csr_array(np.zeros((90, 25)))), LOGISTIC, y, n_classes=4)
    found, _ = run(problem, [model(1.0)])
    check(problem, [model(1.0)], found)
    assert found.certificates[0].converged
    assert not found.weights.any()


def test_rows_that_differ_in_class_alone():
    X, y = table(3, n=60)
    X, y = np.vstack([X, X, X]), np.concatenate([y, (y + 1) % 3, y]).astype(np.int32)
    problem = Problem(as_rows(csr_array(X)), LOGISTIC, y, n_classes=3)
    lanes = [model(10.0), model(0.1)]
    found, _ = run(problem, lanes)
    assert all(one.converged for one in found.certificates)
    check(problem, lanes, found)


def test_a_weight_is_a_number_of_rows():
    X, y = table(3, n=50)
    weight = np.random.default_rng(3).integers(1, 4, 50)
    weighted = Problem(
        as_rows(csr_array(X)), LOGISTIC, y, weight=weight.astype(np.float64), n_classes=3
    )
    repeated = Problem(
        as_rows(csr_array(np.repeat(X, weight, axis=0))),
        LOGISTIC,
        np.repeat(y, weight),
        n_classes=3,
    )
    one, _ = run(weighted, [model(1.0)], tol=1e-10, dtype=np.float64)
    two, _ = run(repeated, [model(1.0)], tol=1e-10, dtype=np.float64)
    np.testing.assert_allclose(one.weights, two.weights, atol=1e-4)


@given(
    seed=st.integers(0, 10_000),
    classes=st.integers(2, 20),
    strength=st.floats(-3, 3),
    intercept=st.booleans(),
    max_iter=st.integers(1, 12),
)
def test_every_stop_is_a_true_bound(seed, classes, strength, intercept, max_iter):
    problem = make(classes, seed, n=30, d=5, fit_intercept=intercept, weights=True)
    lanes = [model(10.0**strength, 1)]
    found, _ = run(problem, lanes, tol=1e-7, max_iter=max_iter)
    check(problem, lanes, found)


# ------------------------------------------------------------------ one row's step


def take_step(row, w, u, c, label, dtype):
    """One pass over one row: log p of its classes after it, and the weights."""
    K, itemsize = len(u), np.dtype(dtype).itemsize
    stride = native.class_stride(K, itemsize)
    width = max(stride, 64 // itemsize)
    wide_u = np.full((1, width), -np.log(stride), dtype)
    wide_u[:, :stride] = NO_CLASS
    wide_u[0, :K] = u
    wide_w = np.zeros((len(row), width), dtype)
    wide_w[:, :K] = w
    targets = native.MultinomialTargets(
        K, np.array([label], np.int32), None, None, np.array([-1], np.int32), np.array([c])
    )
    core = core_rows(as_rows(row[None].astype(dtype)))
    hot, by_lane, by_model = np.zeros(1, np.uint16), np.zeros((2, width)), np.zeros((3, 1))
    native.multinomial_pass(
        targets, core, np.array([row @ row]), wide_w, wide_u, hot, by_lane, by_model, 0, 0, 0
    )
    return wide_u[0, :K].astype(np.float64), wide_w[:, :K].astype(np.float64)


def row_dual(s, p, old, room):
    """The dual by one row's p, over c: scores s are those at p = old."""
    h = p - old
    return s @ h - np.sum(p * np.log(np.maximum(p, 1e-300))) - 0.5 * room * (h @ h)


@given(
    seed=st.integers(0, 100_000),
    classes=st.integers(2, 40),
    log_room=st.floats(-3, 5),
    spread=st.sampled_from([0.0, 1e-3, 1.0, 10.0, 100.0]),
    sureness=st.sampled_from([0.0, 1.0, 5.0, 30.0]),
    dtype=st.sampled_from([np.float32, np.float64]),
)
def test_a_step_raises_the_dual(seed, classes, log_room, spread, sureness, dtype):
    rng = np.random.default_rng(seed)
    row = rng.normal(size=6).astype(dtype).astype(np.float64)
    c = 10.0**log_room / (row @ row)
    u = log_softmax(sureness * rng.normal(size=classes)).astype(dtype).astype(np.float64)
    w = (spread * rng.normal(size=(6, classes))).astype(dtype).astype(np.float64)
    after, moved = take_step(row, w, u, c, int(rng.integers(classes)), dtype)
    old, new, room, s = np.exp(u), np.exp(after), c * (row @ row), row @ w
    eps = float(np.finfo(dtype).eps)
    size = 1 + room + abs(s).max() + abs(u).max()
    assert new.sum() == pytest.approx(1, abs=64 * eps)
    before, then = (row_dual(s, p / p.sum(), old / old.sum(), room) for p in (old, new))
    assert then >= before - eps * size * (100 * np.abs(new - old).sum() + 0.1)
    # near the best: log p + room p - s is the same for all classes, up to a part of the way
    link = after - s + room * (new - old)
    slack = 0.02 * (1 + room * new.max()) * (1 + spread) + 1000 * eps * size
    assert np.ptp(link[new > 1e-6]) <= slack
    # weights moved with p
    np.testing.assert_allclose(moved - w, -c * np.outer(row, new - old), rtol=0.01,
                               atol=1000 * eps * (1 + c + abs(w).max()))  # fmt: skip


# ------------------------------------------------------------------ starting, stopping, limits


@pytest.mark.parametrize("classes", [3, 20])
def test_goes_on_from_a_start(classes):
    problem = make(classes, weights=True)
    lanes = [model(1.0, fold) for fold in (-1, 0)][: most_models(np.dtype(np.float32), classes)]
    first, passes = run(problem, lanes, tol=1e-6)
    again, more = run(problem, lanes, tol=1e-6, start=Start(first.dual, first.intercept))
    assert all(one.converged for one in again.certificates)
    assert more.max() < passes.max()


def test_starts_without_a_class_that_is_not_there():
    X, y = table(5)
    problem = Problem(
        as_rows(csr_array(X)), LOGISTIC, y, fold=(y == 3).astype(np.int32), n_classes=5
    )
    first, _ = run(problem, [model(1.0, 1)])
    again, _ = run(problem, [model(1.0, 1)], start=Start(first.dual, first.intercept))
    assert again.certificates[0].converged
    check(problem, [model(1.0, 1)], again)


def test_calls_back_and_stops():
    problem = make()
    seen = []

    def on_pass(number, gap):
        seen.append((number, gap))
        return number == 3

    found, passes = run(problem, [model(100.0)], tol=1e-12, on_pass=on_pass)
    assert passes.tolist() == [3]
    assert [number for number, _ in seen] == [1, 2, 3]
    assert not found.certificates[0].converged


def targets(label, weight=None, fold=None, classes=3, models=1):
    return native.MultinomialTargets(
        classes, np.array(label, np.int32), weight, fold, np.full(models, -1, np.int32),
        np.ones(models),
    )  # fmt: skip


@pytest.mark.parametrize("label", [[0, 3], [-1, 0]])
def test_labels_are_checked(label):
    with pytest.raises(ValueError, match="labels are numbers of classes"):
        targets(label)


def test_shapes_are_checked():
    with pytest.raises(ValueError, match="float32 or float64"):
        native.class_stride(3, 2)
    with pytest.raises(ValueError, match="one number a row"):
        targets([0, 1], weight=np.ones(3))
    rows = core_rows(as_rows(np.ones((2, 3), np.float32)))
    table16, lanes16, hot = np.zeros((3, 16), np.float32), np.zeros((2, 16)), np.zeros(2, np.uint16)

    def call(made, w=table16, u=table16[:2], by_lane=lanes16, models=1):
        by_model = np.zeros((3, models))
        native.multinomial_pass(made, rows, np.ones(2), w, u, hot, by_lane, by_model, 0, 0, 0)

    call(targets([0, 1]))
    with pytest.raises(ValueError, match="one number a row"):
        call(targets([0, 1, 2]))
    with pytest.raises(ValueError, match="do not fit"):
        call(targets([0, 1]), w=np.zeros((4, 16), np.float32))
    with pytest.raises(ValueError, match="do not fit"):
        call(targets([0, 1], classes=20))
    with pytest.raises(ValueError, match="one number a model"):
        call(targets([0, 1], models=2))
    with pytest.raises(ValueError, match="one number a model"):
        call(targets([0, 1], models=5), models=5)


@INTERCEPT
@pytest.mark.parametrize("classes", [3, 20])
def test_without_certificates_scores_are_those_of_the_optimum(classes, intercept):
    problem = make(classes, n=300, weights=True, fit_intercept=intercept)
    X, y, tol = dense(problem), problem.target, 1e-4
    for C in (0.1, 1.0, 20.0):
        lane = model(C, 0)
        quick, _ = run(problem, [lane], tol, certified=False)
        exact, _ = run(problem, [lane], 1e-8, 20_000, np.float64)
        assert not quick.certificates
        w, c = quick.weights.astype(np.float64), problem.costs(lane)
        scores = X @ w + quick.intercept
        np.testing.assert_allclose(quick.scores, scores, atol=1e-6)
        loss = -log_softmax(scores, axis=1)[np.arange(len(y)), y]
        primal = float(c @ loss) + 0.5 * float((w * w).sum())
        assert primal <= exact.certificates[0].primal + 2 * tol * primal
