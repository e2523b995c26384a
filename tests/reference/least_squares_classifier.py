"""Regression on numbers that stand for classes, by NumPy's least squares."""

from __future__ import annotations

import numpy as np


def least_squares_classifier(X, y, weights=None):
    """Return weights (k, d) and intercepts (k,): one row for two classes, else one a class."""
    classes = np.unique(y)
    T = np.where(y == classes[1], 1.0, -1.0)[:, None]
    if len(classes) > 2:
        T = (y[:, None] == classes).astype(float)
    root = np.sqrt(np.ones(len(y)) if weights is None else weights)[:, None]
    Z = root * np.column_stack([np.ones(len(X)), X])
    solution = np.linalg.lstsq(Z, root * T, rcond=None)[0]
    return solution[1:].T, solution[0]
