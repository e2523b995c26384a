"""``separable demo``: the whole path on the penguins that come with the package."""

from __future__ import annotations

import contextlib
import shlex
import tempfile
from pathlib import Path

import click

__all__ = ["demo"]

STEPS = (
    (
        "Train on 344 penguins: which species is it?",
        "train penguins.csv --target species",
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


@click.command(short_help="Train, predict and explain on the penguins that come along.")
def demo() -> None:
    """Train, predict and explain on the Palmer penguins, showing each command.

    Everything happens in a temporary folder, which is removed at the end.
    """
    from separable.cli.app import app

    with tempfile.TemporaryDirectory(prefix="separable-demo-") as folder, contextlib.chdir(folder):
        _write_files()
        for title, command in STEPS:
            click.secho(f"# {title}", fg="green")
            click.secho(f"$ separable {command}", bold=True)
            app.main(shlex.split(command), prog_name="separable", standalone_mode=False)
            click.echo()
    click.echo("Your turn: separable train YOUR.csv --target COLUMN")


def _write_files() -> None:
    from separable.datasets import PENGUINS

    text = PENGUINS.read_text(encoding="utf-8")
    Path("penguins.csv").write_text(text, encoding="utf-8")
    lines = text.splitlines()
    kept = [lines[0], *(lines[line - 1] for line in FIVE)]
    without_species = "".join(line.partition(",")[2] + "\n" for line in kept)
    Path("five.csv").write_text(without_species, encoding="utf-8")
