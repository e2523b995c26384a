"""Redundant columns: equal up to scale or relabelling."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from separable.data.checks.column_checks import numbers_rows
from separable.data.checks.findings import Finding, listed, quoted
from separable.data.checks.table_view import numbers_in
from separable.data.columns import Categories
from separable.data.ingest.dates import Booleans, Dates

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from separable.data.checks.table_view import TableView

__all__ = ["duplicate_columns"]

#: Minimum rows: with fewer, two columns may agree by chance.
MIN_ROWS = 20


def duplicate_columns(view: TableView) -> Iterator[Finding]:
    """Find columns with the same values, up to scale or relabelling."""
    if len(view.sample) < MIN_ROWS:
        return
    for names in _groups(view):
        first, *others = names
        how = "the same values as" if _equal(view, first, others[0]) else "one to one with"
        yield Finding(
            "duplicate columns", "note", tuple(names), (),
            f"{listed(others)}: {how} {quoted(first)}. It adds nothing, and the weight is split "
            "between them: keep one.",
            {"drop": tuple(others)},
        )  # fmt: skip


def _groups(view: TableView) -> list[list[str]]:
    """Return groups of redundant columns: numbers up to scale, categories up to relabelling."""
    numbers: dict[object, list[str]] = {}
    levels: dict[object, list[str]] = {}
    standards = dict(_standards(view))
    for name in view.names:
        if name in standards:
            numbers.setdefault(standards[name], []).append(name)
    for names, codes in view.code_blocks():
        for name, key in zip(names, _patterns(codes), strict=True):
            levels.setdefault(key, []).append(name)
    of_numbers = [names for key, names in numbers.items() if key is not None and len(names) > 1]
    known = {name for names in of_numbers for name in names[1:]}
    groups = [_with_category(view, names, known) for key, names in levels.items() if key]
    return [*of_numbers, *(names for names in groups if len(names) > 1)]


def _with_category(view: TableView, names: list[str], known: set[str]) -> list[str]:
    """Return the columns equivalent to a category: it first, then the others."""
    categories = [name for name in names if isinstance(view.parsed(name), Categories)]
    others = [name for name in names if name not in categories and name not in known]
    return [*categories, *others] if categories else []


def _patterns(codes: NDArray[np.int64]) -> list[int | None]:
    """Return a hash of each column up to relabelling; None for identifiers."""
    counts: list[int] = (codes.max(axis=1) + 1).tolist()
    return [
        hash(_by_appearance(each, levels).tobytes()) if 2 <= levels <= len(each) / 2 else None
        for each, levels in zip(codes, counts, strict=True)
    ]


def _by_appearance(codes: NDArray[np.int64], levels: int) -> NDArray[np.int64]:
    """Return codes renumbered by first appearance."""
    first = np.full(levels, len(codes))
    np.minimum.at(first, codes, np.arange(len(codes)))
    code_of = np.empty(levels, np.int64)
    code_of[np.argsort(first)] = np.arange(levels)
    return code_of[codes]


def _standards(view: TableView) -> Iterator[tuple[str, object]]:
    """Yield each numeric column with a key shared by equivalent columns."""
    weights = np.random.default_rng(0).standard_normal(len(view.sample))
    others = [(name, numbers_in(column)) for name, column in view.of_type(Booleans, Dates)]
    blocks = [
        *((block.names, block.values) for block in view.numbers),
        *(((name,), values[None]) for name, values in others if values is not None),
    ]
    suspects = view.whole.union(name for name, _ in others)
    for names, values in blocks:
        keys = _keys(values[:, view.sample], weights)
        for name, key, one in zip(names, keys, values, strict=True):
            if not (name in suspects and numbers_rows(name, one)):
                yield name, key


def _keys(values: NDArray[np.float64], weights: NDArray[np.float64]) -> list[object]:
    """Return keys of rows up to shift, scale and sign, rounded to float64 precision."""
    finite = np.isfinite(values)
    counts = finite.sum(axis=1)
    means = np.where(finite, values, 0).sum(axis=1) / np.maximum(counts, 1)
    centred = np.where(finite, values - means[:, None], 0)
    scale = np.sqrt(np.mean(centred**2, axis=1))
    good = (counts >= MIN_ROWS) & np.isfinite(scale) & (scale > 0)
    projections = np.abs((centred * weights).sum(axis=1)) / np.where(good, scale, 1)
    rounded = np.round(projections / np.sqrt(len(weights)), 7).tolist()
    known = zip(rounded, counts.tolist(), good.tolist(), strict=True)
    return [(code_of, count) if fine else None for code_of, count, fine in known]


def _equal(view: TableView, first: str, second: str) -> bool:
    a, b = view.parsed(first), view.parsed(second)
    values, others = numbers_in(a), numbers_in(b)
    if values is not None and others is not None:
        return bool(np.array_equal(values, others, equal_nan=True))
    if not (isinstance(a, Categories) and isinstance(b, Categories)):
        return False
    ours, theirs = (np.array((*each.levels, ""), dtype=object)[each.codes] for each in (a, b))
    return bool(np.array_equal(ours, theirs))
