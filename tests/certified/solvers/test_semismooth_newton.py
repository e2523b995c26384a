"""Every solver of piecewise linear losses, forced on random problems.

The oracle is weak duality on public numbers: the primal of the published weights and the value of
the published dual point are computed here again, from the rows as given. scikit-learn's SVC and SVR
(LIBSVM, the same objective) are a second one.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.svm import SVC, SVR

from separable.certified.preparation import prepare
from separable.certified.problem import Lane
from separable.certified.solvers.options import SolverOptions
from separable.certified.solvers.policy import rule_of, solver_of
from separable.data.rows import as_rows
from separable.losses.loss import HINGE, epsilon_insensitive
from tests.long_cases import first

EPSILON = 0.1


@dataclass(frozen=True)
class Case:
    """A random problem: rows, target (+-1 or numbers), weights, C."""

    X: Any
    y: np.ndarray
    weight: np.ndarray | None
    C: float
    fit_intercept: bool
    is_regression: bool

    def problem(self):
        target = self.y if self.is_regression else (self.y > 0).astype(np.int32)
        loss = epsilon_insensitive(EPSILON) if self.is_regression else HINGE
        return prepare(
            as_rows(self.X), loss, target, self.weight,
            fit_intercept=self.fit_intercept, standardize=False,
        )  # fmt: skip

    @property
    def costs(self) -> np.ndarray:
        return self.C * (np.ones(len(self.y)) if self.weight is None else self.weight)

    def primal(self, w, b) -> float:
        r = self.y - (self.X @ w + b)
        loss = np.maximum(np.abs(r) - EPSILON, 0) if self.is_regression else self.y * r
        return 0.5 * w @ w + float(self.costs @ np.maximum(loss, 0))

    def dual(self, z) -> float:
        """Return the value of a dual point, which has to be feasible."""
        c, slack = self.costs, 1e-9
        least, most = (
            (-c, c)
            if self.is_regression
            else (np.minimum(0, self.y * c),) * 1 + (np.maximum(0, self.y * c),)
        )
        assert (z >= least - slack * c).all()
        assert (z <= most + slack * c).all()
        if self.fit_intercept:
            assert abs(z.sum()) <= 1e-9 * c.sum()
        v = self.X.T @ z
        band = EPSILON * np.abs(z).sum() if self.is_regression else 0.0
        return float(self.y @ z - band - 0.5 * v @ v)


def make_case(seed: int) -> Case:
    """Return a problem of any kind: wide, sparse, separable, with twins, constants, any scale."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(6, 90)), int(rng.integers(1, 14))
    if seed % 7 == 0:
        n, d = int(rng.integers(4, 20)), int(rng.integers(20, 60))
    X = rng.normal(size=(n, d))
    if seed % 3 == 0:
        X *= 10.0 ** rng.uniform(-2, 2, d)
    if seed % 4 == 0:
        X += rng.normal(size=d) * 5
    if seed % 5 == 0 and d > 2:
        X[:, 1] = X[:, 0]
        X[:, 2] = 3.0
    if seed % 6 == 0:
        X[n // 2 :] = X[: n - n // 2]  # the same rows again
    score = (X - X.mean(axis=0)) @ (rng.normal(size=d) / (1e-9 + X.std(axis=0)))
    is_regression = seed % 2 == 1
    noise = 0.0 if seed % 8 in (2, 3) else 1.0
    y = score + noise * rng.normal(size=n) * (1 + np.abs(score).mean())
    if not is_regression:
        y = np.where(y > np.quantile(y, rng.choice([0.1, 0.5])), 1.0, -1.0)
        y[:2] = 1.0, -1.0
    weight = rng.integers(1, 4, n).astype(float) if seed % 5 == 1 else None
    if seed % 11 == 0:
        X = sp.csr_array(np.where(rng.random((n, d)) < 0.3, X, 0.0))
    return Case(X, y, weight, float(10 ** rng.uniform(-4, 4)), seed % 9 != 0, is_regression)


def solve(case: Case, **options):
    problem = case.problem()
    (solved,) = solver_of(problem, SolverOptions(**options)).solve([Lane(case.C)])
    solution = solved.solution
    w, b = problem.columns.raw(solution.weights, solution.intercept)
    return solution, w[:, 0], float(b[0]), solution.dual[:, 0] * problem.value, solved.solvers[0]


def check(case: Case, tol: float, *, converges: bool = True, **options) -> float:
    """Check the certificate of a solver by weak duality; return the primal."""
    solution, w, b, z, _ = solve(case, tol=tol, **options)
    claimed = solution.certificates[0]
    primal, dual = case.primal(w, b), case.dual(z)
    rounding = 1e-9 * (primal + float(np.abs(case.y * z).sum())) + 1e-150
    assert claimed.primal == pytest.approx(primal, rel=1e-7, abs=rounding)
    assert primal - dual <= claimed.gap + rounding
    if converges:
        assert claimed.converged
        assert primal - dual <= tol * primal + rounding
    return primal


@pytest.mark.parametrize("seed", first(60, range(300)))
@pytest.mark.parametrize("force", ["semismooth_newton", "interior_point", "dual_cd", None])
def test_certificates_of_every_solver_are_true(seed, force):
    case = make_case(seed)
    converges = force in ("interior_point", None)  # others may end early; their gap says so
    most = 300 if force == "dual_cd" else 1000
    check(case, 1e-6, converges=converges, force=force, max_iter=most)


def test_newton_steps_seldom_need_another_solver():
    reached = [
        solve(make_case(seed), tol=1e-6, force="semismooth_newton")[0].certificates[0].converged
        for seed in range(60)
    ]
    assert np.mean(reached) >= 0.95


@pytest.mark.parametrize("seed", first(20, range(0, 300, 3)))
def test_objective_is_that_of_libsvm(seed):
    case = make_case(seed)
    case = Case(case.X, case.y, case.weight, min(case.C, 1.0), True, case.is_regression)
    kind = SVR(epsilon=EPSILON) if case.is_regression else SVC()
    peer = kind.set_params(kernel="linear", C=case.C, tol=1e-6, max_iter=2_000_000)
    with warnings.catch_warnings():  # where it ends early its objective is a bound all the same
        warnings.simplefilter("ignore")
        peer.fit(sp.csr_matrix(case.X) if sp.issparse(case.X) else case.X, case.y, case.weight)
    coef = peer.coef_.toarray() if sp.issparse(peer.coef_) else peer.coef_
    theirs = case.primal(np.asarray(coef).ravel(), float(peer.intercept_[0]))
    ours = check(case, 1e-8)
    assert ours <= theirs * (1 + 1e-7) + 1e-12


@pytest.mark.parametrize("tol", [1e-3, 1e-6, 1e-9])
def test_tol_is_honoured(tol):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 12))
    y = np.where(X[:, 0] + rng.normal(size=3000) > 0, 1.0, -1.0)
    case = Case(X, y, None, 1.0, True, False)
    solution, *_, engine = solve(case, tol=tol)
    assert engine == "semismooth-newton"
    gap = solution.certificates[0].relative_gap
    assert gap <= tol
    if tol == 1e-3:
        assert gap > 1e-12  # it stops early


def test_small_problems_go_on_to_rounding_at_the_default():
    case = make_case(2)
    assert solve(case)[0].certificates[0].relative_gap <= 1e-12


def test_callback_stops():
    case, seen = make_case(8), []
    solve(case, callback=lambda step, gap: seen.append((step, gap)) or len(seen) == 3)
    assert [step for step, _ in seen] == [1, 2, 3]


def test_policy():
    few, many = np.eye(30), sp.eye_array(2100, format="csr")
    y = np.resize([1.0, -1.0], 2100)
    assert rule_of(Case(few, y[:30], None, 1.0, True, False).problem()).solvers[0] == (
        "semismooth_newton"
    )
    wide = Case(many, y, None, 1.0, True, False).problem()
    assert rule_of(wide).solvers[0] == "dual_cd"
    assert rule_of(wide, "interior_point").solvers == ("interior_point",)


@pytest.mark.parametrize(("C", "solver"), [(0.3, "semismooth-newton"), (100.0, "interior-point")])
def test_the_gap_that_passes_leave_chooses_the_next_solver(C, solver):
    rng = np.random.default_rng(0)
    X = sp.random_array((1500, 320), density=0.03, rng=rng, format="csr")
    score = X @ rng.normal(size=320)
    y = np.where(score - np.median(score) + 0.3 * rng.normal(size=1500) > 0, 1.0, -1.0)
    driver = solver_of(Case(X, y, None, C, True, False).problem(), SolverOptions())
    assert driver.order[0] == "dual_cd"
    (solved,) = driver.solve([Lane(C)])
    assert solved.solution.certificates[0].converged
    assert solved.solvers == [solver]


def test_passes_go_on_while_they_cost_less_than_a_factor():
    y = np.resize([1.0, -1.0], 2100)
    wide = Case(sp.eye_array(2100, format="csr"), y, None, 1.0, True, False).problem()
    rule = rule_of(wide)
    assert rule.passes_for(wide) == rule.max_passes > rule.passes
    full = sp.csr_array(np.ones((400, 320)))
    narrow = Case(full, y[:400], None, 1.0, True, False).problem()
    assert rule.passes_for(narrow) == rule.passes
    one_long = sp.eye_array(2100).tocsr()
    one_long.data[0] = 100.0
    uneven = Case(one_long, y, None, 1.0, True, False).problem()
    assert rule.passes_for(uneven) == rule.passes
