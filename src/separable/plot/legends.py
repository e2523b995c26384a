"""Legends beside the axes, where they cover no data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["legend_beside"]


def legend_beside(ax: Axes, handles: Any = None, **how: Any) -> Any:
    """Put the legend at the right of the axes."""
    given = {} if handles is None else {"handles": handles}
    return ax.legend(
        loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False, fontsize=9, **given, **how
    )
