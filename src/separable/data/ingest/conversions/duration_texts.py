"""Texts of times of day and of durations to hours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.arrow_arrays import bits, floats
from separable.data.ingest.conversions.conversion import arrow_compute, text_scalar

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.data.ingest.conversions.conversion import DurationConversion

__all__ = ["CLOCK", "UNITS", "WORDS", "durations_of_texts"]

#: Units of durations in words, longest first, each with its spellings and its seconds.
UNITS = (
    (("d", "day", "days"), 86400.0),
    (("h", "hr", "hrs", "hour", "hours"), 3600.0),
    (("m", "min", "mins", "minute", "minutes"), 60.0),
    (("s", "sec", "secs", "second", "seconds"), 1.0),
)

CLOCK = (
    r"^(?P<sign>[+-]?)(?P<h>[0-9]{1,5}):(?P<m>[0-5][0-9])(?::(?P<s>[0-5][0-9](?:\.[0-9]{1,9})?))?"
    r" ?(?P<half>(?:[AaPp][Mm])?)$"
)


def _words_pattern() -> str:
    """Return the pattern of durations in words: each unit at most once, the longest first."""
    parts = []
    for name, (words, _) in zip("dhms", UNITS, strict=True):
        word = "|".join(sorted(words, key=len, reverse=True))
        parts.append(rf"(?:(?P<{name}>[0-9]+(?:\.[0-9]+)?) ?(?:{word})[, ]{{0,2}})?")
    return rf"^(?P<sign>[+-]?){''.join(parts)}$"


WORDS = _words_pattern()


def durations_of_texts(
    texts: Any, conversion: DurationConversion
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the hours of normalized texts, and which texts are a time or a duration.

    Parameters
    ----------
    texts : pyarrow.Array of string
    conversion : DurationConversion

    Returns
    -------
    hours : ndarray of float64
        NaN for other texts.
    read : ndarray of bool
    """
    compute = arrow_compute()

    hours, read = _of_clock(texts, conversion.twelve_hour)
    if conversion.words:
        parts = compute.extract_regex(texts, WORDS)
        seconds, there = np.zeros(len(texts)), np.zeros(len(texts), np.bool_)
        for name, (_, size) in zip("dhms", UNITS, strict=True):
            number = _number(parts, name)
            there |= ~np.isnan(number)
            seconds += np.nan_to_num(number) * size
        signed = np.where(_is(parts, "sign", "-"), -seconds, seconds)
        hours = np.where(there, signed / 3600.0, hours)
        read = read | there
    return hours, read


def _of_clock(texts: Any, twelve_hour: bool) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    compute = arrow_compute()

    parts = compute.extract_regex(texts, CLOCK)
    h, m, s = (_number(parts, name) for name in "hms")
    read = ~np.isnan(h)
    morning, afternoon = _is(parts, "half", "am"), _is(parts, "half", "pm")
    is_half = morning | afternoon
    read &= ~is_half | (twelve_hour & (h >= 1) & (h <= 12) & ~_is(parts, "sign", "-"))
    h = np.where(is_half, h % 12 + 12 * afternoon, h)
    seconds = h * 3600.0 + m * 60.0 + np.nan_to_num(s)
    hours = np.where(_is(parts, "sign", "-"), -seconds, seconds) / 3600.0
    return np.where(read, hours, np.nan), read


def _is(parts: Any, name: str, text: str) -> NDArray[np.bool_]:
    compute = arrow_compute()

    field = compute.fill_null(compute.struct_field(parts, name), text_scalar(""))
    return bits(compute.equal(compute.ascii_lower(field), text_scalar(text)), 1)


def _number(parts: Any, name: str) -> NDArray[np.float64]:
    """Return a part as numbers, NaN where it is absent."""
    import pyarrow as pa

    compute = arrow_compute()

    field = compute.fill_null(compute.struct_field(parts, name), text_scalar(""))
    filled = compute.if_else(compute.equal(field, text_scalar("")), text_scalar("nan"), field)
    return floats(filled.cast(pa.float64()))
