"""How rows of a class are ranked, as charts: ROC, precision and recall."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from separable.plot.displays.precision_recall import PrecisionRecallDisplay
from separable.plot.displays.roc import RocDisplay
from separable.report.charts.chart import (
    Figure,
    Key,
    Table,
    altair,
    colour,
    colour_scale,
    dash,
    data_of,
    fraction_axis,
    named,
    rounded,
    specification,
    thinned,
)
from separable.report.page.formatting import as_percent, distinct, number, shortened

if TYPE_CHECKING:
    from collections.abc import Sequence

    from separable.model.metrics.metric_case import ClassCase
    from separable.typing import Floats


__all__ = ["precision_recall", "roc"]

#: Curves that are drawn: of more classes, the lowest.
CURVES = 6
#: Rows of a table of a curve.
TABLE_ROWS = 15


def roc(case: ClassCase) -> Figure:
    """Return the ROC curves of rows."""
    alt = altair()
    display = RocDisplay.from_case(case)
    kept, names = _lowest(display.labels, display.areas)
    curves, cells = [], []
    for rank, index in enumerate(kept):
        x, y, at = display.fpr[index], display.tpr[index], display.thresholds[index]
        chosen = np.union1d(thinned(x, y), thinned(y, x))  # it may be steep, and flat
        curves.append(_points(rank, x[chosen], y[chosen], at[chosen]))
        cells += _cells(names[rank], x, y, at)
    line = alt.Chart(data_of([{"x": 0, "y": 0}, {"x": 1, "y": 1}])).mark_line(
        color="var(--grey)", strokeDash=[2, 3], strokeWidth=1
    )
    chance = line.encode(x="x:Q", y="y:Q")
    one = len(display.labels) == 1
    what = shortened(display.labels[0], 30) if one else "the class"
    titles = (
        "false positive rate" + f" (share of others predicted {what})" * one,
        "true positive rate" + f" (share of {what} found)" * one,
    )
    drawn = _curves(curves, names, titles, ("false positive rate", "true positive rate"), "linear")
    areas = [f"{names[k]}: AUC {display.areas[p]:.3f}" for k, p in enumerate(kept)]
    return Figure(
        "roc",
        "ROC curve" if one else "ROC curves, one-vs-rest",
        "True positive rate against false positive rate over all thresholds. Area under the curve "
        f"(AUC): {np.mean(display.areas):.3f}{'' if one else ' in the mean'}; chance is 0.5."
        + _which(kept, display.labels),
        specification(alt.layer(chance, *drawn)),
        Table(("class", "threshold", "false positive rate", "true positive rate"), tuple(cells)),
        (*_keys(areas), Key("chance: AUC 0.500", "var(--grey)", dash="2 3")),
    )


def precision_recall(case: ClassCase) -> Figure:
    """Return how precision falls when more of a class is to be found."""
    alt = altair()
    display = PrecisionRecallDisplay.from_case(case)
    kept, names = _lowest(display.labels, display.average_precision)
    curves, cells = [], []
    for rank, index in enumerate(kept):
        x, y, at = display.recall[index], display.precision[index], display.thresholds[index]
        chosen = thinned(x, y)
        points = np.append(0.0, x[chosen]), np.append(y[0], y[chosen]), np.append(at[0], at[chosen])
        curves.append(_points(rank, *points))
        cells += _cells(names[rank], x, y, at)
    one = len(display.labels) == 1
    what = shortened(display.labels[0], 30) if one else "the class"
    titles = (
        "recall" + f" (share of {what} found)" * one,
        "precision" + f" (share of predicted {what} that is right)" * one,
    )
    drawn = _curves(curves, names, titles, ("recall", "precision"), "step-before")
    keys = [f"{names[k]}: AP {display.average_precision[p]:.3f}" for k, p in enumerate(kept)]
    legend = list(_keys(keys))
    if one:
        fraction = display.shares[0]
        values = [{"x": 0, "y": fraction}, {"x": 1, "y": fraction}]
        mark = {"color": "var(--grey)", "strokeDash": [2, 3], "strokeWidth": 1}
        rule = alt.Chart(data_of(values)).mark_line(**mark)
        drawn.insert(0, rule.encode(x="x:Q", y="y:Q"))
        legend.append(Key(f"no skill: {fraction:.3f}", "var(--grey)", dash="2 3"))
    return Figure(
        "precision-recall",
        "Precision-recall curve",
        f"A lower threshold finds more of {what} (higher recall) with more false positives (lower "
        "precision). Average precision: "
        f"{np.mean(display.average_precision):.3f}{'' if one else ' in the mean'}."
        + _which(kept, display.labels),
        specification(alt.layer(*drawn)),
        Table(("class", "threshold", "recall", "precision"), tuple(cells)),
        tuple(legend),
    )


def _lowest(labels: Sequence[Any], areas: Sequence[float]) -> tuple[list[int], list[str]]:
    """Return the curves to draw, and their names."""
    kept = list(range(len(labels)))
    if len(kept) > CURVES:
        kept = sorted(int(k) for k in np.argsort(areas, kind="stable")[:CURVES])
    return kept, distinct(labels[k] for k in kept)


def _which(kept: list[int], labels: Sequence[Any]) -> str:
    if len(kept) == len(labels):
        return ""
    return f" Of {len(labels)} classes, the {len(kept)} with the lowest curves are drawn."


def _points(rank: int, x: Floats, y: Floats, at: Floats) -> list[dict[str, Any]]:
    columns = zip(rounded(x, 4), rounded(y, 4), rounded(at, 4), strict=True)
    return [{"k": rank, "x": a, "y": b, "t": c} for a, b, c in columns]


def _curves(
    curves: list[list[dict[str, Any]]],
    names: list[str],
    titles: tuple[str, str],
    tips: tuple[str, str],
    steps: str,
) -> list[Any]:
    """Return lines, and points over them that answer to a pointer."""
    alt = altair()
    n = len(curves)
    base = alt.Chart(data_of([point for curve in curves for point in curve])).encode(
        x=fraction_axis(alt.X, titles[0]), y=fraction_axis(alt.Y, titles[1])
    )
    lines = base.mark_line(strokeWidth=2, interpolate=steps).encode(
        color=alt.Color("k:N", scale=colour_scale(n), legend=None),
        strokeDash=alt.StrokeDash(
            "k:N",
            scale=alt.Scale(domain=list(range(n)), range=[dash(k) for k in range(n)]),
            legend=None,
        ),
    )
    touched = (
        named(base, {"k": "c"}, names)
        .mark_point(size=120, opacity=0, filled=True)
        .encode(
            tooltip=[
                alt.Tooltip("c:N", title="class"),
                alt.Tooltip("x:Q", title=tips[0], format=".1%"),
                alt.Tooltip("y:Q", title=tips[1], format=".1%"),
                alt.Tooltip("t:Q", title="from score", format=".3~g"),
            ]
        )
    )
    return [lines, touched]


def _keys(names: list[str]) -> tuple[Key, ...]:
    return tuple(
        Key(name, colour(k), dash=" ".join(map(str, dash(k))) if k else "")
        for k, name in enumerate(names)
    )


def _cells(name: str, x: Floats, y: Floats, at: Floats) -> list[tuple[str, ...]]:
    """Return some points of a curve, evenly along it."""
    chosen = np.unique(np.linspace(0, len(x) - 1, min(TABLE_ROWS, len(x))).round().astype(int))
    return [
        (name, number(float(at[k])), as_percent(x[k]), as_percent(y[k])) for k in chosen.tolist()
    ]
