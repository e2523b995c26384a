"""Interactions as SQL: a table of cells for each pair of columns, joined on the states of both.

In the stages each side of a pair has a key such as ``p0_1``: s... is its state, t... the fraction
of a curve, as `pair_cells` counts them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from separable.export.languages.sql.sql_curves import Curve
from separable.export.languages.sql.sql_text import is_true, literal
from separable.export.plan.pair_cells import pair_cells
from separable.export.plan.plan import CategoryStep, CurveStep

if TYPE_CHECKING:
    from collections.abc import Iterator

    from separable.export.plan.plan import PairStep, Plan, Step

__all__ = ["pair_curves", "pair_joins", "pair_stage", "pair_tables", "pair_terms"]

#: The columns of a table of cells: constant, factors of both fractions and of their product.
_PARTS = ("one", "first", "second", "both")


def _sides(plan: Plan) -> Iterator[tuple[str, int, Step]]:
    """Yield key, column and step of both sides of each pair."""
    for p, pair in enumerate(plan.pairs):
        for side, (at, step) in enumerate(zip(pair.columns, pair.axes, strict=True)):
            yield f"p{p}_{side}", at, step


def pair_curves(plan: Plan) -> list[Curve]:
    """Return the curves within pairs, which have fewer pieces than their columns have alone."""
    return [
        Curve(key, f"c{at}", step)
        for key, at, step in _sides(plan)
        if isinstance(step, CurveStep) and step.breaks
    ]


def pair_stage(plan: Plan) -> list[str]:
    """Return the state of each side."""
    return [f"{_state(key, f'c{at}', step)} AS s{key}" for key, at, step in _sides(plan)]


def _state(key: str, c: str, step: Step) -> str:
    if isinstance(step, CurveStep):
        pieces = max(len(step.breaks) - 1, 0)
        known = f"i{key}" if pieces else "0"
        return f"CASE WHEN {c} IS NULL THEN {pieces} ELSE {known} END"
    if isinstance(step, CategoryStep):
        n = len(step.levels)
        levels = " ".join(
            f"WHEN {literal(level)} THEN {i}" for i, (level, _) in enumerate(step.levels)
        )
        known = f"CASE {c} {levels} ELSE {n} END" if levels else f"{n}"
        return f"CASE WHEN {c} IS NULL THEN {n + 1} ELSE {known} END"
    return f"CASE WHEN {c} IS NULL THEN 2 WHEN {is_true(c)} THEN 1 ELSE 0 END"


def _name(p: int, prefix: str) -> str:
    return f"{prefix}_pair_{p}"


def _fractions(pair: PairStep, p: int) -> list[str]:
    """Return what each column of a table of cells is multiplied with; empty: it is left out."""
    t, u = (
        f"COALESCE(tp{p}_{side}, 0.0)" if isinstance(step, CurveStep) and step.breaks else ""
        for side, step in enumerate(pair.axes)
    )
    return ["1.0", t, u, f"{t} * {u}" if t and u else ""]


def pair_tables(plan: Plan, prefix: str) -> list[tuple[str, str]]:
    """Return head and rows of the table of each pair."""
    tables = []
    for p, pair in enumerate(plan.pairs):
        cells = pair_cells(plan, pair)
        kept = [part for part, factor in enumerate(_fractions(pair, p)) if factor]
        names = [f"{_PARTS[part]}{k}" for k in range(plan.n_scores) for part in kept]
        flat = cells[:, :, kept].swapaxes(2, 3).reshape(cells.shape[0] * cells.shape[1], -1)
        rows = ",\n    ".join(
            f"({', '.join([str(cell), *map(_double, values)])})"
            for cell, values in enumerate(flat.tolist())
        )
        tables.append((f"{_name(p, prefix)} (cell, {', '.join(names)})", f"VALUES\n    {rows}"))
    return tables


def _double(value: float) -> str:
    """Return a number with an exponent: DuckDB reads others as decimals, which overflow."""
    text = repr(value)
    return f"({text if 'e' in text else text + 'e0'})"


def pair_joins(plan: Plan, prefix: str) -> str:
    """Return the JOIN clauses of all pairs."""
    joins = ""
    for p, pair in enumerate(plan.pairs):
        width = pair_cells(plan, pair).shape[1]
        key = f"(sp{p}_0 * {width} + sp{p}_1)"
        joins += f"\n  LEFT JOIN {_name(p, prefix)} AS q{p} ON q{p}.cell = {key}"
    return joins


def pair_terms(plan: Plan, k: int) -> list[str]:
    """Return the contribution of each pair to score k."""
    return [
        "("
        + " + ".join(
            f"q{p}.{name}{k}" if name == "one" else f"q{p}.{name}{k} * {factor}"
            for name, factor in zip(_PARTS, _fractions(pair, p), strict=True)
            if factor
        )
        + ")"
        for p, pair in enumerate(plan.pairs)
    ]
