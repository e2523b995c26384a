"""Shell completion of arguments and options."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

__all__ = ["ColumnName", "FigureName", "FileName", "completed"]

#: So much of a file is read to find the names of its columns.
HEADER_BYTES = 1 << 16


def completed(param: click.Parameter) -> click.ParamType[Any]:
    """Return the type of a parameter, one that completes where it is plain text.

    Parameters
    ----------
    param : click.Parameter
        Arguments and options with the metavar ``FILE`` are files, those with ``COL`` columns and
        those with ``FIGURE=X`` figures of an evaluation.
    """
    if param.type is not click.STRING:
        return param.type
    if isinstance(param, click.Argument) or param.metavar == "FILE":
        return FileName()
    if param.metavar == "FIGURE=X":
        return FigureName()
    return ColumnName() if param.metavar == "COL" else param.type


class FileName(type(click.STRING)):  # type: ignore[misc] # its class has no public name
    """The name of a file, which the shell completes."""

    def shell_complete(
        self,
        ctx: click.Context,  # noqa: ARG002
        param: click.Parameter,  # noqa: ARG002
        incomplete: str,
    ) -> list[CompletionItem]:
        """Return what tells the shell to look for files."""
        from click.shell_completion import CompletionItem

        return [CompletionItem(incomplete, type="file")]


class FigureName(type(click.STRING)):  # type: ignore[misc]
    """The name of a figure, and a number to come."""

    def shell_complete(
        self,
        ctx: click.Context,  # noqa: ARG002
        param: click.Parameter,  # noqa: ARG002
        incomplete: str,
    ) -> list[CompletionItem]:
        """Return the figures that begin so."""
        from click.shell_completion import CompletionItem

        from separable.model.metrics.metric_registry import METRICS

        return [CompletionItem(f"{name}=") for name in METRICS if name.startswith(incomplete)]


class ColumnName(type(click.STRING)):  # type: ignore[misc]
    """The name of a column of the file that the command line has named so far."""

    def shell_complete(
        self,
        ctx: click.Context,
        param: click.Parameter,  # noqa: ARG002
        incomplete: str,
    ) -> list[CompletionItem]:
        """Return the columns that begin so; none where they cannot be found quickly."""
        from click.shell_completion import CompletionItem

        data = ctx.params.get("data") or next(reversed(ctx.args), None)  # args: not parsed yet
        names = columns_of(data) if isinstance(data, str) else []
        return [CompletionItem(name) for name in names if name.startswith(incomplete)]


def columns_of(data: str) -> list[str]:
    """Return the names of the columns of a table from its first bytes; none where that fails.

    Parameters
    ----------
    data : str
        A file; CSV, JSON lines or Parquet.
    """
    from pathlib import Path

    if not Path(data).is_file():
        return []
    try:
        return _names(data)
    except Exception:  # whatever is wrong with the file, the shell is not the place to tell it
        return []


def _names(data: str) -> list[str]:
    """Read the head of a file as a table."""
    from io import BytesIO

    from separable.data.io.formats import formats_of
    from separable.data.io.reading import read_inputs
    from separable.data.io.sources import inputs_of

    inputs = inputs_of(data)
    if formats_of(inputs) == "parquet":
        from pyarrow import parquet

        return list(parquet.read_schema(data).names)
    with inputs[0].open() as opened:
        head = opened.read(HEADER_BYTES)
    whole = head[: head.rfind(b"\n") + 1] or head
    again = inputs_of(BytesIO(whole))
    dataset = read_inputs(again, formats_of(inputs), on_error="skip")
    assert dataset.table is not None
    return dataset.table.column_names
