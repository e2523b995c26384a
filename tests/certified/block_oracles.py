"""Objectives of penalties over blocks, and who minimises them without our code."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, xlog1py, xlogy

POWERS = {"0": 0.0, "1/2": 0.5, "2/3": 2 / 3, "1": 1.0, "4/3": 4 / 3, "3/2": 1.5, "2": 2.0}


def penalty(p, w):
    """sum |w|^p; its limits at 0 and at infinity."""
    if p == "inf":
        return np.abs(w).max()
    return np.count_nonzero(w) if p == "0" else (np.abs(w) ** POWERS[p]).sum()


def mean_loss(X, y, w, b, weight=None):
    """Half the mean of squared errors."""
    weight = np.ones(len(y)) if weight is None else weight
    return weight @ (y - X @ w - b) ** 2 / (2 * weight.sum())


def centred(X, y, weight=None):
    """Rows and targets without their weighted means, times the root of their weights' shares."""
    weight = np.ones(len(y)) if weight is None else weight
    share = weight / weight.sum()
    root = np.sqrt(share)
    return root[:, None] * (X - share @ X), root * (y - share @ y)


def smooth_minimum(p, alpha, X, y):
    """The minimum for p above 1, by BFGS from many places."""
    Z, t = centred(X, y)
    power = POWERS[p]

    def objective(w):
        r = t - Z @ w
        gradient = -Z.T @ r + alpha * power * np.sign(w) * np.abs(w) ** (power - 1)
        return r @ r / 2 + alpha * (np.abs(w) ** power).sum(), gradient

    start = np.linalg.lstsq(Z, t, rcond=None)[0]
    options = {"maxiter": 10_000, "ftol": 1e-16, "gtol": 1e-12}
    found = minimize(objective, start, jac=True, method="L-BFGS-B", options=options)
    return found.fun


def bounded_minimum(alpha, X, y):
    """The minimum for p = inf: the weights and their bound, by SLSQP."""
    Z, t = centred(X, y)
    d = Z.shape[1]

    def objective(v):
        r = t - Z @ v[:-1]
        return r @ r / 2 + alpha * v[-1], np.append(-Z.T @ r, alpha)

    sides = [np.hstack([s * np.eye(d), np.ones((d, 1))]) for s in (-1, 1)]
    bounds = {
        "type": "ineq",
        "fun": lambda v: np.vstack(sides) @ v,
        "jac": lambda v: np.vstack(sides),
    }
    start = np.append(np.zeros(d), 1.0)
    options = {"ftol": 1e-15, "maxiter": 1000}
    return minimize(
        objective, start, jac=True, method="SLSQP", constraints=bounds, options=options
    ).fun


def refitted(alpha, X, y, support):
    """The objective of p = 0 with least squares on some columns."""
    Z, t = centred(X, y)
    support = list(support)
    w = np.zeros(Z.shape[1])
    if support:
        w[support] = np.linalg.lstsq(Z[:, support], t, rcond=None)[0]
    r = t - Z @ w
    return r @ r / 2 + alpha * len(support)


def best_subset(alpha, X, y):
    """The minimum for p = 0: every set of columns is tried."""
    d = X.shape[1]
    sets = (some for k in range(d + 1) for some in combinations(range(d), k))
    return min(refitted(alpha, X, y, some) for some in sets)


def group_minimum(alpha, X, y, group):
    """The minimum of the group lasso: proximal gradient steps, many of them."""
    Z, t = centred(X, y)
    group = np.asarray(group)
    strength = alpha * np.sqrt(np.bincount(group))[group]
    steepest = np.linalg.norm(Z, 2) ** 2
    w = ahead = np.zeros(Z.shape[1])
    for k in range(2000):
        v = ahead + Z.T @ (t - Z @ ahead) / steepest
        norms = np.sqrt(np.bincount(group, weights=v**2))[group]
        new = v * np.maximum(1 - strength / steepest / np.maximum(norms, 1e-300), 0)
        if (ahead - new) @ (new - w) > 0:
            ahead, w = new, new
        else:
            ahead, w = new + k / (k + 3) * (new - w), new
    r = t - Z @ w
    return r @ r / 2 + alpha * np.sqrt(np.bincount(group)) @ np.sqrt(
        np.bincount(group, weights=w**2)
    )


def group_logistic_objective(alpha, X, y, group, w, b):
    """Mean log loss and the penalty, y being -1 or +1."""
    sizes = np.sqrt(np.bincount(group))
    loss = np.logaddexp(0.0, -y * (X @ w + b)).mean()
    return loss + alpha * sizes @ np.sqrt(np.bincount(group, weights=w**2))


def group_logistic_bound(alpha, X, y, group, w, b):
    """A number that no objective is below: the dual at the residuals of w, made feasible."""
    u = expit(-y * (X @ w + b))  # between 0 and 1
    up, down = u[y > 0].sum(), u[y < 0].sum()
    u = u * np.where(y > 0, min(1.0, down / up), min(1.0, up / down))
    correlation = (X - X.mean(axis=0)).T @ (u * y) / len(y)
    beyond = np.sqrt(np.bincount(group, weights=correlation**2) / np.bincount(group)) / alpha
    u = u / max(1.0, beyond.max())
    return -(xlogy(u, u) + xlog1py(1 - u, -u)).mean()


def group_logistic_minimum(alpha, X, y, group):
    """The minimum with an intercept: accelerated proximal gradient steps, many of them."""
    strength = alpha * np.sqrt(np.bincount(group))[group]
    rows = np.c_[X, np.ones(len(y))]
    steepest = np.linalg.norm(rows, 2) ** 2 / (4 * len(y))
    v = ahead = np.zeros(rows.shape[1])
    for k in range(2000):
        new = ahead + rows.T @ (y * expit(-y * (rows @ ahead))) / (len(y) * steepest)
        norms = np.sqrt(np.bincount(group, weights=new[:-1] ** 2))[group]
        new[:-1] *= np.maximum(1 - strength / steepest / np.maximum(norms, 1e-300), 0)
        uphill = (ahead - new) @ (new - v) > 0
        ahead, v = (new if uphill else new + k / (k + 3) * (new - v)), new
    return group_logistic_objective(alpha, X, y, group, v[:-1], v[-1])
