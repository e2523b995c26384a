"""Targets: column, task, validation. Each task is a subclass of `Target`.

Each task has a file of its own, with the same few steps: read the column, split the rows, name the
best constant answer, and tell what was found in words and as JSON values.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias

from separable.data.table import TableError

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from separable.cli.training.learners import Task
    from separable.data.table import ColumnType

    Rows: TypeAlias = NDArray[np.int64]

__all__ = ["Finding", "Target", "in_all_rows", "refuse_empty", "target_class"]

#: Where the target of each task lives.
TARGETS: dict[Task, str] = {
    "classification": "separable.cli.training.classification_target:Classes",
    "regression": "separable.cli.training.regression_target:Numbers",
}


@dataclass(frozen=True)
class Finding:
    """Something found.

    Parameters
    ----------
    values : dict
        As JSON values.
    text : str
        In words, one line or several.
    """

    values: dict[str, Any]
    text: str


@dataclass(frozen=True)
class Target(ABC):
    """What is to be predicted, in the rows where it is known.

    Parameters
    ----------
    values : ndarray
        A label or a number for each of these rows.
    rows : ndarray of int64
        Their places in the table.
    missing : int
        How many rows had none.
    """

    values: NDArray[Any]
    rows: Rows
    missing: int

    task: ClassVar[Task]

    #: How the column is to be read, and what to add where it cannot be read so.
    column_type: ClassVar[ColumnType]
    remedy: ClassVar[str] = ""

    @classmethod
    @abstractmethod
    def read(
        cls,
        table: pa.Table,
        name: str,
        where: str,
        kind: ColumnType | None = None,
        *,
        sure: bool = True,
    ) -> Self:
        """Return the target of a table, or refuse what it cannot be.

        Parameters
        ----------
        table : pyarrow.Table
        name : str
            The target column, read as `column_type`.
        where : str
            The file, to begin error messages.
        kind : {"number", "category"}, optional
            What the user says it is.
        sure : bool, default True
            False: the task is a guess, which many different numbers refute.
        """

    @abstractmethod
    def summary(self) -> Finding:
        """Return what there is to predict, in a few words."""

    @abstractmethod
    def split(self, test_size: float, seed: int) -> tuple[Rows, Rows]:
        """Return the rows to train on and the rows to hold out, both of `rows`."""

    @abstractmethod
    def check(self, what: str) -> None:
        """Refuse what cannot be predicted; ``what`` begins the message."""

    @abstractmethod
    def read_true_values(self, table: pa.Table, name: str, where: str) -> Self:
        """Return the same column of another table, to compare predictions with."""

    @abstractmethod
    def constant(self, chosen: Rows, weight: NDArray[np.float64] | None) -> Any:
        """Return the best constant answer by some of the rows."""

    @abstractmethod
    def training(self, predicted: NDArray[Any]) -> Finding:
        """Measure predictions of all rows, those the model was trained on, in one line."""


def target_class(task: Task) -> type[Target]:
    """Return the target of a task."""
    module, _, name = TARGETS[task].partition(":")
    result: type[Target] = getattr(import_module(module), name)
    return result


def refuse_empty(what: str, count: int) -> None:
    """Refuse a target without a single value."""
    if not count:
        raise TableError(f"{what} is empty in every row. Name another column with --target.")


def in_all_rows(count: int) -> str:
    """Return how to say that something is so in every row."""
    return f"in all {count} rows" if count > 1 else "in its only row"
