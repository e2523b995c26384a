"""``separable report``: a model as one HTML page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from separable.cli.io.output import json_bytes, write_data
from separable.cli.options.command import OUTPUT, command, heading
from separable.cli.options.options import (
    json_option,
    labelled_rows_options,
    patterns_option,
    reading_options,
    talk_options,
)
from separable.cli.render.messages import say

if TYPE_CHECKING:
    from separable.workflow.options import ReadingOptions

__all__ = ["report"]


@command(
    short_help="Write a report on a model as one HTML page.",
    examples=(
        "separable report penguins.safetensors  # from the model file alone",
        "separable report penguins.safetensors new.csv -o new.html  # measured on new rows",
        'separable report spam.safetensors new.csv --title "Spam, in May"',
    ),
)
@click.argument("model", metavar="MODEL")
@click.argument("data", metavar="[DATA]", required=False)
@labelled_rows_options
@click.option("--title", metavar="TEXT", help="Title of the page.")
@heading(
    OUTPUT,
    click.option("-o", "--output", metavar="FILE", help="HTML file.  [default: MODEL's name.html]"),
)
@json_option("Print a JSON summary of the report.")
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
    """Write a report on MODEL as one HTML page: its training, evaluation and weights.

    The page is self-contained: it makes no network requests and can be sent by mail. Without DATA
    it shows what the model file holds: the learners that were compared, the metrics on held-out
    rows, the weights and their certificate. With DATA, labelled rows, the model is evaluated on
    them, and the page adds ROC, precision-recall and calibration curves, the worst errors,
    separability and a learning curve.

    `train --report` writes the same page with all of this.
    """
    from separable.cli.io.output import check_report, write_report
    from separable.cli.io.report_contents import MeasuredOn, model_contents

    given = {"target": target, "weight": weight, "positive": positive, "column": column}
    if data is None:
        for name, value in given.items():
            if value is not None:
                raise click.UsageError(f"--{name} {value} needs DATA.")
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
