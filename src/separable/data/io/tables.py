"""Base classes of the readers of tabular formats."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from separable.data.dataset import Dataset, split_target
from separable.data.io.csv.sniff import CsvOptions
from separable.data.progress import Progress
from separable.data.reading_report import ReadingReport
from separable.data.table import TableError, file_position, list_names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import pyarrow as pa

    from separable.data.io.sources import Input
    from separable.data.table import ColumnType

__all__ = ["Files", "Options", "TableFiles", "cut_off"]


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

    def _first_notes(self) -> list[str]:
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
    where = name if line is None else file_position(name, line)
    return TableError(
        f"{where}: {problem}, after {rows} rows. Get the file again, or read the rows before that "
        "with on_error='skip'."
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
