"""Texts with the contribution of each word to a score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from separable.features.text.text_plan import Span, contributions_of_words

if TYPE_CHECKING:
    from collections.abc import Mapping

    from separable.features.text.text_encoder import TextEncoder
    from separable.model.explain.explanation import Explanation, Terms

__all__ = ["MARKED_FRACTION", "HighlightedText", "highlighted_texts"]

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
