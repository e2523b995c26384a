"""``train``: compare learners, test the best one on held-out rows, refit it on all rows."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.checks.dominant_values import DominantValueWarning
from separable.data.columns import as_columns
from separable.data.table import TableError, require_columns
from separable.errors import InputError, Option, OptionError, by_spelling
from separable.model.column_statistics import column_statistics
from separable.model.linear_model import LinearModel
from separable.model.metrics.evaluation import evaluation
from separable.model.metrics.metric_registry import predictions_of
from separable.model.self_test import made_self_test
from separable.workflow.columns.curve_trials import with_curves
from separable.workflow.columns.integer_readings import with_integer_readings
from separable.workflow.columns.role_columns import refuse_no_weight, weights_of
from separable.workflow.comparison.learner_comparison import compare_candidates
from separable.workflow.holdout_splits import held_out_rows, how_held_out, refuse_one_class
from separable.workflow.importance import importance_of
from separable.workflow.input_tables import naming_file, table_of
from separable.workflow.log_target import with_log_link, with_target_log
from separable.workflow.options import (
    COLUMN_KINDS,
    CURVES,
    TARGET_LOGS,
    TEST_SIZE,
    Every,
    ProblemOptions,
    ReadingOptions,
    StreamOptions,
    all_threads,
    checked_budget,
    checked_class_weight,
    checked_conversions,
    checked_cost,
    checked_interactions,
    checked_models,
    checked_threshold,
    command_line,
    data_name,
    file_name,
    python_call,
)
from separable.workflow.progress import keeping, note, remembering_files, step, warn
from separable.workflow.scored_rows import ScoredRows, raw_values
from separable.workflow.table_separability import separability_text
from separable.workflow.training_problem import (
    Encoded,
    fit_encoded,
    notes_on_numbers,
    read_problem,
    rows_of,
)
from separable.workflow.training_run import HeldOut, KeptRows, TrainingRun, run_record
from separable.workflow.training_warnings import (
    constant_warning,
    data_warnings,
    fit_warning,
    shared_rows,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from separable.data.rows import Rows as EncodedRows
    from separable.errors import Message
    from separable.features.table.table_encoder import TableEncoder
    from separable.model.kinds import Model
    from separable.workflow.comparison.learner_comparison import Comparison
    from separable.workflow.learners import Task
    from separable.workflow.progress import Kept
    from separable.workflow.stream.stream_training import StreamRun
    from separable.workflow.target import Rows
    from separable.workflow.training_problem import Problem

    Names = str | Sequence[str]

__all__ = ["train", "train_table"]


def train(
    data: Any,
    target: str = "",
    *,
    task: Task | None = None,
    model: Names = (),
    set: Mapping[str, Any] | None = None,  # noqa: A002 # the name of the option
    number: Names = (),
    category: Names = (),
    boolean: Names = (),
    date: Names = (),
    text: Names = (),
    drop: Names = (),
    curves: str = "auto",
    interactions: str | int = "auto",
    convert: Mapping[str, str] | None = None,
    weight: str | None = None,
    metric: str | None = None,
    positive: Any = None,
    cost: str | Mapping[Any, float] | None = None,
    threshold: float | str | None = None,
    class_weight: str | Mapping[Any, float] | None = None,
    target_log: str = "auto",
    group: str | None = None,
    time: str | None = None,
    folds: int = 5,
    compare_rows: int | None = None,
    budget: float | None = None,
    test: Any = None,
    test_size: float | None = None,
    seed: int = 0,
    threads: int | None = None,
    table: str | None = None,
    query: str | None = None,
    format: str | None = None,  # noqa: A002
    delimiter: str | None = None,
    header: bool | None = None,
    quoting: bool | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    missing: Names = (),
    comment: str | None = None,
    skip_rows: int = 0,
    skip_bad_lines: bool = False,
    stream: bool = False,
    passes: int | None = None,
    classes: Names | None = None,
    encode_rows: int | None = None,
    bits: int | None = None,
    features: int | None = None,
    checkpoint: str | None = None,
    every: Every | None = None,
    resume: str | None = None,
) -> TrainingRun | StreamRun:
    """Train a model on a file or a table, as the command ``separable train`` does.

    Learners that suit the data are compared by cross-validation, with their regularization
    searched. The best is tested on held-out rows and refitted on all rows. Options have the names
    and defaults of the command.

    Parameters
    ----------
    data : str, path, data frame, pyarrow.Table, dict of columns or list of dicts
        A file may be CSV, JSON lines or Parquet, compressed, a glob, a folder or "-". A frame of
        pandas or polars is not changed; the index of pandas is not a feature.
    target : str
        The column to predict.
    task : "classification" or "regression", optional
        Inferred by default.
    model : str or sequence of str, optional
        Learners, such as "logistic-regression"; by default all that suit the data.
    set : mapping, optional
        Parameters of the learner: ``{"C": 1}``.
    number, category, boolean, date, text : str or sequence of str, optional
        Columns to be read as this type, instead of the inferred one.
    drop : str or sequence of str, optional
        Columns to ignore.
    curves : {"auto", "yes", "no"}, default "auto"
        Whether numbers become piecewise linear curves; auto: if they are better on rows held out by
        more than a standard error.
    interactions : {"auto", "no"} or int, default "auto"
        Pairs of columns whose products become features, beside curves: how many, the best of all
        pairs; auto: up to 20, if they are better on rows held out.
    convert : mapping of str to str, optional
        How text columns are converted, instead of the guess: ``{"when": "day-first"}``.
    weight : str, optional
        Column of sample weights, for training and metrics.
    metric : str, optional
        Metric that ranks the learners; log loss or RMSE by default.
    positive : object, optional
        Positive class for precision, recall, f1, roc_auc and average_precision; by default the
        rarer of two.
    cost : str or mapping, optional
        Costs of mistakes for two classes: ``{"fp": 1, "fn": 20}``, or of mistaking a row of each
        class, ``{"no": 1, "yes": 20}``. The threshold of the least cost is chosen on out-of-fold
        probabilities.
    threshold : float or str, optional
        The positive class is predicted where its probability is above it; or the metric that
        chooses it: "accuracy", "balanced_accuracy", "f1" or "mcc". 0.5 by default.
    class_weight : "balanced" or mapping, optional
        Weights of classes in training. Learners without class weights are not compared.
    target_log : {"auto", "yes", "no"}, default "auto"
        Whether the logarithm of a positive target is learned. "auto": if the target is skewed and
        the logarithm is better by cross-validation, in units of the target.
    group : str, optional
        Column of groups that are held out as a whole.
    time : str, optional
        Column of dates or numbers: the latest rows are held out.
    folds : int, default 5
        Number of cross-validation folds.
    compare_rows : int, optional
        Compare on a random sample of so many rows; 0: all rows.
    budget : float, optional
        Start no further learner after this many seconds; at least one is compared. Which ones are
        then depends on the speed of the machine.
    test : str, path or table, optional
        Test on this, and train on all of `data`.
    test_size : float, default 0.25
        Fraction of rows to hold out; 0: no test.
    seed : int, default 0
    threads : int, optional
        One per core by default.
    table, query : str, optional
        Table of a database, sheet of a workbook or file in a zip archive; or a query of a database.
    format, delimiter, header, quoting, encoding, decimal, missing, comment, skip_rows : optional
        Overrides of the detected file format, as in `separable.data.read`.
    skip_bad_lines : bool, default False
        Skip and count lines that cannot be read.
    stream : bool, default False
        Train in bounded memory, one row at a time. The parameters below need it.
    passes : int, optional
        Passes over the data; 1 by default.
    classes : sequence of str, optional
        All classes; by default those of the first rows.
    encode_rows : int, optional
        Fit the encoder to so many rows; 100 000 by default.
    bits : int, optional
        Hash texts, or the features of Vowpal Wabbit text, into ``2**bits`` columns.
    features : int, optional
        Columns of an svmlight file; counted by default.
    checkpoint : str, optional
        A file that is saved at intervals.
    every : Every, optional
        The interval, in rows or seconds.
    resume : str, optional
        A checkpoint to continue from.

    Returns
    -------
    TrainingRun
        With ``model``, ``leaderboard``, ``evaluation``, ``columns``, ``warnings``, ``summary()``
        and ``save(path)``. With ``stream=True`` a `StreamRun`.

    Raises
    ------
    TableError
        The data cannot be learned from: where, what and the remedy.
    OptionError
        An option is wrong, or two exclude each other.

    Examples
    --------
    >>> import separable
    >>> from separable.datasets import PENGUINS
    >>> run = separable.train(PENGUINS, "species", model="logistic-regression")
    >>> run
    TrainingRun: logistic-regression for species, 344 rows, log_loss 0.0096 on 86 held-out rows
    >>> run.model.n_features
    15
    """
    columns = {"number": number, "category": category, "boolean": boolean, "date": date}
    columns |= {"text": text, "drop": drop}
    try:
        options = ProblemOptions(
            target=_column_of(target),
            models=checked_models(_names(model)),
            task=_choice("task", task, ("classification", "regression")),
            metric=metric,
            positive=None if positive is None else str(positive),
            cost=checked_cost(cost),
            threshold=checked_threshold(threshold),
            class_weight=checked_class_weight(class_weight),
            target_log=_choice("target_log", target_log, TARGET_LOGS),
            curves=_choice("curves", curves, CURVES),
            interactions=checked_interactions(interactions),
            settings=dict(set or {}),
            columns={kind: list(_names(columns[kind])) for kind in COLUMN_KINDS},
            conversions=checked_conversions(convert or {}),
            group=group,
            time=time,
            weight=weight,
            folds=_at_least("folds", folds, 2),
            compare_rows=None if compare_rows is None else _at_least("compare_rows", compare_rows),
            budget=checked_budget(budget),
            seed=_at_least("seed", seed),
            threads=all_threads() if threads is None else _at_least("threads", threads, 1),
            reading=ReadingOptions(
                format,
                delimiter,
                header,
                quoting,
                encoding,
                decimal,
                tuple(_names(missing)),
                comment,
                skip_rows,
                skip_bad_lines,
                table,
                query,
            ),
        )
        listed = None if classes is None else ",".join(map(str, _names(classes)))
        streaming = StreamOptions(
            passes, listed, encode_rows, bits, features, checkpoint, every, resume
        )
        return _run(_source(data), options, streaming, test, test_size, stream=stream)
    except InputError as error:
        error.spelling = "train"
        raise


def _run(
    data: Any,
    options: ProblemOptions,
    streaming: StreamOptions,
    test: Any,
    test_size: float | None,
    *,
    stream: bool,
) -> TrainingRun | StreamRun:
    if stream:
        from separable.workflow.stream.stream_training import train_stream

        for name, value in (("test", test), ("test_size", test_size)):
            if value is not None:
                raise OptionError(
                    Option(name, value if name == "test_size" else file_name(value)),
                    " cannot be used with a stream, which validates progressively. Leave one of "
                    "them out.",
                )
        return train_stream(data, options, streaming)
    for option in streaming.all_given():
        raise OptionError(option, " needs ", Option("stream", True), ".")
    if not options.target:
        raise OptionError("Name the column to predict: ", Option("target"), ".")
    return train_table(data, options, None if test is None else _source(test), test_size)


def _names(given: Names) -> Sequence[str]:
    return (given,) if isinstance(given, str) else tuple(given)


def _column_of(target: Any) -> str:
    """Return the name of the target as text, as all names of columns are."""
    if isinstance(target, (str, int, float, tuple)):
        return str(target)
    raise OptionError(
        f"target: name a column of the data, not a {type(target).__name__}. Add the values to the "
        "data as a column."
    )


def _source(data: Any) -> Any:
    """Return a path as text; tables stay tables."""
    import os

    return os.fspath(data) if isinstance(data, os.PathLike) else data


def _at_least(name: str, value: Any, least: int = 0) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise OptionError(Option(name, value), f": it has to be an int >= {least}.")
    return int(value)


def _choice(name: str, value: Any, choices: tuple[str, ...]) -> Any:
    if value is not None and value not in choices:
        raise OptionError(Option(name, value), f": it has to be one of {', '.join(choices)}.")
    return value


def train_table(
    data: Any,
    options: ProblemOptions,
    test: Any = None,
    test_size: float | None = None,
    *,
    keep: bool = True,
) -> TrainingRun:
    """Compare learners on a table, test the best on held-out rows, refit it on all rows.

    Parameters
    ----------
    data : str or table
        The file, or a table in memory.
    options : ProblemOptions
    test : str or table, optional
        The test rows; None: part of the rows is held out.
    test_size : float, optional
        The fraction of rows to hold out.
    keep : bool, default True
        Whether encoded rows are kept for a report. It encodes them again otherwise.

    Returns
    -------
    TrainingRun
    """
    start = time.monotonic()
    size = _checked_size(test, test_size)
    options = replace(options, models=checked_models(options.models))
    with keeping() as kept, remembering_files(), warnings.catch_warnings():
        warnings.simplefilter("ignore", DominantValueWarning)  # the check names rows of the file
        training = _Training(data, options, test, size, start)
        from separable.linalg.blas import one_blas_thread  # reading needs no SciPy

        with one_blas_thread():  # folds share the cores; idle threads of BLAS spin
            return training.run(kept, keep=keep)


def _checked_size(test: Any, test_size: float | None) -> float:
    if test is not None:
        if test_size is not None:
            raise OptionError(
                by_spelling("test_size", "--test-size"),
                " and ",
                Option("test", file_name(test)),
                " exclude each other: the test uses held-out rows or a file. Leave one of the two "
                "out.",
            )
        return 0.0
    size = TEST_SIZE if test_size is None else float(test_size)
    if not 0 <= size < 1:
        raise OptionError(Option("test_size", size), ": give a number from 0 to less than 1.")
    return size


class _Training:
    """One run of `train_table`."""

    def __init__(
        self, data: Any, options: ProblemOptions, test: Any, test_size: float, start: float
    ) -> None:
        self.test, self.test_size, self.start, self.options = test, test_size, start, options
        self.command = _command(data, options, test, test_size)
        self.problem = read_problem(data, options)

    def run(self, kept: Kept, *, keep: bool) -> TrainingRun:
        problem = self.problem
        train_rows, test_rows = held_out_rows(problem, self.test_size, problem.options.seed)
        refuse_one_class(problem, train_rows)
        problem = with_target_log(problem, train_rows)
        problem = self.problem = with_integer_readings(problem, train_rows, self.options)
        problem = self.problem = with_curves(problem, train_rows)
        for message in problem.notes:
            note(message)
        for message in data_warnings(problem):
            warn(message)
        encoded = _Blamed(problem, train_rows)
        comparison = compare_candidates(problem, encoded)
        fitted = _fit(problem, encoded, comparison)
        constant = problem.target.constant(train_rows, problem.weight_of(train_rows))
        held_out = self._test(fitted, comparison, constant, (train_rows, test_rows))
        whole: Encoded = encoded
        if len(test_rows):
            whole = Encoded(problem, np.arange(len(problem)))
        if not keep:
            encoded.forget()
            held_out = None if held_out is None else replace(held_out, scored=None)
        if len(test_rows):
            fitted = _fit(problem, whole, comparison)
        useless = None if held_out is None else constant_warning(held_out.figures)
        if useless is not None:
            kept.warnings.append(useless)  # it begins the summary, so nobody has to hear it twice
        if held_out is not None and held_out.caution is not None:
            warn(held_out.caution)
        for message in fitted.warnings:
            warn(message)
        for message in notes_on_numbers(comparison.candidate.name, fitted.encoder, fitted.model):
            note(message)
        rows, values = whole(counts=comparison.candidate.counts)[1], problem.target.values
        run = TrainingRun(
            problem=problem,
            comparison=comparison,
            held_out=held_out,
            trained=problem.target.training(fitted.predicted),
            encoder=fitted.encoder,
            model=_without_threads(fitted),
            notes=tuple(kept.notes),
            warnings=tuple(kept.warnings),
            kept=KeptRows(encoded, whole),
            seconds=time.monotonic() - self.start,
            useless=useless,
            importance=importance_of(fitted.model, fitted.encoder, rows),
            separability=separability_text(fitted.model, rows, values, problem.options.seed),
        )
        if not keep:
            whole.forget()
        record = run_record(run, constant, self.command)
        evidence = {**run.model.evidence, "train": record}
        model = replace(run.model, evidence=evidence)
        return replace(run, model=_with_statistics(model, problem.whole, rows))

    def _test(
        self,
        fitted: _Fitted,
        comparison: Comparison,
        constant: Any,
        parts: tuple[Rows, Rows],
    ) -> HeldOut | None:
        """Evaluate on the test file or the held-out rows; None if there are none."""
        problem, (train_rows, test_rows) = self.problem, parts
        if self.test is not None:
            scored, table = _scored_table(problem, fitted, self.test)
            how = f"Tested on {len(scored.y_true)} rows of {data_name(self.test)}"
        elif len(test_rows):
            scored, table = _scored_part(problem, fitted, test_rows, len(train_rows))
            how = f"Held out {len(test_rows)} of {len(problem)} rows, {how_held_out(problem)}"
        else:
            return None
        positive = comparison.score.positive
        figures = evaluation(scored.predictions, scored.y_true, scored.weight, positive, constant)
        caution = next(iter(shared_rows(problem.take(train_rows), table)), None)
        known = fitted.model.training_rows
        is_new = True if known is not None and not known.find(scored.rows).seen else None
        return HeldOut(figures, how, scored, caution, is_new, own_file=self.test is not None)


def _with_statistics(model: Model, table: pa.Table, rows: EncodedRows) -> Model:
    """Return a model with what serving and drift need to know of the training rows."""
    if not isinstance(model, LinearModel):
        return model
    known: Any = model.evidence["train"]
    return replace(
        model,
        column_statistics=column_statistics(model, table, rows),
        self_test=made_self_test(model, known["report"]["typical"]),
    )


def _command(data: Any, options: ProblemOptions, test: Any, test_size: float) -> str:
    """Return the command that repeats the run; for a table in memory, the call."""
    others = [Option("test", data_name(test))] if test is not None else []
    if test is None and test_size != TEST_SIZE:
        others.append(Option("test_size", test_size))
    given = [*options.given(), *others]
    if not isinstance(data, str):
        return python_call("separable.train", "table", given)
    import shlex

    name = "-" if data == "-" else shlex.quote(data_name(data))
    return command_line("separable", "train", name, options=given)


@dataclass(frozen=True)
class _Fitted:
    """An encoder and a model, with the warnings of the fit."""

    encoder: TableEncoder
    model: Model
    predicted: NDArray[Any]
    warnings: tuple[Message, ...]


class _Blamed(Encoded):
    """Encodes the training rows; errors caused by the hold-out do not blame the file."""

    def _fit(self, counts: bool) -> Any:
        try:
            return super()._fit(counts)
        except TableError as error:
            if len(self.chosen) < len(self.problem):
                Encoded(self.problem, np.arange(len(self.problem)))._fit(counts)
            raise _due_to_hold_out(error, len(self.chosen), len(self.problem)) from None


def _due_to_hold_out(error: TableError, part: int, rows: int) -> TableError:
    if part == rows:
        return error
    return error.with_problem(
        *error.args,
        f" This holds for the training rows ({part} of {rows} rows), not for the whole "
        "file: hold out fewer rows with a smaller ",
        by_spelling("test_size", "--test-size"),
        ", or none with ",
        Option("test_size", 0),
        ".",
    )


def _fit(problem: Problem, encoded: Encoded, comparison: Comparison) -> _Fitted:
    """Fit the chosen learner to encoded rows."""
    candidate = comparison.candidate
    encoder, rows = encoded(counts=candidate.counts)
    learner = candidate.learner(**comparison.params)
    values, weight = problem.fit_values(encoded.chosen), problem.weight_of(encoded.chosen)
    with step(f"Fitting {candidate.name}"), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = fit_encoded(learner, encoder, rows, values, weight)
    messages = [
        fit_warning(one.message, model, len(values), encoder)
        for one in caught
        if not issubclass(one.category, DominantValueWarning)
    ]
    if problem.target_log:
        targets = problem.target.values[encoded.chosen]
        model = with_log_link(model, comparison.log_scale, targets, rows, weight)
    if comparison.calibration is not None:
        assert isinstance(model, LinearModel)
        model = replace(model, calibration=comparison.calibration)
    if comparison.decision is not None:
        assert isinstance(model, LinearModel)
        model = replace(model, decision=comparison.decision)
    return _Fitted(encoder, model, model.predict(rows), tuple(filter(None, messages)))


def _without_threads(fitted: _Fitted) -> Model:
    """Return the model with its encoder, both without the number of threads."""
    parameters = {
        name: None if name == "n_jobs" else value for name, value in fitted.model.parameters.items()
    }
    encoder = fitted.encoder.set_params(n_jobs=None)
    return replace(fitted.model, encoder=encoder, parameters=parameters)


def _scored_part(
    problem: Problem, fitted: _Fitted, rows: Rows, n_train: int
) -> tuple[ScoredRows, pa.Table]:
    """Predict rows of the same table, and return them too."""
    table = problem.take(rows)
    try:
        with naming_file(problem.data, problem.target.rows[rows]):
            encoded = fitted.encoder.encode(table)
    except TableError as error:
        Encoded(problem, np.arange(len(problem)))()  # raises what is wrong with the whole file
        raise _due_to_hold_out(error, n_train, len(problem)) from None
    values, row_indices = problem.target.values[rows], problem.target.rows[rows]
    scored = _scored_rows(fitted, encoded, values, row_indices, problem.weight_of(rows), table)
    return scored, table


def _scored_table(problem: Problem, fitted: _Fitted, test: Any) -> tuple[ScoredRows, pa.Table]:
    """Predict the rows of a test table, and return it too."""
    options, where = problem.options, file_name(test)
    types: dict[str, Any] = {
        **fitted.encoder.column_types,
        options.target: "category" if problem.target.conversion else problem.target.column_type,
    }
    if options.weight is not None:
        types[options.weight] = "number"
    reading = options.reading if isinstance(test, str) else ReadingOptions()
    table: pa.Table = table_of(test, types, reading)
    needed = [*fitted.encoder.column_types, options.target]
    require_columns([*needed, *filter(None, [options.weight])], table.column_names, where)
    y_true = problem.target.read_true_values(table, options.target, where)
    with naming_file(test, y_true.rows):
        weight = None
        if options.weight is not None:
            weight = weights_of(
                as_columns(table.select([options.weight])), options.weight, y_true.rows
            )
            refuse_no_weight(options.weight, weight)
        table = rows_of(table, y_true.rows)
        encoded = fitted.encoder.encode(table)
    scored = _scored_rows(fitted, encoded, y_true.values, y_true.rows, weight, table)
    return scored, table.select([name for name in problem.features.column_names if name in needed])


def _scored_rows(
    fitted: _Fitted,
    rows: EncodedRows,
    y_true: NDArray[Any],
    row_indices: Rows,
    weight: NDArray[np.float64] | None,
    table: pa.Table,
) -> ScoredRows:
    model = replace(fitted.model, encoder=fitted.encoder)
    raw = raw_values(table, fitted.encoder.column_types)
    return ScoredRows(
        model, rows, y_true, predictions_of(fitted.model, rows), row_indices, weight, raw
    )
