"""Unicode tables of the running Python: word characters, white space, lower case."""

from __future__ import annotations

import re
import sys
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable._core import portable

__all__ = ["SPECIAL", "alphabet", "tables_for"]

WORD, SPACE = 1, 2

#: Flag of characters without a context-free lower case.
SPECIAL = 4


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
