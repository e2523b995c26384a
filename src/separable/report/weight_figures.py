"""The features that tell most, as bars."""

from __future__ import annotations

from typing import TYPE_CHECKING

from separable.report.charts import Figure, Key, Table, altair, rounded, specification
from separable.report.words import distinct, number, sealed, shortened

if TYPE_CHECKING:
    from separable.model.kinds import Model
    from separable.model.top_weights import WeightGroup

__all__ = ["weights"]

#: Bars to either side: of one score, and of each of several.
ALONE, TOGETHER = 12, 6
#: Scores that are drawn.
SCORES = 12


def weights(model: Model) -> list[Figure]:
    """Return the strongest weights of a model, one chart a score."""
    together = model.n_scores > 1
    groups = model.top_weights(TOGETHER if together else ALONE).groups
    pairs = [(groups[k], groups[k + 1]) for k in range(0, len(groups), 2)][:SCORES]
    drawn = [_bars(k, up, down, model) for k, (up, down) in enumerate(pairs)]
    return [each for each in drawn if each is not None]


def _bars(k: int, up: WeightGroup, down: WeightGroup, model: Model) -> Figure | None:
    alt = altair()
    both = [*up.weights, *reversed(down.weights)]
    if not both:
        return None
    names = distinct(name for name, _ in both)
    values = [
        {"f": sealed(name), "w": w, "z": 0, "s": int(w > 0)}
        for name, w in zip(names, rounded([w for _, w in both]), strict=True)
        if w is not None
    ]
    base = alt.Chart(alt.Data(values=values)).encode(
        y=alt.Y("f:N", sort=list(map(sealed, names)), title=None, axis=alt.Axis(grid=False)),
        x=alt.X("w:Q", title="weight", axis=alt.Axis(tickCount=5)),
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
