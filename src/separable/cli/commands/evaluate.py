"""``separable evaluate``: metrics of a model on a file with known targets.

``--fail-under`` and ``--fail-over`` set thresholds that the metrics have to meet.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from separable.cli.io.output import json_bytes, write_data
from separable.cli.options.command import command
from separable.cli.options.options import (
    json_option,
    labelled_rows_options,
    patterns_option,
    reading_options,
    talk_options,
)
from separable.cli.render.messages import note
from separable.model.metrics.metric_registry import METRICS
from separable.model.words import counted
from separable.workflow.options import file_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from separable.model.files.training_rows import SeenRows
    from separable.model.kinds import Model
    from separable.model.metrics.evaluation import Evaluation
    from separable.workflow.options import ReadingOptions

__all__ = ["Limit", "evaluate", "missed_limits", "read_limits"]


#: The exit code if a limit is missed.
MISSED = 3


@command(
    short_help="Evaluate a model on labelled data.",
    examples=(
        "separable evaluate penguins.safetensors penguins.csv",
        "separable evaluate spam.safetensors new.csv --fail-under f1=0.9 --json",
        "separable evaluate prices.safetensors new.csv --fail-over rmse=3.2",
    ),
)
@click.argument("model", metavar="MODEL")
@click.argument("data", metavar="DATA")
@labelled_rows_options
@click.option(
    "--fail-under",
    multiple=True,
    metavar="FIGURE=X",
    help="Exit with code 3 if a metric is smaller, e.g. accuracy=0.9.",
)
@click.option(
    "--fail-over",
    multiple=True,
    metavar="FIGURE=X",
    help="Exit with code 3 if a metric is larger, e.g. rmse=3.2.",
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
    """Evaluate MODEL on the rows of DATA, beside the best constant prediction.

    The best constant is the most common class of the training rows, or their mean. Rows without a
    target are skipped and counted. A label that the model does not know counts as misclassified,
    and such labels are reported.

    With --fail-under or --fail-over the exit code is 3 if a limit is missed, so that a script can
    reject a model that is not good enough.
    """
    from separable.cli.commands.evaluate import check_task, missed_limits, read_limits
    from separable.cli.io.labelled_rows import positive_of, refuse_several_targets
    from separable.cli.io.model_rows import load_model

    limits = read_limits(fail_under, fail_over)
    loaded = load_model(model)
    check_task(limits, "regression" if loaded.classes is None else "classification")
    refuse_several_targets(loaded, model)
    chosen = positive_of(loaded, positive)
    result, description = _measured(loaded, data, target, weight, chosen, column, reading)
    missed = missed_limits(limits, result)
    if as_json:
        write_data(json_bytes({**description, **result.to_dict(), "missed": missed}))
    else:
        click.echo(f"{_title(description)}\n{result.text()}")
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
    """Return the evaluation of a file, and its title."""
    import numpy as np

    from separable.cli.io.labelled_rows import (
        all_targets,
        constant_of,
        rows_with_targets,
        true_targets_of,
        weights_of_part,
    )
    from separable.cli.io.model_rows import note_reports
    from separable.model.files.training_rows import SeenRows
    from separable.model.metrics.evaluation import evaluation
    from separable.model.metrics.metric_registry import predictions_from
    from separable.model.predict.decision import decision_text

    rows, target = rows_with_targets(model, data, target, weight, column, reading)
    targets, scores, weights, reports, missing = [], [], [], [], 0
    seen: list[SeenRows] = []
    for part in rows:
        reports.append(part.report)
        y_true, mask = true_targets_of(model, part, target)
        targets.append(y_true)
        scores.append(model.decision_function(part.rows)[mask])
        weights.append(weights_of_part(part, mask, weight, data))
        missing += int(np.count_nonzero(~mask))
        if model.training_rows is not None:
            seen.append(model.training_rows.find(part.rows.take(np.flatnonzero(mask))))
    note_reports(model, reports)
    whole = all_targets(targets, data, target)
    result = evaluation(
        predictions_from(model, np.concatenate(scores)),
        whole,
        np.concatenate(weights),
        positive,
        constant_of(model),
    )
    whole_seen = SeenRows.joined(seen) if seen else None
    _note_training(model, whole_seen, weight)
    description = {"data": file_name(data), "learner": model.learner, "target": target}
    if model.decision is not None:
        assert model.classes is not None
        description["threshold"] = decision_text(model.decision, model.classes)
    in_training = None if whole_seen is None else whole_seen.seen
    return result, {
        **description,
        "weight": weight,
        "rows_without_target": missing,
        "rows_in_training": in_training,
    }


def _note_training(model: Model, seen: SeenRows | None, weight: str | None) -> None:
    """Note how many rows the model was trained on, and whether training used weights."""
    from separable.workflow.training_record import trained_on

    if seen is not None and seen.seen:
        note(seen.text())
    weighted = trained_on(model).get("weight")
    if weight is None and weighted:
        note(
            f"The training rows had sample weights. Use --weight {weighted} to evaluate with "
            "weights."
        )


def _title(description: dict[str, Any]) -> str:
    from separable.cli.io.labelled_rows import target_named

    missing = description["rows_without_target"]
    left_out = f", {counted(missing, 'row')} without it left out" if missing else ""
    weight = f", each row with the weight {description['weight']}" if description["weight"] else ""
    target = target_named(description["target"])
    rule = f"\n  {description['threshold']}" if description.get("threshold") else ""
    return f"{description['learner']} on {description['data']}, {target}{weight}{left_out}:{rule}"


#: The metrics that each option takes.
OPTIONS = {True: "--fail-under", False: "--fail-over"}


@dataclass(frozen=True)
class Limit:
    """A limit on a metric: a minimum for scores, a maximum for errors.

    Parameters
    ----------
    metric : str
    value : float
    """

    metric: str
    value: float

    def missed(self, result: Evaluation) -> str | None:
        """Return a sentence that says how the limit was missed, or None."""
        metric = METRICS[self.metric]
        figure = result.figures.get(self.metric)
        option = f"{OPTIONS[metric.greater_is_better]} {self.metric}={self.value:g}"
        if figure is None:
            return f"{option}: {self.metric} is not available: {result.left_out[self.metric]}."
        if metric.greater_is_better and not figure >= self.value:
            return f"{option}: {self.metric} is {figure:.6g}, below the limit."
        if not metric.greater_is_better and not figure <= self.value:
            return f"{option}: {self.metric} is {figure:.6g}, above the limit."
        return None


def read_limits(under: Sequence[str], over: Sequence[str]) -> list[Limit]:
    """Parse the limits of the options."""
    return [
        _limit(text, greater_is_better)
        for greater_is_better, texts in ((True, under), (False, over))
        for text in texts
    ]


def missed_limits(limits: list[Limit], result: Evaluation) -> list[str]:
    """Return one sentence per missed limit."""
    return [
        message for message in (limit.missed(result) for limit in limits) if message is not None
    ]


def check_task(limits: list[Limit], task: Any) -> None:
    """Refuse metrics of another task."""
    for limit in limits:
        if METRICS[limit.metric].task != task:
            names = ", ".join(name for name, metric in METRICS.items() if metric.task == task)
            raise click.UsageError(
                f"{limit.metric} is a metric for {METRICS[limit.metric].task}, and the model does "
                f"{task}. Use one of: {names}."
            )


def _limit(text: str, greater_is_better: bool) -> Limit:
    option = OPTIONS[greater_is_better]
    name, sign, value = (each.strip() for each in text.partition("="))
    metric = METRICS.get(name)
    if metric is None:
        raise click.UsageError(f"{option} {text}: unknown metric {name!r}. Metrics: "
                               f"{', '.join(METRICS)}.")  # fmt: skip
    if metric.greater_is_better != greater_is_better:
        better = "larger" if metric.greater_is_better else "smaller"
        raise click.UsageError(
            f"{option} {text}: for {name}, {better} is better. Use "
            f"{OPTIONS[metric.greater_is_better]} {text}."
        )
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not sign or not math.isfinite(number):
        raise click.UsageError(f"{option} {text}: expected METRIC=NUMBER, such as {name}=0.9.")
    return Limit(name, number)
