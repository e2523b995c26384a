"""Whether the probabilities of a classifier are true, and how sure it is, as charts."""

from __future__ import annotations

import numpy as np

from separable.model.metrics.metric_case import ClassCase
from separable.plot.displays.calibration import CalibrationDisplay
from separable.report.charts.chart import (
    Figure,
    Key,
    Table,
    altair,
    data_of,
    fraction_axis,
    rounded,
    specification,
)
from separable.report.page.formatting import LEVEL, as_percent, count, shortened

__all__ = ["calibration", "sureness"]


def calibration(case: ClassCase) -> Figure:
    """Return the calibration curve of the positive class, or of the predicted class."""
    alt = altair()
    one = case.positive is not None
    display, what = _calibrated(case)
    columns = (display.probability, display.share, display.low, display.high)
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
    title = f"fraction of {what}" if one else "fraction that is right"
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
        display.probability, display.share, display.low, display.high, display.counts, strict=True
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
    """Return how many rows get which probability."""
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
    """Return how true probabilities are, and of what they are."""
    one = case.positive is not None
    result = CalibrationDisplay.from_case(case if one else _confidence_case(case), 10, "uniform")
    return result, shortened(result.label, 30) if one else "its prediction"


def _confidence_case(case: ClassCase) -> ClassCase:
    """Return whether each answer is right, beside the probability that the model gives it."""
    assert case.probabilities is not None
    sure = case.probabilities[np.arange(len(case.predicted)), case.predicted]
    right = (case.y_true == case.predicted).astype(np.int64)
    chances = np.column_stack([1 - sure, sure])
    ones = np.ones_like(right)
    return ClassCase(["wrong", "right"], 2, right, ones, case.weight, 1, None, chances)
