"""``separable lab``: a page on which linear models learn step by step."""

from __future__ import annotations

import click

from separable.cli.io.output import json_bytes, write_data
from separable.cli.options.command import OUTPUT, command, heading
from separable.cli.options.options import json_option, talk_options
from separable.cli.render.messages import say

__all__ = ["lab"]


@command(
    short_help="Write a page on which linear models learn step by step.",
    examples=(
        "separable lab --open  # AND, OR, XOR, clouds, a ring, penguins",
        "separable lab --lesson L4 --seed 7 -o student7.html",
        "separable lab iris.csv --target species --columns petal_length,petal_width -o iris.html",
    ),
)
@click.argument("data", metavar="[DATA]", required=False)
@click.option("--target", metavar="COL", help="The column of classes.")
@click.option(
    "--columns", metavar="A,B,...", help="1 to 8 columns of numbers.  [default: the first two]"
)
@heading(
    "Lessons",
    click.option("--lesson", metavar="L1...L23", help="Start with the questions of a lesson."),
    click.option(
        "--seed", default=1, show_default=True, help="The student's number: other questions."
    ),
    click.option("--key", is_flag=True, help="Show the answers, for a teacher."),
)
@heading(
    OUTPUT,
    click.option(
        "-o",
        "--output",
        metavar="FILE",
        default="lab.html",
        show_default=True,
        help="New HTML file.",
    ),
    click.option("--open", "opens", is_flag=True, help="Open the page in a browser."),
)
@json_option("Print a JSON summary of the page.")
@talk_options
def lab(
    data: str | None,
    target: str | None,
    columns: str | None,
    lesson: str | None,
    seed: int,
    key: bool,
    output: str,
    opens: bool,
    as_json: bool,
) -> None:
    """Write one self-contained HTML page on which perceptrons and their relatives learn.

    Rows can be added, moved and flipped; every step shows the weights before and after it. With
    DATA the page starts with columns of the file. The page makes no network requests.
    An existing file is not overwritten.
    """
    from separable.lab.lab_page import lab as write

    if data is None and (target or columns):
        raise click.UsageError("--target and --columns need DATA.")
    if data is not None and target is None:
        raise click.UsageError("DATA needs --target, the column of classes.")
    names = [name.strip() for name in columns.split(",")] if columns else []
    page = write(data, target, columns=names, path=output, lesson=lesson, seed=seed, key=key)
    if as_json:
        write_data(json_bytes({"lab": output, "data": data, "bytes": len(page.encode())}))
    say(f"Wrote {output}: open it in a browser.")
    if opens:
        click.launch(output)
