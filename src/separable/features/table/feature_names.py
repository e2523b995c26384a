"""The names of the numbers that a TableEncoder gives out, each different from all others."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING

from separable.data.lazy_texts import ChainedTexts
from separable.features.table.category_column import CategoryColumn
from separable.features.table.text_column import TextColumn
from separable.features.text.hashing import HashedNames

if TYPE_CHECKING:
    from collections.abc import Sequence

    from separable.features.table.column_states import ColumnEncoder

__all__ = ["names_of_numbers"]

#: Up to so many names are made at once; more only when they are asked for.
FEW = 1 << 12
_MANY = (CategoryColumn, TextColumn)


def names_of_numbers(columns: Sequence[ColumnEncoder]) -> Sequence[str]:
    """Return the names of all columns' numbers, as a sequence equal to the tuple of them.

    Parameters
    ----------
    columns : sequence of ColumnEncoder
        Fitted.
    """
    names = ChainedTexts([column.feature_names for column in columns])
    if len(names) > FEW and _surely_differ(columns):
        return names
    return _unique(list(names))


def _surely_differ(columns: Sequence[ColumnEncoder]) -> bool:
    """Whether no two names can coincide, seen without making those of levels and words."""
    many = [column for column in columns if isinstance(column, _MANY)]
    short_lists = [
        n for column in columns if not isinstance(column, _MANY) for n in column.feature_names
    ]
    starts = [_start(column) for column in many]
    short_lists += [f"{column.name}=" for column in many if isinstance(column, TextColumn)]
    return (
        len(set(short_lists)) == len(short_lists)
        and _none_begins(starts, short_lists)
        and all(map(_differ, many))
    )


def _none_begins(starts: Sequence[str], names: Sequence[str]) -> bool:
    """Whether no start begins another start, nor a name.

    In sorted order whatever begins with a start follows it at once, before anything else.
    """
    starts = sorted(starts)
    if any(after.startswith(start) for start, after in pairwise(starts)):
        return False
    before = (bisect_right(starts, name) - 1 for name in names)
    pairs = zip(names, before, strict=True)
    return not any(index >= 0 and name.startswith(starts[index]) for name, index in pairs)


def _start(column: CategoryColumn | TextColumn) -> str:
    return f"{column.name}{'=' if isinstance(column, CategoryColumn) else ':'}"


def _differ(column: CategoryColumn | TextColumn) -> bool:
    """Whether the names of one column differ from each other."""
    if isinstance(column, CategoryColumn):
        return not any(_is_level(column, text) for text in ("(rare)", "(missing)"))
    names = column.encoder.feature_names
    return not isinstance(names, HashedNames) or names.differ


def _is_level(column: CategoryColumn, text: str) -> bool:
    index = bisect_left(column.levels, text)
    return index < len(column.levels) and column.levels[index] == text


def _unique(names: list[str]) -> tuple[str, ...]:
    """Tell apart names that coincide, such as a level that is itself called (missing)."""
    if len(set(names)) == len(names):
        return tuple(names)
    taken = set(names)
    met: Counter[str] = Counter()
    out = []
    for name in names:
        met[name] += 1
        new, number = name, met[name]
        while number > 1 and new in taken:
            new = f"{name} [{number}]"
            number += 1
        taken.add(new)
        out.append(new)
    return tuple(out)
