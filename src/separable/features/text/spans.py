"""Positions of the words in a text, as a text encoder tokenizes it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from separable.features.text.analyzer import preprocessor_of
from separable.features.text.parameter_checks import TOKEN_PATTERN

if TYPE_CHECKING:
    from collections.abc import Mapping

    from separable.features.text.text_plan import TextPlan

__all__ = ["Span", "contributions_of_words", "word_spans"]


class Span(NamedTuple):
    """A word of a text.

    Parameters
    ----------
    start, end : int
        Position in the original text.
    word : str
        The token, for example in lower case.
    """

    start: int
    end: int
    word: str


def word_spans(plan: TextPlan, text: str) -> list[Span] | None:
    """Return the tokens with their positions, without stop words.

    Parameters
    ----------
    plan : TextPlan
        Preprocessing and tokenization of the encoder.
    text : str

    Returns
    -------
    list of Span, or None
        None if the encoder counts characters or the output of a function, or if positions cannot be
        mapped back to the original text.
    """
    if plan.analyzer != "word" or plan.tokenizer is not None or plan.preprocessor is not None:
        return None
    prepare = preprocessor_of(None, plan.strip_accents, plan.lowercase)
    prepared = text if prepare is None else prepare(text)
    pieces = [len(c if prepare is None else prepare(c)) for c in text]
    if sum(pieces) != len(prepared):
        return None
    origin = np.repeat(
        np.arange(len(text)), pieces
    )  # index in the text of each preprocessed character
    pattern = re.compile(plan.token_pattern or TOKEN_PATTERN)
    stop_words = frozenset(plan.stop_words)
    group = pattern.groups
    return [
        Span(int(origin[match.start(group)]), int(origin[match.end(group) - 1]) + 1, match[group])
        for match in pattern.finditer(prepared)
        if match[group] and match[group] not in stop_words
    ]


def contributions_of_words(
    spans: list[Span], ngram_range: tuple[int, int], parts: Mapping[str, float]
) -> list[float]:
    """Return the contribution of each word: that of an n-gram is split equally among its words.

    Parameters
    ----------
    spans : list of Span
    ngram_range : (int, int)
    parts : mapping of str to float
        Contribution of each term; an n-gram is its words joined by blanks.

    Returns
    -------
    list of float
        One per span. The sum equals the total of the terms that the text has.
    """
    words = [span.word for span in spans]
    ranges_of: dict[str, list[range]] = {}
    low, high = ngram_range
    for n in range(low, min(high, len(words)) + 1):
        for start in range(len(words) - n + 1):
            term = " ".join(words[start : start + n])
            if term in parts:
                ranges_of.setdefault(term, []).append(range(start, start + n))
    contributions = [0.0] * len(words)
    for term, ranges in ranges_of.items():
        each = parts[term] / sum(map(len, ranges))
        for inside in ranges:
            for origin in inside:
                contributions[origin] += each
    return contributions
