"""Platt's sigmoid in plain SciPy: the loss itself, minimised."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize


def sigmoid_of_scores(scores, is_positive, weight=None):
    """Return slope and offset that minimise the cross-entropy to Platt's smoothed targets."""
    c = np.ones(len(scores)) if weight is None else weight
    up, down = c[is_positive].sum(), c[~is_positive].sum()
    t = np.where(is_positive, (up + 1) / (up + 2), 1 / (down + 2))

    def loss(pair):
        f = pair[0] * scores + pair[1]
        return c @ (np.logaddexp(0, f) - t * f)

    start = np.array([0.0, np.log((up + 1) / (down + 1))])
    options = {"xatol": 1e-10, "fatol": 1e-14, "maxiter": 10_000}
    return minimize(loss, start, method="Nelder-Mead", options=options).x
