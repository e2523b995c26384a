"""Several panels in one figure, or in place of one axes."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.plot.style.theme import pyplot

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

__all__ = ["describe_panel", "legend_below", "legend_of_panels", "panels_for", "subplot_spec"]

#: Width of a panel in inches from which on text has full size, and the minimum relative size.
FULL_SIZE_WIDTH, MIN_TEXT_SCALE = 1.9, 0.6
#: Fraction of a narrow panel for its title; width of a character in font sizes.
WIDTH_FRACTION, CHARACTER_WIDTH = 0.8, 0.52
#: Width of a line sample in a legend, in characters.
LINE_SAMPLE_WIDTH = 9
#: Width of a panel in inches from which on its own legend has full size.
LEGEND_WIDTH = 2.4
#: Position of that legend in panel heights; factor by which the layout widens panels.
LEGEND_OFFSET, LAYOUT_GAIN = -0.16, 1.3


def subplot_spec(ax: Axes) -> Any:
    """Return the position of axes, to be divided into panels, and hide the axes."""
    spec = ax.get_subplotspec()
    if spec is None:
        raise ValueError(
            "Axes that were placed by hand cannot be divided into panels. Use axes of "
            "plt.subplots or add_subplot."
        )
    ax.set_axis_off()
    return spec


def panels_for(
    ax: Axes | None,
    count: int,
    *,
    columns: int = 3,
    size: tuple[float, float] = (3.2, 3.0),
    extra: float = 0.0,
    shared_axes: bool = False,
) -> tuple[Figure | SubFigure, Any]:
    """Return the figure and ``count`` axes in rows of at most ``columns``.

    Parameters
    ----------
    ax : Axes or None
        The axes to replace; None: a new figure.
    count, columns : int
    size : (float, float)
        Size of one panel in inches, for a new figure.
    extra : float
        Inches of width beside the panels, for a legend or colour bar.
    shared_axes : bool
        Whether all panels have the same scales.

    Returns
    -------
    figure
    axes : ndarray of Axes, shape (count,)
    """
    columns = min(columns, count)
    rows = -(-count // columns)
    if ax is None:
        width = columns * size[0] + extra
        figure: Any = pyplot().figure(figsize=(width, rows * size[1]), layout="constrained")
        grid = figure.add_gridspec(rows, columns)
    else:
        figure = ax.figure
        grid = subplot_spec(ax).subgridspec(rows, columns)
    made: list[Any] = []
    for index in range(count):
        same = made[0] if shared_axes and made else None
        made.append(figure.add_subplot(grid[divmod(index, columns)], sharex=same, sharey=same))
    return figure, np.array(made, dtype=object)


def describe_panel(ax: Any, title: str, x: str, y: str) -> None:
    """Set the title and axis labels of a panel; shared axes are labelled once."""
    inches = ax.figure.figure.get_size_inches()[0] * ax.get_position().width
    fraction = min(1.0, max(MIN_TEXT_SCALE, inches / FULL_SIZE_WIDTH))
    gain = WIDTH_FRACTION if fraction < 1 else LAYOUT_GAIN
    characters = max(12, int(gain * inches * 72 / (CHARACTER_WIDTH * 10 * fraction)))
    lines = [textwrap.fill(line, characters) for line in title.split("\n")]
    ax.set_title("\n".join(lines), fontsize=10 * fraction, loc="left")
    ax.set_xlabel(x, fontsize=9.5 * fraction)
    ax.set_ylabel(y, fontsize=9.5 * fraction)
    ax.tick_params(labelsize=8.5 * fraction)
    ax.spines[["top", "right"]].set_visible(False)
    siblings = ax.get_shared_x_axes().get_siblings(ax)
    if len(siblings) > 1:
        ax.label_outer()
        if not any(_is_below(other, ax) for other in siblings):  # the last row may be short
            ax.tick_params(labelbottom=True)
            ax.set_xlabel(x, fontsize=9.5 * fraction)


def _is_below(ax: Any, other: Any) -> bool:
    here, mask = ax.get_subplotspec(), other.get_subplotspec()
    return bool(here.colspan == mask.colspan and here.rowspan.start > mask.rowspan.start)


def legend_below(ax: Any, handles: Sequence[Any], *, columns: int = 1) -> None:
    """Add a legend below a panel, in a font size that fits its width."""
    figure = ax.figure.figure
    inches = figure.get_size_inches()[0] * ax.get_position().width
    if figure.get_layout_engine() is not None:
        inches *= LAYOUT_GAIN
    size = 9.0 * min(1.0, max(MIN_TEXT_SCALE, inches / LEGEND_WIDTH))
    letters = inches * 72 / (CHARACTER_WIDTH * size)
    widest = max(len(handle.get_label()) for handle in handles) + LINE_SAMPLE_WIDTH
    if columns * widest > letters:
        columns = 1
    for handle in handles:
        handle.set_label(
            textwrap.fill(handle.get_label(), max(12, int(letters) - LINE_SAMPLE_WIDTH))
        )
    ax.legend(
        handles=handles, loc="upper center", bbox_to_anchor=(0.5, LEGEND_OFFSET), ncols=columns,
        frameon=False, fontsize=size, handlelength=2.6, columnspacing=1.2,
    )  # fmt: skip


def legend_of_panels(axes: Any, handles: Any, *, whole: bool) -> None:
    """Add one legend for all panels: below them, or beside the first row.

    Parameters
    ----------
    axes : ndarray of Axes
    handles : sequence of artists with labels
    whole : bool
        Whether the panels fill the figure.
    """
    if whole:
        letters = sum(len(handle.get_label()) + LINE_SAMPLE_WIDTH for handle in handles)
        wide = axes[0].figure.get_size_inches()[0] * 72 / (CHARACTER_WIDTH * 10)
        rows = int(np.ceil(letters / wide))
        axes[0].figure.legend(
            handles=handles,
            loc="outside lower center",
            ncols=int(np.ceil(len(handles) / rows)),
            frameon=False,
        )
        return
    row = axes[0].get_subplotspec().rowspan
    last = [ax for ax in axes if ax.get_subplotspec().rowspan == row][-1]
    last.legend(
        handles=handles, loc="upper left", bbox_to_anchor=(1.02, 1), frameon=False, fontsize=8
    )
