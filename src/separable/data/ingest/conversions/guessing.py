"""Guess of the conversion of a text column from all of its distinct texts.

A wrong guess is worse than none: nearly all distinct texts must be read, by one convention. What
the column alone cannot decide (day or month first, two units) is not converted, and the guess says
why.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from separable.data.arrow_arrays import bits, mask, strings
from separable.data.columns import Categories, Columns
from separable.data.ingest.conversions.applying import convert, texts_read, written_as
from separable.data.ingest.conversions.convention_names import HOW
from separable.data.ingest.conversions.conversion import (
    MAGNITUDES,
    MAX_LENGTH,
    MISSING_WORDS,
    Conversion,
    DateConversion,
    DurationConversion,
    NumberConversion,
    arrow_compute,
    conversion_from_dict,
    conversion_kind,
    is_missing_word,
    normalized,
    text_scalar,
)
from separable.data.ingest.conversions.conversion_guess import ConversionGuess
from separable.data.ingest.conversions.date_texts import day_and_month
from separable.data.ingest.conversions.number_texts import core_pattern, grouped_by_points
from separable.data.ingest.conversions.unread_texts import (
    ONE_UNIT,
    ORDER,
    may_be_unread,
    unread_texts,
)
from separable.data.ingest.dates import ISO_DATE

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TypeAlias

    from numpy.typing import NDArray

    Given: TypeAlias = Conversion | Mapping[str, Any] | str | None

__all__ = [
    "ConversionGuess",
    "Given",
    "converted_columns",
    "guess_conversion",
    "guess_conversions",
    "requested",
]

#: Fraction of the distinct texts, and of the values, that must be read. A guess.
MIN_READ = 0.98

#: Most distinct texts that are taken for missing although they are no missing word.
MAX_ODD = 20

#: Distinct texts that are looked at first, and the fraction of them that must be short and have a
#: digit.
FIRST_TEXTS, MIN_WITH_DIGIT = 200, 0.5

#: Distinct numbers beside missing words that make plain numbers a column of numbers.
MIN_NUMBERS = 3

#: Longest unit that is named as one of several.
LONGEST_UNIT = 8

CURRENCIES = (
    "US$", "A$", "C$", "CA$", "AU$", "NZ$", "HK$", "S$", "R$", "$", "€", "£", "¥", "₹", "₽", "₺",
    "₩", "₪", "₫", "฿", "₴", "₦", "USD", "EUR", "GBP", "JPY", "CHF", "CAD", "AUD", "NZD", "CNY",
    "RMB", "INR", "RUB", "TRY", "KRW", "SEK", "NOK", "DKK", "PLN", "CZK", "HUF", "BRL", "MXN",
    "ZAR", "SGD", "HKD", "ILS", "AED", "SAR", "Rs.", "Rs", "Fr.", "kr", "zł",
)  # fmt: skip

#: Short units whose case has no meaning (unlike mW and MW).
_CASELESS = {"kg", "km", "cm", "lb", "lbs", "hrs", "min", "eur", "usd", "gbp", "chf", "oz", "ft"}

_BEFORE = "|".join(re.escape(each) for each in sorted(CURRENCIES, key=len, reverse=True))
_PARTS = (
    rf"^(?P<open>\(?) *[+-]? *(?P<before>(?:{_BEFORE})?) *[+-]? *"
    r"(?P<core>[0-9][0-9., ']*(?:[.,]-{1,2})?|[.,][0-9]+)(?P<power>(?:[eE][+-]?[0-9]+)?) *"
    r"(?P<after>(?:[^0-9\s.,()+\-;:'\"/][^0-9(),;:\"+\-]{0,24})?)(?P<sign>-?) *\)?$"
)

_ISO = f"^(?:{ISO_DATE})$"


def _has_digit(text: str) -> bool:
    return any("0" <= letter <= "9" for letter in text)


@dataclass(frozen=True)
class _Texts:
    """Distinct texts of a column."""

    raw: tuple[str, ...]
    texts: Any
    counts: NDArray[np.int64]
    missing: NDArray[np.bool_]

    def fields(self) -> tuple[Any, ...]:
        """Return raw texts, normalized texts, counts and which are missing."""
        return self.raw, self.texts, self.counts, self.missing

    def first(self) -> _Texts:
        """Return the first texts that are not missing."""
        chosen = np.flatnonzero(~self.missing)[:FIRST_TEXTS]
        raw = tuple(self.raw[at] for at in chosen.tolist())
        texts = normalized(strings(raw))
        return _Texts(raw, texts, self.counts[chosen], np.zeros(len(raw), np.bool_))


def requested(given: Given, name: str) -> Conversion | Mapping[str, Any] | None:
    """Return the conversion that the user gave for a column; None: no conversion.

    Parameters
    ----------
    given : Conversion, mapping of its fields, word of `HOW`, or None
    name : str
        The column, for errors.
    """
    if isinstance(given, str):
        if given not in HOW:
            raise ValueError(
                f"The conversion of column {name!r} must be one of {', '.join(map(repr, HOW))}, a "
                f"dict of its fields, or None. Got {given!r} instead."
            )
        given = HOW[given]
    if given is None or isinstance(given, Conversion):
        return given
    fields = dict(given)
    if "missing" in fields:
        fields["missing"] = tuple(str(word).strip().lower() for word in fields["missing"])
    try:
        conversion_from_dict(fields)
    except ValueError as error:
        raise ValueError(f"The conversion of column {name!r} is {error}.") from None
    return fields


def guess_conversions(
    columns: Columns, given: Mapping[str, Given] | None = None, names: Any = None
) -> dict[str, ConversionGuess]:
    """Guess the conversions of the text columns of a table.

    Parameters
    ----------
    columns : Columns
    given : mapping of str to conversion, optional
        Those that the user gave; see `requested`.
    names : iterable of str, optional
        Columns to look at; all by default.

    Returns
    -------
    dict of str to ConversionGuess
        Without columns that need no conversion.
    """
    from separable.data.ingest.dates import typed_column

    guesses = {}
    for name in columns.names if names is None else names:
        column = typed_column(columns, name)
        if isinstance(column, Categories):
            guess = guess_conversion(name, column, given or {})
            if guess is not None:
                guesses[name] = guess
    return guesses


def converted_columns(columns: Columns, guesses: Mapping[str, ConversionGuess]) -> Columns:
    """Return a table with its text columns converted."""
    if not guesses:
        return columns
    raw = {name: columns.raw(name) for name in columns.names}
    for name, guess in guesses.items():
        if guess.conversion is not None:
            column: Any = convert(name, columns[name], guess.conversion)
            raw[name] = column.values
    return Columns(raw, columns.n_rows)


def guess_conversion(
    name: str, column: Categories, given: Mapping[str, Given], kind: str | None = None
) -> ConversionGuess | None:
    """Guess the conversion of a text column.

    Parameters
    ----------
    name : str
    column : Categories
    given : mapping of str to conversion
        Those that the user gave, by column.
    kind : "number" or "date", optional
        Type that the user gave: texts that cannot be read do not prevent the conversion.

    Returns
    -------
    ConversionGuess or None
        None: a column of plain texts, plain numbers or ISO dates.
    """
    fields: Mapping[str, Any] = {}
    if name in given:
        wanted = requested(given[name], name)
        if wanted is None:
            return None
        if isinstance(wanted, Conversion):
            told = _told(wanted, _texts_of(column, wanted.missing), "")
            assert told is not None
            return _with_reason(told, f"{conversion_kind(wanted)}s {written_as(wanted)}")
        fields, kind = wanted, str(wanted["kind"])
    if kind is None and not _may_convert(column.levels[:FIRST_TEXTS]):
        return None
    texts = _texts_of(column, (*MISSING_WORDS, *fields.get("missing", ())))
    if texts.missing.all() or not len(texts.raw):
        return None
    refused: ConversionGuess | None = None
    for family, make in (("date", _dates), ("number", _numbers), ("duration", _durations)):
        if kind not in (None, family) and not (kind == "number" and family == "duration"):
            continue
        guess = make(texts, fields if fields.get("kind") == family else {}, kind is not None)
        if guess is not None and guess.conversion is not None:
            return guess
        refused = refused or guess
    if refused is None and kind is None:
        first = texts.first()
        if not may_be_unread(first.texts.to_pylist()) or not unread_texts(*first.fields()):
            return None
        return unread_texts(*texts.fields())
    return refused


def _texts_of(column: Categories, missing: tuple[str, ...]) -> _Texts:
    counts = np.bincount(column.codes[column.codes >= 0], minlength=len(column.levels))
    raw = column.levels
    if not counts.all():
        there = np.flatnonzero(counts)
        raw, counts = tuple(raw[at] for at in there.tolist()), counts[there]
    texts = normalized(strings(raw))
    return _Texts(raw, texts, counts, bits(is_missing_word(texts, missing), 1))


def _may_convert(levels: tuple[str, ...]) -> bool:
    """Return whether the first texts have digits, as numbers and dates do, and are as short."""
    present = [text for text in levels if text.strip().lower() not in MISSING_WORDS]
    short = [text for text in present if len(text) <= MAX_LENGTH]
    return sum(map(_has_digit, short), 0) >= max(MIN_WITH_DIGIT * len(present), 1)


def _told(
    conversion: Conversion, texts: _Texts, why: str, *, sure: bool = True, forced: bool = True
) -> ConversionGuess | None:
    """Return the guess with its counts; None if too many texts cannot be read."""
    compute = arrow_compute()

    _, read = texts_read(texts.texts, conversion)
    read &= ~texts.missing
    odd = np.flatnonzero(~read & ~texts.missing)
    present = read.sum() + len(odd)
    if not forced and (
        not read.any()
        or len(odd) > max((1 - MIN_READ) * present, 1)
        or len(odd) > MAX_ODD
        or texts.counts[odd].sum() > (1 - MIN_READ) * texts.counts[~texts.missing].sum()
    ):
        return None
    missing = {
        texts.raw[at]: int(texts.counts[at])
        for at in np.flatnonzero(texts.missing).tolist()
        if texts.raw[at]
    }
    if len(odd) and not forced:
        lowered = compute.ascii_lower(texts.texts).to_pylist()
        words = [lowered[at] for at in odd.tolist()]
        if any(len(word) > MAX_LENGTH for word in words):
            return None
        conversion = msgspec.structs.replace(conversion, missing=(*conversion.missing, *words))
        missing |= {texts.raw[at]: int(texts.counts[at]) for at in odd.tolist()}
    converted = int(texts.counts[read].sum())
    return ConversionGuess(conversion, _reason(why, missing), converted, missing, sure)


def _reason(why: str, missing: Mapping[str, int]) -> str:
    if not missing:
        return why
    first = list(missing.items())[:3]
    named = ", ".join(f"{text!r} ({count})" for text, count in first)
    more = f" and {len(missing) - 3} more" if len(missing) > 3 else ""
    return f"{why}; missing: {named}{more}"


# --- numbers ---


def _numbers(texts: _Texts, given: Mapping[str, Any], forced: bool) -> ConversionGuess | None:
    compute = arrow_compute()

    if not forced and not _mostly(texts.first(), _PARTS):
        return None
    present = texts.texts.filter(mask(~texts.missing))
    parts = compute.extract_regex(present, _PARTS)
    cores = compute.utf8_trim(
        compute.fill_null(compute.struct_field(parts, "core"), text_scalar("")), " "
    )
    matched = bits(compute.not_equal(cores, text_scalar("")), 1)
    if not forced and matched.mean() < MIN_READ:
        return None
    units, magnitudes = given.get("units"), given.get("magnitudes", False)
    if units is None:
        names = _unit_names(parts)
        if given.get("magnitudes") is None and _are_magnitudes(names, parts):
            magnitudes = True
            names = {name: count for name, count in names.items() if name not in MAGNITUDES}
        groups = _same_units(names)
        if len(groups) > 1 and not forced:
            return _mixed_units(names, groups)
        units = groups[0] if groups else ()
    cores = cores.filter(mask(matched))
    if not forced and _are_codes(cores):
        return None
    powers = _part(parts, "power").any()
    currency = any(unit in CURRENCIES for unit in units)
    marks, note = _marks(cores, given, currency=currency, powers=bool(powers))
    if marks is None:
        return None
    extra = tuple(given.get("missing", ()))
    words = (*MISSING_WORDS, *extra)
    conversion = NumberConversion(*marks, tuple(units), words, magnitudes=magnitudes)
    guess = _told(conversion, texts, "", sure=not note, forced=forced)
    if guess is None or guess.conversion is None:
        return None
    signed = _part(parts, "open").any() or _part(parts, "sign").any()
    others = (raw for raw, lost in zip(texts.raw, texts.missing, strict=True) if not lost)
    odd = signed or not all(map(str.isascii, others))  # such as another minus sign
    decorated = bool(units) or magnitudes or marks[1] != "" or marks[0] == "," or odd
    few = len(cores) < MIN_NUMBERS and not forced
    if not decorated and not given and (not guess.missing or few):
        return None
    example = _example(texts, marks, (*units, *(MAGNITUDES if magnitudes else ())))
    why = f"numbers such as {example!r}" if decorated else "numbers"
    return _with_reason(guess, why + note)


def _with_reason(guess: ConversionGuess, why: str) -> ConversionGuess:
    return replace(guess, reason=_reason(f"{why}: {guess.converted} converted", guess.missing))


def _example(texts: _Texts, marks: tuple[str, str], units: tuple[str, ...]) -> str:
    """Return the text that shows most of the convention: with a mark if there is one."""
    shown = [
        raw for raw, lost in zip(texts.raw[:FIRST_TEXTS], texts.missing, strict=False) if not lost
    ]

    def rank(text: str) -> tuple[bool, bool, bool]:
        has_group = bool(marks[1]) and marks[1] in text
        return has_group, marks[0] in text, any(unit in text for unit in units)

    return max(shown, key=rank, default="")


def _unit_names(parts: Any) -> dict[str, int]:
    """Return the units of the matched texts, with the number of texts of each."""
    compute = arrow_compute()

    names: dict[str, int] = {}
    for side in ("before", "after"):
        field = compute.fill_null(compute.struct_field(parts, side), text_scalar(""))
        for pair in compute.value_counts(compute.utf8_trim(field, " ")).to_pylist():
            if pair["values"]:
                names[pair["values"]] = names.get(pair["values"], 0) + pair["counts"]
    return names


def _are_magnitudes(names: Mapping[str, int], parts: Any) -> bool:
    """Return whether words after the numbers multiply them, as ``1.2k`` beside ``3M`` or ``950``.

    A word that every number has is a unit of all, and metres are no millions.
    """
    compute = arrow_compute()

    after = compute.fill_null(compute.struct_field(parts, "after"), text_scalar(""))
    trimmed = compute.utf8_trim(after, " ")
    counts = {each["values"]: each["counts"] for each in compute.value_counts(trimmed).to_pylist()}
    powers = {MAGNITUDES.get(word, 0) for word in counts}
    words = counts.keys() - {""}
    if len(powers) < 2 or not words or not words <= MAGNITUDES.keys():
        return False
    return words != {"m"} and all(name in MAGNITUDES or name in CURRENCIES for name in names)


def _same_units(names: Mapping[str, int]) -> list[tuple[str, ...]]:
    """Group the spellings of each unit: singular and plural, and the case where it says nothing."""
    groups: dict[str, list[str]] = {}
    for name in names:
        lower = name.lower()
        key = lower if len(name) > 3 or lower in _CASELESS else name
        key = key.removesuffix("s") if len(key) > 3 or key == "lbs" else key
        groups.setdefault(key, []).append(name)
    return [tuple(sorted(group)) for group in groups.values()]


def _mixed_units(names: Mapping[str, int], groups: list[tuple[str, ...]]) -> ConversionGuess | None:
    """Return the refusal of several units, if they are units and not other words."""
    if len(groups) > 6 or any(len(name) > LONGEST_UNIT or " " in name for name in names):
        return None
    if max(names.values()) == 1:  # one text each: '1. Yes' and '2. No' are numbered levels
        return None
    listed = ", ".join(f"{group[0]!r} ({sum(names[n] for n in group)})" for group in groups)
    return ConversionGuess(None, f"numbers with different units: {listed}", remedy=ONE_UNIT)


def _are_codes(cores: Any) -> bool:
    """Return whether digits would be lost: leading zeros, or more digits than float64 has."""
    compute = arrow_compute()

    return bool(compute.any(compute.match_substring_regex(cores, r"^0[0-9]|^[0-9]{16,}$")).as_py())


def _part(parts: Any, name: str) -> NDArray[np.bool_]:
    """Return which matched texts have a part."""
    compute = arrow_compute()

    field = compute.fill_null(compute.struct_field(parts, name), text_scalar(""))
    return bits(compute.not_equal(field, text_scalar("")), 1)


def _marks(
    cores: Any, given: Mapping[str, Any], *, currency: bool, powers: bool
) -> tuple[tuple[Any, str] | None, str]:
    """Return the decimal and the thousands mark, and a remark if the texts leave a choice."""
    compute = arrow_compute()

    def has(mark: str) -> bool:
        return bool(compute.any(compute.match_substring(cores, mark), min_count=0).as_py())

    group_marks = [mark for mark in (",", ".", " ", "'") if has(mark)]
    fraction = {}
    for decimal in (".", ","):
        for group in ("", *group_marks):
            wanted = (given.get("decimal", decimal), given.get("group", group))
            if group != decimal and wanted == (decimal, group):
                pattern = f"^{core_pattern(decimal, group)}$"
                hits = compute.match_substring_regex(cores, pattern)
                fraction[decimal, group] = float(bits(hits, 1).mean()) if len(cores) else 0.0
    if not fraction:
        return None, ""
    best = max(fraction.values())
    if best == 0 or (best < MIN_READ and not given):
        return None, ""
    fits = [marks for marks, share in fraction.items() if share >= max(min(best, MIN_READ), 1e-9)]
    if powers:  # 4,691E+02 has a decimal comma
        fits = [marks for marks in fits if not marks[1]] or fits
    elif (".", "") in fits and "decimal" not in given and grouped_by_points(cores, currency):
        return (",", "."), ", with '.' before three digits as a thousands mark"
    if (".", ",") in fits and (",", "") in fits and (".", "") not in fits:
        return (".", ","), ", with ',' before three digits as a thousands mark"
    top = [marks for marks in fits if fraction[marks] == best] or fits
    return top[0], ""


# --- dates ---


def _dates(texts: _Texts, given: Mapping[str, Any], forced: bool) -> ConversionGuess | None:
    if not forced and not _mostly(
        texts.first(),
        r"^[0-9]{1,4}[-/.][0-9]{1,2}[-/.][0-9]{1,4}|^[A-Za-z]{3,9}\.? [0-9]{1,2},? [0-9]{4}"
        r"|^[0-9]{1,2}[ .-]{1,2}[A-Za-z]{3,9}[., -]{1,2}[0-9]{2}",
    ):
        return None
    order: Any = given.get("order")
    note = ""
    if not texts.missing.any() and _share(texts.texts, _ISO) == 1.0:
        return None
    if order is None:
        order, note = _order(texts)
        if order is None:
            return None if forced else _if_dates(texts, note)
    extra = tuple(given.get("missing", ()))
    best: DateConversion | None = None
    n_best = -1
    for names, half in ((False, False), (True, False), (False, True), (True, True)):
        conversion = DateConversion(order, names, half, (*MISSING_WORDS, *extra))
        n_read = int(texts_read(texts.texts, conversion)[1].sum())
        if n_read > n_best:
            best, n_best = conversion, n_read
    assert best is not None
    guess = _told(best, texts, "", sure=not note, forced=forced)
    if guess is None or guess.conversion is None:
        return None
    words = {"dmy": "day first", "mdy": "month first", "ymd": "year first"}
    if order == "ymd" and best.month_names:
        words["ymd"] = "with names of months"
    example = next(raw for raw, lost in zip(texts.raw, texts.missing, strict=True) if not lost)
    return _with_reason(guess, f"dates such as {example!r}, {words[order]}{note}")


def _if_dates(texts: _Texts, note: str) -> ConversionGuess | None:
    """Return the refusal of dates of unknown order, if the texts are dates at all."""
    orders: tuple[Any, ...] = ("dmy", "mdy")
    for order in orders:
        read = _told(DateConversion(order, True, True), texts, "", forced=False)
        if read is not None:
            return ConversionGuess(None, note, remedy=ORDER)
    first, _, _ = day_and_month(texts.texts)
    known = (first >= 0) | texts.missing
    return ConversionGuess(None, note, remedy=ORDER) if known.mean() >= MIN_READ else None


def _order(texts: _Texts) -> tuple[str | None, str]:
    """Return the order of day and month, with a remark; None and the reason if it is open."""
    first, second, pointed = day_and_month(texts.texts)
    there = first >= 0
    if not there.any():
        return "ymd", ""
    a, b = first[there], second[there]
    if (a > 12).any() and (b > 12).any():
        return None, "dates with the day first and others with the month first"
    if (a > 12).any():
        return "dmy", ""
    if (b > 12).any():
        return "mdy", ""
    if pointed[there].all():
        return "dmy", " (no day is above 12; dates with points begin with the day)"
    if len(np.unique(a)) == 1 and len(np.unique(b)) > 2:
        return "dmy", " (no day is above 12; the first number is always the same)"
    if len(np.unique(b)) == 1 and len(np.unique(a)) > 2:
        return "mdy", " (no day is above 12; the second number is always the same)"
    return None, "dates whose day and month cannot be told apart: no number is above 12"


# --- times and durations ---


def _durations(texts: _Texts, given: Mapping[str, Any], forced: bool) -> ConversionGuess | None:
    if not forced and not _mostly(texts.first(), r"^[+-]?[0-9]+(:[0-5][0-9]|[0-9.]* ?[dhms])"):
        return None
    best: DurationConversion | None = None
    n_best = 0
    extra = tuple(given.get("missing", ()))
    for half, words in ((False, False), (True, False), (False, True), (True, True)):
        conversion = DurationConversion(half, words, (*MISSING_WORDS, *extra))
        n_read = int(texts_read(texts.texts, conversion)[1].sum())
        if n_read > n_best:
            best, n_best = conversion, n_read
    if best is None:
        return None
    guess = _told(best, texts, "", forced=forced)
    if guess is None or guess.conversion is None:
        return None
    example = next(raw for raw, lost in zip(texts.raw, texts.missing, strict=True) if not lost)
    return _with_reason(guess, f"times such as {example!r}, as hours")


def _mostly(texts: _Texts, pattern: str) -> bool:
    return _share(texts.texts, pattern) >= 0.9


def _share(texts: Any, pattern: str) -> float:
    """Return the fraction of texts that match."""
    compute = arrow_compute()

    return float(bits(compute.match_substring_regex(texts, pattern), 1).mean())
