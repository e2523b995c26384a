"""How the commands read a table: in every format that `separable.data.read` knows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

    from separable.data.table import ColumnType

__all__ = ["table_of"]

#: How a message of `read` names one of its options, which the commands do not have.
_PYTHON_OPTION = re.compile(r"\b(on_error|skip_rows|comment|column_types|encoding|quoting)=")


def table_of(data: str, column_types: Mapping[str, ColumnType]) -> pa.Table:
    """Return the table of a file, a glob, a folder or standard input.

    Parameters
    ----------
    data : str
        As the user named it.
    column_types : mapping of str to str
        The types of some columns.
    """
    from separable.cli.output import say
    from separable.data.formats import formats_of
    from separable.data.reading import read_inputs
    from separable.data.sources import inputs_of
    from separable.data.table import NotANumberError, TableError

    inputs = inputs_of(data)
    kind = formats_of(inputs)
    if kind in ("svmlight", "vw"):
        raise TableError(
            f"{inputs[0].name}: {kind} text has no named columns, which this command needs. Read "
            "it in Python: X, y = separable.data.read(...)."
        )
    try:
        dataset = read_inputs(inputs, kind, column_types=column_types)
    except NotANumberError:
        raise  # whoever asked for the type has a remedy of its own
    except TableError as error:
        if not _PYTHON_OPTION.search(str(error)):
            raise
        raise TableError(
            f"{error} (Options like that are given to separable.data.read in Python.)"
        ) from None
    for note in dataset.report.notes:
        say(f"Note: {note}")
    assert dataset.table is not None
    return dataset.table
