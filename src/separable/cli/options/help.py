"""Layout of the help texts: examples first, then options under headings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import click

from separable.cli.options.shell_completion import completed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

__all__ = ["OUTPUT", "READING", "RUNNING", "Command", "Examples", "command", "heading"]

F = TypeVar("F", bound="Callable[..., Any]")

#: Where an option keeps the heading that it is listed under, and the one of all others.
HEADING = "separable_heading"
OTHERS = "Options"

#: Headings of options that several commands have. They are listed last, in this order.
RUNNING, READING, OUTPUT = "Execution", "Input format", "Output"
LAST = (RUNNING, OUTPUT, READING)


class Examples(click.Command):
    """A command, or a group of them, whose help starts with examples.

    Parameters
    ----------
    examples : sequence of str
        Command lines to copy, each perhaps with a remark behind ``#``.
    """

    def __init__(self, *args: Any, examples: Sequence[str] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.examples = tuple(examples)

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples, and then what the command does."""
        if self.examples:
            with formatter.section("Examples"):
                formatter.write("".join(f"  {line}\n" for line in aligned(self.examples)))
        super().format_help_text(ctx, formatter)


class Command(Examples):
    """A command with examples, and with its options under headings.

    Its arguments are files and its options with the metavar ``COL`` columns, for shell completion.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for param in self.params:
            param.type = completed(param)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, each under its heading."""
        result: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is not None and isinstance(param, click.Option):
                is_help = set(param.opts) == set(ctx.help_option_names)
                title = OUTPUT if is_help else vars(param).get(HEADING, OTHERS)
                result.setdefault(title, []).append(record)
        for title in sorted(result, key=_position):
            with formatter.section(title):
                formatter.write_dl(result[title], col_max=26)


def _position(title: str) -> int:
    """Return where a heading comes: as the options do, but for the last ones."""
    return LAST.index(title) if title in LAST else -1


def command(*, examples: Sequence[str], **attrs: Any) -> Callable[[Callable[..., Any]], Command]:
    """Return a decorator that makes a command of a function, as `click.command` does.

    Parameters
    ----------
    examples : sequence of str
        Command lines to copy, with which its help starts.
    **attrs : object
        As of `click.command`.
    """
    return click.command(cls=Command, examples=examples, **attrs)


def heading(title: str, *options: Callable[[Any], Any]) -> Callable[[F], F]:
    """Return a decorator that adds options to a command, listed under a heading of their own.

    Parameters
    ----------
    title : str
        What they are for. Options of one heading may be added in several places.
    *options : decorators
        As `click.option` makes them, in the order of the list.
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
    """Return what click keeps about a function that is still to become a command."""
    params: list[click.Parameter] = getattr(function, "__click_params__", [])
    return params


def aligned(examples: Iterable[str]) -> list[str]:
    """Return command lines with their remarks below each other.

    Examples
    --------
    >>> aligned(["separable demo  # try it", "separable inspect m.safetensors  # look"])
    ['separable demo                   # try it', 'separable inspect m.safetensors  # look']
    """
    parts = [line.partition("  # ") for line in examples]
    width = max((len(line) for line, mark, _ in parts if mark), default=0)
    return [f"{line.ljust(width)}  # {remark}" if mark else line for line, mark, remark in parts]
