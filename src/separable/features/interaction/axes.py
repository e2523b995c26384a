"""Choice of the features of two columns within a pair: knots and levels, within a number of cells.

The first pairs of a list get more cells than later ones, as they are the most important.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from separable.data.table import TableError
from separable.features.interaction.pair_column import PairColumn
from separable.features.row_assembly import rows_from_slots
from separable.features.table.category_column import CategoryColumn, CategoryState
from separable.features.table.curve_column import curve_of
from separable.features.table.number_column import BooleanColumn, NumberState

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from separable.data.ingest.dates import TypedColumn
    from separable.features.interaction.pair_column import Axis
    from separable.features.table.column_states import ColumnEncoder, ColumnState

__all__ = ["DEFAULT_OPTIONS", "PairOptions", "bins_of", "pair_columns", "suited_axes"]


@dataclass(frozen=True)
class PairOptions:
    """Sizes of pairs.

    Parameters
    ----------
    cells : tuple of int
        Largest number of features of the first pair, the second, ...; the last is that of all
        others.
    most_knots : int
        Most quantile knots of a number within a pair.
    levels : int
        Categories with up to this many levels keep them all, at the cost of the other column.
    least : int
        Fewest knots or levels that a column is limited to.
    """

    cells: tuple[int, ...] = (400, 196, 100, 100, 100, 49)
    most_knots: int = 40
    levels: int = 24
    least: int = 4


DEFAULT_OPTIONS = PairOptions()


def pair_columns(
    pairs: Sequence[tuple[str, str]],
    states: Mapping[str, ColumnState],
    columns: Mapping[str, ColumnEncoder],
    options: PairOptions = DEFAULT_OPTIONS,
) -> list[PairColumn]:
    """Return the encoders of pairs of columns.

    Parameters
    ----------
    pairs : sequence of (str, str)
        The most important first.
    states : mapping of str to ColumnState
        What was learned of each column.
    columns : mapping of str to ColumnEncoder
        Its encoder, for those that are used.
    options : PairOptions
    """
    made = []
    for rank, names in enumerate(pairs):
        cells = options.cells[min(rank, len(options.cells) - 1)]
        for name in names:
            _refuse_unsuited(name, names, columns.get(name), states[name])
        sizes = [_n_values(states[name], columns[name]) for name in names]
        side = max(math.isqrt(cells), options.least)
        limits = [side, side]
        for k in (0, 1):
            others = cells // max(sizes[k], 1)
            if sizes[k] < side:  # what it leaves goes to the other one
                limits[1 - k] = min(max(others, side), options.most_knots)
            elif columns[names[k]].kind == "category" and sizes[k] <= options.levels:
                limits[k], limits[1 - k] = sizes[k], max(others, options.least)
        first, second = (
            _axis_of(states[name], columns[name], limit)
            for name, limit in zip(names, limits, strict=True)
        )
        made.append(PairColumn(first, second))
    return made


def _axis_of(state: ColumnState, column: ColumnEncoder, limit: int) -> Axis:
    """Return a column with at most about ``limit`` knots or levels.

    Parameters
    ----------
    state : ColumnState
        With the counts of its values.
    column : ColumnEncoder
        Its encoder.
    limit : int
    """
    if isinstance(column, BooleanColumn):
        return column
    if isinstance(column, CategoryColumn):
        assert isinstance(state.state, CategoryState)
        return _few_levels(column, state.state.counts, limit)
    assert isinstance(state.state, NumberState)
    assert state.state.values is not None
    curve = curve_of(state.name, state.state.values, n_knots=limit, least_values=2)
    assert curve is not None  # its values vary
    return replace(curve, conversion=state.conversion)


def suited_axes(
    states: Mapping[str, ColumnState], columns: Mapping[str, ColumnEncoder], limit: int
) -> list[Axis]:
    """Return each column that can be part of a pair, with at most about ``limit`` knots or levels.

    Parameters
    ----------
    states : mapping of str to ColumnState
    columns : mapping of str to ColumnEncoder
    limit : int
    """
    return [
        _axis_of(states[name], column, limit)
        for name, column in columns.items()
        if _problem_of(column, states[name]) is None
    ]


def bins_of(axis: Axis, column: TypedColumn, n_rows: int) -> NDArray[np.int64]:
    """Return the largest feature of each row; a row without one has the last bin."""
    rows = rows_from_slots(axis.encode(column)[0], n_rows, dense=False)
    values, indices, indptr = rows.arrays()
    assert indices is not None
    assert indptr is not None
    out = np.full(n_rows, axis.width, dtype=np.int64)
    large = values >= 0.5
    out[np.repeat(np.arange(n_rows), np.diff(indptr))[large]] = indices[large]
    return np.unique(out, return_inverse=True)[1]


def _few_levels(column: CategoryColumn, counts: Mapping[str, int], limit: int) -> CategoryColumn:
    """Return a category with its most frequent levels; the others share an indicator."""
    if len(column.levels) + bool(column.rare) <= limit:
        return column
    ranked = sorted(column.levels, key=lambda level: (-counts.get(level, 0), level))
    kept, pooled = ranked[: limit - 1], [*ranked[limit - 1 :], *column.rare]
    return replace(column, levels=tuple(sorted(kept)), rare=tuple(sorted(pooled)))


def _n_values(state: ColumnState, column: ColumnEncoder) -> int:
    if isinstance(state.state, NumberState) and state.state.values is not None:
        return len(state.state.values.values)
    return column.width


def _refuse_unsuited(
    name: str, names: tuple[str, str], column: ColumnEncoder | None, state: ColumnState
) -> None:
    """Raise if a column cannot be part of a pair."""
    problem = _problem_of(column, state)
    if problem is not None:
        raise TableError(
            f"The interaction of {names[0]!r} and {names[1]!r}: column {name!r} {problem}. Leave "
            "the pair out."
        )


def _problem_of(column: ColumnEncoder | None, state: ColumnState) -> str | None:
    """Return why a column cannot be part of a pair; None: it can."""
    if column is None:
        return "is not used, see dropped_"
    if isinstance(column, BooleanColumn):
        return None if column.varies else "does not vary"
    if isinstance(column, CategoryColumn):
        return None if isinstance(state.state, CategoryState) else "has no counts of its levels"
    if not isinstance(state.state, NumberState):
        return f"is a {column.kind}, and interactions are of numbers, categories and booleans"
    counts = state.state.values
    if counts is None:
        return "has no counts of its values, which need curves=True"
    with np.errstate(over="ignore"):
        if len(counts.values) < 2 or not np.isfinite(counts.values[-1] - counts.values[0]):
            return "does not vary, or beyond what float64 holds"
    return None
