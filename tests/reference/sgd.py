"""Stochastic gradient descent with one step size, as it is written on the blackboard."""

from __future__ import annotations

import numpy as np

VALUES = {
    "perceptron": lambda s, y, e: np.maximum(0, -y * s),
    "hinge": lambda s, y, e: np.maximum(0, 1 - y * s),
    "squared_hinge": lambda s, y, e: np.maximum(0, 1 - y * s) ** 2,
    "log_loss": lambda s, y, e: np.logaddexp(0, -y * s),
    "sigmoid_mse": lambda s, y, e: ((y + 1) / 2 - 1 / (1 + np.exp(-s))) ** 2,
    "squared_error": lambda s, y, e: (s - y) ** 2 / 2,
    "huber": lambda s, y, e: np.where(
        np.abs(s - y) <= e, (s - y) ** 2 / 2, e * np.abs(s - y) - e**2 / 2
    ),
    "epsilon_insensitive": lambda s, y, e: np.maximum(0, np.abs(s - y) - e),
}
SLOPES = {
    "perceptron": lambda s, y, e: -y * (y * s <= 0),
    "hinge": lambda s, y, e: -y * (y * s < 1),
    "squared_hinge": lambda s, y, e: -2 * y * max(0.0, 1 - y * s),
    "log_loss": lambda s, y, e: -y / (1 + np.exp(y * s)),
    "sigmoid_mse": lambda s, y, e: -2 * y * np.exp(y * s) / (1 + np.exp(y * s)) ** 3,
    "squared_error": lambda s, y, e: s - y,
    "huber": lambda s, y, e: np.clip(s - y, -e, e),
    "epsilon_insensitive": lambda s, y, e: np.sign(s - y) * (abs(s - y) > e),
}


def sgd(X, y, loss, eta, *, l1=0.0, l2=0.0, epsilon=0.1, weight=None, epochs=1, intercept=True):
    """Return w, b, the mean of each over all steps, and the losses' slopes; eta is a function."""
    w, b, t = np.zeros(X.shape[1]), 0.0, 0
    sum_w, sum_b = np.zeros_like(w), 0.0
    due, taken = 0.0, np.zeros_like(w)  # of the l1 penalty: all that it asks for, what it got
    for _ in range(epochs):
        for i in range(len(X)):
            left = 1.0 if weight is None else weight[i]
            while left > 0:
                t += 1
                g = min(left, 1.0) * SLOPES[loss](w @ X[i] + b, y[i], epsilon)
                decay = max(0.0, 1 - eta(t) * l2)
                w = decay * w - eta(t) * g * X[i]
                due, taken, before = decay * due + eta(t) * l1, decay * taken, w
                w = np.sign(w) * np.maximum(np.abs(w) - (due + taken * np.sign(w)), 0)
                taken = taken + w - before
                b -= eta(t) * g * intercept
                sum_w, sum_b = sum_w + w, sum_b + b
                left -= 1
    return w, b, sum_w / t, sum_b / t
