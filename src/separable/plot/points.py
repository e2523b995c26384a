"""Rows, labels and boundaries of two columns or one, as pictures draw them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from separable.data.rows import as_rows, column_names
from separable.fitting.targets import check_labels
from separable.plot.clipping import line_in_box
from separable.plot.fitted import names_of_columns
from separable.plot.style import class_style, short_names, shortened

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = [
    "check_fitted_to",
    "draw_boundary",
    "draw_classes",
    "names_of",
    "plane_points",
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
    room = margin * (high - low) if high > low else 1.0
    return low - room, high + room
