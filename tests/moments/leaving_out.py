"""Leave-one-out by as many fits as there are rows, and by the short cut of a learner."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.base import clone, is_classifier

from separable.moments.regression.rank_warning import RankWarning


def refits(learner, X, y, weights=None):
    """Return what each row gets from the fit to all others.

    Of regressors the predictions. Of classifiers the scores, (n, K), ``relative``, and -inf for a
    class that is gone.
    """
    rows = np.arange(len(y))
    if not is_classifier(learner):
        fits = [_fit(learner, X, y, weights, rows != i) for i in rows]
        return np.array([fit.predict(X[[i]])[0] for i, fit in zip(rows, fits, strict=True)])
    classes = np.unique(y if weights is None else y[weights > 0])
    found = np.full((len(y), len(classes)), -np.inf)
    for i in rows:
        rest = rows != i
        left = np.unique(y[rest] if weights is None else y[rest & (weights > 0)])
        own = np.zeros(1)  # the only class there is
        if len(left) > 1:
            score = _fit(learner, X, y, weights, rest).decision_function(X[[i]])
            own = score[0] if score.ndim == 2 else [0.0, score[0]]
        found[i, np.searchsorted(classes, left)] = own
    return relative(found)


def _fit(learner, X, y, weights, rows):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankWarning)
        return clone(learner).fit(X[rows], y[rows], None if weights is None else weights[rows])


def short_cut(learner, X, y, weights=None):
    """Return what the learner says without refitting: of classifiers ``relative``; or None."""
    data = learner._read(X, y, weights)
    scores = learner._left_out_scores(learner._new_sums().add_data(data), data)
    return relative(scores) if scores is not None and is_classifier(learner) else scores


def relative(scores):
    """Return scores from the largest, (n, K): two classes have one score, and three have three."""
    if scores.shape[1] == 1:
        return np.minimum(np.hstack([-scores, scores]), 0.0)
    return scores - scores.max(axis=1, keepdims=True)
