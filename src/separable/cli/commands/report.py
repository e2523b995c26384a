"""``separable report``: a model as one page that anybody can open."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from separable.cli.io.output import json_bytes, write_data
from separable.cli.options.help import OUTPUT, command, heading
from separable.cli.options.options import (
    json_option,
    patterns_option,
    reading_options,
    talk_options,
)
from separable.cli.render.messages import say

if TYPE_CHECKING:
    from separable.cli.options.options import ReadingOptions

__all__ = ["report"]


@command(
    short_help="Write a model as one HTML page to show around.",
    examples=(
        "separable report penguins.safetensors  # what the file remembers",
        "separable report penguins.safetensors new.csv -o new.html  # measured on new rows",
        'separable report spam.safetensors new.csv --title "Spam, in May"',
    ),
)
@click.argument("model", metavar="MODEL")
@click.argument("data", metavar="[DATA]", required=False)
@click.option(
    "--target", metavar="COL", help="The column with the truth.  [default: as in training]"
)
@click.option("--weight", metavar="COL", help="How much each row counts; 0 leaves it out.")
@click.option(
    "--positive",
    metavar="CLASS",
    help="Precision, recall, F1 and ROC AUC are of this class.  [default: as in training, else the "
    "second of two]",
)
@click.option("--column", metavar="COL", help="The texts, for a model of nothing but texts.")
@click.option("--title", metavar="TEXT", help="What the page is called.")
@heading(
    OUTPUT,
    click.option("-o", "--output", metavar="FILE", help="The page.  [default: MODEL's name.html]"),
)
@json_option("One JSON object about the page.")
@reading_options
@patterns_option
@talk_options
def report(
    model: str,
    data: str | None,
    target: str | None,
    weight: str | None,
    positive: str | None,
    column: str | None,
    title: str | None,
    output: str | None,
    as_json: bool,
    reading: ReadingOptions,
) -> None:
    """Write what MODEL is, from what it learned and how good it is as one HTML page.

    The page needs nothing else: it asks no address for anything, and can be sent by mail. Without
    DATA it says what the model file remembers: the learners that were compared, the figures of the
    rows held out, the weights and their certificate. With DATA, rows whose truth is known, the
    model is measured on these, and there are curves, the rows it is most wrong about, whether the
    classes are separable, and what more rows would bring.

    `train --report` writes the same page with all of this.
    """
    from separable.cli.io.saving_report import check_report, write_report
    from separable.cli.training.model_report import MeasuredOn, model_contents

    given = {"target": target, "weight": weight, "positive": positive, "column": column}
    if data is None:
        for name, value in given.items():
            if value is not None:
                raise click.UsageError(f"--{name} {value} is about DATA, which is not given.")
    path = output or f"{Path(model).name.partition('.')[0] or 'model'}.html"
    check_report(
        path,
        "-o" if output else "The page",
        model=model,
        **({} if data is None else {"data": data}),
    )
    rows = None if data is None else MeasuredOn(data, reading=reading, **given)
    contents = model_contents(model, rows, title)
    write_report(contents, path)
    if as_json:
        size = Path(path).stat().st_size
        write_data(json_bytes({"report": path, "model": model, "data": data, "bytes": size}))
    say(f"Wrote {path}: open it in a browser.")
