"""Explanations as text and as JSON: one prediction, and the most important features of a model.

The most important words of a text are in colour, or marked: [great +0.42].
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from separable.model.explain.explanation_text import headline, highlighted_texts, scores_line, total
from separable.model.words import cell_text, counted, number, shown, signed, table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from separable.model.explain.explanation import Explanation, Term, Terms
    from separable.model.explain.explanation_text import HighlightedText

__all__ = [
    "ExplainedRow",
    "in_colour",
    "legend",
    "shown_text",
]


#: Fractions of the largest contribution from which words are bold, and underlined.
BOLD, UNDERLINED = 0.4, 0.75

#: Characters of a text that are shown.
LONGEST = 6000


def shown_text(highlighted: HighlightedText, *, colour: bool) -> str:
    """Return a text for a terminal, with control characters escaped."""
    largest = max(map(abs, highlighted.contributions), default=0.0)
    text, parts, end = highlighted.text, [], 0
    for span, fraction in highlighted.marked():
        if span.end > LONGEST:
            break
        word = _safe(text[span.start : span.end])
        parts.append(_safe(text[end : span.start]))
        parts.append(_coloured(word, fraction / largest) if colour else _marked(word, fraction))
        end = span.end
    parts.append(_safe(text[end : max(LONGEST, end)]))
    more = len(text) - max(LONGEST, end)
    return "".join(parts) + (f" ... {more} more characters" if more > 0 else "")


def in_colour() -> bool:
    """Whether standard output takes colours: a terminal, unless NO_COLOR or an option decides."""
    colour = click.get_current_context().color
    return sys.stdout.isatty() if colour is None else colour


def legend(explanation: Explanation, terms: Terms, *, colour: bool) -> str:
    """Return the meaning of the marks."""
    if explanation.model.classes is None:
        what = "raises the prediction", "lowers it"
    else:
        what = f"for {shown(terms.label)}", "against it"
    if not colour:
        return f"+ {what[0]}, - {what[1]}"
    return f"{click.style('green', fg='green')} {what[0]}, {click.style('red', fg='red')} {what[1]}"


def _coloured(word: str, fraction: float) -> str:
    return click.style(
        word,
        fg="green" if fraction > 0 else "red",
        bold=abs(fraction) >= BOLD or None,
        underline=abs(fraction) >= UNDERLINED or None,
    )


def _marked(word: str, fraction: float) -> str:
    return f"[{word} {signed(float(f'{fraction:.2g}'))}]"


def _safe(text: str) -> str:
    """Return text without control characters; lines stay lines."""
    lines = text.replace("\r\n", "\n").split("\n")
    return "\n".join(shown(line.replace("\t", " "), max(48, 10 * len(line))) for line in lines)


@dataclass(frozen=True)
class ExplainedRow:
    """A row, and the contribution of each of its features to the score.

    Parameters
    ----------
    explanation : Explanation
        Of one row.
    raw : mapping of str to object
        The row in the table, by column.
    where : str
        The name of the row.
    row : int or None
        Its number, counted from 1.
    """

    explanation: Explanation
    raw: Mapping[str, Any]
    where: str
    row: int | None = None

    def to_dict(self, top: int) -> dict[str, Any]:
        """Return plain values for JSON, with the largest terms."""
        record = self.explanation.to_dict(n=top)
        row = {**record["rows"][0], "row": self.row, "raw": dict(self.raw)}
        texts = self._texts(self.explanation.terms())
        if texts:
            row["texts"] = {each.column: each.to_dict() for each in texts}
        return {**record, "rows": [row]}

    def text(self, top: int) -> str:
        """Return a table of the largest terms, and texts with their most important words marked."""
        terms = self.explanation.terms(n=top)
        lines = [f"{shown(self.where, 500)}: {headline(self.explanation, terms)}"]
        lines += [table(self._lines(terms)), scores_line(self.explanation), *self._marked()]
        return "\n".join(filter(None, lines))

    def _texts(self, terms: Terms) -> list[Any]:
        texts = {name: value for name, value in self.raw.items() if isinstance(value, str)}
        return highlighted_texts(self.explanation, terms, texts)

    def _marked(self) -> list[str]:
        terms = self.explanation.terms()
        texts = [each for each in self._texts(terms) if each.spans]
        if not texts:
            return []
        colour = in_colour()
        lines = [f"Words: {legend(self.explanation, terms, colour=colour)}"]
        for each in texts:
            name = "" if len(self.raw) == 1 else f"{shown(each.column)}: "
            lines.append(f"{name}{shown_text(each, colour=colour)}")
        return lines

    def _lines(self, terms: Terms) -> list[tuple[str, ...]]:
        has_table = getattr(self.explanation.model.encoder, "kind", None) == "table"
        head = "in the table" if has_table else "value"
        lines: list[tuple[str, ...]] = [("feature", head, "weight", "contribution")]
        for term in terms.shown:
            cell = self._cell(term) if has_table else number(term.value)
            parts = (number(term.weight), signed(term.contribution))
            lines.append((shown(term.feature), cell, *parts))
        if terms.other_contribution:
            others = f"({counted(terms.other_count, 'other')})"
            lines.append((others, "", "", signed(terms.other_contribution)))
        lines.append(("intercept", "", "", signed(terms.intercept)))
        name, value = total(self.explanation, terms)
        lines.append((name, "", "", value))
        return lines

    def _cell(self, term: Term) -> str:
        assert term.source is not None
        if term.feature.startswith(f"{term.source}:"):  # a word needs no value
            return ""
        return cell_text(self.raw[term.source])
