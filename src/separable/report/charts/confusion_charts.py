"""Confusion matrix, as a chart or a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from separable.report.charts.chart import (
    Figure,
    Table,
    altair,
    data_of,
    named,
    rounded,
    specification,
)
from separable.report.page.formatting import as_percent, count, distinct, plural, sealed, shortened

if TYPE_CHECKING:
    from separable.model.metrics.evaluation import Evaluation

__all__ = ["confused_pairs", "confusion"]

#: Maximum classes for a matrix, and for numbers in its cells.
MATRIX_CLASSES, NUMBERED = 30, 12
#: Maximum pairs of classes listed.
PAIRS = 15


def confusion(evaluation: Evaluation) -> Figure | None:
    """Return the confusion matrix, or None if there are too many classes to see."""
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
        "Confusion matrix",
        "Rows are true classes, columns are predicted classes. Correct predictions are on the "
        "diagonal; darker cells have a larger fraction of the true class.",
        specification(alt.layer(*layers), side * k),
        Table(head, tuple(rows)),
    )


def _short(names: list[str]) -> bool:
    return max(map(len, names)) * len(names) <= 36


def confused_pairs(evaluation: Evaluation) -> Table | None:
    """Return the mistakes that are made most often, or None where there are few classes or none."""
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
