"""``separable separability``: whether a hyperplane divides the classes of a table, with proof."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from separable.cli.io.output import json_bytes, write_data
from separable.cli.options.command import command
from separable.cli.options.options import json_option, reading_options, talk_options

if TYPE_CHECKING:
    from separable.workflow.options import ReadingOptions

__all__ = ["separability"]


@command(
    short_help="Decide whether a hyperplane separates the classes of a table, with proof.",
    examples=(
        "separable separability penguins.csv --target species",
        "separable separability spam.csv --target label --drop id --proof",
        "separable separability digits.csv --target digit --classes pairs",
    ),
)
@click.argument("data", metavar="DATA")
@click.option("--target", metavar="COL", required=True, help="The column of classes.")
@click.option(
    "--classes",
    "multi_class",
    type=click.Choice(["joint", "pairs", "ovr"]),
    default="joint",
    show_default=True,
    help="Three or more classes: all together, in pairs, or one against the rest.",
)
@click.option("--number", multiple=True, metavar="COL", help="Treat a column as numbers.")
@click.option("--category", multiple=True, metavar="COL", help="Treat a column as categories.")
@click.option("--boolean", multiple=True, metavar="COL", help="Treat a column as boolean.")
@click.option("--date", multiple=True, metavar="COL", help="Treat a column as dates.")
@click.option("--text", multiple=True, metavar="COL", help="Treat a column as free text.")
@click.option("--drop", multiple=True, metavar="COL", help="Ignore a column.")
@click.option("--proof", is_flag=True, help="Check the proof in exact arithmetic, and print it.")
@json_option("Print one JSON object with the proof.")
@reading_options
@talk_options
def separability(
    data: str,
    target: str,
    multi_class: str,
    proof: bool,
    as_json: bool,
    reading: ReadingOptions,
    **columns: Any,
) -> None:
    """Decide whether the classes of DATA are linearly separable, and prove it.

    The columns are encoded as by separable train. Separable classes come with a hyperplane and its
    margin, overlapping ones with rows of both classes whose hulls meet. All rows are used, so a
    large table may take long; separable train says it in one line if it is decided quickly.
    """
    from separable.workflow.options import ProblemOptions
    from separable.workflow.table_separability import table_separability

    given = {kind: list(names) for kind, names in columns.items()}
    options = ProblemOptions(target, task="classification", columns=given, reading=reading)
    result = table_separability(data, options, multi_class)
    verified = result.verify() if proof else None
    if as_json:
        write_data(json_bytes({"target": target, "verified": verified, **result.to_dict()}))
        return
    click.echo(repr(result))
    if proof:
        click.echo(f"  proof checked in exact arithmetic: {'it holds' if verified else 'it fails'}")
        write_data(json_bytes(result.to_dict().get("proof", result.to_dict())))
