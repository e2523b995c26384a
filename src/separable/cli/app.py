"""The group of commands, how each is found, and how every run ends.

Only click is imported here: a command is imported when it is named, and imports what it needs when
it runs, so that ``separable --help`` starts at once.
"""

from __future__ import annotations

import os
import sys
import traceback
from importlib import import_module
from typing import TYPE_CHECKING

import click

from separable import __version__
from separable.cli.options import DEBUG

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["COMMANDS", "app", "main", "run"]

#: Where each command lives, in the order in which help lists them. A new command is one line.
COMMANDS = {
    "train": "separable.cli.train:train",
    "predict": "separable.cli.predict:predict",
    "explain": "separable.cli.explain:explain",
    "check": "separable.cli.check:check",
    "demo": "separable.cli.demo:demo",
}

CTRL_C = 130


class _LazyGroup(click.Group):
    """A group whose commands are imported when they are named."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        place = COMMANDS.get(cmd_name)
        if place is None:
            return None
        module, _, name = place.partition(":")
        command: click.Command = getattr(import_module(module), name)
        return command

    def invoke(self, ctx: click.Context) -> object:
        ctx.color = _colour()
        try:
            return super().invoke(ctx)
        except BrokenPipeError:  # before click makes an error of it
            _close_stdout()
            return 0
        except Exception:
            if ctx.meta.get(DEBUG):
                traceback.print_exc()
            raise


@click.group(
    cls=_LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Data goes to standard output, talk to standard error. Exit codes: 0 done, 1 bad data "
    "or model or a file that is not there, 2 wrong usage, 130 Ctrl-C.",
)
@click.version_option(__version__, prog_name="separable")
def app() -> None:
    """Linear models from a file: train, predict, explain.

    \b
    Examples:
      separable demo
      separable train penguins.csv --target species
      separable predict penguins.safetensors penguins.csv
      separable explain penguins.safetensors penguins.csv --row 3
    """  # noqa: D301 # click wants the backspace itself


def main(args: Sequence[str] | None = None) -> None:
    """Run a command line and end the process with its exit code.

    Parameters
    ----------
    args : sequence of str, optional
        The arguments after the program's name; by default those of the process.
    """
    sys.exit(run(args))


def run(args: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit code; every expected error is one line.

    Parameters
    ----------
    args : sequence of str, optional

    Returns
    -------
    int
        0 done, 1 bad data, model or file, 2 wrong usage, 130 Ctrl-C.
    """
    try:
        code = app.main(
            args if args is None else list(args), prog_name="separable", standalone_mode=False
        )
        sys.stdout.flush()
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        return CTRL_C
    except BrokenPipeError:
        _close_stdout()
        return 0
    except (ValueError, OSError, ImportError, MemoryError) as error:
        click.echo(f"Error: {_one_line(error)}", err=True)
        return 1
    return code if isinstance(code, int) else 0


def _colour() -> bool | None:
    """Return whether to write in colour; None: where it is a terminal."""
    if os.environ.get("NO_COLOR"):
        return False
    return True if os.environ.get("FORCE_COLOR") else None


def _one_line(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:
        place = f"{error.filename}: " if error.filename else ""
        return f"{place}{error.strerror}"
    return " ".join(str(error).split()) or type(error).__name__


def _close_stdout() -> None:
    """Let nothing more go to a pipe that the reader has closed, not even at exit."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):  # standard output is no file
        sys.stdout = open(os.devnull, "w")  # noqa: PTH123, SIM115
