"""Exact pieces of lines, planes and regions of classes that lie within a box."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["borders", "box_around", "line_in_box", "plane_in_box", "regions"]

#: Room around the data, as a share of its range.
ROOM = 0.06


def box_around(points: Floats) -> Floats:
    """Return the corners (low, high) of a box around points, with room on all sides."""
    low, high = points.min(axis=0), points.max(axis=0)
    wide = high - low
    least = 1e-9 * np.maximum(np.abs(low), np.abs(high))
    room = np.where(wide > least, ROOM * wide, np.maximum(np.abs(high) * 0.1, 1.0))
    return np.array([low - room, high + room])


def line_in_box(w: Floats, b: float, box: Floats) -> Floats | None:
    """Return the two ends of w.z + b = 0 within a box of two sides, or None."""
    found = _piece(w, b, np.empty((0, 2)), np.empty(0), box)
    return None if found is None else np.array(found)


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
    for i in range(len(weights)):
        for j in range(i + 1, len(weights)):
            w, b = weights[j] - weights[i], intercept[j] - intercept[i]
            above = weights[i] - weights, intercept[i] - intercept
            others = np.delete(np.arange(len(weights)), [i, j])
            found = _piece(w, float(b), above[0][others], above[1][others], box)
            if found is not None:
                yield (i, j), np.array(found)


def regions(weights: Floats, intercept: Floats, box: Floats) -> list[Floats]:
    """Return the polygon of each class within a box, empty for a class that has no point there."""
    (left, bottom), (right, top) = box
    whole = np.array([[left, bottom], [right, bottom], [right, top], [left, top]])
    found = []
    for i in range(len(weights)):
        part = whole
        for j in range(len(weights)):
            if i != j and len(part):
                part = _half(part, weights[i] - weights[j], float(intercept[i] - intercept[j]))
        found.append(part)
    return found


def plane_in_box(w: Floats, b: float, box: Floats) -> Floats | None:
    """Return the corners of w.z + b = 0 within a box of three sides, in order, or None."""
    corners = np.array([[box[(k >> a) & 1, a] for a in range(3)] for k in range(8)])
    edges = [(k, k | 1 << a) for k in range(8) for a in range(3) if not k >> a & 1]
    scores = corners @ w + b
    found = [
        corners[i] + scores[i] / (scores[i] - scores[j]) * (corners[j] - corners[i])
        for i, j in edges
        if (scores[i] > 0) != (scores[j] > 0)
    ]
    if len(found) < 3:
        return None
    points = np.array(found)
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


def _piece(
    w: Floats, b: float, above: Floats, offsets: Floats, box: Floats
) -> tuple[Floats, Floats] | None:
    """Return the ends of w.z + b = 0 where above.z + offsets >= 0, within a box; or None."""
    sides = box[1] - box[0]
    scaled = w * sides  # the box as the unit square
    size = np.abs(scaled).max()
    if not size > 0:
        return None
    unit, level = scaled / size, (b + w @ box[0]) / size
    foot = -level * unit / (unit @ unit)
    along = np.array([-unit[1], unit[0]])
    rates = np.concatenate([np.eye(2) @ along, -np.eye(2) @ along, (above * sides) @ along])
    rest = np.concatenate([foot, 1 - foot, (above * sides) @ foot + above @ box[0] + offsets])
    tiny = 1e-15 * np.maximum(np.abs(rest), 1.0)
    if (rest[np.abs(rates) <= tiny] < 0).any():
        return None
    with np.errstate(divide="ignore", invalid="ignore"):
        cuts = -rest / rates
    start = cuts[rates > tiny].max(initial=-np.inf)
    stop = cuts[rates < -tiny].min(initial=np.inf)
    if not start < stop:
        return None
    return tuple(box[0] + sides * (foot + t * along) for t in (start, stop))


def _half(polygon: Floats, w: Floats, b: float) -> Floats:
    """Return the part of a polygon with w.z + b >= 0."""
    scores = polygon @ w + b
    kept = []
    for k in range(len(polygon)):
        here, there = scores[k], scores[(k + 1) % len(polygon)]
        if here >= 0:
            kept.append(polygon[k])
        if (here >= 0) != (there >= 0):
            kept.append(
                polygon[k] + here / (here - there) * (polygon[(k + 1) % len(polygon)] - polygon[k])
            )
    return np.array(kept).reshape(-1, 2)
