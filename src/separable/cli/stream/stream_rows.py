"""Rows of a stream: chunks of the source, encoded rows with targets and weights."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from separable.cli.io.input_tables import in_options, skipped_text
from separable.cli.render.messages import warn
from separable.cli.stream.stream_target import order_warning
from separable.data.io.formats import formats_of
from separable.data.io.reading import checked_options, files_of
from separable.data.io.sources import inputs_of
from separable.data.table import NotANumberError, TableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from numpy.typing import NDArray

    from separable.cli.options.options import ReadingOptions
    from separable.cli.stream.stream_target import StreamTarget
    from separable.cli.training.learners import Task
    from separable.data.dataset import Dataset
    from separable.data.progress import Progress
    from separable.data.rows import Rows
    from separable.data.table import ColumnType
    from separable.features.encoding_report import EncodingReport
    from separable.features.table.table_encoder import TableEncoder


__all__ = ["Batch", "RowStream", "Source", "Targets", "Wanted"]

#: About how much text is read at a time.
CHUNK_BYTES = 1 << 22

#: The first part, by which columns are encoded, is not larger than this.
FIRST_BYTES = 16_000_000


class Source:
    """Files that are read in chunks, once or several times.

    Parameters
    ----------
    data : str
        As the user named it.
    reading : ReadingOptions
        How to read it.
    index_base : {"auto", 0, 1}
        Where svmlight text counts columns from; once it was read, what was found.
    """

    def __init__(self, data: str, reading: ReadingOptions, index_base: Any = "auto") -> None:
        self.data, self.index_base = data, index_base
        self.inputs = inputs_of(data)
        self._options = reading.for_read()
        self.format: str = self._options.pop("format", None) or formats_of(self.inputs)
        self.notes: list[str] = []
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
        """Return what shows whether the files are still the same: size, and hash of the start.

        Of what can be read only once, as standard input, nothing is known before.
        """
        return [
            {
                "name": Path(one.name).name,
                "bytes": one.size,
                "start": hashlib.sha256(one.head()).hexdigest()[:16] if one.again else None,
            }
            for one in self.inputs
        ]

    def chunks(
        self, column_types: Mapping[str, ColumnType] | None = None, n_features: int | None = None
    ) -> Iterator[Dataset]:
        """Read from the start; give the rows some at a time.

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
        files: Any = files_of(self.inputs, None, self.format, options, self._tell)
        try:
            self.report = files.report
            yield from files.datasets(CHUNK_BYTES, None)
        except NotANumberError:
            raise  # whoever asked for the type has a remedy of its own
        except TableError as error:
            raise TableError(in_options(str(error))) from None
        finally:
            self.index_base = getattr(files, "index_base", "auto")
            self._note()

    def _tell(self, progress: Progress) -> None:
        if self.progress is not None:
            self.progress(progress)

    def _note(self) -> None:
        """Keep what a reading found; the same is found by each."""
        report = self.report
        if report is None:
            return
        self.notes = [in_options(message) for message in report.notes]
        if report.skipped:
            self.notes.append(skipped_text(self.data, report.skipped, report.examples[0]))


class Batch(NamedTuple):
    """Some rows to learn from; all that is known of them.

    Parameters
    ----------
    rows : Rows or None
        None: no row of this stretch is to be learned from.
    y, weight : ndarray
        Their targets, and their weights where there are some.
    end : int
        How many rows of the files have been read with them.
    missing : int
        How many rows were left out because their target is missing.
    report : EncodingReport or None
        What the encoder met in them.
    """

    rows: Rows | None
    y: NDArray[Any]
    weight: NDArray[np.float64] | None
    end: int
    missing: int
    report: EncodingReport | None = None


class Targets(NamedTuple):
    """The targets of a chunk, for each row: which have one, which count, and theirs."""

    is_present: NDArray[np.bool_]
    keep: NDArray[np.bool_]
    y: NDArray[Any]
    weight: NDArray[np.float64] | None


@dataclass(frozen=True)
class Wanted:
    """What the user wants to be learned, and from which columns."""

    target: str | None
    task: Task | None = None
    classes: str | None = None
    weight: str | None = None
    columns: dict[str, list[str]] = field(default_factory=dict)
    encode_rows: int = 100_000
    bits: int | None = None
    features: int | None = None
    #: Whether the learner adds up counts, and under which name it is known.
    counts: bool = False
    learner: str | None = None
    threads: int = 1


class RowStream(ABC):
    """A source whose rows are learned from.

    Parameters
    ----------
    source : Source
    wanted : Wanted
    target : Labels or Quantities, optional
        What is predicted, where it is known; otherwise `begin` settles it.
    """

    encoder: TableEncoder | None = None

    def __init__(self, source: Source, wanted: Wanted, target: StreamTarget | None = None) -> None:
        self.source, self.wanted = source, wanted
        self._target = target
        self._begun: Iterator[Dataset] | None = None

    @property
    def target(self) -> StreamTarget:
        """What is predicted."""
        assert self._target is not None
        return self._target

    @property
    @abstractmethod
    def n_features(self) -> int:
        """How many numbers a row has."""

    @abstractmethod
    def begin(self) -> None:
        """Look at the first rows and settle what is predicted, and from which numbers."""

    @abstractmethod
    def _chunks(self) -> Iterator[Dataset]:
        """Read the source from its start."""

    @abstractmethod
    def _targets(self, chunk: Dataset, first_row: int) -> Targets:
        """Return the targets of a chunk that begins with the given row of the files."""

    @abstractmethod
    def _encoded(
        self, chunk: Dataset, kept: NDArray[np.intp], first_row: int
    ) -> tuple[Rows, EncodingReport | None]:
        """Return some rows of a chunk as numbers, and what the encoder met."""

    def batches(self, rows_left: Callable[[], int], done: int = 0) -> Iterator[Batch]:
        """Give the rows of one pass, some at a time.

        Parameters
        ----------
        rows_left : callable
            Returns how many rows the next batch may have.
        done : int
            So many rows of the files were learned from already.
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
        """Cut a chunk into batches; rows without a target go with those before them."""
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

    def _tell_order(self, y: NDArray[Any]) -> None:
        message = order_warning(self.target, y)
        if message:
            warn(message)

    def _first(self) -> list[Dataset]:
        """Return the first chunks; they will be given again."""
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
