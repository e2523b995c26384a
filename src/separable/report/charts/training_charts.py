"""Charts of the training: learners compared, regularization curve, learning curve."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from separable.report.charts.chart import (
    Figure,
    Key,
    Table,
    altair,
    data_of,
    rounded,
    specification,
)
from separable.report.page.formatting import (
    as_percent,
    count,
    distinct,
    figure,
    metric_text,
    more_or_less,
    number,
    sealed,
    setting,
)

if TYPE_CHECKING:
    from separable.report.contents import RegularizationCurve, Tried
    from separable.select.curves.learning_results import LearningCurve

__all__ = ["learners", "learning", "regularization"]

#: Learners that are drawn, from the best on.
LEARNERS = 20


def learners(tried: Tried) -> Figure | None:
    """Return the scores of the learners that were compared, or None of fewer than two."""
    alt = altair()
    scored = [(each, each.mean) for each in tried.standings if each.mean is not None][:LEARNERS]
    if len(scored) < 2:
        return None
    names = distinct(each.learner for each, _ in scored)
    values = []
    for name, (each, score) in zip(names, scored, strict=True):
        error = each.standard_error or 0.0
        mean, low, high = rounded([score, score - error, score + error])
        taken = int(each.learner == tried.taken)
        values.append({"m": sealed(name), "x": mean, "l": low, "h": high, "t": taken})
    what = metric_text(tried.metric)
    better = "higher is better" if tried.greater_is_better else "lower is better"
    base = alt.Chart(data_of(values)).encode(
        y=alt.Y("m:N", sort=list(map(sealed, names)), title=None, axis=alt.Axis(grid=False)),
        color=alt.condition("datum.t", alt.value("var(--c2)"), alt.value("var(--c1)")),
        tooltip=[
            alt.Tooltip("m:N", title="learner"),
            alt.Tooltip("x:Q", title=what, format=".4~g"),
            alt.Tooltip("l:Q", title="minus a standard error", format=".4~g"),
            alt.Tooltip("h:Q", title="plus a standard error", format=".4~g"),
        ],
    )
    scale = alt.Scale(zero=False, padding=12)
    bars = base.mark_rule(strokeWidth=2, opacity=0.6).encode(x=alt.X("l:Q"), x2="h:Q")
    axis = alt.X("x:Q", title=f"{what} ({better})", scale=scale, axis=alt.Axis(tickCount=5))
    shape = alt.condition("datum.t", alt.value("diamond"), alt.value("circle"))
    dots = base.mark_point(filled=True, size=90, opacity=1).encode(x=axis, shape=shape)
    return Figure(
        "learners",
        "Learners compared by cross-validation",
        f"Means over {tried.folds} folds ± one standard error. If these overlap, the difference "
        "may be chance.",
        specification(alt.layer(bars, dots), 30 * len(names)),
        None,
        (Key("taken", "var(--c2)", "diamond"), Key("others", "var(--c1)", "point")),
    )


def regularization(curve: RegularizationCurve) -> Figure:
    """Return the score by the regularization parameter."""
    alt = altair()
    means, errors = np.asarray(curve.means), np.nan_to_num(np.asarray(curve.errors))
    columns = [rounded(each) for each in (means, means - errors, means + errors)]
    values = [
        {"x": x if np.isfinite(x) else None, "v": setting(x), "y": y, "l": low, "h": high}
        for x, y, low, high in zip(curve.values, *columns, strict=True)
    ]
    plain = all(np.isfinite(x) and x > 0 for x in curve.values)
    what = metric_text(curve.metric)
    better = "higher is better" if curve.greater_is_better else "lower is better"
    if plain:
        x: Any = alt.X(
            "x:Q",
            title=f"{curve.parameter} (log scale)",
            scale=alt.Scale(type="log", nice=False),
            axis=alt.Axis(format="~g", grid=False, tickCount=6),
        )
    else:
        order = [setting(value) for value in curve.values]
        x = alt.X("v:O", title=curve.parameter, sort=order, axis=alt.Axis(grid=False, labelAngle=0))
    base = alt.Chart(data_of(values)).encode(
        x=x,
        tooltip=[
            alt.Tooltip("v:N", title=curve.parameter),
            alt.Tooltip("y:Q", title=what, format=".4~g"),
            alt.Tooltip("l:Q", title="minus a standard error", format=".4~g"),
            alt.Tooltip("h:Q", title="plus a standard error", format=".4~g"),
        ],
    )
    y = alt.Y("y:Q", title=f"{what} ({better})", scale=alt.Scale(zero=False))
    taken = [row for row, each in zip(values, curve.values, strict=True) if each == curve.chosen]
    picked = alt.Chart(data_of(taken)).mark_rule(
        color="var(--c2)", strokeDash=[6, 3], strokeWidth=1.5
    )
    chart = alt.layer(
        base.mark_area(color="var(--c1)", opacity=0.18).encode(y=alt.Y("l:Q"), y2="h:Q"),
        picked.encode(x=x),
        base.mark_line(color="var(--c1)", strokeWidth=2).encode(y=y),
        base.mark_circle(color="var(--c1)", size=45, opacity=1).encode(y=y),
    )
    rows = zip(curve.values, curve.means, curve.errors, strict=True)
    return Figure(
        "strengths",
        f"Validation curve: score by {curve.parameter}",
        f"{curve.learner} with less and more regularization. The band is ± one standard error; "
        f"{curve.parameter} = {setting(curve.chosen)} was chosen.",
        specification(chart, 260),
        Table(
            (curve.parameter, what, "standard error"),
            tuple(
                (setting(v), figure(curve.metric, m), more_or_less(curve.metric, e))
                for v, m, e in rows
            ),
            0,
        ),
        (
            Key(f"{what}, ± standard error", "var(--c1)", "band"),
            Key(f"chosen: {setting(curve.chosen)}", "var(--c2)", dash="6 3"),
        ),
    )


def learning(curve: LearningCurve) -> Figure:
    """Return the performance by the number of rows, and what to expect of more."""
    alt = altair()
    ahead = curve.forecast
    known = bool(np.isfinite(ahead.mean).all())
    error = np.nan_to_num(curve.standard_error)
    measured = _rows(curve.sizes, curve.mean, curve.mean - error, curve.mean + error)
    layers, legend = [], [Key("measured, ± standard error", "var(--c1)", "point")]
    sizes = curve.sizes.tolist()
    if known:
        last = float(curve.mean[-1])
        start = _rows(curve.sizes[-1:], [last], [last], [last])
        future = _rows(ahead.sizes, ahead.mean, ahead.low, ahead.high)
        layers += _forecast(start, future)
        legend.append(Key(f"forecast, {as_percent(ahead.level, 0)} interval", "var(--c2)", "band"))
        sizes += ahead.sizes.tolist()
    near = _is_near(curve)
    if curve.baseline is not None and near:
        ends = [{"x": sizes[0], "y": curve.baseline}, {"x": sizes[-1], "y": curve.baseline}]
        mark = {"color": "var(--grey)", "strokeDash": [2, 3], "strokeWidth": 1}
        layers.append(alt.Chart(data_of(ends)).mark_line(**mark).encode(x="x:Q", y="y:Q"))
        legend.append(Key(f"best constant: {number(curve.baseline)}", "var(--grey)", dash="2 3"))
    beyond = "" if near else f" The best constant prediction reaches {number(curve.baseline)}."
    layers += _measured(measured, curve, sizes)
    rows = _cells(curve) + (_forecast_cells(curve) if known else [])
    return Figure(
        "learning",
        "Learning curve: would more rows help?",
        ahead.verdict + beyond,
        specification(alt.layer(*layers)),
        Table(("training rows", metric_text(curve.metric), "interval", "what"), tuple(rows), 0),
        tuple(legend),
    )


def _is_near(curve: LearningCurve) -> bool:
    """Whether the constant answer is so near that the curve can be seen beside it."""
    if curve.baseline is None:
        return True
    span = float(np.ptp(curve.mean)) + 2 * float(np.nan_to_num(curve.standard_error).max())
    away = np.abs(curve.mean - curve.baseline).min()
    return bool(away <= 3 * span)


def _measured(values: list[dict[str, Any]], curve: LearningCurve, sizes: list[int]) -> list[Any]:
    alt = altair()
    better = "higher is better" if curve.greater_is_better else "lower is better"
    base = alt.Chart(data_of(values)).encode(
        x=alt.X(
            "x:Q",
            title="training rows (log scale)",
            scale=alt.Scale(type="log", nice=False),
            axis=alt.Axis(grid=False, format=",", values=_ticks(sizes)),
        ),
        tooltip=_tips(metric_text(curve.metric)),
    )
    y = alt.Y("y:Q", title=f"{metric_text(curve.metric)} ({better})", scale=alt.Scale(zero=False))
    rule = base.mark_rule(color="var(--c1)", strokeWidth=1.5)
    return [
        rule.encode(y=alt.Y("l:Q"), y2="h:Q"),
        base.mark_line(color="var(--c1)", strokeWidth=2).encode(y=y),
        base.mark_circle(color="var(--c1)", size=55, opacity=1).encode(y=y),
    ]


def _ticks(sizes: list[int]) -> list[int]:
    """Return sizes to write below a logarithmic axis, far enough from each other."""
    kept: list[int] = []
    for size in sorted(set(sizes), reverse=True):
        if not kept or kept[-1] / size >= (max(sizes) / min(sizes)) ** 0.1:
            kept.append(size)
    return kept[::-1]


def _forecast(start: list[dict[str, Any]], future: list[dict[str, Any]]) -> list[Any]:
    alt = altair()
    band = alt.Chart(data_of(start + future)).encode(x="x:Q")
    points = alt.Chart(data_of(future)).encode(x="x:Q", tooltip=_tips("expected"))
    dashed = {"color": "var(--c2)", "strokeDash": [5, 4], "strokeWidth": 1.5}
    diamond = {"color": "var(--c2)", "shape": "diamond", "filled": True, "size": 60, "opacity": 1}
    return [
        band.mark_area(color="var(--c2)", opacity=0.18).encode(y="l:Q", y2="h:Q"),
        band.mark_line(**dashed).encode(y="y:Q"),
        points.mark_point(**diamond).encode(y="y:Q"),
    ]


def _tips(what: str) -> list[Any]:
    alt = altair()
    return [
        alt.Tooltip("x:Q", title="rows", format=","),
        alt.Tooltip("y:Q", title=what, format=".4~g"),
        alt.Tooltip("l:Q", title="from", format=".4~g"),
        alt.Tooltip("h:Q", title="to", format=".4~g"),
    ]


def _rows(sizes: Any, *columns: Any) -> list[dict[str, Any]]:
    each = zip(np.asarray(sizes).tolist(), *(rounded(column) for column in columns), strict=True)
    return [dict(zip("xylh", row, strict=True)) for row in each]


def _cells(curve: LearningCurve) -> list[tuple[str, ...]]:
    rows = zip(curve.sizes.tolist(), curve.mean, curve.standard_error, strict=True)
    return [(count(n), number(m), f"± {number(e, 2)}", "measured") for n, m, e in rows]


def _forecast_cells(curve: LearningCurve) -> list[tuple[str, ...]]:
    ahead = curve.forecast
    rows = zip(ahead.sizes.tolist(), ahead.mean, ahead.low, ahead.high, strict=True)
    return [
        (count(n), number(m), f"{number(low)} to {number(high)}", "forecast")
        for n, m, low, high in rows
    ]
