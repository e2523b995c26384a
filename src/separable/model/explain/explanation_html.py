"""Explanations as HTML for notebooks. All text is escaped."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from separable.model.explain.explanation_text import headline, scores_line, total
from separable.model.words import number, shown, signed

if TYPE_CHECKING:
    from separable.model.explain.explanation import Explanation

__all__ = ["explanation_html"]

TERMS = 20
ROWS = 10
TERMS_A_ROW = 5
UP, DOWN = "#3b7dd8", "#d9822b"  # blue and orange, distinguishable by colour-blind readers
CELL = "padding:2px 10px;text-align:right;white-space:nowrap"
NAME = "padding:2px 10px;text-align:left;overflow-wrap:anywhere"
RULE = ";border-top:1px solid rgba(128,128,128,.6)"


def explanation_html(explanation: Explanation) -> str:
    """Return one row as a table with bars, several as one line each."""
    return _one_row(explanation) if len(explanation) == 1 else _many_rows(explanation)


def _one_row(explanation: Explanation) -> str:
    terms = explanation.terms(n=TERMS)
    largest = max((abs(term.contribution) for term in terms.shown), default=0.0)
    lines = [_line("feature", "value", "weight", "contribution", tag="th")]
    for term in terms.shown:
        value, weight, part = number(term.value), number(term.weight), signed(term.contribution)
        lines.append(_line(shown(term.name), value, weight, part, bar=term.contribution / largest))
    if terms.other_count:
        others = f"{terms.other_count} other feature{'s' * (terms.other_count > 1)}"
        lines.append(_line(others, "", "", signed(terms.other_contribution)))
    lines.append(_line("intercept", "", "", signed(terms.intercept)))
    name, value = total(explanation, terms)
    lines.append(_line(name, "", "", value, tag="th", extra=RULE))
    return _page(headline(explanation, terms), lines, scores_line(explanation))


def _many_rows(explanation: Explanation) -> str:
    count = min(ROWS, len(explanation))
    classified = explanation.model.classes is not None
    heads = ["row", *(["predicted", "score"] if classified else ["prediction"])]
    lines = [_line(*heads, "largest contributions", tag="th", text=len(heads))]
    for row in range(count):
        terms = explanation.terms(row, n=TERMS_A_ROW)
        parts = ", ".join(f"{shown(term.name)} {signed(term.contribution)}" for term in terms.shown)
        cells = [str(row), *([shown(terms.predicted)] if classified else [])]
        lines.append(_line(*cells, total(explanation, terms)[1], parts, text=len(heads)))
    rest = len(explanation) - count
    more = f"{rest} more rows; explanation[i] shows row i in full" if rest else ""
    return _page(f"{shown(explanation.model.learner)} on {len(explanation)} rows", lines, more)


def _page(title: str, lines: list[str], under: str) -> str:
    style = "border-collapse:collapse;font:inherit;font-variant-numeric:tabular-nums;color:inherit"
    table = f'<table style="{style}">{"".join(lines)}</table>'
    note = f"<p>{escape(under)}</p>" if under else ""
    return f"<div><p><b>{escape(title)}</b></p>{table}{note}</div>"


def _line(
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
