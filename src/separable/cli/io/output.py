"""Output of the commands: data to standard output or a file, state of the standard streams."""

from __future__ import annotations

import os
import sys
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from separable.cli.render.messages import warn

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from separable.features.encoding_report import ColumnReport, EncodingReport


__all__ = [
    "check_csv_output",
    "check_output",
    "close_output",
    "colour",
    "counted",
    "csv_bytes",
    "data_name",
    "file_name",
    "flush_output",
    "json_bytes",
    "naming_file",
    "report_lines",
    "warnings_in_one_line",
    "write_data",
]


def counted(number: Any, noun: str) -> str:
    """Return a number of things in words: 1 row, 2 rows."""
    return f"{number} {noun}{'s' * (number != 1)}"


def json_bytes(value: Any) -> bytes:
    """Return a value as one line of JSON."""
    import msgspec

    return msgspec.json.encode(value) + b"\n"


def csv_bytes(titles: list[str], lines: Iterable[list[Any]]) -> bytes:
    """Return a few lines as CSV, None as nothing."""
    import csv
    import io

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(titles)
    writer.writerows(lines)
    return text.getvalue().encode()


def write_data(data: bytes | Iterable[bytes], path: str | None = None) -> None:
    """Write data, in parts or at once, to standard output, or to a file wholly or not at all."""
    if path is None or path == "-":
        if sys.stdout is None:
            raise OSError("Standard output is closed. Open it, or name a file with -o.")
        sys.stdout.flush()
        seen = sys.stdout.isatty()
        for part in [data] if isinstance(data, bytes) else data:
            sys.stdout.buffer.write(_for_terminal(part) if seen else part)
            sys.stdout.buffer.flush()  # whoever reads it sees each part at once
        return
    from separable.model.files.atomic import write_atomically

    write_atomically(path, data)


def _for_terminal(part: bytes) -> bytes:
    """Return data as a terminal may see it: without control sequences."""
    from separable.cli.render.messages import printable

    return printable(part.decode("utf-8", "backslashreplace")).encode()


def check_output(output: str, **inputs: str) -> None:
    """Refuse before the work what would be refused after it, and to overwrite an input.

    Parameters
    ----------
    output : str
        The file to be written.
    **inputs : str
        The files that are read, by what each is.
    """
    from separable.model.files.atomic import check_writable

    path = Path(output)
    for what, source in inputs.items():
        both = source != "-" and path.exists() and Path(source).exists()
        if both and path.samefile(source):
            raise click.UsageError(f"-o {output} would overwrite the {what}.")
    check_writable(path)


def check_csv_output(output: str | None, data: str, *, as_json: bool) -> None:
    """Refuse -o and --json together, and what `check_output` refuses."""
    if output is not None and as_json:
        raise click.UsageError(
            "-o writes CSV and --json writes to standard output. Give one of them."
        )
    if output is not None and output != "-":
        check_output(output, data=data)


@contextmanager
def naming_file(source: str, rows: NDArray[Any] | range | None = None) -> Iterator[None]:
    """Name the file in an error about its table, and count rows as the user does, from 1.

    Parameters
    ----------
    source : str
        The file.
    rows : ndarray of int or range, optional
        For each row in use, its place in the file, counted from 0.
    """
    from separable.data.table import CellError, TableError

    try:
        yield
    except CellError as error:
        row = error.row if rows is None else int(rows[error.row])
        raise TableError(f"{_cell_name(source, row, error.column)}: {error.problem}") from None
    except TableError as error:
        raise TableError(f"{file_name(source)}: {error}") from None


def _cell_name(source: str, row: int, column: str) -> str:
    """Return where a value is: the line of the file if it is known for sure, else the row."""
    from separable.cli.io.row_lines import cell_position
    from separable.data.table import file_position

    position = cell_position(source, row, column)
    if position is None:
        return f"{file_name(source)}: data row {row + 1}, column {column!r}"
    return f"{file_position(file_name(source), *position)}: column {column!r}"


def file_name(source: str) -> str:
    """Return what to call a source in a message."""
    return "standard input" if source == "-" else source


def data_name(source: str) -> str:
    """Return what a model remembers its data as: the name without folders."""
    return file_name(source).rpartition("/")[2]


def report_lines(report: EncodingReport, first_row: int = 0) -> list[str]:
    """Return what an encoder met, one line each, rows counted from 1.

    Parameters
    ----------
    report : EncodingReport
    first_row : int
        The place of the first encoded row in its file, counted from 0.
    """
    return [line for column in report.columns for line in _column_lines(column, first_row + 1)]


def _column_lines(column: ColumnReport, shift: int) -> Iterator[str]:
    from separable.model.words import shown

    name = shown(column.column)
    if column.missing:
        rows = ", ".join(str(row + shift) for row in column.missing_rows)
        more = ", ..." if column.missing > len(column.missing_rows) else ""
        met = "as in training" if column.missing_trained else "none in training: no effect"
        yield f"{name}: {column.missing} missing (data row {rows}{more}; {met})"
    if column.unseen:
        examples = ", ".join(
            f"{shown(level)!r} in data row {row + shift}" for row, level in column.unseen_examples
        )
        yield f"{name}: {column.unseen} with a level not seen in training: no effect ({examples})"


def colour() -> bool | None:
    """Return whether to write in colour; None: where it is a terminal.

    ``NO_COLOR`` and ``FORCE_COLOR`` count where they are set to anything but nothing; the first
    wins.
    """
    if os.environ.get("NO_COLOR"):
        return False
    return True if os.environ.get("FORCE_COLOR") else None


def flush_output() -> None:
    """Write what is still held back, so that an error comes now and not when Python ends."""
    for stream in (sys.stdout, sys.stderr):
        if stream is None:  # closed before the program began
            continue
        try:
            stream.flush()
        except OSError:
            close_output()
            raise


def close_output() -> None:
    """Let nothing more go to streams that cannot be written, not even when Python ends."""
    for stream in (sys.stdout, sys.stderr):
        if stream is None:
            continue
        try:
            stream.flush()
        except OSError:
            _send_nowhere(stream)
        except ValueError:  # it is closed
            continue


def _send_nowhere(stream: Any) -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, stream.fileno())
        stream.flush()
    except (OSError, ValueError):  # it is no file
        return
    finally:
        os.close(nowhere)


@contextmanager
def warnings_in_one_line() -> Iterator[None]:
    """Tell the warnings of Python as the commands tell theirs."""

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        warn(" ".join(str(message).split()))

    before = warnings.showwarning
    warnings.showwarning = show
    try:
        yield
    finally:
        warnings.showwarning = before
