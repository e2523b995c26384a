"""``separable demo``: the whole path on the penguins that come with the package."""

from __future__ import annotations

import click

from separable.cli.options.help import command
from separable.cli.options.options import json_option, talk_options
from separable.cli.render.messages import say, verbosity

__all__ = ["demo"]

STEPS = (
    (
        "Train on 344 penguins: which species is it?",
        "train penguins.csv --target species",
    ),
    (
        "What does the model look at?",
        "explain penguins.safetensors --top 3",
    ),
    (
        "Predict five of them from a file that does not name the species:",
        "predict penguins.safetensors five.csv",
    ),
    (
        "Why is the third of these what the model says it is?",
        "explain penguins.safetensors five.csv --row 3",
    ),
)

#: Lines of penguins.csv that make up five.csv: one with missing values among them.
FIVE = (2, 5, 160, 230, 300)

NEXT = (
    ("separable train YOUR.csv --target COLUMN", "the same with a file of yours"),
    ("    ... --report report.html", "and a page to hand on"),
    ("separable inspect YOUR.safetensors", "what is inside a model"),
    ("separable --help", "all commands; docs/reference/command_line.md tells more"),
)


@command(
    short_help="Train, explain and predict on the penguins that come along.",
    examples=("separable demo", "separable demo --json  # what each command gives to programs"),
)
@json_option("One JSON object a line instead of text: what each command gives with --json.")
@talk_options
def demo(as_json: bool) -> None:
    """Train, explain and predict on the Palmer penguins, showing each command.

    Everything happens in a temporary folder, which is removed at the end.
    """
    import contextlib
    import tempfile

    flags = ["--json"] * as_json + [{-1: "-q", 0: "", 1: "-v"}[verbosity()]]
    with tempfile.TemporaryDirectory(prefix="separable-demo-") as folder, contextlib.chdir(folder):
        _write_files()
        for title, line in STEPS:
            _run(title, " ".join([line, *filter(None, flags)]), talk=as_json)
    shown = [f"  {line.ljust(42)}# {what}" for line, what in NEXT]
    text = "\n".join(["Your turn:", *shown])
    say(text) if as_json else click.echo(text)


def _run(title: str, line: str, *, talk: bool) -> None:
    """Show a command line and run it; what is shown goes to standard error where it is talk."""
    import shlex

    from separable.cli.app import invoke

    if not talk or verbosity() >= 0:
        click.secho(f"# {title}", fg="green", err=talk)
        click.secho(f"$ separable {line}", bold=True, err=talk)
    code = invoke(shlex.split(line))
    if code:
        raise click.exceptions.Exit(code)
    if not talk:
        click.echo()


def _write_files() -> None:
    from pathlib import Path

    from separable.datasets import PENGUINS

    text = PENGUINS.read_text(encoding="utf-8")
    Path("penguins.csv").write_text(text, encoding="utf-8")
    lines = text.splitlines()
    kept = [lines[0], *(lines[line - 1] for line in FIVE)]
    without_species = "".join(line.partition(",")[2] + "\n" for line in kept)
    Path("five.csv").write_text(without_species, encoding="utf-8")
