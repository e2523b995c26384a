"""Columns of a plan as SQL: identifiers, literals, level tables and the terms of a score."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise, zip_longest
from typing import TYPE_CHECKING

from separable.export.languages.sql.sql_conversions import converted_numbers, normalized_text
from separable.export.languages.sql.sql_pairs import pair_terms
from separable.export.languages.sql.sql_text import (
    identifier,
    is_false,
    is_number,
    is_true,
    literal,
    number,
)
from separable.export.plan.plan import (
    BooleanStep,
    CategoryStep,
    CurveStep,
    DateStep,
    NumbersStep,
    NumberStep,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from separable.export.plan.plan import Plan, Step


__all__ = [
    "date_stages",
    "level_joins",
    "level_tables",
    "read_columns",
    "scores_of",
    "summed",
]


_FLOAT = "DOUBLE PRECISION"
_MONTH_STARTS = (0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334)

#: Columns with fewer levels stay a CASE.
FEWEST = 50
#: SQLite joins at most 64 tables.
_MOST_JOINS = 60


def summed(terms: Sequence[str], sign: str = "+") -> str:
    """Return a balanced sum: databases limit the depth of expressions.

    Examples
    --------
    >>> summed(["a", "b", "c"])
    '(a + (b + c))'
    """
    if len(terms) == 1:
        return terms[0]
    half = len(terms) // 2
    return f"({summed(terms[:half], sign)} {sign} {summed(terms[half:], sign)})"


def read_columns(plan: Plan) -> list[str]:
    """Return the selected expressions: each raw column as c0, c1, ..., and `bad`.

    A value that is not a number where one is expected, such as an empty text, becomes NULL, which
    would count as missing: `bad` is 1 in such rows.
    """
    numbers = _numbers(plan)
    columns = [f"t.{identifier(name)}" for name in plan.columns]
    read = []
    conversions = plan.conversions if plan.takes == "columns" else ()
    for at, (column, conversion) in enumerate(zip_longest(columns, conversions)):
        if conversion is not None:
            read.append(f"{normalized_text(column, conversion)} AS x{at}")
        elif at in numbers:
            read.append(
                f"CASE WHEN {is_number(column)} THEN CAST({column} AS {_FLOAT}) END AS c{at}"
            )
        else:
            read.append(f"CAST({column} AS VARCHAR) AS c{at}")
    wrong = [f"({columns[at]} IS NOT NULL AND NOT {is_number(columns[at])})" for at in numbers]
    return [*read, f"CASE WHEN {summed(wrong, 'OR')} THEN 1 ELSE 0 END AS bad"] if wrong else read


def _numbers(plan: Plan) -> list[int]:
    """Return the columns that are read as numbers."""
    (first, *_) = plan.steps
    if isinstance(first, NumbersStep):
        return list(range(len(first.names)))
    return [
        at
        for at, step in enumerate(plan.steps)
        if _stored_as(step) == "number" and plan.conversions[at] is None
    ]


def scores_of(plan: Plan, tables: Mapping[int, LevelTable]) -> list[str]:
    """Return the scores as s0, s1, ...; NULL if a value is invalid.

    Parameters
    ----------
    plan : Plan
    tables : mapping of int to LevelTable
        Tables of the columns whose levels are joined.
    """
    base = [number(each) for each in plan.base]
    sums = [
        summed([base[k], *_terms(plan, tables, k), *pair_terms(plan, k)])
        for k in range(plan.n_scores)
    ]
    flags = ["bad = 0"] * bool(_numbers(plan)) + [f"b{at} = 0" for at in converted_numbers(plan)]
    if not flags:
        return [f"{total} AS s{k}" for k, total in enumerate(sums)]
    good = " AND ".join(flags)
    return [f"CASE WHEN {good} THEN {total} END AS s{k}" for k, total in enumerate(sums)]


def _stored_as(step: Step) -> str:
    if isinstance(step, CategoryStep) and step.typed and step.levels:
        return "text" if isinstance(step.levels[0][0], str) else "number"
    return "number" if isinstance(step, (NumberStep, CurveStep)) else "text"


# --- dates ---


def date_stages(plan: Plan) -> list[list[str]]:
    """Return the expressions of dates, stage by stage: each uses the one before."""
    dates = [at for at, step in enumerate(plan.steps) if isinstance(step, DateStep)]
    if not dates:
        return []
    stages = (_checked, _split, _counted)
    return [[text for at in dates for text in stage(at)] for stage in stages]


def _checked(at: int) -> Iterator[str]:
    """Check the format of a date without an offset; d..._bad is 1 for others."""
    c = f"c{at}"
    shape = (
        f"({c} LIKE '____-__-__' OR {c} LIKE '____-__-__ __:__' OR {c} LIKE '____-__-__T__:__' "
        f"OR {c} LIKE '____-__-__ __:__:__%' OR {c} LIKE '____-__-__T__:__:__%')"
    )
    digits = " || ".join(
        f"SUBSTR({c}, {start}, {size})"
        for start, size in ((1, 4), (6, 2), (9, 2), (12, 2), (15, 2), (18, 2), (21, 9))
    )
    good = (
        f"{shape} AND TRIM({digits}, '0123456789') = '' AND SUBSTR({c}, 11, 1) IN ('', ' ', 'T') "
        f"AND SUBSTR({c}, 20, 1) IN ('', '.') AND LENGTH({c}) <> 20 AND LENGTH({c}) < 30"
    )
    yield f"CASE WHEN {c} IS NULL OR ({good}) THEN 0 ELSE 1 END AS d{at}_bad"


def _split(at: int) -> Iterator[str]:
    c, good = f"c{at}", f"d{at}_bad = 0"
    for part, start in (("year", 1), ("month", 6), ("day", 9)):
        size = 4 if part == "year" else 2
        digits = f"CAST(SUBSTR({c}, {start}, {size}) AS INTEGER)"
        yield f"CASE WHEN {good} THEN {digits} END AS d{at}_{part}"
    for part, start in (("hour", 12), ("minute", 15)):
        yield (
            f"CASE WHEN {good} AND LENGTH({c}) >= 16 THEN CAST(SUBSTR({c}, {start}, 2) AS INTEGER) "
            f"ELSE 0 END AS d{at}_{part}"
        )
    yield (
        f"CASE WHEN {good} AND LENGTH({c}) >= 19 THEN CAST(SUBSTR({c}, 18) AS {_FLOAT}) "
        f"ELSE 0.0 END AS d{at}_second"
    )


def _counted(at: int) -> Iterator[str]:
    """Count the days since 1970-01-01; NULL for a day or an hour that does not exist."""
    year, month, day = f"d{at}_year", f"d{at}_month", f"d{at}_day"
    past = f"({year} - 1)"
    leaps = " ".join(
        f"{sign} ({past} - {past} % {n}) / {n}" for sign, n in (("+", 4), ("-", 100), ("+", 400))
    )
    starts = " ".join(f"WHEN {m} THEN {days}" for m, days in enumerate(_MONTH_STARTS, 1))
    leap = f"({year} % 4 = 0 AND ({year} % 100 <> 0 OR {year} % 400 = 0))"
    longest = (
        f"CASE WHEN {month} IN (4, 6, 9, 11) THEN 30 WHEN {month} <> 2 THEN 31 "
        f"WHEN {leap} THEN 29 ELSE 28 END"
    )
    exists = (
        f"{year} >= 1 AND {month} BETWEEN 1 AND 12 AND {day} BETWEEN 1 AND {longest} "
        f"AND d{at}_hour <= 23 AND d{at}_minute <= 59 AND d{at}_second < 60"
    )
    yield (
        f"CASE WHEN {exists} THEN 365 * ({year} - 1970) {leaps} - 477 "
        f"+ CASE {month} {starts} END + {day} - 1 "
        f"+ CASE WHEN {month} > 2 AND {leap} THEN 1 ELSE 0 END END AS d{at}_days"
    )


# --- contributions ---


def _curve(plan: Plan, step: CurveStep, at: int, k: int) -> str:
    missing = added(plan, step.missing, k)
    if not step.breaks:
        return f"CASE WHEN c{at} IS NULL THEN {missing} ELSE 0.0 END"
    pieces = " ".join(
        f"WHEN {i} THEN {_weighted(plan, left, k, f'1.0 - t{at}')} "
        f"+ {_weighted(plan, right, k, f't{at}')}"
        for i, (left, right) in enumerate(pairwise(step.indices))
    )
    return f"CASE WHEN c{at} IS NULL THEN {missing} ELSE CASE i{at} {pieces} END END"


def _terms(plan: Plan, tables: Mapping[int, LevelTable], k: int) -> list[str]:
    """Return the contribution of each column to score k; NULL if its value is invalid."""
    (first, *_) = plan.steps
    if isinstance(first, NumbersStep):
        return [_weighted(plan, index, k, text) for index, text in _products(first)]
    return [
        _joined(plan, step, tables[at], k) if at in tables else _term(plan, step, at, k)
        for at, step in enumerate(plan.steps)
    ]


def _products(step: NumbersStep) -> Iterator[tuple[int, str]]:
    products = step.products or tuple((at,) for at in range(len(step.names)))
    for index, factors in enumerate(products):
        yield index, " * ".join(f"c{at}" for at in factors) or "1.0"


def _term(plan: Plan, step: Step, at: int, k: int) -> str:
    c = f"c{at}"
    if isinstance(step, NumberStep):
        value = "0.0"
        if step.value is not None:
            scaled = f"({c} - {number(step.mean)}) / {number(step.scale)}"
            value = _weighted(plan, step.value, k, scaled)
        return f"CASE WHEN {c} IS NULL THEN {added(plan, step.missing, k)} ELSE {value} END"
    if isinstance(step, CurveStep):
        return _curve(plan, step, at, k)
    if isinstance(step, BooleanStep):
        return (
            f"CASE WHEN {c} IS NULL THEN {added(plan, step.missing, k)} "
            f"WHEN {is_true(c)} THEN {added(plan, step.true, k)} "
            f"WHEN {is_false(c)} THEN 0.0 END"
        )
    if isinstance(step, CategoryStep):
        return _category(plan, step, c, k)
    assert isinstance(step, DateStep)
    return _date(plan, step, at, k)


def _category(plan: Plan, step: CategoryStep, c: str, k: int) -> str:
    missing, unseen = _otherwise(plan, step, k)
    levels = " ".join(
        f"WHEN {literal(level)} THEN {added(plan, index, k)}" for level, index in step.levels
    )
    known = f"CASE {c} {levels} ELSE {unseen} END" if levels else unseen
    return f"CASE WHEN {c} IS NULL THEN {missing} ELSE {known} END"


def _joined(plan: Plan, step: Step, table: LevelTable, k: int) -> str:
    assert isinstance(step, CategoryStep)
    missing, unseen = _otherwise(plan, step, k)
    return (
        f"CASE WHEN {table.column} IS NULL THEN {missing} "
        f"WHEN {table.alias}.level IS NULL THEN {unseen} ELSE {table.alias}.w{k} END"
    )


def _otherwise(plan: Plan, step: CategoryStep, k: int) -> tuple[str, str]:
    """Return the contributions of a missing value and of an unknown level."""
    missing = "NULL" if step.refuses_missing else added(plan, step.missing, k)
    return missing, "NULL" if step.refuses else added(plan, step.unseen, k)


def _date(plan: Plan, step: DateStep, at: int, k: int) -> str:
    days = f"d{at}_days"
    clock = f"(d{at}_hour * 3600 + d{at}_minute * 60 + d{at}_second) / 86400.0"
    numbers = (f"({days} + {clock})", f"d{at}_year", f"d{at}_day")
    parts = [
        _weighted(plan, each[2], k, f"({part} - {number(each[0])}) / {number(each[1])}")
        for each, part in zip(step.numbers, numbers, strict=True)
        if each is not None
    ]
    cycles = (f"d{at}_month - 1", f"(({days} + 3) % 7 + 7) % 7", f"d{at}_hour")
    for pairs, part in zip(step.cycles, cycles, strict=True):
        if pairs:
            levels = " ".join(f"WHEN {v} THEN {added(plan, index, k)}" for v, index in pairs)
            parts.append(f"CASE {part} {levels} ELSE 0.0 END")
    whole = " + ".join(parts) or "0.0"
    return (
        f"CASE WHEN c{at} IS NULL THEN {added(plan, step.missing, k)} "
        f"WHEN {days} IS NOT NULL THEN {whole} END"
    )


def _weighted(plan: Plan, index: int, k: int, value: str) -> str:
    weight = float(plan.weights[index, k])
    if plan.threshold is None:
        return f"{number(weight)} * ({value})" if " " in value else f"{number(weight)} * {value}"
    low, high = weight * -plan.zero, weight * (1 - plan.zero)
    above = (
        f"CASE WHEN {value} > {number(plan.threshold)} THEN {number(high)} ELSE {number(low)} END"
    )
    return f"CASE WHEN {value} IS NULL THEN NULL ELSE {above} END"


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
    most = sorted(many, key=lambda at: -many[at])[: _MOST_JOINS - len(plan.pairs)]
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
