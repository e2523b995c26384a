"""Training of ``separable train``: compare learners, test the best one, refit it on all rows."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.cli.io.input_tables import table_of
from separable.cli.io.output import data_name, file_name, naming_file
from separable.cli.io.role_columns import refuse_no_weight, weights_of
from separable.cli.render.findings import data_warnings, fit_warning, shared_rows
from separable.cli.render.messages import step
from separable.cli.render.train_text import why_taken
from separable.cli.training.holdout_splits import held_out_rows, how_held_out, refuse_one_class
from separable.cli.training.learner_comparison import compare_candidates
from separable.cli.training.training_data import Encoded, notes_on_numbers, read_problem, rows_of
from separable.data.checks.dominant_values import DominantValueWarning
from separable.data.columns import as_columns
from separable.data.table import TableError, missing_counts, require_columns
from separable.model.files.training_rows import TrainingRows
from separable.model.metrics.evaluation import evaluation
from separable.model.metrics.metric_registry import METRICS, predictions_of
from separable.report import typical
from separable.report.contents import Absent, Data, Reproduction, Standing, Tried
from separable.report.scored_rows import ScoredRows
from separable.report.training_record import (
    columns_of,
    memory_of,
    regularization_curve,
    target_bins,
    target_counts,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    import pyarrow as pa
    from numpy.typing import NDArray

    from separable.cli.options.training_options import ProblemOptions
    from separable.cli.training.learner_comparison import Comparison
    from separable.cli.training.target import Finding, Rows
    from separable.cli.training.training_data import Problem
    from separable.data.rows import Rows as EncodedRows
    from separable.features.table.table_encoder import TableEncoder
    from separable.model.kinds import Model
    from separable.model.metrics.evaluation import Evaluation
    from separable.report.contents import RegularizationCurve


__all__ = [
    "HeldOut",
    "KeptRows",
    "Training",
    "curve_of",
    "data_of",
    "raw_values",
    "train_model",
    "tried_of",
]


NOT_COMPARED = "There are too few rows to compare learners or regularization by cross-validation."


@dataclass(frozen=True)
class HeldOut:
    """Metrics on held-out rows.

    Parameters
    ----------
    figures : Evaluation
    how : str
        A description of the rows.
    scored : JudgedRows or None
        The rows with the predictions of a model that was not trained on them, if kept.
    caution : str or None
        Reasons why the metrics may be too optimistic.
    is_new : bool or None
        True: no row is identical to a training row; None: some are.
    own_file : bool, default False
        Whether they come from a separate file, so that the model was trained once.
    """

    figures: Evaluation
    how: str
    scored: ScoredRows | None = None
    caution: str | None = None
    is_new: bool | None = None
    own_file: bool = False


@dataclass(frozen=True)
class KeptRows:
    """Encoded rows that are kept for a report.

    Parameters
    ----------
    compared : Encoded
        The rows of the comparison.
    trained : Encoded
        The rows of the final fit.
    """

    compared: Encoded
    trained: Encoded


@dataclass(frozen=True)
class Training:
    """The results of ``train``, for text, JSON and report.

    Parameters
    ----------
    problem : Problem
    comparison : Comparison
    held_out : HeldOut or None
    trained : Finding
        The error on the training rows.
    encoder : TableEncoder
    model : LinearModel or VotedModel
    notes, warnings : tuple of str
    kept : KeptRows or None
        If requested.
    """

    problem: Problem
    comparison: Comparison
    held_out: HeldOut | None
    trained: Finding
    encoder: TableEncoder
    model: Model
    notes: tuple[str, ...]
    warnings: tuple[str, ...]
    kept: KeptRows | None = None


def train_model(
    data: str,
    test: str | None,
    test_size: float,
    options: ProblemOptions,
    command: str,
    *,
    keep: bool = False,
) -> Training:
    """Compare learners on a file, test the best on held-out rows, refit it on all rows.

    Parameters
    ----------
    data : str
        The file.
    test : str or None
        The test file; None: part of the rows is held out.
    test_size : float
        The fraction of rows to hold out.
    options : ProblemOptions
    command : str
        The command that reproduces the model, for its record.
    keep : bool, default False
        Whether encoded rows are kept for a report.

    Returns
    -------
    Training
    """
    problem = read_problem(data, options)
    messages = data_warnings(problem)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DominantValueWarning)  # the check names rows of the file
        size = 0.0 if test is not None else test_size
        train_rows, test_rows = held_out_rows(problem, size, options.seed)
        refuse_one_class(problem, train_rows)
        encoded = _Blamed(problem, train_rows)
        comparison = compare_candidates(problem, encoded)
        fitted = _fit(problem, encoded, comparison)
        constant = problem.target.constant(train_rows, problem.weight_of(train_rows))
        held_out = _test(problem, fitted, comparison, constant, test, (train_rows, test_rows))
        whole: Encoded = encoded
        if len(test_rows):
            whole = Encoded(problem, np.arange(len(problem)))
        kept = KeptRows(encoded, whole) if keep else None
        if held_out is not None:
            messages += filter(None, [held_out.caution])
            held_out = held_out if keep else replace(held_out, scored=None)
        del encoded  # frees the memory of all rows, if they are not kept
        if len(test_rows):
            fitted = _fit(problem, whole, comparison)
        training = _training_result(
            problem, comparison, fitted, held_out, constant, messages, command
        )
        return replace(training, kept=kept)


@dataclass(frozen=True)
class _Fitted:
    """An encoder and a model, with the warnings of the fit."""

    encoder: TableEncoder
    model: Model
    predicted: NDArray[Any]
    warnings: tuple[str, ...]


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
    return TableError(
        f"{error} This holds for the training rows ({part} of {rows} rows), not for the whole "
        "file: hold out fewer rows with a smaller --test-size, or none with --test-size 0."
    )


def _fit(problem: Problem, encoded: Encoded, comparison: Comparison) -> _Fitted:
    """Fit the chosen learner to encoded rows."""
    candidate = comparison.candidate
    encoder, rows = encoded(counts=candidate.counts)
    learner = candidate.learner(encoder, **comparison.params)
    values, weight = problem.target.values[encoded.chosen], problem.weight_of(encoded.chosen)
    given = {} if weight is None else {"sample_weight": weight}
    with step(f"Fitting {candidate.name}"), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        learner.fit(rows, values, **given)
    messages = [
        fit_warning(one.message, learner.model_, len(values), encoder)
        for one in caught
        if not issubclass(one.category, DominantValueWarning)
    ]
    model = replace(learner.model_, training_rows=TrainingRows.of(rows, weight))
    return _Fitted(encoder, model, model.predict(rows), tuple(filter(None, messages)))


def _test(
    problem: Problem,
    fitted: _Fitted,
    comparison: Comparison,
    constant: Any,
    test: str | None,
    parts: tuple[Rows, Rows],
) -> HeldOut | None:
    """Evaluate on the test file or the held-out rows; None if there are none."""
    train_rows, test_rows = parts
    if test is not None:
        scored, table = _scored_file(problem, fitted, test)
        how = f"Tested on {len(scored.y_true)} rows of {data_name(test)}"
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
    return HeldOut(figures, how, scored, caution, is_new, own_file=test is not None)


def _scored_part(
    problem: Problem, fitted: _Fitted, rows: Rows, n_train: int
) -> tuple[ScoredRows, pa.Table]:
    """Predict rows of the same file, and return their table too."""
    table = problem.take(rows)
    try:
        with naming_file(problem.data, problem.target.rows[rows]):
            encoded = fitted.encoder.encode(table)
    except TableError as error:
        raise _due_to_hold_out(error, n_train, len(problem)) from None
    values, row_indices = problem.target.values[rows], problem.target.rows[rows]
    scored = _scored_rows(fitted, encoded, values, row_indices, problem.weight_of(rows), table)
    return scored, table


def _scored_file(problem: Problem, fitted: _Fitted, test: str) -> tuple[ScoredRows, pa.Table]:
    """Predict the rows of a test file, and return its table too."""
    options, where = problem.options, file_name(test)
    types: dict[str, Any] = {
        **fitted.encoder.column_types,
        options.target: problem.target.column_type,
    }
    if options.weight is not None:
        types[options.weight] = "number"
    table: pa.Table = table_of(test, types, options.reading)
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


def _training_result(
    problem: Problem,
    comparison: Comparison,
    fitted: _Fitted,
    held_out: HeldOut | None,
    constant: Any,
    data_messages: list[str],
    command: str,
) -> Training:
    """Collect the results, also in the model."""
    options, score = problem.options, comparison.score
    trained = problem.target.training(fitted.predicted)
    record: dict[str, Any] = {
        "task": problem.task,
        "target": options.target,
        "data": data_name(problem.data),
        "rows": len(problem),
        "metric": score.metric.name,
        "positive": score.positive,
        **{option: getattr(options, option) for option in ("weight", "group", "time")},
        "constant": constant,
        **trained.values,
        "held_out": None if held_out is None else held_out.figures.to_dict(),
        "leaderboard": _kept_board(comparison),
    }
    notes = (
        *problem.notes,
        *notes_on_numbers(comparison.candidate.name, fitted.encoder, fitted.model),
    )
    warned = tuple(dict.fromkeys([*data_messages, *fitted.warnings]))
    model = replace(
        fitted.model,
        encoder=fitted.encoder.set_params(n_jobs=None),
        parameters=_without_threads(fitted.model.parameters),
    )
    record["report"] = memory_of(
        data_of(problem, model),
        tried_of(comparison),
        curve_of(comparison),
        Reproduction((command,), (), options.seed, None),
        None if held_out is None else held_out.how,
        notes,
        warned,
        is_new=None if held_out is None else held_out.is_new,
    )
    model = replace(model, evidence={**model.evidence, "train": record})
    return Training(
        problem=problem,
        comparison=comparison,
        held_out=held_out,
        trained=trained,
        encoder=fitted.encoder,
        model=model,
        notes=notes,
        warnings=warned,
    )


def _without_threads(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a learner without the number of threads."""
    return {name: None if name == "n_jobs" else value for name, value in parameters.items()}


def _kept_board(comparison: Comparison) -> list[dict[str, Any]] | None:
    """Return the leaderboard without times: the same run gives the same file."""
    if comparison.board is None:
        return None
    left = ("seconds", "fit_seconds", "warnings", "how", "scores")
    rows = [each.to_dict() for each in comparison.board]
    return [{name: value for name, value in row.items() if name not in left} for row in rows]


# --- facts for the report ---


def data_of(problem: Problem, model: Model) -> Data:
    """Return the description of the training data."""
    options, values = problem.options, problem.target.values
    is_number = problem.task == "regression"
    roles = {options.target: "target"} | {name: role for role, name in options.apart.items()}
    return Data(
        name=data_name(problem.data),
        rows=len(problem),
        columns=columns_of(model, roles, missing_counts(problem.whole), problem.whole.column_names),
        target=options.target,
        task=problem.task,
        target_counts=() if is_number else target_counts(values),
        target_bins=target_bins(values) if is_number else (),
        **typical.of_table(model, problem.whole),
    )


def tried_of(comparison: Comparison) -> Tried | Absent:
    """Return the compared learners, with their times."""
    board = comparison.board
    if board is None:
        return Absent(NOT_COMPARED)
    names = ("params", "mean", "standard_error", "difference", "difference_error", "differs")
    return Tried(
        metric=board.metric,
        greater_is_better=board.greater_is_better,
        folds=board.n_folds,
        rows=comparison.rows,
        of_rows=comparison.of_rows,
        standings=tuple(
            Standing(
                learner=each.name,
                seconds=each.seconds,
                failed=each.failed,
                **{name: each.to_dict()[name] for name in names},
            )
            for each in board
        ),
        taken=comparison.candidate.name,
        why=why_taken(board, board[comparison.candidate.name]),
    )


def curve_of(comparison: Comparison) -> RegularizationCurve | Absent:
    """Return the regularization curve of the chosen learner."""
    taken = comparison.taken
    if taken is None:
        return Absent(NOT_COMPARED)
    better = {name: metric.greater_is_better for name, metric in METRICS.items()}
    return regularization_curve(
        taken, comparison.score.metric.name, comparison.score.chooses, better
    )


def raw_values(
    table: pa.Table, columns: Iterable[str], renamed: Mapping[str, str] | None = None
) -> Callable[[int], Mapping[str, Any]]:
    """Return a function from the index of a row to its raw values, with columns renamed."""
    names = {(renamed or {}).get(name, name): name for name in columns}
    return lambda row: {name: table[column][row].as_py() for name, column in names.items()}
