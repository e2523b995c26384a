"""A text with its telling words in colour, or where there are no colours marked: [great +0.42]."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from separable.features.text_spans import Span, shares_of_words
from separable.model.words import shown, signed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from separable.features.text_encoder import TextEncoder
    from separable.model.explanation import Explanation, Terms

__all__ = ["TellingText", "in_colour", "legend", "telling_texts"]

#: Words whose share of the strongest one is smaller are not marked; from the others on they are
#: bold, and underlined too.
MARKED, BOLD, UNDERLINED = 0.1, 0.4, 0.75

#: So much of a text is shown.
LONGEST = 6000


@dataclass(frozen=True)
class TellingText:
    """A text, and what each of its words adds to the score.

    Parameters
    ----------
    column : str
        The raw column.
    text : str
    spans : list of Span or None
        The words; None where words cannot be told apart.
    shares : list of float
        What each adds. A pair of words adds one half to each of them.
    """

    column: str
    text: str
    spans: list[Span] | None
    shares: list[float]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        words = zip(self.spans or [], self.shares, strict=True)
        return {
            "text": self.text,
            "words": [
                {"start": span.start, "end": span.end, "word": span.word, "contribution": share}
                for span, share in words
            ],
        }

    def shown(self, *, colour: bool) -> str:
        """Return the text for a terminal: nothing in it can steer that."""
        largest = max(map(abs, self.shares), default=0.0)
        parts, place = [], 0
        for span, share in zip(self.spans or [], self.shares, strict=True):
            if span.end > LONGEST:
                break
            if not largest or abs(share) < MARKED * largest:
                continue
            word = _safe(self.text[span.start : span.end])
            parts.append(_safe(self.text[place : span.start]))
            parts.append(_coloured(word, share / largest) if colour else _marked(word, share))
            place = span.end
        parts.append(_safe(self.text[place : max(LONGEST, place)]))
        more = len(self.text) - max(LONGEST, place)
        return "".join(parts) + (f" ... {more} more characters" if more > 0 else "")


def telling_texts(
    explanation: Explanation, terms: Terms, texts: Mapping[str, str]
) -> list[TellingText]:
    """Return the texts of one row with what their words add.

    Parameters
    ----------
    explanation : Explanation
        Of one row.
    terms : Terms
        All its terms.
    texts : mapping of str to str
        The values that are texts, by raw column.
    """
    encoders = _encoders(explanation)
    found = []
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
        shares = shares_of_words(spans or [], (low, high), parts)
        found.append(TellingText(column, text, spans, shares))
    return found


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


def _encoders(explanation: Explanation) -> dict[str, tuple[TextEncoder, str]]:
    """Return the encoders of texts by raw column, each with how its features' names begin."""
    encoder: Any = explanation.model.encoder
    kind = getattr(encoder, "kind", None)
    if kind == "text":
        return {"text": (encoder, "")}
    if kind != "table":
        return {}
    return {name: (each, f"{name}:") for name, each in encoder.text_encoders.items()}


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
