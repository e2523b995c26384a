"""Objectives of the certified learners and their duals, from raw arrays.

primal    1/2 |w|^2 + sum_i c_i loss(y_i, w.x_i + b)
dual      sum_i d_i(z_i) - 1/2 |X'z|^2,  sum_i z_i = 0 with an intercept, z_i in its loss's range
"""

from __future__ import annotations

import numpy as np


def loss_of(name, y, s, eps=0.1):
    m = y * s
    return {
        "hinge": lambda: np.maximum(0, 1 - m),
        "squared_hinge": lambda: np.maximum(0, 1 - m) ** 2,
        "log_loss": lambda: np.logaddexp(0, -m),
        "epsilon_insensitive": lambda: np.maximum(0, np.abs(y - s) - eps),
    }[name]()


def primal(name, X, y, c, w, b, penalised=True):
    return 0.5 * penalised * w @ w + c @ loss_of(name, y, X @ w + b)


def dual(name, X, y, c, z, eps=0.1, penalised=True):
    v = X.T @ z
    penalty = 0.5 * penalised * v @ v
    if name == "epsilon_insensitive":
        return y @ z - eps * np.abs(z).sum() - penalty
    a = y * z
    if name == "hinge":
        return a.sum() - penalty
    if name == "squared_hinge":
        return (a - a**2 / (4 * c)).sum() - penalty
    u = a / c
    entropy = np.where(u > 0, u * np.log(np.maximum(u, 1e-300)), 0)
    entropy = entropy + np.where(u < 1, (1 - u) * np.log(np.maximum(1 - u, 1e-300)), 0)
    return -(c * entropy).sum() - penalty


def is_feasible(name, y, c, z, *, intercept=True, slack=1e-12):
    if intercept and abs(z.sum()) > slack * np.abs(z).sum():
        return False
    if name == "epsilon_insensitive":
        return bool((np.abs(z) <= c).all())
    most = np.inf if name == "squared_hinge" else c
    return bool((y * z >= 0).all() and (y * z <= most).all())
