"""Chart of the target: rows per class, or a histogram."""

from __future__ import annotations

from typing import TYPE_CHECKING

from separable.report.charts.chart import Figure, Table, altair, data_of, histogram, specification
from separable.report.page.formatting import (
    as_percent,
    count,
    distinct,
    number,
    plural,
    sealed,
    shortened,
)

if TYPE_CHECKING:
    from separable.report.contents import Data

__all__ = ["target"]

#: Classes that are drawn.
CLASSES = 20


def target(data: Data) -> Figure | None:
    """Return how many rows have which target, or None where that is not known."""
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
