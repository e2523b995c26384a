"""``separable completion``: the completion script for a shell."""

from __future__ import annotations

import click

from separable.cli.io.output import json_bytes, write_data
from separable.cli.options.command import command
from separable.cli.options.options import json_option, talk_options

__all__ = ["completion"]

SHELLS = ("bash", "zsh", "fish")


@command(
    short_help="Print the shell completion script.",
    examples=(
        'eval "$(separable completion bash)"  # in ~/.bashrc',
        'eval "$(separable completion zsh)"  # in ~/.zshrc, after compinit',
        "separable completion fish > ~/.config/fish/completions/separable.fish",
    ),
)
@click.argument("shell", type=click.Choice(SHELLS), metavar="SHELL")
@json_option('One JSON object, {"shell": ..., "script": ...}, instead of the script.')
@talk_options
def completion(shell: str, as_json: bool) -> None:
    """Print the completion script for SHELL: bash, zsh or fish.

    Add the line of the examples to the file that it names. New shells then complete commands,
    options, learners and metrics, and for options such as --target the columns of the data file.
    """
    from click.shell_completion import get_completion_class

    from separable.cli.app import COMPLETE, app

    result = get_completion_class(shell)
    assert result is not None
    script = result(app, {}, "separable", COMPLETE).source()
    write_data(json_bytes({"shell": shell, "script": script}) if as_json else script.encode())
