"""Coordinate descent under penalties with corners: optimal weight by weight, along chains too."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import ElasticNet, LogisticRegression
from sklearn.svm import LinearSVC

from separable.certified.duality.certificate import CertifiedSolution
from separable.certified.preparation import prepare
from separable.certified.problem import Lane
from separable.certified.solvers.options import SolverOptions
from separable.certified.solvers.policy import solver_of
from separable.certified.solvers.solved import Start
from separable.data.rows import as_rows
from separable.losses.loss import LOGISTIC, SQUARED_ERROR, SQUARED_HINGE
from separable.penalties.elastic_net import ElasticNetPenalty
from tests.long_cases import first
from tests.reference.optimality import loss_and_slope
from tests.versions import NEWER_SKLEARN

LOSSES = {"squared_error": SQUARED_ERROR, "log_loss": LOGISTIC, "squared_hinge": SQUARED_HINGE}
KINDS = ("plain", "wide", "sparse", "single", "scaled", "shifted", "twice", "constant")


@dataclass(frozen=True)
class Case:
    """What is learned, as raw as users give it."""

    X: object
    y: np.ndarray
    loss: str
    l1_ratio: float = 1.0
    positive: bool = False
    fit_intercept: bool = True
    standardize: bool = False
    weight: np.ndarray | None = None

    @property
    def dense(self):
        X = self.X.toarray() if sp.issparse(self.X) else self.X
        return np.asarray(X, dtype=np.float64)

    @property
    def problem(self):
        number = self.loss == "squared_error"
        return prepare(
            as_rows(self.X),
            LOSSES[self.loss],
            self.y.astype(np.float64 if number else np.int32),
            self.weight,
            fit_intercept=self.fit_intercept,
            standardize=self.standardize,
            penalty=ElasticNetPenalty(self.l1_ratio, self.positive),
        )

    def solve(self, strengths, solver_options=None, start=None, fold=-1):
        """Return the judgement of all strengths, in their order."""
        lanes = [Lane(float(C), 1, fold) for C in strengths]
        return learned(solver_of(self.problem, solver_options or SolverOptions()), lanes, start)

    @property
    def signs(self):
        return self.y if self.loss == "squared_error" else np.where(self.y == 1, 1.0, -1.0)


def learned(solver, lanes, start=None):
    solved = list(solver.solve(lanes, start))
    order = np.argsort([place for some in solved for place in some.lane_indices])
    whole = CertifiedSolution.side_by_side([some.solution for some in solved])
    return CertifiedSolution.side_by_side([whole.lane(int(k)) for k in order])


def make(seed, loss, kind="plain", **more):
    rng = np.random.default_rng(seed)
    n, d = (20, 60) if kind == "wide" else (int(rng.integers(15, 60)), int(rng.integers(2, 20)))
    X = rng.normal(size=(n, d))
    y = X[:, :3].sum(axis=1) + rng.normal(size=n)
    if loss != "squared_error":
        y = (y > np.median(y)).astype(int)
    if kind == "sparse":
        X = sp.csr_array(np.where(rng.random((n, d)) < 0.4, X, 0.0))
    elif kind == "single":
        X = X.astype(np.float32)
    elif kind == "scaled":
        X = X * 10.0 ** rng.integers(-2, 3, size=d)
    elif kind == "shifted":
        X = X + 1e6
        more["fit_intercept"] = True
    elif kind == "twice":
        X = np.hstack([X, X])
    elif kind == "constant":
        X = np.hstack([X, np.ones((n, 1)), np.zeros((n, 1))])
    return Case(X, y, loss, **more)


def violations(case, strength, found):
    """Return how far each weight is from optimal, as a share of its penalty, in plain NumPy."""
    X = case.dense
    weight = np.ones(len(X)) if case.weight is None else case.weight
    Z = X - np.average(X, axis=0, weights=weight) if case.fit_intercept else X
    if case.standardize:
        away = X - np.average(X, axis=0, weights=weight)
        scale = np.sqrt(np.average(away**2, axis=0, weights=weight))
        constant = scale <= 1e-14 * np.abs(X).max(initial=1.0)
        Z = np.where(constant, 0.0, Z / np.where(constant, 1.0, scale))
    u, s = found.weights[:, 0], found.scores[:, 0]
    gradient = strength * Z.T @ (weight * loss_and_slope(case.loss, case.signs, s)[1])
    p = gradient + (1 - case.l1_ratio) * u
    present = np.abs(p + case.l1_ratio * np.sign(u))
    at_zero = np.maximum(0.0, (-p if case.positive else np.abs(p)) - case.l1_ratio)
    return np.where(u != 0, present, at_zero)


# ------------------------------------------------------------------ optimality


@settings(max_examples=80, deadline=None)
@given(
    st.integers(0, 10_000),
    st.sampled_from(sorted(LOSSES)),
    st.sampled_from(KINDS),
    st.sampled_from([1.0, 0.9, 0.3]),
    st.tuples(st.booleans(), st.booleans(), st.booleans(), st.booleans()),
    st.floats(-3, 0.5),
)
def test_every_weight_is_optimal(seed, loss, kind, l1_ratio, switches, power):
    positive, fit_intercept, standardize, weighted = switches
    case = make(
        seed,
        loss,
        kind,
        l1_ratio=l1_ratio,
        positive=positive,
        fit_intercept=fit_intercept,
        standardize=standardize,
    )
    if weighted:
        weight = np.random.default_rng(seed).integers(1, 4, len(case.y)).astype(float)
        case = replace(case, weight=weight)
    strength = 10.0**power
    found = case.solve([strength])
    assert found.certificates[0].relative_gap < 1e-8
    assert violations(case, strength, found).max() < 1e-4
    if positive:
        assert found.weights.min() >= 0


@pytest.mark.parametrize("loss", sorted(LOSSES))
@pytest.mark.parametrize("kind", ["plain", "wide", "sparse", "twice"])
def test_small_problems_are_solved_to_rounding(loss, kind):
    found = make(3, loss, kind).solve([0.05, 0.3])
    assert max(one.relative_gap for one in found.certificates) < 1e-11


@pytest.mark.parametrize("C", [6, 30])
@pytest.mark.parametrize("shape", first(2, [(60, 300), (120, 300), (300, 300)]))
def test_squared_hinge_of_separable_rows(shape, C):
    # fewer rows count than weights do: curvatures of 0 must not lead Newton's method astray
    rng = np.random.default_rng(shape[0])
    n, d = shape
    X = rng.normal(size=shape) @ (np.eye(d) + 1.5 * rng.normal(size=(d, d)) / np.sqrt(d))
    y = (X[:, :5].sum(axis=1) + rng.normal(size=n) > 0).astype(int)
    case = Case(X, y, "squared_hinge")
    found = case.solve([C], SolverOptions(max_iter=5000))
    assert found.certificates[0].relative_gap < 1e-6
    assert violations(case, C, found).max() < 1e-3


@pytest.mark.parametrize("loss", sorted(LOSSES))
@pytest.mark.parametrize("C", [0.1, 1.0])
def test_large_common_part_of_columns_without_an_intercept(loss, C):
    case = make(2, loss)
    shifted = replace(case, X=case.X + 1e5, fit_intercept=False)
    assert shifted.solve([C]).certificates[0].relative_gap < 1e-4


@pytest.mark.parametrize("loss", sorted(LOSSES))
@pytest.mark.parametrize("kind", KINDS)
def test_below_the_first_strength_weights_are_0(loss, kind):
    found = make(1, loss, kind).solve([1e-13])
    assert not found.weights.any()
    assert found.certificates[0].relative_gap < 1e-12


def test_row_of_weight_2_is_two_rows():
    case = make(5, "log_loss")
    weight = np.where(np.arange(len(case.y)) < 4, 2.0, 1.0)
    twice = replace(case, X=np.vstack([case.X, case.X[:4]]), y=np.concatenate([case.y, case.y[:4]]))
    one, two = replace(case, weight=weight).solve([0.2]), twice.solve([0.2])
    np.testing.assert_allclose(one.weights, two.weights, atol=1e-7)
    assert one.certificates[0].primal == pytest.approx(two.certificates[0].primal, rel=1e-12)


@pytest.mark.parametrize("power", [-100, 100])
def test_common_scale_of_columns_does_not_matter(power):
    # |w| / unit with C / ... : w of columns 10^p times as large is 10^p times as small, and with
    # l1 alone so is C
    case = make(7, "squared_error")
    found = case.solve([0.1])
    other = replace(case, X=case.X * 10.0**power).solve([0.1 / 10.0**power])
    columns = replace(case, X=case.X * 10.0**power).problem.columns
    np.testing.assert_allclose(
        columns.raw(other.weights, other.intercept)[0] * 10.0**power, found.weights, atol=1e-9
    )
    assert other.certificates[0].relative_gap < 1e-10


# ------------------------------------------------------------------ against scikit-learn


@pytest.mark.parametrize("l1_ratio", [1.0, 0.5])
@pytest.mark.parametrize("positive", [False, True])
def test_squared_error_is_elastic_net(l1_ratio, positive):
    case = make(11, "squared_error", l1_ratio=l1_ratio, positive=positive)
    alpha = 0.1
    theirs = ElasticNet(
        alpha=alpha, l1_ratio=l1_ratio, positive=positive, tol=1e-14, max_iter=100_000
    ).fit(case.X, case.y)
    found = case.solve([1 / (alpha * len(case.y))])
    w, b = case.problem.columns.raw(found.weights, found.intercept)
    np.testing.assert_allclose(w[:, 0], theirs.coef_, atol=1e-7)
    assert b[0] == pytest.approx(theirs.intercept_, abs=1e-7)


@NEWER_SKLEARN
def test_log_loss_is_saga():
    case = make(12, "log_loss", l1_ratio=0.5)
    theirs = LogisticRegression(
        solver="saga", l1_ratio=0.5, C=0.7, tol=1e-12, max_iter=100_000
    ).fit(case.X, case.y)
    found = case.solve([0.7])
    w, b = case.problem.columns.raw(found.weights, found.intercept)
    np.testing.assert_allclose(w[:, 0], theirs.coef_[0], atol=1e-6)
    assert b[0] == pytest.approx(theirs.intercept_[0], abs=1e-6)


def test_squared_hinge_is_linear_svc():
    case = make(13, "squared_hinge", fit_intercept=False)
    theirs = LinearSVC(
        penalty="l1", dual=False, fit_intercept=False, C=0.3, tol=1e-8, random_state=0
    ).fit(case.X, case.y)
    np.testing.assert_allclose(case.solve([0.3]).weights[:, 0], theirs.coef_[0], atol=1e-6)


# ------------------------------------------------------------------ chains


@pytest.mark.parametrize("loss", sorted(LOSSES))
def test_chain_is_each_strength_alone(loss):
    case = make(21, loss, "wide")
    strengths = np.geomspace(0.01, 1, 12)
    chain = case.solve(strengths[::-1])  # the order asked for is kept
    for k, strength in enumerate(strengths[::-1]):
        alone = case.solve([strength]).certificates[0]
        both = alone.gap + chain.certificates[k].gap
        assert abs(chain.certificates[k].primal - alone.primal) <= both + 1e-12 * alone.primal


def test_threads_change_no_bit():
    case = make(22, "log_loss")
    problem = replace(case.problem, fold=(np.arange(len(case.y)) % 3).astype(np.int32))
    lanes = [Lane(C, 1, fold) for fold in (-1, 0, 1, 2) for C in (0.1, 0.5, 1.0)]
    one = learned(solver_of(problem, SolverOptions(n_jobs=1)), lanes)
    two = learned(solver_of(problem, SolverOptions(n_jobs=2)), lanes)
    np.testing.assert_array_equal(one.weights, two.weights)
    np.testing.assert_array_equal(one.scores, two.scores)


def test_fold_is_the_rows_left():
    case = make(23, "squared_hinge")
    fold = (np.arange(len(case.y)) % 3).astype(np.int32)
    problem = replace(case.problem, fold=fold)
    found = learned(solver_of(problem, SolverOptions()), [Lane(0.2, 1, 1)])
    rest = replace(case, X=case.X[fold != 1], y=case.y[fold != 1]).solve([0.2])
    assert found.certificates[0].primal == pytest.approx(rest.certificates[0].primal, rel=1e-10)
    assert not found.dual[fold == 1].any()


def test_warm_start_needs_no_sweeps():
    case = make(24, "log_loss", l1_ratio=0.8)
    problem, lane = case.problem, Lane(0.4)
    solver = solver_of(problem, SolverOptions())
    cold = next(solver.solve([lane]))
    start = Start(cold.solution.dual, cold.solution.intercept, cold.solution.weights)
    for one in (start, replace(start, weights=None)):
        warm = next(solver.solve([lane], one))
        assert warm.passes[0] <= 2 < cold.passes[0]
        np.testing.assert_allclose(warm.solution.weights, cold.solution.weights, atol=1e-7)


# ------------------------------------------------------------------ ends


def test_few_sweeps_leave_an_honest_gap():
    case = make(31, "log_loss", "wide")
    found = case.solve([5.0], SolverOptions(max_iter=1)).certificates[0]
    best = case.solve([5.0]).certificates[0]
    assert not found.converged
    assert best.primal <= found.primal <= best.primal + found.gap


def test_callback_sees_gaps_and_ends_the_work():
    seen = []

    def callback(number, gap):
        seen.append((number, gap))
        return len(seen) == 2

    case = make(32, "squared_hinge", "wide")
    case.solve([1.0, 2.0, 4.0], SolverOptions(callback=callback))
    assert len(seen) == 2
    assert all(gap > 0 for _, gap in seen)


def test_error_of_a_callback_is_raised():
    def callback(number, gap):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        make(33, "log_loss").solve([1.0], SolverOptions(callback=callback))


def test_no_penalty_is_refused():
    with pytest.raises(ValueError, match=r"C=inf, no penalty, has no l1 part.*Choose a finite C"):
        make(34, "log_loss").solve([np.inf])
