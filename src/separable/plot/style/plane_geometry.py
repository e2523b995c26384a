"""Plane geometry of the pictures: lines, planes and regions within a box, and ellipses."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from separable.typing import Floats


__all__ = [
    "borders",
    "borders_on_line",
    "box_around",
    "check_covariance",
    "class_scores",
    "ellipse",
    "line_in_box",
    "plane_in_box",
    "regions",
]


class _Part(NamedTuple):
    """A convex part of a plane.

    Parameters
    ----------
    vertices : ndarray, shape (m, 2)
        In order.
    beyond : ndarray of int, shape (m,)
        The class behind the side from each corner to the next, -1 where the box ends.
    """

    vertices: Floats
    beyond: NDArray[np.intp]


#: Room around the data, as a share of its range.
MARGIN = 0.06


def box_around(points: Floats) -> Floats:
    """Return the corners (low, high) of a box around points, with room on all sides."""
    low, high = points.min(axis=0), points.max(axis=0)
    wide = high - low
    least = 1e-9 * np.maximum(np.abs(low), np.abs(high))
    margin = np.where(wide > least, MARGIN * wide, np.maximum(np.abs(high) * 0.1, 1.0))
    return np.array([low - margin, high + margin])


def line_in_box(w: Floats, b: float, box: Floats) -> Floats | None:
    """Return the two ends of w.z + b = 0 within a box of two sides, or None."""
    vertices = np.array([[box[i, 0], box[j, 1]] for i, j in ((0, 0), (1, 0), (1, 1), (0, 1))])
    scores = vertices @ w + b
    result = [
        _crossing(vertices[k], vertices[k - 3], scores[k], scores[k - 3])
        for k in range(4)
        if (scores[k] > 0) != (scores[k - 3] > 0)
    ]
    return np.array(result) if len(result) == 2 else None


def borders(
    weights: Floats, intercept: Floats, box: Floats
) -> Iterator[tuple[tuple[int, int], Floats]]:
    """Give each pair of classes that meet in a box, with the two ends of their border.

    Parameters
    ----------
    weights : ndarray, shape (K, 2)
        The class of a point is the one with the largest weights.z + intercept.
    intercept : ndarray, shape (K,)
    box : ndarray, shape (2, 2)
    """
    for i, part in enumerate(_parts(weights, intercept, box)):
        for k in np.flatnonzero(part.beyond > i):
            ends = part.vertices[[k, (k + 1) % len(part.vertices)]]
            yield (i, int(part.beyond[k])), ends


def regions(weights: Floats, intercept: Floats, box: Floats) -> list[Floats]:
    """Return the polygon of each class within a box, empty for a class that has no point there."""
    return [part.vertices for part in _parts(weights, intercept, box)]


def _parts(weights: Floats, intercept: Floats, box: Floats) -> list[_Part]:
    """Return where each class has the largest weights.z + intercept."""
    (left, bottom), (right, top) = box
    vertices = np.array([[left, bottom], [right, bottom], [right, top], [left, top]])
    result = []
    for i in range(len(weights)):
        part = _Part(vertices, np.full(4, -1))
        for j in range(len(weights)):
            if i != j and len(part.vertices):
                w, b = weights[i] - weights[j], float(intercept[i] - intercept[j])
                part = _half(part, w, b, j)
        result.append(part)
    return result


def plane_in_box(w: Floats, b: float, box: Floats) -> Floats | None:
    """Return the corners of w.z + b = 0 within a box of three sides, in order, or None."""
    vertices = np.array([[box[(k >> a) & 1, a] for a in range(3)] for k in range(8)])
    edges = [(k, k | 1 << a) for k in range(8) for a in range(3) if not k >> a & 1]
    scores = vertices @ w + b
    result = [
        _crossing(vertices[i], vertices[j], scores[i], scores[j])
        for i, j in edges
        if (scores[i] > 0) != (scores[j] > 0)
    ]
    if len(result) < 3:
        return None
    points = np.array(result)
    return points[_around(points, w, box[1] - box[0])]


def _around(points: Floats, w: Floats, sides: Floats) -> NDArray[np.intp]:
    """Return the order of points of a plane around their middle."""
    flat = (points - points.mean(axis=0)) / sides
    normal = w * sides
    first = np.cross(normal, np.eye(3)[np.argmin(np.abs(normal))])
    second = np.cross(normal, first)
    lengths = np.linalg.norm(first), np.linalg.norm(second)
    order: NDArray[np.intp] = np.argsort(
        np.arctan2(flat @ second / lengths[1], flat @ first / lengths[0])
    )
    return order


def _crossing(here: Floats, end: Floats, score: float, other: float) -> Floats:
    """Return the point between two, of scores on both sides of 0, where it is 0."""
    result: Floats = here + score / (score - other) * (end - here)
    return result


def _half(part: _Part, w: Floats, b: float, rival: int) -> _Part:
    """Return what is left of a region where w.z + b >= 0; beyond the cut is the rival."""
    vertices, n = part.vertices, len(part.vertices)
    scores = vertices @ w + b
    if scores.min() >= 0:
        return part
    kept: list[Floats] = []
    beyond: list[int] = []
    for k in range(n):
        here, mask = scores[k], scores[(k + 1) % n]
        if here >= 0:
            kept.append(vertices[k])
            beyond.append(int(part.beyond[k]))
        if (here >= 0) != (mask >= 0):
            kept.append(_crossing(vertices[k], vertices[(k + 1) % n], here, mask))
            beyond.append(rival if here >= 0 else int(part.beyond[k]))
    return _Part(np.array(kept).reshape(-1, 2), np.array(beyond, dtype=np.intp))


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
    crossings = []
    for k, other in combinations(range(len(w)), 2):
        if w[k] == w[other]:
            continue
        x = (intercept[other] - intercept[k]) / (w[k] - w[other])
        scores = w * x + intercept
        if scores[k] >= scores.max() - SAME * max(1.0, np.abs(scores).max()):
            crossings.append(x)
    return np.unique(np.array(crossings, dtype=np.float64)) + 0.0  # no -0


def ellipse(centre: Floats, covariance: Floats, radius: float, n: int = 241) -> Floats:
    """Return n points z with (z - m)'S^-1 (z - m) = radius^2, the first again at the end.

    Examples
    --------
    >>> import numpy as np
    >>> ellipse(np.zeros(2), np.diag([1.0, 4.0]), 3.0, n=5).round(9) + 0.0
    array([[ 3.,  0.],
           [ 0.,  6.],
           [-3.,  0.],
           [ 0., -6.],
           [ 3.,  0.]])
    """
    angle = np.linspace(0, 2 * np.pi, n)
    circle = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    points: Floats = centre + radius * circle @ np.linalg.cholesky(covariance).T
    return points


def check_covariance(covariance: object, name: str) -> Floats:
    """Return a 2 x 2 matrix that is symmetric and positive definite, or refuse it."""
    matrix = np.asarray(covariance, dtype=np.float64)
    if matrix.shape != (2, 2) or not np.isfinite(matrix).all():
        raise ValueError(f"{name} must be 2 x 2 finite numbers. Got {np.asarray(covariance)!r}.")
    if matrix[0, 1] != matrix[1, 0] or matrix[0, 0] <= 0 or np.linalg.det(matrix) <= 0:
        raise ValueError(f"{name} must be symmetric and positive definite. Got {matrix.tolist()}.")
    return matrix
