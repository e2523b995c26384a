"""Dual coordinate descent of one model in plain NumPy.

Problem    1/2 |w|^2 + sum_i c_i loss(y_i, w.x_i + b), b not penalised
Steps      for each row in turn, with s = w.x_i + lambda + rho S and q = |x_i|^2 + rho:
           1. the a_i that maximises the dual, all others held;
           2. w += (change of z_i) x_i, S += change of z_i, z_i = a_i y_i (SVR: z_i = a_i);
           after each pass 3. lambda += rho S
"""

from __future__ import annotations

import numpy as np


def hinge(a, y, s, q, c, eps):
    return np.clip(a + (1 - y * s) / q, 0, c)


def squared_hinge(a, y, s, q, c, eps):
    return max(0.0, a + (1 - y * s - a / (2 * c)) / (q + 1 / (2 * c)))


def log_loss(a, y, s, q, c, eps):
    """The root of log((c - a') / a') = y s + q (a' - a), by bisection."""
    low, high = 0.0, c
    for _ in range(60):
        middle = (low + high) / 2
        if np.log((c - middle) / middle) > y * s + q * (middle - a):
            low = middle
        else:
            high = middle
    return (low + high) / 2


def epsilon_insensitive(a, y, s, q, c, eps):
    free = a + (y - s) / q
    return np.clip(np.sign(free) * max(0.0, abs(free) - eps / q), -c, c)


STEPS = {step.__name__: step for step in (hinge, squared_hinge, log_loss, epsilon_insensitive)}


def dual_descent(loss, X, y, c, *, intercept, passes, eps=0.1, seed=0):
    """Return the dual variables a after so many passes; c > 0 everywhere."""
    step, rng = STEPS[loss], np.random.default_rng(seed)
    n, d = X.shape
    a, w, total, multiplier = np.zeros(n), np.zeros(d), 0.0, 0.0
    rho = float((X**2).sum(axis=1).mean()) if intercept else 0.0
    for _ in range(passes):
        for i in rng.permutation(n):
            q = X[i] @ X[i] + rho
            s = X[i] @ w + multiplier + rho * total
            new = step(a[i], y[i], s, q, c[i], eps) if q > 0 else a[i]  # 1
            change = (new - a[i]) * (1.0 if loss == "epsilon_insensitive" else y[i])
            a[i], w, total = new, w + change * X[i], total + change  # 2
        multiplier += rho * total  # 3
    return a
