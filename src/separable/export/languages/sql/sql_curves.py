"""Curves as SQL: the piece of a number and its fraction of the piece."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from separable.export.languages.sql.sql_text import number
from separable.export.plan.plan import CurveStep

if TYPE_CHECKING:
    from collections.abc import Sequence

    from separable.export.plan.plan import Plan

__all__ = ["Curve", "column_curves", "curve_stages"]


@dataclass(frozen=True)
class Curve:
    """A curve of a column.

    Parameters
    ----------
    key : str
        The end of the names of its expressions.
    c : str
        The number.
    step : CurveStep
        With breaks.
    """

    key: str
    c: str
    step: CurveStep


def column_curves(plan: Plan) -> list[Curve]:
    """Return the curves of single columns."""
    return [
        Curve(f"{at}", f"c{at}", step)
        for at, step in enumerate(plan.steps)
        if isinstance(step, CurveStep) and step.breaks
    ]


def curve_stages(curves: Sequence[Curve]) -> list[list[str]]:
    """Return the expressions of curves, stage by stage: each uses the one before.

    y is the number, from the first break on if it is periodic; i the index of its piece; u its
    fraction of the piece; t the fraction clipped to 0 and 1, unless the curve continues linearly.
    """
    if not curves:
        return []
    stages = (_remainder, _in_cycle, _piece, _fraction, _clipped)
    return [[stage(each.key, each.c, each.step) for each in curves] for stage in stages]


def _remainder(key: str, c: str, step: CurveStep) -> str:
    period = number(step.period)
    return f"{c} - {period} * FLOOR({c} / {period}) AS r{key}" if step.period else f"{c} AS r{key}"


def _in_cycle(key: str, c: str, step: CurveStep) -> str:
    del c
    if not step.period:
        return f"r{key} AS y{key}"
    period, first = number(step.period), number(step.breaks[0])
    return f"CASE WHEN r{key} < {first} THEN r{key} + {period} ELSE r{key} END AS y{key}"


def _piece(key: str, c: str, step: CurveStep) -> str:
    del c
    inner = " ".join(
        f"WHEN y{key} < {number(each)} THEN {i}" for i, each in enumerate(step.breaks[1:-1])
    )
    last = len(step.breaks) - 2
    return f"CASE {inner} ELSE {last} END AS i{key}" if inner else f"0 AS i{key}"


def _fraction(key: str, c: str, step: CurveStep) -> str:
    del c
    pieces = " ".join(
        f"WHEN {i} THEN (y{key} - {number(low)}) / {number(high - low)}"
        for i, (low, high) in enumerate(pairwise(step.breaks))
    )
    return f"CASE i{key} {pieces} END AS u{key}"


def _clipped(key: str, c: str, step: CurveStep) -> str:
    del c
    if step.linear:
        return f"u{key} AS t{key}"
    return f"CASE WHEN u{key} < 0 THEN 0.0 WHEN u{key} > 1 THEN 1.0 ELSE u{key} END AS t{key}"
