"""The convex learners with penalties that have corners, and problems for them: one line each."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.sparse as sp

from separable import (
    ElasticNet,
    GroupLasso,
    Lasso,
    LinearSVM,
    LogisticRegression,
    LpRegression,
)
from tests.reference.optimality import FirstGroup, Largest, Net, Power, loss_and_slope, promised


@dataclass(frozen=True)
class Kind:
    """A learner: how it is made of a strength, its loss, and its penalty of a strength.

    ``mean``: the objective has the mean of losses, and strength is alpha. Otherwise it has their
    sum times C, and strength is C.
    """

    make: Any
    loss: str
    penalty: Any
    mean: bool = False

    def __str__(self):
        return type(self.make(1.0)).__name__


KINDS = {
    "lasso": Kind(Lasso, "squared_error", Net, mean=True),
    "lasso, positive": Kind(
        lambda a, **k: Lasso(a, positive=True, **k),
        "squared_error", lambda a: Net(a, positive=True), mean=True,
    ),
    "elastic net": Kind(
        lambda a, **k: ElasticNet(a, l1_ratio=0.3, **k),
        "squared_error", lambda a: Net(0.3 * a, 0.7 * a), mean=True,
    ),
    "elastic net, positive": Kind(
        lambda a, **k: ElasticNet(a, l1_ratio=0.6, positive=True, **k),
        "squared_error", lambda a: Net(0.6 * a, 0.4 * a, positive=True), mean=True,
    ),
    "logistic, l1": Kind(
        lambda C, **k: LogisticRegression(C, l1_ratio=1.0, **k), "log_loss", lambda _: Net(1.0)
    ),
    "logistic, elastic net": Kind(
        lambda C, **k: LogisticRegression(C, l1_ratio=0.4, **k),
        "log_loss", lambda _: Net(0.4, 0.6),
    ),
    "squared hinge, l1": Kind(
        lambda C, **k: LinearSVM(C, loss="squared_hinge", penalty="l1", **k),
        "squared_hinge", lambda _: Net(1.0),
    ),
    "group lasso": Kind(
        lambda a, **k: GroupLasso(a, groups=[[0, 1, 2]], **k),
        "squared_error", lambda a: FirstGroup(a, 3), mean=True,
    ),
    "largest weight": Kind(
        lambda a, **k: LpRegression("inf", a, **k), "squared_error", Largest, mean=True
    ),
    **{
        f"power {p}": Kind(
            lambda a, p=p, **k: LpRegression(p, a, **k),
            "squared_error", lambda a, p=p: Power(a, float(Fraction(p))), mean=True,
        )
        for p in ("4/3", "3/2", "2")
    },
    "multinomial": Kind(LogisticRegression, "softmax", lambda _: Net(0.0, 1.0)),
}  # fmt: skip


@dataclass(frozen=True)
class Judged:
    """A model under the objective of its learner, in NumPy: value, slopes, promised falls."""

    value: float
    derivatives: Any
    costs: Any
    smoothness: float
    promised: Any


def certify(kind, strength, X, y, w, b, weight=None, unit=1.0):
    """Return how a model does: rows X dense, y as its loss reads it, penalised weights w unit.

    w and b are (d,) and a number, or (K, d) and (K,) of classes together.
    """
    w = np.asarray(w, dtype=np.float64)
    c = np.ones(len(X)) if weight is None else np.asarray(weight, dtype=np.float64)
    c = c / c.sum() if kind.mean else strength * c
    penalty = kind.penalty(strength)
    losses, derivatives, smoothness = loss_and_slope(kind.loss, y, X @ w.T + b)
    u, Z = w * unit, X / unit
    fall = [
        promised(penalty, min(smoothness, 0.25 if w.ndim == 2 else 2) * (Z.T * c) @ Z, g, each)
        for each, g in zip(
            np.atleast_2d(u), np.atleast_2d((Z.T @ (derivatives.T * c).T).T), strict=True
        )
    ]
    return Judged(c @ losses + penalty.value(u), derivatives, c, smoothness, np.array(fall))


def made(kind, seed):
    """Return rows, targets, weights of rows or None, and what else the learner is given."""
    rng = np.random.default_rng(seed)
    shape = str(rng.choice(["noisy", "wide", "tall", "scaled", "shifted", "twice", "empty column"]))
    n, d = {"wide": (25, 60), "tall": (400, 4)}.get(shape, (60, 9))
    X = rng.normal(size=(n, d))
    scores = X[:, :3] @ rng.normal(size=(3, 3)) + 0.7 * rng.normal(size=(n, 3))
    is_sparse = bool(rng.integers(2))
    if is_sparse:
        X[rng.random(X.shape) < 0.6] = 0
    if shape == "scaled":
        X *= 10.0 ** rng.uniform(-3, 3, d)
    if shape == "shifted":
        X += 10.0 ** rng.uniform(0, 3, d)
    if shape == "twice":
        X[:, -1] = X[:, 0]
    if shape == "empty column":
        X[:, 1] = 0
    y = {
        "squared_error": lambda: 3 * scores[:, 0] + 5,
        "softmax": lambda: scores.argmax(axis=1),
    }.get(kind.loss, lambda: np.where(scores[:, 0] > 0, 1, -1))()
    weight = rng.integers(1, 4, n).astype(float) if rng.integers(2) else None
    X = X.astype(rng.choice(["float32", "float64"]))
    given = {
        "fit_intercept": bool(rng.random() < 0.8), "standardize": bool(rng.random() < 0.4),
    }  # fmt: skip
    return sp.csr_array(X) if is_sparse else X, y, weight, given


def moderate(kind, X, y, weight, given, share):
    """Return a strength, and what penalised weights count: a share of where all weights are 0."""
    X = X.toarray() if sp.issparse(X) else X
    X = X.astype(np.float64)
    c = np.ones(len(X)) if weight is None else weight
    mean = c @ X / c.sum()
    unit = np.ones(X.shape[1])
    if given["standardize"]:
        unit = np.sqrt(c @ (X - mean) ** 2 / c.sum())
        unit[unit == 0] = 1.0
    Z = (X - mean if given["fit_intercept"] else X) / unit
    t = y - (c @ y / c.sum() if given["fit_intercept"] and kind.mean else 0)
    if kind.loss == "softmax":
        return 1.0, unit
    most = np.abs(Z.T @ (c * t)).max()
    return (share * most / c.sum() if kind.mean else 1 / (share * most)), unit
