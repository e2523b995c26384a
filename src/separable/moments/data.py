"""Rows to be summed, with target and weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from separable.data.rows import Rows, as_rows, check_indices
from separable.fitting.targets import RowWeights

__all__ = ["Data", "checked_rows"]


@dataclass(frozen=True)
class Data:
    """Rows to learn from, checked but for the values of X.

    Parameters
    ----------
    rows : Rows
        X.
    y : ndarray
        Labels, or numbers, (n,) or (n, t).
    counted : RowWeights
        Which rows count, and how much.
    X : object
        What the user passed, for messages.
    """

    rows: Rows
    y: Any
    counted: RowWeights
    X: Any

    @property
    def n_counted(self) -> int:
        """The number of rows of non-zero weight."""
        return self.rows.n_rows if self.counted.rows is None else len(self.counted.rows)

    def present(self) -> Data:
        """Return the data without the rows of weight 0."""
        chosen, weight = self.counted
        if chosen is None or weight is None:
            return self
        return Data(
            self.rows.take(chosen), self.y[chosen], RowWeights(None, weight[chosen]), self.X
        )


def checked_rows(X: Any) -> Rows:
    """Return X as rows whose indices are checked; values are where they are added up."""
    rows = as_rows(X, check_values=False)
    check_indices(rows)
    return rows
