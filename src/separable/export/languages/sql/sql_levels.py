"""Columns with many levels in SQL: joined tables of contributions.

A CASE over thousands of levels is a linear search in every row; a join uses an index.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from separable.export.languages.sql.sql_syntax import literal, number
from separable.export.plan.plan import CategoryStep

if TYPE_CHECKING:
    from collections.abc import Mapping

    from separable.export.plan.plan import Plan

__all__ = ["LevelTable", "added", "level_joins", "level_tables"]

#: Columns with fewer levels stay a CASE.
FEWEST = 50
#: SQLite joins at most 64 tables.
_MOST_JOINS = 60


@dataclass(frozen=True)
class LevelTable:
    """Contributions of the levels of a column to each score.

    Parameters
    ----------
    name, alias : str
        Names of the table and of its alias in the join.
    column, key : str
        The column of the levels and the expression to join on. It is an expression because SQLite
        uses no index between a column with a type and one without.
    head, rows : str
        The table with the names of its columns, and the query for its rows.
    """

    name: str
    alias: str
    column: str
    key: str
    head: str
    rows: str


def level_tables(plan: Plan, prefix: str) -> dict[int, LevelTable]:
    """Return the tables by the index of their column.

    Parameters
    ----------
    plan : Plan
    prefix : str
        Beginning of the names of the tables.
    """
    many = {
        at: len(step.levels)
        for at, step in enumerate(plan.steps)
        if isinstance(step, CategoryStep) and len(step.levels) >= FEWEST
    }
    most = sorted(many, key=lambda at: -many[at])[:_MOST_JOINS]
    return {at: _table(plan, at, prefix) for at in sorted(most)}


def _table(plan: Plan, at: int, prefix: str) -> LevelTable:
    step = plan.steps[at]
    assert isinstance(step, CategoryStep)
    name = f"{prefix}_levels_{at}"
    weights = ", ".join(f"w{k}" for k in range(plan.n_scores))
    rows = ",\n    ".join(
        f"({', '.join([literal(level), *(added(plan, index, k) for k in range(plan.n_scores))])})"
        for level, index in step.levels
    )
    column = f"c{at}"
    key = f"({column} || '')" if isinstance(step.levels[0][0], str) else f"({column} + 0.0)"
    head = f"{name} (level, {weights})"
    return LevelTable(name, f"j{at}", column, key, head, f"VALUES\n    {rows}")


def level_joins(tables: Mapping[int, LevelTable]) -> str:
    """Return the JOIN clauses of all tables of levels."""
    return "".join(
        f"\n  LEFT JOIN {each.name} AS {each.alias} ON {each.alias}.level = {each.key}"
        for each in tables.values()
    )


def added(plan: Plan, index: int | None, k: int) -> str:
    """Return the contribution of a 1 at a feature, relative to the 0 that `Plan.base` counts."""
    if index is None or index < 0:
        return "0.0"
    return number(float(plan.weights[index, k]) * (plan.one - plan.zero))
