"""Charts of what an additive model learned: curves of columns, and heat maps of pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from separable.model.explain.effects import curve_effects, pair_effects
from separable.model.linear_model import LinearModel
from separable.report.charts.chart import (
    Figure,
    Key,
    Table,
    altair,
    colour,
    data_of,
    number_format,
    rounded,
    specification,
)
from separable.report.page.wording import count, number, plural, sealed, shortened

if TYPE_CHECKING:
    from separable.model.explain.effects import CurveEffect, PairEffect
    from separable.model.kinds import Model
    from separable.typing import Floats

__all__ = ["curves", "pairs"]

#: Most curves, and most pairs; those of the largest effects are drawn.
MOST_CURVES, MOST_PAIRS = 6, 4
#: Most scores of a curve, and most levels of a column in a heat map.
MOST_SCORES, MOST_LEVELS = 5, 30
#: Part of the height below the curves, for the rows.
ROWS_PART = 0.3
#: Heights in pixels.
CURVE_HEIGHT, PAIR_HEIGHT = 190, 230
#: Standard errors on either side of a curve.
BAND = 2.0
#: Curves smaller than this fraction of the largest are left out.
LEAST = 0.005
#: Fields of the ends of a cell of a heat map.
ENDS = {"x": "p", "y": "q"}


def curves(model: Model) -> list[Figure]:
    """Return a chart for each curve of a model, of the largest effects."""
    if not isinstance(model, LinearModel):
        return []
    effects = sorted(curve_effects(model).values(), key=lambda effect: -effect.size)
    seen = [each for each in effects if each.size >= LEAST * effects[0].size]
    return [_curve(model, effect, k) for k, effect in enumerate(seen[:MOST_CURVES])]


def pairs(model: Model) -> list[Figure]:
    """Return a heat map for each pair of columns, of the largest effects."""
    if not isinstance(model, LinearModel):
        return []
    effects = sorted(pair_effects(model).values(), key=lambda effect: -float(effect.values.std()))
    return [_pair(model, effect, k) for k, effect in enumerate(effects[:MOST_PAIRS])]


def _scores(model: LinearModel) -> list[str]:
    """Return the names of the scores."""
    if model.classes is None:
        return ["prediction"]
    names = [shortened(str(label), 30) for label in model.classes.tolist()]
    return [f"score for {names[-1]}"] if model.n_scores == 1 else names


def _curve(model: LinearModel, effect: CurveEffect, k: int) -> Figure:
    alt = altair()
    name, scores = shortened(effect.name, 40), _scores(model)[:MOST_SCORES]
    values = effect.values[:MOST_SCORES]
    error = np.zeros(len(effect.knots)) if effect.errors is None else BAND * effect.errors
    low, high = float((values - error).min()), float((values + error).max())
    span = (high - low) or 1.0
    base = low - ROWS_PART * span
    domain = alt.Scale(domain=[base, high + 0.05 * span], nice=False, zero=False)
    x_axis = alt.Axis(grid=False, format=number_format(effect.knots))
    x = alt.X("x:Q", title=sealed(name), axis=x_axis, scale=alt.Scale(zero=False, nice=False))
    y_axis = alt.Axis(format=number_format([low, high]))
    y = alt.Y("y:Q", title="contribution", scale=domain, axis=y_axis)
    layers = [_rows_below(effect, base, 0.8 * ROWS_PART * span, domain)]
    if effect.errors is not None:
        layers.append(_band(effect, values[0], error, domain))
    zero = alt.Chart(data_of([{"y": 0}])).mark_rule(color="var(--grey)", strokeDash=[2, 3])
    layers.append(zero.encode(y=y))
    for i, (score, line) in enumerate(zip(scores, values, strict=True)):
        places = zip(rounded(effect.knots), rounded(line), strict=True)
        points = [{"x": at, "y": value, "s": sealed(score)} for at, value in places]
        drawn = alt.Chart(data_of(points)).mark_line(color=colour(i), strokeWidth=2)
        tips = [alt.Tooltip("s:N", title="of"), alt.Tooltip("x:Q", title="value")]
        layers.append(drawn.encode(x=x, y=y, tooltip=[*tips, alt.Tooltip("y:Q", title="effect")]))
    what = scores[0] if len(scores) == 1 else "score of each class"
    aid = f"What a value of {name} adds to the {what}, compared with the mean of the training rows."
    if effect.errors is not None:
        aid += " The band is two standard errors wide on either side."
    left = model.n_scores - len(scores)
    if left > 0:
        aid += f" {plural(left, 'class', 'classes')} not drawn."
    legend = tuple(Key(score, colour(i)) for i, score in enumerate(scores))
    return Figure(
        f"curve-{k + 1}",
        name,
        aid,
        specification(alt.layer(*layers), CURVE_HEIGHT),
        _table_of_curve(effect, scores, values),
        (*(legend if len(scores) > 1 else ()), Key("training rows", "var(--grey)", "bar")),
    )


def _rows_below(effect: CurveEffect, base: float, height: float, scale: Any) -> Any:
    """Return bars of the density of training rows around each knot."""
    alt = altair()
    knots = effect.knots
    edges = np.concatenate([knots[:1], (knots[1:] + knots[:-1]) / 2, knots[-1:]])
    density = effect.rows / np.diff(edges)
    tops = base + height * density / density.max()
    bars = [
        {"a": a, "b": b, "y": base, "t": t, "n": round(float(n))}
        for a, b, t, n in zip(
            rounded(edges[:-1]), rounded(edges[1:]), rounded(tops), effect.rows, strict=True
        )
    ]
    chart = alt.Chart(data_of(bars)).mark_rect(color="var(--grey)", opacity=0.35)
    return chart.encode(
        x="a:Q",
        x2="b:Q",
        y=alt.Y("y:Q", scale=scale),
        y2="t:Q",
        tooltip=[alt.Tooltip("n:Q", title="rows near this knot", format=",")],
    )


def _band(effect: CurveEffect, line: Floats, error: Floats, scale: Any) -> Any:
    alt = altair()
    ends = zip(rounded(effect.knots), rounded(line - error), rounded(line + error), strict=True)
    area = alt.Chart(data_of([{"x": at, "y": low, "t": high} for at, low, high in ends]))
    drawn = area.mark_area(color="var(--c1)", opacity=0.18)
    return drawn.encode(x="x:Q", y=alt.Y("y:Q", scale=scale), y2="t:Q")


def _table_of_curve(effect: CurveEffect, scores: list[str], values: Floats) -> Table:
    rows = tuple(
        (number(at), *(number(value) for value in column), count(round(float(n))))
        for at, column, n in zip(effect.knots.tolist(), values.T.tolist(), effect.rows, strict=True)
    )
    return Table(("value", *scores, "rows"), rows, words=0)


def _pair(model: LinearModel, effect: PairEffect, k: int) -> Figure:
    alt = altair()
    first, second = (shortened(name, 40) for name in effect.columns)
    score = model.n_scores - 1
    values = effect.values[score][:MOST_LEVELS, :MOST_LEVELS]
    across, up = (_ends(each, MOST_LEVELS) for each in effect.positions)
    largest = float(np.abs(values).max()) or 1.0
    cells = [
        {
            **_side(a, "x"),
            **_side(b, "y"),
            "v": value,
            "c": "var(--c2)" if value > 0 else "var(--c1)",
            "o": round(abs(value) / largest, 3),
        }
        for a, line in zip(across, values, strict=True)
        for b, value in zip(up, rounded(line), strict=True)
        if value is not None
    ]
    chart = alt.Chart(data_of(cells)).mark_rect(tooltip=True)
    chart = chart.encode(
        **_channels("x", sealed(first), effect.positions[0]),
        **_channels("y", sealed(second), effect.positions[1]),
        color=alt.Color("c:N", scale=None, legend=None),
        opacity=alt.Opacity("o:Q", scale=None, legend=None),
        tooltip=[
            alt.Tooltip("x:Q" if ENDS["x"] in cells[0] else "x:N", title=sealed(first)),
            alt.Tooltip("y:Q" if ENDS["y"] in cells[0] else "y:N", title=sealed(second)),
            alt.Tooltip("v:Q", title="effect"),
        ],
    )
    what = _scores(model)[score]
    return Figure(
        f"pair-{k + 1}",
        f"{first} and {second}",
        f"What the combination adds to the {what}, beyond each column alone: from "
        f"{number(float(values.min()))} to {number(float(values.max()))}.",
        specification(chart, PAIR_HEIGHT),
        _table_of_pair(effect, first, second, values),
        (Key("more", "var(--c2)", "bar"), Key("less", "var(--c1)", "bar")),
    )


def _ends(positions: Any, most: int) -> list[Any]:
    """Return levels, or the ends of the cell around each knot."""
    if isinstance(positions, list):
        return [sealed(shortened(name, 24)) for name in positions[:most]]
    knots = np.asarray(positions, dtype=np.float64)[:most]
    middles = (knots[1:] + knots[:-1]) / 2
    low, high = np.append(knots[:1], middles), np.append(middles, knots[-1:])
    return list(zip(rounded(low), rounded(high), strict=True))


def _side(place: Any, axis: str) -> dict[str, Any]:
    return {axis: place[0], ENDS[axis]: place[1]} if isinstance(place, tuple) else {axis: place}


def _channels(axis: str, title: str, positions: Any) -> dict[str, Any]:
    alt = altair()
    kind = alt.X if axis == "x" else alt.Y
    if isinstance(positions, list):
        order = [sealed(shortened(name, 24)) for name in positions]
        return {axis: kind(f"{axis}:N", title=title, sort=order, axis=alt.Axis(grid=False))}
    form = alt.Axis(grid=False, format=number_format(positions))
    scale = alt.Scale(zero=False, nice=False)
    return {
        axis: kind(f"{axis}:Q", title=title, axis=form, scale=scale),
        f"{axis}2": f"{ENDS[axis]}:Q",
    }


def _table_of_pair(effect: PairEffect, first: str, second: str, values: Floats) -> Table:
    """Return the cells of the largest contributions."""
    names = [
        [shortened(each, 24) for each in side]
        if isinstance(side, list)
        else [number(float(each)) for each in side]
        for side in effect.positions
    ]
    order = np.argsort(-np.abs(values), axis=None)[:12]
    places = [np.unravel_index(at, values.shape) for at in order]
    rows = tuple((names[0][i], names[1][j], number(float(values[i, j]))) for i, j in places)
    more = f"The largest of {plural(values.size, 'cell')}." if values.size > len(rows) else ""
    return Table((first, second, "effect"), rows, words=2, more=more)
