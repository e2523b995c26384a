"""The plane of a picture: lines, regions and ellipses in a box, and rows of classes as points."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from separable.data.rows import as_rows, column_names
from separable.estimator import check_is_fitted
from separable.fitting.targets import check_labels
from separable.plot.style.fitted import names_of_columns
from separable.plot.style.theme import GREY, class_style, short_names, shortened, text_size

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from separable.typing import Floats


__all__ = [
    "borders",
    "borders_on_line",
    "box_around",
    "check_covariance",
    "check_fitted_to",
    "class_handles",
    "class_scores",
    "draw_boundary",
    "draw_classes",
    "ellipse",
    "line_in_box",
    "marker_area",
    "names_of",
    "plane_in_box",
    "plane_points",
    "regions",
    "scatter_classes",
    "span",
    "two_classes",
]


class _Part(NamedTuple):
    """A convex part of a plane.

    Parameters
    ----------
    vertices : ndarray, shape (m, 2)
        In order.
    beyond : ndarray of int, shape (m,)
        The class beyond the edge from each corner to the next, -1 at the box.
    """

    vertices: Floats
    beyond: NDArray[np.intp]


#: Margin around the data, as a fraction of its range.
MARGIN = 0.06


def box_around(points: Floats) -> Floats:
    """Return the corners (low, high) of a box around points, with a margin."""
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
    """Yield each pair of classes that meet in a box, with the two ends of their border.

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
    """Return the polygon of each class within a box; empty if the class has no point there."""
    return [part.vertices for part in _parts(weights, intercept, box)]


def _parts(weights: Floats, intercept: Floats, box: Floats) -> list[_Part]:
    """Return the regions in which each class has the largest weights.z + intercept."""
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
    """Return the angular order of points of a plane around their centre."""
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
    """Return the point between two at which the score is 0."""
    result: Floats = here + score / (score - other) * (end - here)
    return result


def _half(part: _Part, w: Floats, b: float, rival: int) -> _Part:
    """Return the part of a region with w.z + b >= 0; beyond the cut is the rival."""
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


#: Relative tolerance of equal scores.
SAME = 1e-9


def class_scores(model: Any) -> tuple[Floats, Floats]:
    """Return weights (K, d) and intercepts (K,) with one score per class, also for two classes.

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
    """Return the values of one column at which the best class changes, in order.

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
    """Return n points z with (z - m)'S^-1 (z - m) = radius^2, the last equal to the first.

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
    """Return a 2 x 2 matrix; refuse one that is not symmetric positive definite."""
    matrix = np.asarray(covariance, dtype=np.float64)
    if matrix.shape != (2, 2) or not np.isfinite(matrix).all():
        raise ValueError(f"{name} must be 2 x 2 finite numbers. Got {np.asarray(covariance)!r}.")
    if matrix[0, 1] != matrix[1, 0] or matrix[0, 0] <= 0 or np.linalg.det(matrix) <= 0:
        raise ValueError(f"{name} must be symmetric and positive definite. Got {matrix.tolist()}.")
    return matrix


def plane_points(X: Any, owner: str, columns: int = 2) -> Floats:
    """Return rows of one or two columns as float64; refuse others.

    Examples
    --------
    >>> plane_points([[1, 2], [3, 4]], "NormalDisplay")
    array([[1., 2.],
           [3., 4.]])
    """
    rows = as_rows(X)
    if rows.n_features != columns:
        raise ValueError(
            f"{owner} draws X with {columns} {'column' if columns == 1 else 'columns'}. Got "
            f"{rows.n_features}. Choose the columns to draw first."
        )
    return np.asarray(rows.to_matrix() @ np.eye(columns), dtype=np.float64)


def check_fitted_to(estimator: Any, columns: int, owner: str, needs: Sequence[str] = ()) -> None:
    """Refuse an estimator with another number of columns, or without the needed attributes."""
    check_is_fitted(estimator)
    missing = [name for name in needs if not hasattr(estimator, name)]
    if missing:
        raise TypeError(
            f"{owner} draws discriminant analysis, for example separable.LDA. This "
            f"{type(estimator).__name__} has no {missing[0]}."
        )
    if estimator.n_features_in_ != columns:
        raise ValueError(
            f"{owner} draws an estimator of {columns} {'column' if columns == 1 else 'columns'}. "
            f"Got one that was fitted to {estimator.n_features_in_}."
        )


def names_of(X: Any, columns: int = 2) -> tuple[str, ...]:
    """Return the names of the columns; by default x0, x1, ..., or x for a single one."""
    if columns == 1 and column_names(X) is None:
        return ("x",)
    return tuple(shortened(name) for name in names_of_columns(X, None, columns))


def two_classes(y: Any, n_rows: int, owner: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the labels and their two classes, or refuse any other number of classes."""
    labels = check_labels(y, n_rows, owner)
    classes = np.unique(labels)
    if len(classes) != 2:
        raise ValueError(
            f"{owner} draws two classes. Got {len(classes)}: {classes[:5].tolist()}. Choose the "
            "rows of two of them."
        )
    return labels, classes


def draw_classes(
    ax: Axes, X: Floats, y: NDArray[Any], classes: NDArray[Any], **how: Any
) -> list[Any]:
    """Draw the rows of each class in its colour and with its marker; return the handles."""
    look = {"linestyle": "", "markersize": 5, "alpha": 0.75, "markeredgewidth": 0, **how}
    names = short_names(classes.tolist())
    return [
        ax.plot(*X[y == label].T, label=names[k], **class_style(k), **look)[0]
        for k, label in enumerate(classes)
    ]


def draw_boundary(ax: Axes, w: Floats, b: float, box: Floats, **look: Any) -> Any:
    """Draw w.x + b = 0 where it crosses the box, and set the limits; return the line."""
    ends = line_in_box(w, b, box)
    (line,) = ax.plot(*(np.empty((2, 0)) if ends is None else ends.T), **look)
    ax.set_xlim(*box[:, 0])
    ax.set_ylim(*box[:, 1])
    return line


def span(values: NDArray[Any], margin: float = 0.08) -> tuple[float, float]:
    """Return the smallest and the largest value, with a margin on both sides."""
    low, high = float(np.min(values)), float(np.max(values))
    padding = margin * (high - low) if high > low else 1.0
    return low - padding, high + padding


#: Maximum number of classes in a legend.
NAMED = 12


def marker_area(ax: Any, n: int) -> float:
    """Return the area of the markers of n rows, in square points."""
    full = np.clip(26.0 * np.sqrt(300.0 / max(n, 1)), 3.0, 30.0)
    return float(full * text_size(ax, 1.0) ** 2)


def scatter_classes(
    ax: Any,
    points: Floats,
    codes: NDArray[np.int32] | None,
    classes: NDArray[Any],
    scatter_kwargs: dict[str, Any],
) -> list[Any]:
    """Draw rows, each class with its colour and marker; return the legend handles."""
    n = len(points)
    look = {
        "s": marker_area(ax, n),
        "alpha": 0.9 if n <= 1000 else 0.5,
        "linewidths": 0.4 if n <= 1000 else 0.0,
        "edgecolors": "white",
        "rasterized": n > 2000,
        "zorder": 2,
        **scatter_kwargs,
    }
    if codes is None:
        return [ax.scatter(*points.T, **{"color": GREY, "label": f"rows ({n})", **look})]
    drawn = []
    for k, name in enumerate(short_names(classes.tolist())):
        of_class = points[codes == k]
        if len(of_class):
            style = {**class_style(k), "label": f"{name} ({len(of_class)})", **look}
            drawn.append(ax.scatter(*of_class.T, **style))
    return class_handles(drawn)


def class_handles(drawn: list[Any]) -> list[Any]:
    """Return legend handles of classes; of many, the first ones and a count of the others."""
    if len(drawn) <= NAMED:
        return drawn
    from matplotlib.lines import Line2D

    more = Line2D([], [], linestyle="none", label=f"and {len(drawn) - NAMED} more classes")
    return [*drawn[:NAMED], more]
