"""Certificates of regularised linear models in plain NumPy: how far from the optimum, at most.

Problem    P(w, b) = 1/2 sum_j p_j w_j^2 + sum_i c_i loss(y_i, w.x_i + b),  b not penalised
Dual       D(a) = sum_i d_i(a_i) - 1/2 sum_j (X'z)_j^2 / p_j,  z_i = a_i y_i (SVR: z_i = a_i)
Feasible   a_i in the range of its loss, and with an intercept sum_i z_i = 0
Then       D(a) <= min P <= P(w, b) for every feasible a and every w, b, and at w_j = (X'z)_j / p_j
           the difference is a sum of non-negative terms, one a row: c_i loss_i - d_i(a_i) + a_i m_i
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


def xlogx(u):
    return np.where(u > 0, u * np.log(np.where(u > 0, u, 1.0)), 0.0)


def logistic(m):
    return np.logaddexp(0.0, -m)


LOSSES = {
    # loss of the margin m, dual value of a row, largest a
    "hinge": (lambda m: np.maximum(0, 1 - m), lambda a, c: a, lambda c: c),
    "squared_hinge": (
        lambda m: np.maximum(0, 1 - m) ** 2,
        lambda a, c: a - a**2 / (4 * c),
        lambda c: np.full_like(c, np.inf),
    ),
    "logistic": (logistic, lambda a, c: -c * (xlogx(a / c) + xlogx(1 - a / c)), lambda c: c),
}


@dataclass
class Certificate:
    primal: float
    dual: float
    gap: float
    w: np.ndarray
    b: float

    @property
    def relative_gap(self):
        return 0.0 if self.gap == 0 else self.gap / self.primal


def repair(z, intercept):
    """Make sum z = 0 by scaling the heavier sign."""
    if not intercept:
        return z
    up, down = z[z > 0].sum(), -z[z < 0].sum()
    if up == 0 or down == 0:
        return np.zeros_like(z)
    z = z.copy()
    if up > down:
        z[z > 0] *= down / up
    else:
        z[z < 0] *= up / down
    return z


def best_intercept(total, scores, breaks):
    """Minimise a convex function of b: by bisection of its slope, then over break points."""
    low, high = -1.0, 1.0
    while total(low - 1e-3 * abs(low)) < total(low):
        low *= 2
    while total(high + 1e-3 * abs(high)) < total(high):
        high *= 2
    low, high = 2 * low, 2 * high
    for _ in range(300):  # golden section would do; thirds are plain
        a, b = low + (high - low) / 3, high - (high - low) / 3
        if total(a) <= total(b):
            high = b
        else:
            low = a
    inside = breaks[(breaks >= low - 1e-6) & (breaks <= high + 1e-6)]
    candidates = np.concatenate([[low, high, (low + high) / 2], inside])
    return float(min(candidates, key=total))


def certify(loss, X, y, c, a, *, intercept=True, penalty=None):
    """Return the certificate that dual values a give, repaired to be feasible."""
    value, dual_value, most = LOSSES[loss]
    p = np.ones(X.shape[1]) if penalty is None else penalty
    a = np.clip(a, 0.0, most(c))
    a = np.abs(repair(a * y, intercept))
    along = X.T @ (a * y)
    w = np.divide(along, p, out=np.zeros_like(along), where=p > 0)
    scores = X @ w
    b = 0.0
    if intercept:
        b = best_intercept(lambda b: c @ value(y * (scores + b)), scores, y - scores)
    m = y * (scores + b)
    penalised = 0.5 * along @ w
    terms = c * value(m) - dual_value(a, c) + a * m
    return Certificate(
        penalised + c @ value(m), dual_value(a, c).sum() - penalised, terms.sum(), w, b
    )


def certify_svr(X, y, c, eps, a, *, intercept=True):
    """The same for the epsilon-insensitive loss; a has the sign of the residual."""
    a = repair(np.clip(a, -c, c), intercept)
    w = X.T @ a
    scores = X @ w

    def value(r):
        return np.maximum(0, np.abs(r) - eps)

    b = 0.0
    if intercept:
        left = y - scores
        breaks = np.concatenate([left - eps, left + eps])
        b = best_intercept(lambda b: c @ value(left - b), scores, breaks)
    r = y - scores - b
    dual_value = y * a - eps * np.abs(a)
    terms = c * value(r) + eps * np.abs(a) - a * r
    penalised = 0.5 * w @ w
    return Certificate(penalised + c @ value(r), dual_value.sum() - penalised, terms.sum(), w, b)
