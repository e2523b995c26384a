"""``separable train``: compare, test, explain and save a model of a table."""

from __future__ import annotations

import math

import click

from separable.cli.io.output import json_bytes, write_data
from separable.cli.options.command import OUTPUT, command, heading
from separable.cli.options.options import json_option, talk_options
from separable.cli.options.training_options import (
    TESTING,
    ProblemOptions,
    problem_options,
    stream_options,
)
from separable.cli.render.messages import note, warn

__all__ = ["train"]

#: Default fraction of rows to hold out.
TEST_SIZE = 0.25


def _fraction(ctx: click.Context, param: click.Parameter, value: float | None) -> float | None:  # noqa: ARG001
    if value is not None and math.isnan(value):
        raise click.BadParameter("nan is not a fraction. Give a number from 0 to less than 1.")
    return value


@command(
    short_help="Compare learners by cross-validation, test the best on held-out rows, save it.",
    examples=(
        "separable train reviews.csv --target sentiment",
        "separable train houses.csv --target price --metric mae",
        "separable train visits.csv --target paid --group customer --model logistic-regression",
        "separable train sales.csv --target units --time day --drop id",
        "separable train reviews.csv --target sentiment --report reviews.html",
        "separable train 'logs/*.csv' --target clicked --stream --checkpoint clicks.part",
    ),
)
@click.argument("data", metavar="DATA")
@problem_options
@heading(
    TESTING,
    click.option("--test", metavar="FILE", help="Test on this file, and train on all of DATA."),
    click.option(
        "--test-size",
        type=click.FloatRange(0, 1, max_open=True),
        callback=_fraction,
        metavar="X",
        help=f"Fraction of rows to hold out; 0: no test.  [default: {TEST_SIZE}]",
    ),
)
@heading(
    OUTPUT,
    click.option(
        "-o", "--output", metavar="FILE", help="Model file.  [default: DATA's name.safetensors]"
    ),
    click.option(
        "--report",
        metavar="FILE",
        help="Also write a report as one HTML page.",
    ),
)
@json_option()
@talk_options
@stream_options
def train(
    data: str,
    output: str | None,
    report: str | None,
    test: str | None,
    test_size: float | None,
    options: ProblemOptions,
    as_json: bool,
) -> None:
    """Train a model on DATA, a table (CSV, JSON lines, Parquet; also compressed).

    DATA may be a glob, a folder or - (standard input). Without a header line, columns are c1,
    c2, ... Options that name a column are repeatable.

    Learners that suit the data are compared by cross-validation, with their regularization
    searched. The best is tested on held-out rows, refitted on all rows, and saved. Numbers are
    standardized (except for naive Bayes of counts), categories are one-hot encoded, text becomes
    words and bigrams. The columns of --group, --time and --weight are not features.
    """
    from separable.cli.io.output import check_report, model_path, save_model, write_report
    from separable.cli.options.options import command_line_of
    from separable.cli.render.train_text import training_dict, training_text
    from separable.cli.training.training import train_model

    if test is not None and test_size is not None:
        raise click.UsageError(
            f"--test-size and --test {test} exclude each other: the test uses held-out rows or a "
            "file. Leave one of the two out."
        )
    inputs = {} if test is None else {"test": test}
    path = model_path(output, data, **inputs)
    if report is not None:
        check_report(report, "--report", model=path, data=data, **inputs)
    size = TEST_SIZE if test_size is None else test_size
    command = command_line_of(click.get_current_context())
    training = train_model(data, test, size, options, command, keep=report is not None)
    save_model(training.model, path)
    for message in training.notes:
        note(message)
    for warning in training.warnings:
        warn(warning)
    if report is not None:
        from separable.cli.training.report_contents import training_contents

        write_report(training_contents(training, path), report)
    if as_json:
        result = {"model": path, "report": report, **training_dict(training)}
        write_data(json_bytes(result))
    else:
        click.echo(training_text(training, path, report))
