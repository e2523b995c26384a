"""Problems of every kind that the certified learners meet, by seed; and their duals in NumPy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from separable import LinearSVM, LinearSVR, LogisticRegression

LOSSES = ("logistic", "hinge", "squared_hinge", "insensitive")
SHAPES = ("noisy", "separable", "scaled", "shifted", "duplicated", "wide", "tall", "one column")
Long = np.longdouble


@dataclass
class Made:
    """A problem: what a learner is given, and what it is asked for."""

    loss: str
    kind: str
    X: Any
    y: np.ndarray
    weight: np.ndarray | None
    learner: Any

    @property
    def dense(self):
        """The rows in float64, as the learner saw them."""
        X = self.X.toarray() if sp.issparse(self.X) else np.asarray(self.X)
        return X.astype(np.float64)

    def targets(self):
        """y of each model, +1 and -1 or the number."""
        if self.loss == "insensitive":
            return [self.y]
        classes = np.unique(self.y)
        if len(classes) == 2:
            return [np.where(self.y == classes[1], 1.0, -1.0)]
        return [np.where(self.y == one, 1.0, -1.0) for one in classes]


def make(seed: int, loss: str | None = None) -> Made:
    """Return the problem of a seed."""
    rng = np.random.default_rng(seed)
    loss = loss or LOSSES[seed % len(LOSSES)]
    kind = str(rng.choice(SHAPES))
    n, d = int(rng.integers(12, 60)), int(rng.integers(2, 7))
    n, d = {"wide": (14, 60), "tall": (400, 3), "one column": (n, 1)}.get(kind, (n, d))
    X = rng.normal(size=(n, d))
    true = rng.normal(size=d)
    noise = {"separable": 0.0}.get(kind, 1.0)
    score = X @ true + noise * rng.normal(size=n)
    classes = int(rng.choice([2, 2, 3]))
    if loss == "insensitive":
        y = 3 * score + 1
    else:
        y = np.digitize(score, np.quantile(score, np.arange(1, classes) / classes))
    if kind == "duplicated":
        X[:, -1] = X[:, 0]
        X[n // 2 :] = X[: n - n // 2]
    is_sparse = bool(rng.integers(2))
    if is_sparse:
        X[rng.random(X.shape) < 0.4] = 0.0
    if kind == "scaled":
        X *= 10.0 ** rng.uniform(-4, 4, d)
    if kind == "shifted":
        X = X + 10.0 ** rng.uniform(0, 3, d)
    X = X.astype(rng.choice(["float32", "float64"]))
    weight = rng.integers(0, 4, n).astype(float) if rng.integers(2) else None
    if weight is not None:
        weight[: n // 2] = np.maximum(weight[: n // 2], 0.5)
        if loss != "insensitive":
            for one in np.unique(y):
                weight[np.flatnonzero(y == one)[0]] = 1.5
    given: dict[str, Any] = {
        "C": 10.0 ** rng.uniform(-6, 6),
        "fit_intercept": bool(rng.random() < 0.8),
        "standardize": bool(rng.random() < 0.3),
    }
    if loss == "logistic":
        learner: Any = LogisticRegression(multi_class="ovr", **given)
    elif loss == "insensitive":
        learner = LinearSVR(epsilon=float(rng.choice([0.0, 0.5])), **given)
    else:
        learner = LinearSVM(loss=loss, **given)
    return Made(loss, kind, sp.csr_array(X) if is_sparse else X, y, weight, learner)


def losses(loss, y, s, epsilon=0.0):
    """Return the loss of each row."""
    if loss == "insensitive":
        return np.maximum(0, np.abs(y - s) - epsilon)
    m = y * s
    if loss == "logistic":
        return np.logaddexp(0, -m)
    return np.maximum(0, 1 - m) ** (2 if loss == "squared_hinge" else 1)


def xlogx(u):
    return np.where(u > 0, u * np.log(np.where(u > 0, u, 1)), 0)


def dual_rows(loss, y, c, z, epsilon=0.0):
    """Return the dual value of each row."""
    if loss == "insensitive":
        return y * z - epsilon * np.abs(z)
    a = y * z
    if loss == "hinge":
        return a
    if loss == "squared_hinge":
        return a - a**2 / (4 * c)
    u = np.clip(a / c, 0, 1)
    return -c * (xlogx(u) + xlogx(1 - u))


def least_and_most(loss, y, c):
    """Return the range of each dual variable."""
    if loss == "insensitive":
        return -c, c
    most = np.full_like(c, np.inf) if loss == "squared_hinge" else c
    return np.minimum(0, y * most), np.maximum(0, y * most)
