"""A certificate is a true bound: recomputed in NumPy from what is public, on problems of all kinds.

Weak duality is the proof: any feasible dual point is below any weights. So a dual point that is
checked to be feasible here, and whose value is computed here, needs no solver to be believed.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression as Logistic
from sklearn.svm import SVC, SVR, LinearSVC

from separable.certified.solvers import policy
from separable.certified.solvers.options import NewtonOptions
from tests.certified.engine_problems import use_options, use_solvers
from tests.certified.problems import LOSSES, Long, dual_rows, least_and_most, losses, make
from tests.long_cases import first

pytestmark = pytest.mark.native


def penalties(made, X, weight):
    """Return what the square of each raw weight costs: 1, or the variance of its column."""
    if not made.learner.standardize:
        return np.ones(X.shape[1])
    mean = np.average(X, axis=0, weights=weight)
    return np.average((X - mean) ** 2, axis=0, weights=weight)


def check(seed, loss=None, *, converges=True):
    made = make(seed, loss)
    learner = made.learner
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # asked for below, with its numbers
        learner.fit(made.X, made.y, made.weight)
    counted = np.ones(len(made.y), bool) if made.weight is None else made.weight > 0
    weight = np.ones(len(made.y)) if made.weight is None else made.weight
    X, weight = made.dense[counted].astype(Long), weight[counted].astype(Long)
    epsilon = getattr(learner, "epsilon", 0.0)
    p, c = penalties(made, X, weight), learner.C * weight
    W, B = np.atleast_2d(learner.coef_), np.atleast_1d(learner.intercept_)
    assert len(learner.certificates_) == len(made.targets())
    for k, one in enumerate(learner.certificates_):
        assert one.converged or not converges
        assert np.isfinite([one.primal, one.dual, one.gap]).all()
        y = made.targets()[k][counted].astype(Long)
        w, b = W[k].astype(Long), Long(B[k])
        # the objective at the weights of the model
        s = X @ w + b
        primal = p @ w**2 / 2 + c @ losses(made.loss, y, s, epsilon)
        size = float(np.abs(X) @ np.abs(w) @ c + np.abs(b) * c.sum())  # rounding of w and b
        power = 1 + 2 * np.abs(1 - y * s).max() * (made.loss == "squared_hinge")
        room = 1e-15 * size * float(power) + 1e-11 * one.primal
        assert one.primal == pytest.approx(float(primal), abs=room, rel=0), "primal"
        # a feasible dual point
        z = learner.dual_coef_[k].astype(Long)
        assert (z[~counted] == 0).all()
        z = z[counted]
        low, high = least_and_most(made.loss, y, c)
        slack = 1e-14 * c
        assert ((low - slack <= z) & (z <= high + slack)).all(), "box"
        if learner.fit_intercept:
            assert abs(z.sum()) <= 1e-14 * np.abs(z).sum(), "sum"
        # its value, which no weights are below
        v = (X - learner.fit_intercept * X.mean(axis=0)).T @ z
        norms = np.divide(v**2, p, out=np.zeros_like(v), where=p > 0)
        dual = dual_rows(made.loss, y, c, z, epsilon).sum() - norms.sum() / 2
        scale = float(np.abs(z) @ np.abs(y) + norms.sum())
        # the dual claimed is at most that value, and below it by a bound on the rounding of scores
        rounding = 2.0**-50 * float(c.sum()) * max(1.0, float(np.abs(s).max()))
        lost = 1e-12 * (scale + abs(float(dual))) + 1e-300
        assert -lost - rounding <= one.dual - float(dual) <= lost, "dual"
        # the gap is between them, with the same bound
        assert one.gap >= float(primal - dual) - room - 1e-12 * scale
        assert one.gap <= one.primal - one.dual + 1e-12 * (scale + one.primal) + rounding
    return made


@pytest.mark.parametrize("seed", first(24, range(80)))
def test_certificates_are_true_bounds(seed):
    check(seed)


@pytest.mark.parametrize("seed", first(12, range(200, 240)))
def test_those_of_engines_for_many_columns_too(seed, monkeypatch):
    use_options(monkeypatch, newton=NewtonOptions(max_gram_columns=0))
    use_solvers(monkeypatch, "dual_cd", "newton")
    piecewise = policy.Rule(
        "piecewise", "any", 0, ("dual_cd", "semismooth_newton", "interior_point"), 60
    )
    monkeypatch.setattr(policy, "POLICY", (piecewise, *policy.POLICY))
    engine = check(seed, converges=False).learner.evidence_["engine"]
    assert set(np.atleast_1d(engine)) <= {
        "descent",
        "lbfgs",
        "newton-cg",
        "semismooth-newton",
        "interior-point",
    }


@pytest.mark.long
@pytest.mark.parametrize("first", range(1000, 4000, 100))
def test_thousands_of_certificates_are_true_bounds(first):
    for seed in range(first, first + 100):
        check(seed)


def objective(made, w, b):
    """Return the objective of the first model at weights that someone else found."""
    weight = np.ones(len(made.y)) if made.weight is None else made.weight
    X, y = made.dense, made.targets()[0]
    p = penalties(made, X[weight > 0], weight[weight > 0])
    rows = losses(made.loss, y, X @ w + b, getattr(made.learner, "epsilon", 0.0))
    return p @ w**2 / 2 + made.learner.C * weight @ rows


def reference(made):
    """Return weights that scikit-learn finds for the first model of a problem."""
    ours, X, y = made.learner, made.dense, made.targets()[0]
    common = {"C": ours.C, "tol": 1e-10, "max_iter": 20_000}
    if made.loss == "hinge" and ours.fit_intercept:
        found = SVC(kernel="linear", **common)
    elif made.loss == "insensitive":
        if not ours.fit_intercept:
            return np.zeros(X.shape[1]), 0.0
        found = SVR(kernel="linear", epsilon=ours.epsilon, **common)
    elif made.loss == "logistic":
        found = Logistic(solver="newton-cholesky", fit_intercept=ours.fit_intercept, **common)
    else:
        # b is penalised there, so a large constant column stands for it
        found = LinearSVC(
            loss=made.loss, dual=True, fit_intercept=ours.fit_intercept, intercept_scaling=100.0,
            **common,
        )  # fmt: skip
    p = np.sqrt(penalties(made, X, made.weight))
    unit = np.divide(1.0, p, out=np.zeros_like(p), where=p > 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found.fit(X * unit, y, sample_weight=made.weight)
    return found.coef_.ravel() * unit, float(np.ravel(found.intercept_)[0])


@pytest.mark.parametrize("seed", first(12, range(40)))
def test_nobody_is_below_the_dual(seed):
    made = check(seed + 100)
    one = made.learner.certificates_[0]
    other = objective(made, *reference(made))
    assert one.dual <= other * (1 + 1e-9)
    assert one.primal <= other * (1 + 1e-9) + one.gap


@pytest.mark.parametrize("loss", LOSSES)
def test_the_weights_are_within_the_distance_of_the_optimum(loss):
    from sklearn.base import clone

    for seed in range(300, 305):
        made = make(seed, loss)
        loose = clone(made.learner).set_params(max_iter=2, standardize=False)
        tight = clone(loose).set_params(tol=1e-12, max_iter=1000)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            loose.fit(made.X, made.y, made.weight)
            tight.fit(made.X, made.y, made.weight)
        for k, (rough, fine) in enumerate(
            zip(loose.certificates_, tight.certificates_, strict=True)
        ):
            away = np.atleast_2d(loose.coef_)[k] - np.atleast_2d(tight.coef_)[k]
            assert np.linalg.norm(away) <= (rough.distance + fine.distance) * (1 + 1e-9)
