"""Column specifications from the parameters of a TableEncoder, validated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from separable.data.table import list_names, require_columns
from separable.features.table.category_column import UNSEEN
from separable.features.table.column_states import ColumnSpec

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

__all__ = ["PARAMETERS", "check_options", "column_specs_of", "unseen_policies"]

#: Parameters that name columns.
PARAMETERS = ("number", "category", "boolean", "date", "text", "drop")
#: Options of each column type.
OPTIONS = {"number": ("scale",), "category": ("min_count", "unseen")}


def column_specs_of(encoder: Any, names: Sequence[str]) -> dict[str, ColumnSpec]:
    """Return the specification of each column of a table.

    Parameters
    ----------
    encoder : TableEncoder
    names : sequence of str
        Existing columns.
    """
    specs = dict.fromkeys(names, ColumnSpec())
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
    if isinstance(encoder.unseen, Mapping):
        require_columns(encoder.unseen, names, "The table")
    unseen_policies(encoder.unseen, names)
    return specs


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
