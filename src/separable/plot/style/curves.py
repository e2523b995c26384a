"""Curves of one or many classes, and the axis of a regularization parameter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from separable.plot.style.theme import GREY, LIGHT, LINE_COLOURS, short_names, shortened

if TYPE_CHECKING:
    from collections.abc import Sequence

    from separable.typing import Floats


__all__ = ["DASHES", "draw_curves", "penalty_label", "penalty_positions", "simplicity"]

#: Maximum curves with names; of more, the LOWEST are named.
NAMED, LOWEST = 7, 3
DASHES = ("-", "--", "-.", ":")

#: Minimum ratio of the largest to the smallest value for a logarithmic axis.
LOGARITHMIC = 20.0
#: What a larger value of a parameter does.
EFFECTS = {"C": "larger: less regularization", "alpha": "larger: more regularization"}


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


def _last(name: str) -> str:
    """Return the parameter of a step: C of ``linearsvm__C``."""
    return name.rpartition("__")[2]


def simplicity(name: str, values: Floats) -> Floats | None:
    """Return numbers that grow towards simpler models, or None where that is not known."""
    from separable.select.grid_search import penalties_of

    return -values if _last(name) == "degree" else penalties_of({name: values})


def penalty_label(name: str, values: Floats) -> str:
    """Return what an axis of a parameter is, in words."""
    notes = [EFFECTS[_last(name)]] if _last(name) in EFFECTS else []
    if _is_logarithmic(values):
        notes.insert(0, "logarithmic")
    return shortened(name, 40) + (f" ({'; '.join(notes)})" if notes else "")


def penalty_positions(ax: Any, values: Floats) -> Floats:
    """Set up the horizontal axis for values, and return where each of them is.

    On a logarithmic axis 0 is a step to the left of the smallest and infinity one to the right of
    the largest, with ticks that say so.
    """
    if not _is_logarithmic(values):
        if (values == np.rint(values)).all():  # a degree has no halves
            ax.xaxis.get_major_locator().set_params(integer=True)
        return values
    ax.set_xscale("log")
    known = values[(values > 0) & np.isfinite(values)]
    low, high = known.min(), known.max()
    step = max((high / low) ** 0.08, 2.0)
    positions = np.where(values == 0, low / step, np.where(np.isinf(values), high * step, values))
    beside = {low / step: "0"} if (values == 0).any() else {}
    beside |= {high * step: "∞"} if np.isinf(values).any() else {}
    if beside:
        powers = np.arange(np.ceil(np.log10(low)), np.floor(np.log10(high)) + 1)
        powers = powers[:: max(1, len(powers) // 6)]
        ticks = [*(10.0**powers), *beside]
        ax.set_xticks(ticks, [*(f"$10^{{{int(p)}}}$" for p in powers), *beside.values()])
        ax.minorticks_off()
    return positions


def _is_logarithmic(values: Floats) -> bool:
    known = values[(values > 0) & np.isfinite(values)]
    if len(known) < len(values) and len(known) and np.isinf(values).any():
        return True
    return bool(len(known) > 1 and (values >= 0).all() and known.max() / known.min() >= LOGARITHMIC)
