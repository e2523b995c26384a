"""Fits far from 0, at extreme scales and strengths, with their exact objectives."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.sparse as sp

from separable import ElasticNet, Lasso, LinearSVM, LinearSVR, LogisticRegression
from tests.reference.exact_objective import Objective, fractions

SHIFTS = (0.0, 1e3, 1e6, 1e9, 1e12)
KINDS = ("hinge", "squared_hinge", "logistic", "l1", "net", "insensitive", "lasso", "enet")


@dataclass
class Fit:
    """A fitted model and what is known of it without rounding."""

    learner: Any
    objective: Objective
    kind: str
    shift: float

    @property
    def claimed(self):
        return self.learner.certificate_

    @property
    def weights(self):
        w = fractions(np.ravel(self.learner.coef_))
        return w, Fraction(float(np.ravel(self.learner.intercept_)[0]))

    def bounds(self):
        """Return the published objective, and what the optimum lies between."""
        w, b = self.weights
        primal = self.objective.primal(w, b)
        z = fractions(self.learner.dual_coef_[0])
        highest = min(primal, self.objective.primal(w, self.objective.best_intercept(w)))
        if all(self.objective.l2):
            v = self.objective.weights_of(z)
            other = self.objective.primal(v, self.objective.best_intercept(v))
            highest = min(highest, other)
        return primal, self.objective.dual(z), highest


def learner_of(kind, rng, switches):
    """Return a learner of a kind with a random strength, and the name of its loss."""
    C, alpha = 10.0 ** rng.uniform(-3, 4), 10.0 ** rng.uniform(-4, 0)
    if kind in ("hinge", "squared_hinge"):
        return LinearSVM(C=C, loss=kind, **switches)
    if kind == "insensitive":
        return LinearSVR(C=C, epsilon=float(rng.choice([0.0, 0.25])), **switches)
    if kind in ("lasso", "enet"):
        return Lasso(alpha, **switches) if kind == "lasso" else ElasticNet(alpha, **switches)
    ratio = {"logistic": 0.0, "l1": 1.0, "net": 0.5}[kind]
    return LogisticRegression(C=C, l1_ratio=ratio, **switches)


def fit(seed: int, kind: str, shift: float, *, n: int = 24, d: int = 3) -> Fit:
    """Return the fit of a seed."""
    rng = np.random.default_rng([seed, KINDS.index(kind), int(shift)])
    X = rng.normal(size=(n, d))
    noise = float(rng.choice([0.0, 1.0]))
    score = X @ rng.normal(size=d) + noise * rng.normal(size=n)
    if rng.random() < 0.5:
        X *= 10.0 ** rng.uniform(-6, 6, d)
    is_sparse, is_single = rng.random() < 0.2, rng.random() < 0.2
    far = shift * (np.abs(X).max(axis=0) if rng.random() < 0.5 else 1.0)
    X = X + far * (rng.random(d) < 0.7)
    if is_single:
        X = X.astype(np.float32)
    switches = {
        "fit_intercept": bool(rng.random() < 0.8),
        "standardize": bool(rng.random() < 0.3),
    }
    learner = learner_of(kind, rng, switches)
    is_regression = kind in ("insensitive", "lasso", "enet")
    y = 3 * score + 1 if is_regression else (score > np.median(score)).astype(int)
    weight = rng.integers(1, 4, n) / 2 if rng.random() < 0.5 else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        learner.fit(sp.csr_array(X) if is_sparse else X, y, weight)
    return Fit(learner, objective_of(learner, kind, X, y, weight), kind, shift)


def objective_of(learner, kind, X, y, weight):
    """Return the exact objective of a learner, of float64 rows and weights as given."""
    n, d = X.shape
    units = learner.scale_ if learner.standardize else np.ones(d)
    X = np.where(units > 0, X, 0.0)  # a constant column has no standardised weight
    units = np.where(units > 0, units, 1.0)
    weight = np.ones(n) if weight is None else weight
    ratio = {"l1": 1.0, "lasso": 1.0, "net": 0.5, "enet": 0.5}.get(kind, 0.0)
    total = Fraction(1)
    if kind in ("lasso", "enet"):
        total = Fraction(float(learner.alpha))
        weights = fractions(weight)
        c = [each / sum(weights) for each in weights]
    else:
        c = fractions(learner.C * weight)  # by definition float64 numbers
    loss = {"l1": "logistic", "net": "logistic", "lasso": "squared_error", "enet": "squared_error"}
    is_number = kind in ("insensitive", "lasso", "enet")
    return Objective(
        loss.get(kind, kind),
        [fractions(row) for row in np.asarray(X, np.float64)],
        fractions(y) if is_number else [1 if each == 1 else -1 for each in y],
        c,
        [total * Fraction(ratio) * unit for unit in fractions(units)],
        [total * Fraction(1 - ratio) * unit**2 for unit in fractions(units)],
        bool(learner.fit_intercept),
        Fraction(float(getattr(learner, "epsilon", 0.0))),
    )
