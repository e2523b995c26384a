"""``separable evaluate``: how good a model is on a file whose truth is known.

``--fail-under`` and ``--fail-over``: figures that a model has to reach.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from separable.cli.io.output import counted, file_name, json_bytes, write_data
from separable.cli.io.saving import remembered
from separable.cli.options.help import command
from separable.cli.options.options import (
    json_option,
    patterns_option,
    reading_options,
    talk_options,
)
from separable.cli.render.messages import note
from separable.model.metrics.metric_registry import METRICS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from separable.cli.options.options import ReadingOptions
    from separable.model.files.training_rows import SeenRows
    from separable.model.kinds import Model
    from separable.model.metrics.evaluation import Evaluation

__all__ = ["Limit", "evaluate", "missed_limits", "read_limits"]


#: The exit code where a limit was missed.
MISSED = 3


@command(
    short_help="Measure a model on a file whose truth is known.",
    examples=(
        "separable evaluate penguins.safetensors penguins.csv",
        "separable evaluate spam.safetensors new.csv --fail-under f1=0.9 --json",
        "separable evaluate prices.safetensors new.csv --fail-over rmse=3.2",
    ),
)
@click.argument("model", metavar="MODEL")
@click.argument("data", metavar="DATA")
@click.option(
    "--target", metavar="COL", help="The column with the truth.  [default: as in training]"
)
@click.option("--weight", metavar="COL", help="How much each row counts; 0 leaves it out.")
@click.option(
    "--positive",
    metavar="CLASS",
    help="Precision, recall, F1 and ROC AUC are of this class.  [default: as in training, else the "
    "second of two]",
)
@click.option("--column", metavar="COL", help="The texts, for a model of nothing but texts.")
@click.option(
    "--fail-under",
    multiple=True,
    metavar="FIGURE=X",
    help="End with exit code 3 where a figure is smaller, such as accuracy=0.9.",
)
@click.option(
    "--fail-over",
    multiple=True,
    metavar="FIGURE=X",
    help="The same where an error is larger, such as rmse=3.2.",
)
@json_option()
@reading_options
@patterns_option
@talk_options
def evaluate(
    model: str,
    data: str,
    target: str | None,
    weight: str | None,
    positive: str | None,
    column: str | None,
    fail_under: tuple[str, ...],
    fail_over: tuple[str, ...],
    as_json: bool,
    reading: ReadingOptions,
) -> None:
    """Measure the predictions of MODEL for the rows of DATA, beside the best constant answer.

    That answer is the most common class of the training rows, or their mean. Rows without a target
    are left out and counted. A label that the model does not know is answered wrongly, whatever the
    model says, and such labels are told.

    With --fail-under or --fail-over the exit code is 3 where a figure was missed, so that a script
    can stop a model that is not good enough.
    """
    from separable.cli.commands.evaluate import check_task, missed_limits, read_limits
    from separable.cli.io.measured_rows import positive_of, refuse_several_targets
    from separable.cli.io.model_rows import load_model

    limits = read_limits(fail_under, fail_over)
    loaded = load_model(model)
    check_task(limits, "regression" if loaded.classes is None else "classification")
    refuse_several_targets(loaded, model)
    chosen = positive_of(loaded, positive)
    found, told = _measured(loaded, data, target, weight, chosen, column, reading)
    missed = missed_limits(limits, found)
    if as_json:
        write_data(json_bytes({**told, **found.to_dict(), "missed": missed}))
    else:
        click.echo(f"{_title(told)}\n{found.text()}")
    for line in missed:
        click.echo(f"Missed: {line}", err=True)
    if missed:
        raise click.exceptions.Exit(MISSED)


def _measured(
    model: Model,
    data: str,
    target: str | None,
    weight: str | None,
    positive: Any,
    column: str | None,
    reading: ReadingOptions,
) -> tuple[Evaluation, dict[str, Any]]:
    """Return the evaluation of a file, and what it is of."""
    import numpy as np

    from separable.cli.io.measured_rows import constant_of, rows_with_truth, target_named
    from separable.cli.io.model_rows import tell_reports
    from separable.cli.io.true_targets import truth_of, weights_of_part
    from separable.model.files.training_rows import SeenRows
    from separable.model.metrics.evaluation import evaluation
    from separable.model.metrics.metric_registry import answers_from

    rows, target = rows_with_truth(model, data, target, weight, column, reading)
    truths, scores, weights, reports, missing = [], [], [], [], 0
    seen: list[SeenRows] = []
    for part in rows:
        reports.append(part.report)
        truth, there = truth_of(model, part, target)
        truths.append(truth)
        scores.append(model.decision_function(part.rows)[there])
        weights.append(weights_of_part(part, there, weight, data))
        missing += int(np.count_nonzero(~there))
        if model.training_rows is not None:
            seen.append(model.training_rows.find(part.rows.take(np.flatnonzero(there))))
    tell_reports(model, reports)
    whole = np.concatenate(truths)
    if not len(whole):
        raise ValueError(
            f"{file_name(data)}: no row has a {target_named(target)}, so there is nothing to "
            "measure."
        )
    found = evaluation(
        answers_from(model, np.concatenate(scores)),
        whole,
        np.concatenate(weights),
        positive,
        constant_of(model),
    )
    whole_seen = SeenRows.joined(seen) if seen else None
    _note_training(model, whole_seen, weight)
    told = {"data": file_name(data), "learner": model.learner, "target": target}
    in_training = None if whole_seen is None else whole_seen.seen
    return found, {
        **told,
        "weight": weight,
        "rows_without_target": missing,
        "rows_in_training": in_training,
    }


def _note_training(model: Model, seen: SeenRows | None, weight: str | None) -> None:
    """Say how many rows the model was trained on, and that the training had weights."""
    if seen is not None and seen.seen:
        note(seen.text())
    weighted = remembered(model).get("weight")
    if weight is None and weighted:
        note(f"The rows of the training had weights: --weight {weighted} gives them here.")


def _title(told: dict[str, Any]) -> str:
    from separable.cli.io.measured_rows import target_named

    missing = told["rows_without_target"]
    left_out = f", {counted(missing, 'row')} without it left out" if missing else ""
    weight = f", each row with the weight {told['weight']}" if told["weight"] else ""
    return f"{told['learner']} on {told['data']}, {target_named(told['target'])}{weight}{left_out}:"


#: What each option is for.
OPTIONS = {True: "--fail-under", False: "--fail-over"}


@dataclass(frozen=True)
class Limit:
    """A figure and what it has to be: at least so much, or of errors at most.

    Parameters
    ----------
    metric : str
    value : float
    """

    metric: str
    value: float

    def missed(self, found: Evaluation) -> str | None:
        """Return in words how it was missed, None where it was not."""
        metric = METRICS[self.metric]
        figure = found.figures.get(self.metric)
        option = f"{OPTIONS[metric.greater_is_better]} {self.metric}={self.value:g}"
        if figure is None:
            return f"{option}: there is no {self.metric}, for {found.left_out[self.metric]}."
        if metric.greater_is_better and not figure >= self.value:
            return f"{option}: {self.metric} is {figure:.6g}, below it."
        if not metric.greater_is_better and not figure <= self.value:
            return f"{option}: {self.metric} is {figure:.6g}, above it."
        return None


def read_limits(under: Sequence[str], over: Sequence[str]) -> list[Limit]:
    """Return the limits that the options ask for, or refuse them."""
    return [
        _limit(text, greater_is_better)
        for greater_is_better, texts in ((True, under), (False, over))
        for text in texts
    ]


def missed_limits(limits: list[Limit], found: Evaluation) -> list[str]:
    """Return in words which limits were missed."""
    return [told for told in (limit.missed(found) for limit in limits) if told is not None]


def check_task(limits: list[Limit], task: Any) -> None:
    """Refuse figures that the answers of a model do not have."""
    for limit in limits:
        if METRICS[limit.metric].task != task:
            names = ", ".join(name for name, metric in METRICS.items() if metric.task == task)
            raise click.UsageError(
                f"{limit.metric} is a figure of {METRICS[limit.metric].task}, and the model does "
                f"{task}. Use one of: {names}."
            )


def _limit(text: str, greater_is_better: bool) -> Limit:
    option = OPTIONS[greater_is_better]
    name, sign, value = (each.strip() for each in text.partition("="))
    metric = METRICS.get(name)
    if metric is None:
        raise click.UsageError(f"{option} {text}: there is no figure {name!r}. There are: "
                               f"{', '.join(METRICS)}.")  # fmt: skip
    if metric.greater_is_better != greater_is_better:
        better = "larger" if metric.greater_is_better else "smaller"
        raise click.UsageError(
            f"{option} {text}: of {name} {better} is better. Use "
            f"{OPTIONS[metric.greater_is_better]} {text}."
        )
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not sign or not math.isfinite(number):
        raise click.UsageError(f"{option} {text}: write a figure and a number: {name}=0.9.")
    return Limit(name, number)
