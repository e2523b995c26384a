"""Texts with what each of their words adds to a score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from separable.features.text.spans import Span, contributions_of_words

if TYPE_CHECKING:
    from collections.abc import Mapping

    from separable.features.text.text_encoder import TextEncoder
    from separable.model.explain.explanation import Explanation, Terms

__all__ = ["MARKED_FRACTION", "HighlightedText", "highlighted_texts"]

#: Words whose share of the strongest one is smaller are not marked.
MARKED_FRACTION = 0.1


@dataclass(frozen=True)
class HighlightedText:
    """A text, and what each of its words adds to the score.

    Parameters
    ----------
    column : str
        The raw column.
    text : str
    spans : list of Span or None
        The words; None where words cannot be told apart.
    contributions : list of float
        What each adds. A pair of words adds one half to each of them.
    """

    column: str
    text: str
    spans: list[Span] | None
    contributions: list[float]

    def marked(self) -> list[tuple[Span, float]]:
        """Return the words that count, with what each adds."""
        largest = max(map(abs, self.contributions), default=0.0)
        words = zip(self.spans or [], self.contributions, strict=True)
        return [
            (span, contribution)
            for span, contribution in words
            if largest and abs(contribution) >= MARKED_FRACTION * largest
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
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
    """Return the texts of one row with what their words add.

    Parameters
    ----------
    explanation : Explanation
        Of one row.
    terms : Terms
        All its terms.
    texts : mapping of str to str
        The values that are texts, by raw column; ``"text"`` for a model of nothing but texts.
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
    """Return the encoders of texts by raw column, each with how its features' names begin."""
    encoder: Any = explanation.model.encoder
    kind = getattr(encoder, "kind", None)
    if kind == "text":
        return {"text": (encoder, "")}
    if kind != "table":
        return {}
    return {name: (each, f"{name}:") for name, each in encoder.text_encoders.items()}
