"""Checks of text columns: nearly numeric, inconsistent spelling, wrong encoding, dates."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.arrow_arrays import nulls, strings
from separable.data.checks.findings import Finding, listed, quoted
from separable.data.checks.table_view import first_rows, is_free_text
from separable.data.columns import Categories
from separable.data.table import is_number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from separable.data.checks.table_view import TableView

__all__ = [
    "are_dates",
    "are_mostly_numbers",
    "dates_as_texts",
    "mixed_types",
    "mojibake",
    "spellings",
]

#: Minimum fraction of numbers in a nearly numeric column.
NUMERIC_FRACTION = 0.9

#: Maximum levels compared by spelling; more are identifiers or free text.
MAX_LEVELS = 10_000

#: Distinct texts searched for encoding errors.
MAX_TEXTS = 100_000

#: UTF-8 read as Latin-1 or Windows-1252; Windows-1252 read as Latin-1; replacement characters.
MOJIBAKE = (
    "\u00c3[\u0080-\u00bf\u0152\u0153\u0178]|\u00e2\u20ac[\u009d\u00a2\u00a6\u0153\u2013-\u201d\u2122]"
    "|\u00c2[\u00a0\u00a3\u00a9\u00ab\u00ae\u00b0\u00b7\u00bb]|[\u0080-\u0084\u0086-\u009f]|\ufffd"
)

#: Common date formats other than ISO.
DATES = (
    r"\d{1,2}/\d{1,2}/\d{2,4}( \d{1,2}:\d\d.*)?",
    r"\d{1,2}\.\d{1,2}\.\d{2,4}( \d{1,2}:\d\d.*)?",
    r"\d{4}/\d{1,2}/\d{1,2}( \d{1,2}:\d\d.*)?",
    r"\d{1,2}[- ][A-Za-z]{3,9}[- ]\d{2,4}.*",
    r"[A-Za-z]{3,9}\.? \d{1,2},? \d{4}.*",
)


def mixed_types(view: TableView) -> Iterator[Finding]:
    """Find text columns that are numeric except for a few values or commas."""
    for name, column in view.of_type(Categories):
        if name in view.given_types:
            continue
        counts = np.bincount(column.codes[column.codes >= 0], minlength=len(column.levels))
        total = int(counts.sum())
        if not total or not are_mostly_numbers(column.levels):
            continue
        alike = np.array([is_number(level.replace(",", "")) for level in column.levels], bool)
        if counts[alike].sum() < NUMERIC_FRACTION * total:
            continue
        odd = np.array([not is_number(level) for level in column.levels] + [False])
        rows = first_rows(odd[column.codes])
        if rows:
            yield _mixed(name, column, int(np.count_nonzero(odd[column.codes])), total, rows)


def are_mostly_numbers(levels: tuple[str, ...]) -> bool:
    """Return whether a sample of the levels is mostly numeric; a quick test."""
    sample = levels[:: max(1, len(levels) // 200)]
    return sum(is_number(level.replace(",", "")) for level in sample) * 3 >= len(sample)


def _mixed(name: str, column: Categories, count: int, total: int, rows: tuple[int, ...]) -> Finding:
    first = column.levels[column.codes[rows[0]]]
    are = "is not a plain number" if count == 1 else "are not plain numbers"
    return Finding(
        "mixed types", "warning", (name,), rows,
        f"{quoted(name)} is read as text because {count} of its {total} values {are} (first "
        f"{quoted(first)} in data row {rows[0] + 1}). Write numbers as 1234.5 and leave missing "
        "ones empty; or keep it as a category.",
        {"category": (name,)},
    )  # fmt: skip


def spellings(view: TableView) -> Iterator[Finding]:
    """Find levels that differ only in whitespace or case."""
    columns = dict(view.of_type(Categories))
    for name, column in columns.items():
        if len(column.levels) <= MAX_LEVELS and not is_free_text(column):
            where = np.bincount(column.codes[column.codes >= 0], minlength=len(column.levels))
            levels = [v for v, count in zip(column.levels, where, strict=True) if count]
            yield from _same_levels(name, levels, len(column.codes), "note")
    target = view.target
    if target is not None and target.values is None and len(target.labels) <= MAX_LEVELS:
        yield from _same_levels(target.name, list(target.labels), view.n_rows, "warning")


def _same_levels(name: str, levels: list[str], n_rows: int, severity: Any) -> Iterator[Finding]:
    if 2 * len(levels) > n_rows:
        return
    same: dict[str, list[str]] = {}
    for level in levels:
        same.setdefault(" ".join(level.split()).casefold(), []).append(level)
    twice = [group for group in same.values() if len(group) > 1]
    if twice:
        more = f", and {len(twice) - 1} more" if len(twice) > 1 else ""
        yield Finding(
            "spellings", severity, (name,), (),
            f"{quoted(name)} has levels that differ only in whitespace or case: "
            f"{listed(twice[0])}{more}. They count as different levels: use one spelling.",
        )  # fmt: skip


def mojibake(view: TableView) -> Iterator[Finding]:
    """Find characters that come from a wrong encoding."""
    from pyarrow import compute

    for name, column in view.of_type(Categories):
        if not column.levels:
            continue
        sample = list(column.levels[:MAX_TEXTS])
        matches: Any = compute.match_substring_regex(strings(sample), MOJIBAKE)
        odd = np.zeros(len(column.levels) + 1, bool)
        odd[: len(sample)] = _as_mask(matches)
        bad = odd[column.codes]
        rows = first_rows(bad)
        if rows:
            text = column.levels[column.codes[rows[0]]]
            yield Finding(
                "encoding", "note", (name,), rows,
                f"{quoted(name)} has letters in {int(np.count_nonzero(bad))} rows"
                f"{' or more' * (len(sample) < len(column.levels))} that look like "
                f"another encoding (first in data row {rows[0] + 1}: {_around(text)}). Words with "
                "them are words of their own: save the file as UTF-8 from where it comes from, or "
                "say how it is written with --encoding.",
            )  # fmt: skip


def _as_mask(matches: Any) -> NDArray[np.bool_]:
    from separable.data.arrow_arrays import bits

    return bits(matches, 1) & ~nulls(matches)


def _around(text: str) -> str:
    """Return the suspicious characters with their surroundings."""
    match = re.search(MOJIBAKE, text)
    start = max(match.start() - 12, 0) if match else 0
    return quoted(text[start : start + 24])


def dates_as_texts(view: TableView) -> Iterator[Finding]:
    """Find dates not written in ISO 8601."""
    for name, column in view.of_type(Categories):
        if name not in view.given_types and are_dates(column.levels):
            yield Finding(
                "date as text", "note", (name,), (),
                f"{quoted(name)} holds dates ({quoted(column.levels[0])}) that are read as "
                "categories, because day and month are ambiguous. Write them as 2024-01-31 to "
                "have them read as dates.",
            )  # fmt: skip


def are_dates(levels: tuple[str, ...]) -> bool:
    """Return whether a sample of the texts has one of the formats of `DATES`."""
    sample = levels[:: max(1, len(levels) // 100)]
    patterns = (pattern for pattern in DATES if re.fullmatch(pattern, levels[0])) if sample else ()
    return len(sample) > 2 and any(
        all(re.fullmatch(pattern, level) for level in sample) for pattern in patterns
    )
