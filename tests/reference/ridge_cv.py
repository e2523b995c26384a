"""Cross-validation of ridge regression by refitting."""

from __future__ import annotations

import numpy as np

from tests.reference.ridge import ridge


def fold_scores(X, y, alphas, splits, weight=None, fit_intercept=True):
    """Return the negative mean squared error of each alpha in each fold, (A, F)."""
    c = np.ones(len(y)) if weight is None else weight
    scores = np.empty((len(alphas), len(splits)))
    for k, (train, test) in enumerate(splits):
        for a, alpha in enumerate(alphas):
            w, b = ridge(X[train], y[train], alpha, c[train], fit_intercept)
            error = (y[test] - X[test] @ w - b) ** 2
            scores[a, k] = -(c[test] @ error) / c[test].sum()
    return scores
