"""Where, on a line, one class stops being the best one and another begins."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["borders_on_line", "class_scores"]

#: Scores that differ by less than this share of their size are the same.
SAME = 1e-9


def class_scores(model: Any) -> tuple[Floats, Floats]:
    """Return weights (K, d) and intercepts (K,) with one score a class, also for two classes.

    Examples
    --------
    >>> from separable import LDA
    >>> class_scores(LDA().fit([[1.0], [3.0], [6.0], [8.0]], [0, 0, 1, 1]))[0]
    array([[0. ],
           [2.5]])
    """
    weights = np.asarray(model.coef_, dtype=np.float64)
    intercept = np.asarray(model.intercept_, dtype=np.float64)
    if len(weights) > 1:
        return weights, intercept
    return np.vstack([np.zeros_like(weights), weights]), np.array([0.0, intercept[0]])


def borders_on_line(weights: Floats, intercept: Floats) -> Floats:
    """Return the places of one column where the best class changes, in order.

    Examples
    --------
    >>> import numpy as np
    >>> borders_on_line(np.array([[-1.0], [0.0], [1.0]]), np.array([0.0, 2.0, 0.0])).tolist()
    [-2.0, 2.0]
    """
    w = weights[:, 0]
    places = []
    for k, other in combinations(range(len(w)), 2):
        if w[k] == w[other]:
            continue
        x = (intercept[other] - intercept[k]) / (w[k] - w[other])
        scores = w * x + intercept
        if scores[k] >= scores.max() - SAME * max(1.0, np.abs(scores).max()):
            places.append(x)
    return np.unique(np.array(places, dtype=np.float64)) + 0.0  # no -0
