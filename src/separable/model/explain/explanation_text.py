"""Explanations as text for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from separable.model.words import number, shown, signed, table

if TYPE_CHECKING:
    from separable.model.explain.explanation import Explanation, Terms

__all__ = ["explanation_text", "headline", "scores_line", "total"]

TERMS = 15
ROWS = 5
TERMS_A_ROW = 4
CLASSES = 6


def explanation_text(explanation: Explanation) -> str:
    """Return one row as a table, several as one line each, at most the first few."""
    if len(explanation) == 1:
        return _one_row(explanation)
    count = min(ROWS, len(explanation))
    lines = [f"{shown(explanation.model.learner)} on {len(explanation)} rows"]
    lines += [_line(explanation, row) for row in range(count)]
    if count < len(explanation):
        lines.append(f"... {len(explanation) - count} more rows")
    lines.append("explanation[i] shows row i in full")
    return "\n".join(lines)


def headline(explanation: Explanation, terms: Terms) -> str:
    """Return the sentence above the table of one row."""
    model = explanation.model
    if model.classes is None:
        target = "" if model.n_scores == 1 else f" for target {terms.label}"
        return f"{shown(model.learner)} predicts {number(terms.score)}{target}"
    rule = ""
    if len(model.classes) == 1:
        rule = " (the only class met so far)"
    elif len(model.classes) == 2:
        rule = f" (> 0 is {shown(terms.label)})"
    predicted, score = shown(terms.predicted), signed(terms.score)
    return f"{shown(model.learner)} predicts {predicted}: score {score}{rule}"


def total(explanation: Explanation, terms: Terms) -> tuple[str, str]:
    """Return name and text of the sum of intercept and contributions."""
    if explanation.model.classes is None:
        return "prediction", number(terms.score)
    return "score", signed(terms.score)


def scores_line(explanation: Explanation) -> str:
    """Return all scores of the first row in descending order, or the numbers of all targets.

    A single score is shown elsewhere, and '' is returned.
    """
    model, scores = explanation.model, explanation.all_scores[0]
    if len(scores) == 1:
        return ""
    if model.classes is None:
        what = "all targets"
        parts = [f"{k} is {number(each)}" for k, each in enumerate(scores[:CLASSES].tolist())]
    else:
        what = "all scores"
        order = np.argsort(-scores, kind="stable")[:CLASSES]
        parts = [f"{shown(model.classes[k])} {signed(float(scores[k]))}" for k in order]
    more = f", ... {len(scores) - CLASSES} more" if len(scores) > CLASSES else ""
    return f"{what}: {', '.join(parts)}{more}"


def _one_row(explanation: Explanation) -> str:
    terms = explanation.terms(n=TERMS)
    lines = [("feature", "value", "weight", "contribution")]
    for each in terms.shown:
        name, part = shown(each.name), signed(each.contribution)
        lines += [(name, number(each.value), number(each.weight), part)]
    if terms.other_contribution or terms.other_count:
        others = f"{terms.other_count} other feature{'s' * (terms.other_count > 1)}"
        lines.append((f"({others})", "", "", signed(terms.other_contribution)))
    lines.append(("intercept", "", "", signed(terms.intercept)))
    name, value = total(explanation, terms)
    lines.append((name, "", "", value))
    parts = [headline(explanation, terms), table(lines), scores_line(explanation)]
    return "\n".join(part for part in parts if part)


def _line(explanation: Explanation, row: int) -> str:
    terms = explanation.terms(row, n=TERMS_A_ROW)
    parts = ", ".join(f"{shown(term.name)} {signed(term.contribution)}" for term in terms.shown)
    predicted = "" if explanation.model.classes is None else f"{shown(terms.predicted)}, "
    text = f"{predicted}{' '.join(total(explanation, terms))}"
    return f"  row {row}: {text}: {parts or 'no feature counts'}"
