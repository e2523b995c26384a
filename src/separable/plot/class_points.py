"""Rows of classes as points, each class with its colour and marker."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from separable.plot.style import GREY, class_style, short_names, text_size

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["class_handles", "marker_area", "scatter_classes"]

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
