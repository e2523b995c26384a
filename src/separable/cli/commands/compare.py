"""``separable compare``: a leaderboard of learners on a table; nothing is saved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from separable.cli.io.output import check_csv_output, csv_bytes, json_bytes, write_data
from separable.cli.options.command import OUTPUT, command, heading
from separable.cli.options.options import json_option, talk_options
from separable.cli.options.training_options import (
    DECISIONS,
    class_weight_option,
    problem_options,
    target_log_option,
)

if TYPE_CHECKING:
    from separable.workflow.comparison.learner_comparison import Comparison
    from separable.workflow.options import ProblemOptions

__all__ = ["compare"]


@command(
    short_help="Compare learners on a table by cross-validation.",
    examples=(
        "separable compare reviews.csv --target sentiment",
        "separable compare houses.csv --target price --model ridge --model least-squares",
        "separable compare visits.csv --target paid --group customer --metric roc_auc",
    ),
)
@click.argument("data", metavar="DATA")
@problem_options
@heading(DECISIONS, class_weight_option, target_log_option)
@heading(
    OUTPUT,
    click.option(
        "-o",
        "--output",
        metavar="FILE",
        help="Write the leaderboard as CSV (- for standard output).",
    ),
)
@json_option()
@talk_options
def compare(data: str, output: str | None, options: ProblemOptions, as_json: bool) -> None:
    """Compare learners on all rows of DATA by cross-validation; nothing is saved.

    Every learner is evaluated on the same folds, with its regularization searched. Learners,
    columns, metrics and folds are specified as for separable train.
    """
    from separable.workflow.comparison.comparison_text import board_text
    from separable.workflow.comparison.learner_comparison import compare_all_rows

    check_csv_output(output, data, as_json=as_json)
    _, comparison = compare_all_rows(data, options)
    if as_json:
        write_data(json_bytes(_as_dict(comparison)))
    elif output is not None:
        write_data(_as_csv(comparison), output)
    else:
        click.echo(board_text(comparison))


def _as_dict(comparison: Comparison) -> dict[str, Any]:
    board = comparison.board_dict()
    assert board is not None
    return {
        "rows": comparison.of_rows,
        "compared_rows": comparison.rows,
        "positive": comparison.score.positive,
        **board,
    }


def _as_csv(comparison: Comparison) -> bytes:
    """Return one line per learner, from best to worst."""
    from separable.workflow.comparison.comparison_text import settings_text

    assert comparison.board is not None
    board = comparison.board
    names = [
        "mean", "standard_error", "difference", "difference_error", "differs", "seconds", "failed",
    ]  # fmt: skip
    lines = []
    for rank, each in enumerate(board, 1):
        values = each.to_dict()
        cells = [values[name] for name in names]
        lines.append([rank, each.name, settings_text(each.params), board.metric, *cells])
    return csv_bytes(["rank", "learner", "strength", "metric", *names], lines)
