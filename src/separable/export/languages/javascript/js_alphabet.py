"""Python's letters, spaces and lower case as short tables, for languages that have others."""

from __future__ import annotations

import sys
import unicodedata
from typing import TYPE_CHECKING

import numpy as np

from separable.features.text.alphabet import SPACE, SPECIAL, WORD, alphabet

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["combining_ranges", "lower_ranges", "space_ranges", "word_ranges"]


def word_ranges() -> list[int]:
    """Return where runs of characters of words start and stop, one behind the other."""
    return _ranges((alphabet()[0] & WORD) > 0)


def space_ranges() -> list[int]:
    """Return the same for white space."""
    return _ranges((alphabet()[0] & SPACE) > 0)


def combining_ranges() -> list[int]:
    """Return the same for what is taken away with accents."""
    found = [unicodedata.combining(chr(point)) > 0 for point in range(sys.maxunicode + 1)]
    return _ranges(np.array(found))


def lower_ranges() -> list[int]:
    """Return runs of characters with another lower case: first, last, step, difference.

    Characters whose lower case depends on their neighbours, or is several, are not among them.
    """
    flags, lower = alphabet()
    points = np.flatnonzero(lower != np.arange(len(lower)))
    points = points[(flags[points] & SPECIAL) == 0]
    shifts = lower[points].astype(np.int64) - points
    out: list[int] = []
    for point, shift in zip(points.tolist(), shifts.tolist(), strict=True):
        if out and shift == out[-1] and _goes_on(out, point):
            out[-3] = point
        else:
            out += [point, point, 0, shift]
    for at in range(2, len(out), 4):
        out[at] = out[at] or 1
    return out


def _goes_on(runs: list[int], point: int) -> bool:
    """Whether a character continues the last run, whose step its second character decides."""
    step = point - runs[-3]
    if step > 2 or runs[-2] not in (0, step):
        return False
    runs[-2] = step
    return True


def _ranges(flags: NDArray[np.bool_]) -> list[int]:
    changes = np.flatnonzero(np.diff(np.concatenate([[False], flags, [False]]).astype(np.int8)))
    return [int(change) for change in changes]
