"""Curves of one class or of many on the same axes: few have colours and names, others are grey."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from separable.plot.style.theme import GREY, LIGHT, LINE_COLOURS, short_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from separable.typing import Floats


__all__ = ["DASHES", "draw_curves"]

#: Maximum curves with names; of more, the LOWEST are named.
NAMED, LOWEST = 7, 3
DASHES = ("-", "--", "-.", ":")


def draw_curves(
    ax: Any,
    curves: Sequence[tuple[Floats, Floats]],
    labels: Sequence[Any],
    areas: Sequence[float],
    measure: str,
    look: dict[str, Any],
) -> list[Any]:
    """Draw curves and return what a legend shows of them.

    Parameters
    ----------
    ax : Axes
    curves : sequence of (x, y)
    labels : sequence
        The class of each.
    areas : sequence of float
        What sums up each curve; many curves are named from the lowest on.
    measure : str
        What that is.
    look : dict
        For ``Axes.plot``.
    """
    order = list(range(len(curves)))
    if len(curves) > NAMED:
        order = [int(k) for k in np.argsort(areas, kind="stable")[:LOWEST]]
    handles, names = [], short_names(labels, 20)
    for rank, k in enumerate(order):
        style = {
            "color": LINE_COLOURS[(k if len(curves) <= NAMED else rank) % len(LINE_COLOURS)],
            "linestyle": DASHES[rank % len(DASHES)] if len(curves) > 1 else "-",
            "linewidth": 1.6,
            "zorder": 3,
            "label": f"{names[k]}: {measure} {areas[k]:.3f}",
            **look,
        }
        handles += ax.plot(*curves[k], **style)
    others = [k for k in range(len(curves)) if k not in set(order)]
    for k in others:
        plain = {"color": LIGHT, "linewidth": 0.8, "zorder": 1, "drawstyle": look.get("drawstyle")}
        (line,) = ax.plot(*curves[k], **plain)
    if others:
        line.set_label(f"{len(others)} other classes")
        handles.append(line)
        line.set_color(GREY if len(others) == 1 else LIGHT)
    return handles
