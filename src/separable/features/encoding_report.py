"""What an encoder met that its training data had not prepared it for, counted.

The ledger of levels that an encoder met and its training data did not have.
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


#: How many examples of each thing a report keeps.
EXAMPLES = 3


@dataclass(frozen=True, slots=True)
class ColumnReport:
    """What was met in one column.

    Parameters
    ----------
    column : str
        The raw column.
    missing : int
        How many values were missing.
    missing_rows : tuple of int
        The first rows, counted from 0, where one was.
    missing_trained : bool
        Whether the training data had missing values in this column too. If not, a missing number
        is read as the mean and a missing category as no level at all.
    unseen : int
        How many values were of a level that the training data did not have.
    unseen_examples : tuple of (int, str)
        The first rows, counted from 0, and their levels; each level once.
    unseen_counts : mapping of str to int
        How often each such level occurred, for the ledger of the encoder.
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
        """Return the report of a column in which values may only be missing."""
        count = int(np.count_nonzero(missing))
        rows = tuple(np.flatnonzero(missing)[:EXAMPLES].tolist()) if count else ()
        return cls(column, count, rows, trained)

    def followed_by(self, later: ColumnReport, first_row: int) -> ColumnReport:
        """Return this report and that of later rows, the first of them ``first_row``, as one."""
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
        """Return the report as plain JSON values."""
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
    """What was met in a whole table.

    Parameters
    ----------
    n_rows : int
        The rows encoded.
    columns : tuple of ColumnReport
        The columns in which something was missing or unseen, in the encoder's order.
    """

    n_rows: int
    columns: tuple[ColumnReport, ...]

    @classmethod
    def joined(cls, parts: Iterable[EncodingReport], order: Iterable[str]) -> EncodingReport:
        """Return the reports of the parts of one table, one below the other, as one report.

        Parameters
        ----------
        parts : iterable of EncodingReport
        order : iterable of str
            The raw columns in the encoder's order; names may come again.
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
        """How many values were missing in all."""
        return sum(column.missing for column in self.columns)

    @property
    def unseen(self) -> int:
        """How many values were of an unseen level in all."""
        return sum(column.unseen for column in self.columns)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain JSON values."""
        return {"n_rows": self.n_rows, "columns": [column.to_dict() for column in self.columns]}


#: How many levels of a column are kept by name.
NAMES = 100


class UnseenLedger:
    """What was met since the encoder was fitted, by column and level, counted.

    At most 100 levels of a column are kept by name; the others are counted together. A copy, and
    what comes out of a file or a pickle, starts empty: the ledger is no part of the model.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._columns: dict[str, dict[str, int]] = {}
        self._others: dict[str, int] = {}

    def add(self, column: str, counts: Mapping[str, int]) -> None:
        """Note how often some levels were met."""
        with self._lock:
            named = self._columns.setdefault(column, {})
            for level, count in counts.items():
                if level in named or len(named) < NAMES:
                    named[level] = named.get(level, 0) + count
                else:
                    self._others[column] = self._others.get(column, 0) + count

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """Return for each column its count, its levels with theirs, and the count of the others."""
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
