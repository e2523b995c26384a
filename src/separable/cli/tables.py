"""How the commands read a table: in every format that `separable.data.read` knows."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

    from separable.data.table import ColumnType

__all__ = ["table_of"]


def table_of(data: str, column_types: Mapping[str, ColumnType]) -> pa.Table:
    """Return the table of a file, a glob, a folder or standard input.

    Parameters
    ----------
    data : str
        As the user named it.
    column_types : mapping of str to str
        The types of some columns.
    """
    from separable.data import read
    from separable.data.table import TableError

    dataset = read(data, column_types=column_types)
    if dataset.table is None:
        raise TableError(
            f"{data}: {dataset.report.format} files have no named columns, which this command "
            "needs. Read them in Python: X, y = separable.data.read(...)."
        )
    return dataset.table
