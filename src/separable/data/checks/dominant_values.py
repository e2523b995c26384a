"""Values beside which float64 does not see the others of their column.

The sum of squares of a column holds nothing of the values whose squares are below the rounding of
the largest square. Where that is true of all rows but a few, the column says something of these
few rows only, and a model learns little or nothing from the others: neither from squares and
products, nor from a column that was standardised. Usually the large value is an error, or stands
for a value that is missing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable


__all__ = ["FEW", "SQUARES", "DominantValue", "DominantValueWarning", "dominant_in", "message"]

EPS = float(np.finfo(np.float64).eps)
#: Values below this fraction of the largest have squares below the rounding of its square.
SQUARES = EPS**0.5
#: Large values of a column: with more of them it is heavy-tailed, not broken.
FEW = 3
#: Columns named in a warning.
NAMED = 3

UNSEEN = (
    "so large that float64 does not see the other values of the column beside it, and nothing is "
    "learned from them"
)


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
    rest : float, default 0.0
        How far the other values are from the middle of the column, at most.
    """

    column: int
    row: int
    value: float
    count: int
    rest: float = 0.0

    def text(self, name: Callable[[int], str]) -> str:
        """Return where the value is."""
        more = f" (and {self.count - 1} more of its size)" if self.count > 1 else ""
        return f"{name(self.column)} holds {self.value:.3g} in row {self.row}{more}"


def message(found: list[DominantValue], name: Callable[[int], str], effect: str = UNSEEN) -> str:
    """Return the warning of columns that a few values dominate.

    Parameters
    ----------
    found : list of DominantValue
    name : callable
        Returns the name of a column by its number.
    effect : str, default `UNSEEN`
        What comes of it.
    """
    rest = f"; and {len(found) - NAMED} more columns" if len(found) > NAMED else ""
    return (
        f"{'; '.join(one.text(name) for one in found[:NAMED])}{rest}: {effect}. Check "
        "the value: correct it, mark it as missing, or leave out the row."
    )


def dominant_in(
    values: Any, middle: Any, limit: float = SQUARES, columns: Any = None
) -> list[DominantValue]:
    """Return the columns of dense values that up to three of them dominate.

    Parameters
    ----------
    values : ndarray, shape (n, k)
        NaN: missing.
    middle : ndarray, shape (k,)
        The median of each column, or a value near it.
    limit : float, default `SQUARES`
        All other values differ from the middle by less than this fraction of the largest
        difference, and not all by 0.
    columns : ndarray of int, shape (k,), optional
        The numbers of the columns; by default 0 ... k - 1.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        away = np.abs(values - middle)
        top = np.fmax.reduce(away, axis=0)
        large = away > limit * top
        count = large.sum(axis=0)
        varied = ((away > 0) & ~large).any(axis=0)
    found = []
    for j in np.flatnonzero((count <= FEW) & varied & (top > 0) & (top < np.inf)).tolist():
        row = int(np.nanargmax(away[:, j]))
        rest = float(np.max(away[:, j], where=(away[:, j] >= 0) & ~large[:, j], initial=0.0))
        column = j if columns is None else int(columns[j])
        found.append(DominantValue(column, row, float(values[row, j]), int(count[j]), rest))
    return found
