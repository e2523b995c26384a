"""``separable train``: a table to a trained, tested, explained and saved model."""

from __future__ import annotations

import glob
from pathlib import Path

import click

from separable.cli.learners import DEFAULT_LEARNERS, LEARNERS
from separable.cli.options import (
    ReadingOptions,
    json_option,
    reading_options,
    seed_option,
    talk_options,
)
from separable.cli.output import check_output, json_bytes, write_data
from separable.cli.stream_options import stream_options
from separable.cli.talk import note, warn

__all__ = ["train"]


def _only(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> str:
    """Return the one value of an option that may not be given twice."""
    if len(values) > 1:
        raise click.BadParameter(f"given {len(values)} times ({', '.join(values)}). Give it once.")
    if not values and not ctx.params.get("stream"):  # of sparse text it is not a column
        raise click.MissingParameter(ctx=ctx, param=param)
    return values[0] if values else ""


def _learners_help() -> str:
    """Say which learners predict classes and which numbers, where there are both."""
    names: dict[str, list[str]] = {}
    for name, learner in LEARNERS.items():
        names.setdefault(learner.task, []).append(name)
    if len(names) == 1:
        return "The learner."
    told = "; ".join(f"for {task} {', '.join(each)}" for task, each in names.items())
    return f"The learner: {told}."


@click.command(
    short_help="Train a model on a table and test it on rows held out.",
    epilog="Example: separable train penguins.csv --target species -o penguins.safetensors",
)
@click.argument("data", metavar="DATA")
@click.option(
    "--target",
    multiple=True,
    callback=_only,
    metavar="COL",
    help="The column to predict.",
)
@click.option(
    "-o", "--output", metavar="FILE", help="The model file.  [default: DATA's name.safetensors]"
)
@click.option(
    "--model",
    "learner",
    type=click.Choice(list(LEARNERS)),
    metavar="NAME",
    help=f"{_learners_help()}  [default: {' or '.join(DEFAULT_LEARNERS.values())}]",
)
@click.option("--number", multiple=True, metavar="COL", help="Treat a column as numbers.")
@click.option("--category", multiple=True, metavar="COL", help="Treat a column as categories.")
@click.option("--drop", multiple=True, metavar="COL", help="Leave a column out.")
@click.option(
    "--test-size",
    type=click.FloatRange(0, 1, max_open=True),
    default=0.25,
    show_default=True,
    help="The share of rows to hold out; 0 tests nothing.",
)
@seed_option
@json_option()
@reading_options
@talk_options
@stream_options
def train(
    data: str,
    target: str,
    output: str | None,
    learner: str | None,
    number: tuple[str, ...],
    category: tuple[str, ...],
    drop: tuple[str, ...],
    test_size: float,
    seed: int,
    as_json: bool,
    reading: ReadingOptions,
) -> None:
    """Train a model on DATA, a table: CSV, JSON lines or Parquet, compressed or not.

    - is standard input; a glob or a folder is read as one table. Columns of a file without a header
    line are called c1, c2, ...

    The learner decides what is predicted: a classifier one of the classes in the target column, a
    regressor a number. Without --model it is logistic regression, or ridge regression where the
    target looks like a quantity, with the strength of regularisation that predicts best in
    cross-validation. Numbers are standardised (naive Bayes of counts takes them as they are),
    categories become one number for each level, missing values are allowed. Part of the rows is
    held out to measure the error; the model that is saved is then trained on all of them.
    --number, --category and --drop may be given several times.
    """
    from separable.cli.train_report import training_dict, training_text
    from separable.cli.training import train_model

    path = output or _default_output(data)
    if path == "-":
        raise click.UsageError("-o -: a model does not go to standard output. Name a file.")
    check_output(path, data=data)
    options = {"number": list(number), "category": list(category), "drop": list(drop)}
    training = train_model(data, target, learner, options, test_size, seed, reading)
    training.model.save(path)
    for told in training.notes:
        note(told)
    for warning in training.warnings:
        warn(warning)
    if as_json:
        write_data(json_bytes({"model": path, **training_dict(training)}))
    else:
        click.echo(training_text(training, path))


def _default_output(data: str) -> str:
    name = Path(data).name.partition(".")[0]
    plain = name and not glob.has_magic(name)
    return f"{name}.safetensors" if plain and data != "-" else "model.safetensors"
