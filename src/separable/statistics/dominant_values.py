"""Columns in which up to three values dwarf all others, found without a pass over all rows.

The sum of squares of a column holds nothing of the values whose squares are below the rounding of
the largest square. Where that is true of all rows but a few, the column says something of these
few rows only, and a model that is solved from squares and products learns nothing from the others.
Usually the large value is an error, or stands for a value that is missing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from separable.data.rows import Rows

    Floats = NDArray[np.float64]

__all__ = ["SQUARES", "DominantValue", "DominantValueWarning", "dominant_values", "message"]

EPS = float(np.finfo(np.float64).eps)
#: Values below this fraction of the largest have squares below the rounding of its square.
SQUARES = EPS**0.5
#: Large values of a column: with more of them it is heavy-tailed, not broken.
FEW = 3
#: Rows that are looked at first.
SAMPLE = 64
#: Columns named in a warning.
NAMED = 3


class DominantValueWarning(UserWarning):
    """A few values of a column are so large that float64 does not see the others beside them."""


@dataclass(frozen=True)
class DominantValue:
    """The largest value of a column that it dominates.

    Parameters
    ----------
    column, row : int
        Where it stands.
    value : float
    count : int
        Values of its size in the column.
    """

    column: int
    row: int
    value: float
    count: int

    def text(self, name: Callable[[int], str]) -> str:
        """Return where the value is."""
        more = f" (and {self.count - 1} more of its size)" if self.count > 1 else ""
        return f"{name(self.column)} holds {self.value:.3g} in row {self.row}{more}"


def message(found: list[DominantValue], name: Callable[[int], str]) -> str:
    """Return the warning of columns that a few values dominate."""
    rest = f"; and {len(found) - NAMED} more columns" if len(found) > NAMED else ""
    return (
        f"{'; '.join(one.text(name) for one in found[:NAMED])}{rest}: so large that float64 does "
        "not see the other values of the column beside it, and nothing is learned from them. Check "
        "the value: correct it, mark it as missing, or leave out the row."
    )


def dominant_values(
    rows: Rows,
    limit: float,
    length: Floats | None = None,
    mean: Floats | None = None,
    weight: float | None = None,
) -> list[DominantValue]:
    """Return the columns that up to three values dominate.

    Parameters
    ----------
    rows : Rows
        Of finite values.
    limit : float
        All other values differ from the middle of the column by less than this fraction of the
        largest, and not all by 0.
    length, mean : ndarray, shape (d,), optional
        The root of the sum of squares about the mean, and the mean, by which most columns need no
        closer look. None: all are looked at.
    weight : float, optional
        The number of rows. None: rows have weights, and the mean says nothing.
    """
    if rows.n_rows < 3:
        return []
    if rows.is_sparse:
        return _of_sparse(rows, limit, length, mean, weight)
    values = rows.values
    step = max(1, rows.n_rows // SAMPLE)
    with np.errstate(over="ignore", invalid="ignore"):
        if length is None:
            columns, middle = np.arange(rows.n_features), np.median(values, axis=0)
        else:
            sample = np.asarray(values[::step], np.float64)
            middle = np.median(sample, axis=0)
            nearest = np.sort(np.abs(sample - middle), axis=0)[: max(1, len(sample) - FEW)]
            columns = _candidates(nearest[-1] <= 4 * limit * length, middle, length, mean, weight)
        if not len(columns):
            return []
        away = np.abs(values[:, columns] - middle[columns])
        top = away.max(axis=0)
        large = away > limit * top
        count = large.sum(axis=0)
        varied = ((away > 0) & ~large).any(axis=0)
    bad = np.flatnonzero((count <= FEW) & varied & (top > 0))
    return [
        DominantValue(
            int(columns[j]),
            int(away[:, j].argmax()),
            float(values[away[:, j].argmax(), columns[j]]),
            int(count[j]),
        )
        for j in bad
    ]


def _candidates(
    close: NDArray[np.bool_],
    middle: Any,
    length: Floats,
    mean: Floats | None,
    weight: float | None,
) -> NDArray[np.intp]:
    """Return the columns that may be dominated: their mean is that of a few large values."""
    if mean is not None and weight is not None:
        with np.errstate(over="ignore"):
            close = close & (np.abs(mean - middle) * (weight / 2.0) <= length)
    return np.flatnonzero(close & (length > 0))


def _of_sparse(
    rows: Rows,
    limit: float,
    length: Floats | None,
    mean: Floats | None,
    weight: float | None,
) -> list[DominantValue]:
    """Look at sparse rows, whose middle is 0."""
    assert rows.indices is not None
    assert rows.indptr is not None
    chosen = np.ones(rows.n_features, np.bool_)
    if length is not None:
        columns = _candidates(chosen, 0.0, length, mean, weight)
        chosen[:] = False
        chosen[columns] = True
    place = np.flatnonzero(chosen[rows.indices]) if chosen.any() else np.zeros(0, np.intp)
    place = place[rows.values[place] != 0]
    if not len(place):
        return []
    place = place[np.argsort(rows.indices[place], kind="stable")]
    column, away = rows.indices[place], np.abs(rows.values[place])
    start = np.flatnonzero(np.r_[True, column[1:] != column[:-1]])
    top = np.maximum.reduceat(away, start)
    run = np.repeat(np.arange(len(start)), np.diff(np.r_[start, len(place)]))
    large = away > limit * top[run]
    count, stored = np.bincount(run[large], minlength=len(start)), np.bincount(run)
    found = []
    for j in np.flatnonzero((count <= FEW) & (stored > count)):
        at = start[j] + int(away[start[j] : start[j] + stored[j]].argmax())
        row = int(np.searchsorted(rows.indptr, place[at], side="right")) - 1
        found.append(
            DominantValue(int(column[at]), row, float(rows.values[place[at]]), int(count[j]))
        )
    return found
