"""Statistics of raw columns on the training rows: ranges, and moments of the contributions.

A score is the intercept plus one contribution per raw column, so the change of its mean on new rows
is the sum of the changes of the columns: that makes drift additive by column.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.arrow_arrays import floats
from separable.data.columns import Numbers

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from separable.data.columns import Columns
    from separable.data.rows import Rows
    from separable.model.linear_model import LinearModel
    from separable.typing import Floats

__all__ = [
    "ColumnStatistics",
    "check_statistics",
    "column_statistics",
    "contributions_by_column",
    "rows_outside",
]

#: Rows on which contributions are averaged: every k-th if there are more.
MOST_ROWS = 10_000
#: Maximum numbers that a model file keeps.
MOST_NUMBERS = 20_000


@dataclass(frozen=True)
class ColumnStatistics:
    """What the training rows say of one raw column.

    Parameters
    ----------
    name : str
    low, high : float or None
        Range of its numbers; None for columns of other types.
    mean, variance : tuple of float
        Of the contribution of the column to each score.
    """

    name: str
    low: float | None
    high: float | None
    mean: tuple[float, ...]
    variance: tuple[float, ...]

    def __post_init__(self) -> None:
        if (self.low is None) != (self.high is None) or (self.low or 0.0) > (self.high or 0.0):
            raise ValueError(f"the range of column {self.name!r:.80} is not one.")
        if len(self.mean) != len(self.variance):
            raise ValueError(f"column {self.name!r:.80} has means and variances of other scores.")


def check_statistics(statistics: tuple[ColumnStatistics, ...], n_scores: int) -> None:
    """Refuse statistics of another number of scores."""
    odd = next((each for each in statistics if len(each.mean) != n_scores), None)
    if odd is not None:
        raise ValueError(
            f"The statistics of column {odd.name!r:.80} are of {len(odd.mean)} scores, and the "
            f"model has {n_scores}."
        )


def column_statistics(
    model: LinearModel, table: pa.Table, rows: Rows
) -> tuple[ColumnStatistics, ...]:
    """Return the statistics of the raw columns of a model; () for models of indicators.

    Parameters
    ----------
    model : LinearModel
        With the encoder that made the rows.
    table : pyarrow.Table
        The training rows.
    rows : Rows
        The same, encoded.
    """
    sources = () if model.encoder is None else model.encoder.sources
    names = list(dict.fromkeys(sources))
    if model.threshold is not None or not 0 < len(names) * model.n_scores <= MOST_NUMBERS:
        return ()
    if rows.n_rows > MOST_ROWS:
        rows = rows.take(np.arange(0, rows.n_rows, -(-rows.n_rows // MOST_ROWS)))
    parts = contributions_by_column(model, rows)
    ranges = _ranges(table, names)
    return tuple(
        ColumnStatistics(
            name,
            low,
            high,
            tuple(parts[name].mean(axis=0).tolist()),
            tuple(parts[name].var(axis=0).tolist()),
        )
        for name, (low, high) in zip(names, ranges, strict=True)
    )


def rows_outside(statistics: ColumnStatistics, columns: Columns) -> NDArray[np.intp]:
    """Return the rows whose number lies outside the range of the training rows."""
    low, high = statistics.low, statistics.high
    if low is None or high is None or statistics.name not in columns:
        return np.empty(0, dtype=np.intp)
    column = columns[statistics.name]
    if not isinstance(column, Numbers):
        return np.empty(0, dtype=np.intp)
    return np.flatnonzero((column.values < low) | (column.values > high))


def contributions_by_column(model: LinearModel, rows: Rows) -> dict[str, Floats]:
    """Return the contributions of the raw columns, arrays of shape (n, number of scores)."""
    explanation = model.explain(rows)
    labels = [None] if model.n_scores == 1 else range(model.n_scores)
    if model.n_scores > 1 and model.classes is not None:
        labels = model.classes.tolist()
    by_score = [explanation.by_column(label) for label in labels]
    return {name: np.stack([each[name] for each in by_score], axis=1) for name in by_score[0]}


def _ranges(table: pa.Table, names: list[str]) -> list[tuple[float, float] | tuple[None, None]]:
    """Return the range of each column, of numeric columns only."""
    known = set(table.column_names)
    return [_range(table[name]) if name in known else (None, None) for name in names]


def _range(column: Any) -> tuple[float, float] | tuple[None, None]:
    from pyarrow import types

    if not (types.is_integer(column.type) or types.is_floating(column.type)):
        return None, None
    values = floats(column)
    values = values[np.isfinite(values)]
    return (float(values.min()), float(values.max())) if len(values) else (None, None)
