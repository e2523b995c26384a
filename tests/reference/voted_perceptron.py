"""The voted perceptron by brute force: every weight vector is stored and asked."""

from __future__ import annotations

import numpy as np

from tests.reference.perceptron import perceptron


def vote(vectors, X, fit_intercept=True):
    """The sum of sign(w.x + b) over all vectors, one a presentation."""
    X = np.hstack([X, np.full((len(X), 1), float(fit_intercept))])
    return np.sign(X @ np.asarray(vectors).T).sum(axis=1)


def voted_perceptron(X, y, epochs, X_test, presentations=0, last=None, **options):
    """Binary, y in {-1, +1}: the votes at X_test, and all vectors, (w, b) after a presentation.

    ``presentations`` fills up with the final vector where other models went on for longer;
    ``last`` lets only so many distinct vectors vote.
    """
    *_, vectors = perceptron(X, y, epochs, **options)
    more = max(0, presentations - len(vectors))
    vectors = np.concatenate([vectors, np.repeat(vectors[-1:], more, axis=0)])
    if last is not None:
        changes = 1 + np.flatnonzero((np.diff(vectors, axis=0) != 0).any(axis=1))
        vectors = vectors[np.append(0, changes)[-last:][0] :]
    return vote(vectors, X_test, options.get("fit_intercept", True)), vectors
