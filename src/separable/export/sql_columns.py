"""The columns of a plan in SQL: what is read of each, and what it adds to a score."""

from __future__ import annotations

from typing import TYPE_CHECKING

from separable.export.plan import (
    BooleanStep,
    CategoryStep,
    DateStep,
    NumbersStep,
    NumberStep,
)
from separable.export.sql_words import identifier, literal, number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from separable.export.plan import Plan, Step

__all__ = ["date_stages", "read_columns", "terms_of"]

_FLOAT = "DOUBLE PRECISION"
_MONTH_STARTS = (0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334)


def read_columns(plan: Plan) -> list[str]:
    """Return what is selected of the table: each raw column as c0, c1, ..."""
    (first, *_) = plan.steps
    if isinstance(first, NumbersStep):
        kinds = ["number"] * len(first.names)
    else:
        kinds = [_stored_as(step) for step in plan.steps]
    return [
        f"CAST(t.{identifier(name)} AS {_FLOAT if kind == 'number' else 'VARCHAR'}) AS c{at}"
        for at, (name, kind) in enumerate(zip(plan.columns, kinds, strict=True))
    ]


def _stored_as(step: Step) -> str:
    if isinstance(step, CategoryStep) and step.typed and step.levels:
        return "text" if isinstance(step.levels[0][0], str) else "number"
    return "number" if isinstance(step, NumberStep) else "text"


# --- dates ---


def date_stages(plan: Plan) -> list[list[str]]:
    """Return what is computed of dates, stage by stage: each needs the one before."""
    dates = [at for at, step in enumerate(plan.steps) if isinstance(step, DateStep)]
    if not dates:
        return []
    stages = (_checked, _split, _counted)
    return [[text for at in dates for text in stage(at)] for stage in stages]


def _checked(at: int) -> Iterator[str]:
    """Keep what looks like a date without an offset; d..._bad tells of others."""
    c = f"c{at}"
    shape = (
        f"({c} LIKE '____-__-__' OR {c} LIKE '____-__-__ __:__' OR {c} LIKE '____-__-__T__:__' "
        f"OR {c} LIKE '____-__-__ __:__:__%' OR {c} LIKE '____-__-__T__:__:__%')"
    )
    offset = f"({c} LIKE '%Z' OR {c} LIKE '%+%' OR SUBSTR({c}, 11) LIKE '%-%')"
    yield f"CASE WHEN {c} IS NULL OR ({shape} AND NOT {offset}) THEN 0 ELSE 1 END AS d{at}_bad"


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
    """Count the days since 1970-01-01."""
    year, month = f"d{at}_year", f"d{at}_month"
    past = f"({year} - 1)"
    leaps = " ".join(
        f"{sign} ({past} - {past} % {n}) / {n}" for sign, n in (("+", 4), ("-", 100), ("+", 400))
    )
    starts = " ".join(f"WHEN {m} THEN {days}" for m, days in enumerate(_MONTH_STARTS, 1))
    leap = f"({year} % 4 = 0 AND ({year} % 100 <> 0 OR {year} % 400 = 0))"
    yield (
        f"365 * ({year} - 1970) {leaps} - 477 + CASE {month} {starts} END + d{at}_day - 1 "
        f"+ CASE WHEN {month} > 2 AND {leap} THEN 1 ELSE 0 END AS d{at}_days"
    )


# --- what a column adds ---


def terms_of(plan: Plan, k: int) -> list[str]:
    """Return what each column adds to score k; NULL where its value cannot be used."""
    (first, *_) = plan.steps
    if isinstance(first, NumbersStep):
        return [_weighted(plan, place, k, text) for place, text in _products(first)]
    return [_term(plan, step, at, k) for at, step in enumerate(plan.steps)]


def _products(step: NumbersStep) -> Iterator[tuple[int, str]]:
    products = step.products or tuple((at,) for at in range(len(step.names)))
    for place, factors in enumerate(products):
        yield place, " * ".join(f"c{at}" for at in factors) or "1.0"


def _term(plan: Plan, step: Step, at: int, k: int) -> str:
    c = f"c{at}"
    if isinstance(step, NumberStep):
        value = "0.0"
        if step.value is not None:
            scaled = f"({c} - {number(step.mean)}) / {number(step.scale)}"
            value = _weighted(plan, step.value, k, scaled)
        return f"CASE WHEN {c} IS NULL THEN {_filled(plan, step.missing, k)} ELSE {value} END"
    if isinstance(step, BooleanStep):
        word, true = f"LOWER(TRIM({c}))", _filled(plan, step.true, k)
        return (
            f"CASE WHEN {c} IS NULL THEN {_filled(plan, step.missing, k)} "
            f"WHEN {word} IN ('true', 'yes', 't', 'y', '1', '1.0') THEN {true} "
            f"WHEN {word} IN ('false', 'no', 'f', 'n', '0', '0.0') THEN 0.0 END"
        )
    if isinstance(step, CategoryStep):
        return _category(plan, step, c, k)
    assert isinstance(step, DateStep)
    return _date(plan, step, at, k)


def _category(plan: Plan, step: CategoryStep, c: str, k: int) -> str:
    missing = "NULL" if step.refuses_missing else _filled(plan, step.missing, k)
    unseen = "NULL" if step.refuses else _filled(plan, step.unseen, k)
    levels = " ".join(
        f"WHEN {literal(level)} THEN {_filled(plan, place, k)}" for level, place in step.levels
    )
    known = f"CASE {c} {levels} ELSE {unseen} END" if levels else unseen
    return f"CASE WHEN {c} IS NULL THEN {missing} ELSE {known} END"


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
            levels = " ".join(f"WHEN {v} THEN {_filled(plan, place, k)}" for v, place in pairs)
            parts.append(f"CASE {part} {levels} ELSE 0.0 END")
    whole = " + ".join(parts) or "0.0"
    return (
        f"CASE WHEN c{at} IS NULL THEN {_filled(plan, step.missing, k)} "
        f"WHEN d{at}_bad = 0 THEN {whole} END"
    )


def _filled(plan: Plan, place: int | None, k: int) -> str:
    """Return what a 1 at a place adds, beside the 0 that `Plan.base` counts there."""
    if place is None or place < 0:
        return "0.0"
    return number(float(plan.weights[place, k]) * (plan.one - plan.zero))


def _weighted(plan: Plan, place: int, k: int, value: str) -> str:
    weight = float(plan.weights[place, k])
    if plan.threshold is None:
        return f"{number(weight)} * ({value})" if " " in value else f"{number(weight)} * {value}"
    low, high = weight * -plan.zero, weight * (1 - plan.zero)
    above = (
        f"CASE WHEN {value} > {number(plan.threshold)} THEN {number(high)} ELSE {number(low)} END"
    )
    return f"CASE WHEN {value} IS NULL THEN NULL ELSE {above} END"
