"""Conversions of text columns: what is written comes back, and what is not clear stays text."""

from __future__ import annotations

import datetime as dt
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from separable.data import check
from separable.data.columns import Categories, Numbers, as_columns
from separable.data.ingest.conversions.applying import convert
from separable.data.ingest.conversions.conversion import (
    MISSING_WORDS,
    DateConversion,
    DurationConversion,
    NumberConversion,
    conversion_from_dict,
    conversion_to_dict,
)
from separable.data.ingest.conversions.guessing import guess_conversions
from separable.data.ingest.dates import Dates
from separable.data.table import CellError


def column(texts):
    (made,) = as_columns({"x": list(texts)}).values()
    assert isinstance(made, Categories)
    return made


def guess(texts, given=None):
    return guess_conversions(
        as_columns({"x": list(texts)}), {} if given is None else {"x": given}
    ).get("x")


def values_of(texts, conversion):
    return convert("x", column(texts), conversion).values.tolist()


# --- written and read again: an oracle of its own writes the digits ---


def written(number, decimal, group, places):
    """Write a number by hand, digit by digit."""
    whole, _, rest = f"{abs(number):.{places}f}".partition(".")
    parts = []
    while len(whole) > 3:
        whole, part = whole[:-3], whole[-3:]
        parts.insert(0, part)
    text = group.join([whole, *parts])
    return text + (decimal + rest if places else "")


CONVENTIONS = [(".", ","), (".", ""), (".", " "), (".", "'"), (",", "."), (",", ""), (",", " ")]


@given(
    st.lists(st.integers(-(10**12), 10**12), min_size=1, max_size=20),
    st.sampled_from(CONVENTIONS),
    st.integers(0, 4),
    st.sampled_from(["", "$", "€", "kg", "EUR", "%", "°C"]),
    st.sampled_from(["before", "after", "apart"]),
    st.sampled_from(["sign", "parentheses", "last"]),
)
def test_a_number_that_is_written_comes_back(numbers, marks, places, unit, where, negative):
    values = [number / 10**places for number in numbers]
    texts = []
    for value in values:
        text = written(value, *marks, places)
        text = {"before": unit + text, "after": text + unit, "apart": f"{text} {unit}"}[where]
        text = text.strip()
        if value < 0:
            text = {"sign": f"-{text}", "parentheses": f"({text})", "last": f"{text}-"}[negative]
        texts.append(text)
    conversion = NumberConversion(*marks, (unit,) if unit else ())
    assert values_of(texts, conversion) == values


@given(
    st.lists(
        st.datetimes(dt.datetime(1, 1, 1), dt.datetime(9999, 12, 31)), min_size=1, max_size=20
    ),
    st.sampled_from(["dmy", "mdy", "ymd"]),
    st.sampled_from([".", "/", "-"]),
    st.booleans(),
)
def test_a_date_that_is_written_comes_back(dates, order, sep, padded):
    def text(date):
        day, month = (f"{date.day:02}", f"{date.month:02}") if padded else (date.day, date.month)
        parts = {"dmy": (day, month), "mdy": (month, day), "ymd": (month, day)}[order]
        year = f"{date.year:04}"
        numbers = (year, *parts) if order == "ymd" else (*parts, year)
        return f"{sep.join(map(str, numbers))} {date.hour}:{date:%M:%S}.{date.microsecond:06}"

    read = values_of([text(date) for date in dates], DateConversion(order))
    assert read == dates


@given(st.lists(st.integers(0, 10**7), min_size=1, max_size=20), st.booleans())
def test_a_duration_that_is_written_comes_back(seconds, words):
    def text(total):
        rest, s = divmod(total, 60)
        h, m = divmod(rest, 60)
        if words:
            return f"{h // 24}d {h % 24}h {m}min {s}s"
        return f"{h}:{m:02}:{s:02}"

    read = values_of([text(each) for each in seconds], DurationConversion(words=words))
    assert read == [each / 3600 for each in seconds]


def test_two_digit_years_turn_at_69_as_in_posix():
    conversion = DateConversion("dmy")
    years = [value.year for value in values_of(["1.2.68", "1.2.69", "1.2.00"], conversion)]
    assert years == [2068, 1969, 2000]


def test_time_zones_become_utc():
    (value,) = values_of(["5.3.2024 10:00 +02:00"], DateConversion("dmy"))
    assert value == dt.datetime(2024, 3, 5, 8)


@given(st.text(max_size=12))
def test_any_text_is_read_or_refused(text):
    for conversion in (
        NumberConversion(",", ".", ("EUR",)),
        DateConversion("mdy", True, True),
        DurationConversion(True, True),
    ):
        texts = column([text, "n/a"])
        try:
            read = convert("x", texts, conversion)
        except CellError:
            continue
        assert isinstance(read, (Numbers, Dates))


# --- guesses ---

#: Texts, the kind, the first value, and a part of what is said.
GUESSED = {
    "dollars": (["$1,133.98", "(1,200)", "$5"], 1133.98, "'$1,133.98'"),
    "euros": (["1.234,50 EUR", "12,00 EUR", "3 EUR"], 1234.5, "'1.234,50 EUR'"),
    "percents": (["38.4%", "5%", "100%"], 38.4, "'38.4%'"),
    "kilograms": (["12 kg", "13.5 kg", "9 Kg"], 12, "kg"),
    "plural": (["1 day", "2 days", "14 days"], 1, "day"),
    "thousands": (["1,234", "12,345", "999"], 1234, "thousands mark"),
    "points": (["1.234", "12.345", "2.999", "12"], 1234, "thousands mark"),
    "decimals": (["1,5", "2,25", "3"], 1.5, "'1,5'"),
    "fractions": (["0,125", "0,250", "1,375"], 0.125, "'0,125'"),
    "spaces": (["1\u202f234,5", "22\u00a0000", "3,5"], 1234.5, "converted"),
    "swiss": (["1'234.50", "999.00", "CHF 12'000.00"], 1234.5, "CHF 12"),
    "unknown": (["1", "2", "3", "unknown", "#N/A"], 1, "'unknown' (1)"),
    "missing": (["1", "2", "3", "entf\u00e4llt", "fehlt"], 1, "'fehlt' (1)"),
    "no cents": (["12.-", "1'200.50", "CHF 9.\u2013"], 12, "1'200.50"),
    "no cents, german": (["12,-- \u20ac", "1.200,50 \u20ac"], 12, "1.200,50"),
    "lakhs": (["\u20b91,20,000", "\u20b912,34,567.50", "\u20b95"], 120000, "\u20b9"),
    "powers": (["4,691E+02", "1,234E+03"], 469.1, "'4,691E+02'"),
    "magnitudes": (["1.2k", "3M", "950", "2.5 bn"], 1200, "'1.2k'"),
    "millions of euros": (["€110.5M", "€565K", "€0"], 110.5e6, "'€110.5M'"),
    "kilo": (["12k", "13.5k", "9k"], 12, "13.5k"),  # the unit of all
    "minus signs": (["\u22125", "7", "\u20138"], -5, "converted"),
    "short years": (["5-Mar-24", "17-Sep-99"], dt.datetime(2024, 3, 5), "names of months"),
    "minus": (["12-", "13", "\u221214"], -12, "converted"),
    "clock": (["14:30", "9:05", "23:59"], 14.5, "hours"),
    "halves": (["2:30 PM", "9:05 am", "12:00 AM"], 14.5, "hours"),
    "durations": (["1h 30m", "45m", "2 h"], 1.5, "hours"),
    "day first": (["13.03.2024", "6.3.24"], dt.datetime(2024, 3, 13), "day first"),
    "month first": (["3/15/24", "3/5/24"], dt.datetime(2024, 3, 15), "month first"),
    "german": (["05.03.2024", "06.04.2024"], dt.datetime(2024, 3, 5), "no day is above 12"),
    "months": (["1/1/2024", "1/2/2024", "1/3/2024"], dt.datetime(2024, 1, 1), "always the same"),
    "names": (["5 Mar 2024", "Apr 7, 2024", "1-May-2024"], dt.datetime(2024, 3, 5), "names"),
    "formats": (["2024-03-05", "17/03/2024", "5 Mar 2024"], dt.datetime(2024, 3, 5), "day first"),
    "iso": (["2024-03-05", "unknown"], dt.datetime(2024, 3, 5), "'unknown' (1)"),
}  # fmt: skip


@pytest.mark.parametrize("name", GUESSED)
def test_a_guess_says_what_it_read(name):
    texts, first, said = GUESSED[name]
    found = guess(texts)
    assert found.conversion is not None
    assert said in found.reason
    assert values_of(texts, found.conversion)[0] == first
    missing = sum(text.lower() in MISSING_WORDS for text in texts)
    assert (found.converted, sum(found.missing.values())) == (len(texts) - missing, missing)
    shuffled = random.Random(0).sample(texts, len(texts))
    assert guess(shuffled).conversion == found.conversion


#: Texts that are not converted, and a part of what is said; "": nothing.
KEPT = {
    "units": (["12 kg", "13 lb", "9 kg"], "'kg' (2), 'lb' (1)"),
    "metres and kilometres": (["5 km", "950 m", "7 km"], "different units"),
    "watts": (["5 mW", "5 MW", "7 mW"], "different units"),
    "numbered levels": (["1. Yes", "2. No", "3. Unsure"], ""),
    "zip codes": (["01234", "12345", "n/a"], ""),
    "phones": (["0171 234567", "0172 234567"], ""),
    "long ids": (["1234567890123456789", "n/a", "1234567890123456788", "12"], ""),
    "codes": (["A12", "B13", "C14"], ""),
    "addresses": (["12 Main St", "5 Oak Ave", "7 Elm Rd"], ""),
    "ip": (["10.0.0.1", "10.0.0.2"], ""),
    "versions": (["1.10.3", "1.9.12", "2.0.0"], ""),
    "plain numbers": (["1", "2", "3"], ""),
    "two numbers": (["1", "none"], ""),
    "percent and fraction": (["38%", "0.4", "12%"], ""),
    "order unknown": (["3/5/24", "4/6/24", "2/7/24"], "cannot be told apart"),
    "both orders": (["13/5/24", "3/16/24"], "the month first"),
    "words": (["red", "green", "blue"], ""),
    "half": (["1", "2", "3", "low", "mid", "high"], ""),
    "ratio": (["94/96", "163/64"], "pairs of numbers, such as '94/96'"),
    "sizes": (["3 \u00d7 4 cm", "12 \u00d7 5 cm"], "pairs of numbers"),
    "ranges": (["10-20", "20-30", "30+"], "ranges of numbers, such as '10-20'"),
    "bounds": ([">100", "<0.5", "3", "4.5", "17"], "numbers with bounds, such as '>100'"),
    "at least": (["1", "2", "3", "3+"], "numbers with bounds, such as '3+'"),
    "approximate": (["~5", "6", "7.5"], "approximate numbers, such as '~5'"),
    "uncertain": (["5 \u00b1 1", "6 \u00b1 2"], "an uncertainty, such as '5 \u00b1 1'"),
    "accounting": (["$(1,200)", "$3", "$15.5"], "accounting numbers, such as '$(1,200)'"),
    "rupees": (["\u20b9 12/-", "\u20b9 5/-"], "accounting numbers"),
    "quarters": (["Q1 2024", "Q3 2023"], "quarters, such as 'Q1 2024'"),
    "weeks": (["2024-W05", "2023-W51"], "weeks, such as '2024-W05'"),
    "year and month": (["2024-05", "2023-11"], "months, such as '2024-05'"),
    "month and year": (["Feb-24", "Mar-24"], "months, such as 'Feb-24'"),
    "german dates": (["12. M\u00e4rz 2024", "3. Mai 2024"], "dates in words"),
    "zone names": (["2024-05-01 10:00 CET", "2024-05-02 10:00 CET"], "name of a time zone"),
    "uhr": (["14:30 Uhr", "9:05 Uhr"], "times in words, such as '14:30 Uhr'"),
    "notes": (["5 (est.)", "6", "7 (est.)"], "numbers with a note, such as '5 (est.)'"),
    "feet": (["5'11\"", "6'2\""], "feet and inches"),
    "spreadsheet": (["'12", "'13"], "texts of a spreadsheet"),
    "iso dates": (["2024-03-05", "2024-03-06"], ""),
}


@pytest.mark.parametrize("name", KEPT)
def test_what_is_not_clear_stays_text(name):
    texts, said = KEPT[name]
    found = guess(texts)
    assert found is None or found.conversion is None
    assert ("" if found is None else found.reason).find(said) >= 0
    assert (found is None) == (said == "")


def test_few_odd_texts_count_as_missing_and_more_prevent_the_conversion():
    texts = [f"${i}.50" for i in range(200)]
    found = guess([*texts, "see note", "see note"])
    assert found.missing == {"see note": 2}
    assert np.isnan(values_of(["See note"], found.conversion)[0])
    with pytest.raises(CellError, match="'other' is not a number such as"):
        values_of(["other"], found.conversion)
    assert guess([*texts, *(f"note {'x' * i}" for i in range(9))]) is None


@pytest.mark.parametrize(
    ("given", "value"),
    [
        ("day-first", dt.datetime(2024, 5, 3)),
        ("month-first", dt.datetime(2024, 3, 5)),
        ({"kind": "date", "order": "mdy"}, dt.datetime(2024, 3, 5)),
        (DateConversion("dmy"), dt.datetime(2024, 5, 3)),
    ],
)
def test_the_user_decides(given, value):
    texts = ["3/5/24", "4/6/24"]
    assert values_of(texts, guess(texts, given).conversion)[0] == value


def test_the_user_decides_about_marks():
    texts = ["1,234", "5,678"]
    assert values_of(texts, guess(texts).conversion) == [1234, 5678]
    assert values_of(texts, guess(texts, "decimal-comma").conversion) == [1.234, 5.678]
    assert guess(texts, "text") is None
    found = guess(["1 lost", "2"], {"kind": "number", "units": [], "missing": ["1 lost"]})
    assert found.missing == {"1 lost": 1}


def test_a_wrong_request_is_refused():
    with pytest.raises(ValueError, match=r"column 'x' must be one of 'day-first'"):
        guess(["1"], "yesterday")
    with pytest.raises(ValueError, match="not a conversion"):
        guess(["1"], {"kind": "number", "decimal": ";"})


@pytest.mark.parametrize(
    "conversion",
    [
        NumberConversion(",", ".", ("EUR",), (*MISSING_WORDS, "lost")),
        DateConversion("mdy", True, True),
        DurationConversion(True, True),
    ],
)
def test_a_conversion_is_data(conversion):
    assert conversion_from_dict(conversion_to_dict(conversion)) == conversion


@pytest.mark.parametrize(
    "record",
    [
        {},
        {"kind": "magic"},
        {"kind": "number", "group": "x"},
        {"kind": "number", "decimal": ",", "group": ","},
        {"kind": "number", "units": ["5"]},
        {"kind": "number", "units": "kg"},
        {"kind": "date", "order": "dym"},
        {"kind": "date", "other": 1},
        {"kind": "duration", "missing": ["x" * 1000]},
    ],
)
def test_a_forged_conversion_is_refused(record):
    with pytest.raises(ValueError, match="conversion"):
        conversion_from_dict(record)


# --- findings ---


def test_several_labels_and_typos_are_named():
    n = 120
    table = {
        "tags": ["a;b", "b", "a", "b;c", "c;a", "a;b;c"] * 20,
        "x": np.arange(n) % 7,
        "y": ["Nein", "Ja"] * 60,
    }
    table["y"][4] = "Nien"
    findings = {each.kind: each for each in check(table, "y")}
    assert "3 labels separated by ';'" in findings["several labels"].text
    assert "'Nien' (1) beside 'Nein' (59)" in findings["typo in the target"].text
    table["tags"] = ["Rome, Italy", "Oslo, Norway", "Bern, Switzerland"] * 40
    table["y"][4] = "Ja"
    kinds = {each.kind for each in check(table, "y")}
    assert not kinds & {"several labels", "typo in the target"}


def test_long_texts_with_digits_are_not_read(monkeypatch):
    """Comments name years and prices; only the first of them are looked at."""
    texts = [f"{number} of 1999: {'a long comment, ' * 20}" for number in range(1000)]

    def refuse(*_):
        raise AssertionError("all texts were read")

    monkeypatch.setattr("separable.data.ingest.conversions.guessing.normalized", refuse)
    assert guess(texts) is None
