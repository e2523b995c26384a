"""What a conversion of a text column is: declared data, and texts prepared for it.

A conversion belongs to a fitted column. `predict`, `explain`, `evaluate` and exported code apply
the same one, so each is a small record that a model file and an exported program can hold.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import msgspec

from separable.data.arrow_arrays import strings

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "MAGNITUDES",
    "MISSING_WORDS",
    "Conversion",
    "DateConversion",
    "DurationConversion",
    "NumberConversion",
    "arrow_compute",
    "conversion_from_dict",
    "conversion_kind",
    "conversion_to_dict",
    "is_missing_word",
    "normalized",
    "text_scalar",
]

#: Words that mean a missing value among numbers and dates, in lower case.
MISSING_WORDS = (
    "", "-", "--", "---", ".", "...", "?", "??", "n/a", "na", "n.a.", "#n/a", "#na", "nan", "none",
    "null", "nil", "(null)", "missing", "unknown", "not available", "not applicable", "tbd",
    "k.a.", "keine angabe", "unbekannt", "#value!", "#ref!", "#div/0!", "#num!", "#name?", "nat",
    "entfällt", "fehlt", "n.d.", "sans objet", "non renseigné",
)  # fmt: skip

#: Characters that are equal to an ASCII character in numbers and dates.
SAME = {
    "\t": " ",
    "\u00a0": " ",  # no-break space
    "\u2009": " ",  # thin space
    "\u202f": " ",  # narrow no-break space
    "\u2212": "-",  # minus sign
    "\u2013": "-",  # en dash
    "\u2019": "'",  # apostrophe
}

#: Letters and words after a number that multiply it, with the power of ten: ``1.2k`` is 1200.
MAGNITUDES = {
    "k": 3, "K": 3, "Tsd": 3, "thousand": 3, "m": 6, "M": 6, "mn": 6, "Mio": 6, "million": 6,
    "B": 9, "bn": 9, "Mrd": 9, "billion": 9,
}  # fmt: skip

#: Marks between groups of three digits.
GROUPS = ("", ",", ".", " ", "'")

#: Longest unit and missing word, and the most of each.
MAX_LENGTH, MAX_WORDS = 80, 200


_LETTERS = set("".join(MAGNITUDES))


class _Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind"):
    """Base of the conversions."""


class NumberConversion(_Record, frozen=True, tag="number"):
    """Numbers as people write them: ``$1,133.98``, ``1.234,50 EUR``, ``(1,200)``, ``38.4%``.

    The number is that before the unit: ``38.4%`` is 38.4 and ``12 kg`` is 12. Parentheses and a
    sign at the end mean minus; a dash after the decimal mark, as in ``CHF 12.-``, means no cents.

    Parameters
    ----------
    decimal : {".", ","}
    group : {"", ",", ".", " ", "'"}
        Mark between groups of three digits; it may be left out. Commas may also stand as in India,
        ``1,20,000``.
    units : tuple of str
        Spellings of the one unit or currency of the column, before or after the number; it may be
        left out, except a percent sign.
    missing : tuple of str
        Texts that mean a missing value, in lower case.
    magnitudes : bool
        Whether a word of `MAGNITUDES` after the number multiplies it.
    """

    decimal: Literal[".", ","] = "."
    group: str = ""
    units: tuple[str, ...] = ()
    missing: tuple[str, ...] = MISSING_WORDS
    magnitudes: bool = False

    def __post_init__(self) -> None:
        _check_words(self.missing, "missing")
        _check_words(self.units, "units")
        if self.group not in GROUPS or self.group == self.decimal:
            raise ValueError(f"'group' must be one of {GROUPS} and not the decimal mark.")
        if any(not unit or not unit.strip(" ") == unit or _has_digit(unit) for unit in self.units):
            raise ValueError("'units' must be texts without digits and outer spaces.")
        if self.magnitudes and any(unit[0] in _LETTERS for unit in self.units):
            raise ValueError("'units' must not look like 'magnitudes'.")


class DateConversion(_Record, frozen=True, tag="date"):
    """Dates as people write them: ``05.03.2024``, ``3/5/24 2:30 PM``, ``5 Mar 2024``.

    Dates that begin with a year of four digits are read in every column.

    Parameters
    ----------
    order : {"ymd", "dmy", "mdy"}
        Day first or month first; "ymd": no other order was met, and none is read.
    month_names : bool
        Whether English month names are read.
    twelve_hour : bool
        Whether AM and PM are read.
    missing : tuple of str
        Texts that mean a missing value, in lower case.
    """

    order: Literal["ymd", "dmy", "mdy"] = "ymd"
    month_names: bool = False
    twelve_hour: bool = False
    missing: tuple[str, ...] = MISSING_WORDS

    def __post_init__(self) -> None:
        _check_words(self.missing, "missing")


class DurationConversion(_Record, frozen=True, tag="duration"):
    """Times of day and durations as hours: ``14:30``, ``2:30 PM``, ``1:02:03``, ``1h 30m``.

    Parameters
    ----------
    twelve_hour : bool
        Whether AM and PM are read.
    words : bool
        Whether durations in words, such as ``2 h 15 min``, are read.
    missing : tuple of str
        Texts that mean a missing value, in lower case.
    """

    twelve_hour: bool = False
    words: bool = False
    missing: tuple[str, ...] = MISSING_WORDS

    def __post_init__(self) -> None:
        _check_words(self.missing, "missing")


Conversion: TypeAlias = NumberConversion | DateConversion | DurationConversion


def conversion_kind(conversion: Conversion) -> str:
    """Return "number", "date" or "duration"."""
    return str(conversion.__struct_config__.tag)


def conversion_to_dict(conversion: Conversion) -> dict[str, Any]:
    """Return a conversion as JSON values; the standard missing words are left out."""
    record: dict[str, Any] = msgspec.to_builtins(conversion)
    extra = [word for word in conversion.missing if word not in MISSING_WORDS]
    del record["missing"]
    if not record.get("magnitudes", True):
        del record["magnitudes"]
    return {**record, **({"missing": extra} if extra else {})}


def conversion_from_dict(record: Mapping[str, Any]) -> Conversion:
    """Return the conversion of `conversion_to_dict`; raise ValueError for anything else."""
    try:
        made: Conversion = msgspec.convert(dict(record), type=Conversion)
    except (msgspec.ValidationError, ValueError, TypeError) as error:
        raise ValueError(f"not a conversion of a column: {error}") from None
    extra = tuple(word for word in made.missing if word not in MISSING_WORDS)
    return msgspec.structs.replace(made, missing=(*MISSING_WORDS, *extra))


def _check_words(words: tuple[str, ...], name: str) -> None:
    if len(words) > MAX_WORDS or any(len(word) > MAX_LENGTH or "\0" in word for word in words):
        raise ValueError(f"{name!r} must be at most {MAX_WORDS} short texts.")


def _has_digit(text: str) -> bool:
    return any("0" <= letter <= "9" for letter in text)


def arrow_compute() -> Any:
    """Return `pyarrow.compute`, imported when needed; its stubs know few of the types it takes."""
    from pyarrow import compute

    return compute


def text_scalar(text: str) -> Any:
    """Return a text for functions of Arrow; a Python text would make pyarrow import pandas."""
    return strings((text,))[0]


def normalized(texts: Any) -> Any:
    """Return texts with ASCII spaces, minus signs and apostrophes, trimmed.

    Parameters
    ----------
    texts : pyarrow.Array of string
    """
    compute = arrow_compute()

    if not compute.all(compute.string_is_ascii(texts), min_count=0).as_py():
        for odd, same in SAME.items():
            texts = compute.replace_substring(texts, odd, same)
    else:
        texts = compute.replace_substring(texts, "\t", " ")
    return compute.utf8_trim(texts, " ")


def is_missing_word(texts: Any, missing: tuple[str, ...]) -> Any:
    """Return which normalized texts mean a missing value."""
    compute = arrow_compute()

    return compute.is_in(compute.ascii_lower(texts), value_set=strings(missing))
