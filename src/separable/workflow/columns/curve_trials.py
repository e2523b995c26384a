"""Numbers as lines or as curves: both encodings are compared by cross-validation.

One learner with its search is validated on the same folds of at most `MOST_ROWS` training rows. The
numbers stay lines unless curves are better by more than a standard error of the difference.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from separable.data.columns import as_columns
from separable.data.table import TableError
from separable.errors import Message, Option
from separable.features.table.curve_column import CurveColumn
from separable.fitting.fit_progress import counting_fits
from separable.fitting.penalty_basis import basis_of
from separable.model.metrics.evaluation import figure
from separable.model.metrics.metric_registry import METRICS
from separable.workflow.columns.sampled_table import encoder_of, narrow
from separable.workflow.holdout_splits import folds_of, part_of
from separable.workflow.learners import LEARNERS, new_learner
from separable.workflow.progress import detail, step
from separable.workflow.training_problem import adds_counts

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from separable.typing import Floats
    from separable.workflow.holdout_splits import Folds
    from separable.workflow.target import Rows
    from separable.workflow.training_problem import Problem

__all__ = ["with_curves"]

#: Most rows of the comparison, and most of its numbers: rows, columns and classes.
MOST_ROWS, MOST_NUMBERS = 5000, 3e6
#: Fewest rows on which curves are compared.
LEAST_ROWS = 60

#: The learner that is validated with its search, and its metric, by task.
LEARNERS_OF = {
    "classification": ("logistic-regression", "log_loss"),
    "regression": ("ridge", "rmse"),
}


def with_curves(problem: Problem, chosen: Rows) -> Problem:
    """Return the problem with numbers as curves where that validates better.

    Parameters
    ----------
    problem : Problem
        ``options.curves`` is "auto", "yes" or "no".
    chosen : ndarray of int
        The training rows; only these are used.
    """
    asked, options = problem.options.curves, problem.options
    if asked == "no" or (asked == "auto" and _only_counts(problem)):
        return problem
    if asked == "yes":
        return replace(problem, curves=True)
    part = chosen[part_of(problem, chosen, _rows_to_compare(problem), options.seed)]
    folds = folds_of(problem, part, options.folds, options.seed)
    table = problem.take(part)
    columns = curved_columns(problem, table) if folds and len(part) >= LEAST_ROWS else []
    if not columns:
        return problem
    n_fits = 2 * len(folds or ()) * len(_grid(problem, part)[1])
    with (
        step("Comparing lines and curves") as progress,
        counting_fits(lambda fits: progress(fits / n_fits, f"{fits} of {n_fits} fits")),
    ):
        table = narrow(problem, table, columns)
        lines, curves = (_scores(problem, table, part, folds, curved) for curved in (False, True))
    if lines is None or curves is None:
        return problem
    message = _note(problem, lines, curves, len(part))
    if _are_better(lines, curves):
        return replace(problem, curves=True, notes=(*problem.notes, message))
    detail(message.spelled("command"))
    return problem


def _are_better(lines: Floats, curves: Floats) -> bool:
    gains = lines - curves
    error = float(np.std(gains, ddof=1) / np.sqrt(len(gains))) if len(gains) > 1 else np.inf
    return bool(gains.mean() > error)


def _only_counts(problem: Problem) -> bool:
    """Return whether all requested learners count values or binarize them, so have no curves."""
    learners = [new_learner(model) for model in problem.options.models]
    return bool(learners) and all(adds_counts(one) or hasattr(one, "binarize") for one in learners)


def _rows_to_compare(problem: Problem) -> int:
    classes = len(np.unique(problem.target.values)) if problem.task == "classification" else 1
    scores = classes if classes > 2 else 1
    return int(max(min(MOST_ROWS, MOST_NUMBERS / (scores * problem.features.num_columns)), 500))


def curved_columns(problem: Problem, table: pa.Table) -> list[str]:
    """Return the columns that become curves."""
    encoder = encoder_of(problem, ()).set_params(curves=True)
    try:
        encoder.fit(as_columns(table))
    except TableError:
        return []
    return [each.name for each in encoder.column_encoders if isinstance(each, CurveColumn)]


def _scores(
    problem: Problem, table: pa.Table, part: Rows, folds: Folds | None, curves: bool
) -> Floats | None:
    """Return the score of each fold; None if the rows cannot be encoded."""
    from separable.fitting.scorers import MetricScorer
    from separable.select.comparison import standings_of

    columns, y = as_columns(table), problem.fit_values(part)
    encoder = encoder_of(problem, (), table.column_names).set_params(curves=curves)
    try:
        rows = encoder.fit(columns).encode(columns)
    except TableError:
        return None
    if problem.task == "classification":
        y = np.unique(y, return_inverse=True)[1]
    name, metric = LEARNERS_OF[problem.task]
    learner = new_learner(name, problem.options.seed, problem.options.threads)
    parameter, values = _grid(problem, part)
    basis = basis_of(encoder, learner)
    classes = np.unique(y) if problem.task == "classification" else None
    weight = problem.weight_of(part)
    (standing,) = standings_of(
        {name: (learner, {parameter: values})},
        (rows if basis is None else basis.rows(rows)).to_matrix(),
        y,
        cv=folds,
        scorer=MetricScorer(METRICS[metric], classes, None),
        sample_weight=weight,
        score_weight=weight,
    )
    return standing.scores


def _grid(problem: Problem, part: Rows) -> tuple[str, Sequence[float]]:
    """Return the regularization parameter and its values."""
    parameter = LEARNERS[LEARNERS_OF[problem.task][0]].regularization
    assert parameter is not None
    return parameter.name, parameter.grid(len(part))


def _note(problem: Problem, lines: Floats, curves: Floats, rows: int) -> Message:
    metric = LEARNERS_OF[problem.task][1]
    as_line, as_curve = (figure(metric, float(each.mean())) for each in (lines, curves))
    chosen, other = ("curves", "no") if _are_better(lines, curves) else ("lines", "yes")
    return Message(
        f"Numbers are {chosen}: {METRICS[metric].text} {as_line} with lines, {as_curve} with "
        f"curves ({len(lines)} folds of {rows} rows). To decide yourself: ",
        Option("curves", other),
        ".",
    )
