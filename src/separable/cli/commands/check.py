"""``separable check``: what makes a model of this data, or its measured error, wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from separable.cli.io.output import file_name, json_bytes, write_data
from separable.cli.options.help import command
from separable.cli.options.options import json_option, reading_options, talk_options

if TYPE_CHECKING:
    from separable.cli.options.options import ReadingOptions

__all__ = ["check"]

#: The exit code of ``--fail-on``.
FOUND = 3


@command(
    short_help="Look for leakage, slips and traps in a table before training on it.",
    examples=(
        "separable check bank.csv --target y",
        "separable check bank.csv --target y --drop duration --fail-on warning  # for pipelines",
        "separable check bank.csv --target y --json",
    ),
)
@click.argument("data", metavar="DATA")
@click.option("--target", metavar="COL", help="The column to predict.")
@click.option(
    "--task",
    type=click.Choice(["classification", "regression"]),
    help="Whether the target is classes or numbers.  [default: as it looks]",
)
@click.option("--number", multiple=True, metavar="COL", help="Treat a column as numbers.")
@click.option("--category", multiple=True, metavar="COL", help="Treat a column as categories.")
@click.option("--boolean", multiple=True, metavar="COL", help="Treat a column as yes or no.")
@click.option("--date", multiple=True, metavar="COL", help="Treat a column as dates.")
@click.option("--text", multiple=True, metavar="COL", help="Treat a column as free text.")
@click.option("--drop", multiple=True, metavar="COL", help="Leave a column out.")
@click.option("--weight", metavar="COL", help="The column with the weights of rows.")
@click.option("--group", metavar="COL", help="The column by which rows belong together.")
@click.option("--time", metavar="COL", help="The column with the time of a row.")
@click.option(
    "--fail-on",
    type=click.Choice(["warning", "note"]),
    help=f"End with exit code {FOUND} if there is a warning; or anything, with note.",
)
@json_option()
@reading_options
@talk_options
def check(
    data: str,
    fail_on: str | None,
    as_json: bool,
    reading: ReadingOptions,
    **asked: Any,
) -> None:
    """Look for what makes a model of DATA, or its measured error, wrong.

    Warnings are about columns that give the target away, identifiers, rows that come again or
    contradict each other, numbers that stand for missing values, slips in texts; notes about what
    is worth knowing. Each says what to do, where there is one as an option of train. The columns
    are listed with the type that train takes them for. Columns of more than 100 000 rows are
    compared in a sample of so many.
    """
    from separable.cli.render.check_text import check_dict, check_text, checked

    found = checked(data, asked, reading)
    if as_json:
        write_data(json_bytes({"data": file_name(data), **check_dict(found)}))
    else:
        click.echo(check_text(found, data))
    if fail_on and (found.findings.warnings or (fail_on == "note" and found.findings)):
        click.get_current_context().exit(FOUND)
