"""Options that ``train``, ``compare`` and ``path`` share: target, features and evaluation."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

import click

from separable.cli.options.help import heading
from separable.cli.options.options import (
    ReadingOptions,
    reading_options,
    seed_option,
    threads_option,
)
from separable.cli.training.learners import AUTO, LEARNERS, names_of
from separable.model.metrics.metric_registry import METRICS

if TYPE_CHECKING:
    from collections.abc import Callable

    from separable.cli.training.learners import Task

    _Choice = click.Choice[str]
else:
    _Choice = click.Choice  # click 8.1 has no type parameters

__all__ = ["COLUMN_KINDS", "TESTING", "ProblemOptions", "only", "problem_options"]

F = TypeVar("F", bound="Callable[..., Any]")

#: Headings of these options.
LEARNING, LEARNING_FROM, TESTING = "Task and learners", "Features", "Evaluation"

#: What a column can be said to be; each is an option, and a parameter of `TableEncoder`.
COLUMN_KINDS = ("number", "category", "boolean", "date", "text", "drop")


@dataclass(frozen=True)
class ProblemOptions:
    """The values of the problem options, as the user gave them.

    Parameters
    ----------
    target : str
    models : tuple of str
        Names of learners; empty: all that suit the data.
    task, metric, positive : str or None
    settings : tuple of str
        ``NAME=VALUE`` each.
    columns : dict of str to list of str
        By `COLUMN_KINDS`, the columns that were named.
    group, time, weight : str or None
        Columns with a part of their own.
    folds, seed, threads : int
    compare_rows : int or None
    reading : ReadingOptions
    """

    target: str
    models: tuple[str, ...]
    task: Task | None
    metric: str | None
    positive: str | None
    settings: tuple[str, ...]
    columns: dict[str, list[str]]
    group: str | None
    time: str | None
    weight: str | None
    folds: int
    compare_rows: int | None
    seed: int
    threads: int
    reading: ReadingOptions

    @property
    def apart(self) -> dict[str, str]:
        """The columns that are no features, by the option that named them."""
        result = {"group": self.group, "time": self.time, "weight": self.weight}
        return {option: name for option, name in result.items() if name is not None}


def only(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> str | None:  # noqa: ARG001
    """Return the one value of an option that may not be given twice."""
    if len(values) > 1:
        raise click.BadParameter(f"given {len(values)} times ({', '.join(values)}). Give it once.")
    return values[0] if values else None


def _target(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> str:
    """Return the target; only a stream of text without named columns goes without one."""
    name = only(ctx, param, values)
    if name is None and not ctx.params.get("stream"):
        raise click.MissingParameter(ctx=ctx, param=param)
    return name or ""


def _models(
    ctx: click.Context,  # noqa: ARG001
    param: click.Parameter,  # noqa: ARG001
    values: tuple[str, ...],
) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(values))
    if AUTO in names:
        if len(names) > 1:
            raise click.BadParameter(
                f"{AUTO} means all learners that suit the data. Leave out {AUTO}, or the names."
            )
        return ()
    tasks = {LEARNERS[name].task for name in names}
    if len(tasks) > 1:
        kinds = {"classification": "classes", "regression": "numbers"}
        listed = ", ".join(f"{name} ({kinds[LEARNERS[name].task]})" for name in names)
        raise click.BadParameter(f"Name learners that predict the same: {listed}.")
    return names


class _Models(_Choice):
    """The names there are when they are asked for: a learner may be registered at any time."""

    def __init__(self) -> None:
        super().__init__([AUTO, *sorted(LEARNERS)])

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        self.choices = (AUTO, *sorted(LEARNERS))
        plain = str(value).removesuffix("-cv")
        if plain != value and plain in LEARNERS:
            self.fail(f"{plain} searches its regularization itself: name that.", param, ctx)
        begin_so = [name for name in self.choices if name.startswith(str(value))]
        if value not in self.choices and begin_so:
            self.fail(f"{value!r} is not a learner. Did you mean {begin_so[0]}?", param, ctx)
        return super().convert(value, param, ctx)


def _learners_help() -> str:
    classes, numbers = (", ".join(names_of(task)) for task in ("classification", "regression"))
    return (
        f"Learner; repeatable in train and compare. {AUTO}: all that suit the data. For "
        f"classification: {classes}; for regression: {numbers}."
    )


_OPTIONS = {
    LEARNING: (
        click.option(
            "--target",
            multiple=True,
            callback=_target,
            metavar="COL",
            help="The column to predict.",
        ),
        click.option(
            "--task",
            type=click.Choice(["classification", "regression"]),
            help="Type of the task.  [default: by the target]",
        ),
        click.option(
            "--model",
            "models",
            type=_Models(),
            multiple=True,
            callback=_models,
            metavar="NAME",
            help=f"{_learners_help()}  [default: {AUTO}]",
        ),
        click.option(
            "--set",
            "settings",
            multiple=True,
            metavar="NAME=VALUE",
            help="Set a parameter of the learner, such as C=1, instead of searching it.",
        ),
    ),
    LEARNING_FROM: (
        click.option("--number", multiple=True, metavar="COL", help="Treat a column as numbers."),
        click.option(
            "--category", multiple=True, metavar="COL", help="Treat a column as categories."
        ),
        click.option("--boolean", multiple=True, metavar="COL", help="Treat a column as boolean."),
        click.option("--date", multiple=True, metavar="COL", help="Treat a column as dates."),
        click.option("--text", multiple=True, metavar="COL", help="Treat a column as free text."),
        click.option("--drop", multiple=True, metavar="COL", help="Ignore a column."),
        click.option(
            "--weight", metavar="COL", help="Column of sample weights, for training and metrics."
        ),
    ),
    TESTING: (
        click.option(
            "--metric",
            type=click.Choice(list(METRICS)),
            metavar="NAME",
            help=f"Metric that ranks the learners: {', '.join(METRICS)}.  [default: accuracy or "
            "rmse]",
        ),
        click.option(
            "--positive",
            metavar="CLASS",
            help="Positive class for precision, recall, f1, roc_auc and average_precision.  "
            "[default: the rarer of two]",
        ),
        click.option(
            "--group",
            metavar="COL",
            help="Group column: rows of a group are held out together.",
        ),
        click.option(
            "--time",
            metavar="COL",
            help="Time column (dates or numbers): held-out rows are later than training rows.",
        ),
        click.option(
            "--folds",
            type=click.IntRange(min=2),
            default=5,
            show_default=True,
            metavar="N",
            help="Number of cross-validation folds.",
        ),
        click.option(
            "--compare-rows",
            type=click.IntRange(min=0),
            metavar="N",
            help="Compare on a random sample of N rows; 0: all rows.  [default: 100000, fewer for "
            "slow fits]",
        ),
    ),
}


def problem_options(command: F) -> F:
    """Add these options; the command gets them as ``options``."""

    @wraps(command)
    def with_problem(*args: Any, **others: Any) -> Any:
        columns = {kind: list(others.pop(kind)) for kind in COLUMN_KINDS}
        own = [each.name for each in fields(ProblemOptions) if each.name != "columns"]
        given = {name: others.pop(name) for name in own}
        return command(*args, options=ProblemOptions(columns=columns, **given), **others)

    decorated: Any = reading_options(threads_option(seed_option(with_problem)))
    for title, options in reversed(_OPTIONS.items()):
        decorated = heading(title, *options)(decorated)
    result: F = decorated
    return result
