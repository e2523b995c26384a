"""SparkPartitions: encoded rows on a cluster, seen only through sums over rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial, reduce
from itertools import chain
from typing import TYPE_CHECKING, Any

from separable.spark.cluster_jobs import (
    SparkJobError,
    partition_results,
    result_limit,
)
from separable.spark.encoded_blocks import batch_of
from separable.statistics.partitions import joined, merged_sums

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pyarrow as pa

    from separable.spark.cluster_jobs import Frame
    from separable.statistics.partitions import Batch, Task, TaskSums

__all__ = ["PartitionCounts", "SparkPartitions"]

#: With so many features the sums of a batch may be larger than the batch, and batches are joined
#: to this size in bytes.
WIDE, STACKED = 1 << 9, 1 << 26
#: The share of `spark.driver.maxResultSize` that sums may take is 1 / SPARE.
SPARE = 2

CHANGED = (
    "The DataFrame gives other rows each time it is computed (partition {} had {}, now {}), so "
    "passes do not see the same data. Write it to files, or call df.checkpoint(), first."
)


@dataclass(frozen=True)
class PartitionCounts:
    """What a partition holds, to recognize it.

    Parameters
    ----------
    n_rows, n_bytes : int
    checksum : int
        The sum of those of its blocks.
    n_features : int
    is_sparse : bool
    """

    n_rows: int
    n_bytes: int
    checksum: int
    n_features: int
    is_sparse: bool

    def __str__(self) -> str:
        return f"{self.n_rows} rows, checksum {self.checksum:x}"


class SparkPartitions:
    """Blocks of encoded rows in a persisted DataFrame; implements `Partitions`.

    Parameters
    ----------
    frame : DataFrame
        Of blocks, as `encoded_frame` makes them.
    is_classification : bool
    held_out : bool, optional
        Only the held-out rows, or only the others. None: all.
    most_partitions : int
        An upper bound of the number of partitions.
    """

    def __init__(
        self,
        frame: Frame,
        *,
        is_classification: bool,
        held_out: bool | None = None,
        most_partitions: int = 1,
    ) -> None:
        if held_out is not None:
            frame = frame.filter("held_out" if held_out else "not held_out")
        self._frame, self._is_classification = frame, is_classification
        self._jobs = 0
        self._counts: dict[int, PartitionCounts] = {}
        #: Numbers that results may have so that those of all partitions fit into
        #: `spark.driver.maxResultSize`.
        self.most_numbers = result_limit(frame.sparkSession) // (8 * SPARE * most_partitions)

    @property
    def counts(self) -> dict[int, PartitionCounts]:
        """What each partition holds, from the first job; by one of its own if there was none."""
        if not self._counts:
            self.results(_nothing)
        return self._counts

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return sum(each.n_rows for each in self.counts.values())

    @property
    def n_features(self) -> int:
        """The number of columns."""
        return max((each.n_features for each in self.counts.values()), default=0)

    @property
    def is_sparse(self) -> bool:
        """Whether rows are in CSR format."""
        return any(each.is_sparse for each in self.counts.values())

    @property
    def n_bytes(self) -> int:
        """The bytes of the encoded rows."""
        return sum(each.n_bytes for each in self.counts.values())

    @property
    def n_partitions(self) -> int:
        """The number of partitions that have rows."""
        return len(self.counts)

    @property
    def n_jobs(self) -> int:
        """The number of jobs so far: passes over the rows."""
        return self._jobs

    def sums(self, task: Task) -> TaskSums:
        """Return the arrays of all batches, merged in partition order."""
        found = self.results(partial(_merged, task))
        return reduce(task.merge, found.values())

    def results(self, compute: Callable[[Iterator[Batch]], Any]) -> dict[int, Any]:
        """Return what a function computes of the batches of each partition, in order.

        Parameters
        ----------
        compute : callable
            Pure and picklable.
        """
        self._jobs += 1
        run = partial(_of_blocks, compute, self._is_classification)
        found = partition_results(self._frame, run)
        counts = {partition: each for partition, (each, _) in found.items()}
        self._counts = self._counts or counts
        for partition in sorted(self._counts.keys() | counts.keys()):
            before, now = (each.get(partition, "no rows") for each in (self._counts, counts))
            if before != now:
                raise SparkJobError(CHANGED.format(partition, before, now))
        return {partition: value for partition, (_, value) in found.items()}


def _of_blocks(
    compute: Callable[[Iterator[Batch]], Any],
    is_classification: bool,
    records: Iterator[pa.RecordBatch],
) -> tuple[PartitionCounts, Any] | None:
    """Return what a partition holds, and what a function computes of its batches."""
    counter = _Counter()
    batches = counter.each(records, is_classification)
    first = next(batches, None)
    if first is None:
        return None
    value = compute(chain([first], batches))
    rows = first.rows
    counts = PartitionCounts(
        counter.n_rows, counter.n_bytes, counter.checksum, rows.n_features, rows.is_sparse
    )
    return counts, value


class _Counter:
    """Rows, bytes and checksum of the blocks of a partition."""

    def __init__(self) -> None:
        self.n_rows = self.n_bytes = self.checksum = 0

    def each(self, records: Iterator[pa.RecordBatch], is_classification: bool) -> Iterator[Batch]:
        """Yield the rows of each block, counted."""
        from pyarrow import Buffer

        for record in records:
            names = record.schema.names
            for i in range(record.num_rows):
                block = {name: _value(record.column(k)[i]) for k, name in enumerate(names)}
                batch = batch_of(block, is_classification)
                self.n_rows += len(batch)
                self.n_bytes += sum(
                    len(each) for each in block.values() if isinstance(each, Buffer)
                )
                self.checksum += block["checksum"]
                yield batch


def _value(scalar: Any) -> Any:
    """Return a number, or bytes without a copy."""
    return scalar.as_buffer() if hasattr(scalar, "as_buffer") else scalar.as_py()


def _nothing(batches: Iterator[Batch]) -> None:
    """Read the batches of a partition, which counts them."""
    for _ in batches:
        pass


def _merged(task: Task, batches: Iterator[Batch]) -> TaskSums:
    """Return the sums of a partition."""
    return merged_sums(task, _stacked(batches))


def _stacked(batches: Iterator[Batch]) -> Iterator[Batch]:
    """Yield batches, joined to `STACKED` bytes if their sums may be larger than they are."""
    waiting: list[Batch] = []
    size = 0
    for batch in batches:
        if batch.rows.n_features < WIDE:
            yield batch
            continue
        waiting.append(batch)
        size += sum(each.nbytes for each in batch.rows.arrays())
        if size >= STACKED:
            yield joined(waiting)
            waiting, size = [], 0
    if waiting:
        yield joined(waiting)
