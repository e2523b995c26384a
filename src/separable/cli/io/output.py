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
    from collections.abc import Iterable, Iterator

    from separable.features.encoding_report import ColumnReport, EncodingReport
    from separable.model.kinds import Model
    from separable.report.contents import Contents


__all__ = [
    "check_csv_output",
    "check_output",
    "check_report",
    "close_output",
    "colour",
    "csv_bytes",
    "flush_output",
    "json_bytes",
    "model_path",
    "report_lines",
    "save_noted",
    "warnings_in_one_line",
    "write_data",
    "write_report",
]


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


def save_noted(model: Model, path: str) -> None:
    """Save a model, and say if its training state is too large for the file."""
    from separable.workflow.training_run import save_model, state_bytes

    if not save_model(model, path) and model.state is not None:
        note(
            f"The training state of this {model.learner} model ({state_bytes(model) / 1e6:.0f} MB) "
            f"is not in {path}, to keep the file small: separable update cannot continue from it."
        )


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
