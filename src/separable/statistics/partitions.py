"""Rows in partitions: on disk, in memory or on a cluster, seen only through sums over rows.

A `Task` maps a `Batch` of rows to named arrays; `Partitions.sums` merges these in partition order.
Results therefore do not depend on threads, on where partitions live or on retries.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import reduce
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from separable.data.row_operations import stack_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from separable.data.rows import Rows
    from separable.typing import Floats

    #: Named arrays that are merged over batches.
    TaskSums = dict[str, NDArray[Any]]

#: Sums of any size.
ANY_SIZE = 1 << 62

__all__ = ["ANY_SIZE", "Batch", "InMemoryPartitions", "Partitions", "Task", "joined", "merged_sums"]


@dataclass(frozen=True)
class Batch:
    """Some encoded rows with their targets.

    Parameters
    ----------
    rows : Rows
        Finite; sparse rows have no duplicate columns.
    y : ndarray of float64 or int32, shape (n,)
        Numeric targets, or class codes.
    weight : ndarray, shape (n,), or None
        Positive weights; None: 1.
    fold : ndarray of int32, shape (n,), or None
        The fold that holds the row out. None: no folds.
    """

    rows: Rows
    y: NDArray[np.int32] | Floats
    weight: Floats | None = None
    fold: NDArray[np.int32] | None = None

    def __len__(self) -> int:
        return self.rows.n_rows

    def slice(self, start: int, stop: int) -> Batch:
        """Return rows ``start`` to ``stop``, as views."""
        here = slice(start, stop)
        return Batch(
            self.rows.slice(start, stop),
            self.y[here],
            None if self.weight is None else self.weight[here],
            None if self.fold is None else self.fold[here],
        )

    def take(self, rows: NDArray[np.integer[Any]]) -> Batch:
        """Return the given rows."""
        return Batch(
            self.rows.take(rows),
            self.y[rows],
            None if self.weight is None else self.weight[rows],
            None if self.fold is None else self.fold[rows],
        )

    def tiles(self, size: int) -> Iterator[Batch]:
        """Yield consecutive parts of at most ``size`` rows."""
        for start in range(0, len(self), size):
            yield self.slice(start, min(start + size, len(self)))


class Task(ABC):
    """A sum over rows: picklable, without state between batches."""

    @abstractmethod
    def __call__(self, batch: Batch) -> TaskSums:
        """Return the named arrays of one batch."""

    def merge(self, total: TaskSums, part: TaskSums) -> TaskSums:
        """Return the arrays of both; ``total`` may be overwritten. By default they are added."""
        for name, values in part.items():
            total[name] = total[name] + values
        return total


class Partitions(Protocol):
    """Rows that are seen only through sums."""

    @property
    def n_rows(self) -> int:
        """The number of rows."""

    @property
    def n_features(self) -> int:
        """The number of columns."""

    @property
    def is_sparse(self) -> bool:
        """Whether rows are in CSR format."""

    @property
    def most_numbers(self) -> int:
        """The numbers that the sums of a pass may have."""

    def sums(self, task: Task) -> TaskSums:
        """Return the arrays of all batches, merged in partition order."""


def joined(batches: Sequence[Batch]) -> Batch:
    """Return batches of one kind as one."""
    if len(batches) == 1:
        return batches[0]
    first = batches[0]
    rows = stack_rows([batch.rows for batch in batches], first.rows.n_features)
    weight = None if first.weight is None else np.concatenate([b.weight for b in batches])
    fold = None if first.fold is None else np.concatenate([b.fold for b in batches])
    return Batch(rows, np.concatenate([b.y for b in batches]), weight, fold)


def merged_sums(task: Task, batches: Iterator[Batch]) -> TaskSums:
    """Return the arrays of consecutive batches, at least one, merged in order."""
    return reduce(task.merge, (task(batch) for batch in batches))


@dataclass(frozen=True)
class InMemoryPartitions:
    """Partitions of a list of batches.

    Examples
    --------
    >>> import numpy as np
    >>> from dataclasses import dataclass
    >>> from separable.data.rows import as_rows
    >>> @dataclass(frozen=True)
    ... class Total(Task):
    ...     def __call__(self, batch):
    ...         return {"total": batch.rows.values.sum(axis=0)}
    >>> rows = as_rows(np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))
    >>> whole = Batch(rows, np.zeros(3))
    >>> InMemoryPartitions([whole.slice(0, 2), whole.slice(2, 3)]).sums(Total())["total"]
    array([ 9., 12.])
    """

    batches: Sequence[Batch] = field(default_factory=list)
    most_numbers: int = ANY_SIZE

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return sum(len(batch) for batch in self.batches)

    @property
    def n_features(self) -> int:
        """The number of columns."""
        return self.batches[0].rows.n_features

    @property
    def is_sparse(self) -> bool:
        """Whether rows are in CSR format."""
        return self.batches[0].rows.is_sparse

    def sums(self, task: Task) -> TaskSums:
        """Return the arrays of all batches, merged in order."""
        return merged_sums(task, iter(self.batches))
