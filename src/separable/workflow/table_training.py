"""Training on a table: compare learners, test the best on held-out rows, refit it on all rows."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.checks.dominant_values import DominantValueWarning
from separable.data.columns import as_columns
from separable.data.table import TableError, require_columns
from separable.errors import Option, OptionError, by_spelling
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
    TEST_SIZE,
    ProblemOptions,
    ReadingOptions,
    checked_models,
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
    from collections.abc import Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from separable.data.rows import Rows as EncodedRows
    from separable.errors import Message
    from separable.features.table.table_encoder import TableEncoder
    from separable.model.kinds import Model
    from separable.workflow.comparison.learner_comparison import Comparison
    from separable.workflow.progress import Kept
    from separable.workflow.target import Rows
    from separable.workflow.training_problem import Problem

    Names = str | Sequence[str]

__all__ = ["train_table"]


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
