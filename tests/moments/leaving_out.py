"""Leave-one-out by as many fits as there are rows, and by the short cut of a learner."""

from __future__ import annotations

import warnings

import numpy as np

from separable.moments.rank_warning import RankWarning


def refitted(learner, X, y, weights=None):
    """Return the scores of each row, (n, K), from fits to all others; -inf for a lost class.

    Scores are taken from the largest, because two classes have one score and three have three.
    """
    classes = np.unique(y)
    found = np.full((len(y), len(classes)), -np.inf)
    for i in range(len(y)):
        rest = np.arange(len(y)) != i
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RankWarning)
            fit = learner.fit(X[rest], y[rest], None if weights is None else weights[rest])
        score = fit.decision_function(X[[i]])
        own = score[0] if score.ndim == 2 else [0.0, score[0]]
        found[i, np.searchsorted(classes, fit.classes_)] = own
    return relative(found)


def short_cut(learner, X, y, weights=None):
    """Return what the learner says without refitting, as ``refitted`` does."""
    data = learner._read(X, y, weights)
    sums = learner._new_sums().add_data(data)
    scores = learner._left_out_scores(sums, data)
    if scores is None:
        return None
    if scores.shape[1] == 1:
        scores = np.hstack([np.zeros_like(scores), scores])
    return relative(scores)


def relative(scores):
    return scores - scores.max(axis=1, keepdims=True)
