"""The command group: lookup of commands, exit codes and error messages.

Only click is imported here: a command is imported when it is named, and imports what it needs when
it runs, so that ``separable --help`` starts at once.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from separable import __version__
from separable.cli.io.output import close_output, colour, flush_output, warnings_in_one_line
from separable.cli.options.command import Examples
from separable.cli.options.options import DEBUG
from separable.cli.render.messages import Terminal, printable
from separable.errors import InputError, OptionError
from separable.workflow.progress import listening, remembering_files

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["COMMANDS", "app", "invoke", "run"]

#: The import path of each command, in the order of the help. A new command is one line.
COMMANDS = {
    "train": "separable.cli.commands.train:train",
    "predict": "separable.cli.commands.predict:predict",
    "evaluate": "separable.cli.commands.evaluate:evaluate",
    "explain": "separable.cli.commands.explain:explain",
    "update": "separable.cli.commands.update:update",
    "compare": "separable.cli.commands.compare:compare",
    "path": "separable.cli.commands.path:path",
    "check": "separable.cli.commands.check:check",
    "separability": "separable.cli.commands.separability:separability",
    "inspect": "separable.cli.commands.inspect:inspect",
    "export": "separable.cli.commands.export:export",
    "report": "separable.cli.commands.report:report",
    "serve": "separable.cli.commands.serve:serve",
    "drift": "separable.cli.commands.drift:drift",
    "lab": "separable.cli.commands.lab:lab",
    "demo": "separable.cli.commands.demo:demo",
    "completion": "separable.cli.commands.completion:completion",
}

BAD, WRONG_USAGE, CTRL_C = 1, 2, 130

#: Environment variable that a shell sets to request completions.
COMPLETE = "_SEPARABLE_COMPLETE"


class _LazyGroup(Examples, click.Group):
    """A group whose commands are imported when they are named."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        import_path = COMMANDS.get(cmd_name)
        if import_path is None:
            return None
        module, _, name = import_path.partition(":")
        command: click.Command = getattr(import_module(module), name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a command, or suggest the one with the nearest name."""
        name = args[0]
        known = self.get_command(ctx, name) is not None or name.startswith("-")
        if not known and not ctx.resilient_parsing:
            from separable.data.table import did_you_mean

            ctx.fail(f"No such command {name!r}{did_you_mean(name, COMMANDS)}.")
        return super().resolve_command(ctx, args)


@click.group(
    cls=_LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    examples=(
        "separable demo  # a tour, in a minute",
        "separable train penguins.csv --target species  # train, test and save a model",
        "separable predict penguins.safetensors penguins.csv",
        "separable explain penguins.safetensors penguins.csv --row 3",
        "separable train --help  # all options of a command",
    ),
    epilog="Results go to standard output, messages to standard error. Exit codes: 0 success, 1 "
    "error in the data, the model or a file, 2 usage error, 3 a limit such as --fail-under "
    "was missed, 130 Ctrl-C.",
)
@click.version_option(__version__, prog_name="separable")
def app() -> None:
    """Linear models from a file: train, predict, explain."""


def run(args: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit code; every error is one line.

    Parameters
    ----------
    args : sequence of str, optional

    Returns
    -------
    int
        0 success, 1 bad data, model or file, 2 wrong usage, 3 a threshold was missed, 130 Ctrl-C.
    """
    if COMPLETE in os.environ:
        from click.shell_completion import shell_complete

        return shell_complete(app, {}, "separable", COMPLETE, os.environ[COMPLETE])
    meta: dict[str, Any] = {}
    try:
        with warnings_in_one_line():
            code = invoke(sys.argv[1:] if args is None else args, meta)
            flush_output()
    except BrokenPipeError:  # the reader closed the pipe, as head does
        close_output()
        return 0
    except BaseException as error:
        if isinstance(error, SystemExit):
            raise
        code = _report_error(error, debug=bool(meta.get(DEBUG)))
    return code


def invoke(args: Sequence[str], meta: dict[str, Any] | None = None) -> int:
    """Run a command line and return its exit code; errors are raised.

    Parameters
    ----------
    args : sequence of str
    meta : dict, optional
        Receives the options that all commands share: `DEBUG`.
    """
    try:
        with app.make_context("separable", list(args), color=colour()) as context:
            try:
                with listening(Terminal()), remembering_files():
                    app.invoke(context)
            finally:
                (meta if meta is not None else {}).update(context.meta)
    except click.exceptions.Exit as ended:
        return ended.exit_code
    return 0


def _report_error(error: BaseException, *, debug: bool) -> int:
    """Print why a command failed, and return its exit code."""
    if isinstance(error, (click.Abort, KeyboardInterrupt)):
        return CTRL_C
    if isinstance(error, click.ClickException):
        error.show()
        return error.exit_code
    if isinstance(error, OptionError):
        click.echo(printable(f"Error: {error.spelled('command')}"), err=True)
        return WRONG_USAGE
    if debug:
        import traceback

        traceback.print_exception(error)
    if isinstance(error, (ValueError, OSError, ImportError, MemoryError)):
        click.echo(printable(f"Error: {_one_line(error)}"), err=True)
    else:
        again = (
            ("Please report it with the traceback above.")
            if debug
            else "Run the command again with --debug."
        )
        what = f"{type(error).__name__}: {_one_line(error)}".removesuffix(".")
        click.echo(printable(f"Error: this is a bug in separable ({what}). {again}"), err=True)
    return BAD


def _one_line(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:
        prefix = f"{error.filename}: " if error.filename else ""
        return f"{prefix}{error.strerror}"
    text = error.spelled("command") if isinstance(error, InputError) else str(error)
    return " ".join(text.split()) or type(error).__name__
