"""Base classes of the readers of lines, of sparse rows and of tables, with their errors.

Readers of lines take chunks of bytes and return batches of rows with their labels, queries, weights
and tags; invalid lines raise or are skipped.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from separable.data.dataset import Dataset, split_target, target_array, whole_numbers
from separable.data.io.compression import BrokenStreamError
from separable.data.io.csv.sniff import CsvOptions
from separable.data.io.encodings import LineLimit, Utf8Text
from separable.data.reading_report import Progress, ReadingReport, SkippedLine, SkippedLines
from separable.data.row_operations import stack_rows
from separable.data.table import TableError, list_names
from separable.errors import Option

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from separable._core import portable
    from separable.data.io.sources import Input
    from separable.data.rows import Rows
    from separable.data.table import ColumnType
    from separable.errors import Message, Part

__all__ = [
    "Files",
    "LineError",
    "LineReader",
    "Options",
    "SparseBatch",
    "SparseFiles",
    "TableFiles",
    "cut_off",
    "shown",
]

#: Characters of the text shown in an error.
MAX_SHOWN = 60


class LineError(TableError):
    """A line that cannot be read.

    Parameters
    ----------
    refused : SkippedLine
        The line.
    *advice : str or Option
        Advice for such lines.
    """

    def __init__(self, refused: SkippedLine, *advice: Part) -> None:
        file, line, position = refused.source, refused.line, refused.column
        super().__init__(refused.reason, *advice, file=file, line=line, position=position)
        self.refused = refused


def shown(text: bytes) -> str:
    r"""Return bytes as an error shows them: decoded, quoted, shortened.

    Examples
    --------
    >>> shown(b"caf\xc3\xa9")
    "'café'"
    >>> shown(b"x" * 100)[-6:]
    "xx'..."
    """
    decoded = text.decode(errors="backslashreplace")
    if len(decoded) <= MAX_SHOWN:
        return repr(decoded)
    return f"{decoded[:MAX_SHOWN]!r}..."


SKIP_ADVICE = (". ", Option("on_error", "skip"), " skips such lines and counts them.")


class LineReader:
    """Incremental reader of text, on top of a parser of the compiled core.

    Parameters
    ----------
    parser : portable.SvmlightParser or portable.VwParser
        Parser of the compiled core.
    on_error : {"raise", "skip"}
        For an invalid line: raise ``LineError``, or count it in ``skipped``.
    name : str
        Name of the file in errors.
    """

    #: Message for each error code of the core, in order.
    reasons: ClassVar[tuple[tuple[str, str], ...]] = ()

    def __init__(
        self,
        parser: portable.SvmlightParser | portable.VwParser,
        on_error: Literal["raise", "skip"],
        name: str,
    ) -> None:
        self._stream = parser
        self._skips = on_error == "skip"
        self._name = name
        self._finished = False
        self._limit = LineLimit(name)

    def feed(self, chunk: Any) -> None:
        """Parse the next bytes of the file; a line may continue in the next chunk."""
        if self._finished:
            raise ValueError("feed was called after finish. Make a new reader for another file.")
        data = chunk if isinstance(chunk, bytes) else bytes(memoryview(chunk))
        self._limit.check(data)
        self._stream.feed(data)
        self._raise_fault()

    def finish(self) -> None:
        """Mark the end of the file: its last line may lack a line feed."""
        if not self._finished:
            self._stream.finish()
            self._finished = True
        self._raise_fault()

    @property
    def n_waiting(self) -> int:
        """Number of rows that ``take`` would return."""
        return self._stream.n_rows

    @property
    def skipped(self) -> SkippedLines:
        """Lines skipped so far."""
        if not self._skips:
            return SkippedLines()
        return SkippedLines(
            self._stream.n_faults, tuple(map(self._skipped_line, self._stream.faults))
        )

    def take(self, max_rows: int | None = None) -> SparseBatch | None:
        """Return the rows parsed so far, at most ``max_rows``; None if there are none.

        Parameters
        ----------
        max_rows : int, optional
            Maximum rows; the others are kept for the next call.
        """
        if max_rows is not None and max_rows < 1:
            raise ValueError(f"max_rows must be at least 1. Got {max_rows} instead.")
        self._raise_fault()
        most = self.n_waiting if max_rows is None else min(self.n_waiting, max_rows)
        return self._take(most) if most else None

    def _take(self, most: int) -> SparseBatch:
        """Return the first ``most`` rows."""
        raise NotImplementedError

    def _skipped_line(self, fault: tuple[int, int, int, bytes]) -> SkippedLine:
        line, column, number, text = fault
        kind, sentence = self.reasons[number]
        reason = self._sentence(sentence, shown(text))
        return SkippedLine(self._name, line, reason, shown(text), column, kind)

    def _sentence(self, sentence: str, text: str) -> str:
        return sentence.format(text=text)

    def _raise_fault(self) -> None:
        if not self._skips and self._stream.n_faults:
            raise LineError(self._skipped_line(self._stream.faults[0]), *SKIP_ADVICE)


@dataclass(frozen=True, slots=True)
class SparseBatch:
    """A batch of rows of a file, in file order.

    Parameters
    ----------
    rows : Rows
        CSR, float64; indices are int32, or int64 if needed.
    labels : ndarray of float64 or tuple of str
        One per row: texts if the file has text labels or several labels per row. NaN: unlabelled,
        possible only in Vowpal Wabbit text.
    qid : ndarray of int64, optional
        Query id of each row, -1 if it has none; None if the file has none so far.
    weights : ndarray of float64, optional
        Vowpal Wabbit text: importance weight of each row.
    tags : tuple of str, optional
        Vowpal Wabbit text: tag of each row, empty if none.
    base : ndarray of float64, optional
        Vowpal Wabbit text: initial prediction of each row.
    """

    rows: Rows
    labels: NDArray[np.float64] | tuple[str, ...]
    qid: NDArray[np.int64] | None = None
    weights: NDArray[np.float64] | None = None
    tags: tuple[str, ...] | None = None
    base: NDArray[np.float64] | None = None

    def __len__(self) -> int:
        return self.rows.n_rows


@dataclass(frozen=True)
class Options:
    """Validated reading options."""

    csv: CsvOptions = field(default_factory=CsvOptions)
    columns: Sequence[str | int] | None = None
    encoding: str | None = None
    skip: bool = False
    index_base: Any = "auto"
    n_features: int | None = None
    labels: Any = "auto"

    @property
    def named_types(self) -> dict[str, ColumnType]:
        """Types chosen by the user, by column."""
        return dict(self.csv.column_types or {})


class Files(ABC):
    """Files of one format, read whole or in chunks.

    Parameters
    ----------
    inputs : list of Input
    target : object
        As passed by the user.
    options : Options
    progress : callable, optional
        Called with the progress of reading in chunks.
    """

    format: ClassVar[str]
    #: Whether a file may hold several tables, of which ``table`` or ``query`` selects one.
    selects: ClassVar[bool] = False

    def __init__(
        self,
        inputs: list[Input],
        target: Any,
        options: Options,
        progress: Callable[[Progress], None] | None = None,
    ) -> None:
        self.inputs, self.target, self.options, self.progress = inputs, target, options, progress
        self.report = ReadingReport(format=self.format, notes=self._first_notes())
        self.columns: list[str] = []
        self.label: str | None = None

    def start_again(self) -> None:
        """Reset the report, in place, to read again."""
        fresh = ReadingReport(format=self.format, notes=self._first_notes())
        vars(self.report).update(vars(fresh))

    def _first_notes(self) -> list[Message | str]:
        others = [name for one in self.inputs for name in one.passed_over]
        return [f"ignored in the folder: {list_names(others, 5)}"] if others else []

    @property
    def where(self) -> str:
        """Name of the files in messages."""
        return self.inputs[0].name if len(self.inputs) == 1 else f"{len(self.inputs)} files"

    @abstractmethod
    def dataset(self) -> Dataset:
        """Return all rows."""

    @abstractmethod
    def datasets(self, chunk_bytes: int, chunk_rows: int | None) -> Iterator[Dataset]:
        """Yield the rows in chunks."""

    def report_progress(self, bytes_read: int) -> None:
        """Report progress: bytes read of the current file."""
        if self.progress is None:
            return
        names = self.report.sources[:-1]
        done = sum(one.size or 0 for one in self.inputs if one.name in names)
        sizes = [one.size for one in self.inputs]
        total = None if None in sizes else sum(size or 0 for size in sizes)
        self.progress(Progress(done + bytes_read, total, self.report.rows))


class TableFiles(Files):
    """Files of tables with named columns."""

    @abstractmethod
    def read(self) -> pa.Table:
        """Return all rows as a table."""

    @abstractmethod
    def chunks(self, chunk_bytes: int) -> Iterator[pa.Table]:
        """Yield the rows in chunks, as tables."""

    def dataset(self) -> Dataset:
        """Return all rows."""
        dataset = split_target(self.read(), self.target, self.label, self.report)
        self.report.rows = len(dataset)
        return dataset

    def datasets(self, chunk_bytes: int, chunk_rows: int | None) -> Iterator[Dataset]:
        """Yield the rows in chunks."""
        tables = self.chunks(chunk_bytes)
        for table in tables if chunk_rows is None else _of_rows(tables, chunk_rows):
            if table.num_rows:
                before = self.report.rows_without_target
                dataset = split_target(table, self.target, self.label, self.report)
                self.report.rows -= self.report.rows_without_target - before
                yield dataset


def cut_off(name: str, problem: object, rows: int, line: int | None = None) -> TableError:
    """Return the error about a truncated file."""
    return TableError(
        f"{problem}, after {rows} rows. Get the file again, or read the rows before that with ",
        Option("on_error", "skip"),
        ".",
        file=name,
        line=line,
    )


def _of_rows(tables: Iterator[pa.Table], size: int) -> Iterator[pa.Table]:
    """Re-chunk tables to ``size`` rows each."""
    import pyarrow as pa

    held: list[pa.Table] = []
    count = 0
    for table in tables:
        held.append(table)
        count += table.num_rows
        if count < size:
            continue
        whole = pa.concat_tables(held)
        for start in range(0, count - count % size, size):
            yield whole.slice(start, size)
        held, count = [whole.slice(count - count % size)], count % size
    if count:
        yield pa.concat_tables(held)


PIECE_BYTES = 1 << 22


class SparseFiles(Files):
    """Files of sparse rows. See `Files`; the label of each row is the target."""

    #: Whether unlabelled rows are kept, with the label NaN.
    keep_unlabelled = False

    def dataset(self) -> Dataset:
        """Return all rows of all files."""
        batches = list(self._batches(None))
        if not batches:
            raise TableError(f"{self.where}: no rows.")
        dataset = self._joined(batches)
        self.report.rows = len(dataset)
        return dataset

    def datasets(self, chunk_bytes: int, chunk_rows: int | None) -> Iterator[Dataset]:
        """Yield the rows in chunks; later chunks may have more columns."""
        for batch in self._batches(chunk_rows or 0, chunk_bytes):
            dataset = self._joined([batch])
            self.report.rows += len(dataset)
            yield dataset

    @abstractmethod
    def _reader(self, name: str) -> Any:
        """Return a reader for the next file."""

    def _batches(self, rows: int | None, piece: int = PIECE_BYTES) -> Iterator[SparseBatch]:
        """Yield batches: whole files for None, everything available for 0, else this many rows."""
        self._refuse_columns()
        for source in self.inputs:
            reader = self._reader(source.name)
            self.report.sources.append(source.name)
            for waiting in self._fed(source, reader, piece):
                if rows is None and waiting:
                    continue
                while True:
                    if rows and waiting and reader.n_waiting < rows:
                        break
                    batch = reader.take(rows or None)
                    if batch is None:
                        break
                    yield batch
            self.report.skip_all(reader.skipped)

    def _fed(self, source: Input, reader: Any, size: int) -> Iterator[bool]:
        """Feed a file to a reader; yield True after each piece and False at the end."""
        with source.open() as opened:
            text = Utf8Text(opened, self.options.encoding)
            self.report.compression = opened.compression
            try:
                while piece := text.read(size):
                    reader.feed(piece)
                    self.report_progress(opened.bytes_read)
                    yield True
            except BrokenStreamError as error:
                rows = self.report.rows + reader.n_waiting
                if not self.options.skip:
                    raise cut_off(source.name, error, rows) from None
                self.report.notes.append(f"{source.name}: {error}, after {rows} rows")
        reader.finish()
        yield False

    def _refuse_columns(self) -> None:
        by_name = self.options.columns is not None or isinstance(self.target, (str, int))
        if by_name or self.options.named_types:
            raise TableError(
                f"{self.where}: {self.format} files have no named columns, and each line begins "
                "with its target. Omit target=, columns= and column_types=."
            )

    def _joined(self, batches: list[SparseBatch]) -> Dataset:
        rows = batches[0].rows
        if len(batches) > 1:
            width = max(batch.rows.n_features for batch in batches)
            rows = stack_rows([batch.rows for batch in batches], width)
        texts = isinstance(batches[0].labels, tuple)
        if any(isinstance(batch.labels, tuple) != texts for batch in batches):
            raise TableError(
                f"{self.where}: labels are numbers in some files and texts in others. Pass "
                "labels='text' to read all of them as text."
            )
        labels = np.concatenate([np.asarray(batch.labels) for batch in batches])
        weights = _together([batch.weights for batch in batches])
        qid = _queries(batches)
        tags = [tag for batch in batches for tag in batch.tags or ()] or None
        self.report.n_features = max(self.report.n_features or 0, rows.n_features)
        y: NDArray[Any] | None = labels if texts else whole_numbers(labels)
        if self.target is not None:
            y = target_array(self.target, rows.n_rows)
        elif not texts and not self.keep_unlabelled and np.isnan(labels).any():
            kept = np.flatnonzero(~np.isnan(labels))
            if not len(kept):
                y = None
            else:
                self.report.rows_without_target += len(labels) - len(kept)
                rows, y = rows.take(kept), whole_numbers(labels[kept])
                weights = None if weights is None else weights[kept]
                qid = None if qid is None else qid[kept]
                tags = None if tags is None else [tags[row] for row in kept]
        return Dataset(None, rows, y, self.report, weights, tags, qid, self._names())

    def _names(self) -> tuple[str, ...] | None:
        return None


def _queries(batches: list[SparseBatch]) -> NDArray[np.int64] | None:
    """Return the query ids, -1 in files without any; None if no file has any."""
    if all(batch.qid is None for batch in batches):
        return None
    return np.concatenate(
        [np.full(len(b), -1) if b.qid is None else b.qid for b in batches], dtype=np.int64
    )


def _together(parts: list[NDArray[Any] | None]) -> NDArray[Any] | None:
    kept = [part for part in parts if part is not None]
    return np.concatenate(kept) if len(kept) == len(parts) else None
