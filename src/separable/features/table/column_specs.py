"""Column specifications and output feature names of a TableEncoder."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from separable.data.ingest.conversions.guessing import requested
from separable.data.strings import ChainedTexts
from separable.data.table import TableError, list_names, require_columns
from separable.features.table.category_column import UNSEEN, CategoryColumn
from separable.features.table.column_states import ColumnSpec
from separable.features.table.text_column import TextColumn
from separable.features.text.terms import HashedNames

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from separable.features.interaction.pair_column import PairColumn
    from separable.features.table.column_states import ColumnEncoder


__all__ = [
    "CONSTRAINTS",
    "PARAMETERS",
    "check_constraints",
    "check_options",
    "column_specs_of",
    "constraints_of",
    "names_of_numbers",
    "pairs_of",
    "unseen_policies",
]

#: Parameters that name columns.
PARAMETERS = ("number", "category", "boolean", "date", "text", "drop")
#: Parameters that name columns with constraints.
CONSTRAINTS = ("increasing", "decreasing", "nonnegative")
#: Options of each column type.
OPTIONS = {"number": ("scale", "curve"), "category": ("min_count", "unseen")}

#: Up to this many names are created at once; more on access.
EAGER_NAMES = 1 << 12
_LARGE = (CategoryColumn, TextColumn)


def column_specs_of(encoder: Any, names: Sequence[str]) -> dict[str, ColumnSpec]:
    """Return the specification of each column of a table.

    Parameters
    ----------
    encoder : TableEncoder
    names : sequence of str
        Existing columns.
    """
    specs = dict.fromkeys(names, ColumnSpec())
    constraints = constraints_of(encoder)
    require_columns(constraints, names, "The table")
    for kind in PARAMETERS:
        given = getattr(encoder, kind)
        if isinstance(given, str):
            raise ValueError(
                f"The {kind!r} parameter of TableEncoder must be a list of column names. "
                f"Got {given!r} instead."
            )
        require_columns(given or (), names, "The table")
        for name in given or ():
            if specs[name].kind not in (None, kind):
                raise ValueError(
                    f"Column {name!r} is named in both {specs[name].kind!r} and {kind!r}. Keep one."
                )
            options = given[name] if isinstance(given, Mapping) else None
            _check_column_options(kind, name, options)
            specs[name] = ColumnSpec(kind, options)
    for name, spec in specs.items():
        curve = bool(encoder.curves)
        if spec.kind == "number" and isinstance(spec.options, dict):
            curve = bool(spec.options.get("curve", curve))
        specs[name] = replace(spec, curve=curve)
    for name in {name for pair in pairs_of(encoder.interactions, names) for name in pair}:
        if name in constraints:
            raise ValueError(
                f"Column {name!r} is {constraints[name]}, so it takes no part in 'interactions'. "
                "Leave it out of one of them."
            )
        specs[name] = replace(specs[name], paired=True)
    for name, given in _conversions(encoder.conversions, names).items():
        if specs[name].kind in ("category", "boolean", "text", "drop"):
            raise ValueError(
                f"Column {name!r} is named in 'conversions' and in {specs[name].kind!r}. Keep one."
            )
        specs[name] = replace(specs[name], conversions={name: given})
    if isinstance(encoder.unseen, Mapping):
        require_columns(encoder.unseen, names, "The table")
    unseen_policies(encoder.unseen, names)
    return specs


def constraints_of(encoder: Any) -> dict[str, str]:
    """Return the constraint of each constrained column, one of `CONSTRAINTS`."""
    made: dict[str, str] = {}
    for constraint in CONSTRAINTS:
        given = getattr(encoder, constraint)
        if isinstance(given, str) or not all(isinstance(name, str) for name in given or ()):
            raise ValueError(
                f"The {constraint!r} parameter of TableEncoder must be a list of column names. "
                f"Got {given!r:.80} instead."
            )
        for name in given or ():
            if made.get(name, constraint) != constraint:
                raise ValueError(
                    f"Column {name!r} is named in both {made[name]!r} and {constraint!r}. Keep one."
                )
            made[name] = constraint
    return made


def check_constraints(constraints: Mapping[str, str], columns: Mapping[str, ColumnEncoder]) -> None:
    """Refuse a direction of columns that have none.

    Parameters
    ----------
    constraints : mapping of str to str
    columns : mapping of str to ColumnEncoder
        Those that are used.
    """
    for name, constraint in constraints.items():
        kind = columns[name].kind if name in columns else "number"
        if constraint != "nonnegative" and kind not in ("number", "boolean"):
            raise TableError(
                f"Column {name!r} cannot be {constraint}: it is a {kind}, and only numbers and "
                "booleans have a direction. Leave it out, or read it as a number."
            )


def _conversions(given: Any, names: Sequence[str]) -> Mapping[str, Any]:
    """Return the conversions that the user gave, checked."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise ValueError(
            "The 'conversions' parameter of TableEncoder must be a dict of columns to conversions. "
            f"Got {given!r} instead."
        )
    require_columns(given, names, "The table")
    for name, conversion in given.items():
        requested(conversion, name)
    return given


def pairs_of(interactions: Any, names: Collection[str] | None = None) -> list[tuple[str, str]]:
    """Return the requested pairs of columns, checked.

    Parameters
    ----------
    interactions : sequence of (str, str), or None
    names : collection of str, optional
        Existing columns.
    """
    pairs = [] if interactions is None else list(interactions)
    for pair in pairs:
        texts = isinstance(pair, (tuple, list)) and all(isinstance(each, str) for each in pair)
        if not texts or len(set(pair)) != 2 or len(pair) != 2:
            raise ValueError(
                "The 'interactions' parameter of TableEncoder must be a list of pairs of different "
                f"columns, such as [('age', 'sex')]. Got {pair!r:.80} instead."
            )
        if names is not None:
            require_columns(pair, names, "The table")
    sets = [frozenset(pair) for pair in pairs]
    if len(set(sets)) < len(sets):
        twice = next(pair for pair in pairs if sets.count(frozenset(pair)) > 1)
        raise ValueError(f"The interaction {twice!r} is given twice. Keep one.")
    return [(first, second) for first, second in pairs]


def check_options(min_count: Any) -> None:
    """Raise if the minimum count of levels is invalid."""
    whole = isinstance(min_count, int) and not isinstance(min_count, bool)
    if min_count is not None and not (whole and min_count >= 1):
        raise ValueError(
            f"The 'min_count' parameter of TableEncoder must be an int >= 1 or None. Got "
            f"{min_count!r} instead."
        )


def unseen_policies(unseen: Any, names: Collection[str]) -> list[str]:
    """Return the policy for unseen levels of each column."""
    if isinstance(unseen, Mapping):
        return [_policy(unseen.get(name, "zero")) for name in names]
    return [_policy(unseen)] * len(names)


def _policy(given: Any) -> str:
    if given not in UNSEEN:
        raise ValueError(
            f"The 'unseen' parameter of TableEncoder must be one of {list_names(UNSEEN)}, or one "
            f"of them by column. Got {given!r} instead."
        )
    return str(given)


def _check_column_options(kind: str, name: str, options: Any) -> None:
    if options is None or kind == "text":
        return
    known = OPTIONS.get(kind, ())
    if not isinstance(options, dict) or not set(options) <= set(known):
        takes = f"takes {list_names(known)}" if known else "takes no options"
        raise ValueError(
            f"The {kind!r} parameter of TableEncoder gives {options!r} for column {name!r}, but a "
            f"{kind} {takes}, as a dict."
        )
    check_options(options.get("min_count"))
    _policy(options.get("unseen", "zero"))


def names_of_numbers(columns: Sequence[ColumnEncoder | PairColumn]) -> Sequence[str]:
    """Return the output feature names of all columns, as a sequence equal to their tuple.

    Parameters
    ----------
    columns : sequence of ColumnEncoder and PairColumn
        Fitted.
    """
    names = ChainedTexts([column.feature_names for column in columns])
    if len(names) > EAGER_NAMES and _surely_differ(columns):
        return names
    return _unique(list(names))


def _surely_differ(columns: Sequence[ColumnEncoder | PairColumn]) -> bool:
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
