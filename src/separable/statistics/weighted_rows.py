"""Rows with target and weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.rows import Rows, as_rows, check_indices
from separable.fitting.targets import RowWeights

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Data", "checked_rows"]


@dataclass(frozen=True)
class Data:
    """Training rows; all but the values of X is checked.

    Parameters
    ----------
    rows : Rows
        X.
    y : ndarray
        Labels, or numbers, (n,) or (n, t).
    counted : RowWeights
        Weights of the rows.
    X : object
        The user's input, for messages.
    """

    rows: Rows
    y: Any
    counted: RowWeights
    X: Any

    @property
    def n_counted(self) -> int:
        """The number of rows of non-zero weight."""
        return self.rows.n_rows if self.counted.rows is None else len(self.counted.rows)

    @property
    def is_wide(self) -> bool:
        """Whether there are more columns than rows of non-zero weight."""
        return self.rows.n_features > self.n_counted

    @property
    def numbers(self) -> NDArray[np.float64]:
        """The regression targets as columns, (n, t)."""
        columns: NDArray[np.float64] = self.y.reshape(len(self.y), -1)
        return columns

    def counting(self, chosen: NDArray[np.intp] | None = None) -> NDArray[np.intp] | None:
        """Return the rows, or the chosen rows, of positive weight; None: all rows."""
        if chosen is None or self.counted.weight is None:
            return self.counted.rows if chosen is None else chosen
        return chosen[self.counted.weight[chosen] > 0]

    def present(self, chosen: NDArray[np.intp] | None = None) -> Data:
        """Return the rows, or the chosen rows, without those of weight 0."""
        chosen = self.counting(chosen)
        if chosen is None:
            return self
        weight = self.counted.weight
        counted = RowWeights(None, None if weight is None else weight[chosen])
        return Data(self.rows.take(chosen), self.y[chosen], counted, self.X)

    def without(self, row: int) -> Data:
        """Return all rows but one, without those of weight 0."""
        return self.present(np.delete(np.arange(self.rows.n_rows), row))


def checked_rows(X: Any) -> Rows:
    """Return X as rows with checked indices; values are checked when added."""
    rows = as_rows(X, check_values=False)
    check_indices(rows)
    return rows
