"""An explanation as plain lists and dicts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from separable.model.words import label_value

if TYPE_CHECKING:
    from separable.model.explanation import Explanation, Terms

__all__ = ["explanation_dict"]


def explanation_dict(explanation: Explanation, n: int) -> dict[str, Any]:
    """Return the explanation as plain lists and dicts, with the n largest terms of each row."""
    model = explanation.model
    rows = [_row_dict(explanation.terms(row, n=n), row) for row in range(len(explanation))]
    if len(model.weights) > 1:
        for row, scores in zip(rows, explanation.all_scores.tolist(), strict=True):
            row["scores"] = scores
    if model.encoder is not None:
        columns = explanation.by_column()
        for place, row in enumerate(rows):
            row["columns"] = {name: float(sums[place]) for name, sums in columns.items()}
    classes = None if model.classes is None else [label_value(label) for label in model.classes]
    return {"learner": model.learner, "link": model.link, "classes": classes, "rows": rows}


def _row_dict(terms: Terms, row: int) -> dict[str, Any]:
    return {
        "row": row,
        "predicted": terms.predicted,
        "label": terms.label,
        "score": terms.score,
        "intercept": terms.intercept,
        "terms": [
            {
                "feature": term.feature,
                "value": term.value,
                "weight": term.weight,
                "contribution": term.contribution,
            }
            for term in terms.shown
        ],
        "others": {"count": terms.other_count, "contribution": terms.other_contribution},
    }
