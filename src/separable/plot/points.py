"""Rows and labels as a picture draws them: few columns, dense."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.rows import as_rows, column_names
from separable.fitting.targets import check_labels
from separable.plot.style import class_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["draw_classes", "names_of", "plane_points", "span", "two_classes"]


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


def names_of(X: Any, columns: int = 2) -> tuple[str, ...]:
    """Return the names of the columns, x1, x2, ... where they have none."""
    names = column_names(X)
    if names is None:
        return ("x",) if columns == 1 else tuple(f"x{j + 1}" for j in range(columns))
    return tuple(names)


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
    return [
        ax.plot(*X[y == label].T, label=str(label), **class_style(k), **look)[0]
        for k, label in enumerate(classes)
    ]


def span(values: NDArray[Any], margin: float = 0.08) -> tuple[float, float]:
    """Return the least and the largest value, with a margin on both sides."""
    low, high = float(np.min(values)), float(np.max(values))
    room = margin * (high - low) if high > low else 1.0
    return low - room, high + room
