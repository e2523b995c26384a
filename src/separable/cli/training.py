"""What ``separable train`` does: compare learners, test the best on rows held out, keep it."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.cli.comparison import compare_candidates
from separable.cli.data_warnings import data_warnings, shared_rows
from separable.cli.encoded_rows import Encoded
from separable.cli.fit_warnings import fit_warning
from separable.cli.number_use import notes_on_numbers
from separable.cli.output import data_name, file_name, naming_file
from separable.cli.problem import read_problem, rows_of
from separable.cli.row_columns import refuse_no_weight, weights_of
from separable.cli.splits import held_out_rows, how_held_out, refuse_one_class
from separable.cli.tables import table_of
from separable.cli.talk import step
from separable.data.columns import as_columns
from separable.data.table import TableError, require_columns
from separable.model.evaluation import evaluation
from separable.model.metrics import answers_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa
    from numpy.typing import NDArray

    from separable.cli.comparison import Comparison
    from separable.cli.problem import Problem
    from separable.cli.problem_options import ProblemOptions
    from separable.cli.target import Finding, Rows
    from separable.features.table_encoder import TableEncoder
    from separable.model.evaluation import Evaluation
    from separable.model.kinds import Model

__all__ = ["HeldOut", "Training", "train_model"]


@dataclass(frozen=True)
class HeldOut:
    """Figures of rows that took no part in learning.

    Parameters
    ----------
    figures : Evaluation
    how : str
        Which rows these are, in words.
    own_file : bool, default False
        They are of a file of their own, so that the model was trained once.
    """

    figures: Evaluation
    how: str
    own_file: bool = False


@dataclass(frozen=True)
class Training:
    """Everything a run of ``train`` found, for text or JSON to tell."""

    problem: Problem
    comparison: Comparison
    held_out: HeldOut | None
    trained: Finding
    encoder: TableEncoder
    model: Model
    notes: tuple[str, ...]
    warnings: tuple[str, ...]


def train_model(data: str, test: str | None, test_size: float, asked: ProblemOptions) -> Training:
    """Compare learners on a file, test the best on rows held out, train it again on all rows.

    Parameters
    ----------
    data : str
        The file.
    test : str or None
        The file to test on; None: a part of the rows is held out.
    test_size : float
        The share of rows to hold out.
    asked : ProblemOptions

    Returns
    -------
    Training
    """
    problem = read_problem(data, asked)
    told = data_warnings(problem)
    size = 0.0 if test is not None else test_size
    train_rows, test_rows = held_out_rows(problem, size, asked.seed)
    refuse_one_class(problem, train_rows)
    encoded = _Blamed(problem, train_rows)
    comparison = compare_candidates(problem, encoded)
    fitted = _fit(problem, encoded, comparison)
    constant = problem.target.constant(train_rows, problem.weight_of(train_rows))
    held_out = None
    if test is not None:
        held_out, table = _tested_on_file(problem, fitted, comparison, constant, test)
        told += shared_rows(problem.take(train_rows), table)
    elif len(test_rows):
        held_out = _tested(problem, fitted, comparison, constant, test_rows, len(train_rows))
        told += shared_rows(problem.take(train_rows), problem.take(test_rows))
        del encoded
        fitted = _fit(problem, Encoded(problem, np.arange(len(problem))), comparison)
    return _told(problem, comparison, fitted, held_out, constant, told)


@dataclass(frozen=True)
class _Fitted:
    """An encoder and a model, and what its fit warned of."""

    encoder: TableEncoder
    model: Model
    predicted: NDArray[Any]
    warnings: tuple[str, ...]


class _Blamed(Encoded):
    """Encodes the training part; what only the hold-out spoils is not blamed on the file."""

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
        f"{error} It is so in the training part ({part} of {rows} rows), not in the whole file: "
        "hold out fewer rows with a smaller --test-size, or none with --test-size 0."
    )


def _fit(problem: Problem, encoded: Encoded, comparison: Comparison) -> _Fitted:
    """Fit the learner that was chosen to encoded rows."""
    candidate = comparison.candidate
    encoder, rows = encoded(counts=candidate.counts)
    learner = candidate.learner(encoder, **comparison.params)
    values, weight = problem.target.values[encoded.chosen], problem.weight_of(encoded.chosen)
    given = {} if weight is None else {"sample_weight": weight}
    with step(f"Fitting {candidate.name}"), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        learner.fit(rows, values, **given)
    told = [fit_warning(one.message, learner.model_, len(values), encoder) for one in caught]
    return _Fitted(encoder, learner.model_, learner.model_.predict(rows), tuple(filter(None, told)))


def _tested(
    problem: Problem,
    fitted: _Fitted,
    comparison: Comparison,
    constant: Any,
    rows: Rows,
    n_train: int,
) -> HeldOut:
    """Measure on rows of the same file."""
    try:
        with naming_file(problem.data, problem.target.rows[rows]):
            encoded = fitted.encoder.encode(problem.take(rows))
    except TableError as error:
        raise _due_to_hold_out(error, n_train, len(problem)) from None
    figures = evaluation(
        answers_of(fitted.model, encoded),
        problem.target.values[rows],
        problem.weight_of(rows),
        comparison.judge.positive,
        constant,
    )
    held = f"Held out {len(rows)} of {len(problem)} rows, {how_held_out(problem)}"
    return HeldOut(figures, held)


def _tested_on_file(
    problem: Problem, fitted: _Fitted, comparison: Comparison, constant: Any, test: str
) -> tuple[HeldOut, pa.Table]:
    """Measure on a file of its own, and return its table too."""
    asked, where = problem.asked, file_name(test)
    types: dict[str, Any] = {
        **fitted.encoder.column_types,
        asked.target: problem.target.column_type,
    }
    if asked.weight is not None:
        types[asked.weight] = "number"
    table: pa.Table = table_of(test, types, asked.reading)
    needed = [*fitted.encoder.column_types, asked.target]
    require_columns([*needed, *filter(None, [asked.weight])], table.column_names, where)
    truth = problem.target.truth(table, asked.target, where)
    with naming_file(test, truth.rows):
        weight = None
        if asked.weight is not None:
            weight = weights_of(as_columns(table), asked.weight, truth.rows)
            refuse_no_weight(asked.weight, weight)
        table = rows_of(table, truth.rows)
        encoded = fitted.encoder.encode(table)
    answers = answers_of(fitted.model, encoded)
    positive = comparison.judge.positive
    figures = evaluation(answers, truth.values, weight, positive, constant)
    told = f"Tested on {len(truth.values)} rows of {where}"
    held = HeldOut(figures, told, own_file=True)
    return held, table.select([name for name in problem.features.column_names if name in needed])


def _told(
    problem: Problem,
    comparison: Comparison,
    fitted: _Fitted,
    held_out: HeldOut | None,
    constant: Any,
    data_told: list[str],
) -> Training:
    """Put together what was found, in the model too."""
    asked, judge = problem.asked, comparison.judge
    trained = problem.target.training(fitted.predicted)
    told: dict[str, Any] = {
        "task": problem.task,
        "target": asked.target,
        "data": data_name(problem.data),
        "rows": len(problem),
        "metric": judge.metric.name,
        "positive": judge.positive,
        **{option: getattr(asked, option) for option in ("weight", "group", "time")},
        "constant": constant,
        **trained.values,
        "held_out": None if held_out is None else held_out.figures.to_dict(),
        "leaderboard": _kept_board(comparison),
    }
    model = replace(
        fitted.model,
        encoder=fitted.encoder.set_params(n_jobs=None),
        parameters=_without_threads(fitted.model.parameters),
        evidence={**fitted.model.evidence, "train": told},
    )
    return Training(
        problem=problem,
        comparison=comparison,
        held_out=held_out,
        trained=trained,
        encoder=fitted.encoder,
        model=model,
        notes=(
            *problem.notes,
            *notes_on_numbers(comparison.candidate.name, fitted.encoder, fitted.model),
        ),
        warnings=tuple(dict.fromkeys([*data_told, *fitted.warnings])),
    )


def _without_threads(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a learner was asked for; how many threads there were does not matter."""
    return {name: None if name == "n_jobs" else value for name, value in parameters.items()}


def _kept_board(comparison: Comparison) -> list[dict[str, Any]] | None:
    """Return the leaderboard without times: the same run gives the same file."""
    if comparison.board is None:
        return None
    left = ("seconds", "fit_seconds", "warnings", "how", "scores")
    rows = [each.to_dict() for each in comparison.board]
    return [{name: value for name, value in row.items() if name not in left} for row in rows]
