"""``separable demo``: all commands on the penguins that come with the package."""

from __future__ import annotations

import click

from separable.cli.options.command import command
from separable.cli.options.options import json_option, talk_options
from separable.cli.render.messages import say, verbosity

__all__ = ["demo"]

STEPS = (
    (
        "Train a model that predicts the species of 344 penguins:",
        "train penguins.csv --target species",
    ),
    (
        "Which features are most important?",
        "explain penguins.safetensors --top 3",
    ),
    (
        "Predict five rows of a file without the species column:",
        "predict penguins.safetensors five.csv",
    ),
    (
        "Explain the prediction of the third row:",
        "explain penguins.safetensors five.csv --row 3",
    ),
)

#: Lines of penguins.csv that make up five.csv; one has missing values.
FIVE = (2, 5, 160, 230, 300)

NEXT = (
    ("separable train YOUR.csv --target COLUMN", "the same with your file"),
    ("    ... --report report.html", "also write a report"),
    ("separable inspect YOUR.safetensors", "show the contents of a model file"),
    ("separable --help", "all commands; more in docs/reference/command_line.md"),
)


@command(
    short_help="Train, explain and predict on the included penguins data.",
    examples=("separable demo", "separable demo --json  # the JSON output of each command"),
)
@json_option("Print the JSON output of each command, one object per line.")
@talk_options
def demo(as_json: bool) -> None:
    """Train, explain and predict on the Palmer penguins, and show each command.

    Everything runs in a temporary folder, which is removed at the end.
    """
    import contextlib
    import tempfile

    flags = ["--json"] * as_json + [{-1: "-q", 0: "", 1: "-v"}[verbosity()]]
    with tempfile.TemporaryDirectory(prefix="separable-demo-") as folder, contextlib.chdir(folder):
        _write_files()
        for title, line in STEPS:
            _run(title, " ".join([line, *filter(None, flags)]), talk=as_json)
    shown = [f"  {line.ljust(42)}# {what}" for line, what in NEXT]
    text = "\n".join(["Next:", *shown])
    say(text) if as_json else click.echo(text)


def _run(title: str, line: str, *, talk: bool) -> None:
    """Print a command line to standard error, and run it."""
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
