"""Tokenization in Python, equivalent to scikit-learn's vectorizers.

This is the slow path, for custom patterns and functions. The compiled core handles scikit-learn's
default tokens.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from numpy.typing import NDArray

    from separable._core import portable


__all__ = [
    "SPECIAL",
    "alphabet",
    "preprocessor_of",
    "strip_accents_of",
    "tables_for",
    "tokenizer_of",
    "word_ngrams",
]

WORD, SPACE = 1, 2

#: Flag of characters without a context-free lower case.
SPECIAL = 4


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


@cache
def alphabet() -> tuple[NDArray[np.uint8], NDArray[np.uint32]]:
    """Return the flags and the lower case of every code point.

    A capital sigma has two lower-case forms, depending on its neighbours, and a dotted capital I
    becomes two characters. Such characters are marked `SPECIAL`: their documents are lowered by
    ``str.lower``.
    """
    n = sys.maxunicode + 1
    points = np.arange(n, dtype=np.uint32)
    points[0xD800:0xE000] = 0  # surrogates are not characters
    text = points.tobytes().decode("utf-32-le" if sys.byteorder == "little" else "utf-32-be")
    flags = np.zeros(n, np.uint8)
    for flag, pattern in ((WORD, r"\w+"), (SPACE, r"\s+")):
        for match in re.finditer(pattern, text):
            flags[match.start() : match.end()] |= flag
    lower, special = _lower(text, points)
    flags[special] |= SPECIAL
    return flags, lower


def tables_for(documents: portable.TextDocuments) -> tuple[Any, Any]:
    """Return the tables that documents need: none for ASCII."""
    return (None, None) if documents.is_ascii else alphabet()


def _lower(text: str, points: NDArray[np.uint32]) -> tuple[NDArray[np.uint32], list[int]]:
    blocks = range(0, len(text), 1024)
    odd = [b for b in blocks if len(text[b : b + 1024].lower()) != len(text[b : b + 1024])]
    longer = [p for b in odd for p in range(b, b + 1024) if len(text[p : p + 1].lower()) > 1]
    special = [ord("Σ"), *longer]
    plain = points.copy()
    plain[special] = 0
    code = "utf-32-le" if sys.byteorder == "little" else "utf-32-be"
    lowered = plain.tobytes().decode(code).lower().encode(code)
    lower = np.frombuffer(lowered, dtype=np.uint32).copy()
    lower[0xD800:0xE000] = np.arange(0xD800, 0xE000)
    lower[special] = special
    return lower, special
