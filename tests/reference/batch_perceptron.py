"""The batch perceptron, transcribed step by step."""

from __future__ import annotations

import numpy as np


def batch_perceptron(X, y, epochs, eta=1.0, eps=0.0, weights=None, fit_intercept=True):
    """Binary, y in {-1, +1}: (w, b, misclassified rows of each epoch, |Delta| of the last)."""
    X = np.hstack([X, np.full((len(X), 1), float(fit_intercept))])
    weights = np.ones(len(X)) if weights is None else weights
    theta, mistakes, norm = np.zeros(X.shape[1]), [], 0.0
    for _ in range(epochs):
        wrong = y * (X @ theta) <= 0
        delta = (weights[wrong] * y[wrong]) @ X[wrong] / weights.sum()
        theta = theta + eta * delta
        mistakes.append(int((wrong & (weights > 0)).sum()))
        norm = np.linalg.norm(delta)
        if mistakes[-1] == 0 or norm < eps or not delta.any():
            break
    return theta[:-1], theta[-1], mistakes, norm
