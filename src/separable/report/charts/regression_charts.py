"""Charts of a regression model on test rows: predicted against true, residuals."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

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
from separable.report.page.wording import MINUS, count, number, plural, shortened

if TYPE_CHECKING:
    from separable.typing import Floats


__all__ = ["predicted_and_true", "residuals"]

#: Maximum rows drawn as points; more are counted in CELLS x CELLS cells.
POINTS, CELLS = 800, 40
#: Bins of a histogram.
BINS = 24
#: Equal parts of the rows in the table of means.
PARTS = 10
DIFFERENCE = f"predicted {MINUS} true"


def predicted_and_true(y_true: Floats, predicted: Floats, target: str) -> Figure:
    """Return a chart of predictions against true values."""
    alt = altair()
    low = float(min(y_true.min(), predicted.min()))
    high = float(max(y_true.max(), predicted.max()))
    ends = [{"x": low, "y": low}, {"x": high, "y": high}]
    ideal = alt.Chart(data_of(ends)).mark_line(
        color="var(--grey)", strokeDash=[2, 3], strokeWidth=1
    )
    is_scatter = len(y_true) <= POINTS
    name = shortened(target, 30)
    form = number_format([low, high])
    drawn = (_points if is_scatter else _cells)(y_true, predicted, name, form)
    return Figure(
        "predicted",
        "Predicted against true values",
        "On the dotted line predictions are exact; above it they are too high. "
        + ("Each point is a row." if is_scatter else "Darker cells have more rows."),
        specification(alt.layer(ideal.encode(x="x:Q", y="y:Q"), drawn)),
        _by_part(y_true, predicted),
        (
            Key(
                "a row" if is_scatter else "many rows",
                "var(--c1)",
                "point" if is_scatter else "bar",
            ),
            Key("predicted = true", "var(--grey)", dash="2 3"),
        ),
    )


def residuals(y_true: Floats, predicted: Floats) -> Figure:
    """Return a histogram of the residuals."""
    alt = altair()
    off = predicted - y_true
    low, high = _ends(off)
    counts, edges = np.histogram(np.clip(off, low, high), bins=BINS, range=(low, high))
    beyond = int(np.count_nonzero((off < low) | (off > high)))
    chart = histogram(list(pairwise(edges.tolist())), counts.tolist(), DIFFERENCE)
    zero = alt.Chart(data_of([{"a": 0}])).mark_rule(color="var(--ink)", strokeDash=[2, 3])
    cells = [
        (f"{number(edges[k])} to {number(edges[k + 1])}", count(n))
        for k, n in enumerate(counts.tolist())
    ]
    return Figure(
        "residuals",
        "Histogram of residuals",
        "Residuals, predicted minus true: the narrower around 0, the better. Half of them are "
        f"between {number(float(np.quantile(off, 0.25)))} and "
        f"{number(float(np.quantile(off, 0.75)))}."
        + (f" The outermost bars include {plural(beyond, 'row')} beyond them." if beyond else ""),
        specification(alt.layer(chart, zero.encode(x="a:Q"))),
        Table((DIFFERENCE, "rows"), tuple(cells)),
    )


def _points(y_true: Floats, predicted: Floats, target: str, form: Any) -> Any:
    alt = altair()
    pairs = zip(rounded(y_true), rounded(predicted), rounded(predicted - y_true), strict=True)
    values = [{"x": t, "y": p, "d": off} for t, p, off in pairs]
    marks = alt.Chart(data_of(values)).mark_circle(color="var(--c1)", size=36, opacity=0.5)
    return marks.encode(
        x=_axis(alt.X, "x:Q", f"true {target}", form),
        y=_axis(alt.Y, "y:Q", "predicted", form),
        tooltip=[
            alt.Tooltip("x:Q", title="true"),
            alt.Tooltip("y:Q", title="predicted"),
            alt.Tooltip("d:Q", title="residual"),
        ],
    )


def _cells(y_true: Floats, predicted: Floats, target: str, form: Any) -> Any:
    """Return counts of rows in cells as rectangles."""
    alt = altair()
    counts, across, up = np.histogram2d(y_true, predicted, bins=CELLS)
    x, y = rounded(across), rounded(up)
    values = [
        {"x": x[i], "v": x[i + 1], "y": y[j], "w": y[j + 1], "n": int(counts[i, j])}
        for i, j in np.argwhere(counts).tolist()
    ]
    marks = alt.Chart(data_of(values)).mark_rect(color="var(--c1)")
    return marks.encode(
        x=_axis(alt.X, "x:Q", f"true {target}", form),
        x2="v:Q",
        y=_axis(alt.Y, "y:Q", "predicted", form),
        y2="w:Q",
        opacity=alt.Opacity(
            "n:Q",
            scale=alt.Scale(type="log", domain=[1, int(counts.max())], range=[0.15, 1.0]),
            legend=None,
        ),
        tooltip=[
            alt.Tooltip("x:Q", title="true, from"),
            alt.Tooltip("y:Q", title="predicted, from"),
            alt.Tooltip("n:Q", title="rows", format=","),
        ],
    )


def _axis(channel: Any, field: str, title: str, form: Any) -> Any:
    alt = altair()
    return channel(field, title=title, scale=alt.Scale(zero=False), axis=alt.Axis(format=form))


def _ends(values: Floats) -> tuple[float, float]:
    """Return limits that contain nearly all values."""
    low, high = (float(end) for end in np.quantile(values, [0.005, 0.995]))
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def _by_part(y_true: Floats, predicted: Floats) -> Table:
    """Return means over parts of the rows, ordered by the true value."""
    order = np.argsort(y_true, kind="stable")
    rows = []
    for part in np.array_split(order, min(PARTS, len(order))):
        t, p = y_true[part], predicted[part]
        away = float(np.abs(p - t).mean())
        cells = (f"{number(t[0])} to {number(t[-1])}", number(float(t.mean())))
        rows.append((*cells, number(float(p.mean())), number(away), count(len(part))))
    head = ("truth", "mean true value", "mean prediction", "mean absolute error", "rows")
    return Table(head, tuple(rows))
