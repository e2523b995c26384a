"""``separable path``: the regularization path of a learner."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from separable.cli.io.output import check_csv_output, csv_bytes, json_bytes, write_data
from separable.cli.options.command import OUTPUT, command, heading
from separable.cli.options.options import json_option, talk_options
from separable.cli.options.training_options import problem_options

if TYPE_CHECKING:
    from separable.workflow.options import ProblemOptions
    from separable.workflow.path_search import PathResult

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
    if as_json:
        write_data(json_bytes(result.to_dict()))
    elif output is not None:
        write_data(_as_csv(result), output)
    else:
        click.echo(result.to_text())


def _as_csv(result: PathResult) -> bytes:
    """Return one line per value of the parameter."""
    given = ("mean", "standard_error", "norm", "nonzeros", "relative_gap")
    marks = ("is_best", "is_one_standard_error")
    lines = [
        [
            each.strength,
            result.metric,
            *(getattr(each, name) for name in (*given, *marks)),
            " ".join(one["feature"] for one in each.largest),
        ]
        for each in result.steps
    ]
    return csv_bytes([result.name, "metric", *given, *marks, "largest"], lines)
