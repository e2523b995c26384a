"""Regression of the logarithm of the target, compared with the target itself in its own units.

Prices, incomes and durations are often products of effects: a linear model fits their logarithm.
The exponential of a prediction of log y is about the median of y, not its mean, so it is multiplied
by mean(y) / mean(exp(prediction)) of out-of-fold predictions, the ratio form of Duan's smearing
(Duan, "Smearing estimate: a nonparametric retransformation method", JASA 1983). Predictions stay in
the range of the training targets. The factor becomes part of the intercept.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.columns import as_columns
from separable.data.table import TableError
from separable.errors import Message, Option, OptionError
from separable.fitting.scorers import MetricScorer
from separable.model.linear_model import LinearModel
from separable.model.metrics.evaluation import figure
from separable.model.metrics.metric_registry import METRICS, Predictions
from separable.model.predict.probability import exponentials
from separable.workflow.columns.sampled_table import encoder_of, narrow, sampled_rows
from separable.workflow.comparison.probability_calibration import calibrated_standing
from separable.workflow.holdout_splits import folds_of
from separable.workflow.learners import new_learner
from separable.workflow.options import file_name
from separable.workflow.progress import step

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.model.kinds import Model
    from separable.typing import Floats
    from separable.workflow.target import Rows
    from separable.workflow.training_problem import Problem

__all__ = ["LogScale", "Logarithms", "with_log_link", "with_target_log"]

#: Fewest training rows, and least skewness of the target, for which the logarithm is tried.
LEAST_ROWS, LEAST_SKEWNESS = 40, 1.0

#: The logarithm has to be better by this many standard errors of the difference.
MIN_ERRORS = 2.0

#: Penalties of the ridge regression that compares the two.
ALPHAS = (1.0, 10.0, 100.0, 1000.0)


@dataclass(frozen=True)
class LogScale:
    """How scores become numbers: exp(score + shift), from low to high."""

    shift: float
    low: float
    high: float

    def numbers(self, scores: Floats) -> Floats:
        """Return the predicted numbers."""
        return exponentials(scores + self.shift, self.low, self.high)


class Logarithms:
    """Rescaling of out-of-fold predictions of log y; see `calibrated_standing`."""

    def learn(self, scores: Floats, y: NDArray[Any], weight: Floats | None) -> LogScale:
        """Return the scale of predictions, by the mean of the targets."""
        values = np.exp(y)
        low, high = float(values.min()), float(values.max())
        predicted = exponentials(scores.reshape(-1), low, high)
        ratio = np.average(values, weights=weight) / np.average(predicted, weights=weight)
        return LogScale(math.log(ratio), low, high)

    def predictions(self, scores: Floats, learned: LogScale) -> Predictions:
        """Return the predictions in units of the target."""
        return Predictions(learned.numbers(scores.reshape(-1)))

    def y_true(self, y: NDArray[Any]) -> NDArray[Any]:
        """Return the targets in their own units."""
        values: Floats = np.exp(y)
        return values


class _Plain:
    """Predictions of the target itself, for the comparison with `Logarithms`."""

    def learn(self, scores: Floats, y: NDArray[Any], weight: Floats | None) -> None:
        """Learn nothing."""

    def predictions(self, scores: Floats, learned: None) -> Predictions:  # noqa: ARG002
        """Return the scores."""
        return Predictions(scores.reshape(-1))

    def y_true(self, y: NDArray[Any]) -> NDArray[Any]:
        """Return the targets."""
        return y


def with_target_log(problem: Problem, chosen: Rows) -> Problem:
    """Return the problem with the logarithm of its target, if requested or if it validates better.

    Parameters
    ----------
    problem : Problem
    chosen : ndarray of int
        The training rows; only these are compared.
    """
    requested = problem.options.target_log
    if requested == "yes":
        _refuse(problem)
        return replace(problem, target_log=True)
    if requested == "no" or problem.task != "regression" or not _may_help(problem, chosen):
        return problem
    with step("Comparing the target and its logarithm"):
        scores = _fold_errors(problem, sampled_rows(problem, chosen))
    if scores is None:
        return problem
    plain, logs = scores
    gains = plain - logs
    error = float(np.std(gains, ddof=1)) / math.sqrt(len(gains)) if len(gains) > 1 else math.inf
    if not gains.mean() > MIN_ERRORS * error:
        return problem
    note = Message(
        f"The logarithm of {problem.options.target!r} is learned: {METRICS['rmse'].text} "
        f"{figure('rmse', float(logs.mean()))} in its own units, "
        f"{figure('rmse', float(plain.mean()))} without ({len(plain)} folds). To decide yourself: ",
        Option("target_log", "no"),
        ".",
    )
    return replace(problem, target_log=True, notes=(*problem.notes, note))


def _refuse(problem: Problem) -> None:
    """Refuse the logarithm of classes, and of numbers that have none."""
    option, name = Option("target_log", "yes"), problem.options.target
    if problem.task != "regression":
        raise OptionError(option, ": the task is classification. Leave it out.")
    values = problem.target.values
    if values.min() <= 0:
        row = int(problem.target.rows[np.argmin(values)])
        raise TableError(
            f"{file_name(problem.data)}: the target {name!r} is {values.min():g} in data row "
            f"{row + 1}, and only numbers above 0 have a logarithm. Leave out ",
            option,
            ".",
        )


def _may_help(problem: Problem, chosen: Rows) -> bool:
    """Return whether the target is positive and skewed, and its logarithm less so."""
    values = problem.target.values[chosen]
    if len(values) < LEAST_ROWS or problem.target.values.min() <= 0:
        return False
    skewness = _skewness(values)
    return skewness > LEAST_SKEWNESS and abs(_skewness(np.log(values))) < skewness


def _skewness(values: Floats) -> float:
    centred = values / np.abs(values).max()
    centred = centred - centred.mean()
    deviation = float(np.sqrt(np.mean(centred**2)))
    return float(np.mean(centred**3)) / deviation**3 if deviation > 0 else 0.0


def _fold_errors(problem: Problem, part: Rows) -> tuple[Floats, Floats] | None:
    """Return the root mean squared errors of each fold, without and with the logarithm."""
    folds = folds_of(problem, part, problem.options.folds, problem.options.seed)
    if folds is None or len(folds) < 2:
        return None
    table = problem.take(part)
    try:
        table = narrow(problem, table, [])
        columns = as_columns(table)
        rows = encoder_of(problem, (), table.column_names).fit(columns).encode(columns)
    except TableError:  # it is raised again, with its place, when the table is encoded
        return None
    values, weight = problem.target.values[part], problem.weight_of(part)
    scorer, learner = MetricScorer(METRICS["rmse"]), _ridge(problem)
    matrix, grid = rows.to_matrix(), {"alpha": ALPHAS}
    both = [
        calibrated_standing("ridge", learner, grid, matrix, y, folds, scorer, weight, rescaling)
        for y, rescaling in ((values, _Plain()), (np.log(values), Logarithms()))
    ]
    plain, logs = (each.standing.scores for each in both)
    return None if plain is None or logs is None else (plain, logs)


def _ridge(problem: Problem) -> Any:
    return new_learner("ridge", problem.options.seed, problem.options.threads)


def with_log_link(
    model: Model, scale: LogScale | None, values: Floats, rows: Any, weight: Floats | None
) -> LinearModel:
    """Return a model of log y as a model of y, with the link "log".

    Parameters
    ----------
    model : LinearModel
    scale : LogScale or None
        Of out-of-fold predictions. None: of the training rows.
    values : ndarray
        Training targets, in their own units.
    rows : Rows
        Training rows, encoded.
    weight : ndarray or None
    """
    assert isinstance(model, LinearModel)
    if scale is None:
        scale = Logarithms().learn(model.decision_function(rows), np.log(values), weight)
    return replace(
        model,
        link="log",
        intercept=model.intercept + scale.shift,
        output_range=(float(values.min()), float(values.max())),
        state=None,  # it is that of another target
    )
