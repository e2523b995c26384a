"""Theme of all pictures: colours, axes, labels, legends, and the base class of displays.

The colours are those of Okabe and Ito (2008), "Color universal design", which colour-blind people
can tell apart; classes also differ by marker, so that nothing depends on colour alone.
"""

from __future__ import annotations

import textwrap
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from separable.errors import require_packages

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.legend import Legend


__all__ = [
    "CLASS_COLOURS",
    "DARK",
    "DASHES",
    "GREY",
    "LIGHT",
    "LINE_COLOURS",
    "MARKERS",
    "Display",
    "add_legend",
    "axes_for",
    "called",
    "class_style",
    "describe",
    "is_narrow",
    "limits_of",
    "pyplot",
    "short_names",
    "shortened",
    "text_size",
]

BLUE, ORANGE, GREEN, PINK = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
AMBER, SKY, YELLOW, BLACK = "#E69F00", "#56B4E9", "#F0E442", "#000000"

#: One per class, in this order; after eight they repeat, with other markers.
CLASS_COLOURS = (BLUE, ORANGE, GREEN, PINK, AMBER, SKY, BLACK, YELLOW)
#: For thin lines, without yellow, which is hard to see on white.
LINE_COLOURS = CLASS_COLOURS[:7]
DASHES = ("-", "--", "-.", ":")
MARKERS = ("o", "^", "s", "D", "v", "P", "X", "*")
#: Lines and text that belong to no class.
DARK, GREY, LIGHT = "#333333", "#767676", "#D0D0D0"

#: Maximum length of a name, in characters.
MAX_NAME_WIDTH = 24
#: Width of axes in inches from which on text has full size, and the minimum relative size.
FULL_SIZE_WIDTH, MIN_TEXT_SCALE = 4.6, 0.7
#: Average width of a character in font sizes.
CHARACTER_WIDTH = 0.58
#: Approximate fraction of a figure that single axes fill, in width and height.
AXES_FRACTION = 0.85, 0.75
#: Axes narrower than this, in inches, have their legend below.
NARROW_WIDTH = 3.4
#: Fraction of their height that remains then.
NARROW_HEIGHT_FRACTION = 0.6


def pyplot() -> Any:
    """Return ``matplotlib.pyplot``, or raise an error that says how to install it."""
    require_packages("A picture", matplotlib="matplotlib")
    from matplotlib import pyplot as plt

    return plt


def axes_for(
    ax: Axes | None, *, size: tuple[float, float] = (6.4, 4.8), projection: str | None = None
) -> tuple[Figure | SubFigure, Axes]:
    """Return the figure and axes to draw on: those given, or new ones."""
    plt = pyplot()
    if ax is not None:
        return ax.figure, ax
    figure = plt.figure(figsize=size, layout="constrained")
    return figure, figure.add_subplot(projection=projection)


def class_style(k: int) -> dict[str, Any]:
    """Return the colour and marker of class number k for matplotlib; 64 are distinct."""
    n = len(CLASS_COLOURS)
    return {"color": CLASS_COLOURS[k % n], "marker": MARKERS[(k + k // n) % len(MARKERS)]}


def shortened(name: object, width: int = MAX_NAME_WIDTH) -> str:
    """Return a name on one line, without its middle if it is longer than ``width``.

    Examples
    --------
    >>> from separable.plot.style.theme import shortened
    >>> shortened("the number of messages that were sent at night")
    'the number o…nt at night'
    """
    return _drawn(_cut(_one_line(name), width))


def short_names(names: Iterable[object], width: int = MAX_NAME_WIDTH) -> list[str]:
    """Return names, shortened so that they stay distinct.

    Names that would be equal without their middle lose their common start and end instead; if that
    is not enough, they are numbered.

    Examples
    --------
    >>> from separable.plot.style.theme import short_names
    >>> short_names(["sent at night, first week of May", "sent at night, third week of May"], 16)
    ['…t night, first…', '…t night, third…']
    """
    texts = [_one_line(name) for name in names]
    long = [text for text in dict.fromkeys(texts) if len(text) > width]
    shown = {text: _cut(text, width) for text in long}
    if len(set(shown.values())) < len(long):
        shown = _numbered(long, width)
    return [_drawn(shown.get(text, text)) for text in texts]


def called(label: object, width: int = MAX_NAME_WIDTH) -> str:
    """Return the name of a class for a sentence: "class 1" if it is a number.

    Examples
    --------
    >>> from separable.plot.style.theme import called
    >>> called("spam"), called(1)
    ('spam', 'class 1')
    """
    return shortened(label, width) if isinstance(label, str) else f"class {shortened(label, width)}"


def _one_line(name: object) -> str:
    return " ".join(str(name).split())


def _cut(text: str, width: int) -> str:
    """Return a text without its middle if it is longer than ``width``."""
    if len(text) <= width:
        return text
    head = width // 2
    return f"{text[:head]}…{text[len(text) - (width - head - 1) :]}"


def _drawn(text: str) -> str:
    return text.replace("$", r"\$")  # matplotlib reads $...$ as formulas


def _common(texts: Sequence[str]) -> int:
    """Return the length of the common prefix of texts."""
    together = zip(*texts, strict=False)
    return sum(1 for _ in takewhile(lambda letters: len(set(letters)) == 1, together))


def _numbered(group: Sequence[str], width: int) -> dict[str, str]:
    """Return the differing parts of texts with a common start and end."""
    start = _common(group)
    end = _common([text[start:][::-1] for text in group])
    longest = max(len(text) for text in group) - start - end
    start -= min(start, max(0, width - 2 - longest))  # as much of the start as fits
    shown = {}
    for text in group:
        middle = text[start : len(text) - end]
        shown[text] = f"{'…' * (start > 0)}{_cut(middle, width - 2)}{'…' * (end > 0)}"
    if len(set(shown.values())) == len(group):
        return shown
    width_left = width - 3 - len(str(len(group)))
    return {text: f"{_cut(text, width_left)} ({k})" for k, text in enumerate(group, 1)}


def text_size(ax: Axes, size: float = 10.0) -> float:
    """Return a font size for these axes: smaller in small ones."""
    width, _ = _inches(ax)
    return size * min(1.0, max(MIN_TEXT_SCALE, width / FULL_SIZE_WIDTH))


def is_narrow(ax: Axes) -> bool:
    """Return whether axes are so narrow that their legend is below them."""
    return _inches(ax)[0] < NARROW_WIDTH


def describe(ax: Axes, title: str, x: str | None = None, y: str | None = None) -> None:
    """Set title and axis labels, wrapped to the width of the axes.

    Parameters
    ----------
    ax : Axes
    title : str
        The title.
    x, y : str, optional
        The axis labels, with the unit. None leaves them unchanged.
    """
    width, height = _inches(ax)
    large, small = text_size(ax, 11.0), text_size(ax, 10.0)
    ax.tick_params(labelsize=text_size(ax, 9.0))
    if y is not None:
        limit = NARROW_HEIGHT_FRACTION * height if is_narrow(ax) else height
        ax.set_ylabel(_lines(y, limit, small), fontsize=small)
    if len(ax.figure.figure.axes) == 1:
        width = min(width, float(ax.figure.figure.get_size_inches()[0]) - _beside(ax) - 0.15)
    if x is not None:
        ax.set_xlabel(_lines(x, width, small), fontsize=small)
    ax.set_title(_lines(title, width, large), fontsize=large, loc="left")
    if ax.name == "rectilinear":
        ax.spines[["top", "right"]].set_visible(False)
    if ax.figure.get_layout_engine() is None:
        _fit(ax)


def add_legend(
    ax: Axes,
    handles: Sequence[Any] | None = None,
    *,
    title: str | None = None,
    loc: str | None = None,
) -> Legend | None:
    """Add a legend beside the axes, outside the data.

    Parameters
    ----------
    ax : Axes
    handles : sequence of artists, optional
        The handles. By default everything with a label.
    title : str, optional
    loc : str, optional
        A corner inside the axes, if that is known to be empty.

    Returns
    -------
    Legend or None
        None if nothing has a label.
    """
    shown = ax.get_legend_handles_labels()[0] if handles is None else list(handles)
    if not shown:
        return None
    small = text_size(ax, 9.0)
    look: dict[str, Any] = {"fontsize": small, "title_fontsize": small, "frameon": False}
    if loc is not None:
        look |= {"loc": loc}
    elif is_narrow(ax):
        below = _translation(ax, 0.0, -_below(ax))
        look |= {"loc": "upper right", "bbox_to_anchor": (1.0, 0.0), "bbox_transform": below}
        look |= {"columnspacing": 1.0, "handlelength": 1.5, "borderaxespad": 0.2}
    else:
        look |= {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0), "borderaxespad": 0.0}
    legend: Legend = ax.legend(handles=shown, title=title, **look)
    if "bbox_transform" in look and _fits_beside(ax, 2.1 * legend.get_window_extent().width):
        legend = ax.legend(handles=shown, title=title, ncols=2, **look)
    drawn: list[Any] = list(legend.legend_handles)
    for handle in drawn:
        if hasattr(handle, "get_sizes"):  # visible, however small the points are
            handle.set_sizes([max(float(handle.get_sizes()[0]), 2.4 * small)])
            handle.set_alpha(1.0)
    if ax.figure.get_layout_engine() is None:  # reserve space for it
        _fit(ax)
        _fit(ax)  # smaller axes may have other, longer tick labels
    return legend


def _beside(ax: Axes) -> float:
    """Return the width of ticks and label to the left of the axes, in inches."""
    result = ax.yaxis.get_tightbbox(None)
    return 0.0 if result is None else float(result.width / ax.figure.figure.dpi)


def _below(ax: Axes) -> float:
    """Return the height of ticks and labels below the axes, in inches."""
    result = ax.get_tightbbox()
    if result is None:
        return 0.0
    return float(max(0.0, ax.bbox.y0 - result.y0) / ax.figure.figure.dpi)


def _fits_beside(ax: Axes, pixels: float) -> bool:
    """Return whether a width in pixels fits below the axes and their labels."""
    return pixels / ax.figure.figure.dpi < _inches(ax)[0]


def _translation(ax: Axes, right: float, up: float) -> Any:
    """Return the transform of axes fractions, shifted by inches."""
    from matplotlib.transforms import ScaledTranslation

    return ax.transAxes + ScaledTranslation(right, up, ax.figure.figure.dpi_scale_trans)


def _fit(ax: Axes) -> None:
    """Shrink axes so that their labels and legend fit into the original space."""
    around = ax.get_tightbbox()
    if around is None:
        return
    box, whole = ax.get_position(), ax.figure.figure.bbox
    x0, y0, x1, y1 = limits_of(ax)
    right_end = max(ax.bbox.x1, min(x1, ax.bbox.x1 + 0.03 * whole.width))
    left = max(0.0, x0 - around.x0) / whole.width
    right = max(0.0, around.x1 - right_end) / whole.width
    down = max(0.0, y0 - around.y0) / whole.height
    up = max(0.0, around.y1 - y1) / whole.height
    width = max(box.width - left - right, 0.3 * box.width)
    height = max(box.height - down - up, 0.3 * box.height)
    ax.set_position((box.x0 + left, box.y0 + down, width, height))


def limits_of(ax: Axes) -> tuple[float, float, float, float]:
    """Return the space of axes with their labels: left, low, right, high, in pixels.

    That is the figure, and half of the gap to neighbouring axes of a grid.
    """
    figure, spec = ax.figure.figure, ax.get_subplotspec()
    whole = figure.bbox
    x0, y0, x1, y1 = whole.x0 + 3, whole.y0 + 3, whole.x1 - 3, whole.y1 - 3
    if spec is None:
        return x0, y0, x1, y1
    lows, highs, lefts, rights = spec.get_gridspec().get_grid_positions(figure)
    row, column = spec.rowspan, spec.colspan
    if column.start > 0:
        x0 = whole.width * float(lefts[column.start] + rights[column.start - 1]) / 2
    if row.stop < len(lows):
        y0 = whole.height * float(lows[row.stop - 1] + highs[row.stop]) / 2
    if column.stop < len(lefts):
        x1 = whole.width * float(rights[column.stop - 1] + lefts[column.stop]) / 2
    if row.start > 0:
        y1 = whole.height * float(highs[row.start] + lows[row.start - 1]) / 2
    return x0, y0, x1, y1


def _inches(ax: Axes) -> tuple[float, float]:
    """Return width and height of axes; single axes fill almost all of their figure."""
    figure = ax.figure.figure
    whole, box = figure.get_size_inches(), ax.get_position()
    if len(figure.axes) == 1 and figure.get_layout_engine() is not None:
        return float(AXES_FRACTION[0] * whole[0]), float(AXES_FRACTION[1] * whole[1])
    return float(whole[0] * box.width), float(whole[1] * box.height)


def _lines(text: str, inches: float, size: float) -> str:
    """Break a text into lines of a width in inches."""
    width = max(12, int(inches * 72 / (CHARACTER_WIDTH * size)))
    parts = (textwrap.fill(part, width, break_long_words=False) for part in text.split("\n"))
    return "\n".join(parts)


class Display:
    """A picture that can be drawn again: its data are public, ``plot`` draws them.

    Attributes
    ----------
    ax_ : Axes
        Axes and figure of the last plot.
    figure_ : Figure
    """

    ax_: Axes
    figure_: Figure | SubFigure

    def _open(
        self,
        ax: Axes | None,
        *,
        size: tuple[float, float] = (6.4, 4.8),
        projection: str | None = None,
    ) -> Any:
        """Return the axes to draw on, and keep them."""
        self.figure_, self.ax_ = axes_for(ax, size=size, projection=projection)
        return self.ax_
