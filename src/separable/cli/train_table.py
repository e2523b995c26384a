"""The table that ``separable train`` learns from: read, and set apart from its target."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import click

from separable.cli.output import file_name
from separable.cli.tables import table_of
from separable.cli.target import target_class
from separable.data.columns import Categories, as_columns
from separable.data.table import NotANumberError, TableError, require_columns

if TYPE_CHECKING:
    import pyarrow as pa

    from separable.cli.learners import Task
    from separable.cli.options import ReadingOptions
    from separable.cli.target import Target
    from separable.data.table import ColumnType

__all__ = ["read_table_and_target"]


def read_table_and_target(
    data: str,
    name: str,
    task: Task | None,
    options: dict[str, list[str]],
    reading: ReadingOptions,
) -> tuple[pa.Table, Target]:
    """Return the table of a file, and its target.

    Parameters
    ----------
    data : str
        The file.
    name : str
        The target column.
    task : {"classification", "regression"}, optional
        What to read it for. By default classes, or numbers where these look like a quantity.
    options : dict of str to list of str
        The columns named in --number, --category and --drop. The target, about which one of them
        says what its values are, is taken out.
    reading : ReadingOptions

    Returns
    -------
    table : pyarrow.Table
        With the target column.
    target : Target
    """
    types: dict[str, ColumnType] = dict.fromkeys(options["number"], "number")
    types |= dict.fromkeys(options["category"], "category")
    kind = target_class(task or "classification")
    table = _read(data, name, kind, types, reading)
    for names in ([name], *options.values()):
        require_columns(names, table.column_names, file_name(data))
    _set_target_apart(name, options)
    try:
        target = kind.read(table, name, file_name(data), types.get(name))
    except TableError as error:
        if task is not None or name in types or not getattr(error, "is_quantity", False):
            raise
        table = _with_numbers(table, name)
        target = target_class("regression").read(table, name, file_name(data))
    _refuse_no_columns(table, name, data)
    return table, target


def _read(
    data: str,
    target: str,
    kind: type[Target],
    types: dict[str, ColumnType],
    reading: ReadingOptions,
) -> pa.Table:
    try:
        return table_of(data, {**types, target: kind.column_type}, reading)
    except NotANumberError as error:
        remedy = (
            f"Or use it as a category: --category {shlex.quote(error.column)} instead of --number."
        )
        told = kind.remedy if error.column == target else remedy
        raise TableError(f"{error} {told}") from None


def _with_numbers(table: pa.Table, name: str) -> pa.Table:
    """Return a table whose column of texts that are numbers is one of numbers."""
    import numpy as np
    import pyarrow as pa

    column = as_columns(table)[name]
    assert isinstance(column, Categories)
    values = np.append([float(level) for level in column.levels], np.nan)[column.codes]
    place = table.column_names.index(name)
    return table.set_column(place, name, pa.array(values, from_pandas=True))


def _set_target_apart(target: str, options: dict[str, list[str]]) -> None:
    if target in options["drop"]:
        raise click.UsageError(f"--drop {target}: the target cannot be left out.")
    if target in options["number"] and target in options["category"]:
        raise click.UsageError(
            f"The target {target} is named in --number and --category. Keep one."
        )
    for option, names in options.items():
        options[option] = [name for name in names if name != target]


def _refuse_no_columns(table: pa.Table, target: str, data: str) -> None:
    if table.column_names == [target]:
        raise TableError(
            f"{file_name(data)}: there is no column to learn from: the target {target!r} is the "
            "only one. Add the columns that it is to be predicted from."
        )
