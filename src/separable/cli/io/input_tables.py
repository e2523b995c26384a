"""Input tables of the commands, in every format that `separable.data.read` knows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from separable.cli.io.output import counted, file_name
from separable.cli.options.options import ReadingOptions
from separable.cli.render.messages import note, step

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

    from separable.data.table import ColumnType

__all__ = ["AS_IT_LOOKS", "in_options", "skipped_text", "table_of"]

#: Every option left as it is.
AS_IT_LOOKS = ReadingOptions()

#: How the options of `read`, which its messages name, are given to a command.
_FLAGS = {
    "on_error='skip'": "--skip-bad-lines",
    "header=True": "--header",
    "header=False": "--no-header",
    "quoting=False": "--no-quoting",
    "or name the columns to read: columns=[...]": "or leave the column out of the file",
    "Name the columns to read: columns=[...]": "Add it to the first line, as null",
    "Name them in columns=[...] to read them": "Add them to the first line, as null, to read them",
}
_VALUES = re.compile(r"\b(format|skip_rows|comment|encoding|delimiter|decimal)=([^\s,;).]+)")
_TYPES = re.compile(r"\bcolumn_types=\{('[^']*'): '(number|category)'\}")


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
        How to read it, where its own look is not enough.
    """
    from separable.data.io.formats import formats_of
    from separable.data.io.reading import read_inputs
    from separable.data.io.sources import inputs_of
    from separable.data.table import NotANumberError, TableError

    inputs = inputs_of(data)
    options = reading.for_read()
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
        raise  # whoever asked for the type has a remedy of its own
    except TableError as error:
        raise TableError(in_options(str(error))) from None
    from separable.cli.io.row_lines import remember_lines

    remember_lines(data, inputs, dataset.report, reading)
    for message in dataset.report.notes:
        note(in_options(message))
    assert dataset.table is not None
    return dataset.table


def skipped_text(data: str, count: int, first: object) -> str:
    """Return in words how many lines of a file were left out, and the first of them."""
    lines = counted(count, "line")
    return f"{file_name(data)}: {lines} skipped that cannot be read, the first: {first}"


def in_options(message: str) -> str:
    """Return a message of `separable.data.read` with its options as a command takes them."""
    for python, option in _FLAGS.items():
        message = message.replace(python, option)
    message = _TYPES.sub(lambda match: f"--{match[2]} {match[1]}", message)
    return _VALUES.sub(lambda match: f"--{match[1].replace('_', '-')} {match[2]}", message)
