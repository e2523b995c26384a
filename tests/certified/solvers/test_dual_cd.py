"""Dual coordinate descent in lanes: the optimum, proved, whatever stands beside a lane."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array, random_array

from separable.certified.duality.gap import certify
from separable.certified.problem import Columns, Lane, Problem
from separable.certified.solvers.dual_cd import PassedRows, descend
from separable.certified.solvers.solved import Start
from separable.data.rows import as_rows
from separable.losses.loss import HINGE, LOGISTIC, SQUARED_HINGE, epsilon_insensitive
from tests.reference.certificate import certify as check_certificate
from tests.reference.certificate import certify_svr
from tests.reference.dual_descent import dual_descent

pytestmark = [pytest.mark.native, pytest.mark.kernel]

LOSSES = {loss.name: loss for loss in (HINGE, SQUARED_HINGE, LOGISTIC, epsilon_insensitive(0.2))}
ALL_LOSSES = pytest.mark.parametrize("loss", LOSSES)
INTERCEPT = pytest.mark.parametrize("intercept", [True, False])
LONG = pytest.mark.long
EPS = 0.2


def make(loss, seed=0, n=80, d=25, *, sparse=True, dtype=np.float64, weights=False, **more):
    """A problem of three classes (or numbers) and three folds, rows of norm about 1."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.4) / np.sqrt(0.4 * d)
    signal = X @ rng.normal(size=(d, 3)) * 3 + rng.normal(size=(n, 3)) + 0.5
    if loss == "epsilon_insensitive":
        target = signal[:, 0].copy()
    else:
        target = signal.argmax(axis=1).astype(np.int32)
    X = X.astype(dtype)
    return Problem(
        as_rows(csr_array(X) if sparse else X),
        LOSSES[loss],
        target,
        weight=rng.uniform(0.5, 2, n) if weights else None,
        fold=(np.arange(n) % 3).astype(np.int32),
        **more,
    )


def run(problem, lanes, tol=1e-6, max_iter=2000, dtype=np.float32, **more):
    found, passes = descend(
        problem,
        PassedRows.of(problem, np.dtype(dtype)),
        lanes,
        tol=tol,
        max_iter=max_iter,
        seed=0,
        **more,
    )
    assert found.weights.shape == (problem.rows.n_features, len(lanes))
    assert found.dual.shape == found.scores.shape == (problem.rows.n_rows, len(lanes))
    return found, passes


def dense(problem):
    X = problem.rows.to_matrix()
    return np.asarray(X.todense() if problem.rows.is_sparse else X, dtype=np.float64)


def reference(problem, lane, z, X=None):
    """The certificate of a dual point by the reference, in the problem's columns."""
    X = dense(problem) if X is None else X
    y, c = problem.targets(lane), problem.costs(lane)
    used = c > 0
    X, y, c, z = X[used], y[used], c[used], z[used]
    intercept = problem.fit_intercept
    if problem.loss.name == "epsilon_insensitive":
        return certify_svr(X, y, c, EPS, z, intercept=intercept)
    name = "logistic" if problem.loss.name == "log_loss" else problem.loss.name
    return check_certificate(name, X, y, c, y * z, intercept=intercept)


def primal(problem, lane, w, b, X=None):
    """The objective, from its formula."""
    s = (dense(problem) if X is None else X) @ np.asarray(w, dtype=np.float64) + b
    y, c = problem.targets(lane), problem.costs(lane)
    losses = {
        "hinge": np.maximum(0, 1 - y * s),
        "squared_hinge": np.maximum(0, 1 - y * s) ** 2,
        "log_loss": np.logaddexp(0, -y * s),
        "epsilon_insensitive": np.maximum(0, abs(y - s) - EPS),
    }
    return 0.5 * float(w @ w) + float(c @ losses[problem.loss.name])


def check_certificates(problem, lanes, found, X=None):
    """Each is what the reference says of the same dual point and weights."""
    for k, lane in enumerate(lanes):
        mine, z = found.certificates[k], found.dual[:, k]
        w, b = found.weights[:, k].astype(np.float64), float(found.intercept[k])
        theirs = reference(problem, lane, z, X)
        size = abs(mine.primal) + 1e-300
        assert mine.primal == pytest.approx(primal(problem, lane, w, b, X), rel=1e-10)
        assert mine.dual == pytest.approx(theirs.dual, rel=1e-9, abs=1e-9 * size)
        assert mine.gap == pytest.approx(mine.primal - mine.dual, rel=1e-6, abs=1e-9 * size)
        assert mine.dual <= theirs.primal + 1e-9 * size
        assert not problem.fit_intercept or abs(z.sum()) <= 1e-12 * abs(z).sum()


# ------------------------------------------------------------------ the optimum


@ALL_LOSSES
@INTERCEPT
@pytest.mark.parametrize(
    ("sparse", "dtype"),
    [
        (True, np.float32),
        (False, np.float64),
        pytest.param(True, np.float64, marks=LONG),
        pytest.param(False, np.float32, marks=LONG),
    ],
)
def test_folds_and_classes_are_certified(loss, intercept, sparse, dtype):
    problem = make(loss, sparse=sparse, dtype=dtype, weights=True, fit_intercept=intercept)
    lanes = [Lane(C, k, fold) for C in (0.3, 3.0) for k in (0, 2) for fold in (-1, 0, 2)]
    found, passes = run(problem, lanes)
    assert all(one.converged for one in found.certificates)
    assert passes.min() >= 1
    check_certificates(problem, lanes, found)


@ALL_LOSSES
@INTERCEPT
def test_finds_what_the_reference_finds(loss, intercept):
    problem = make(loss, n=40, d=8, fit_intercept=intercept)
    lane = Lane(1.0)
    found, _ = run(problem, [lane], tol=1e-7)
    y, c = problem.targets(lane), problem.costs(lane)
    a = dual_descent(loss, dense(problem), y, c, intercept=intercept, passes=150, eps=EPS)
    theirs = reference(problem, lane, a if loss == "epsilon_insensitive" else a * y)
    mine = found.certificates[0]
    assert theirs.relative_gap < 1e-5
    assert abs(mine.primal - theirs.primal) <= mine.gap + theirs.gap
    # 1/2 |w - w*|^2 <= gap for each
    away = np.linalg.norm(found.weights[:, 0] - theirs.w)
    assert away <= np.sqrt(2 * mine.gap) + np.sqrt(2 * max(theirs.gap, 0))


@ALL_LOSSES
@pytest.mark.parametrize("lanes", [1, 3])
def test_double_passes_reach_rounding(loss, lanes):
    problem = make(loss, n=40, d=60)  # more columns than rows: curved in all directions
    found, _ = run(problem, [Lane(1.0, k) for k in range(lanes)], tol=1e-12, dtype=np.float64)
    assert max(one.relative_gap for one in found.certificates) <= 1e-12


def test_columns_shifted_and_scaled():
    problem = make("log_loss", sparse=False)
    rng = np.random.default_rng(0)
    shift, scale = rng.normal(size=25), rng.uniform(0.5, 2, 25)
    seen = Problem(problem.rows, LOGISTIC, problem.target, columns=Columns(shift, scale), value=1.0)
    lanes = [Lane(1.0), Lane(1.0, 2)]
    found, _ = run(seen, lanes, tol=1e-6)
    check_certificates(seen, lanes, found, (dense(problem) - shift) * scale)


def test_sparse_columns_scaled():
    problem = make("hinge")
    scale = np.random.default_rng(0).uniform(0.5, 2, 25)
    seen = Problem(problem.rows, HINGE, problem.target, columns=Columns(None, scale), value=0.25)
    lanes = [Lane(1.0), Lane(2.0, 2)]
    found, _ = run(seen, lanes, tol=1e-5)
    plain = Problem(as_rows(dense(problem) * scale), HINGE, problem.target)
    for k, lane in enumerate(lanes):
        theirs = reference(plain, Lane(lane.C * 4, lane.target), found.dual[:, k])
        assert found.certificates[k].dual == pytest.approx(theirs.dual / 4, rel=1e-9)


# ------------------------------------------------------------------ neighbours


@ALL_LOSSES
def test_neighbours_change_no_bit(loss):
    problem = make(loss, weights=True)
    mine = [Lane(1.0, 1, 0), Lane(5.0, 2, -1)]
    others = [Lane(C, k, fold) for C in (0.01, 0.2, 20.0) for k in (0, 1) for fold in (1, 2)]
    few, few_passes = run(problem, mine, tol=1e-5)
    many, many_passes = run(problem, [*others[:7], mine[0], *others[7:], mine[1]], tol=1e-5)
    for k, place in ((0, 7), (1, 13)):
        assert few_passes[k] == many_passes[place]
        np.testing.assert_array_equal(few.weights[:, k], many.weights[:, place])
        np.testing.assert_array_equal(few.dual[:, k], many.dual[:, place])


@pytest.mark.parametrize("seed", [2, 10, 11])
@ALL_LOSSES
def test_waiting_for_neighbours_changes_no_bit(loss, seed):
    # lanes whose certificate misses go on after others that took many more passes
    rng = np.random.default_rng(seed)
    rows = as_rows(random_array((200, 300), density=0.3, rng=rng, format="csr"))
    label = rng.integers(0, 2, 200).astype(np.int32)
    target = rng.normal(size=200) if loss == "epsilon_insensitive" else label
    problem = Problem(rows, LOSSES[loss], target, fold=(np.arange(200) % 2).astype(np.int32))
    lanes = [Lane(C, 1, 1) for C in np.logspace(-2, 1, 16)]
    every, every_passes = run(problem, lanes, tol=1e-4, max_iter=60)
    for few in range(1, 5):
        found, passes = run(problem, lanes[:few], tol=1e-4, max_iter=60)
        np.testing.assert_array_equal(passes, every_passes[:few])
        np.testing.assert_array_equal(found.weights, every.weights[:, :few])


@ALL_LOSSES
def test_alone_as_among_others(loss):
    problem = make(loss)
    lanes = [Lane(C, k) for C in (0.1, 1.0, 10.0) for k in (0, 1, 2)]
    among, _ = run(problem, lanes, max_iter=300)
    for k, lane in enumerate(lanes):
        alone, _ = run(problem, [lane], max_iter=300)
        one, two = alone.certificates[0], among.certificates[k]
        assert abs(one.primal - two.primal) <= max(one.gap, two.gap)
        away = np.linalg.norm(alone.weights[:, 0] - among.weights[:, k])
        assert away <= one.distance + two.distance


def test_a_lane_that_is_done_waits():
    problem = make("hinge")
    _, passes = run(problem, [Lane(1e-3), Lane(10.0)], tol=1e-5)
    assert passes[0] < passes[1]


# ------------------------------------------------------------------ hard cases


@ALL_LOSSES
@INTERCEPT
@pytest.mark.parametrize("exponent", [-6, -3, 3, 6])
def test_any_strength_ends_with_a_true_bound(loss, intercept, exponent):
    problem = make(loss, fit_intercept=intercept)
    lanes = [Lane(10.0**exponent), Lane(3 * 10.0**exponent, 2, 1)]
    found, passes = run(problem, lanes, tol=1e-9, max_iter=40)
    assert passes.max() <= 40
    check_certificates(problem, lanes, found)
    assert all(np.isfinite(one.gap) and one.gap >= 0 for one in found.certificates)


@ALL_LOSSES
@INTERCEPT
@pytest.mark.parametrize("lanes", [1, 2])
def test_rows_of_zeros(loss, intercept, lanes):
    problem = make(loss)
    X = dense(problem)
    X[::3] = 0.0
    seen = Problem(as_rows(csr_array(X)), LOSSES[loss], problem.target, fit_intercept=intercept)
    plan = [Lane(1.0, k) for k in range(lanes)]
    found, _ = run(seen, plan, tol=1e-5)
    check_certificates(seen, plan, found)
    assert all(one.converged for one in found.certificates)


@ALL_LOSSES
def test_only_rows_of_zeros(loss):
    problem = make(loss)
    seen = Problem(as_rows(csr_array(np.zeros((80, 25)))), LOSSES[loss], problem.target)
    found, _ = run(seen, [Lane(1.0)], tol=1e-3, max_iter=50)
    check_certificates(seen, [Lane(1.0)], found)
    assert not found.weights.any()


def test_one_class_alone():
    problem = make("log_loss")
    seen = Problem(problem.rows, LOGISTIC, np.zeros(80, np.int32))
    found, _ = run(seen, [Lane(1.0)], tol=1e-3, max_iter=20)  # nothing is above its 0
    assert np.isfinite(found.certificates[0].gap)


@given(
    seed=st.integers(0, 10_000),
    loss=st.sampled_from(sorted(LOSSES)),
    strength=st.floats(-3, 3),
    intercept=st.booleans(),
    max_iter=st.integers(1, 12),
)
def test_every_stop_is_a_true_bound(seed, loss, strength, intercept, max_iter):
    problem = make(loss, seed, n=30, d=5, fit_intercept=intercept, weights=True)
    lanes = [Lane(10.0**strength, 1, fold) for fold in (-1, 1)]
    found, _ = run(problem, lanes, tol=1e-7, max_iter=max_iter)
    check_certificates(problem, lanes, found)


# ------------------------------------------------------------------ judging, starting, stopping


@ALL_LOSSES
@INTERCEPT
@pytest.mark.parametrize(
    "lanes", [1, pytest.param(2, marks=LONG), 8, pytest.param(13, marks=LONG), 17]
)
def test_judge_takes_any_point(loss, intercept, lanes):
    problem = make(loss, weights=True, fit_intercept=intercept)
    plan = [Lane(10.0 ** (k % 4 - 1), k % 3, k % 4 - 1) for k in range(lanes)]
    z = np.random.default_rng(1).normal(size=(80, lanes)) * 3
    found = certify(problem, plan, z, 1e-3)
    check_certificates(problem, plan, found)
    theirs = [reference(problem, lane, found.dual[:, k]) for k, lane in enumerate(plan)]
    for k in range(lanes):
        assert found.certificates[k].primal <= theirs[k].primal * (1 + 1e-9)  # the best intercept
        assert found.certificates[k].gap == pytest.approx(theirs[k].gap, rel=1e-6)
        np.testing.assert_allclose(found.weights[:, k], theirs[k].w, rtol=1e-9, atol=1e-12)


@ALL_LOSSES
def test_goes_on_from_a_start(loss):
    problem = make(loss, weights=True)
    lanes = [Lane(1.0, 1, fold) for fold in (-1, 0, 1)]
    first, passes = run(problem, lanes, tol=1e-5)
    again, more = run(problem, lanes, tol=1e-5, start=Start(first.dual, first.intercept))
    assert all(one.converged for one in again.certificates)
    assert more.max() < passes.max()


def test_calls_back_and_stops():
    problem = make("log_loss")
    seen = []

    def on_pass(number, gap):
        seen.append((number, gap))
        return number == 3

    found, passes = run(problem, [Lane(100.0)], tol=1e-12, on_pass=on_pass)
    assert passes.tolist() == [3]
    assert [number for number, _ in seen] == [1, 2, 3]
    assert not found.certificates[0].converged


def test_float32_rows_are_not_copied():
    problem = make("hinge", dtype=np.float32)
    assert PassedRows.of(problem, np.dtype(np.float32)).core is problem.core
    assert PassedRows.of(problem, np.dtype(np.float64)).core is not problem.core


@ALL_LOSSES
@INTERCEPT
def test_without_certificates_scores_are_those_of_the_optimum(loss, intercept):
    """The estimate that ends the passes holds: the objective is as close as it was asked to be."""
    problem = make(loss, n=200, weights=True, fit_intercept=intercept)
    lanes = [Lane(C, 1, fold) for C in (0.1, 1.0, 10.0) for fold in (-1, 0)]
    tol = 1e-4
    quick, passes = run(problem, lanes, tol, certified=False)
    exact, _ = run(problem, lanes, 1e-8, 20_000, np.float64)
    assert not quick.certificates
    assert (passes >= 2).all()
    X = dense(problem)
    for k, lane in enumerate(lanes):
        y, c, s = problem.targets(lane), problem.costs(lane), quick.scores[:, k]
        np.testing.assert_allclose(s, X @ quick.weights[:, k] + quick.intercept[k], atol=1e-6)
        used = c > 0
        w = quick.weights[:, k].astype(np.float64)
        primal = problem.loss.total(y[used], s[used], c[used]) + 0.5 * w @ w
        best = exact.certificates[k]
        assert primal <= best.primal + 2 * tol * primal
