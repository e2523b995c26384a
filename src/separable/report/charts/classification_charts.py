"""Charts of a classifier on test rows: ROC and precision-recall curves, calibration, confusion."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from separable.model.metrics.metric_case import ClassCase
from separable.plot.displays.calibration import CalibrationDisplay
from separable.plot.displays.ranking_curves import PrecisionRecallDisplay, RocDisplay
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
from separable.report.page.wording import (
    LEVEL,
    as_percent,
    count,
    distinct,
    number,
    plural,
    sealed,
    shortened,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from separable.model.metrics.evaluation import Evaluation
    from separable.typing import Floats


__all__ = ["precision_recall", "roc"]

#: Maximum number of curves; with more classes, the lowest are drawn.
CURVES = 6
#: Maximum rows of the table of a curve.
TABLE_ROWS = 15

#: Maximum classes for a matrix, and for numbers in its cells.
MATRIX_CLASSES, NUMBERED = 30, 12
#: Maximum pairs of classes listed.
PAIRS = 15


def roc(case: ClassCase) -> Figure:
    """Return the ROC curves of rows."""
    alt = altair()
    display = RocDisplay.from_case(case)
    kept, names = _lowest(display.labels, display.areas)
    curves, cells = [], []
    for rank, index in enumerate(kept):
        x, y, at = display.fpr[index], display.tpr[index], display.thresholds[index]
        chosen = np.union1d(thinned(x, y), thinned(y, x))  # it may be steep and flat
        curves.append(_points(rank, x[chosen], y[chosen], at[chosen]))
        cells += _cells(names[rank], x, y, at)
    line = alt.Chart(data_of([{"x": 0, "y": 0}, {"x": 1, "y": 1}])).mark_line(
        color="var(--grey)", strokeDash=[2, 3], strokeWidth=1
    )
    chance = line.encode(x="x:Q", y="y:Q")
    one = len(display.labels) == 1
    what = shortened(display.labels[0], 30) if one else "the class"
    titles = (
        "false positive rate" + f" (fraction of others predicted {what})" * one,
        "true positive rate" + f" (fraction of {what} found)" * one,
    )
    drawn = _curves(curves, names, titles, ("false positive rate", "true positive rate"), "linear")
    areas = [f"{names[k]}: AUC {display.areas[p]:.3f}" for k, p in enumerate(kept)]
    return Figure(
        "roc",
        "ROC curve" if one else "ROC curves, one-vs-rest",
        "True positive rate against false positive rate over all thresholds. "
        f"{'Area' if one else 'Mean area'} under the curve (AUC): {np.mean(display.areas):.3f}; "
        "chance is 0.5." + _which(kept, display.labels),
        specification(alt.layer(chance, *drawn)),
        Table(("class", "threshold", "false positive rate", "true positive rate"), tuple(cells)),
        (*_keys(areas), Key("chance: AUC 0.500", "var(--grey)", dash="2 3")),
    )


def precision_recall(case: ClassCase) -> Figure:
    """Return the precision-recall curves of rows."""
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
        "recall" + f" (fraction of {what} found)" * one,
        "precision" + f" (fraction of predicted {what} that is right)" * one,
    )
    drawn = _curves(curves, names, titles, ("recall", "precision"), "step-before")
    keys = [f"{names[k]}: AP {display.average_precision[p]:.3f}" for k, p in enumerate(kept)]
    legend = list(_keys(keys))
    if one:
        fraction = display.prevalence[0]
        values = [{"x": 0, "y": fraction}, {"x": 1, "y": fraction}]
        mark = {"color": "var(--grey)", "strokeDash": [2, 3], "strokeWidth": 1}
        rule = alt.Chart(data_of(values)).mark_line(**mark)
        drawn.insert(0, rule.encode(x="x:Q", y="y:Q"))
        legend.append(Key(f"no skill: {fraction:.3f}", "var(--grey)", dash="2 3"))
    return Figure(
        "precision-recall",
        "Precision-recall curve",
        f"A lower threshold finds more of {what} (higher recall) with more false positives (lower "
        f"precision). {'Average' if one else 'Mean average'} precision: "
        f"{np.mean(display.average_precision):.3f}." + _which(kept, display.labels),
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
    """Return lines, with points on them that show values under the pointer."""
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
    """Return evenly spaced points of a curve."""
    chosen = np.unique(np.linspace(0, len(x) - 1, min(TABLE_ROWS, len(x))).round().astype(int))
    return [
        (name, number(float(at[k])), as_percent(x[k]), as_percent(y[k])) for k in chosen.tolist()
    ]


def calibration(case: ClassCase) -> Figure:
    """Return the calibration curve of the positive class, or of the predicted class."""
    alt = altair()
    one = case.positive is not None
    display, what = _calibrated(case)
    columns = (display.probability, display.fraction, display.low, display.high)
    rows = zip(*(rounded(each) for each in columns), display.counts.tolist(), strict=True)
    values = [dict(zip("xylhn", row, strict=True)) for row in rows]
    base = alt.Chart(data_of(values)).encode(
        x=fraction_axis(alt.X, f"probability of {what}"),
        tooltip=[
            alt.Tooltip("x:Q", title="probability", format=".1%"),
            alt.Tooltip("y:Q", title="observed", format=".1%"),
            alt.Tooltip("l:Q", title="interval from", format=".1%"),
            alt.Tooltip("h:Q", title="to", format=".1%"),
            alt.Tooltip("n:Q", title="rows", format=","),
        ],
    )
    sure = as_percent(0.8, 0)
    title = f"fraction of {what}" if one else "fraction predicted correctly"
    axis = fraction_axis(alt.Y, title)
    ideal = alt.Chart(data_of([{"x": 0, "y": 0}, {"x": 1, "y": 1}])).mark_line(
        color="var(--grey)", strokeDash=[2, 3], strokeWidth=1
    )
    whiskers = base.mark_rule(color="var(--c1)", strokeWidth=1.5, opacity=0.55)
    chart = alt.layer(
        ideal.encode(x="x:Q", y="y:Q"),
        whiskers.encode(y=alt.Y("l:Q"), y2="h:Q"),
        base.mark_line(color="var(--c1)", strokeWidth=1.5).encode(y=axis),
        base.mark_circle(color="var(--c1)", size=55, opacity=1).encode(y=axis),
    )
    bins = zip(
        display.probability,
        display.fraction,
        display.low,
        display.high,
        display.counts,
        strict=True,
    )
    table = [
        (as_percent(p), as_percent(s), f"{as_percent(low)} to {as_percent(high)}", count(n))
        for p, s, low, high, n in bins
    ]
    return Figure(
        "calibration",
        "Calibration curve (reliability diagram)",
        f"Of the rows with a predicted probability of {sure} for {what}, about {sure} should be "
        f"{'of that class' if one else 'right'}. The dotted line is perfect calibration; bars are "
        f"{LEVEL} intervals. Brier score {display.brier:.3f}; 0 is perfect.",
        specification(chart),
        Table(("probability", "share", f"{LEVEL} interval", "rows"), tuple(table), 0),
        (
            Key(f"this model, with {LEVEL} interval", "var(--c1)", "point"),
            Key("perfect calibration", "var(--grey)", dash="2 3"),
        ),
    )


def sureness(case: ClassCase) -> Figure:
    """Return a histogram of the predicted probabilities."""
    alt = altair()
    result, what = _calibrated(case)
    bin_index = np.searchsorted(result.edges, result.probability, side="right") - 1
    bin_index = np.clip(bin_index, 0, len(result.edges) - 2)
    low, high = result.edges[bin_index], result.edges[bin_index + 1]
    rows = list(zip(rounded(low), rounded(high), result.counts.tolist(), strict=True))
    values = [{"a": a, "b": b, "n": n} for a, b, n in rows]
    bars = alt.Chart(data_of(values)).mark_bar(color="var(--c1)", binSpacing=1)
    chart = bars.encode(
        x=fraction_axis(alt.X, f"probability of {what}", "a:Q", bin="binned"),
        x2="b:Q",
        y=alt.Y("n:Q", title="rows"),
        tooltip=[
            alt.Tooltip("a:Q", title="from", format=".0%"),
            alt.Tooltip("b:Q", title="to", format=".0%"),
            alt.Tooltip("n:Q", title="rows", format=","),
        ],
    )
    sure = float(result.counts[(low >= 0.9) | (high <= 0.1)].sum() / result.counts.sum())
    cells = [(f"{as_percent(a, 0)} to {as_percent(b, 0)}", count(n)) for a, b, n in rows]
    return Figure(
        "sureness",
        "Predicted probabilities",
        f"Histogram of the predicted probability of {what}. The model is at least "
        f"{as_percent(0.9, 0)} sure of {as_percent(sure)} of the rows.",
        specification(chart),
        Table(("probability", "rows"), tuple(cells)),
    )


def _calibrated(case: ClassCase) -> tuple[CalibrationDisplay, str]:
    """Return the calibration display, and the event that the probabilities are of."""
    one = case.positive is not None
    result = CalibrationDisplay.from_case(case if one else _confidence_case(case), 10, "uniform")
    return result, shortened(result.label, 30) if one else "the predicted class"


def _confidence_case(case: ClassCase) -> ClassCase:
    """Return whether each prediction is correct, with its predicted probability."""
    assert case.probabilities is not None
    sure = case.probabilities[np.arange(len(case.predicted)), case.predicted]
    right = (case.y_true == case.predicted).astype(np.int64)
    chances = np.column_stack([1 - sure, sure])
    ones = np.ones_like(right)
    return ClassCase(["wrong", "right"], 2, right, ones, case.weight, 1, None, chances)


def confusion(evaluation: Evaluation) -> Figure | None:
    """Return the confusion matrix, or None if there are too many classes."""
    matrix = evaluation.confusion
    if matrix is None or len(matrix) > MATRIX_CLASSES:
        return None
    alt = altair()
    known = [index for index, each in enumerate(evaluation.classes) if each.known]
    k = len(matrix)
    names = distinct((each.label for each in evaluation.classes), 20 if k <= NUMBERED else 14)
    values_of = [sealed(name) for name in names]
    fractions = matrix / np.maximum(matrix.sum(axis=1, keepdims=True), 1)
    values = [
        {"i": i, "j": j, "n": int(matrix[i, j]), "s": fraction}
        for i in range(k)
        for j, fraction in zip(known, rounded(fractions[i, known], 4), strict=True)
    ]
    base = named(alt.Chart(data_of(values)), {"i": "t", "j": "p"}, names).encode(
        x=alt.X(
            "p:N",
            sort=[values_of[j] for j in known],
            title="predicted",
            axis=alt.Axis(orient="top", labelAngle=0 if _short(names) else -90, grid=False),
        ),
        y=alt.Y("t:N", sort=values_of, title="true class", axis=alt.Axis(grid=False)),
        tooltip=[
            alt.Tooltip("t:N", title="true class"),
            alt.Tooltip("p:N", title="predicted"),
            alt.Tooltip("n:Q", title="rows", format=","),
            alt.Tooltip("s:Q", title="of the true class", format=".1%"),
        ],
    )
    # without numbers in the cells, small counts should be visible too
    shade = alt.Scale(type="linear" if k <= NUMBERED else "sqrt", domain=[0, 1], range=[0, 1])
    cells = base.mark_rect(color="var(--cell)", stroke="var(--line)", strokeWidth=0.5).encode(
        opacity=alt.Opacity("s:Q", scale=shade, legend=None)
    )
    layers = [cells]
    if k <= NUMBERED:
        faint = alt.condition("datum.n == 0", alt.value(0.35), alt.value(1.0))
        text = base.mark_text(fontSize=13 if k <= 6 else 11, color="var(--ink)")
        layers.append(text.encode(text=alt.Text("n:Q", format=","), opacity=faint))
    side = {2: 64, 3: 60, 4: 52}.get(k, 44 if k <= 8 else 30 if k <= NUMBERED else 18)
    head = ("true class \\ predicted", *(names[j] for j in known))
    rows = [(names[i], *(count(matrix[i, j]) for j in known)) for i in range(k)]
    return Figure(
        "confusion",
        "Confusion matrix",
        "Rows are true classes, columns are predicted classes. Correct predictions are on the "
        "diagonal; darker cells have a larger fraction of the true class.",
        specification(alt.layer(*layers), side * k),
        Table(head, tuple(rows)),
    )


def _short(names: list[str]) -> bool:
    return max(map(len, names)) * len(names) <= 36


def confused_pairs(evaluation: Evaluation) -> Table | None:
    """Return the most frequent confusions, or None if there are few classes or no errors."""
    matrix = evaluation.confusion
    if matrix is None or len(matrix) < 5:
        return None
    wrong = matrix - np.diag(np.diag(matrix))
    order = np.argsort(-wrong, axis=None, kind="stable")[:PAIRS]
    names = [shortened(each.label, 40) for each in evaluation.classes]
    rows = [
        (names[i], names[j], count(wrong[i, j]), as_percent(wrong[i, j] / matrix[i].sum()))
        for i, j in zip(*np.unravel_index(order, wrong.shape), strict=True)
        if wrong[i, j]
    ]
    left = int(np.count_nonzero(wrong)) - len(rows)
    more = f"{plural(left, 'other pair')} of classes with mistakes." if left else ""
    head = ("true class", "predicted", "rows", "fraction of the class")
    return Table(head, tuple(rows), 2, more) if rows else None
