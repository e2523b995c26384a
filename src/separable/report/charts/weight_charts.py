"""Bar charts of the most important features."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from separable.report.charts.chart import (
    Figure,
    Key,
    Table,
    altair,
    data_of,
    number_format,
    rounded,
    specification,
)
from separable.report.page.formatting import distinct, number, sealed, shortened

if TYPE_CHECKING:
    from collections.abc import Sequence

    from separable.model.explain.top_weights import WeightGroup
    from separable.model.kinds import Model

__all__ = ["weights"]

#: Bars to either side: of one score, and of each of several.
ALONE, TOGETHER = 12, 6
#: Scores that are drawn, those that are listed beyond, and features of each of these.
SCORES, LINES, LISTED = 6, 200, 4
#: Bars shorter than this fraction of the longest are left out.
LEAST = 0.005


def weights(model: Model, common: Sequence[Any] = ()) -> tuple[list[Figure], Table | None]:
    """Return the strongest weights of a model, one chart a score; of many scores a table, too.

    Parameters
    ----------
    model : LinearModel or VotedModel
    common : sequence
        The classes from the most common on. Of many, the first of them are drawn.
    """
    together = model.n_scores > 1
    groups = model.top_weights(TOGETHER if together else ALONE).groups
    pairs = [(groups[k], groups[k + 1]) for k in range(0, len(groups), 2)]
    rank = {label: k for k, label in enumerate(common)}
    order = sorted(range(len(pairs)), key=lambda k: rank.get(pairs[k][0].label, len(rank)))
    drawn = [_bars(k, *pairs[k], model) for k in sorted(order[:SCORES])]
    table = _table([up for up, _ in pairs]) if len(pairs) > SCORES else None
    return [each for each in drawn if each is not None], table


def _table(groups: list[WeightGroup]) -> Table:
    """Return the features that speak for each class, in a line."""
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
    return Table(("class", "largest weights"), tuple(rows), 2, f"{left} more." if left else "")


def _bars(k: int, up: WeightGroup, down: WeightGroup, model: Model) -> Figure | None:
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
        x=alt.X("w:Q", title="weight", axis=axis),
        tooltip=[
            alt.Tooltip("f:N", title="feature"),
            alt.Tooltip("w:Q", title="weight", format="+.4~g"),
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
            ("feature", "weight"),
            tuple((n, number(w)) for n, (_, w) in zip(names, both, strict=True)),
        ),
        (Key(_towards(up), "var(--c2)", "bar"), Key(_towards(down), "var(--c1)", "bar")),
    )


def _seen(weights: list[tuple[str, float]]) -> list[tuple[str, float]]:
    """Return the weights whose bars can be seen beside the longest."""
    largest = max((abs(w) for _, w in weights), default=0.0)
    return [(name, w) for name, w in weights if abs(w) >= LEAST * largest]


def _title(up: WeightGroup, down: WeightGroup, model: Model) -> str:
    if model.classes is None:
        return "Weights" if model.n_scores == 1 else f"Target {up.label}"
    if model.n_scores == 1:
        return f"{shortened(down.label, 30)} or {shortened(up.label, 30)}"
    return shortened(up.label, 40)


def _towards(group: WeightGroup) -> str:
    """Return what the weights do, with the class as this page writes it."""
    for words in ("towards", "away from"):
        if group.towards.startswith(words):
            return f"{words} {shortened(group.label, 40)}"
    return group.towards
