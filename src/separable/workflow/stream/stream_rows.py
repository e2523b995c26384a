"""Rows of a stream: chunks of the source, encoded rows with targets and weights."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from separable.data.io.formats import formats_of
from separable.data.io.reading import checked_options, files_of
from separable.data.io.sources import inputs_of
from separable.workflow.input_tables import skipped_text
from separable.workflow.progress import warn
from separable.workflow.stream.stream_target import order_warning

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from numpy.typing import NDArray

    from separable.data.dataset import Dataset
    from separable.data.io.sources import Input
    from separable.data.reading_report import Progress
    from separable.data.rows import Rows
    from separable.data.table import ColumnType
    from separable.errors import Message
    from separable.features.encoding_report import EncodingReport
    from separable.features.table.table_encoder import TableEncoder
    from separable.workflow.learners import Task
    from separable.workflow.options import ReadingOptions
    from separable.workflow.stream.stream_target import StreamTarget


__all__ = ["Batch", "RowStream", "Source", "Targets", "Wanted"]

#: Approximate bytes of text per chunk.
CHUNK_BYTES = 1 << 22

#: Maximum bytes of the first rows, to which the encoder is fitted.
FIRST_BYTES = 16_000_000


class Source:
    """Files that are read in chunks, once or several times.

    Parameters
    ----------
    data : str
        As the user named it.
    reading : ReadingOptions
        Overrides of the detected format.
    index_base : {"auto", 0, 1}
        The index of the first column of svmlight text; detected in the first pass.
    """

    def __init__(self, data: str, reading: ReadingOptions, index_base: Any = "auto") -> None:
        self.data, self.index_base = data, index_base
        self._options = reading.for_read()
        selection = (self._options.pop("table", None), self._options.pop("query", None))
        self.inputs = inputs_of(data, *selection)
        self.format: str = self._options.pop("format", None) or formats_of(self.inputs)
        self.notes: list[Message | str] = []
        self.report: Any = None
        self.progress: Callable[[Progress], None] | None = None

    @property
    def is_sparse(self) -> bool:
        """Whether the rows are sparse and have no named columns."""
        return self.format in ("svmlight", "vw")

    @property
    def again(self) -> bool:
        """Whether it can be read more than once."""
        return all(one.again for one in self.inputs)

    def prints(self) -> list[dict[str, Any]]:
        """Return fingerprints of the files: size, and hash of the start.

        Sources that can be read only once, such as standard input, have none.
        """
        return [
            {
                "name": Path(one.name).name,
                "bytes": one.size,
                "start": self._start_of(one),
            }
            for one in self.inputs
        ]

    def _start_of(self, one: Input) -> str | None:
        has_bytes = one.again and one.address is None
        return hashlib.sha256(one.head()).hexdigest()[:16] if has_bytes else None

    def chunks(
        self, column_types: Mapping[str, ColumnType] | None = None, n_features: int | None = None
    ) -> Iterator[Dataset]:
        """Yield the rows in chunks, from the start.

        Parameters
        ----------
        column_types : mapping of str to str, optional
            The types of some columns.
        n_features : int, optional
            The number of columns of sparse rows.
        """
        options = checked_options(
            column_types=column_types,
            n_features=n_features,
            index_base=self.index_base,
            **self._options,
        )
        files: Any = files_of(self.inputs, None, self.format, options, self._note_progress)
        try:
            self.report = files.report
            yield from files.datasets(CHUNK_BYTES, None)
        finally:
            self.index_base = getattr(files, "index_base", "auto")
            self._note()

    def _note_progress(self, progress: Progress) -> None:
        if self.progress is not None:
            self.progress(progress)

    def _note(self) -> None:
        """Keep the result of a reading; every pass finds the same."""
        report = self.report
        if report is None:
            return
        self.notes = list(report.notes)
        if report.skipped:
            self.notes.append(skipped_text(self.data, report.skipped, report.examples[0]))


class Batch(NamedTuple):
    """Rows to train on, with their targets.

    Parameters
    ----------
    rows : Rows or None
        None: no row of this part has a target.
    y, weight : ndarray
        Their targets, and their weights if given.
    end : int
        Number of rows of the files read so far.
    missing : int
        Number of rows without a target.
    report : EncodingReport or None
        The report of the encoder.
    """

    rows: Rows | None
    y: NDArray[Any]
    weight: NDArray[np.float64] | None
    end: int
    missing: int
    report: EncodingReport | None = None


class Targets(NamedTuple):
    """The targets of a chunk: masks of the rows that have one and that are used, and values."""

    is_present: NDArray[np.bool_]
    keep: NDArray[np.bool_]
    y: NDArray[Any]
    weight: NDArray[np.float64] | None


@dataclass(frozen=True)
class Wanted:
    """The target and the columns of a stream, as requested."""

    target: str | None
    task: Task | None = None
    classes: str | None = None
    weight: str | None = None
    columns: dict[str, list[str]] = field(default_factory=dict)
    encode_rows: int = 100_000
    bits: int | None = None
    features: int | None = None
    #: Whether the learner needs counts, and its name.
    counts: bool = False
    learner: str | None = None
    threads: int = 1
    conversions: dict[str, str] = field(default_factory=dict)


class RowStream(ABC):
    """A source of training rows.

    Parameters
    ----------
    source : Source
    wanted : Wanted
    target : Labels or Quantities, optional
        The target, if known; otherwise `begin` determines it.
    """

    encoder: TableEncoder | None = None

    def __init__(self, source: Source, wanted: Wanted, target: StreamTarget | None = None) -> None:
        self.source, self.wanted = source, wanted
        self._target = target
        self._begun: Iterator[Dataset] | None = None

    @property
    def target(self) -> StreamTarget:
        """The target."""
        assert self._target is not None
        return self._target

    @property
    @abstractmethod
    def n_features(self) -> int:
        """How many numbers a row has."""

    @abstractmethod
    def begin(self) -> None:
        """Determine target and features from the first rows."""

    @abstractmethod
    def _chunks(self) -> Iterator[Dataset]:
        """Read the source from its start."""

    @abstractmethod
    def _targets(self, chunk: Dataset, first_row: int) -> Targets:
        """Return the targets of a chunk that starts at the given row of the files."""

    @abstractmethod
    def _encoded(
        self, chunk: Dataset, kept: NDArray[np.intp], first_row: int
    ) -> tuple[Rows, EncodingReport | None]:
        """Return encoded rows of a chunk, and the report of the encoder."""

    def batches(self, rows_left: Callable[[], int], done: int = 0) -> Iterator[Batch]:
        """Yield the rows of one pass in batches.

        Parameters
        ----------
        rows_left : callable
            Returns the maximum number of rows of the next batch.
        done : int
            Number of rows of the files to skip.
        """
        chunks, self._begun = self._begun or self._chunks(), None
        first_row = 0
        for chunk in chunks:
            skip = min(max(0, done - first_row), len(chunk))
            if skip < len(chunk):
                yield from self._cut(chunk, skip, first_row, rows_left)
            first_row += len(chunk)

    def _cut(
        self, chunk: Dataset, start: int, first_row: int, rows_left: Callable[[], int]
    ) -> Iterator[Batch]:
        """Cut a chunk into batches; rows without a target belong to the rows before them."""
        targets, n = self._targets(chunk, first_row), len(chunk)
        kept = np.flatnonzero(targets.keep)
        at = int(np.searchsorted(kept, start))
        while start < n:
            stop = min(at + rows_left(), len(kept))
            end = n if stop == len(kept) else int(kept[stop - 1]) + 1
            rows, report = None, None
            if stop > at:
                rows, report = self._encoded(chunk, kept[at:stop], first_row)
            weight = None if targets.weight is None else targets.weight[at:stop]
            missing = int(np.count_nonzero(~targets.is_present[start:end]))
            yield Batch(rows, targets.y[at:stop], weight, first_row + end, missing, report)
            start, at = end, stop

    def _warn_of_order(self, y: NDArray[Any]) -> None:
        message = order_warning(self.target, y)
        if message:
            warn(message)

    def _first(self) -> list[Dataset]:
        """Return the first chunks without consuming them."""
        chunks, first, rows, size = self._chunks(), [], 0, 0
        for chunk in chunks:
            first.append(chunk)
            rows += len(chunk)
            size += chunk.table.nbytes if chunk.table is not None else _bytes_of(chunk.rows)
            if rows >= self.wanted.encode_rows or size >= FIRST_BYTES:
                break
        self._begun = chain(first, chunks)
        return first


def _bytes_of(rows: Rows | None) -> int:
    return 0 if rows is None else sum(array.nbytes for array in rows.arrays())
