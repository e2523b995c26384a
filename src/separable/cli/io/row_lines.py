"""Line numbers of rows in their file, where these are certain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click
import numpy as np

from separable.data.io.csv.records import Records

if TYPE_CHECKING:
    from collections.abc import Iterator

    from separable.cli.options.options import ReadingOptions
    from separable.data.io.csv.dialect import Dialect
    from separable.data.io.sources import Input
    from separable.data.reading_report import ReadingReport

__all__ = ["cell_position", "remember_lines"]

#: Where the context of a command keeps what it has read.
READ = "separable.read"

#: Lines are counted in parts of about this size.
PART_BYTES = 1 << 22


@dataclass(frozen=True)
class _Read:
    """A file that was read as a table, and how."""

    source: Input
    report: ReadingReport
    reading: ReadingOptions

    def position(self, row: int, column: str) -> tuple[int, int | None] | None:
        """Return line and byte of a value, both counted from 1."""
        if self.reading.comment or self.report.skipped:
            return None  # not each record is a row
        dialect = self.report.dialect
        if dialect is None:
            return self._line_of_object(row)
        names: list[str] = []
        for records, line in self._records(dialect):
            mask = np.flatnonzero(~records.empty)
            if dialect.header and not names and len(mask):
                names, mask = _names(records, int(mask[0])), mask[1:]
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
        """Give the records of the file some at a time, with the line on which each part begins."""
        line, skip, rest = 1, self.reading.skip_rows, b""
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
        """Give the text of the file, some whole lines at a time."""
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


def _names(records: Records, record: int) -> list[str]:
    """Return the names that a header line has."""
    import csv

    start, end = int(records.starts[record]), int(records.ends[record])
    text = bytes(records.data[start:end]).decode()
    if records.quoting:
        (cells,) = csv.reader([text], delimiter=records.delimiter)
    else:
        cells = text.strip("\r\n").split(records.delimiter)
    return [cell.strip() for cell in cells]


def remember_lines(
    data: str, inputs: list[Input], report: ReadingReport, reading: ReadingOptions
) -> None:
    """Keep what is needed to find the lines of a table's rows, should one of them be bad.

    Parameters
    ----------
    data : str
        As the user named it.
    inputs : list of Input
    report : ReadingReport
        What reading it found.
    reading : ReadingOptions
    """
    context = click.get_current_context(silent=True)
    is_text = report.format in ("csv", "jsonl")
    if context is None or len(inputs) > 1 or not inputs[0].again or not is_text:
        return
    context.meta.setdefault(READ, {})[data] = _Read(inputs[0], report, reading)


def cell_position(data: str, row: int, column: str) -> tuple[int, int | None] | None:
    """Return the line of a value and the byte on it, both counted from 1.

    The file is read a second time for it, up to that line.

    Parameters
    ----------
    data : str
        The file.
    row : int
        The row of its table, counted from 0.
    column : str

    Returns
    -------
    (int, int or None) or None
        None where it is not known for sure, as where lines were left out.
    """
    context = click.get_current_context(silent=True)
    read = None if context is None else context.meta.get(READ, {}).get(data)
    try:
        return None if read is None else read.position(row, column)
    except (OSError, ValueError, IndexError):  # the file has changed since
        return None
