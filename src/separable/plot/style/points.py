"""Rows, labels and boundaries of one or two columns, as the pictures draw them.

Rows of classes as points, each class with its colour and marker.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from separable.data.rows import as_rows, column_names
from separable.fitting.targets import check_labels
from separable.plot.style.fitted import names_of_columns
from separable.plot.style.plane_geometry import line_in_box
from separable.plot.style.theme import GREY, class_style, short_names, shortened, text_size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from separable.typing import Floats


__all__ = [
    "check_fitted_to",
    "class_handles",
    "draw_boundary",
    "draw_classes",
    "marker_area",
    "names_of",
    "plane_points",
    "scatter_classes",
    "span",
    "two_classes",
]


def plane_points(X: Any, owner: str, columns: int = 2) -> Floats:
    """Return rows of one or two columns as float64, or say why they cannot be drawn.

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
    """Refuse an estimator of another number of columns than is drawn, or without what is drawn."""
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
    """Return the names of the columns; x0, x1, ... where they have none, x if there is one."""
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
    """Return the least and the largest value, with a margin on both sides."""
    low, high = float(np.min(values)), float(np.max(values))
    padding = margin * (high - low) if high > low else 1.0
    return low - padding, high + padding


#: Classes that a legend names.
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
    """Draw rows, each class with its colour and marker; return what a legend shows of them."""
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
    """Return what a legend shows of classes: of many the first ones, and how many more."""
    if len(drawn) <= NAMED:
        return drawn
    from matplotlib.lines import Line2D

    more = Line2D([], [], linestyle="none", label=f"and {len(drawn) - NAMED} more classes")
    return [*drawn[:NAMED], more]
