"""Explanations as text and HTML, and texts with the contribution of each word.

All text in HTML is escaped.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from separable.features.text.text_plan import Span, contributions_of_words
from separable.model.words import number, shown, signed, table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from separable.features.text.text_encoder import TextEncoder
    from separable.model.explain.explanation import Explanation, Terms

__all__ = [
    "MARKED_FRACTION",
    "HighlightedText",
    "explanation_html",
    "explanation_text",
    "headline",
    "highlighted_texts",
    "scores_line",
    "total",
]


class Limits(NamedTuple):
    """Maximum number of rows, of terms of a single row, and of terms per row of several."""

    rows: int
    terms: int
    terms_per_row: int


TEXT_LIMITS, HTML_LIMITS = Limits(5, 15, 4), Limits(10, 20, 5)
#: Maximum number of scores in a line.
MAX_CLASSES = 6


def explanation_text(explanation: Explanation) -> str:
    """Return one row as a table, several as one line each, at most the first few."""
    if len(explanation) == 1:
        return _one_row(explanation)
    count = min(TEXT_LIMITS.rows, len(explanation))
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
        rule = "" if model.output_range is None else _exponential(terms, *model.output_range)
        return f"{shown(model.learner)} predicts {number(terms.predicted)}{target}{rule}"
    rule = ""
    if len(model.classes) == 1:
        rule = " (the only class met so far)"
    elif len(model.classes) == 2:
        rule = f" (> {number(model.score_threshold)} is {shown(terms.label)})"
    predicted, score = shown(terms.predicted), signed(terms.score)
    return f"{shown(model.learner)} predicts {predicted}: score {score}{rule}"


def _exponential(terms: Terms, low: float, high: float) -> str:
    """Return how a number follows from its logarithm, which the contributions add up to."""
    text = f": exp({number(terms.score)})"
    if low < terms.predicted < high:
        return text
    end = "largest" if terms.predicted >= high else "smallest"
    return f"{text}, limited to the {end} number of the training rows"


def total(explanation: Explanation, terms: Terms) -> tuple[str, str]:
    """Return name and text of the sum of intercept and contributions."""
    if explanation.model.link == "log":
        return "logarithm", number(terms.score)
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
        parts = [f"{k} is {number(each)}" for k, each in enumerate(scores[:MAX_CLASSES].tolist())]
    else:
        what = "all scores"
        order = np.argsort(-scores, kind="stable")[:MAX_CLASSES]
        parts = [f"{shown(model.classes[k])} {signed(float(scores[k]))}" for k in order]
    more = f", ... {len(scores) - MAX_CLASSES} more" if len(scores) > MAX_CLASSES else ""
    return f"{what}: {', '.join(parts)}{more}"


def _one_row(explanation: Explanation) -> str:
    terms = explanation.terms(n=TEXT_LIMITS.terms)
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
    terms = explanation.terms(row, n=TEXT_LIMITS.terms_per_row)
    parts = ", ".join(f"{shown(term.name)} {signed(term.contribution)}" for term in terms.shown)
    predicted = "" if explanation.model.classes is None else f"{shown(terms.predicted)}, "
    text = f"{predicted}{' '.join(total(explanation, terms))}"
    return f"  row {row}: {text}: {parts or 'no feature counts'}"


#: Words with less than this fraction of the largest contribution are not highlighted.
MARKED_FRACTION = 0.1


@dataclass(frozen=True)
class HighlightedText:
    """A text with the contribution of each word to the score.

    Parameters
    ----------
    column : str
        Raw column.
    text : str
    spans : list of Span or None
        Words; None if the text has no separable words.
    contributions : list of float
        Contribution of each word. That of a pair is split equally.
    """

    column: str
    text: str
    spans: list[Span] | None
    contributions: list[float]

    def marked(self) -> list[tuple[Span, float]]:
        """Return the highlighted words with their contributions."""
        largest = max(map(abs, self.contributions), default=0.0)
        words = zip(self.spans or [], self.contributions, strict=True)
        return [
            (span, contribution)
            for span, contribution in words
            if largest and abs(contribution) >= MARKED_FRACTION * largest
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values."""
        words = zip(self.spans or [], self.contributions, strict=True)
        return {
            "text": self.text,
            "words": [
                {
                    "start": span.start,
                    "end": span.end,
                    "word": span.word,
                    "contribution": contribution,
                }
                for span, contribution in words
            ],
        }


def highlighted_texts(
    explanation: Explanation, terms: Terms, texts: Mapping[str, str]
) -> list[HighlightedText]:
    """Return the texts of one row with the contributions of their words.

    Parameters
    ----------
    explanation : Explanation
        Explanation of one row.
    terms : Terms
        All its terms.
    texts : mapping of str to str
        Texts by raw column; ``"text"`` for a model of texts only.
    """
    encoders = _encoders(explanation)
    highlighted = []
    for column, text in texts.items():
        if column not in encoders:
            continue
        encoder, prefix = encoders[column]
        spans = encoder.word_spans(text)
        parts = {
            term.feature.removeprefix(prefix): term.contribution
            for term in terms.shown
            if term.source == column and term.feature.startswith(prefix)
        }
        low, high = encoder.ngram_range
        contributions = contributions_of_words(spans or [], (low, high), parts)
        highlighted.append(HighlightedText(column, text, spans, contributions))
    return highlighted


def _encoders(explanation: Explanation) -> dict[str, tuple[TextEncoder, str]]:
    """Return the text encoders by raw column, each with the prefix of its feature names."""
    encoder: Any = explanation.model.encoder
    kind = getattr(encoder, "kind", None)
    if kind == "text":
        return {"text": (encoder, "")}
    if kind != "table":
        return {}
    return {name: (each, f"{name}:") for name, each in encoder.text_encoders.items()}


UP, DOWN = "#3b7dd8", "#d9822b"  # blue and orange, distinguishable by colour-blind readers
CELL = "padding:2px 10px;text-align:right;white-space:nowrap"
NAME = "padding:2px 10px;text-align:left;overflow-wrap:anywhere"
RULE = ";border-top:1px solid rgba(128,128,128,.6)"


def explanation_html(explanation: Explanation) -> str:
    """Return one row as a table with bars, several as one line each."""
    return _one_row_html(explanation) if len(explanation) == 1 else _many_rows_html(explanation)


def _one_row_html(explanation: Explanation) -> str:
    terms = explanation.terms(n=HTML_LIMITS.terms)
    largest = max((abs(term.contribution) for term in terms.shown), default=0.0)
    lines = [_table_row("feature", "value", "weight", "contribution", tag="th")]
    for term in terms.shown:
        value, weight, part = number(term.value), number(term.weight), signed(term.contribution)
        lines.append(
            _table_row(shown(term.name), value, weight, part, bar=term.contribution / largest)
        )
    if terms.other_count:
        others = f"{terms.other_count} other feature{'s' * (terms.other_count > 1)}"
        lines.append(_table_row(others, "", "", signed(terms.other_contribution)))
    lines.append(_table_row("intercept", "", "", signed(terms.intercept)))
    name, value = total(explanation, terms)
    lines.append(_table_row(name, "", "", value, tag="th", extra=RULE))
    return _block(headline(explanation, terms), lines, scores_line(explanation))


def _many_rows_html(explanation: Explanation) -> str:
    count = min(HTML_LIMITS.rows, len(explanation))
    classified = explanation.model.classes is not None
    heads = ["row", *(["predicted", "score"] if classified else ["prediction"])]
    lines = [_table_row(*heads, "largest contributions", tag="th", text=len(heads))]
    for row in range(count):
        terms = explanation.terms(row, n=HTML_LIMITS.terms_per_row)
        parts = ", ".join(f"{shown(term.name)} {signed(term.contribution)}" for term in terms.shown)
        cells = [str(row), *([shown(terms.predicted)] if classified else [])]
        lines.append(_table_row(*cells, total(explanation, terms)[1], parts, text=len(heads)))
    rest = len(explanation) - count
    more = f"{rest} more rows; explanation[i] shows row i in full" if rest else ""
    return _block(f"{shown(explanation.model.learner)} on {len(explanation)} rows", lines, more)


def _block(title: str, lines: list[str], under: str) -> str:
    style = "border-collapse:collapse;font:inherit;font-variant-numeric:tabular-nums;color:inherit"
    table = f'<table style="{style}">{"".join(lines)}</table>'
    note = f"<p>{escape(under)}</p>" if under else ""
    return f"<div><p><b>{escape(title)}</b></p>{table}{note}</div>"


def _table_row(
    *cells: str, tag: str = "td", extra: str = "", text: int = 0, bar: float | None = None
) -> str:
    """Return a table row: cells right-aligned except ``text``, optionally with a bar."""
    styles = [(NAME if index == text else CELL) + extra for index in range(len(cells))]
    inside = "".join(
        f'<{tag} style="{style}">{escape(cell)}</{tag}>'
        for style, cell in zip(styles, cells, strict=True)
    )
    last = f'<td style="{extra.lstrip(";")}">{"" if bar is None else _bar(bar)}</td>'
    return f"<tr>{inside}{last}</tr>"


def _bar(fraction: float) -> str:
    """Return a bar from the middle: to the right if positive, to the left if negative."""
    width = 50 * abs(fraction)
    left = 50.0 if fraction >= 0 else 50 - width
    return (
        '<div style="width:160px;height:10px;position:relative">'
        f'<div style="position:absolute;left:{left:.2f}%;width:{width:.2f}%;height:10px;'
        f'background:{UP if fraction >= 0 else DOWN}"></div></div>'
    )
