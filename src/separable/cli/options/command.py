"""The class of all commands: examples first in the help, options under headings, completion."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from click.shell_completion import CompletionItem


__all__ = [
    "OUTPUT",
    "READING",
    "RUNNING",
    "STREAMS",
    "ColumnName",
    "Command",
    "Examples",
    "FigureName",
    "FileName",
    "command",
    "completed",
    "heading",
]


#: Bytes of a file that are read to find the names of its columns.
HEADER_BYTES = 1 << 16

F = TypeVar("F", bound="Callable[..., Any]")

#: Attribute of an option that holds its heading, and the default heading.
HEADING = "separable_heading"
OTHERS = "Options"

#: Headings of options that several commands share. They come last in the help.
RUNNING, READING, OUTPUT = "Execution", "Input format", "Output"
LAST = (RUNNING, OUTPUT, READING)

#: Options of one command for tables that do not fit memory.
STREAMS = "Larger than memory"

#: More options than this do not fit two screens: options under these headings are then named only,
#: unless all are requested.
MANY_OPTIONS, BY_NAME, HELP_ALL = 30, (STREAMS, RUNNING, READING), "separable.help_all"


def completed(param: click.Parameter) -> click.ParamType[Any]:
    """Return the type of a parameter; plain text gets a type with shell completion.

    Parameters
    ----------
    param : click.Parameter
        Arguments and options with the metavar ``FILE`` complete to files, ``COL`` to columns and
        ``FIGURE=X`` to metrics.
    """
    if param.type is not click.STRING:
        return param.type
    if isinstance(param, click.Argument) or param.metavar == "FILE":
        return FileName()
    if param.metavar == "FIGURE=X":
        return FigureName()
    return ColumnName() if param.metavar == "COL" else param.type


class _Completed(type(click.STRING)):  # type: ignore[misc] # its class has no public name
    """Plain text that the shell completes."""

    def shell_complete(
        self,
        ctx: click.Context,
        param: click.Parameter,  # noqa: ARG002
        incomplete: str,
    ) -> list[CompletionItem]:
        """Return the candidates that start with the text."""
        from click.shell_completion import CompletionItem

        names = self.candidates(ctx)
        return [CompletionItem(name) for name in names if name.startswith(incomplete)]


class FileName(_Completed):
    """The name of a file."""

    def shell_complete(
        self,
        ctx: click.Context,  # noqa: ARG002
        param: click.Parameter,  # noqa: ARG002
        incomplete: str,
    ) -> list[CompletionItem]:
        """Ask the shell to complete file names."""
        from click.shell_completion import CompletionItem

        return [CompletionItem(incomplete, type="file")]


class FigureName(_Completed):
    """The name of a metric, followed by ``=``."""

    def candidates(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return all metrics."""
        from separable.model.metrics.metric_registry import METRICS

        return [f"{name}=" for name in METRICS]


class ColumnName(_Completed):
    """The name of a column of the data file on the command line."""

    def candidates(self, ctx: click.Context) -> list[str]:
        """Return the columns; none if reading the file fails."""
        data = ctx.params.get("data") or next(reversed(ctx.args), None)  # args: not parsed yet
        return columns_of(data) if isinstance(data, str) else []


def columns_of(data: str) -> list[str]:
    """Return the column names of a table from its first bytes; none if that fails.

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
    except Exception:  # completion stays silent about a file that cannot be read
        return []


def _names(data: str) -> list[str]:
    """Read the first bytes of a file as a table."""
    from io import BytesIO

    from separable.data.io.formats import formats_of
    from separable.data.io.reading import read_inputs
    from separable.data.io.sources import inputs_of

    inputs = inputs_of(data)
    if formats_of(inputs) == "parquet":
        from pyarrow import parquet

        return list(parquet.read_schema(data).names)
    if formats_of(inputs) in ("excel", "sqlite", "duckdb"):
        from separable.data.io.reading import checked_options, files_of

        first = next(files_of(inputs, None, None, checked_options()).datasets(1 << 16, 1))
        assert first.table is not None
        return first.table.column_names
    with inputs[0].open() as opened:
        head = opened.read(HEADER_BYTES)
    whole = head[: head.rfind(b"\n") + 1] or head
    again = inputs_of(BytesIO(whole))
    dataset = read_inputs(again, formats_of(inputs), on_error="skip")
    assert dataset.table is not None
    return dataset.table.column_names


class Examples(click.Command):
    """A command, or a group of them, whose help starts with examples.

    Parameters
    ----------
    examples : sequence of str
        Command lines to copy, optionally with a remark after ``#``.
    """

    def __init__(self, *args: Any, examples: Sequence[str] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.examples = tuple(examples)

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples, then the description."""
        if self.examples:
            with formatter.section("Examples"):
                formatter.write("".join(f"  {line}\n" for line in aligned(self.examples)))
        super().format_help_text(ctx, formatter)


class Command(Examples):
    """A command with examples, and with its options under headings.

    Shell completion treats arguments as files, and options with the metavar ``COL`` as columns.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for param in self.params:
            param.type = completed(param)
        if len(self.params) > MANY_OPTIONS:
            self.params.append(_help_all())

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, each under its heading; of many, some by their names only."""
        result: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is not None and isinstance(param, click.Option):
                is_help = set(param.opts) == set(ctx.help_option_names)
                title = OUTPUT if is_help else vars(param).get(HEADING, OTHERS)
                result.setdefault(title, []).append((record[0], _without_range(record[1])))
        short = len(self.params) > MANY_OPTIONS and not ctx.meta.get(HELP_ALL)
        for title in sorted(result, key=_position):
            with formatter.section(title):
                if short and title in BY_NAME:
                    names = [record.partition(",")[0].split()[0] for record, _ in result[title]]
                    formatter.write_text(f"Described by --help-all: {', '.join(names)}.")
                else:
                    rows = [(name, _brief(text)) for name, text in result[title]]
                    formatter.write_dl(rows if short else result[title], col_max=26)


def _brief(text: str) -> str:
    """Return the first sentence of the help of an option, and its default.

    Examples
    --------
    >>> _brief("Learner; repeatable. Classification: lda, ...")
    'Learner; repeatable.'
    >>> _brief("Share of rows. More is slower.  [default: 0.25]")
    'Share of rows.  [default: 0.25]'
    """
    first, dot, rest = text.partition(". ")
    default = re.search(r"(?:^| ) \[[^]]*\]$", rest)
    return f"{first}{dot.strip()}{f'  {default[0].strip()}' if default else ''}"


def _help_all() -> click.Option:
    """Return the option that shows the help of all options."""

    def callback(ctx: click.Context, param: click.Parameter, value: bool) -> None:  # noqa: ARG001
        if value:
            ctx.meta[HELP_ALL] = True
            click.echo(ctx.get_help(), color=ctx.color)
            ctx.exit()

    option = click.Option(
        ["--help-all"], is_flag=True, is_eager=True, expose_value=False, callback=callback,
        help="Show the help of all options and exit.",
    )  # fmt: skip
    vars(option)[HEADING] = OUTPUT
    return option


def _without_range(text: str) -> str:
    """Return the help of an option without a lower bound, which its error message names."""
    return re.sub(r"(?:  \[|; )x>=[0-9]+\]$", lambda m: "]" if m[0][0] == ";" else "", text)


def _position(title: str) -> int:
    """Return the sort key of a heading: in the order of the options, shared headings last."""
    return LAST.index(title) if title in LAST else -1


def command(*, examples: Sequence[str], **attrs: Any) -> Callable[[Callable[..., Any]], Command]:
    """Return a decorator that makes a command of a function, as `click.command` does.

    Parameters
    ----------
    examples : sequence of str
        Command lines to copy, at the top of the help.
    **attrs : object
        Passed to `click.command`.
    """
    return click.command(cls=Command, examples=examples, **attrs)


def heading(title: str, *options: Callable[[Any], Any]) -> Callable[[F], F]:
    """Return a decorator that adds options to a command, under their own heading.

    Parameters
    ----------
    title : str
        The heading. Several decorators may add options under the same one.
    *options : decorators
        Made by `click.option`, in the order of the help.
    """

    def decorate(function: F) -> F:
        for option in reversed(options):
            before = {id(param) for param in _params(function)}
            function = option(function)
            for param in _params(function):
                if id(param) not in before:
                    vars(param).setdefault(HEADING, title)
        return function

    return decorate


def _params(function: Any) -> list[click.Parameter]:
    """Return the parameters that click has attached to a function before it is a command."""
    params: list[click.Parameter] = getattr(function, "__click_params__", [])
    return params


def aligned(examples: Iterable[str]) -> list[str]:
    """Return command lines with their remarks aligned.

    Examples
    --------
    >>> aligned(["separable demo  # try it", "separable inspect m.safetensors  # look"])
    ['separable demo                   # try it', 'separable inspect m.safetensors  # look']
    """
    parts = [line.partition("  # ") for line in examples]
    width = max((len(line) for line, mark, _ in parts if mark), default=0)
    return [f"{line.ljust(width)}  # {remark}" if mark else line for line, mark, remark in parts]
