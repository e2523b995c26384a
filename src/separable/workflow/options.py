"""Options of a training run, the same for `separable.train` and for the command line."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

from separable.data.ingest.conversions.convention_names import HOW
from separable.errors import Option, OptionError
from separable.model.predict.decision import THRESHOLD_METRICS
from separable.workflow.learners import AUTO, LEARNERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from separable.workflow.learners import Task

__all__ = [
    "AS_IT_LOOKS",
    "COLUMN_KINDS",
    "CURVES",
    "TARGET_LOGS",
    "TEST_SIZE",
    "Every",
    "ProblemOptions",
    "ReadingOptions",
    "StreamOptions",
    "all_threads",
    "checked_budget",
    "checked_class_weight",
    "checked_conversions",
    "checked_cost",
    "checked_interactions",
    "checked_models",
    "checked_threshold",
    "command_line",
    "data_name",
    "file_name",
    "python_call",
]

#: Types that the user can give to columns; each is an option and a parameter of `TableEncoder`.
COLUMN_KINDS = ("number", "category", "boolean", "date", "text", "drop")

#: Constraints of columns; each is an option and a parameter of `TableEncoder`.
CONSTRAINTS = ("increasing", "decreasing", "nonnegative")

#: Values of the option of curves.
CURVES = ("auto", "yes", "no")

#: Class weights that make all classes equal.
BALANCED = "balanced"

#: Whether the logarithm of the target is learned.
TARGET_LOGS = ("auto", "yes", "no")

#: Default fraction of rows to hold out.
TEST_SIZE = 0.25


def file_name(source: Any) -> str:
    """Return the name of a source for messages."""
    if not isinstance(source, str):
        return "The table"
    return "standard input" if source == "-" else source


def data_name(source: Any) -> str:
    """Return the name of the data without folders, as models store it."""
    return file_name(source).rpartition("/")[2] if isinstance(source, str) else "table"


def all_threads() -> int:
    """Return the number of cores that this process may use."""
    import os

    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True)
class ReadingOptions:
    """Overrides of the detected file format: keyword arguments of `separable.data.read`."""

    format: str | None = None
    delimiter: str | None = None
    header: bool | None = None
    quoting: bool | None = None
    encoding: str | None = None
    decimal: str | None = None
    missing: tuple[str, ...] = ()
    comment: str | None = None
    skip_rows: int = 0
    skip_bad_lines: bool = False
    table: str | None = None
    query: str | None = None

    def for_read(self) -> dict[str, Any]:
        """Return the given options as keyword arguments of `separable.data.read`."""
        given = {each.name: getattr(self, each.name) for each in fields(self)}
        if given.pop("skip_bad_lines"):
            given["on_error"] = "skip"
        given["missing"] = list(self.missing) or None
        if not self.skip_rows:
            del given["skip_rows"]
        return {name: value for name, value in given.items() if value is not None}

    def given(self) -> list[Option]:
        """Return the options that differ from their defaults."""
        return _given(self)

    def option_text(self) -> str:
        """Return the given options as text, for the next command.

        Examples
        --------
        >>> from separable.workflow.options import ReadingOptions
        >>> ReadingOptions(delimiter=";", header=False, missing=("NA", "?")).option_text()
        " --delimiter ';' --no-header --missing NA --missing '?'"
        """
        return "".join(f" {option.spelled('command')}" for option in self.given())


#: Everything about the file format is detected.
AS_IT_LOOKS = ReadingOptions()


@dataclass(frozen=True)
class ProblemOptions:
    """What to predict, from which columns, by which learners, and how these are compared.

    Parameters
    ----------
    target : str
    models : tuple of str
        Names of learners; empty: all that suit the data.
    task, metric, positive : str or None
    settings : mapping of str to object
        Parameters of the learners.
    columns : dict of str to list of str
        The named columns, by `COLUMN_KINDS`.
    conversions : mapping of str to str
        How text columns are converted, as `TableEncoder` takes it.
    group, time, weight : str or None
        Columns with another role.
    folds, seed, threads : int
    compare_rows : int or None
    budget : float or None
        Seconds after which no further learner is compared.
    reading : ReadingOptions
    cost : dict of str to float, or None
        Costs of mistakes, by kind ("fp", "fn") or by class.
    threshold : float, str or None
        Decision threshold, or the metric that chooses it.
    class_weight : str, dict of str to float, or None
    target_log : {"auto", "yes", "no"}
        Whether the logarithm of the target is learned.
    curves : {"auto", "yes", "no"}
        Whether `train` makes curves of numbers; auto: if they are better in cross-validation.
    interactions : {"auto", "no"} or int
        Pairs of columns whose products are features: how many, or auto, if they are better.
    increasing, decreasing : tuple of str
        Columns with which predictions never decrease, or never increase.
    nonnegative : tuple of str
        Columns whose features have weights of at least 0.
    """

    target: str
    models: tuple[str, ...] = ()
    task: Task | None = None
    metric: str | None = None
    positive: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    columns: dict[str, list[str]] = field(
        default_factory=lambda: {kind: [] for kind in COLUMN_KINDS}
    )
    conversions: Mapping[str, str] = field(default_factory=dict)
    group: str | None = None
    time: str | None = None
    weight: str | None = None
    folds: int = 5
    compare_rows: int | None = None
    budget: float | None = None
    seed: int = 0
    threads: int = 1
    reading: ReadingOptions = AS_IT_LOOKS
    cost: dict[str, float] | None = None
    threshold: float | str | None = None
    class_weight: str | dict[str, float] | None = None
    target_log: str = "auto"
    curves: str = "auto"
    interactions: str | int = "auto"
    increasing: tuple[str, ...] = ()
    decreasing: tuple[str, ...] = ()
    nonnegative: tuple[str, ...] = ()

    @property
    def apart(self) -> dict[str, str]:
        """The columns with another role than feature, by option."""
        result = {"group": self.group, "time": self.time, "weight": self.weight}
        return {option: name for option, name in result.items() if name is not None}

    @property
    def constraints(self) -> dict[str, tuple[str, ...]]:
        """The constrained columns, by option."""
        every = {name: tuple(getattr(self, name)) for name in CONSTRAINTS}
        return {name: columns for name, columns in every.items() if columns}

    def with_columns(self, kind: str, names: Iterable[str]) -> ProblemOptions:
        """Return the options with more columns of a kind of `COLUMN_KINDS`."""
        return replace(self, columns={**self.columns, kind: [*self.columns[kind], *names]})

    def given(self) -> list[Option]:
        """Return the options that differ from their defaults and affect the result."""
        plain = ("target", "task", "models", "settings")
        others = ("metric", "positive", "group", "time", "folds", "compare_rows", "budget", "seed")
        decisions = ("curves", "interactions", "cost", "threshold", "class_weight", "target_log")
        columns = [Option(kind, name) for kind in COLUMN_KINDS for name in self.columns[kind]]
        columns += [Option("convert", {name: how}) for name, how in self.conversions.items()]
        columns += [
            Option(each, name) for each, names in self.constraints.items() for name in names
        ]
        weight = _given(self, ("weight",))
        first, last = _given(self, plain), _given(self, (*others, *decisions))
        return [*first, *columns, *weight, *last, *self.reading.given()]


@dataclass(frozen=True)
class Every:
    """An interval between repeated actions, in rows or in seconds."""

    rows: int | None = None
    seconds: float | None = None


@dataclass(frozen=True)
class StreamOptions:
    """Options of a stream; None if not given."""

    passes: int | None = None
    classes: str | None = None
    encode_rows: int | None = None
    bits: int | None = None
    features: int | None = None
    checkpoint: str | None = None
    every: Every | None = None
    resume: str | None = None

    def given(self) -> list[Option]:
        """Return the options that affect the result."""
        names = ("passes", "classes", "encode_rows", "bits", "features")
        return [Option("stream", True), *_given(self, names)]

    def all_given(self) -> list[Option]:
        """Return all options that were given."""
        return _given(self)


def _given(options: Any, names: Iterable[str] | None = None) -> list[Option]:
    """Return the fields of options that differ from their defaults."""
    result = []
    for each in fields(options):
        if names is not None and each.name not in names:
            continue
        value = getattr(options, each.name)
        if each.name == "settings":
            result += [Option("set", {name: one}) for name, one in value.items()]
        elif value != each.default or type(value) is not type(each.default):
            result.append(Option(each.name, value))
    return result


def command_line(*words: str, options: Iterable[Option]) -> str:
    """Return the command line with these options."""
    return " ".join([*words, *(option.spelled("command") for option in options)])


def python_call(function: str, data: str, options: Iterable[Option]) -> str:
    """Return the call with these options; options that are given twice are lists."""
    values: dict[str, list[Any]] = {}
    mappings: dict[str, dict[str, Any]] = {}
    for option in options:
        if option.name in ("set", "convert"):
            mappings.setdefault(option.name, {}).update(option.value)
        else:
            name = "model" if option.name == "models" else option.name
            one = option.value if isinstance(option.value, tuple) else (option.value,)
            values.setdefault(name, []).extend(one)
    words = [f"{name}={(all_[0] if len(all_) == 1 else all_)!r}" for name, all_ in values.items()]
    words += [f"{name}={value!r}" for name, value in mappings.items()]
    return f"{function}({', '.join([data, *words])})"


def checked_conversions(given: Mapping[str, str]) -> dict[str, str]:
    """Return the conversions of columns, each one of `HOW`."""
    for name, how in given.items():
        if how not in HOW:
            raise OptionError(
                Option("convert", {name: how}), f": {how!r} is none of {', '.join(HOW)}."
            )
    return dict(given)


def checked_models(names: Iterable[str]) -> tuple[str, ...]:
    """Return the learners without repetitions; none for `AUTO`.

    Parameters
    ----------
    names : iterable of str
        Keys of `LEARNERS`, all of the same task.
    """
    known = tuple(dict.fromkeys(names))
    for name in known:
        if name != AUTO and name not in LEARNERS:
            raise OptionError(Option("model", name), f": {_unknown(name)}")
    if AUTO in known:
        if len(known) > 1:
            raise OptionError(
                Option("model", AUTO),
                f" means all learners that suit the data. Leave out {AUTO}, or the names.",
            )
        return ()
    if len({LEARNERS[name].task for name in known}) > 1:
        kinds = {"classification": "classes", "regression": "numbers"}
        listed = ", ".join(f"{name} ({kinds[LEARNERS[name].task]})" for name in known)
        raise OptionError(
            Option("model", known), f": name learners that predict the same: {listed}."
        )
    return known


def checked_cost(given: str | Mapping[Any, Any] | None) -> dict[str, float] | None:
    """Return the costs by kind of mistake or by class: {"fp": 1, "fn": 20}."""
    if given is None:
        return None
    costs = _named_numbers("cost", given, "fp=1,fn=20")
    if len(costs) != 2:
        raise OptionError(
            Option("cost", costs),
            ": give two costs, of false positives and of false negatives (fp=1,fn=20), or one for "
            "each of the two classes.",
        )
    if not any(costs.values()):
        raise OptionError(Option("cost", costs), ": both are 0. Give one that is larger.")
    return costs


def checked_threshold(given: Any) -> float | str | None:
    """Return a probability between 0 and 1, or a metric to maximize."""
    if given is None or given in THRESHOLD_METRICS:
        return given  # type: ignore[no-any-return]
    try:
        value = math.nan if isinstance(given, bool) else float(given)
    except (TypeError, ValueError):
        value = math.nan
    if not 0 < value < 1:
        raise OptionError(
            Option("threshold", given),
            ": give a probability between 0 and 1, or a metric to maximize: "
            f"{', '.join(THRESHOLD_METRICS)}.",
        )
    return value


def checked_budget(given: Any) -> float | None:
    """Return a number of seconds above 0."""
    if given is None:
        return None
    try:
        value = math.nan if isinstance(given, bool) else float(given)
    except (TypeError, ValueError):
        value = math.nan
    if not 0 < value < math.inf:
        raise OptionError(Option("budget", given), ": give a number of seconds above 0.")
    return value


def checked_interactions(given: Any) -> str | int:
    """Return "auto", "no" or a number of pairs from 1 on."""
    if given in ("auto", "no"):
        return str(given)
    if not isinstance(given, bool) and str(given).isdecimal() and int(given) > 0:
        return int(given)
    raise OptionError(
        Option("interactions", given), ": give auto, no, or a number of pairs from 1 on."
    )


def checked_class_weight(given: str | Mapping[Any, Any] | None) -> str | dict[str, float] | None:
    """Return "balanced", or the weights of classes by name."""
    if given is None or given == BALANCED:
        return given
    return _named_numbers("class_weight", given, "balanced, or yes=10,no=1")


def _named_numbers(option: str, given: str | Mapping[Any, Any], example: str) -> dict[str, float]:
    pairs = _split(option, given, example) if isinstance(given, str) else list(given.items())
    result: dict[str, float] = {}
    for name, text in pairs:
        try:
            value = math.nan if isinstance(text, bool) else float(text)
        except (TypeError, ValueError):
            value = math.nan
        if not 0 <= value < math.inf:
            raise OptionError(
                Option(option, {str(name): text}),
                f": {text!r} is not a finite number >= 0. For example: {example}.",
            )
        if str(name) in result:
            raise OptionError(Option(option, {str(name): text}), f": {name!r} is given twice.")
        result[str(name)] = int(value) if value.is_integer() else value
    return result


def _split(option: str, text: str, example: str) -> list[tuple[str, str]]:
    """Split ``a=1,b=2``; a name may have commas, a number has none."""
    pairs, begun = [], ""
    for part in text.split(","):
        name, equals, value = f"{begun}{part}".rpartition("=")
        if equals and name and _is_number(value):
            pairs.append((name.strip(), value.strip()))
            begun = ""
        else:
            begun = f"{begun}{part},"
    if begun:
        raise OptionError(
            Option(option, text), f": write NAME=NUMBER, separated by commas: {example}."
        )
    return pairs


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _unknown(name: str) -> str:
    plain = name.removesuffix("-cv")
    if plain != name and plain in LEARNERS:
        return f"{plain} searches its regularization itself: name that."
    begin_so = [each for each in (AUTO, *sorted(LEARNERS)) if each.startswith(name)]
    if begin_so:
        return f"{name!r} is not a learner. Did you mean {begin_so[0]}?"
    from separable.data.table import did_you_mean

    meant = did_you_mean(name, LEARNERS)
    return f"{name!r} is not a learner{meant}. The learners are {', '.join(sorted(LEARNERS))}."
