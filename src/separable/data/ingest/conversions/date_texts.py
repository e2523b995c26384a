"""Texts of dates to datetime64: day or month first, month names, times, time zones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.arrow_arrays import bits, flat
from separable.data.ingest.conversions.conversion import arrow_compute, text_scalar

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.data.ingest.conversions.conversion import DateConversion

__all__ = ["MONTHS", "date_forms", "dates_of_texts", "day_and_month"]

#: English months; any beginning of at least three letters is read.
MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip

#: Two-digit years below this are in the 2000s, others in the 1900s, as in POSIX.
PIVOT = 69

_ZONE = r"(?P<zone>(?:Z|UTC|GMT|[+-][0-9]{2}:?[0-9]{2})?)"
_TIME = (
    r"(?:(?:T| |, )(?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{2})"
    r"(?::(?P<second>[0-9]{2})(?:\.(?P<fraction>[0-9]{1,9}))?)?"
    rf" ?(?P<half>(?:[AaPp][Mm])?) ?{_ZONE})?$"
)
_YEAR_FIRST = (
    r"^(?P<year>[0-9]{4})(?P<sep>[-/.])(?P<a>[0-9]{1,2})(?P<sep2>[-/.])(?P<b>[0-9]{1,2})" + _TIME
)
_YEAR_LAST = (
    r"^(?P<a>[0-9]{1,2})(?P<sep>[-/.])(?P<b>[0-9]{1,2})(?P<sep2>[-/.])"
    rf"(?P<year>[0-9]{{4}}|[0-9]{{2}}){_TIME}"
)
_DAY_NAME_YEAR = (
    r"^(?P<a>[0-9]{1,2})[ .-]{1,2}(?P<name>[A-Za-z]{3,9})[., -]{1,2}"
    rf"(?P<year>[0-9]{{4}}|[0-9]{{2}}){_TIME}"
)
_NAME_DAY_YEAR = rf"^(?P<name>[A-Za-z]{{3,9}})\.? (?P<a>[0-9]{{1,2}}),? (?P<year>[0-9]{{4}}){_TIME}"

_FIELDS = (
    "year",
    "a",
    "b",
    "hour",
    "minute",
    "second",
    "fraction",
    "sep",
    "sep2",
    "name",
    "half",
    "zone",
)


def _extracted(texts: Any, pattern: str) -> dict[str, Any]:
    """Return the parts of the texts that match, "" for absent parts and other texts."""
    compute = arrow_compute()

    parts = compute.extract_regex(texts, pattern)
    return {
        name: compute.fill_null(compute.struct_field(parts, name), text_scalar(""))
        for name in _FIELDS
        if f"<{name}>" in pattern
    }


def _integers(texts: Any) -> NDArray[np.int64]:
    """Return texts of digits as integers, -1 for empty ones."""
    import pyarrow as pa

    compute = arrow_compute()

    filled = compute.if_else(compute.equal(texts, text_scalar("")), text_scalar("-1"), texts)
    return flat(filled.cast(pa.int64()), np.int64).copy()


def day_and_month(texts: Any) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
    """Return the first two numbers of dates with the year last, and whether points separate them.

    The numbers are -1 for other texts. They decide whether days or months come first.

    Parameters
    ----------
    texts : pyarrow.Array of string
        Normalized.
    """
    compute = arrow_compute()

    parts = _extracted(texts, _YEAR_LAST)
    return (
        _integers(parts["a"]),
        _integers(parts["b"]),
        bits(compute.equal(parts["sep"], text_scalar(".")), 1),
    )


def date_forms(conversion: DateConversion) -> list[tuple[str, str]]:
    """Return the patterns of a conversion, with named groups, and the order of each.

    The order is "ymd", "dmy", "mdy", or "name" for a day (a) and the name of a month.
    """
    forms = [(_YEAR_FIRST, "ymd")]
    if conversion.order != "ymd":
        forms.append((_YEAR_LAST, conversion.order))
    if conversion.month_names:
        forms += [(_DAY_NAME_YEAR, "name"), (_NAME_DAY_YEAR, "name")]
    return forms


def dates_of_texts(
    texts: Any, conversion: DateConversion
) -> tuple[NDArray[np.datetime64], NDArray[np.bool_]]:
    """Return the dates of normalized texts, in UTC if they have a time zone, and which are one.

    Parameters
    ----------
    texts : pyarrow.Array of string
    conversion : DateConversion

    Returns
    -------
    dates : ndarray of datetime64[us]
        NaT for texts that are no date.
    read : ndarray of bool
    """
    dates = np.full(len(texts), np.datetime64("NaT", "us"))
    for pattern, order in date_forms(conversion):
        made, read = _of_form(texts, pattern, order, conversion.twelve_hour)
        dates[read] = made[read]
    return dates, ~np.isnat(dates)


def _of_form(
    texts: Any, pattern: str, order: str, twelve_hour: bool
) -> tuple[NDArray[np.datetime64], NDArray[np.bool_]]:
    compute = arrow_compute()

    parts = _extracted(texts, pattern)
    year, first = _integers(parts["year"]), _integers(parts["a"])
    read = year >= 0
    if order == "name":
        day, month = first, _month_numbers(parts["name"])
    else:
        second = _integers(parts["b"])
        day, month = (first, second) if order == "dmy" else (second, first)
        read &= bits(compute.equal(parts["sep"], parts["sep2"]), 1)
    if order != "ymd":
        short = flat(compute.utf8_length(parts["year"]), np.int32) == 2
        year = np.where(short, year + np.where(year < PIVOT, 2000, 1900), year)
    read &= (year >= 1) & (month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)
    safe_year, safe_month = np.where(read, year, 1970), np.where(read, month, 1)
    months = ((safe_year - 1970) * 12 + safe_month - 1).astype("datetime64[M]")
    days = months.astype("datetime64[D]") + (np.where(read, day, 1) - 1)
    read &= days.astype("datetime64[M]") == months
    microseconds, valid = _times(parts, twelve_hour)
    shift, known = _offsets(parts["zone"])
    dates = days.astype("datetime64[us]") + (microseconds - shift)
    read &= valid & known
    limits = np.array(["0001-01-01", "9999-12-31T23:59:59.999999"], dtype="datetime64[us]")
    return dates, read & (dates >= limits[0]) & (dates <= limits[1])


def _month_numbers(names: Any) -> NDArray[np.int64]:
    """Return the month of each name, 0 if it is none; each distinct name is looked up once."""
    encoded = names.dictionary_encode()
    numbers = [_month_number(name) for name in encoded.dictionary.to_pylist()]
    months = np.array([*numbers, 0], dtype=np.int64)
    return np.asarray(months[flat(encoded.indices, np.int32)])


def _month_number(name: str) -> int:
    begin = [at for at, month in enumerate(MONTHS, 1) if month.startswith(name.lower())]
    return begin[0] if len(begin) == 1 and len(name) >= 3 else (9 if name.lower() == "sept" else 0)


def _times(parts: dict[str, Any], twelve_hour: bool) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return the time of day in microseconds, and whether it exists."""
    import pyarrow as pa

    compute = arrow_compute()

    hour, minute, second = (
        np.maximum(_integers(parts[k]), 0) for k in ("hour", "minute", "second")
    )
    digits = compute.utf8_slice_codeunits(
        compute.binary_join_element_wise(parts["fraction"], text_scalar("000000"), text_scalar("")),
        0,
        6,
    )
    fraction = flat(digits.cast(pa.int64()), np.int64)
    valid = (minute <= 59) & (second <= 59)
    half = compute.ascii_lower(parts["half"])
    is_half = bits(compute.not_equal(half, text_scalar("")), 1)
    afternoon = bits(compute.equal(half, text_scalar("pm")), 1)
    valid &= np.where(is_half, twelve_hour & (hour >= 1) & (hour <= 12), hour <= 23)
    hour = np.where(is_half, hour % 12 + 12 * afternoon, hour)
    whole = ((hour * 60 + minute) * 60 + second) * 1_000_000 + fraction
    return whole.astype("timedelta64[us]"), valid


def _offsets(zones: Any) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return the offset from UTC, and whether it is below a day; each distinct one is read once."""
    encoded = zones.dictionary_encode()
    minutes = []
    for zone in encoded.dictionary.to_pylist():
        digits = zone.lstrip("+-").replace(":", "")
        size = int(digits[:2]) * 60 + int(digits[2:]) if zone[:1] in ("+", "-") else 0
        minutes.append(-size if zone.startswith("-") else size)
    shift = np.array([*minutes, 0], dtype=np.int64)[flat(encoded.indices, np.int32)]
    return (shift * 60_000_000).astype("timedelta64[us]"), np.abs(shift) < 24 * 60
