"""Options that several commands share, and the command line that repeats a run."""

from __future__ import annotations

from dataclasses import fields
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

import click

from separable.cli.options.command import OUTPUT, READING, RUNNING, heading
from separable.cli.render.messages import VERBOSITY
from separable.workflow.options import ReadingOptions, all_threads

if TYPE_CHECKING:
    from collections.abc import Callable

    from separable.model.kinds import Model


__all__ = [
    "DEBUG",
    "ReadingOptions",
    "are_patterns_trusted",
    "export_reading_options",
    "json_option",
    "labelled_rows_options",
    "load_trusted",
    "patterns_option",
    "reading_options",
    "seed_option",
    "talk_options",
    "threads_option",
]

F = TypeVar("F", bound="Callable[..., Any]")

#: Key in the context of a command: print tracebacks.
DEBUG = "separable.debug"

#: Key in the context of a command: accept any token pattern in a model file.
PATTERNS = "separable.patterns"


def _quiet(ctx: click.Context, param: click.Parameter, given: bool) -> None:
    if not given:
        return
    level = -1 if param.name == "quiet" else 1
    if ctx.meta.setdefault(VERBOSITY, level) != level:
        raise click.UsageError("-q and -v exclude each other.")


def _debug(ctx: click.Context, param: click.Parameter, given: bool) -> None:  # noqa: ARG001
    if given:
        ctx.meta[DEBUG] = True


def _allow_patterns(ctx: click.Context, param: click.Parameter, given: bool) -> None:  # noqa: ARG001
    ctx.meta[PATTERNS] = given


def patterns_option(command: F) -> F:
    """Add ``--allow-patterns``, for commands that load a model; `load_trusted` reads it."""
    option = click.option(
        "--allow-patterns",
        is_flag=True,
        expose_value=False,
        callback=_allow_patterns,
        help="Load a model file whose token pattern may be very slow on some texts. Only for "
        "files that you trust.",
    )
    return heading(READING, option)(command)


def load_trusted(path: str) -> Model:
    """Load a model; ``--allow-patterns`` decides whether its token patterns are trusted."""
    from separable.model.files.model_file import load

    return load(path, allow_patterns=are_patterns_trusted())


def are_patterns_trusted() -> bool:
    """Return whether ``--allow-patterns`` was given."""
    ctx = click.get_current_context(silent=True)
    return ctx is not None and bool(ctx.meta.get(PATTERNS))


def talk_options(command: F) -> F:
    """Add ``-q``, ``-v`` and ``--debug``, which `cli.render.messages` and the app handle."""
    return heading(
        OUTPUT,
        click.option("-q", "--quiet", is_flag=True, expose_value=False, callback=_quiet,
                     help="Print only results, warnings and errors."),
        click.option("-v", "--verbose", is_flag=True, expose_value=False, callback=_quiet,
                     help="Print more details, and the time of each step."),
        click.option("--debug", is_flag=True, expose_value=False, callback=_debug,
                     help="Print a traceback after an error."),
    )(command)  # fmt: skip


def json_option(help: str = "Print one JSON object instead of text.") -> Callable[[F], F]:  # noqa: A002
    """Add ``--json``; the command gets it as ``as_json``."""
    return heading(OUTPUT, click.option("--json", "as_json", is_flag=True, help=help))


def seed_option(command: F) -> F:
    """Add ``--seed``, for commands that use random numbers."""
    option = click.option(
        "--seed",
        type=click.IntRange(0, 2**31 - 1),
        metavar="N",
        default=0,
        show_default=True,
        help="Random seed.",
    )
    return heading(RUNNING, option)(command)


def threads_option(command: F) -> F:
    """Add ``--threads``; the command gets a number, by default that of all cores."""
    option = click.option(
        "--threads",
        type=click.IntRange(min=1),
        metavar="N",
        default=all_threads,
        help="Number of threads.  [default: one per core]",
    )
    return heading(RUNNING, option)(command)


_READING = (
    click.option("--query", metavar="SQL", help="Read the result of a query of a database."),
    click.option("--format", metavar="KIND",
                 type=click.Choice(["csv", "jsonl", "parquet", "svmlight", "vw", "excel", "sqlite",
                                    "duckdb"]),
                 help="csv, jsonl, parquet, svmlight, vw, excel, sqlite or duckdb."),
    click.option("--delimiter", metavar="CHAR", help="Delimiter of a CSV file."),
    click.option("--header/--no-header", default=None,
                 help="Whether the first line names the columns."),
    click.option("--no-quoting", "quoting", flag_value=False, type=bool, default=None,
                 help="Treat quotes as text."),
    click.option("--encoding", metavar="NAME", help="Character encoding, such as latin-1."),
    click.option("--decimal", type=click.Choice([".", ","]), help="Decimal mark."),
    click.option("--missing", multiple=True, metavar="TEXT",
                 help="Text that means a missing value; repeatable."),
    click.option("--comment", metavar="TEXT", help="Skip lines that begin with this text."),
    click.option("--skip-rows", type=click.IntRange(min=0), default=0, metavar="N",
                 help="Skip the first N lines."),
    click.option("--skip-bad-lines", is_flag=True,
                 help="Skip and count lines that cannot be read."),
)  # fmt: skip


def export_reading_options(command: F) -> F:
    """Add the options for reading a file to a command with a ``--table`` of its own."""
    return reading_options(command, has_own_table=True)


def reading_options(command: F, *, has_own_table: bool = False) -> F:
    """Add the options for reading a file; the command gets them as ``reading``."""

    @wraps(command)
    def with_reading(*args: Any, **options: Any) -> Any:
        names = [each.name for each in fields(ReadingOptions) if each.name != "table"]
        given = {name: options.pop(name) for name in names}
        given["table"] = options.pop("source_table")
        return command(*args, reading=ReadingOptions(**given), **options)

    decorated: Any = with_reading
    flags = ("--sheet",) if has_own_table else ("--table", "--sheet")
    choice = click.option(
        *flags,
        "source_table",
        metavar="NAME",
        help="Table of a database, sheet of a workbook, or file in a zip archive.",
    )
    result: F = heading(READING, choice, *_READING)(decorated)
    return result


def labelled_rows_options(command: F) -> F:
    """Add the options of commands that evaluate a model: target, weight, positive, column."""
    for option in reversed(_LABELLED_ROWS):
        command = option(command)
    return command


_LABELLED_ROWS = (
    click.option("--target", metavar="COL", help="Target column.  [default: as in training]"),
    click.option("--weight", metavar="COL", help="Column of sample weights; 0 ignores a row."),
    click.option("--positive", metavar="CLASS",
                 help="Positive class for precision, recall, f1, roc_auc and average_precision.  "
                      "[default: as in training, else the second of two]"),
    click.option("--column", metavar="COL", help="Text column, for a model of texts only."),
)  # fmt: skip
