"""A command line again, as it was typed: what leads to the same model."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from click.core import ParameterSource

from separable.cli.io.output import data_name

if TYPE_CHECKING:
    import click

__all__ = ["command_line_of"]

#: What changes neither what is learned nor how it is tested.
NO_MATTER = (
    "output", "report", "as_json", "quiet", "verbose", "debug", "threads", "checkpoint", "every",
    "resume",
)  # fmt: skip

#: Arguments and options that are files, which are named without their folders.
FILES = ("data", "test")


def command_line_of(ctx: click.Context) -> str:
    """Return the command line of a context: its arguments, and the options that were given.

    Parameters
    ----------
    ctx : click.Context
        Of a command.

    Returns
    -------
    str
        Without the folders of files, and without what has no say in the outcome.
    """
    words = ["separable", str(ctx.info_name)]
    for param in ctx.command.params:
        name, given = str(param.name), ParameterSource.COMMANDLINE
        if name in NO_MATTER or ctx.get_parameter_source(name) is not given:
            continue
        value = ctx.params[name]
        for one in value if isinstance(value, tuple) else (value,):
            words += _words(param, one)
    return " ".join(words)


def _words(param: click.Parameter, value: Any) -> list[str]:
    if param.name in FILES and value != "-":
        value = data_name(str(value))
    if param.param_type_name == "argument":
        return [shlex.quote(str(value))]
    flags = [*param.opts, *param.secondary_opts]
    if isinstance(value, bool):
        shown = param.opts if value or not param.secondary_opts else param.secondary_opts
        return [shown[-1]]
    long = next((flag for flag in flags if flag.startswith("--")), flags[0])
    return [long, shlex.quote(str(value))]
