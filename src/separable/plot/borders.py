"""Where one class stops being the best one and another begins.

Class k has the score w_k.x + b_k. The border of two classes is drawn only where no third class has
a larger score.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["borders_in_box", "borders_on_line", "class_scores", "line_in_box"]

#: Scores that differ by less than this share of their size are the same.
SAME = 1e-9


def class_scores(model: Any) -> tuple[Floats, Floats]:
    """Return weights (K, d) and intercepts (K,) with one score a class, also for two classes.

    Examples
    --------
    >>> from separable import LDA
    >>> class_scores(LDA().fit([[1.0], [3.0], [6.0], [8.0]], [0, 0, 1, 1]))[0].tolist()
    [[0.0], [2.5]]
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
    return np.unique(np.array(places, dtype=np.float64))


def borders_in_box(
    weights: Floats, intercept: Floats, x: tuple[float, float], y: tuple[float, float]
) -> dict[tuple[int, int], Floats]:
    """Return, for each pair of classes that meet in the box, the two ends of their border."""
    found = {}
    for k, other in combinations(range(len(weights)), 2):
        w, b = weights[k] - weights[other], float(intercept[k] - intercept[other])
        ends = line_in_box(w, b, x, y)
        if ends is None:
            continue
        others = [c for c in range(len(weights)) if c not in (k, other)]
        lead = (weights[k] - weights[others]) @ ends.T + (intercept[k] - intercept[others])[:, None]
        part = _positive_part(lead)
        if part is not None:
            found[k, other] = ends[0] + np.array(part)[:, None] * (ends[1] - ends[0])
    return found


def line_in_box(
    w: Floats, b: float, x: tuple[float, float], y: tuple[float, float]
) -> Floats | None:
    """Return the two ends of the line w.z + b = 0 in a box, None where it does not cross it.

    Examples
    --------
    >>> import numpy as np
    >>> line_in_box(np.array([1.0, -1.0]), 0.0, (0, 2), (0, 1)).tolist()
    [[0.0, 0.0], [1.0, 1.0]]
    """
    size = float(w @ w)
    if size == 0:
        return None
    foot, along = -b * w / size, np.array([-w[1], w[0]])
    low, high = -np.inf, np.inf
    for start, step, (least, most) in zip(foot, along, (x, y), strict=True):
        if step == 0:
            if not least <= start <= most:
                return None
            continue
        ends = sorted(((least - start) / step, (most - start) / step))
        low, high = max(low, ends[0]), min(high, ends[1])
    if low >= high:
        return None
    points = foot + np.array([[low], [high]]) * along
    return points[np.argsort(points[:, 0], kind="stable")]


def _positive_part(lead: Floats) -> tuple[float, float] | None:
    """Return the part of [0, 1] in which all of these straight lines are at least 0."""
    low, high = 0.0, 1.0
    for first, last in lead:
        if first < 0 and last < 0:
            return None
        if first < 0:
            low = max(low, first / (first - last))
        elif last < 0:
            high = min(high, first / (first - last))
    return (low, high) if low < high else None
