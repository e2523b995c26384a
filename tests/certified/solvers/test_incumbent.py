"""What a fit returns is never worse than points that are known, however early it is stopped."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp
from sklearn.exceptions import ConvergenceWarning

from separable import LinearSVM, LinearSVR, LogisticRegression
from separable.certified.preparation import prepare
from separable.certified.problem import Lane
from separable.certified.solvers.options import SolverOptions
from separable.certified.solvers.policy import solver_of
from separable.data.rows import as_rows
from separable.losses.loss import HINGE
from tests.certified.unlike_rows import KINDS, hinge_objective, unlike_rows

pytestmark = pytest.mark.native


def fit(learner, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return learner.fit(X, y)


LOSSES = {
    "hinge": lambda y, s: np.maximum(0, 1 - (2 * y - 1) * s),
    "squared hinge": lambda y, s: np.maximum(0, 1 - (2 * y - 1) * s) ** 2,
    "squared hinge, l1": lambda y, s: np.maximum(0, 1 - (2 * y - 1) * s) ** 2,
    "log loss": lambda y, s: np.logaddexp(0, -(2 * y - 1) * s),
    "log loss, l1": lambda y, s: np.logaddexp(0, -(2 * y - 1) * s),
    "insensitive": lambda y, s: np.maximum(0, np.abs(y - s) - 0.1),
}


def learner_of(name, **parameters):
    if name == "insensitive":
        return LinearSVR(epsilon=0.1, **parameters)
    if "hinge" in name:
        loss, penalty = name.split(",")[0].replace(" ", "_"), "l1" if "l1" in name else "l2"
        return LinearSVM(loss=loss, penalty=penalty, **parameters)
    return LogisticRegression(l1_ratio=float("l1" in name), **parameters)


def objective(name, X, y, w, b, C):
    size = np.abs(w).sum() if "l1" in name else w @ w / 2
    return size + C * LOSSES[name](y, X @ w + b).sum()


def constant(name, X, y, C):
    """Return the objective of weights of 0 and the best constant, by a search along a line."""
    none = np.zeros(X.shape[1])
    found = minimize_scalar(lambda b: objective(name, X, y, none, b, C), bounds=(-9, 9))
    return float(found.fun)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", LOSSES)
def test_a_fit_of_one_pass_is_no_worse_than_a_constant(name, kind):
    X, y = unlike_rows(kind, 700, 1500)
    for C in (1.0, 1000.0):
        model = fit(learner_of(name, C=C, max_iter=1), X, y)
        found = objective(name, X, y, np.ravel(model.coef_), np.ravel(model.intercept_)[0], C)
        assert found <= constant(name, X, y, C) * (1 + 1e-9)
        assert model.certificate_.primal == pytest.approx(found, rel=1e-9)
        assert 0 <= model.certificate_.relative_gap <= 1 + 1e-9


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", LOSSES)
def test_a_warm_start_is_no_worse_than_where_it_starts(name, kind):
    X, y = unlike_rows(kind, 700, 1500)
    model = fit(learner_of(name, C=0.01, max_iter=25, warm_start=True), X, y)
    w, b = np.ravel(model.coef_), np.ravel(model.intercept_)[0]
    model.set_params(C=100.0, max_iter=1)
    fit(model, X, y)
    found = objective(name, X, y, np.ravel(model.coef_), np.ravel(model.intercept_)[0], 100.0)
    assert found <= objective(name, X, y, w, b, 100.0) * (1 + 1e-9)


@pytest.mark.parametrize("l1_ratio", [0.0, 1.0])
def test_classes_together_are_no_worse_than_a_constant(l1_ratio):
    X, _ = unlike_rows("counts", 700, 1500)
    y = np.random.default_rng(1).integers(0, 3, 700)
    model = fit(LogisticRegression(C=1e4, max_iter=1, l1_ratio=l1_ratio), X, y)
    scores = X @ model.coef_.T + model.intercept_
    w = model.coef_
    size = np.abs(w).sum() if l1_ratio else (w**2).sum() / 2
    loss = (logsumexp(scores, axis=1) - scores[np.arange(700), y]).sum()
    p = np.bincount(y) / 700
    assert size + 1e4 * loss <= -1e4 * np.log(p[y]).sum() * (1 + 1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_a_lane_is_no_worse_than_one_of_a_smaller_c_beside_it(kind):
    X, y = unlike_rows(kind, 700, 1500)
    problem = prepare(
        as_rows(X), HINGE, y.astype(np.int32), None, fit_intercept=True, standardize=False
    )
    lanes = [Lane(0.01), Lane(1.0), Lane(100.0)]
    (solved,) = solver_of(problem, SolverOptions(max_iter=2)).solve(lanes)
    found = {}
    for at, place in enumerate(solved.lane_indices):
        one = solved.solution.lane(at)
        found[lanes[place].C] = one.weights[:, 0].astype(float), one.intercept[0]
    for small, large in [(0.01, 1.0), (0.01, 100.0), (1.0, 100.0)]:
        own = hinge_objective(X, y, *found[large], large)
        assert own <= hinge_objective(X, y, *found[small], large) * (1 + 1e-9)
