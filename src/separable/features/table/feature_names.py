"""Unique output feature names of a TableEncoder."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING

from separable.data.strings import ChainedTexts
from separable.features.table.category_column import CategoryColumn
from separable.features.table.text_column import TextColumn
from separable.features.text.hashing import HashedNames

if TYPE_CHECKING:
    from collections.abc import Sequence

    from separable.features.table.column_states import ColumnEncoder

__all__ = ["names_of_numbers"]

#: Up to this many names are created at once; more on access.
EAGER_NAMES = 1 << 12
_LARGE = (CategoryColumn, TextColumn)


def names_of_numbers(columns: Sequence[ColumnEncoder]) -> Sequence[str]:
    """Return the output feature names of all columns, as a sequence equal to their tuple.

    Parameters
    ----------
    columns : sequence of ColumnEncoder
        Fitted.
    """
    names = ChainedTexts([column.feature_names for column in columns])
    if len(names) > EAGER_NAMES and _surely_differ(columns):
        return names
    return _unique(list(names))


def _surely_differ(columns: Sequence[ColumnEncoder]) -> bool:
    """Return whether no two names can be equal, without creating those of levels and terms."""
    many = [column for column in columns if isinstance(column, _LARGE)]
    short_lists = [
        n for column in columns if not isinstance(column, _LARGE) for n in column.feature_names
    ]
    starts = [_start(column) for column in many]
    short_lists += [f"{column.name}=" for column in many if isinstance(column, TextColumn)]
    return (
        len(set(short_lists)) == len(short_lists)
        and _none_begins(starts, short_lists)
        and all(map(_differ, many))
    )


def _none_begins(starts: Sequence[str], names: Sequence[str]) -> bool:
    """Return whether no prefix is a prefix of another one or of a name.

    In sorted order, everything that begins with a prefix follows it directly.
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
    """Return whether the names of one column are distinct."""
    if isinstance(column, CategoryColumn):
        return not any(_is_level(column, text) for text in ("(rare)", "(missing)"))
    names = column.encoder.feature_names
    return not isinstance(names, HashedNames) or names.differ


def _is_level(column: CategoryColumn, text: str) -> bool:
    index = bisect_left(column.levels, text)
    return index < len(column.levels) and column.levels[index] == text


def _unique(names: list[str]) -> tuple[str, ...]:
    """Make equal names unique, such as that of a level called (missing)."""
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
