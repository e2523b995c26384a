"""Conversions of text columns in SQL, with functions that all three databases have.

`read_columns` selects a converted column as x0, x1, ...; the stages here make c0, c1, ... of it,
and for numbers b0, b1, ...: 1 where a text cannot be read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from separable.data.ingest.conversions.conversion import (
    SAME,
    DateConversion,
    DurationConversion,
    NumberConversion,
)
from separable.export.languages.sql.sql_text import is_number, literal
from separable.export.plan.plan import ExportError

if TYPE_CHECKING:
    from separable.data.ingest.conversions.conversion import Conversion
    from separable.export.plan.plan import Plan

__all__ = ["conversion_stages", "converted_numbers", "normalized_text", "refuse_conversions"]

#: Most groups of three digits in a number.
MOST_GROUPS = 6

_DIGITS = "'0123456789'"
_SEPARATORS = "('.', '/', '-')"
#: Stands for the unit; no text may have it.
_UNIT = "|"
#: Stands for the dash in place of cents; no text may have it.
_DASH = ";"


def refuse_conversions(plan: Plan) -> None:
    """Refuse conversions that need the names of months, AM and PM, words or magnitudes."""
    for name, conversion in zip(plan.columns, plan.conversions, strict=False):
        reason = None
        if getattr(conversion, "month_names", False):
            reason = "names of months"
        elif getattr(conversion, "twelve_hour", False):
            reason = "AM and PM"
        elif getattr(conversion, "words", False):
            reason = "durations in words"
        elif getattr(conversion, "magnitudes", False):
            reason = "magnitudes such as 1.2k"
        if reason is not None:
            raise ExportError(
                f"Column {name!r:.80} is converted from texts with {reason}, which a query cannot "
                "read in all databases. Convert the column before training, or export to Python, "
                "JavaScript or C."
            )


def normalized_text(column: str, conversion: Conversion) -> str:
    """Return the trimmed text of a column, NULL if it is a missing word."""
    text = f"CAST({column} AS VARCHAR)"
    for odd, same in SAME.items():
        text = f"REPLACE({text}, {literal(odd)}, {literal(same)})"
    text = f"TRIM({text}, ' ')"
    words = ", ".join(map(literal, conversion.missing))
    return f"CASE WHEN LOWER({text}) NOT IN ({words}) THEN {text} END"


def converted_numbers(plan: Plan) -> list[int]:
    """Return the converted columns that become numbers."""
    numbers = (NumberConversion, DurationConversion)
    return [at for at, each in enumerate(plan.conversions) if isinstance(each, numbers)]


def conversion_stages(plan: Plan) -> list[list[str]]:
    """Return the expressions of converted columns, stage by stage: each uses the one before."""
    stages: list[list[str]] = []
    for at, conversion in enumerate(plan.conversions):
        if isinstance(conversion, NumberConversion):
            made = _number(conversion, at)
        elif isinstance(conversion, DateConversion):
            made = _date(conversion, at)
        elif isinstance(conversion, DurationConversion):
            made = _clock(at)
        else:
            continue
        stages += [[] for _ in range(len(made) - len(stages))]
        for stage, more in zip(stages, made, strict=False):
            stage.extend(more)
    return stages


def _count(letter: str, text: str) -> str:
    return f"(LENGTH({text}) - LENGTH(REPLACE({text}, {literal(letter)}, '')))"


def _number(conversion: NumberConversion, at: int) -> list[list[str]]:
    x, z, core = f"x{at}", f"n{at}_z", f"n{at}_core"
    inner = f"CASE WHEN {x} LIKE '(%)' THEN TRIM(SUBSTR({x}, 2, LENGTH({x}) - 2)) ELSE {x} END"
    for dashes in ("--", "-"):  # 12.- has no cents
        mark = conversion.decimal
        inner = f"REPLACE({inner}, {literal(mark + dashes)}, {literal(mark + _DASH)})"
    for unit in sorted(conversion.units, key=len, reverse=True):
        inner = f"REPLACE({inner}, {literal(unit)}, '{_UNIT}')"
    paren = f"CASE WHEN {x} LIKE '(%)' THEN 1 ELSE 0 END"
    signs = (
        f"{paren} + {_count('+', z)} + {_count('-', z)} - {_count('+', core)} - {_count('-', core)}"
    )
    units = _count(_UNIT, z)
    joined = f"REPLACE({z}, ' ', '')"
    wanted = [
        f"{x} NOT LIKE '%{_UNIT}%'",
        f"{x} NOT LIKE '%{_DASH}%'",
        f"{core} NOT LIKE '%{_UNIT}%'",
        f"{signs} <= 1",
        f"{units} {'=' if '%' in conversion.units else '<='} 1",
        f"{joined} NOT LIKE '_%-{_UNIT}'",
        f"{joined} NOT LIKE '_%+{_UNIT}'",
        f"{x} NOT LIKE '%()%'",
    ]
    if conversion.decimal == "," and conversion.group != ".":
        wanted.append(f"{core} NOT LIKE '%.%'")
    if conversion.decimal == ",":
        wanted.append(f"{_count(',', core)} <= 1")
    if conversion.group:
        wanted.append(_grouped(core, conversion))
    plain = core
    if conversion.group:
        plain = f"REPLACE({plain}, {literal(conversion.group)}, '')"
    if conversion.decimal == ",":
        plain = f"REPLACE({plain}, ',', '.')"
    minus = f"{paren} = 1 OR {_count('-', z)} > {_count('-', core)}"
    good = f"n{at}_good = 1 AND {is_number(f'n{at}_plain')}"
    value = f"CAST(n{at}_plain AS DOUBLE PRECISION)"
    return [
        [f"{inner} AS {z}"],
        [f"TRIM({z}, '+-{_DASH}{_UNIT} ') AS {core}"],
        [
            f"{plain} AS n{at}_plain",
            f"CASE WHEN {' AND '.join(wanted)} THEN 1 ELSE 0 END AS n{at}_good",
            f"CASE WHEN {minus} THEN -1.0 ELSE 1.0 END AS n{at}_sign",
        ],
        [
            f"CASE WHEN {good} THEN n{at}_sign * {value} END AS c{at}",
            f"CASE WHEN {x} IS NULL OR ({good}) THEN 0 ELSE 1 END AS b{at}",
        ],
    ]


def _grouped(core: str, conversion: NumberConversion) -> str:
    """Return a test of the groups of three digits."""
    g = conversion.group
    shapes = []
    for k in range(1, MOST_GROUPS + 1):
        for lead in (1, 2, 3):
            shape = "_" * lead + (g + "___") * k
            like = " OR ".join(
                f"{core} LIKE {literal(text)}" for text in (shape, f"{shape}{conversion.decimal}%")
            )
            shapes.append(f"({_count(g, core)} = {k} AND ({like}))")
    if g == ",":
        shapes += _indian_shapes(core, conversion.decimal)
    none = f"{core} NOT LIKE {literal(f'%{g}%')}"
    return f"({none} OR ({core} NOT LIKE '0%' AND ({' OR '.join(shapes)})))"


def _indian_shapes(core: str, decimal: str) -> list[str]:
    """Return tests of groups as in India, 1,20,000: two digits each, then three."""
    return [
        f"({_count(',', core)} = {k + 1} AND ({core} LIKE '{shape}' "
        f"OR {core} LIKE '{shape}{decimal}%'))"
        for k in range(1, MOST_GROUPS)
        for shape in ("_,", "__,")
        for shape in (f"{shape}{'__,' * k}___",)
    ]


def _date(conversion: DateConversion, at: int) -> list[list[str]]:
    x, y, w = f"x{at}", f"m{at}_y", f"m{at}_w"

    def like(text: str, pattern: str) -> str:
        options = (pattern.replace("S", sep) for sep in (".", "/", "-"))
        return "(" + " OR ".join(f"{text} LIKE '{each}'" for each in options) + ")"

    year_first = like(w, "____S__S%")
    rest_first, rest_last = f"SUBSTR({w}, 11)", f"m{at}_rest"
    padded_day = (
        f"CASE WHEN {like(w, '____S__S_')} OR SUBSTR({w}, 10, 1) IN (' ', 'T', ',') "
        f"THEN SUBSTR({w}, 1, 8) || '0' || SUBSTR({w}, 9) ELSE {w} END"
    )
    short = f"SUBSTR({w}, 9, 1) IN ('', ' ', 'T', ',')"
    century = f"CASE WHEN SUBSTR({w}, 7, 2) < '69' THEN '20' ELSE '19' END"
    year = f"CASE WHEN {short} THEN {century} || SUBSTR({w}, 7, 2) ELSE SUBSTR({w}, 7, 4) END"
    month_at, day_at = (4, 1) if conversion.order == "dmy" else (1, 4)
    last = (
        f"WHEN SUBSTR({w}, 3, 1) = SUBSTR({w}, 6, 1) AND SUBSTR({w}, 3, 1) IN {_SEPARATORS} "
        f"AND LENGTH({w}) >= 8 THEN {year} || '-' || SUBSTR({w}, {month_at}, 2) || '-' || "
        f"SUBSTR({w}, {day_at}, 2) "
    )
    if conversion.order == "ymd":
        last = ""
    first = f"SUBSTR({w}, 1, 4) || '-' || SUBSTR({w}, 6, 2) || '-' || SUBSTR({w}, 9, 2)"
    day = f"CASE WHEN {year_first} THEN {first} {last}END"
    rest = (
        f"CASE WHEN {year_first} THEN {rest_first} WHEN {short} THEN SUBSTR({w}, 9) "
        f"ELSE SUBSTR({w}, 11) END"
    )
    time = f"CASE WHEN {rest_last} LIKE ', %' THEN SUBSTR({rest_last}, 2) ELSE {rest_last} END"
    clock = f"m{at}_time"
    padded = (
        f"CASE WHEN SUBSTR({clock}, 3, 1) = ':' THEN ' 0' || SUBSTR({clock}, 2) ELSE {clock} END"
    )
    return [
        [f"CASE WHEN {like(x, '_S%')} THEN '0' || {x} ELSE {x} END AS {y}"],
        [
            f"CASE WHEN {like(y, '__S_S%')} THEN SUBSTR({y}, 1, 3) || '0' || SUBSTR({y}, 4) "
            f"WHEN {like(y, '____S_S%')} THEN SUBSTR({y}, 1, 5) || '0' || SUBSTR({y}, 6) "
            f"ELSE {y} END AS m{at}_v"
        ],
        [
            f"CASE WHEN {like(f'm{at}_v', '____S__S%')} THEN {padded_day.replace(w, f'm{at}_v')} "
            f"ELSE m{at}_v END AS {w}"
        ],
        [f"{day} AS m{at}_day", f"{rest} AS {rest_last}"],
        [f"{time} AS {clock}"],
        [
            f"CASE WHEN {x} IS NOT NULL THEN COALESCE(m{at}_day || {padded}, '!') END AS c{at}",
        ],
    ]


def _clock(at: int) -> list[list[str]]:
    x, n, pos = f"x{at}", f"h{at}_n", f"h{at}_at"
    places = " ".join(f"WHEN {n} LIKE '{'_' * k}:%' THEN {k}" for k in range(1, 6))
    h, m, s = f"h{at}_h", f"h{at}_m", f"h{at}_s"
    fraction = f"(SUBSTR({s}, 4, 1) = '.' AND LENGTH({s}) BETWEEN 5 AND 13)"
    seconds = (
        f"({s} = '' OR ({s} LIKE ':__%' AND (LENGTH({s}) = 3 OR {fraction}) AND "
        f"TRIM(SUBSTR({s}, 2, 2) || SUBSTR({s}, 5), {_DIGITS}) = '' AND SUBSTR({s}, 2, 2) < '60'))"
    )
    good = (
        f"{h} <> '' AND TRIM({h}, {_DIGITS}) = '' AND LENGTH({m}) = 2 "
        f"AND TRIM({m}, {_DIGITS}) = '' AND {m} < '60' AND {seconds}"
    )
    whole = (
        f"CAST({h} AS DOUBLE PRECISION) * 3600.0 + CAST({m} AS DOUBLE PRECISION) * 60.0 + "
        f"CASE WHEN {s} = '' THEN 0.0 ELSE CAST(SUBSTR({s}, 2) AS DOUBLE PRECISION) END"
    )
    sign = f"CASE WHEN {x} LIKE '-%' THEN -1.0 ELSE 1.0 END"
    return [
        [f"CASE WHEN {x} LIKE '-%' OR {x} LIKE '+%' THEN SUBSTR({x}, 2) ELSE {x} END AS {n}"],
        [f"CASE {places} ELSE 0 END AS {pos}"],
        [
            f"SUBSTR({n}, 1, {pos}) AS {h}",
            f"SUBSTR({n}, {pos} + 2, 2) AS {m}",
            f"SUBSTR({n}, {pos} + 4) AS {s}",
        ],
        [
            f"CASE WHEN {good} THEN {sign} * ({whole}) / 3600.0 END AS c{at}",
            f"CASE WHEN {x} IS NULL OR ({good}) THEN 0 ELSE 1 END AS b{at}",
        ],
    ]
