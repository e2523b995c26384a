"""What the columns of the data are, as far as a model knows them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from separable.model.words import feature_name
from separable.report.contents import Column

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from separable.features.table.column_states import ColumnRow
    from separable.model.kinds import Model

__all__ = ["columns_of"]

#: What is told of columns that are not learned from.
ROLES = {
    "target": "target",
    "group": "not a feature: groups of rows",
    "time": "not a feature: time of the row",
    "weight": "not a feature: sample weight",
}

#: Maximum features listed for a model without an encoder.
LISTED = 100


def columns_of(
    model: Model,
    roles: Mapping[str, str],
    missing: Mapping[str, int] | None = None,
    names: Sequence[str] | None = None,
) -> tuple[Column, ...]:
    """Return the columns that a model was trained with.

    Parameters
    ----------
    model : LinearModel or VotedModel
    roles : mapping of str to str
        The columns that are not learned from: "target", "group", "time" or "weight".
    missing : mapping of str to int, optional
        How many values are missing, where some are. None: that is not known.
    names : sequence of str, optional
        All columns of the data, in their order. By default those of the encoder, then the others.
    """
    encoder: Any = model.encoder
    kind = getattr(encoder, "kind", None)
    apart = [(name, role, ROLES[role]) for name, role in roles.items()]
    if kind == "table":
        rows = {row.column: row for row in encoder.columns_}
        given = list(dict.fromkeys([*rows, *roles])) if names is None else names
        by_role = {name: (name, role, about) for name, role, about in apart}
        known = [
            by_role[name] if name in by_role else (name, *_of_row(rows.get(name), missing))
            for name in given
        ]
    elif kind is not None:
        what = "text" if kind == "text" else "category"
        known = [("text" if kind == "text" else kind, what, _counted(model.n_features)), *apart]
    else:
        known = [*_features(model), *apart]
    return tuple(
        Column(name, role, None if missing is None else int(missing.get(name, 0)), about)
        for name, role, about in known
    )


def _of_row(row: ColumnRow | None, missing: Mapping[str, int] | None) -> tuple[str, str]:
    """Return the role of a column and remarks about it."""
    if row is None:
        return "dropped", "not learned from"
    if row.type == "dropped":
        return row.type, row.why
    if row.type == "category" and missing is not None:
        levels = row.numbers_out - (missing.get(row.column, 0) > 0)
        return row.type, f"{levels} level{'s' * (levels != 1)}"
    plain = row.type in ("number", "boolean")  # besides, at most a mark for missing values
    return row.type, "" if plain else _counted(row.numbers_out)


def _features(model: Model) -> list[tuple[str, str, str]]:
    d = model.n_features
    listed = [(feature_name(model.feature_names, j), "number", "") for j in range(min(d, LISTED))]
    return listed + [("...", "number", f"and {d - LISTED} more")] * (d > LISTED)


def _counted(features: int) -> str:
    return f"{features} feature{'s' * (features != 1)}"
