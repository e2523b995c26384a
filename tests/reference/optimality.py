"""Optimality of penalised models, coordinate by coordinate, in plain NumPy.

    minimise  F(w, b) = f(w, b) + sum_j h_j(w_j),   h_j(v) = l1_j |v| + l2_j / 2 v^2

with f a smooth loss whose slope along coordinate j changes by at most L_j. The step

    step_j = prox(w_j - f'_j / L_j) - w_j,   prox(v) = soft(L_j v, l1_j) / (L_j + l2_j)

alone lowers F by at least (L_j + l2_j)/2 step_j^2. So if F(w) is at most ``gap`` above the optimum
no coordinate has a larger one; and all of them are 0 exactly at the optimum.
"""

from __future__ import annotations

import numpy as np


def soft(v, threshold):
    return np.sign(v) * np.maximum(np.abs(v) - threshold, 0)


def promised(slope, curvature, w, l1, l2=0.0, *, positive=False):
    """Return by how much F falls, at least, when each coordinate alone takes its step."""
    L = np.maximum(curvature, 1e-300)
    target = L * w - slope
    moved = np.maximum(target - l1, 0) if positive else soft(target, l1)
    return (L + l2) / 2 * (moved / (L + l2) - w) ** 2


def violations(slope, w, l1, l2=0.0, *, positive=False):
    """Return how far 0 is from the subdifferential of F, for each coordinate."""
    g = slope + l2 * w
    below = g - l1
    at_zero = np.maximum(np.abs(g) - l1, 0)
    if positive:
        at_zero, below = np.maximum(-g - l1, 0), np.full_like(g, np.inf)
    return np.where(w > 0, np.abs(g + l1), np.where(w < 0, np.abs(below), at_zero))


def loss_and_slope(name, y, s):
    """Return losses of rows, their slopes in the score, and the most these slopes change by."""
    if name == "squared_error":
        return (y - s) ** 2 / 2, s - y, 1.0
    m = y * s
    if name == "log_loss":
        return np.logaddexp(0, -m), -y * np.exp(-np.logaddexp(0, m)), 0.25
    if name == "squared_hinge":
        return np.maximum(0, 1 - m) ** 2, -2 * y * np.maximum(0, 1 - m), 2.0
    raise ValueError(name)


def softmax_and_slope(y, scores):
    """Return losses of rows and slopes in the scores (n, K), classes numbered from 0."""
    log_sum = np.logaddexp.reduce(scores, axis=1)
    share = np.exp(scores - log_sum[:, None])
    share[np.arange(len(y)), y] -= 1
    return log_sum - scores[np.arange(len(y)), y], share, 0.25
