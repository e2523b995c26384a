"""Input tables of a workflow: files in every format of `separable.data.read`, frames, tables.

Errors about a value of a file name its line: how a file was read is remembered, and the file is
read again up to the bad row.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.io.csv.records import Records
from separable.model.words import counted
from separable.workflow.options import AS_IT_LOOKS, ReadingOptions, file_name
from separable.workflow.progress import files_read, note, step

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pyarrow as pa
    from numpy.typing import NDArray

    from separable.data.io.csv.dialect import Dialect
    from separable.data.io.sources import Input
    from separable.data.reading_report import ReadingReport
    from separable.data.table import ColumnType, TableError


__all__ = [
    "naming_file",
    "remember_lines",
    "skipped_text",
    "table_of",
]

#: Lines are counted in blocks of about this size.
PART_BYTES = 1 << 22


def table_of(
    data: Any,
    column_types: Mapping[str, ColumnType],
    reading: ReadingOptions = AS_IT_LOOKS,
) -> pa.Table:
    """Return the table of a file, a glob, a folder, standard input, or of a frame.

    Parameters
    ----------
    data : str, data frame, pyarrow.Table, dict of columns or list of dicts
    column_types : mapping of str to str
        The types of some columns.
    reading : ReadingOptions
        Overrides of the detected format of a file.
    """
    if not isinstance(data, str):
        return _in_memory(data, column_types, reading)
    from separable.data.io.formats import formats_of
    from separable.data.io.reading import read_inputs
    from separable.data.io.sources import inputs_of
    from separable.data.table import TableError

    options = reading.for_read()
    inputs = inputs_of(data, options.pop("table", None), options.pop("query", None))
    kind = options.pop("format", None) or formats_of(inputs)
    if kind in ("svmlight", "vw"):
        raise TableError(
            f"{inputs[0].name}: {kind} text has no named columns, which this command needs. Learn "
            "from it with separable train --stream, or read it in Python: "
            "X, y = separable.data.read(...)."
        )
    with step(f"Reading {file_name(data)}"):
        dataset = read_inputs(inputs, kind, column_types=column_types, **options)
    remember_lines(data, inputs, dataset.report, reading)
    for message in dataset.report.notes:
        note(message)
    assert dataset.table is not None
    return dataset.table


def _in_memory(
    data: Any, column_types: Mapping[str, ColumnType], reading: ReadingOptions
) -> pa.Table:
    """Return a table in memory with columns of the given types."""
    from separable.data.io.reading import read
    from separable.data.table import TableError
    from separable.errors import OptionError

    given = reading.given()
    if given:
        raise OptionError(given[0], ": this option is for files, and the data is in memory.")
    dataset = read(_without_index(data), column_types=column_types)
    if dataset.table is None:
        raise TableError("A sparse matrix has no named columns: give a table, or fit a learner.")
    if not dataset.table.num_rows:
        raise TableError("The table has no rows.")
    return dataset.table


def _without_index(data: Any) -> Any:
    """Return a frame of pandas without its index, which is no feature."""
    is_pandas = type(data).__module__.partition(".")[0] == "pandas"
    return data.reset_index(drop=True) if is_pandas and hasattr(data, "reset_index") else data


def skipped_text(data: str, count: int, first: object) -> str:
    """Return a sentence with the number of skipped lines of a file, and the first of them."""
    lines = counted(count, "line")
    return f"{file_name(data)}: {lines} skipped that cannot be read, the first: {first}"


@contextmanager
def naming_file(source: Any, rows: NDArray[Any] | range | None = None) -> Iterator[None]:
    """Add the file to errors about its table, and the line if it is certain.

    Parameters
    ----------
    source : str or table
        The file; a table in memory has no name.
    rows : ndarray of int or range, optional
        Index in the file of each row in use.
    """
    from separable.data.table import TableError

    try:
        yield
    except TableError as error:
        raise _located(error, source, rows) from None


def _located(error: TableError, source: Any, rows: NDArray[Any] | range | None) -> TableError:
    """Return an error with its place in the file."""
    if error.file is not None:
        return error
    if error.row is not None and rows is not None:
        error = error.at(row=int(rows[error.row]))
    if not isinstance(source, str):
        return error
    line = position = None
    if error.row is not None and error.column is not None:
        line, position = _cell_position(source, error.row, error.column) or (None, None)
    return error.at(file=file_name(source), line=line, position=position)


@dataclass(frozen=True)
class _Read:
    """A file that was read as a table, with the options for reading it."""

    source: Input
    report: ReadingReport
    reading: ReadingOptions

    def position(self, row: int, column: str) -> tuple[int, int | None] | None:
        """Return line and byte of a value, both counted from 1."""
        if self.reading.comment or self.report.skipped:
            return None  # not every record is a row
        dialect = self.report.dialect
        if dialect is None:
            return self._line_of_object(row)
        names: list[str] = []
        for records, line in self._records(dialect):
            mask = np.flatnonzero(~records.empty)
            if dialect.header and not names and len(mask):
                names, mask = _names(records, int(mask[0]), dialect.shift), mask[1:]
            if row >= len(mask):
                row -= len(mask)
                continue
            if len(names) == 1 or records.widths[mask[row]] == 1:
                return None  # an empty line may be a row
            number = names.index(column) if names else int(column.removeprefix("c")) - 1
            start = records.start_of(int(mask[row]), number)
            return line + records.line_of_byte(start), records.column_of_byte(start) + 1
        return None

    def _line_of_object(self, row: int) -> tuple[int, None] | None:
        """Return the line of an object of JSON lines."""
        line = 1
        for text in self._texts():
            for each in text.split(b"\n")[:-1]:
                if each.strip():
                    if not row:
                        return line, None
                    row -= 1
                line += 1
        return None

    def _records(self, dialect: Dialect) -> Iterator[tuple[Records, int]]:
        """Yield the records of the file in blocks, with the first line number of each."""
        line, skip, rest = 1, dialect.above, b""
        for text in self._texts():
            while skip and text:
                _, _, text = text.partition(b"\n")
                line, skip = line + 1, skip - 1
            rest += text
            whole = Records(rest, dialect.delimiter, dialect.quoting).complete
            if whole:
                records = Records(rest[:whole], dialect.delimiter, dialect.quoting)
                yield records, line
                line, rest = line + records.n_lines, rest[whole:]

    def _texts(self) -> Iterator[bytes]:
        """Yield the text of the file in blocks of whole lines."""
        from separable.data.io.encodings import Utf8Text

        rest = b""
        with self.source.open() as opened:
            text = Utf8Text(opened, self.reading.encoding)
            while piece := text.read(PART_BYTES):
                lines, newline, rest = (rest + piece).rpartition(b"\n")
                if newline:
                    yield lines + newline
        if rest:
            yield rest + b"\n"


def _names(records: Records, record: int, shift: int) -> list[str]:
    """Return the names in a header line, with one for the names of rows that it may lack."""
    import csv

    start, end = int(records.starts[record]), int(records.ends[record])
    text = bytes(records.data[start:end]).decode()
    if records.quoting:
        (cells,) = csv.reader([text], delimiter=records.delimiter)
    else:
        cells = text.strip("\r\n").split(records.delimiter)
    return [""] * (shift < 0) + [cell.strip() for cell in cells]


def remember_lines(
    data: str, inputs: list[Input], report: ReadingReport, reading: ReadingOptions
) -> None:
    """Remember how a table was read, to find the line of a bad row later.

    Parameters
    ----------
    data : str
        As the user named it.
    inputs : list of Input
    report : ReadingReport
        The result of reading it.
    reading : ReadingOptions
    """
    read = files_read()
    is_text = report.format in ("csv", "jsonl")
    if read is None or len(inputs) > 1 or not inputs[0].again or not is_text:
        return
    read[data] = _Read(inputs[0], report, reading)


def _cell_position(data: str, row: int, column: str) -> tuple[int, int | None] | None:
    """Return the line of a value and the byte on it, both counted from 1.

    None if it is uncertain, for example if lines were skipped. This reads the file again, up to
    that line.
    """
    read = (files_read() or {}).get(data)
    try:
        return None if read is None else read.position(row, column)
    except (OSError, ValueError, IndexError):  # the file has changed
        return None
