"""Where the words of a text stand in it, as an encoder of texts finds them."""

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
        Where it stands in the text as it was written.
    word : str
        As the encoder counts it, for example in lower case.
    """

    start: int
    end: int
    word: str


def word_spans(plan: TextPlan, text: str) -> list[Span] | None:
    """Return the words that are counted, stop words left out.

    Parameters
    ----------
    plan : TextPlan
        What the encoder does with a text.
    text : str

    Returns
    -------
    list of Span, or None
        None: the encoder counts no words, but characters or what a function makes of the text, or
        places cannot be carried back to the text as it was written.
    """
    if plan.analyzer != "word" or plan.tokenizer is not None or plan.preprocessor is not None:
        return None
    prepare = preprocessor_of(None, plan.strip_accents, plan.lowercase)
    prepared = text if prepare is None else prepare(text)
    pieces = [len(c if prepare is None else prepare(c)) for c in text]
    if sum(pieces) != len(prepared):
        return None
    origin = np.repeat(np.arange(len(text)), pieces)  # of each prepared character in the text
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
    """Return what each word adds: a term's part is shared out among all the words it is made of.

    Parameters
    ----------
    spans : list of Span
    ngram_range : (int, int)
    parts : mapping of str to float
        What each term adds; an n-gram is its words with a blank between.

    Returns
    -------
    list of float
        One for each span. They sum to the parts of the terms that the text has.
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
