"""Tokenization in Python, equivalent to scikit-learn's vectorizers.

This is the slow path, for custom patterns and functions. The compiled core handles scikit-learn's
default tokens.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

__all__ = ["preprocessor_of", "strip_accents_of", "tokenizer_of", "word_ngrams"]


def strip_accents_of(choice: Any) -> Callable[[str], str] | None:
    """Return the function that strips accents, or None."""
    if not choice:
        return None
    if callable(choice):
        function: Callable[[str], str] = choice
        return function
    return _strip_ascii if choice == "ascii" else _strip_unicode


def _strip_unicode(text: str) -> str:
    if text.isascii():
        return text
    parts = unicodedata.normalize("NFKD", text)
    return "".join(c for c in parts if not unicodedata.combining(c))


def _strip_ascii(text: str) -> str:
    return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii")


def preprocessor_of(
    preprocessor: Callable[[str], str] | None, strip_accents: Any, lowercase: bool
) -> Callable[[str], str] | None:
    """Return the preprocessing function of texts, or None."""
    if preprocessor is not None:
        return preprocessor
    strip = strip_accents_of(strip_accents)
    if strip is None:
        return str.lower if lowercase else None
    return (lambda text: strip(text.lower())) if lowercase else strip


def tokenizer_of(
    tokenizer: Callable[[str], Sequence[str]] | None, pattern: str
) -> Callable[[str], Sequence[str]]:
    """Return the tokenizer."""
    if tokenizer is not None:
        return tokenizer
    return re.compile(pattern).findall


def word_ngrams(
    tokens: Iterable[str], stop_words: Collection[str], min_n: int, max_n: int
) -> list[str]:
    """Return the n-grams of tokens, joined with spaces."""
    words = [token for token in tokens if token not in stop_words]
    if max_n == 1:
        return words
    return [
        " ".join(words[i : i + n])
        for n in range(min_n, min(max_n, len(words)) + 1)
        for i in range(len(words) - n + 1)
    ]
