"""Facts for the report that ``train`` keeps in the model: data, learners tried, regularization."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from separable.cli.io.output import data_name
from separable.cli.render.leaderboard_text import why_taken
from separable.data.table import missing_counts
from separable.model.metrics.metric_registry import METRICS
from separable.report.contents import Absent, Data, Standing, Tried
from separable.report.facts import columns_of, regularization_curve, target_bins, target_counts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    import pyarrow as pa

    from separable.cli.training.learner_comparison import Comparison
    from separable.cli.training.training_data import Problem
    from separable.model.kinds import Model
    from separable.report.contents import RegularizationCurve

__all__ = ["curve_of", "data_of", "raw_values", "tried_of"]

NOT_COMPARED = "There are too few rows to compare learners or regularization by cross-validation."


def data_of(problem: Problem, model: Model) -> Data:
    """Return what was learned from."""
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
    )


def tried_of(comparison: Comparison) -> Tried | Absent:
    """Return the learners that were compared, with the times they took."""
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
    """Return what gives the raw values of a row by its place; some columns under other names."""
    names = {(renamed or {}).get(name, name): name for name in columns}
    return lambda row: {name: table[column][row].as_py() for name, column in names.items()}
