"""A text with its telling words in colour, or where there are no colours marked: [great +0.42]."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from separable.model.words import shown, signed

if TYPE_CHECKING:
    from separable.model.explanation import Explanation, Terms
    from separable.model.telling_texts import TellingText

__all__ = ["in_colour", "legend", "shown_text"]

#: Words whose share of the strongest one is so large are bold, and underlined too.
BOLD, UNDERLINED = 0.4, 0.75

#: So much of a text is shown.
LONGEST = 6000


def shown_text(telling: TellingText, *, colour: bool) -> str:
    """Return a text for a terminal: nothing in it can steer that."""
    largest = max(map(abs, telling.shares), default=0.0)
    text, parts, place = telling.text, [], 0
    for span, share in telling.marked():
        if span.end > LONGEST:
            break
        word = _safe(text[span.start : span.end])
        parts.append(_safe(text[place : span.start]))
        parts.append(_coloured(word, share / largest) if colour else _marked(word, share))
        place = span.end
    parts.append(_safe(text[place : max(LONGEST, place)]))
    more = len(text) - max(LONGEST, place)
    return "".join(parts) + (f" ... {more} more characters" if more > 0 else "")


def in_colour() -> bool:
    """Whether standard output takes colours: a terminal, unless the user says otherwise."""
    colour = click.get_current_context().color
    return sys.stdout.isatty() if colour is None else colour


def legend(explanation: Explanation, terms: Terms, *, colour: bool) -> str:
    """Return what the marks mean."""
    if explanation.model.classes is None:
        what = "raises the prediction", "lowers it"
    else:
        what = f"speaks for {shown(terms.label)}", "against it"
    if not colour:
        return f"+ {what[0]}, - {what[1]}"
    return f"{click.style('green', fg='green')} {what[0]}, {click.style('red', fg='red')} {what[1]}"


def _coloured(word: str, share: float) -> str:
    return click.style(
        word,
        fg="green" if share > 0 else "red",
        bold=abs(share) >= BOLD or None,
        underline=abs(share) >= UNDERLINED or None,
    )


def _marked(word: str, share: float) -> str:
    return f"[{word} {signed(float(f'{share:.2g}'))}]"


def _safe(text: str) -> str:
    """Return text without control characters; lines stay lines."""
    lines = text.replace("\r\n", "\n").split("\n")
    return "\n".join(shown(line.replace("\t", " "), max(48, 10 * len(line))) for line in lines)
