"""Charts of the training: target, learners compared, regularization, learning curve, weights."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.model.linear_model import LinearModel
from separable.report.charts.chart import (
    Figure,
    Key,
    Table,
    altair,
    data_of,
    histogram,
    number_format,
    rounded,
    specification,
)
from separable.report.page.wording import (
    as_percent,
    count,
    distinct,
    figure,
    metric_text,
    more_or_less,
    number,
    plain_numbers,
    plural,
    sealed,
    setting,
    shortened,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from separable.model.explain.top_weights import TopWeights, WeightGroup
    from separable.model.kinds import Model
    from separable.report.contents import Data, RegularizationCurve, Tried
    from separable.select.curves.learning_results import LearningCurve


__all__ = [
    "learners",
    "learning",
    "regularization",
    "target",
    "weights",
]


#: Maximum number of classes drawn.
CLASSES = 20

#: Maximum number of learners drawn, from the best on.
LEARNERS = 20

#: Maximum bars on either side: for a single score, and for each of several.
ALONE, TOGETHER = 12, 6
#: Maximum scores drawn, further scores listed, and features of each of these.
SCORES, LINES, LISTED = 6, 200, 4
#: Bars shorter than this fraction of the longest are left out.
LEAST = 0.005


def target(data: Data) -> Figure | None:
    """Return the distribution of the target, or None if unknown."""
    if data.target_counts:
        return _classes(data)
    return _bins(data) if data.target_bins else None


def _classes(data: Data) -> Figure:
    alt = altair()
    shown = data.target_counts[:CLASSES]
    names = distinct(label for label, _ in shown)
    whole = max(1, sum(n for _, n in data.target_counts))
    values = [
        {"c": sealed(name), "n": int(n), "s": round(n / whole, 5)}
        for name, (_, n) in zip(names, shown, strict=True)
    ]
    bars = alt.Chart(data_of(values)).mark_bar(color="var(--c1)", height={"band": 0.72})
    chart = bars.encode(
        y=alt.Y("c:N", sort=list(map(sealed, names)), title=None, axis=alt.Axis(grid=False)),
        x=alt.X("n:Q", title="rows", axis=alt.Axis(tickCount=5)),
        tooltip=[
            alt.Tooltip("c:N", title="class"),
            alt.Tooltip("n:Q", title="rows", format=","),
            alt.Tooltip("s:Q", title="share", format=".1%"),
        ],
    )
    left = len(data.target_counts) - len(shown)
    more = f"{plural(left, 'rarer class', 'rarer classes')} not shown." if left else ""
    return Figure(
        "target",
        f"Class counts of {shortened(data.target, 40)}",
        f"The most common class has {as_percent(shown[0][1] / whole)} of the rows. {more}".strip(),
        specification(chart, 24 * len(values)),
        Table(
            ("class", "rows", "share"),
            tuple(
                (name, count(n), as_percent(n / whole))
                for name, (_, n) in zip(names, shown, strict=True)
            ),
            more=more,
        ),
    )


def _bins(data: Data) -> Figure:
    name = shortened(data.target, 40)
    edges = [(low, high) for low, high, _ in data.target_bins]
    chart = histogram(edges, [n for _, _, n in data.target_bins], name)
    return Figure(
        "target",
        f"Histogram of {name}",
        "Number of rows per range of values.",
        specification(chart, 220),
        Table(
            ("from", "to", "rows"),
            tuple((number(a), number(b), count(n)) for a, b, n in data.target_bins),
            0,
        ),
    )


def learners(tried: Tried) -> Figure | None:
    """Return the scores of the compared learners, or None if there are fewer than two."""
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
        (Key("chosen", "var(--c2)", "diamond"), Key("others", "var(--c1)", "point")),
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
        f"{curve.parameter}\u00a0=\u00a0{setting(curve.chosen)} was chosen.",
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
    """Return the learning curve with its forecast."""
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
        plain_numbers(ahead.verdict) + beyond,
        specification(alt.layer(*layers)),
        Table(("training rows", metric_text(curve.metric), "interval", "what"), tuple(rows), 0),
        tuple(legend),
    )


def _is_near(curve: LearningCurve) -> bool:
    """Whether the constant prediction fits into the chart without flattening the curve."""
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
    """Return tick positions of a logarithmic axis, far enough apart."""
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


def weights(
    model: Model, common: Sequence[Any] = (), spread: Sequence[float] = ()
) -> tuple[list[Figure], Table | None]:
    """Return the largest weights of a model, one chart per score, and a table for many scores.

    Parameters
    ----------
    model : LinearModel or VotedModel
    common : sequence
        The classes, most common first. If there are many, only the first are drawn.
    spread : sequence of float, optional
        Standard deviation of each feature: weights times these, the effects, are drawn instead.
    """
    together = model.n_scores > 1
    groups = _ranked(model, TOGETHER if together else ALONE, spread).groups
    pairs = [(groups[k], groups[k + 1]) for k in range(0, len(groups), 2)]
    rank = {label: k for k, label in enumerate(common)}
    order = sorted(range(len(pairs)), key=lambda k: rank.get(pairs[k][0].label, len(rank)))
    what = "effect" if len(spread) == model.n_features else "weight"
    drawn = [_bars(k, *pairs[k], model, what) for k in sorted(order[:SCORES])]
    table = _table([up for up, _ in pairs], what) if len(pairs) > SCORES else None
    return [each for each in drawn if each is not None], table


def _ranked(model: Model, n: int, spread: Sequence[float]) -> TopWeights:
    """Return the n largest weights or effects of each score."""
    if not isinstance(model, LinearModel) or len(spread) != model.n_features:
        return model.top_weights(n)
    return replace(model, weights=model.weights * np.asarray(spread)).top_weights(n)


def _table(groups: list[WeightGroup], what: str) -> Table:
    """Return the features with the largest weights or effects of each class, one line each."""
    rows = [
        (
            shortened(group.label, 40),
            ", ".join(
                f"{shortened(name, 24)} {number(w, 3)}" for name, w in group.weights[:LISTED]
            ),
        )
        for group in groups[:LINES]
    ]
    left = len(groups) - len(rows)
    return Table(("class", f"largest {what}s"), tuple(rows), 2, f"{left} more." if left else "")


def _bars(k: int, up: WeightGroup, down: WeightGroup, model: Model, what: str) -> Figure | None:
    alt = altair()
    both = _seen([*up.weights, *reversed(down.weights)])
    if not both:
        return None
    names = distinct(name for name, _ in both)
    values = [
        {"f": sealed(name), "w": w, "z": 0, "s": int(w > 0)}
        for name, w in zip(names, rounded([w for _, w in both]), strict=True)
        if w is not None
    ]
    axis = alt.Axis(tickCount=5, format=number_format([w for _, w in both]))
    base = alt.Chart(data_of(values)).encode(
        y=alt.Y("f:N", sort=list(map(sealed, names)), title=None, axis=alt.Axis(grid=False)),
        x=alt.X("w:Q", title=what, axis=axis),
        tooltip=[
            alt.Tooltip("f:N", title="feature"),
            alt.Tooltip("w:Q", title=what, format="+.4~g"),
        ],
    )
    by_sign = alt.condition("datum.s", alt.value("var(--c2)"), alt.value("var(--c1)"))
    bars = base.mark_bar(height={"band": 0.72}).encode(color=by_sign)
    return Figure(
        f"weights-{k}",
        _title(up, down, model),
        "",
        specification(bars, 22 * len(values)),
        Table(
            ("feature", what),
            tuple((n, number(w)) for n, (_, w) in zip(names, both, strict=True)),
        ),
        (Key(_towards(up), "var(--c2)", "bar"), Key(_towards(down), "var(--c1)", "bar")),
    )


def _seen(weights: list[tuple[str, float]]) -> list[tuple[str, float]]:
    """Return the weights whose bars are visible beside the longest."""
    largest = max((abs(w) for _, w in weights), default=0.0)
    return [(name, w) for name, w in weights if abs(w) >= LEAST * largest]


def _title(up: WeightGroup, down: WeightGroup, model: Model) -> str:
    if model.classes is None:
        return "Weights" if model.n_scores == 1 else f"Target {up.label}"
    if model.n_scores == 1:
        return f"{shortened(down.label, 30)} or {shortened(up.label, 30)}"
    return shortened(up.label, 40)


def _towards(group: WeightGroup) -> str:
    """Return the direction of the weights, with the name of the class."""
    for words in ("towards", "away from"):
        if group.towards.startswith(words):
            return f"{words} {shortened(group.label, 40)}"
    return group.towards
