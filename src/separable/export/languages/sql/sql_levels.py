"""Columns with many levels in SQL: tables of what each level adds, to be joined.

A CASE over thousands of levels is read from its beginning for every row; a join is looked up.
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
    """What each level of a column adds to each score.

    Parameters
    ----------
    name, alias : str
        Of the table, and of it where it is joined.
    column, key : str
        The column that has the levels, and what is joined on: an expression, for SQLite makes no
        index to look up a column of a type in one without.
    head, rows : str
        The table with the names of its columns, and the query that is its rows.
    """

    name: str
    alias: str
    column: str
    key: str
    head: str
    rows: str


def level_tables(plan: Plan, prefix: str) -> dict[int, LevelTable]:
    """Return the tables by the place of their column.

    Parameters
    ----------
    plan : Plan
    prefix : str
        What the names of the tables begin with.
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
        f"({', '.join([literal(level), *(added(plan, place, k) for k in range(plan.n_scores))])})"
        for level, place in step.levels
    )
    column = f"c{at}"
    key = f"({column} || '')" if isinstance(step.levels[0][0], str) else f"({column} + 0.0)"
    head = f"{name} (level, {weights})"
    return LevelTable(name, f"j{at}", column, key, head, f"VALUES\n    {rows}")


def level_joins(tables: Mapping[int, LevelTable]) -> str:
    """Return what stands behind FROM and a table for all tables of levels to be there."""
    return "".join(
        f"\n  LEFT JOIN {each.name} AS {each.alias} ON {each.alias}.level = {each.key}"
        for each in tables.values()
    )


def added(plan: Plan, place: int | None, k: int) -> str:
    """Return what a 1 at a place adds, beside the 0 that `Plan.base` counts there."""
    if place is None or place < 0:
        return "0.0"
    return number(float(plan.weights[place, k]) * (plan.one - plan.zero))
