"""Random problems of every loss and penalty, and the bound on their optima by Clarabel."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from separable import (
    ElasticNet,
    GroupLasso,
    GroupLassoClassifier,
    Lasso,
    LinearSVM,
    LinearSVR,
    LogisticRegression,
    LpRegression,
)
from tests.reference.conic import Long, Penalty, objective, optimum

SHAPES = ("noisy", "separable", "scaled", "shifted", "duplicated", "wide", "tall", "constant")
GROUPS = [[0, 1, 2]]
EPSILON = 0.3


@dataclass(frozen=True)
class Kind:
    """A loss and a penalty: the learner of a penalty level, and the penalty in plain numbers.

    ``is_mean``: the objective has the weighted mean of losses and the level is alpha; otherwise
    it has C times their sum, and the level is C.
    """

    make: Any
    loss: str
    penalty: Any
    is_mean: bool = False
    solvers: tuple[str, ...] = ()


def groups_of(alpha, d):
    return Penalty(group=alpha, groups=[*GROUPS, *([j] for j in range(3, d))])


def lp(p):
    def penalty(alpha, d):
        if p == "inf":
            return Penalty(largest=alpha)
        return Penalty(l1=alpha) if p == "1" else Penalty(power=alpha, p=float(Fraction(p)))

    return Kind(
        lambda a, **k: LpRegression(p, a, **k), "squared_error", penalty, is_mean=True
    )  # fmt: skip


def logistic(ratio, loss="logistic"):
    solvers = () if ratio else ("lbfgs", "newton", "newton_cg", "dual_cd")
    return Kind(
        lambda C, **k: LogisticRegression(C, l1_ratio=ratio, **k), loss,
        lambda C, d: Penalty(l1=ratio, l2=1 - ratio), solvers=solvers,
    )  # fmt: skip


def unpenalized(loss):
    return Kind(lambda C, **k: LogisticRegression(math.inf, **k), loss, lambda C, d: Penalty())


PIECEWISE = ("dual_cd", "semismooth_newton", "interior_point")
L2 = lambda level, d: Penalty(l2=1.0)  # noqa: E731

KINDS = {
    "hinge l2": Kind(LinearSVM, "hinge", L2, solvers=PIECEWISE),
    "squared hinge l2": Kind(
        lambda C, **k: LinearSVM(C, loss="squared_hinge", **k), "squared_hinge", L2,
        solvers=("newton", "newton_cg", "dual_cd"),
    ),
    "squared hinge l1": Kind(
        lambda C, **k: LinearSVM(C, loss="squared_hinge", penalty="l1", **k),
        "squared_hinge", lambda C, d: Penalty(l1=1.0),
    ),
    "insensitive l2": Kind(
        lambda C, **k: LinearSVR(C=C, epsilon=EPSILON, **k), "insensitive", L2, solvers=PIECEWISE
    ),
    "logistic l2": logistic(0.0),
    "logistic l1": logistic(1.0),
    "logistic elastic net": logistic(0.4),
    "logistic none": unpenalized("logistic"),
    "logistic group": Kind(
        lambda a, **k: GroupLassoClassifier(a, groups=GROUPS, **k), "logistic", groups_of,
        is_mean=True,
    ),
    "softmax l2": logistic(0.0, "softmax"),
    "softmax l1": logistic(1.0, "softmax"),
    "softmax elastic net": logistic(0.4, "softmax"),
    "softmax none": unpenalized("softmax"),
    "squared error l1": Kind(
        Lasso, "squared_error", lambda a, d: Penalty(l1=a), is_mean=True
    ),
    "squared error l1, positive": Kind(
        lambda a, **k: Lasso(a, positive=True, **k), "squared_error",
        lambda a, d: Penalty(l1=a, positive=True), is_mean=True,
    ),
    "squared error elastic net": Kind(
        lambda a, **k: ElasticNet(a, l1_ratio=0.3, **k), "squared_error",
        lambda a, d: Penalty(l1=0.3 * a, l2=0.7 * a), is_mean=True,
    ),
    "squared error group": Kind(
        lambda a, **k: GroupLasso(a, groups=GROUPS, **k), "squared_error", groups_of, is_mean=True
    ),
    **{f"squared error lp {p}": lp(p) for p in ("1", "4/3", "3/2", "2", "inf")},
}  # fmt: skip


@dataclass
class Case:
    """A problem, and the learner that it is for."""

    kind: Kind
    shape: str
    X: np.ndarray
    y: np.ndarray
    weight: np.ndarray | None
    learner: Any
    is_sparse: bool
    level: float

    def fit(self):
        """Return the fitted learner; a warning that it has not converged is in its certificate."""
        X = sp.csr_array(self.X) if self.is_sparse else self.X
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return self.learner.fit(X, self.y, self.weight)

    def problem(self):
        """Return loss, rows, targets, costs and penalty in the units that are penalised."""
        X = self.X.astype(Long)
        weight = np.ones(len(X)) if self.weight is None else self.weight
        mean = weight @ X / weight.sum() if self.learner.fit_intercept else np.zeros(X.shape[1])
        unit = np.ones(X.shape[1], Long)
        if self.learner.standardize:
            about = weight @ X / weight.sum()
            unit = np.sqrt(weight @ (X - about) ** 2 / weight.sum())
            unit[unit < 1e-12 * np.abs(about)] = np.inf  # a constant column has no weight
        y = self.y
        if self.kind.loss in ("hinge", "squared_hinge", "logistic"):
            y = np.where(y == y.max(), 1.0, -1.0)
        c = weight / weight.sum() if self.kind.is_mean else weight
        if not self.kind.is_mean and math.isfinite(self.learner.C):
            c = c * self.learner.C
        return (X - mean) / unit, y, c, mean, unit

    def bounds(self):
        """Return the objective of the fitted weights, and one that Clarabel reaches."""
        Z, y, c, mean, unit = self.problem()
        penalty = self.kind.penalty(self.level, Z.shape[1])
        w = np.asarray(self.learner.coef_).astype(Long).reshape(-1, Z.shape[1]).T
        b = np.ravel(self.learner.intercept_).astype(Long) + mean @ w
        u = np.where(np.isinf(unit)[:, None], 0, w * np.where(np.isinf(unit), 1, unit)[:, None])
        if self.kind.loss != "softmax":
            u, b = u[:, 0], b[0]
        ours = float(objective(self.kind.loss, Z, y, c, penalty, u, b, EPSILON))
        given = {"fit_intercept": self.learner.fit_intercept, "epsilon": EPSILON}
        best, status = optimum(self.kind.loss, Z, y, c, penalty, **given)
        return ours, best, status


def make(name: str, seed: int) -> Case:
    """Return the problem of a seed."""
    kind = KINDS[name]
    rng = np.random.default_rng([seed, sorted(KINDS).index(name)])
    shape = str(rng.choice(SHAPES))
    n, d = int(rng.integers(16, 50)), int(rng.integers(4, 8))
    n, d = {"wide": (16, 30), "tall": (150, 4)}.get(shape, (n, d))
    X = rng.normal(size=(n, d))
    noise = 0.0 if shape == "separable" else 1.0
    scores = X @ rng.normal(size=(d, 3)) + noise * rng.normal(size=(n, 3))
    is_sparse = bool(rng.random() < 0.4)
    if is_sparse:
        X[rng.random(X.shape) < 0.4] = 0.0
    if shape == "duplicated":
        X[:, -1], X[n // 2 :] = X[:, 0], X[: n - n // 2]
    if shape == "scaled":
        X *= 10.0 ** rng.uniform(-3, 3, d)
    if shape == "shifted":
        X = X + 10.0 ** rng.uniform(0, 5, d)
    if shape == "constant":
        X[:, 1] = 3.0
    X = X.astype(np.float32).astype(np.float64) if rng.random() < 0.3 else X
    y: Any = 3 * scores[:, 0] + 1
    if kind.loss == "softmax":
        y = scores.argmax(axis=1)
        y[:3] = range(3)
    elif kind.loss not in ("squared_error", "insensitive"):
        y = (scores[:, 0] > np.median(scores[:, 0])).astype(int)
    weight = None
    if rng.random() < 0.5:
        weight = rng.integers(0, 4, n).astype(float)
        weight[:3] = 0.5
        if kind.loss not in ("squared_error", "insensitive"):
            weight[[np.flatnonzero(y == one)[0] for one in np.unique(y)]] = 1.5
    level = 10.0 ** (rng.uniform(-4, 1) if kind.is_mean else rng.uniform(-4, 5))
    switches = {
        "fit_intercept": bool(rng.random() < 0.8), "standardize": bool(rng.random() < 0.3),
    }  # fmt: skip
    return Case(kind, shape, X, y, weight, kind.make(level, **switches), is_sparse, level)
