"""How every picture looks: colours that everyone can tell apart, axes, legends.

The colours are those of Okabe and Ito (2008), "Color universal design", which stay apart for
people with colour-blindness; classes differ by marker, too, so that nothing hangs on colour alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

__all__ = ["CLASS_COLOURS", "DARK", "GREY", "LIGHT", "MARKERS", "axes_for", "class_style", "pyplot"]

BLUE, ORANGE, GREEN, PINK = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
AMBER, SKY, YELLOW, BLACK = "#E69F00", "#56B4E9", "#F0E442", "#000000"

#: One a class, in this order; they begin again after eight.
CLASS_COLOURS = (BLUE, ORANGE, GREEN, PINK, AMBER, SKY, BLACK, YELLOW)
MARKERS = ("o", "^", "s", "D", "v", "P", "X", "*")
#: Lines and text that belong to no class.
DARK, GREY, LIGHT = "#333333", "#767676", "#D0D0D0"


def pyplot() -> Any:
    """Return ``matplotlib.pyplot``, or say how to install it."""
    try:
        from matplotlib import pyplot as plt
    except ImportError as error:
        raise ImportError(
            "Pictures need matplotlib. Install it with: pip install 'separable[plot]'"
        ) from error
    return plt


def axes_for(
    ax: Axes | None, *, size: tuple[float, float] = (6.4, 4.8), projection: str | None = None
) -> tuple[Figure | SubFigure, Axes]:
    """Return the figure and axes to draw on: those given, or new ones."""
    if ax is not None:
        return ax.figure, ax
    figure = pyplot().figure(figsize=size, layout="constrained")
    return figure, figure.add_subplot(projection=projection)


def class_style(k: int) -> dict[str, Any]:
    """Return the colour and marker of class number k, as matplotlib's words."""
    return {
        "color": CLASS_COLOURS[k % len(CLASS_COLOURS)],
        "marker": MARKERS[k % len(MARKERS)],
    }
