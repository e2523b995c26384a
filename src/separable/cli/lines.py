"""Where in its file a row of a table is: the line, where that can be told for sure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Iterator

    from separable.cli.options import ReadingOptions
    from separable.data.report import ReadingReport
    from separable.data.sources import Input

__all__ = ["place_of_cell", "remember_lines"]

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

    def place(self, row: int, column: str) -> tuple[int, int | None] | None:
        """Return line and byte of a value, both counted from 1, if each row is one line."""
        before = self.reading.skip_rows + self._has_header
        line, count, found = before + row, 0, b""
        for lines in self._parts():
            if lines.count(b"\r") != lines.count(b"\r\n"):
                return None
            here = lines.count(b"\n") + (not lines.endswith(b"\n"))
            if count <= line < count + here:
                found = lines.split(b"\n", line - count + 1)[line - count]
            count += here
        if count != before + self.report.rows:  # values over several lines, or empty lines
            return None
        return line + 1, self._byte(found, column)

    @property
    def _has_header(self) -> bool:
        return self.report.dialect is not None and self.report.dialect.header

    def _parts(self) -> Iterator[bytes]:
        """Give the text of the file, some whole lines at a time."""
        from separable.data.encodings import Utf8Text

        rest = b""
        with self.source.open() as opened:
            text = Utf8Text(opened, self.reading.encoding)
            while piece := text.read(PART_BYTES):
                lines, newline, rest = (rest + piece).rpartition(b"\n")
                if newline:
                    yield lines + newline
        if rest:
            yield rest

    def _byte(self, line: bytes, column: str) -> int | None:
        from separable.data.records import Records

        dialect, names = self.report.dialect, [each.name for each in self.report.columns]
        if dialect is None or column not in names:
            return None
        records = Records(line, dialect.delimiter, dialect.quoting)
        return records.start_of(0, names.index(column)) + 1


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
    is_text = report.format in ("csv", "jsonl") and not reading.comment and not report.skipped
    if context is None or len(inputs) > 1 or not inputs[0].again or not is_text:
        return
    context.meta.setdefault(READ, {})[data] = _Read(inputs[0], report, reading)


def place_of_cell(data: str, row: int, column: str) -> tuple[int, int | None] | None:
    """Return the line of a value and the byte on it, both counted from 1.

    The file is read a second time for it.

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
        None where it is not known for sure, as where values have several lines.
    """
    context = click.get_current_context(silent=True)
    read = None if context is None else context.meta.get(READ, {}).get(data)
    try:
        return None if read is None else read.place(row, column)
    except (OSError, ValueError):  # the file has changed since
        return None
