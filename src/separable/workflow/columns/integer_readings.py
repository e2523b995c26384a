"""Integers as numbers or as categories: both readings are compared by cross-validation.

Each suspected column is read as a category while all others stay as they are. One learner without
a search is validated on the same folds of a sample of the training rows, so the work is bounded
and the same on every machine.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.checks.column_checks import CODE_WORDS, words_of
from separable.data.columns import Numbers, as_columns
from separable.data.table import TableError
from separable.errors import Message, Option
from separable.model.metrics.evaluation import figure
from separable.model.metrics.metric_registry import METRICS
from separable.workflow.columns.sampled_table import encoder_of, narrow, sampled_rows
from separable.workflow.holdout_splits import folds_of
from separable.workflow.learners import new_learner
from separable.workflow.progress import step
from separable.workflow.training_problem import read_problem

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from separable.typing import Floats
    from separable.workflow.options import ProblemOptions
    from separable.workflow.target import Rows
    from separable.workflow.training_problem import Problem

__all__ = ["with_integer_readings"]

#: Words in a name that suggest classes of things, besides those of `CODE_WORDS`.
CLASS_WORDS = {
    *CODE_WORDS, "type", "class", "category", "kind", "group", "cluster", "region", "zone", "area",
    "district", "county", "country", "state", "store", "shop", "branch", "department", "dept",
    "sector", "industry", "channel", "segment", "status", "job", "occupation", "brand", "plan",
}  # fmt: skip

#: Most distinct values of a suspected column: with such a name, and with any name (days, hours).
MOST_CODES, MOST_VALUES = 200, 31

#: Larger floats may not hold all digits of a code.
LARGEST = 2**53

#: Fewest rows for each distinct value, on average.
ROWS_PER_VALUE = 5

#: Most columns compared.
MOST_COLUMNS = 6

#: The learner that is validated, its parameters and its metric, by task.
LEARNERS_OF: dict[str, tuple[str, dict[str, float], str]] = {
    "classification": ("logistic-regression", {"C": 1.0}, "log_loss"),
    "regression": ("ridge", {"alpha": 1.0}, "rmse"),
}

#: A category has to be better by this many standard errors of the difference.
MIN_ERRORS = 2.0


@dataclass(frozen=True)
class _Reading:
    """Scores of both readings of a column, one for each fold; smaller is better."""

    column: str
    number: Floats
    category: Floats
    metric: str

    @property
    def is_category(self) -> bool:
        gains = self.number - self.category
        error = float(np.std(gains, ddof=1)) / np.sqrt(len(gains)) if len(gains) > 1 else np.inf
        return bool(gains.mean() > MIN_ERRORS * error)

    def note(self) -> Message:
        name, text = self.column, METRICS[self.metric].text
        as_number, as_category = (
            figure(self.metric, float(scores.mean())) for scores in (self.number, self.category)
        )
        chosen, other = ("category", "number") if self.is_category else ("number", "category")
        return Message(
            f"The integers of {name!r} are read as a {chosen}: {text} {as_number} as a number, "
            f"{as_category} as a category ({len(self.number)} folds). To decide yourself: ",
            Option(other, name),
            ".",
        )


def with_integer_readings(problem: Problem, chosen: Rows, options: ProblemOptions) -> Problem:
    """Return the problem with integer columns as categories where that validates better.

    A file is read again then, since levels are spelled as in the file (``01``, ``1.0``). Standard
    input cannot be read again, so its integers stay numbers.

    Parameters
    ----------
    problem : Problem
    chosen : ndarray of int
        The training rows; only these are used.
    options : ProblemOptions
        Those that the problem was read with.
    """
    if isinstance(problem.data, str) and problem.data == "-":
        return problem
    part = sampled_rows(problem, chosen)
    table = problem.take(part)
    columns = _suspects(problem, table)
    folds = folds_of(problem, part, options.folds, options.seed) if columns else None
    if folds is None:
        return problem
    readings = _readings(problem, part, table, columns, folds)
    categories = [each.column for each in readings if each.is_category]
    notes = [each.note() for each in readings if each.is_category or _is_code(each.column)]
    if categories:
        again = read_problem(problem.data, options.with_columns("category", categories))
        problem = replace(again, target_log=problem.target_log)
    return replace(problem, notes=(*problem.notes, *notes))


def _is_code(name: str) -> bool:
    return bool(words_of(name) & CODE_WORDS)


def _suspects(problem: Problem, table: pa.Table) -> list[str]:
    """Return integer columns with few values, those with the name of a code first."""
    named = {name for names in problem.options.columns.values() for name in names}
    suspects = []
    for field in table.schema:
        if field.name in named or field.name in problem.conversions:
            continue
        if _is_whole(table, field):
            count = _distinct(table, field.name)
            has_name = bool(words_of(field.name) & CLASS_WORDS)
            most = min(MOST_CODES if has_name else MOST_VALUES, table.num_rows / ROWS_PER_VALUE)
            if 2 < count <= most:
                suspects.append((not has_name, count, field.name))
    return [name for _, _, name in sorted(suspects)[:MOST_COLUMNS]]


def _is_whole(table: pa.Table, field: pa.Field[Any]) -> bool:
    """Return whether the values of a column are integers; missing values may be among them."""
    import pyarrow as pa

    if pa.types.is_integer(field.type):
        return True
    if not pa.types.is_floating(field.type):
        return False
    column = as_columns(table.select([field.name]))[field.name]
    assert isinstance(column, Numbers)
    values = column.values[~np.isnan(column.values)]
    return bool(np.all(values == np.floor(values)) and np.all(np.abs(values) < LARGEST))


def _distinct(table: pa.Table, name: str) -> int:
    from pyarrow import compute

    counted: Any = compute.count_distinct(table.column(name))
    return int(counted.as_py())


def _readings(
    problem: Problem, part: Rows, table: pa.Table, columns: list[str], folds: Any
) -> list[_Reading]:
    values, weight = _target_values(problem, part), problem.weight_of(part)
    metric = LEARNERS_OF[problem.task][2]
    with step("Comparing readings of integers"):
        table = narrow(problem, table, columns)
        plain = _scores(problem, table, (), values, weight, folds)
        if plain is None:
            return []
        scores = {name: _scores(problem, table, (name,), values, weight, folds) for name in columns}
    return [_Reading(name, plain, one, metric) for name, one in scores.items() if one is not None]


def _target_values(problem: Problem, part: Rows) -> NDArray[Any]:
    values: NDArray[Any] = problem.target.values[part]
    if problem.task == "classification":
        return np.unique(values, return_inverse=True)[1]
    return problem.fit_values(part)


def _scores(
    problem: Problem,
    table: pa.Table,
    category: tuple[str, ...],
    y: NDArray[Any],
    weight: Floats | None,
    folds: Any,
) -> Floats | None:
    """Return the score of each fold; None if the rows cannot be encoded."""
    from separable.fitting.scorers import MetricScorer
    from separable.select.comparison import standings_of

    name, params, metric = LEARNERS_OF[problem.task]
    columns = as_columns(table)
    try:
        encoder = encoder_of(problem, category, table.column_names).fit(columns)
        rows = encoder.encode(columns)
    except TableError:
        return None
    classes = np.unique(y) if problem.task == "classification" else None
    learner = new_learner(name, problem.options.seed, problem.options.threads, **params)
    (standing,) = standings_of(
        {name: learner},
        rows.to_matrix(),
        y,
        cv=folds,
        scorer=MetricScorer(METRICS[metric], classes, None),
        sample_weight=weight,
        score_weight=weight,
    )
    return standing.scores
