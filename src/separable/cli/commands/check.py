"""``separable check``: problems in the data that bias a model or its measured error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from separable.cli.io.output import json_bytes, write_data
from separable.cli.options.command import command
from separable.cli.options.options import json_option, reading_options, talk_options
from separable.cli.options.training_options import convert_option
from separable.workflow.options import file_name

if TYPE_CHECKING:
    from separable.workflow.options import ReadingOptions

__all__ = ["check"]

#: The exit code of ``--fail-on``.
FINDINGS_EXIT_CODE = 3


@command(
    short_help="Check a table for target leakage and data errors before training.",
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
    help="Type of the target.  [default: detected]",
)
@click.option("--number", multiple=True, metavar="COL", help="Treat a column as numbers.")
@click.option("--category", multiple=True, metavar="COL", help="Treat a column as categories.")
@click.option("--boolean", multiple=True, metavar="COL", help="Treat a column as boolean.")
@click.option("--date", multiple=True, metavar="COL", help="Treat a column as dates.")
@click.option("--text", multiple=True, metavar="COL", help="Treat a column as free text.")
@click.option("--drop", multiple=True, metavar="COL", help="Ignore a column.")
@convert_option
@click.option("--weight", metavar="COL", help="Sample weights.")
@click.option("--group", metavar="COL", help="Groups of rows.")
@click.option("--time", metavar="COL", help="Time of each row.")
@click.option(
    "--fail-on",
    type=click.Choice(["warning", "note"]),
    help=f"Exit with code {FINDINGS_EXIT_CODE} if there is a warning (or, with note, any finding).",
)
@json_option()
@reading_options
@talk_options
def check(
    data: str,
    fail_on: str | None,
    as_json: bool,
    reading: ReadingOptions,
    **options: Any,
) -> None:
    """Check DATA for problems that bias a model or its measured error.

    Warnings cover target leakage, identifiers, duplicate and contradicting rows, numbers that stand
    for missing values, and inconsistent texts; notes are worth knowing. Each finding names a
    remedy, if there is one as an option of train. The columns are listed with the type that train
    detects. With more than 100 000 rows, columns are compared on a sample of that size.
    """
    from separable.cli.render.check_results import check_dict, check_text, checked

    result = checked(data, options, reading)
    if as_json:
        write_data(json_bytes({"data": file_name(data), **check_dict(result)}))
    else:
        click.echo(check_text(result, data))
    if fail_on and (result.findings.warnings or (fail_on == "note" and result.findings)):
        click.get_current_context().exit(FINDINGS_EXIT_CODE)
