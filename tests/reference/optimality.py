"""Optimality of penalised models, block by block of their weights, in plain NumPy.

    minimise  F(w, b) = f(w, b) + h(w),   f(w, b) = sum_i c_i loss(y_i, w.x_i + b)

Let f's slope in a block of weights change by at most L times a move of that block. The step

    step = prox(w - slope / L) - w,   prox(v) = argmin_u  L/2 |u - v|^2 + h(u)

alone lowers F by at least L/2 |step|^2. So where F is at most ``gap`` above the optimum no block
has a longer one; and all of them are 0 exactly at the optimum. Blocks are coordinates, but for the
group lasso (groups) and the largest weight as a penalty (all weights).
"""

from __future__ import annotations

import numpy as np

# ------------------------------------------------------------------ losses


def loss_and_slope(name, y, s):
    """Return losses of rows, their slopes in the score, and the most these slopes change by."""
    if name == "squared_error":
        return (y - s) ** 2 / 2, s - y, 1.0
    if name == "softmax":  # y: classes from 0, s: (n, K)
        log_sum, rows = np.logaddexp.reduce(s, axis=1), np.arange(len(y))
        share = np.exp(s - log_sum[:, None])
        share[rows, y] -= 1
        return log_sum - s[rows, y], share, 0.5
    m = y * s
    if name == "log_loss":
        return np.logaddexp(0, -m), -y * np.exp(-np.logaddexp(0, m)), 0.25
    if name == "squared_hinge":
        return np.maximum(0, 1 - m) ** 2, -2 * y * np.maximum(0, 1 - m), 2.0
    raise ValueError(name)


# ------------------------------------------------------------------ penalties


class Net:
    """l1 |w|_1 + l2 / 2 |w|^2, with weights below 0 or without."""

    def __init__(self, l1, l2=0.0, *, positive=False):
        self.l1, self.l2, self.positive = l1, l2, positive

    def value(self, w):
        return self.l1 * np.abs(w).sum() + self.l2 / 2 * (w**2).sum()

    def curvature(self, squares):
        return np.diagonal(squares).copy()

    def step(self, v, L):
        size = np.maximum((v if self.positive else np.abs(v)) - self.l1 / L, 0)
        return np.sign(v) * size * L / (L + self.l2)


class FirstGroup:
    """alpha sqrt(k) |first k weights| + alpha |the others|_1."""

    def __init__(self, alpha, k):
        self.alpha, self.k = alpha, k

    def sizes(self, w):
        """Return of each weight the length of its group."""
        return np.concatenate([np.full(self.k, np.linalg.norm(w[: self.k])), np.abs(w[self.k :])])

    def strengths(self, w):
        return self.alpha * np.where(np.arange(len(w)) < self.k, np.sqrt(self.k), 1.0)

    def value(self, w):
        each = self.strengths(w) * self.sizes(w)
        return each[0] + each[self.k :].sum()

    def curvature(self, squares):
        found = np.diagonal(squares).copy()
        found[: self.k] = np.linalg.eigvalsh(squares[: self.k, : self.k])[-1]
        return found

    def step(self, v, L):
        share = 1 - self.strengths(v) / (L * np.maximum(self.sizes(v), 1e-300))
        return v * np.maximum(share, 0)


class Power:
    """alpha sum |w_j|^p, 1 < p."""

    def __init__(self, alpha, p):
        self.alpha, self.p = alpha, p

    def value(self, w):
        return self.alpha * (np.abs(w) ** self.p).sum()

    def curvature(self, squares):
        return np.diagonal(squares).copy()

    def step(self, v, L):
        low, high = np.zeros_like(v), np.abs(v)  # u + alpha p u^(p-1) / L = |v|
        for _ in range(200):
            u = (low + high) / 2
            is_low = u + self.alpha * self.p * u ** (self.p - 1) / L < np.abs(v)
            low, high = np.where(is_low, u, low), np.where(is_low, high, u)
        return np.sign(v) * (low + high) / 2


class Largest:
    """alpha max |w_j|."""

    def __init__(self, alpha):
        self.alpha = alpha

    def value(self, w):
        return self.alpha * np.abs(w).max()

    def curvature(self, squares):
        return np.full(len(squares), np.linalg.eigvalsh(squares)[-1])

    def step(self, v, L):
        radius, sizes = self.alpha / L[0], np.sort(np.abs(v))[::-1]
        if sizes.sum() <= radius:
            return np.zeros_like(v)
        over = (np.cumsum(sizes) - radius) / np.arange(1, len(v) + 1)
        return np.clip(v, -over[sizes > over][-1], over[sizes > over][-1])


def promised(penalty, squares, slope, w):
    """Return by how much F falls, at least, when each weight takes its step (blocks: their sums).

    ``squares`` bounds the curvature of f: X' diag(c) X times the most that slopes change by.
    """
    L = np.maximum(penalty.curvature(squares), 1e-300)
    return L / 2 * (penalty.step(w - slope / L, L) - w) ** 2
