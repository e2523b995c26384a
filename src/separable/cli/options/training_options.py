"""Options of ``train``, ``compare`` and ``path``: target, features, evaluation and streams."""

from __future__ import annotations

import re
from dataclasses import fields
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

import click

from separable.cli.options.command import STREAMS, heading
from separable.cli.options.options import reading_options, seed_option, threads_option
from separable.data.ingest.conversions.convention_names import HOW
from separable.model.metrics.metric_registry import METRICS
from separable.model.predict.decision import THRESHOLD_METRICS
from separable.workflow.learners import AUTO, LEARNERS, names_of
from separable.workflow.options import (
    COLUMN_KINDS,
    CURVES,
    TARGET_LOGS,
    Every,
    ProblemOptions,
    StreamOptions,
    checked_budget,
    checked_class_weight,
    checked_cost,
    checked_interactions,
    checked_models,
    checked_threshold,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    _Choice = click.Choice[str]
else:
    _Choice = click.Choice  # click 8.1 has no type parameters

__all__ = [
    "DECISIONS",
    "TESTING",
    "budget_option",
    "class_weight_option",
    "constraint_options",
    "convert_option",
    "curves_option",
    "decision_options",
    "interactions_option",
    "only",
    "problem_options",
    "stream_options",
    "target_log_option",
]


F = TypeVar("F", bound="Callable[..., Any]")

#: Headings of these options.
LEARNING, LEARNING_FROM, TESTING = "Task and learners", "Features", "Evaluation"
DECISIONS = "Decisions"


def only(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> str | None:  # noqa: ARG001
    """Return the value of an option that may be given once."""
    if len(values) > 1:
        raise click.BadParameter(f"given {len(values)} times ({', '.join(values)}). Give it once.")
    return values[0] if values else None


def _target(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> str:
    """Return the target; only a stream of svmlight or Vowpal Wabbit text needs none."""
    name = only(ctx, param, values)
    if name is None and not ctx.params.get("stream"):
        raise click.MissingParameter(ctx=ctx, param=param)
    return name or ""


def _settings(
    ctx: click.Context,  # noqa: ARG001
    param: click.Parameter,  # noqa: ARG001
    values: tuple[str, ...],
) -> dict[str, Any]:
    """Return the parameters of a learner by name."""
    settings: dict[str, Any] = {}
    for text in values:
        name, is_given, value = text.partition("=")
        if not is_given or not name:
            raise click.UsageError(f"--set {text}: write it as NAME=VALUE, such as C=1.")
        if name in settings:
            raise click.UsageError(f"--set {name} is given twice. Give it once.")
        settings[name] = _value(value)
    return settings


def _value(text: str) -> Any:
    """Return a value as Python has it: a number, true, false, none, or the text itself."""
    words: dict[str, Any] = {"true": True, "false": False, "none": None}
    if text.lower() in words:
        return words[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _models(
    ctx: click.Context,  # noqa: ARG001
    param: click.Parameter,  # noqa: ARG001
    values: tuple[str, ...],
) -> tuple[str, ...]:
    return checked_models(values)


class _Models(_Choice):
    """The names of all learners, looked up late: a learner may be registered at any time."""

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
        f"Learner; repeatable in train and compare. {AUTO}, the default: all that suit the "
        f"data. Classification: {classes}. Regression: {numbers}."
    )


def _conversions(
    ctx: click.Context,  # noqa: ARG001
    param: click.Parameter,  # noqa: ARG001
    values: tuple[str, ...],
) -> dict[str, str]:
    """Return the conversion of each named column."""
    given = {}
    for value in values:
        name, equals, how = value.rpartition("=")
        if not equals or how not in HOW:
            raise click.BadParameter(
                f"{value!r} is not COL=HOW with HOW one of {', '.join(HOW)}: {value or 'when'}="
                "day-first."
            )
        given[name] = how
    return given


convert_option = click.option(
    "--convert",
    "conversions",
    multiple=True,
    callback=_conversions,
    metavar="COL=HOW",
    help=f"Convert texts: {', '.join(HOW)}.  [default: guessed]",
)


def _joined(check: Callable[[Any], Any]) -> Callable[..., Any]:
    """Return the callback of an option with named numbers, which may be repeated."""

    def callback(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> Any:  # noqa: ARG001
        return check(",".join(values) if values else None)

    return callback


def _threshold(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> Any:
    return checked_threshold(only(ctx, param, values))


target_log_option = click.option(
    "--target-log",
    type=click.Choice(TARGET_LOGS),
    default="auto",
    metavar="WHEN",
    help="Learn the logarithm of a positive target: yes, no or auto. auto takes it if the target "
    "is skewed and cross-validation prefers it.  [default: auto]",
)

class_weight_option = click.option(
    "--class-weight",
    multiple=True,
    callback=_joined(checked_class_weight),
    metavar="CLASS=W,...",
    help="Weights of classes in training, or balanced. Learners without them are left out.",
)

#: Options of `train` alone.
curves_option = heading(
    LEARNING_FROM,
    click.option(
        "--curves",
        type=click.Choice(CURVES),
        default="auto",
        show_default=True,
        metavar="auto|yes|no",
        help="Curves of numbers. auto: if they are better on rows held out.",
    ),
)

interactions_option = heading(
    LEARNING_FROM,
    click.option(
        "--interactions",
        default="auto",
        show_default=True,
        metavar="auto|N|no",
        callback=lambda ctx, param, value: checked_interactions(value),  # noqa: ARG005
        help="Products of N pairs of columns. auto: if they are better on rows held out.",
    ),
)


def _constraint(name: str, text: str) -> Any:
    return click.option(
        f"--{name}",
        multiple=True,
        metavar="COL",
        help=text,
    )


constraint_options = heading(
    LEARNING_FROM,
    _constraint("increasing", "Predictions (or 2nd class's odds) rise with COL."),
    _constraint("decreasing", "They fall with COL."),
    _constraint("nonnegative", "Weights of COL's features are at least 0."),
)


def _budget(ctx: click.Context, param: click.Parameter, value: str | None) -> float | None:  # noqa: ARG001
    return checked_budget(value)


budget_option = heading(
    TESTING,
    click.option(
        "--budget",
        callback=_budget,
        metavar="SECONDS",
        help="Compare no further learner after this time.",
    ),
)

decision_options = heading(
    DECISIONS,
    click.option(
        "--cost",
        multiple=True,
        callback=_joined(checked_cost),
        metavar="fp=X,fn=Y",
        help="Costs of false positives and negatives. Or of mistaking a row of each class. The "
        "threshold of the least cost is chosen on out-of-fold probabilities.",
    ),
    click.option(
        "--threshold",
        multiple=True,
        callback=_threshold,
        metavar="P|METRIC",
        help="Predict the positive class above this probability. A metric chooses the one that "
        f"maximizes it: {', '.join(THRESHOLD_METRICS)}.  [default: 0.5]",
    ),
    class_weight_option,
    target_log_option,
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
            metavar="TASK",
            help="classification or regression.  [default: inferred]",
        ),
        click.option(
            "--model",
            "models",
            type=_Models(),
            multiple=True,
            callback=_models,
            metavar="NAME",
            help=_learners_help(),
        ),
        click.option(
            "--set",
            "settings",
            multiple=True,
            callback=_settings,
            metavar="NAME=VALUE",
            help="Set a parameter of the learner: C=1.",
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
        convert_option,
        click.option("--weight", metavar="COL", help="Column of sample weights."),
    ),
    TESTING: (
        click.option(
            "--metric",
            type=click.Choice(list(METRICS)),
            metavar="NAME",
            help=f"Metric that ranks learners. One of {', '.join(METRICS)}.  "
            "[default: log_loss or rmse]",
        ),
        click.option(
            "--positive",
            metavar="CLASS",
            help="Positive class. It counts for precision, recall, f1, roc_auc and "
            "average_precision.  [default: the rarer of two]",
        ),
        click.option(
            "--group",
            metavar="COL",
            help="Group column: groups are held out as a whole.",
        ),
        click.option(
            "--time",
            metavar="COL",
            help="Column of dates or numbers: the latest rows are held out.",
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
            help="Compare on N random rows; 0: all.  [default: <= 100000]",
        ),
    ),
}


def problem_options(command: F) -> F:
    """Add these options; the command gets them as ``options``."""

    @wraps(command)
    def with_problem(*args: Any, **others: Any) -> Any:
        columns = {kind: list(others.pop(kind)) for kind in COLUMN_KINDS}
        own = [each.name for each in fields(ProblemOptions) if each.name != "columns"]
        given = {name: others.pop(name) for name in own if name in others}
        return command(*args, options=ProblemOptions(columns=columns, **given), **others)

    decorated: Any = reading_options(threads_option(seed_option(with_problem)))
    for title, options in reversed(_OPTIONS.items()):
        decorated = heading(title, *options)(decorated)
    result: F = decorated
    return result


class _EveryType(click.ParamType):  # type: ignore[type-arg]  # in new stubs only
    """A number of rows, or of seconds with the suffix s."""

    name = "every"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Every:
        if isinstance(value, Every):
            return value
        result = re.fullmatch(r"([0-9]+)(s?)", str(value))
        if result is None or int(result[1]) == 0:
            self.fail(f"{value!r} is neither rows (100000) nor seconds (60s).", param, ctx)
        number = int(result[1])
        return Every(seconds=float(number)) if result[2] else Every(rows=number)


_STREAM_OPTIONS = (
    click.option("--stream", is_flag=True,
                 help="Train in bounded memory; each row is predicted before it is learned. "
                      "The options below need --stream."),
    click.option("--passes", type=click.IntRange(min=1), metavar="N",
                 help="Passes over DATA.  [default: 1]"),
    click.option("--classes", metavar="A,B,...",
                 help="All classes.  [default: those of the first rows]"),
    click.option("--encode-rows", type=click.IntRange(min=1), metavar="N",
                 help="Fit the encoder to the first N rows.  [default: 100000]"),
    click.option("--bits", type=click.IntRange(1, 31), metavar="N",
                 help="Hash texts (default: no hashing) or the features of Vowpal Wabbit text "
                 "(default: 18) into 2^N columns."),
    click.option("--features", type=click.IntRange(min=1), metavar="N",
                 help="Columns of an svmlight file.  [default: counted]"),
    click.option("--checkpoint", metavar="FILE",
                 help="Save a checkpoint at intervals and on Ctrl-C."),
    click.option("--every", type=_EveryType(), metavar="N|Ns",
                 help="Checkpoint interval in rows or seconds.  [default: 60s]"),
    click.option("--resume", metavar="FILE",
                 help="Continue from a checkpoint, to the same model."),
)  # fmt: skip


def stream_options(command: F) -> F:
    """Add ``--stream`` and its options; the command gets ``stream``, None without ``--stream``.

    Place it directly above the function, below the other options.
    """

    @wraps(command)
    def with_stream(*args: Any, **options: Any) -> Any:
        streams = options.pop("stream")
        own = {each.name: options.pop(each.name) for each in fields(StreamOptions)}
        for name, value in own.items():
            if value is not None and not streams:
                flag = name.replace("_", "-")
                raise click.UsageError(f"--{flag} needs --stream. Add it, or leave this out.")
        return command(*args, stream=StreamOptions(**own) if streams else None, **options)

    decorated: Any = with_stream
    result: F = heading(STREAMS, *_STREAM_OPTIONS)(decorated)
    return result
