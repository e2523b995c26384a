"""Problems for the engines, and what every one of their answers has to satisfy."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from separable.certified import problem as problem_module
from separable.certified.estimators.base import CertifiedEstimator
from separable.certified.problem import Columns, Lane, Problem
from separable.certified.solvers import policy
from separable.certified.solvers.interior_point.piecewise_linear_interior import (
    InteriorPointSolver,
)
from separable.certified.solvers.newton import NewtonSolver
from separable.certified.solvers.options import SolverOptions
from separable.certified.solvers.solved import Goal, Start
from separable.data.rows import as_rows
from separable.losses.loss import HINGE, LOGISTIC, SQUARED_HINGE, epsilon_insensitive
from tests.reference.objective import dual, is_feasible, primal

LOSSES = {loss.name: loss for loss in (LOGISTIC, SQUARED_HINGE, HINGE, epsilon_insensitive(0.1))}


def data(seed, n=40, d=4, *, scale=1.0, shift=0.0, noise=1.0, regression=False):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    score = X @ rng.normal(size=d) + noise * rng.normal(size=n)
    X = X * scale + shift
    if regression:
        return X, score
    y = np.where(score > np.median(score), 1.0, -1.0)
    return X, y


def problem(name, X, y, *, intercept=True, sparse=False, centred=False, weight=None, fold=None):
    target = y if name == "epsilon_insensitive" else (y > 0).astype(np.int32)
    largest = np.abs(X).max()
    power = 2.0 ** -np.round(np.log2(largest)) if largest > 1e6 or largest < 1e-6 else 1.0
    columns = Columns(
        shift=X.mean(axis=0) if centred else None,
        scale=None if power == 1 else np.full(X.shape[1], power),
    )
    rows = as_rows(csr_array(X) if sparse else np.ascontiguousarray(X))
    return Problem(rows, LOSSES[name], target, weight, fold, intercept, columns, power**2)


def check(name, X, y, made, lane, solution, *, tol):
    """Recompute the certificate from raw arrays; return weights and intercept."""
    (certificate,) = solution.certificates
    c = np.full(len(y), lane.C)
    if made.weight is not None:
        c = c * made.weight
    used = np.ones(len(y), bool) if made.fold is None else made.fold != lane.fold
    w, b = made.columns.raw(solution.weights, solution.intercept)
    w, b = w[:, 0], b[0]
    X, y, c, z = X[used], y[used], c[used], solution.dual[used, 0] * made.value
    assert not solution.dual[~used].any()
    if made.columns.scale is not None:
        z = z * 1.0
    assert is_feasible(name, y, c * (1 + 1e-12), z, intercept=made.fit_intercept, slack=1e-9)
    objective = primal(name, X, y, c, w, b)
    size = np.abs(X).max() * np.abs(w).sum() + abs(b)  # what scores lose to shifted columns
    lost = 1e-9 * objective + 1e-15 * size * c.sum()
    assert abs(certificate.primal - objective) <= lost
    centred = X - X.mean(axis=0) if made.fit_intercept else X
    lowest = dual(name, centred, y, c, np.clip(z, -c, c) if name != "squared_hinge" else z)
    assert abs(certificate.dual - lowest) <= lost + 1e-6 * certificate.gap
    assert certificate.gap >= 0
    assert certificate.gap >= objective - lowest - lost
    assert certificate.relative_gap <= tol
    return w, b


def lane(strength, fold=-1):
    return Lane(strength, fold=fold)


def run(made, lane, *, truncated=False, start=None, on_step=None, newton=None, **goal):
    """Solve one lane by Newton's method or the interior point; return the solution and steps."""
    solver = InteriorPointSolver(made)
    if made.loss.is_smooth:
        solver = NewtonSolver(made, newton, is_truncated=truncated)
    first = None
    if start is not None:
        first = Start(np.zeros((made.rows.n_rows, start.shape[1])), np.zeros(1), start)
    result = solver.solve([lane], first, Goal(**goal), on_step or (lambda _, __: False))
    return result.solution, int(result.passes[0])


def use_options(monkeypatch, **options):
    """Let learners use these options of solvers."""
    monkeypatch.setattr(CertifiedEstimator, "_default_options", SolverOptions(**options))


def use_solvers(monkeypatch, *solvers, passes=60):
    """Use these solvers of l2-penalised problems whatever the policy says, also for tiny ones."""
    losses = ("logistic", "smooth", "piecewise")
    rules = tuple(policy.Rule(loss, "any", 0, solvers, passes) for loss in losses)
    monkeypatch.setattr(policy, "POLICY", rules)
    monkeypatch.setattr(problem_module, "TINY", 0)
