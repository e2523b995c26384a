"""How good a classifier is, as charts: mistakes by class, curves, calibration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from separable.model.metric_case import ClassCase
from separable.plot.calibration import CalibrationDisplay
from separable.plot.precision_recall import PrecisionRecallDisplay
from separable.plot.roc import RocDisplay
from separable.report.charts import (
    Figure,
    Key,
    Table,
    altair,
    colour,
    colour_scale,
    dash,
    rounded,
    specification,
    thinned,
)
from separable.report.words import (
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

    from numpy.typing import NDArray

    from separable.model.evaluation import Evaluation

    Floats = NDArray[np.float64]

__all__ = ["calibration", "confused_pairs", "confusion", "precision_recall", "roc", "sureness"]

#: Up to so many classes there is a matrix, up to so many its cells hold numbers.
MATRIX_CLASSES, NUMBERED = 30, 12
#: Pairs of classes that are told.
PAIRS = 15
#: Curves that are drawn: of more classes, the lowest.
CURVES = 6
#: Rows of a table of a curve.
TOLD = 15


def confusion(found: Evaluation) -> Figure | None:
    """Return which classes are taken for which, or None where there are too many to see."""
    matrix = found.confusion
    if matrix is None or len(matrix) > MATRIX_CLASSES:
        return None
    alt = altair()
    known = [place for place, each in enumerate(found.classes) if each.known]
    k = len(matrix)
    names = distinct((each.label for each in found.classes), 20 if k <= NUMBERED else 14)
    values_of = [sealed(name) for name in names]
    shares = matrix / np.maximum(matrix.sum(axis=1, keepdims=True), 1)
    values = [
        {"i": i, "j": j, "n": int(matrix[i, j]), "s": share}
        for i in range(k)
        for j, share in zip(known, rounded(shares[i, known], 4), strict=True)
    ]
    base = _named(alt.Chart(alt.Data(values=values)), {"i": "t", "j": "p"}, names).encode(
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
            alt.Tooltip("s:Q", title="of this class", format=".1%"),
        ],
    )
    # where no numbers are written, few rows are to be seen, too
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
        "Which class is taken for which",
        "A line is a true class, a column what the model says. What is right lies on the diagonal; "
        "the darker a cell, the larger its share of the class.",
        specification(alt.layer(*layers), side * k),
        Table(head, tuple(rows)),
    )


def _short(names: list[str]) -> bool:
    return max(map(len, names)) * len(names) <= 36


def confused_pairs(found: Evaluation) -> Table | None:
    """Return the mistakes that are made most often, or None where there are few classes or none."""
    matrix = found.confusion
    if matrix is None or len(matrix) < 5:
        return None
    wrong = matrix - np.diag(np.diag(matrix))
    order = np.argsort(-wrong, axis=None, kind="stable")[:PAIRS]
    names = [shortened(each.label, 40) for each in found.classes]
    rows = [
        (names[i], names[j], count(wrong[i, j]), as_percent(wrong[i, j] / matrix[i].sum()))
        for i, j in zip(*np.unravel_index(order, wrong.shape), strict=True)
        if wrong[i, j]
    ]
    left = int(np.count_nonzero(wrong)) - len(rows)
    more = f"{plural(left, 'other pair')} of classes with mistakes." if left else ""
    head = ("true class", "taken for", "rows", "share of the class")
    return Table(head, tuple(rows), 2, more) if rows else None


def roc(case: ClassCase) -> Figure:
    """Return the ROC curves of rows."""
    alt = altair()
    found = RocDisplay.from_case(case)
    kept, names = _lowest(found.labels, found.areas)
    curves, told = [], []
    for rank, place in enumerate(kept):
        x, y, at = found.fpr[place], found.tpr[place], found.thresholds[place]
        some = np.union1d(thinned(x, y), thinned(y, x))  # it may be steep, and flat
        curves.append(_points(rank, x[some], y[some], at[some]))
        told += _told(names[rank], x, y, at)
    line = alt.Chart(alt.Data(values=[{"x": 0, "y": 0}, {"x": 1, "y": 1}])).mark_line(
        color="var(--grey)", strokeDash=[2, 3], strokeWidth=1
    )
    chance = line.encode(x="x:Q", y="y:Q")
    one = len(found.labels) == 1
    what = shortened(found.labels[0], 30) if one else "the class"
    titles = (f"others taken for {what}", f"share of {what} found")
    drawn = _curves(curves, names, titles, ("others taken for it", "found"), "linear")
    areas = [f"{names[k]}: area {found.areas[p]:.3f}" for k, p in enumerate(kept)]
    return Figure(
        "roc",
        "ROC curve" if one else "ROC curves, each class against the rest",
        f"The further a curve bends to the upper left, the better rows are ranked: area "
        f"{np.mean(found.areas):.3f}{'' if one else ' in the mean'}, where guessing has 0.5."
        + _which(kept, found.labels),
        specification(alt.layer(chance, *drawn)),
        Table(("class", "threshold", "others taken for it", "found"), tuple(told)),
        (*_keys(areas), Key("guessing: area 0.500", "var(--grey)", dash="2 3")),
    )


def precision_recall(case: ClassCase) -> Figure:
    """Return how precision falls when more of a class is to be found."""
    alt = altair()
    found = PrecisionRecallDisplay.from_case(case)
    kept, names = _lowest(found.labels, found.average_precision)
    curves, told = [], []
    for rank, place in enumerate(kept):
        x, y, at = found.recall[place], found.precision[place], found.thresholds[place]
        some = thinned(x, y)
        points = np.append(0.0, x[some]), np.append(y[0], y[some]), np.append(at[0], at[some])
        curves.append(_points(rank, *points))
        told += _told(names[rank], x, y, at)
    one = len(found.labels) == 1
    what = shortened(found.labels[0], 30) if one else "the class"
    titles = (f"recall: share of {what} found", "precision: share right of those named")
    drawn = _curves(curves, names, titles, ("recall", "precision"), "step-before")
    keys = [f"{names[k]}: average {found.average_precision[p]:.3f}" for k, p in enumerate(kept)]
    legend = list(_keys(keys))
    if one:
        share = found.shares[0]
        values = [{"x": 0, "y": share}, {"x": 1, "y": share}]
        mark = {"color": "var(--grey)", "strokeDash": [2, 3], "strokeWidth": 1}
        rule = alt.Chart(alt.Data(values=values)).mark_line(**mark)
        drawn.insert(0, rule.encode(x="x:Q", y="y:Q"))
        legend.append(Key(f"every row named: {share:.3f}", "var(--grey)", dash="2 3"))
    return Figure(
        "precision-recall",
        "Precision and recall",
        f"To find more of {what} (to the right), more rows are named wrongly (down): the average "
        f"precision is {np.mean(found.average_precision):.3f}{'' if one else ' in the mean'}."
        + _which(kept, found.labels),
        specification(alt.layer(*drawn)),
        Table(("class", "threshold", "recall", "precision"), tuple(told)),
        tuple(legend),
    )


def calibration(case: ClassCase) -> Figure:
    """Return whether probabilities are true: of the second class, or of the answer where more."""
    alt = altair()
    one = case.positive is not None
    found, what = _calibrated(case)
    columns = (found.probability, found.share, found.low, found.high)
    rows = zip(*(rounded(each) for each in columns), found.counts.tolist(), strict=True)
    values = [dict(zip("xylhn", row, strict=True)) for row in rows]
    base = alt.Chart(alt.Data(values=values)).encode(
        x=_share_axis(alt.X, f"probability of {what}"),
        tooltip=[
            alt.Tooltip("x:Q", title="probability", format=".1%"),
            alt.Tooltip("y:Q", title="truly so", format=".1%"),
            alt.Tooltip("l:Q", title="interval from", format=".1%"),
            alt.Tooltip("h:Q", title="to", format=".1%"),
            alt.Tooltip("n:Q", title="rows", format=","),
        ],
    )
    sure = as_percent(0.8, 0)
    title = f"share that is {what}" if one else "share that is right"
    axis = _share_axis(alt.Y, title)
    ideal = alt.Chart(alt.Data(values=[{"x": 0, "y": 0}, {"x": 1, "y": 1}])).mark_line(
        color="var(--grey)", strokeDash=[2, 3], strokeWidth=1
    )
    whiskers = base.mark_rule(color="var(--c1)", strokeWidth=1.5, opacity=0.55)
    chart = alt.layer(
        ideal.encode(x="x:Q", y="y:Q"),
        whiskers.encode(y=alt.Y("l:Q"), y2="h:Q"),
        base.mark_line(color="var(--c1)", strokeWidth=1.5).encode(y=axis),
        base.mark_circle(color="var(--c1)", size=55, opacity=1).encode(y=axis),
    )
    told = zip(found.probability, found.share, found.low, found.high, found.counts, strict=True)
    table = [
        (as_percent(p), as_percent(s), f"{as_percent(low)} to {as_percent(high)}", count(n))
        for p, s, low, high, n in told
    ]
    return Figure(
        "calibration",
        "Are the probabilities true?",
        f"Of the rows for which the model says {sure} for {what}, about {sure} should be "
        f"{'so' if one else 'right'}. On the dotted line it does what it says; bars are {LEVEL} "
        f"intervals. Brier score {found.brier:.3f}; 0 is perfect.",
        specification(chart),
        Table(("probability", "share", f"{LEVEL} interval", "rows"), tuple(table), 0),
        (
            Key(f"this model, with {LEVEL} interval", "var(--c1)", "point"),
            Key("probabilities that are true", "var(--grey)", dash="2 3"),
        ),
    )


def sureness(case: ClassCase) -> Figure:
    """Return how many rows get which probability."""
    alt = altair()
    found, what = _calibrated(case)
    place = np.searchsorted(found.edges, found.probability, side="right") - 1
    place = np.clip(place, 0, len(found.edges) - 2)
    low, high = found.edges[place], found.edges[place + 1]
    rows = list(zip(rounded(low), rounded(high), found.counts.tolist(), strict=True))
    values = [{"a": a, "b": b, "n": n} for a, b, n in rows]
    bars = alt.Chart(alt.Data(values=values)).mark_bar(color="var(--c1)", binSpacing=1)
    chart = bars.encode(
        x=_share_axis(alt.X, f"probability of {what}", "a:Q", bin="binned"),
        x2="b:Q",
        y=alt.Y("n:Q", title="rows"),
        tooltip=[
            alt.Tooltip("a:Q", title="from", format=".0%"),
            alt.Tooltip("b:Q", title="to", format=".0%"),
            alt.Tooltip("n:Q", title="rows", format=","),
        ],
    )
    sure = float(found.counts[(low >= 0.9) | (high <= 0.1)].sum() / found.counts.sum())
    told = [(f"{as_percent(a, 0)} to {as_percent(b, 0)}", count(n)) for a, b, n in rows]
    return Figure(
        "sureness",
        "How sure is it?",
        f"Rows by the probability that the model gives {what}. It is at least "
        f"{as_percent(0.9, 0)} sure of {as_percent(sure)} of them.",
        specification(chart),
        Table(("probability", "rows"), tuple(told)),
    )


def _calibrated(case: ClassCase) -> tuple[CalibrationDisplay, str]:
    """Return how true probabilities are, and of what they are."""
    one = case.positive is not None
    found = CalibrationDisplay.from_case(case if one else _answers_right(case), 10, "uniform")
    return found, shortened(found.label, 30) if one else "its answer"


def _answers_right(case: ClassCase) -> ClassCase:
    """Return whether each answer is right, beside the probability that the model gives it."""
    assert case.probabilities is not None
    sure = case.probabilities[np.arange(len(case.predicted)), case.predicted]
    right = (case.truth == case.predicted).astype(np.int64)
    chances = np.column_stack([1 - sure, sure])
    ones = np.ones_like(right)
    return ClassCase(["wrong", "right"], 2, right, ones, case.weight, 1, None, chances)


def _lowest(labels: Sequence[Any], areas: Sequence[float]) -> tuple[list[int], list[str]]:
    """Return the curves to draw, and their names."""
    kept = list(range(len(labels)))
    if len(kept) > CURVES:
        kept = sorted(int(k) for k in np.argsort(areas, kind="stable")[:CURVES])
    return kept, distinct(labels[k] for k in kept)


def _which(kept: list[int], labels: Sequence[Any]) -> str:
    if len(kept) == len(labels):
        return ""
    return f" Of {len(labels)} classes the {len(kept)} with the lowest curves are drawn."


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
    base = alt.Chart(alt.Data(values=[point for curve in curves for point in curve])).encode(
        x=_share_axis(alt.X, titles[0]), y=_share_axis(alt.Y, titles[1])
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
        _named(base, {"k": "c"}, names)
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


def _named(chart: Any, fields: dict[str, str], names: list[str]) -> Any:
    """Return a chart whose rows have names in place of numbers, which take less room.

    Parameters
    ----------
    chart : Chart
    fields : dict of str to str
        A field of numbers, and the one that is to have the names.
    names : list of str
    """
    alt = altair()
    for number_field, field in fields.items():
        rows = [{number_field: k, field: sealed(name)} for k, name in enumerate(names)]
        found = alt.LookupData(alt.Data(values=rows), number_field, [field])
        chart = chart.transform_lookup(number_field, found)
    return chart


def _share_axis(channel: Any, title: str, field: str | None = None, **more: Any) -> Any:
    alt = altair()
    which = field or ("x:Q" if channel is alt.X else "y:Q")
    axis = alt.Axis(format="%", values=[0, 0.2, 0.4, 0.6, 0.8, 1])
    scale = alt.Scale(domain=[0, 1], nice=False)
    return channel(which, title=title, scale=scale, axis=axis, **more)


def _keys(names: list[str]) -> tuple[Key, ...]:
    return tuple(
        Key(name, colour(k), dash=" ".join(map(str, dash(k))) if k else "")
        for k, name in enumerate(names)
    )


def _told(name: str, x: Floats, y: Floats, at: Floats) -> list[tuple[str, ...]]:
    """Return some points of a curve, evenly along it."""
    some = np.unique(np.linspace(0, len(x) - 1, min(TOLD, len(x))).round().astype(int))
    return [(name, number(float(at[k])), as_percent(x[k]), as_percent(y[k])) for k in some.tolist()]
