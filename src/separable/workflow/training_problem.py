"""Training data: the table, its target, weights and groups, the encoder and the encoded rows."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.arrow_arrays import is_text
from separable.data.columns import as_columns
from separable.data.ingest.conversions.guessing import guess_conversion
from separable.data.table import (
    CellError,
    NotANumberError,
    TableError,
    is_number,
    lines_above_names,
    require_columns,
)
from separable.errors import Message, Option, OptionError, by_spelling
from separable.features.table.category_column import categories_of
from separable.features.table.table_encoder import TableEncoder
from separable.fitting.curve_errors import curve_errors
from separable.fitting.penalty_basis import are_smoothed, basis_of, constrain
from separable.fitting.separation_error import naming_columns
from separable.model.explain.effects import ERRORS
from separable.model.files.training_rows import TrainingRows
from separable.model.words import counted
from separable.workflow.columns.role_columns import (
    groups_of,
    refuse_no_weight,
    times_of,
    weights_of,
)
from separable.workflow.columns.row_identifiers import left_out_notes, row_identifiers
from separable.workflow.input_tables import naming_file, table_of
from separable.workflow.learners import LEARNERS, Facts
from separable.workflow.options import file_name
from separable.workflow.progress import step
from separable.workflow.target import TARGETS, QuantityError
from separable.workflow.target_texts import (
    target_guess,
    with_converted_target,
    without_missing_words,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa
    from numpy.typing import NDArray

    from separable.data.ingest.conversions.guessing import Given
    from separable.data.rows import Rows
    from separable.data.table import ColumnType
    from separable.model.kinds import Model
    from separable.workflow.learners import Task
    from separable.workflow.options import ProblemOptions
    from separable.workflow.target import Rows as RowIndices
    from separable.workflow.target import Target


__all__ = [
    "Encoded",
    "Problem",
    "adds_counts",
    "facts_of",
    "fit_encoded",
    "notes_on_numbers",
    "read_problem",
    "refuse_negative",
    "rows_of",
]


@dataclass(frozen=True)
class Problem:
    """Features and target of the rows that are used.

    Parameters
    ----------
    data : str or table
        The file, or the table in memory.
    options : ProblemOptions
        Without the target among its columns.
    whole : pyarrow.Table
        The whole table.
    features : pyarrow.Table
        Without the target and the columns of group, time and weight.
    target : Target
        The target of the rows that have one and a positive weight.
    weight : ndarray of float64, or None
        For each row of the target, like the next two.
    groups : ndarray of int, or None
    times : ndarray, or None
    notes : tuple of Message
        Decisions for the user.
    conversions : dict
        Conversions of text columns, decided by all rows, as `TableEncoder` takes them.
    left_out : dict of str to str
        Columns that number or identify the rows, with the reason; they are also among the columns
        to drop.
    converted : dict of str to str
        How each of these columns reads, with a text of the file.
    target_log : bool
        Whether learners are fitted to the logarithm of the target.
    curves : bool
        Whether numbers become curves.
    interactions : tuple of (str, str)
        Pairs of columns whose products are features.
    """

    data: Any
    options: ProblemOptions
    whole: pa.Table
    features: pa.Table
    target: Target
    weight: NDArray[np.float64] | None
    groups: NDArray[np.int64] | None
    times: NDArray[Any] | None
    notes: tuple[Message, ...]
    conversions: dict[str, Given] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    converted: dict[str, str] = field(default_factory=dict)
    target_log: bool = False
    curves: bool = False
    interactions: tuple[tuple[str, str], ...] = ()

    def __len__(self) -> int:
        return len(self.target.values)

    @property
    def task(self) -> Task:
        """Classification or regression."""
        return self.target.task

    def fit_values(self, chosen: RowIndices | slice = slice(None)) -> NDArray[Any]:
        """Return what learners are fitted to in chosen rows: the target, or its logarithm."""
        values = self.target.values[chosen]
        return np.log(values) if self.target_log else values

    def take(self, chosen: RowIndices) -> pa.Table:
        """Return the features of chosen rows."""
        if len(chosen) == self.features.num_rows:
            return self.features
        return rows_of(self.features, self.target.rows[chosen])

    def weight_of(self, chosen: RowIndices) -> NDArray[np.float64] | None:
        """Return the weights of chosen rows."""
        return None if self.weight is None else self.weight[chosen]


def rows_of(table: pa.Table, rows: RowIndices) -> pa.Table:
    """Return chosen rows of a table; `pyarrow.array` of NumPy's would import pandas."""
    import pyarrow as pa

    whole = np.ascontiguousarray(rows, dtype=np.int64)
    buffers: Any = [None, pa.py_buffer(whole)]  # type: ignore[arg-type]  # an array is a buffer
    indices: Any = pa.Array.from_buffers(pa.int64(), len(whole), buffers)
    return table.take(indices)


def read_problem(data: Any, options: ProblemOptions) -> Problem:
    """Return the table of a file or in memory, and its target.

    Without a task the target is read as classes, or as numbers if it looks like a quantity.
    """
    _refuse_two_splits(options)
    task = options.task
    if options.models:
        task = LEARNERS[options.models[0]].task
        _refuse_other_task(options, task)
    types = _types(options)
    kind = TARGETS[task or "classification"]
    table = _read(data, options, kind, types)
    where = file_name(data)
    _require(options, table, where)
    table, target, notes = _read_target(data, table, options, task, types)
    options = _set_target_apart(options)
    features = table.drop_columns([options.target, *dict.fromkeys(options.apart.values())])
    _refuse_no_columns(features, options, where)
    with naming_file(data):
        conversions, converted = _conversions(features, options)
    left_out = row_identifiers(features, options)
    options = options.with_columns("drop", left_out)
    problem = Problem(
        data,
        options,
        table,
        features,
        target,
        None,
        None,
        None,
        (),
        conversions,
        left_out,
        converted,
    )
    notes = [*([] if task else _notes_on_task(problem)), *notes, *left_out_notes(left_out)]
    notes += _constraint_notes(problem)
    return _with_row_columns(problem, notes)


def _read_target(
    data: Any,
    table: pa.Table,
    options: ProblemOptions,
    task: Task | None,
    types: dict[str, ColumnType],
) -> tuple[pa.Table, Target, list[Message]]:
    """Return the table with its target converted, the target, and notes on it."""
    name, where, classes = options.target, file_name(data), TARGETS["classification"]
    is_category = name in options.columns["category"]
    sure = task is not None or is_category or name in options.columns["number"]
    numbers, guess = TARGETS["regression"], None
    if task == "regression" or (name in options.conversions and task is None) or not sure:
        with naming_file(data):
            is_sure = task == "regression"
            guess = target_guess(table, name, options.conversions, where, sure=is_sure)
    if task == "regression" or guess is not None:
        conversion = None if guess is None else guess.conversion
        table = with_converted_target(table, name, conversion, data, numbers.remedy)
        target = numbers.read(table, name, where, "category" if is_category else None)
        if guess is not None:
            target = replace(target, conversion=conversion, reason=guess.reason)
        return table, target, []
    table, remark = without_missing_words(table, name)
    notes = [Message(remark)] if remark else []
    try:
        given = types.get(name) if name not in options.conversions else "category"
        return table, classes.read(table, name, where, given, sure=sure), notes
    except QuantityError:
        if sure:
            raise
        table = with_converted_target(table, name, None, data, numbers.remedy)
        return table, numbers.read(table, name, where), notes


def _conversions(
    features: pa.Table, options: ProblemOptions
) -> tuple[dict[str, Given], dict[str, str]]:
    """Return the conversions of text columns, and what they read.

    They are guessed from all rows: a split may hide some.
    """
    given = {name: how for name, how in options.conversions.items() if name != options.target}
    require_columns(given, features.column_names, "The table")
    columns = as_columns(features)
    kinds = {name: kind for kind, names in options.columns.items() for name in names}
    made: dict[str, Given] = {}
    reasons: dict[str, str] = {}
    for name in columns.names:
        kind = kinds.get(name)
        if kind not in (None, "number", "date") or not _is_text(features, name):
            continue
        guess = guess_conversion(name, categories_of(columns[name]), given, kind)
        if guess is not None and guess.conversion is not None:
            made[name], reasons[name] = guess.conversion, guess.reason
    return {**given, **made}, reasons


def _is_text(table: pa.Table, name: str) -> bool:
    kind = table.schema.field(name).type
    return is_text(getattr(kind, "value_type", kind))


def _with_row_columns(problem: Problem, notes: list[Message]) -> Problem:
    """Return the problem with groups, times and weights, and without rows of weight 0."""
    options, rows = problem.options, problem.target.rows
    columns = as_columns(problem.whole.select(list(dict.fromkeys(options.apart.values()))))
    with naming_file(problem.data, rows):
        weight = None
        if options.weight is not None:
            weight = weights_of(columns, options.weight, rows)
            refuse_no_weight(options.weight, weight)
        times = None if options.time is None else times_of(columns, options.time, rows)
        groups = None if options.group is None else groups_of(columns, options.group, rows)
    if weight is not None and not weight.all():
        kept = np.flatnonzero(weight)
        count = counted(len(weight) - len(kept), "row")
        notes.append(Message(f"{count} of weight 0 skipped."))
        target = replace(problem.target, values=problem.target.values[kept], rows=rows[kept])
        target.check(f"{file_name(problem.data)}: the target column {options.target!r}")
        problem, weight = replace(problem, target=target), weight[kept]
        times = None if times is None else times[kept]
        groups = None if groups is None else groups[kept]
    return replace(problem, weight=weight, times=times, groups=groups, notes=tuple(notes))


def _notes_on_task(problem: Problem) -> list[Message]:
    """Return a note if the values of the target decided the task."""
    name, values = problem.options.target, problem.target.values
    if problem.task == "regression":
        return [
            Message(
                f"The target {name!r} looks like a quantity, so the task is regression. For "
                "classification use ",
                Option("task", "classification"),
                ".",
            )
        ]
    classes = np.unique(values).tolist()
    whole = "whole " * (values.dtype.kind == "i")
    if len(classes) > 2 and (whole or all(is_number(str(each)) for each in classes)):
        return [
            Message(
                f"The {len(classes)} {whole}numbers of the target {name!r} are taken as classes. "
                "For regression use ",
                Option("task", "regression"),
                ".",
            )
        ]
    return []


def _constraint_notes(problem: Problem) -> list[Message]:
    """Return a note on what constraints mean; refuse them where they mean nothing."""
    options = problem.options
    if not options.constraints:
        return []
    option, names = next(iter(options.constraints.items()))
    named: set[str] = set()
    for each, columns in options.constraints.items():
        require_columns(columns, problem.features.column_names, file_name(problem.data))
        for name in columns:
            if name in named:
                raise OptionError(
                    Option(each, name), ": the column has another constraint. Keep one."
                )
            if name in options.columns["drop"]:
                raise OptionError(
                    Option(each, name), ": the column is left out. Keep one of the two."
                )
            named.add(name)
    if problem.task == "regression":
        return []
    classes = np.unique(problem.target.values).tolist()
    if len(classes) > 2:
        raise OptionError(
            Option(option, names[0]),
            f": the target {options.target!r} has {len(classes)} classes, and a score of one of "
            "them says nothing about the others. Constraints need two classes or a number.",
        )
    return [Message(f"Constraints are on the probability of {classes[-1]!r}.")]


def _refuse_other_task(options: ProblemOptions, task: Task) -> None:
    if options.task not in (None, task):
        raise OptionError(
            Option("task", options.task),
            f": {options.models[0]} is for {task}. Leave one of the two out.",
        )


def _refuse_two_splits(options: ProblemOptions) -> None:
    if options.group is not None and options.time is not None:
        raise OptionError(
            Option("group", options.group),
            " and ",
            Option("time", options.time),
            ": rows are held out by one of the two. Leave the other option out; ",
            Option("drop"),
            " ignores its column.",
        )


def _types(options: ProblemOptions) -> dict[str, ColumnType]:
    """Return the types with which columns are read."""
    types: dict[str, ColumnType] = dict.fromkeys(options.columns["text"], "category")
    for kind in ("category", "boolean"):  # the encoder converts texts to numbers and dates
        types |= dict.fromkeys(options.columns[kind], kind)
    types |= dict.fromkeys(options.conversions, "category")
    if options.weight is not None:
        types[options.weight] = "number"
    return types


def _read(
    data: Any, options: ProblemOptions, kind: type[Target], types: dict[str, ColumnType]
) -> pa.Table:
    target = options.target
    as_text: dict[str, ColumnType] = {**types, target: "category"}
    if (isinstance(data, str) and data == "-") or target in options.conversions:
        return table_of(data, as_text, options.reading)
    try:
        return table_of(data, {**types, target: kind.column_type}, options.reading)
    except NotANumberError as error:
        if error.column == target:
            return table_of(data, as_text, options.reading)
        remedy = Message("Or use it as a category: ", Option("category", error.column), ".")
        if error.column == options.weight:
            remedy = Message(Option("weight", error.column), ": weights are numbers.")
        raise error.with_problem(*error.args, " ", remedy) from None


def _require(options: ProblemOptions, table: pa.Table, where: str) -> None:
    """Refuse unknown columns, and columns with two roles."""
    present = table.column_names
    above = lines_above_names(table, options.target)
    if above is not None:
        which = "a header below other lines" if above > 1 else "the second of two header lines"
        raise TableError(
            f"{where} has no column {options.target!r}, but a row has that name: it is {which}. "
            "Skip the lines above: ",
            Option("skip_rows", options.reading.skip_rows + above),
            ".",
        )
    for names in ([options.target], options.apart.values(), *options.columns.values()):
        require_columns(names, present, where)
    for option, name in options.apart.items():
        if name == options.target:
            raise OptionError(Option(option, name), ": it is the target. Name another column.")


def _set_target_apart(options: ProblemOptions) -> ProblemOptions:
    """Remove the target and other non-features from the columns of the options."""
    target, columns = options.target, options.columns
    if target in columns["drop"]:
        raise OptionError(Option("drop", target), ": the target cannot be dropped.")
    if target in columns["number"] and target in columns["category"]:
        raise OptionError(
            f"The target {target} is named twice, in ",
            Option("number", target),
            " and ",
            Option("category", target),
            ". Keep one.",
        )
    for option in ("boolean", "date", "text"):
        if target in columns[option]:
            raise OptionError(
                Option(option, target),
                ": a target is ",
                by_spelling("category (classes) or number.", "--category (classes) or --number."),
            )
    apart = {target, *options.apart.values()}
    kept = {kind: [name for name in names if name not in apart] for kind, names in columns.items()}
    return replace(options, columns=kept)


def _refuse_no_columns(features: pa.Table, options: ProblemOptions, where: str) -> None:
    if features.num_columns:
        return
    others = f" and the columns of {', '.join(options.apart)}" if options.apart else ""
    is_only = "are the only ones" if others else "is the only one"
    raise TableError(
        f"{where}: no feature columns: the target {options.target!r}{others} {is_only}. Add the "
        "columns to predict it from."
    )


class Encoded:
    """Chosen rows of a problem, encoded.

    Parameters
    ----------
    problem : Problem
    chosen : ndarray of int
        Indices of the rows; the encoder is fitted to these alone.
    """

    def __init__(self, problem: Problem, chosen: RowIndices) -> None:
        self.problem, self.chosen = problem, chosen
        self._made: dict[bool, tuple[TableEncoder, Rows]] = {}
        self._in_basis: Rows | None = None

    def forget(self) -> None:
        """Free the encoded rows; they are encoded again when asked for."""
        self._made.clear()
        self._in_basis = None

    def __call__(self, *, counts: bool = False) -> tuple[TableEncoder, Rows]:
        """Return the fitted encoder and the rows; with counts, numbers are not scaled."""
        if counts not in self._made:
            other = self._made.get(not counts)
            same = other is not None and not _has_numbers(other[0])  # nothing to scale
            self._made[counts] = other if other is not None and same else self._fit(counts)
        return self._made[counts]

    def learned_rows(self, learner: Any) -> Rows:
        """Return the rows that a learner is fitted to: with curves, in the basis of its penalty."""
        encoder, rows = self(counts=adds_counts(learner))
        problem, chosen = self.problem, self.chosen
        y, weight = problem.fit_values(chosen), problem.weight_of(chosen)
        basis = basis_of(encoder, learner, rows, y, weight)
        if basis is None:
            return rows
        if self._in_basis is None:
            self._in_basis = basis.rows(rows)
        return self._in_basis

    def _fit(self, counts: bool) -> tuple[TableEncoder, Rows]:
        problem, options = self.problem, self.problem.options
        conversions = problem.conversions or None
        encoder = TableEncoder(
            scale=not counts,
            curves=problem.curves,
            interactions=problem.interactions or None,
            n_jobs=options.threads,
            conversions=conversions,
        )
        encoder.set_params(**{kind: names or None for kind, names in options.columns.items()})
        encoder.set_params(**{each: list(names) for each, names in options.constraints.items()})
        with step("Encoding"), naming_file(problem.data, problem.target.rows[self.chosen]):
            columns = as_columns(problem.take(self.chosen))
            rows = encoder.fit(columns).encode(columns)
        return encoder, rows


def fit_encoded(
    learner: Any, encoder: TableEncoder, rows: Rows, y: Any, sample_weight: Any = None
) -> Model:
    """Fit a learner to encoded rows, and return the model, which knows its training rows.

    Parameters
    ----------
    learner : estimator
        Fitted in place.
    encoder : TableEncoder
        It made the rows: learners of groups ask which features go together.
    rows : Rows
    y, sample_weight : array-like
    """
    if hasattr(learner, "group_by"):
        learner.group_by(encoder)
    constrain(learner, encoder)
    given = {} if sample_weight is None else {"sample_weight": sample_weight}
    basis = basis_of(encoder, learner, rows, y, sample_weight)
    with naming_columns(encoder.feature_names):
        inside = rows if basis is None else basis.rows(rows)
        learner.fit(inside, y, **given)
    made: Model = learner.model_
    if basis is not None:
        made = basis.published(learner.model_)
        errors = curve_errors(encoder, basis, inside, learner, y, sample_weight)
        if errors:
            made = replace(made, evidence={**made.evidence, ERRORS: errors})
    model: Model = replace(made, training_rows=TrainingRows.of(rows, sample_weight))
    return model


def _has_numbers(encoder: TableEncoder) -> bool:
    return any(each.kind in ("number", "date") for each in encoder.column_encoders)


def facts_of(problem: Problem, encoder: TableEncoder, rows: Rows) -> Facts:
    """Return the properties that decide which learners suit the data."""
    is_regression = problem.task == "regression"
    classes = 0 if is_regression else len(np.unique(problem.target.values))
    deviation = float(np.std(problem.fit_values())) if is_regression else 0.0
    return Facts(
        rows=rows.n_rows,
        features=rows.n_features,
        classes=classes,
        nonzeros=float(np.count_nonzero(rows.values)) / rows.n_rows,
        nonnegative=not len(rows.values) or bool(rows.values.min() >= 0),
        text=any(each.kind == "text" for each in encoder.column_encoders),
        deviation=deviation if 0.0 < deviation < np.inf else 1.0,
        smoothed=are_smoothed(encoder),
        interactions=bool(encoder.pair_encoders),
        constrained=bool(encoder.constraints),
    )


def adds_counts(estimator: Any) -> bool:
    """Return whether a learner needs values >= 0, so that numbers must not be centred."""
    return bool(getattr(estimator, "positive_only", False))


def refuse_negative(rows: Rows, encoder: TableEncoder, learner: str) -> None:
    """Refuse negative numbers, for a learner of counts."""
    negative = np.flatnonzero(rows.values.reshape(-1) < 0)
    if not len(negative):
        return
    index = int(negative[0])
    if rows.indptr is None or rows.indices is None:
        row, feature = divmod(index, rows.n_features)
    else:
        row = int(np.searchsorted(rows.indptr, index, side="right")) - 1
        feature = int(rows.indices[index])
    column, name = encoder.sources[feature], LEARNERS[learner].load().__name__
    raise CellError(
        column,
        row,
        f"{rows.values.reshape(-1)[index]:g} is negative, and {name} models counts. Ignore the "
        "column (",
        Option("drop", column),
        "), use it as a category (",
        Option("category", column),
        "), or train with ",
        Option("model", "bernoulli-nb"),
        ", which only uses whether a number is above its mean.",
    )


def notes_on_numbers(learner: str, encoder: TableEncoder, model: Model) -> Iterator[Message]:
    """Return notes on numbers that are not standardized, and on constraints of unused columns."""
    for column, constraint in encoder.constraints.items():
        if column in encoder.dropped_:
            reason = encoder.dropped_[column]
            yield Message(f"{column!r} is not used ({reason}), so {constraint} says nothing.")
    if "number" not in encoder.column_types.values():
        return
    name = LEARNERS[learner].load().__name__
    if not encoder.scale:
        yield Message(f"{name} models counts, so numbers are not standardized.")
    elif model.threshold is not None:
        yield Message(f"{name} only uses whether a number is above its training mean.")
