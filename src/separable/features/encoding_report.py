"""What an encoder met that its training data had not prepared it for, counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["ColumnReport", "EncodingReport"]

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
    """

    column: str
    missing: int = 0
    missing_rows: tuple[int, ...] = ()
    missing_trained: bool = False
    unseen: int = 0
    unseen_examples: tuple[tuple[int, str], ...] = ()

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
