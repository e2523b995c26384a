"""The Widrow-Hoff rule, transcribed step by step. One presentation at a time, no shortcuts."""

from __future__ import annotations

import numpy as np

from tests.reference.perceptron import presentations


def widrow_hoff(X, y, epochs, eta, weights=None, fit_intercept=True, start=None):
    """Return (w, b, mean squared error of each epoch, before each step)."""
    X = np.hstack([X, np.full((len(X), 1), float(fit_intercept))])
    w = np.zeros(X.shape[1]) if start is None else np.array(start, dtype=float)
    weights = np.ones(len(X)) if weights is None else weights
    errors = []
    for _ in range(epochs):
        errors.append(0.0)
        for x, target, weight in zip(X, y, weights, strict=True):
            for size in presentations(weight):
                r = w @ x - target
                w = w - eta * size * r * x
                errors[-1] += size * r**2 / weights.sum()
    return w[:-1], w[-1], errors
