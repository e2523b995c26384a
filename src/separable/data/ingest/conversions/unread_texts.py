"""Text columns that look like numbers or dates and stay text: why, and what to do.

A range, a bound or a quarter has no one number that the text alone decides. Such a column is named
with its remedy; as a category or as words it would be used without a word.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.arrow_arrays import bits
from separable.data.ingest.conversions.conversion import arrow_compute
from separable.data.ingest.conversions.conversion_guess import ConversionGuess

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

__all__ = ["ONE_UNIT", "ORDER", "may_be_unread", "unread_texts"]

ONE_UNIT = "Convert them to one unit in the file, or write the unit in a column of its own."
ORDER = "Say which comes first, or write them as 2024-01-31."
ISO = "Write them as 2024-01-31, or keep the column as a category."

#: Fraction of the distinct texts that must have a form, and of the values that have its mark.
MIN_FORM, MIN_MARKED = 0.9, 0.02

_N = r"(?:[1-9][0-9.,]*|0(?:[.,][0-9]+)?)"
_PLAIN = rf"^[+-]?[$€£₹]? ?{_N}$"
_UNIT = r"(?: ?(?:\p{L}|[%€$])+)?"
_MONTH = r"\p{L}{3,9}"
_YEAR = "(?:19|20)[0-9]{2}"
_WORDS = rf"[0-9]{{1,2}}[. -]{{1,2}}{_MONTH}[., -]{{1,2}}{_YEAR}"

#: What the texts are, the patterns of a text with the mark, and the remedy.
FORMS = (
    ("quarters", (rf"Q[1-4][ /-]?{_YEAR}", rf"{_YEAR}[ /-]?Q[1-4]"), ISO),
    ("weeks", (rf"{_YEAR}-?W[0-5][0-9]", rf"(?:KW|W) ?[0-5]?[0-9][ /-]{_YEAR}"), ISO),
    ("months", (rf"{_YEAR}[-/](?:0[1-9]|1[0-2])", rf"[01]?[0-9][-/]{_YEAR}",
                rf"{_MONTH}[. -]{{1,2}}(?:{_YEAR}|[0-9]{{2}})"), ISO),
    ("dates in words", (rf"(?:{_MONTH}\.?,? )?{_WORDS}(?:[ T,].*)?",), ISO),
    ("dates with the name of a time zone",
     (rf"{_YEAR}-[01][0-9]-[0-3][0-9][ T][0-9:.]+ ?[A-Z]{{2,5}}",),
     "Write the offset from UTC, as in 2024-01-31 14:00+01:00."),
    ("times in words", (r"[0-2]?[0-9](?:[:.][0-5][0-9] ?(?:Uhr|h|Hrs?|hrs?)|h[0-5][0-9])",),
     "Write them as 14:30."),
    ("numbers with bounds",
     (rf"(?:[<>]=?|≤|≥|under|over|unter|über) ?{_N}{_UNIT}", rf"{_N}\+"),
     "Write the bound as the number, and that it is one in a column of its own."),
    ("ranges of numbers", (rf"{_N} ?(?:-|to|bis|\.\.) ?{_N}{_UNIT}", rf"{_N}\+{_UNIT}"),
     "Write the middle of each range, or its two ends in two columns."),
    ("approximate numbers", (rf"(?:~|≈|±|ca\.?|about|circa) ?{_N}{_UNIT}",),
     "Write the number alone."),
    ("numbers with an uncertainty", (rf"{_N} ?(?:±|\+/-) ?{_N}{_UNIT}",),
     "Write the number alone, and its uncertainty in a column of its own."),
    ("accounting numbers", (rf"[$€£₹] ?\({_N}\)", rf"[$€£₹]? ?{_N}/-"),
     "Write negative numbers as -1200 or (1,200), and whole ones without a dash."),
    ("numbers as texts of a spreadsheet", (rf"'{_N}", rf"=\"{_N}\""), "Write the number alone."),
    ("numbers with a note", (rf"{_N}{_UNIT} ?[(\[].{{1,40}}[)\]]",),
     "Write the number alone, and the note in a column of its own."),
    ("feet and inches", (r"[0-9]+' ?[0-9]{1,2}(?:\"|'')?",), ONE_UNIT),
    ("pairs of numbers", (rf"{_N} ?[x/\x{{d7}}] ?{_N}{_UNIT}",),
     "Write each number in a column of its own."),
)  # fmt: skip


def may_be_unread(texts: Iterable[str]) -> bool:
    """Return whether a text has one of the forms; a quick test of a few normalized texts.

    Arrow compiles a pattern for every call, which takes longer than the search itself.
    """
    return any(map(_any_form().fullmatch, texts))


@cache
def _any_form() -> re.Pattern[str]:
    """Return the patterns of all forms in the dialect of Python."""
    patterns = "|".join(pattern for _, patterns, _ in FORMS for pattern in patterns)
    return re.compile(patterns.replace(r"\p{L}", r"[^\W\d_]").replace(r"\x{d7}", "\xd7"))


def unread_texts(
    raw: tuple[str, ...], texts: Any, counts: NDArray[Any], missing: NDArray[np.bool_]
) -> ConversionGuess | None:
    """Return why a column of numbers or dates stays text; None for other texts.

    Parameters
    ----------
    raw : tuple of str
        Distinct texts.
    texts : pyarrow.Array of string
        The same, normalized.
    counts : ndarray of int
        Values of each.
    missing : ndarray of bool
        Which are missing words.
    """
    plain = _matches(texts, _PLAIN) & ~missing
    n_present = int((~missing).sum())
    n_values = int(counts[~missing].sum())
    for what, patterns, remedy in FORMS:
        marked = _matches(texts, f"^(?:{'|'.join(patterns)})$") & ~missing & ~plain
        if counts[marked].sum() < max(MIN_MARKED * n_values, 1):
            continue
        if (marked | plain).sum() >= MIN_FORM * n_present:
            return ConversionGuess(None, f"{what}, such as {_first(raw, marked)}", remedy=remedy)
    return None


def _first(raw: tuple[str, ...], chosen: NDArray[np.bool_]) -> str:
    return f"{raw[int(np.flatnonzero(chosen)[0])]!r:.40}"


def _matches(texts: Any, pattern: str) -> NDArray[np.bool_]:
    return bits(arrow_compute().match_substring_regex(texts, pattern), 1)
