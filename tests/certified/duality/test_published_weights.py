"""Certificates hold for the published numbers: coef_ and intercept_ on the rows as given.

The oracle has no rounding: objectives in fractions, logarithms with 60 digits, and bounds on the
optimum from weak duality (`tests/reference/exact_objective.py`).
"""

from __future__ import annotations

import warnings
from fractions import Fraction

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from separable import (
    GroupLasso,
    GroupLassoClassifier,
    LassoCV,
    LinearSVM,
    LinearSVR,
    LogisticRegression,
)
from separable.select import path
from tests.certified.exact_cases import KINDS, SHIFTS, Fit, fit, objective_of
from tests.reference.exact_objective import Objective, fractions

pytestmark = pytest.mark.native


def check(made: Fit) -> None:
    primal, lowest, highest = made.bounds()
    claimed = made.claimed
    assert lowest <= highest <= primal
    assert claimed.primal == pytest.approx(float(primal), rel=1e-6)
    assert claimed.gap * (1 + 1e-12) >= float(primal - highest), "the gap claimed is false"
    proved = claimed.gap * (1 + 1e-6) + 1e-14 * claimed.primal
    assert proved >= float(primal - lowest), "dual_coef_ does not prove the gap claimed"
    if claimed.converged:
        assert float((primal - lowest) / primal) <= claimed.tol, "converged is false"


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("shift", SHIFTS)
@pytest.mark.parametrize("kind", KINDS)
def test_claims_are_true(kind, shift, seed):
    check(fit(seed, kind, shift, n=16))


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 130))
def test_many_claims_are_true(seed):
    for kind in KINDS:
        for shift in SHIFTS:
            check(fit(seed, kind, shift))


@pytest.mark.parametrize(("seed", "shift"), [(4, 1e9), (3, 1e12)])
def test_weights_that_are_kept_are_those_that_were_certified(seed, shift):
    """Later weights of a solver that goes on are not put under an earlier certificate."""
    check(fit(seed, "enet", shift))


def far(shift, n=40, d=8):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    y = (X[:, 0] + rng.normal(size=n) > 0).astype(int)
    return X + shift, y


@pytest.mark.parametrize("shift", [1e6, 1e9])
def test_an_intercept_is_held_more_finely_than_its_last_bit(shift):
    """A hinge at C = 1000: one bit of the intercept at 1e9 is worth 5e-4 of the objective."""
    X, y = far(shift)
    model = LinearSVM(C=1000).fit(X, y)
    made = Fit(model, objective_of(model, "hinge", X, y, None), "hinge", shift)
    check(made)
    assert model.certificate_.converged
    assert model.certificate_.relative_gap < 1e-6


def test_a_warning_names_the_column_and_a_remedy_that_works():
    X, y = far(0.0)
    X[:, 3] += 1e15
    model = LinearSVM(C=1000)
    with pytest.warns(ConvergenceWarning, match=r"column 3 has the mean 1e\+15 and lies within"):
        model.fit(X, y)
    assert not model.certificate_.converged
    check(Fit(model, objective_of(model, "hinge", X, y, None), "hinge", 1e15))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scaled = make_pipeline(StandardScaler(), LinearSVM(C=1000)).fit(X, y)
        assert scaled[-1].certificate_.converged
        centred = LinearSVM(C=1000).fit(X - X.mean(axis=0), y)
        assert centred.certificate_.converged


def test_a_warning_names_the_target():
    X, y = far(0.0)
    model = LinearSVR(C=1000, epsilon=0.0)
    with pytest.warns(ConvergenceWarning, match=r"y has the mean 1e\+15"):
        model.fit(X, X[:, 0] + 0.1 * y + 1e15)


@pytest.mark.parametrize("epsilon", [0.0, 0.1])
def test_the_primal_keeps_its_digits_beside_a_far_target(epsilon):
    X, y = far(0.0, n=24, d=2)
    y = X[:, 0] + 0.1 * y + 1e12
    model = LinearSVR(C=0.01, epsilon=epsilon)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y)
    made = Fit(model, objective_of(model, "insensitive", X, y, None), "insensitive", 1e12)
    check(made)
    assert model.certificate_.primal == pytest.approx(float(made.bounds()[0]), rel=1e-12)


def test_names_of_columns():
    pandas = pytest.importorskip("pandas")
    X, y = far(0.0, d=2)
    table = pandas.DataFrame(X + np.array([1e15, 0.0]), columns=["time", "size"])
    with pytest.warns(ConvergenceWarning, match="column 'time' has the mean"):
        LinearSVM(C=1000, tol=1e-12).fit(table, y)


def test_a_path_too():
    X, y = far(1e9)
    found = path(LinearSVM(), X, y, [0.1, 10.0, 1000.0])
    for k, C in enumerate((0.1, 10.0, 1000.0)):
        objective = objective_of(LinearSVM(C=C), "hinge", X, y, None)
        (claimed,) = found.certificates[k]
        w, b = fractions(found.coefs[k, 0]), Fraction(float(found.intercepts[k, 0]))
        primal = objective.primal(w, b)
        best = objective.primal(w, objective.best_intercept(w))
        assert claimed.primal == pytest.approx(float(primal), rel=1e-6)
        assert claimed.gap >= float(primal - best)


@pytest.mark.parametrize("shift", SHIFTS)
@pytest.mark.parametrize("kind", ["lasso", "squares", "labels"])
def test_what_an_intercept_loses_is_in_the_gap(kind, shift):
    """Of penalties over blocks, and of fits from sums: only the best intercept is compared."""
    X, y = far(0.0, n=24, d=3)
    X, number = X + shift, X[:, 0] + y
    c = [Fraction(1, len(y))] * len(y)
    rows = [fractions(row) for row in X]
    none = [Fraction(0)] * X.shape[1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if kind == "lasso":
            model = LassoCV(4, cv=3, tol=1e-10).fit(X, number)
        elif kind == "squares":
            model = GroupLasso(0.01, tol=1e-10).fit(X, number)
        else:
            model = GroupLassoClassifier(0.01, tol=1e-10).fit(X, y)
    if kind == "labels":
        objective = Objective("logistic", rows, [2 * int(v) - 1 for v in y], c, none, none)
    else:
        objective = Objective("squared_error", rows, fractions(number), c, none, none)
    w = fractions(np.ravel(model.coef_))
    b = Fraction(float(np.ravel(model.intercept_)[0]))
    lost = objective.primal(w, b) - objective.primal(w, objective.best_intercept(w))
    assert model.certificate_.gap >= float(lost)


@pytest.mark.parametrize("shift", SHIFTS)
@pytest.mark.parametrize("l1_ratio", [0.0, 1.0])
def test_classes_together(shift, l1_ratio):
    """The primal by 60 digits, and the best intercepts by coordinate descent on them."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(20, 2))
    y = np.digitize(X[:, 0] + 0.5 * rng.normal(size=20), [-0.5, 0.5])
    X += shift
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = LogisticRegression(C=100.0, l1_ratio=l1_ratio).fit(X, y)
    W = [fractions(row) for row in model.coef_]
    B = fractions(np.atleast_1d(model.intercept_))
    rows = [fractions(row) for row in X]
    scores = [
        [sum(v * x for v, x in zip(w, row, strict=True)) + b for w, b in zip(W, B, strict=True)]
        for row in rows
    ]
    penalty = sum(abs(v) if l1_ratio else v * v / 2 for w in W for v in w)
    best = list(B)
    for _ in range(6):
        for k in range(3):
            best[k] += best_step(scores, best, B, y, k)
    claimed = model.certificate_
    primal = penalty + 100 * softmax_loss(scores, B, B, y)
    lower = penalty + 100 * softmax_loss(scores, best, B, y)
    assert claimed.primal == pytest.approx(float(primal), rel=1e-6)
    assert claimed.gap >= float(primal - lower)
    if shift <= 1e9:
        assert claimed.converged


def softmax_loss(scores, b, before, y):
    from decimal import localcontext

    from tests.reference.exact_objective import DIGITS, decimal

    with localcontext() as context:
        context.prec = DIGITS
        total = 0
        for row, label in zip(scores, y, strict=True):
            s = [decimal(t + new - old) for t, new, old in zip(row, b, before, strict=True)]
            total += sum((t - s[label]).exp() for t in s).ln()
        return Fraction(total)


def best_step(scores, b, before, y, k):
    """Newton's step for the intercept of one class."""
    first = second = 0.0
    for row, label in zip(scores, y, strict=True):
        s = np.array([float(t + new - old) for t, new, old in zip(row, b, before, strict=True)])
        p = np.exp(s - s.max())
        p /= p.sum()
        first += p[k] - (label == k)
        second += p[k] * (1 - p[k])
    return Fraction(-first / second)
