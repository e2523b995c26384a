"""Reports of missing and unseen values that an encoder meets after training.

The ledger counts levels that the training data did not have.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

__all__ = ["ColumnReport", "EncodingReport", "UnseenLedger"]


#: Examples kept per problem.
EXAMPLES = 3


@dataclass(frozen=True, slots=True)
class ColumnReport:
    """Missing and unseen values of one column.

    Parameters
    ----------
    column : str
        Raw column.
    missing : int
        Number of missing values.
    missing_rows : tuple of int
        First rows with a missing value, counted from 0.
    missing_trained : bool
        Whether the training data had missing values in this column too. If not, a missing number is
        encoded as the mean and a missing category as no level.
    unseen : int
        Number of values with an unseen level.
    unseen_examples : tuple of (int, str)
        First rows, counted from 0, with their levels; each level once.
    unseen_counts : mapping of str to int
        Count of each unseen level, for the ledger of the encoder.
    """

    column: str
    missing: int = 0
    missing_rows: tuple[int, ...] = ()
    missing_trained: bool = False
    unseen: int = 0
    unseen_examples: tuple[tuple[int, str], ...] = ()
    unseen_counts: Mapping[str, int] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def of_missing(cls, column: str, missing: NDArray[np.bool_], trained: bool) -> ColumnReport:
        """Return the report of a column that can only have missing values."""
        count = int(np.count_nonzero(missing))
        rows = tuple(np.flatnonzero(missing)[:EXAMPLES].tolist()) if count else ()
        return cls(column, count, rows, trained)

    def followed_by(self, later: ColumnReport, first_row: int) -> ColumnReport:
        """Return this report combined with that of later rows, which start at ``first_row``."""
        seen = {level for _, level in self.unseen_examples}
        rows = (*self.missing_rows, *(row + first_row for row in later.missing_rows))
        new = ((r + first_row, level) for r, level in later.unseen_examples if level not in seen)
        return ColumnReport(
            self.column,
            self.missing + later.missing,
            rows[:EXAMPLES],
            later.missing_trained,
            self.unseen + later.unseen,
            (*self.unseen_examples, *new)[:EXAMPLES],
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON values."""
        return {
            "column": self.column,
            "missing": self.missing,
            "missing_rows": list(self.missing_rows),
            "missing_trained": self.missing_trained,
            "unseen": self.unseen,
            "unseen_examples": [list(example) for example in self.unseen_examples],
        }


@dataclass(frozen=True, slots=True)
class EncodingReport:
    """Missing and unseen values of a table.

    Parameters
    ----------
    n_rows : int
        Rows encoded.
    columns : tuple of ColumnReport
        Columns with missing or unseen values, in the encoder's order.
    """

    n_rows: int
    columns: tuple[ColumnReport, ...]

    @classmethod
    def joined(cls, parts: Iterable[EncodingReport], order: Iterable[str]) -> EncodingReport:
        """Return the combined report of consecutive parts of a table.

        Parameters
        ----------
        parts : iterable of EncodingReport
        order : iterable of str
            Raw columns in the encoder's order; names may repeat.
        """
        columns = {name: ColumnReport(name) for name in order}
        n_rows = 0
        for part in parts:
            for column in part.columns:
                columns[column.column] = columns[column.column].followed_by(column, n_rows)
            n_rows += part.n_rows
        return cls(n_rows, tuple(c for c in columns.values() if c.missing or c.unseen))

    @property
    def missing(self) -> int:
        """Total number of missing values."""
        return sum(column.missing for column in self.columns)

    @property
    def unseen(self) -> int:
        """Total number of values with an unseen level."""
        return sum(column.unseen for column in self.columns)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON values."""
        return {"n_rows": self.n_rows, "columns": [column.to_dict() for column in self.columns]}


#: Levels per column that are kept by name.
NAMES = 100


class UnseenLedger:
    """Counts of unseen levels since the encoder was fitted, by column.

    At most 100 levels per column are kept by name; the others are counted together. Copies and
    loaded encoders start with an empty ledger: it is not part of the model.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._columns: dict[str, dict[str, int]] = {}
        self._others: dict[str, int] = {}

    def add(self, column: str, counts: Mapping[str, int]) -> None:
        """Add counts of unseen levels."""
        with self._lock:
            named = self._columns.setdefault(column, {})
            for level, count in counts.items():
                if level in named or len(named) < NAMES:
                    named[level] = named.get(level, 0) + count
                else:
                    self._others[column] = self._others.get(column, 0) + count

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """Return the total, the counts by level, and the count of other levels, per column."""
        with self._lock:
            return {
                column: {
                    "count": sum(levels.values()) + self._others.get(column, 0),
                    "levels": dict(sorted(levels.items(), key=lambda pair: -pair[1])),
                    "others": self._others.get(column, 0),
                }
                for column, levels in self._columns.items()
            }

    def __reduce__(self) -> tuple[type[UnseenLedger], tuple[()]]:
        return UnseenLedger, ()
