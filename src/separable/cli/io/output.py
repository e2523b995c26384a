"""Output of the commands: data, models and reports, to standard output or to files."""

from __future__ import annotations

import glob
import os
import sys
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from separable.cli.render.messages import note, step, warn

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from separable.features.encoding_report import ColumnReport, EncodingReport
    from separable.model.kinds import Model
    from separable.report.contents import Contents


__all__ = [
    "LARGEST_STATE",
    "check_csv_output",
    "check_output",
    "check_report",
    "close_output",
    "colour",
    "column_lines",
    "counted",
    "csv_bytes",
    "data_name",
    "file_name",
    "flush_output",
    "json_bytes",
    "model_path",
    "naming_file",
    "remembered",
    "report_lines",
    "save_model",
    "saved_text",
    "state_bytes",
    "warnings_in_one_line",
    "write_data",
    "write_report",
]


#: A larger training state is not saved.
LARGEST_STATE = 256_000_000


def counted(number: Any, noun: str) -> str:
    """Return a number with a noun: 1 row, 2 rows."""
    return f"{number} {noun}{'s' * (number != 1)}"


def json_bytes(value: Any) -> bytes:
    """Return a value as one line of JSON."""
    import msgspec

    return msgspec.json.encode(value) + b"\n"


def csv_bytes(titles: list[str], lines: Iterable[list[Any]]) -> bytes:
    """Return lines as CSV; None is empty."""
    import csv
    import io

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(titles)
    writer.writerows(lines)
    return text.getvalue().encode()


def write_data(data: bytes | Iterable[bytes], path: str | None = None) -> None:
    """Write data to standard output part by part, or to a file atomically."""
    if path is None or path == "-":
        if sys.stdout is None:
            raise OSError("Standard output is closed. Open it, or name a file with -o.")
        sys.stdout.flush()
        seen = sys.stdout.isatty()
        for part in [data] if isinstance(data, bytes) else data:
            sys.stdout.buffer.write(_for_terminal(part) if seen else part)
            sys.stdout.buffer.flush()  # the reader sees each part at once
        return
    from separable.model.files.atomic import write_atomically

    write_atomically(path, data)


def _for_terminal(part: bytes) -> bytes:
    """Return data without control sequences, for a terminal."""
    from separable.cli.render.messages import printable

    return printable(part.decode("utf-8", "backslashreplace")).encode()


def check_output(output: str, **inputs: str) -> None:
    """Refuse, before the work, a path that cannot be written or that is an input.

    Parameters
    ----------
    output : str
        The path to write.
    **inputs : str
        The input files, by their role.
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
    """Add the file to errors about its table, and count rows from 1.

    Parameters
    ----------
    source : str
        The file.
    rows : ndarray of int or range, optional
        Index in the file of each row in use.
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
    """Return the position of a value: the line of the file if it is certain, else the row."""
    from separable.data.table import file_position
    from separable.workflow.input_tables import cell_position

    position = cell_position(source, row, column)
    if position is None:
        return f"{file_name(source)}: data row {row + 1}, column {column!r}"
    return f"{file_position(file_name(source), *position)}: column {column!r}"


def file_name(source: str) -> str:
    """Return the name of a source for messages."""
    return "standard input" if source == "-" else source


def data_name(source: str) -> str:
    """Return the name of the data without folders, as models store it."""
    return file_name(source).rpartition("/")[2]


def column_lines(columns: Sequence[tuple[str, str, str]]) -> list[str]:
    """Return one line per column of a table: name, type and notes."""
    width = max((len(name) for name, _, _ in columns), default=0)
    return [f"  {name.ljust(width)}  {kind:<8}  {notes}".rstrip() for name, kind, notes in columns]


def report_lines(report: EncodingReport, first_row: int = 0) -> list[str]:
    """Return the findings of an encoder, one per line, with rows counted from 1.

    Parameters
    ----------
    report : EncodingReport
    first_row : int
        Index of the first encoded row in its file.
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
    """Return whether to write in colour; None: if it is a terminal.

    ``NO_COLOR`` and ``FORCE_COLOR`` apply if they are set and not empty; the first wins.
    """
    if os.environ.get("NO_COLOR"):
        return False
    return True if os.environ.get("FORCE_COLOR") else None


def flush_output() -> None:
    """Flush standard output now, so that an error is not raised at exit."""
    for stream in (sys.stdout, sys.stderr):
        if stream is None:  # closed before the program started
            continue
        try:
            stream.flush()
        except OSError:
            close_output()
            raise


def close_output() -> None:
    """Redirect streams that cannot be written, so that nothing fails at exit."""
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
    """Print Python warnings as the commands print theirs."""

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        warn(" ".join(str(message).split()))

    before = warnings.showwarning
    warnings.showwarning = show
    try:
        yield
    finally:
        warnings.showwarning = before


def model_path(output: str | None, data: str, **inputs: str) -> str:
    """Return the path of the model file; refuse one that cannot be written.

    Parameters
    ----------
    output : str or None
        The given path; None: the name of the data, in the current folder.
    data : str
        The training data.
    **inputs : str
        Other input files, by their role.
    """
    path = output or _named_as(data)
    if path == "-":
        raise click.UsageError("-o -: a model cannot be written to standard output. Name a file.")
    check_output(path, data=data, **inputs)
    return path


def _named_as(data: str) -> str:
    path = Path(data)
    name = path.name.partition(".")[0]
    stream = data == "-" or (path.exists() and not path.is_file() and not path.is_dir())
    plain = name and not glob.has_magic(name) and not stream
    return f"{name}.safetensors" if plain else "model.safetensors"


def remembered(model: Model) -> dict[str, Any]:
    """Return the training record of a model; empty if it has none."""
    record = model.evidence.get("train")
    return dict(record) if isinstance(record, dict) else {}


def state_bytes(model: Model) -> int:
    """Return the size of the training state of a model; 0 without one.

    Parameters
    ----------
    model : LinearModel or VotedModel
    """
    tensors = {} if model.state is None else model.state.tensors
    return sum(tensor.nbytes for tensor in tensors.values())


def save_model(model: Model, path: str) -> bool:
    """Save a model, with its training state if that has at most 256 MB.

    Parameters
    ----------
    model : LinearModel or VotedModel
    path : str

    Returns
    -------
    bool
        Whether `separable update` can continue from the file.
    """
    size = state_bytes(model)
    keeps = model.state is not None and size <= LARGEST_STATE
    model.save(path, include_state=keeps)
    if model.state is not None and not keeps:
        note(
            f"The training state of this {model.learner} model ({size / 1e6:.0f} MB) is not in "
            f"{path}, to keep the file small: separable update cannot continue from it."
        )
    return keeps


def saved_text(path: str, report: str | None) -> str:
    """Return a sentence with the paths of the model and of its report, if any."""
    wrote = "" if report is None else f" The report is {report}: open it in a browser."
    return f"Saved {path}.{wrote}"


def check_report(path: str, option: str, **others: str) -> None:
    """Refuse, before the work, a report that cannot be written.

    Parameters
    ----------
    path : str
        The file.
    option : str
        The option that named it, for messages.
    **others : str
        Input files and earlier output files, by their role.
    """
    from separable.model.files.atomic import check_writable
    from separable.report.page.page import check_extra

    if path == "-":
        raise click.UsageError(
            f"{option} -: a report cannot be written to standard output. Name a file."
        )
    for what, other in others.items():
        if other != "-" and _is_same(Path(path), Path(other)):
            raise click.UsageError(f"{option} {path} would overwrite the {what}. Name another.")
    check_writable(path)
    check_extra()


def _is_same(one: Path, other: Path) -> bool:
    """Whether two paths are the same file, which need not exist yet."""
    if one.exists() and other.exists():
        return one.samefile(other)
    return one.resolve() == other.resolve()


def write_report(contents: Contents, path: str) -> None:
    """Write a report to a file, atomically."""
    from separable.report.page.page import write_page

    with step("Writing the report"):
        write_page(contents, path)
