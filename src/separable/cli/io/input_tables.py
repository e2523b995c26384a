"""Input tables of the commands, in every format of `separable.data.read`, with line numbers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click
import numpy as np

from separable.cli.io.output import counted, file_name
from separable.cli.options.options import ReadingOptions
from separable.cli.render.messages import note, step
from separable.data.io.csv.records import Records

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pyarrow as pa

    from separable.data.io.csv.dialect import Dialect
    from separable.data.io.sources import Input
    from separable.data.reading_report import ReadingReport
    from separable.data.table import ColumnType


__all__ = [
    "AS_IT_LOOKS",
    "cell_position",
    "in_options",
    "remember_lines",
    "skipped_text",
    "table_of",
]


#: Everything about the file format is detected.
AS_IT_LOOKS = ReadingOptions()

#: Options of `read` in its messages, and the options of a command that replace them.
_FLAGS = {
    "on_error='skip'": "--skip-bad-lines",
    "header=True": "--header",
    "header=False": "--no-header",
    "quoting=False": "--no-quoting",
    "or name the columns to read: columns=[...]": "or leave the column out of the file",
    "Name the columns to read: columns=[...]": "Add it to the first line, as null",
    "Name them in columns=[...] to read them": "Add them to the first line, as null, to read them",
}
_VALUES = re.compile(
    r"\b(table|query|format|skip_rows|comment|encoding|delimiter|decimal)=([^\s,;).]+)"
)
_TYPES = re.compile(r"\bcolumn_types=\{('[^']*'): '(number|category)'\}")

#: Key in the context of a command: the files it has read.
READ = "separable.read"

#: Lines are counted in blocks of about this size.
PART_BYTES = 1 << 22


def table_of(
    data: str,
    column_types: Mapping[str, ColumnType],
    reading: ReadingOptions = AS_IT_LOOKS,
) -> pa.Table:
    """Return the table of a file, a glob, a folder or standard input.

    Parameters
    ----------
    data : str
        As the user named it.
    column_types : mapping of str to str
        The types of some columns.
    reading : ReadingOptions
        Overrides of the detected format.
    """
    from separable.data.io.formats import formats_of
    from separable.data.io.reading import read_inputs
    from separable.data.io.sources import inputs_of
    from separable.data.table import NotANumberError, TableError

    options = reading.for_read()
    inputs = inputs_of(data, options.pop("table", None), options.pop("query", None))
    kind = options.pop("format", None) or formats_of(inputs)
    if kind in ("svmlight", "vw"):
        raise TableError(
            f"{inputs[0].name}: {kind} text has no named columns, which this command needs. Learn "
            "from it with separable train --stream, or read it in Python: "
            "X, y = separable.data.read(...)."
        )
    try:
        with step(f"Reading {file_name(data)}"):
            dataset = read_inputs(inputs, kind, column_types=column_types, **options)
    except NotANumberError:
        raise  # the caller that set the type knows the remedy
    except TableError as error:
        raise TableError(in_options(str(error))) from None

    remember_lines(data, inputs, dataset.report, reading)
    for message in dataset.report.notes:
        note(in_options(message))
    assert dataset.table is not None
    return dataset.table


def skipped_text(data: str, count: int, first: object) -> str:
    """Return a sentence with the number of skipped lines of a file, and the first of them."""
    lines = counted(count, "line")
    return f"{file_name(data)}: {lines} skipped that cannot be read, the first: {first}"


def in_options(message: str) -> str:
    """Return a message of `separable.data.read` in terms of command line options."""
    for python, option in _FLAGS.items():
        message = message.replace(python, option)
    message = _TYPES.sub(lambda match: f"--{match[2]} {match[1]}", message)
    return _VALUES.sub(lambda match: f"--{match[1].replace('_', '-')} {match[2]}", message)


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
        """Yield the records of the file in blocks, with the first line number of each."""
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


def _names(records: Records, record: int) -> list[str]:
    """Return the names in a header line."""
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
    context = click.get_current_context(silent=True)
    is_text = report.format in ("csv", "jsonl")
    if context is None or len(inputs) > 1 or not inputs[0].again or not is_text:
        return
    context.meta.setdefault(READ, {})[data] = _Read(inputs[0], report, reading)


def cell_position(data: str, row: int, column: str) -> tuple[int, int | None] | None:
    """Return the line of a value and the byte on it, both counted from 1.

    This reads the file again, up to that line.

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
        None if it is uncertain, for example if lines were skipped.
    """
    context = click.get_current_context(silent=True)
    read = None if context is None else context.meta.get(READ, {}).get(data)
    try:
        return None if read is None else read.position(row, column)
    except (OSError, ValueError, IndexError):  # the file has changed
        return None
