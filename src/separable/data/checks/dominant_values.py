"""Dominant values: outliers so large that float64 loses the other values of the column.

The sum of squares of a column loses every value whose square is below the rounding error of the
largest square. If that holds for all but a few rows, the column carries information about those
rows only, and a model learns little from the others, whether from cross products or after
standardization. Usually the large value is an error or stands for a missing value.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable


__all__ = [
    "MAX_DOMINANT",
    "SQUARES",
    "DominantValue",
    "DominantValueWarning",
    "dominant_in",
    "message",
]

EPS = float(np.finfo(np.float64).eps)
#: Values below this fraction of the largest have squares below the rounding error of its square.
SQUARES = EPS**0.5
#: Maximum number of dominant values: with more the column is heavy-tailed.
MAX_DOMINANT = 3
#: Columns named in a warning.
NAMED = 3

UNSEEN = (
    "so large that in float64 the other values of the column are lost beside it, and nothing is "
    "learned from them"
)


class DominantValueWarning(UserWarning):
    """A few values of a column are so large that float64 loses the others."""


@dataclass(frozen=True)
class DominantValue:
    """The largest value of a column that it dominates.

    Parameters
    ----------
    column, row : int
        Position of the value.
    value : float
    count : int
        Number of values of its size in the column.
    rest : float, default 0.0
        Largest distance of the other values from the center of the column.
    """

    column: int
    row: int
    value: float
    count: int
    rest: float = 0.0

    def text(self, name: Callable[[int], str]) -> str:
        """Return the position of the value as text."""
        more = f" (and {self.count - 1} more of its size)" if self.count > 1 else ""
        return f"{name(self.column)} holds {self.value:.3g} in row {self.row}{more}"


def message(dominant: list[DominantValue], name: Callable[[int], str], effect: str = UNSEEN) -> str:
    """Return the warning about dominated columns.

    Parameters
    ----------
    dominant : list of DominantValue
    name : callable
        Maps a column index to its name.
    effect : str, default `UNSEEN`
        Consequence, for the message.
    """
    rest = f"; and {len(dominant) - NAMED} more columns" if len(dominant) > NAMED else ""
    return (
        f"{'; '.join(one.text(name) for one in dominant[:NAMED])}{rest}: {effect}. Check "
        "the value: correct it, mark it as missing, or leave out the row."
    )


def dominant_in(
    values: Any, middle: Any, limit: float = SQUARES, columns: Any = None
) -> list[DominantValue]:
    """Return the columns dominated by at most three of their values.

    Parameters
    ----------
    values : ndarray, shape (n, k)
        NaN: missing.
    middle : ndarray, shape (k,)
        Median of each column, or a value near it.
    limit : float, default `SQUARES`
        All other values differ from the center by less than this fraction of the largest
        difference, and not all by 0.
    columns : ndarray of int, shape (k,), optional
        Column indices; by default 0 ... k - 1.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        away = np.abs(values - middle)
        top = np.fmax.reduce(away, axis=0)
        large = away > limit * top
        count = large.sum(axis=0)
        varied = ((away > 0) & ~large).any(axis=0)
    dominant = []
    for j in np.flatnonzero((count <= MAX_DOMINANT) & varied & (top > 0) & (top < np.inf)).tolist():
        row = int(np.nanargmax(away[:, j]))
        rest = float(np.max(away[:, j], where=(away[:, j] >= 0) & ~large[:, j], initial=0.0))
        column = j if columns is None else int(columns[j])
        dominant.append(DominantValue(column, row, float(values[row, j]), int(count[j]), rest))
    return dominant
