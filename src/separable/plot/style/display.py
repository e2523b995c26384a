"""What all displays share: they draw on axes, given or new, and keep them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from separable.plot.style.theme import axes_for

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

__all__ = ["Display"]


class Display:
    """A picture that can be drawn again: its data are public, ``plot`` draws them.

    Attributes
    ----------
    ax_ : Axes
        What was drawn on last.
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
