"""Explanations as JSON values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from separable.model.words import label_value

if TYPE_CHECKING:
    from separable.model.explain.explanation import Explanation, Terms

__all__ = ["explanation_dict"]


def explanation_dict(explanation: Explanation, n: int) -> dict[str, Any]:
    """Return the explanation as JSON values, with the n largest terms of each row.

    A row has the predicted class, the class of its score and the score; in regression the predicted
    number and the index of the target.
    """
    model = explanation.model
    text, all_name = (_class, "scores") if model.classes is not None else (_target, "targets")
    rows: list[dict[str, Any]] = []
    for index, scores in enumerate(explanation.all_scores.tolist()):
        terms = explanation.terms(index, n=n)
        rows.append({"row": index, **text(terms), **_parts(terms)})
        if len(scores) > 1:
            rows[-1][all_name] = scores
    if model.encoder is not None:
        columns = explanation.by_column()
        for index, row in enumerate(rows):
            row["columns"] = {name: float(sums[index]) for name, sums in columns.items()}
    classes = None if model.classes is None else [label_value(label) for label in model.classes]
    return {"learner": model.learner, "link": model.link, "classes": classes, "rows": rows}


def _class(terms: Terms) -> dict[str, Any]:
    return {"predicted": terms.predicted, "label": terms.label, "score": terms.score}


def _target(terms: Terms) -> dict[str, Any]:
    return {"predicted": terms.predicted, "target": terms.label}


def _parts(terms: Terms) -> dict[str, Any]:
    return {
        "intercept": terms.intercept,
        "terms": [
            {
                "feature": term.feature,
                "value": term.value,
                "weight": term.weight,
                "contribution": term.contribution,
                **({} if term.raw is None else {"raw": term.raw}),
            }
            for term in terms.shown
        ],
        "others": {"count": terms.other_count, "contribution": terms.other_contribution},
    }
