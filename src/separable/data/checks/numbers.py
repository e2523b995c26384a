"""Checks of numeric columns: sentinel values, outliers, dates stored as numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from separable.data.checks.dominant_values import SQUARES, dominant_in
from separable.data.checks.findings import Finding, quoted
from separable.data.checks.table_view import first_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from separable.data.checks.table_view import TableView

    Values = NDArray[np.float64]

__all__ = ["dates_as_numbers", "missing_as_numbers", "missing_as_zero", "outliers"]

#: Sentinel numbers that people write for missing values.
SENTINELS = {99.0, 999.0, 9999.0, 99999.0, 999999.0, 9999999.0, 8888.0}

#: Minimum count of a sentinel, and its minimum distance from other values relative to their range.
MIN_SENTINELS, MIN_DISTANCE = 3, 0.5

#: Minimum ratio of the gap above 0 to any other gap below the median.
MIN_GAP_RATIO = 2.5

#: A single value with this fraction of the variance dominates the scale of its column.
DOMINANT_VARIANCE = 0.5

#: Minimum ratio of its distance from the median to that of the next value, and minimum rows.
OUTLIER_RATIO, MIN_ROWS = 10, 100

#: Minimum values to judge what is ordinary in a column.
MIN_VALUES = 5

#: Rows of a small table that suffice to clear most columns.
QUICK_ROWS = 16

#: Minimum distinct values of a measurement.
MIN_DISTINCT = 20


def missing_as_numbers(view: TableView) -> Iterator[Finding]:
    """Find sentinels such as -999 and 9999 that repeat at the end of a range."""
    for name, whole in view.numbers_where(_ends_in_sentinel):
        values = whole[np.isfinite(whole)]
        if len(values) < 2:
            continue
        for value, is_low in ((values.min(), True), (values.max(), False)):
            count = _sentinel_count(values, float(value), is_low)
            if count:
                rows = first_rows(whole == value)
                yield Finding(
                    "missing as a number", "warning", (name,), rows,
                    f"{quoted(name)} is {value:g} in {count} rows (first in data row "
                    f"{rows[0] + 1}), far from its other values: it may mark missing values, and "
                    "would be treated as a number. If so, leave these cells empty in the file, or "
                    f"name it with --missing {value:g}.",
                )  # fmt: skip


def _ends_in_sentinel(columns: Values) -> NDArray[np.bool_]:
    """Return which columns have a sentinel as their smallest or largest finite value."""
    finite = np.isfinite(columns)
    ends = (
        np.where(finite, columns, np.inf).min(axis=1, initial=np.inf),
        np.where(finite, columns, -np.inf).max(axis=1, initial=-np.inf),
    )
    return np.asarray(np.isin(np.abs(ends), list(SENTINELS)).any(axis=0))


def _sentinel_count(values: Values, value: float, is_low: bool) -> int:
    """Return the count of a sentinel value; 0 if the value is not one."""
    if abs(value) not in SENTINELS:
        return 0
    others = values[values != value]
    count = len(values) - len(others)
    if count < MIN_SENTINELS or not len(others):
        return 0
    low, high = float(others.min()), float(others.max())
    gap = low - value if is_low else value - high
    return count if gap >= max(MIN_DISTANCE * (high - low), 2) else 0


def missing_as_zero(view: TableView) -> Iterator[Finding]:
    """Find zeros far below measurements that are otherwise well above 0."""
    for name, whole in view.numbers_where(lambda each: (each == 0).sum(axis=1) >= MIN_SENTINELS):
        values = whole[np.isfinite(whole)]
        zeros = int(np.count_nonzero(values == 0))
        if not MIN_SENTINELS <= zeros <= 0.6 * len(values) or values.min() < 0:
            continue
        if _zero_is_apart(values):
            rows = first_rows(whole == 0)
            yield Finding(
                "missing as zero", "warning", (name,), rows,
                f"{quoted(name)} is 0 in {zeros} rows (first in data row {rows[0] + 1}) and "
                f"otherwise at least {values[values > 0].min():g}: 0 may mark missing values. If "
                "so, leave these cells empty in the file.",
            )  # fmt: skip


def _zero_is_apart(values: Values) -> bool:
    """Return whether the gap above 0 is larger than any other gap below the median."""
    levels = np.unique(values)
    if len(levels) < MIN_DISTINCT + 1:
        return False
    median = float(np.median(values[values > 0]))
    first = levels[1]
    below = np.diff(levels[1:][levels[1:] <= median])
    return bool(len(below) > 2 and first >= 0.1 * median and first >= MIN_GAP_RATIO * below.max())


def outliers(view: TableView) -> Iterator[Finding]:
    """Find single values that make up most of a column's variance."""
    target = view.target
    if target is not None and target.task == "regression" and target.values is not None:
        finite = np.isfinite(target.values)
        if np.count_nonzero(finite) >= MIN_VALUES:
            middle = float(np.median(target.values[finite]))
            finding = _dominant(target.name, target.values, finite, middle)
            yield from [] if finding is None else [finding]
    for name, values in view.numbers_where(_may_have_outliers):
        finite = np.isfinite(values)
        middle = float(np.median(values[finite]))
        dominant = _dominant(name, values, finite, middle)
        if dominant is not None:
            yield dominant
            continue
        if np.count_nonzero(finite) < MIN_ROWS:
            continue
        away = np.where(finite, np.abs(values - middle), 0)
        row = int(away.argmax())
        top, away[row] = float(away[row]), 0
        if top < OUTLIER_RATIO * away.max() or top == 0:
            continue
        away /= top
        explained = 1 / (1 + float(away @ away))
        if explained >= DOMINANT_VARIANCE:
            finite[row] = False
            rest = values[finite]
            yield Finding(
                "outlier", "warning", (name,), (row,),
                f"{quoted(name)} is {values[row]:g} in data row {row + 1}; all others lie from "
                f"{rest.min():g} to {rest.max():g}. This value makes up {explained:.0%} of the "
                "column's variance and sets its scale. Correct it, or leave it empty.",
            )  # fmt: skip


def _may_have_outliers(columns: Values) -> NDArray[np.bool_]:
    """Return which columns have enough values; with few rows, those a few values may dominate.

    If three values dominate, all but three at either end are close together.
    """
    count = np.isfinite(columns).sum(axis=1)
    if columns.shape[1] >= MIN_ROWS:
        return np.asarray(count >= MIN_VALUES)
    first = np.sort(columns[:, :QUICK_ROWS], axis=1)
    inner = min(3, (first.shape[1] - 1) // 2)
    with np.errstate(invalid="ignore", over="ignore"):
        size = np.fmax.reduce(np.abs(columns), axis=1, initial=0.0)
        apart = first[:, -1 - inner] - first[:, inner]
        return np.asarray((count >= MIN_VALUES) & ~(apart > 4 * SQUARES * size))


def _dominant(
    name: str, values: Values, finite: NDArray[np.bool_], middle: float
) -> Finding | None:
    """Find up to three values beside which float64 loses the others, in a table of any size."""
    rows = np.flatnonzero(finite)
    dominant = dominant_in(values[rows, None], middle)
    if not dominant or 2 * dominant[0].count >= len(rows):
        return None
    (one,) = dominant
    row = int(rows[one.row])
    near = finite & (np.abs(values - middle) <= one.rest)
    more = f" (and {one.count - 1} more of its size)" if one.count > 1 else ""
    return Finding(
        "outlier", "warning", (name,), (row,),
        f"{quoted(name)} is {one.value:g} in data row {row + 1}{more}; the others lie from "
        f"{values[near].min():g} to {values[near].max():g}. It is so large that the others are "
        "nearly equal beside it, and nothing is learned from them. Correct it, or leave it empty.",
    )  # fmt: skip


def _within_dates(columns: Values) -> NDArray[np.bool_]:
    """Return which columns lie within the range of dates written as numbers."""
    outside = (columns < 19000101) | (columns > 21001231)
    return np.asarray(~outside.any(axis=1))


def dates_as_numbers(view: TableView) -> Iterator[Finding]:
    """Find dates written as numbers, such as 20240131."""
    for name, whole in view.numbers_where(_within_dates):
        values = whole[~np.isnan(whole)]
        if len(values) < MIN_DISTINCT or values.min() < 19000101 or values.max() > 21001231:
            continue
        days, months = values % 100, values // 100 % 100
        valid = (days >= 1) & (days <= 31) & (months >= 1) & (months <= 12)
        if np.all(values == np.floor(values)) and valid.all() and values.min() < values.max():
            yield Finding(
                "date as a number", "note", (name,), (),
                f"{quoted(name)} holds dates written as numbers ({values[0]:.0f}), so months and "
                "years are unevenly spaced. Write them as 2024-01-31.",
            )  # fmt: skip
