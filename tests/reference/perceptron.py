"""The perceptron rules, transcribed step by step. One presentation at a time, no shortcuts."""

from __future__ import annotations

import math

import numpy as np


def presentations(weight):
    """Weight k + f: k presentations of size 1 and, if f > 0, one of size f."""
    whole = math.floor(weight)
    return [1.0] * whole + ([weight - whole] if weight > whole else [])


def perceptron(X, y, epochs, eta=1.0, weights=None, fit_intercept=True, start=None):
    """Binary, y in {-1, +1}: (w, b, mistakes of each epoch, every intermediate (w, b))."""
    X = np.hstack([X, np.full((len(X), 1), float(fit_intercept))])
    w = np.zeros(X.shape[1]) if start is None else np.array(start, dtype=float)
    mistakes, history = [], []
    for _ in range(epochs):
        mistakes.append(0)
        for i in range(len(X)):
            for size in presentations(1 if weights is None else weights[i]):
                if y[i] * (w @ X[i]) <= 0:
                    w = w + eta * size * y[i] * X[i]
                    mistakes[-1] += 1
                history.append(w)
        if mistakes[-1] == 0:
            break
    return w[:-1], w[-1], mistakes, np.array(history)


def argmax_perceptron(X, label, n_classes, epochs, eta=1.0, weights=None):
    """Multi-class: (W, b, mistakes of each epoch, every intermediate [W b])."""
    X = np.hstack([X, np.ones((len(X), 1))])
    W = np.zeros((n_classes, X.shape[1]))
    met, mistakes, history = set(), [], []
    for _ in range(epochs):
        mistakes.append(0)
        for i in range(len(X)):
            met.add(label[i])
            for size in presentations(1 if weights is None else weights[i]):
                s = W @ X[i]
                rivals = [k for k in sorted(met) if k != label[i]]
                rival = max(rivals, key=lambda k: s[k]) if rivals else None
                if rival is not None and s[label[i]] <= s[rival]:
                    W = W.copy()
                    W[label[i]] += eta * size * X[i]
                    W[rival] -= eta * size * X[i]
                    mistakes[-1] += 1
                history.append(W)
        if mistakes[-1] == 0:
            break
    return W[:, :-1], W[:, -1], mistakes, np.array(history)
