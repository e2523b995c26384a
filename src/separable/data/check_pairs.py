"""Columns that say the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from separable.data.check_look import numbers_in
from separable.data.check_single import numbers_rows
from separable.data.columns import Categories
from separable.data.findings import Finding, listed, quoted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from separable.data.check_look import Look

__all__ = ["duplicate_columns"]

#: Rows below which two columns may agree by chance.
FEWEST = 20


def duplicate_columns(look: Look) -> Iterator[Finding]:
    """Find columns with the same values, in the same or in other words."""
    if len(look.sample) < FEWEST:
        return
    for names in _groups(look):
        first, *others = names
        how = "the same values as" if _equal(look, first, others[0]) else "one to one with"
        yield Finding(
            "duplicate columns", "note", tuple(names), (),
            f"{listed(others)}: {how} {quoted(first)}. It adds nothing, and the weight is shared "
            "between them: keep one.",
            {"drop": tuple(others)},
        )  # fmt: skip


def _groups(look: Look) -> list[list[str]]:
    """Return columns that say the same: numbers up to their unit, categories up to their words."""
    numbers: dict[object, list[str]] = {}
    levels: dict[object, list[str]] = {}
    for name in look.names:
        column = look.typed(name)
        values = numbers_in(column)
        if values is not None and not numbers_rows(name, values):
            numbers.setdefault(_standard(values[look.sample]), []).append(name)
        levels.setdefault(_pattern(look, name), []).append(name)
    of_numbers = [names for key, names in numbers.items() if key is not None and len(names) > 1]
    known = {name for names in of_numbers for name in names[1:]}
    groups = [_with_category(look, names, known) for key, names in levels.items() if key]
    return [*of_numbers, *(names for names in groups if len(names) > 1)]


def _with_category(look: Look, names: list[str], known: set[str]) -> list[str]:
    """Return those that a category says: it first, then others and numbers."""
    categories = [name for name in names if isinstance(look.typed(name), Categories)]
    others = [name for name in names if name not in categories and name not in known]
    return [*categories, *others] if categories else []


def _pattern(look: Look, name: str) -> int | None:
    """Return what columns with the same levels in other words share; None where they are ids."""
    codes = look.codes(name)
    levels = int(codes.max()) + 1
    if levels < 2 or 2 * levels > len(codes):
        return None
    return hash(_by_appearance(codes, levels).tobytes())


def _by_appearance(codes: NDArray[np.int64], levels: int) -> NDArray[np.int64]:
    """Return codes numbered in the order in which they appear."""
    first = np.full(levels, len(codes))
    np.minimum.at(first, codes, np.arange(len(codes)))
    place = np.empty(levels, np.int64)
    place[np.argsort(first)] = np.arange(levels)
    return place[codes]


def _standard(values: NDArray[np.float64]) -> object:
    """Return numbers up to shift, scale and sign, rounded to what float64 can tell."""
    finite = np.isfinite(values)
    if finite.sum() < FEWEST:
        return None
    centred = np.where(finite, values - values[finite].mean(), 0)
    scale = float(np.sqrt(np.mean(centred**2)))
    if not np.isfinite(scale) or scale == 0:
        return None
    weights = np.random.default_rng(0).standard_normal(len(values))
    place = abs(float(weights @ centred)) / scale
    return (round(place / np.sqrt(len(values)), 7), int(np.count_nonzero(finite)))


def _equal(look: Look, first: str, second: str) -> bool:
    a, b = look.typed(first), look.typed(second)
    values, others = numbers_in(a), numbers_in(b)
    if values is not None and others is not None:
        return bool(np.array_equal(values, others, equal_nan=True))
    if not (isinstance(a, Categories) and isinstance(b, Categories)):
        return False
    ours, theirs = (np.array((*each.levels, ""), dtype=object)[each.codes] for each in (a, b))
    return bool(np.array_equal(ours, theirs))
