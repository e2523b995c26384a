"""Tables of Python's Unicode classes: word characters, white space, lower case."""

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
    """Return the starts and stops of the runs of word characters, in turn."""
    return _ranges((alphabet()[0] & WORD) > 0)


def space_ranges() -> list[int]:
    """Return the starts and stops of the runs of white space, in turn."""
    return _ranges((alphabet()[0] & SPACE) > 0)


def combining_ranges() -> list[int]:
    """Return the starts and stops of the runs of combining characters, in turn."""
    combining = [unicodedata.combining(chr(point)) > 0 for point in range(sys.maxunicode + 1)]
    return _ranges(np.array(combining))


def lower_ranges() -> list[int]:
    """Return runs of characters with a lower case: first, last, step, difference.

    Characters whose lower case depends on the context or has several characters are left out.
    """
    flags, lower = alphabet()
    points = np.flatnonzero(lower != np.arange(len(lower)))
    points = points[(flags[points] & SPECIAL) == 0]
    shifts = lower[points].astype(np.int64) - points
    out: list[int] = []
    for point, shift in zip(points.tolist(), shifts.tolist(), strict=True):
        if out and shift == out[-1] and _extends(out, point):
            out[-3] = point
        else:
            out += [point, point, 0, shift]
    for at in range(2, len(out), 4):
        out[at] = out[at] or 1
    return out


def _extends(runs: list[int], point: int) -> bool:
    """Extend the last run by a character if its step allows; its second character sets the step."""
    step = point - runs[-3]
    if step > 2 or runs[-2] not in (0, step):
        return False
    runs[-2] = step
    return True


def _ranges(flags: NDArray[np.bool_]) -> list[int]:
    changes = np.flatnonzero(np.diff(np.concatenate([[False], flags, [False]]).astype(np.int8)))
    return [int(change) for change in changes]
