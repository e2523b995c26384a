"""``separable path``: the regularization path of a learner."""

from __future__ import annotations

import click

from separable.cli.io.output import check_csv_output, json_bytes, write_data
from separable.cli.options.command import OUTPUT, command, heading
from separable.cli.options.options import json_option, talk_options
from separable.cli.options.training_options import ProblemOptions, problem_options
from separable.cli.render.messages import note

__all__ = ["path"]


@command(
    short_help="Show the regularization path of a learner: score and weights by C or alpha.",
    examples=(
        "separable path reviews.csv --target sentiment --model logistic-regression",
        "separable path houses.csv --target price --model lasso --metric mae",
    ),
)
@click.argument("data", metavar="DATA")
@problem_options
@heading(
    OUTPUT,
    click.option(
        "-o", "--output", metavar="FILE", help="Write the path as CSV (- for standard output)."
    ),
    click.option(
        "--top",
        type=click.IntRange(min=1),
        default=3,
        show_default=True,
        metavar="N",
        help="Number of largest features to name.",
    ),
)
@json_option()
@talk_options
def path(data: str, output: str | None, top: int, options: ProblemOptions, as_json: bool) -> None:
    """Show the regularization path of a learner on DATA.

    For each value of C or alpha: the cross-validation score with its standard error, the norm of
    the weights of a fit to all rows, the number of nonzero weights, the relative duality gap, and
    the largest features. The best mean is marked, and the most regularized fit within one standard
    error of it.
    """
    from separable.workflow.path_search import regularization_path

    check_csv_output(output, data, as_json=as_json)
    result = regularization_path(data, options, top)
    for message in result.notes:
        note(message)
    if as_json:
        write_data(json_bytes(result.to_dict()))
    elif output is not None:
        write_data(result.to_csv(), output)
    else:
        click.echo(result.to_text())
