"""The units of a learning curve: 1 - error rate, MSE0 - MSE, or any score."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.estimator import is_classifier, is_regressor
from separable.fitting.metric_scorer import MetricScorer, metric_scorer
from separable.fitting.scorers import Scorer, read_scoring
from separable.fitting.targets import check_labels, check_targets
from separable.select.error_rates import error_rate

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.fitting.fold_fits import Problem
    from separable.typing import Floats


__all__ = ["Units", "units_of"]


@dataclass(frozen=True)
class Units:
    """What is measured; this one is a score as a scorer returns it.

    Parameters
    ----------
    name : str
    scorer : Scorer
        Of which more is better.
    greater_is_better : bool, default True
        False: the curve shows the score with the other sign.
    best : float, default inf
        What no model exceeds, as the curve shows it.
    """

    name: str
    scorer: Scorer
    greater_is_better: bool = True
    best: float = math.inf

    def constant_error(self, y_train: Any, y_test: Any, weight: Floats | None) -> float:
        """Return the error on held-out rows of the best constant answer; NaN: there is none."""
        del y_train, y_test, weight
        return math.nan

    def shown(self, scores: Floats, constant: float) -> Floats:
        """Return scores of a repetition in these units."""
        del constant
        return scores if self.greater_is_better else -scores

    def baseline(self, constants: list[float]) -> float | None:
        """Return what the best constant answer reaches in these units."""
        del constants
        return None

    def constant_errors(self, constants: list[float]) -> Floats | None:
        """Return the error of the best constant answer, by repetition."""
        return None if math.isnan(constants[0]) else np.array(constants)

    def ceiling(self, constants: Floats) -> float:
        """Return what no model exceeds in these units."""
        del constants
        return self.best


class _Accuracy(Units):
    """1 - error rate."""

    def constant_error(self, y_train: Any, y_test: Any, weight: Floats | None) -> float:
        classes, counts = np.unique(np.asarray(y_train), return_counts=True)
        most = np.repeat(classes[counts.argmax()], len(y_test))
        return error_rate(y_test, most, sample_weight=weight)

    def baseline(self, constants: list[float]) -> float:
        return 1.0 - float(np.mean(constants))


class _LessThanConstant(Units):
    """MSE0 - MSE."""

    def constant_error(self, y_train: Any, y_test: Any, weight: Floats | None) -> float:
        mean = np.mean(np.asarray(y_train, dtype=np.float64), axis=0)
        return _squared_error(y_test, np.broadcast_to(mean, np.shape(y_test)), weight)

    def shown(self, scores: Floats, constant: float) -> Floats:
        return constant + scores

    def baseline(self, constants: list[float]) -> float:
        del constants
        return 0.0

    def ceiling(self, constants: Floats) -> float:
        return float(constants.mean())


def units_of(scoring: Any, problem: Problem) -> tuple[Units, NDArray[Any] | None]:
    """Return the units that ``scoring`` means, and of classifiers the labels, checked."""
    estimator, n = problem.estimator, problem.n_rows
    name, labels = type(estimator).__name__, None
    if is_classifier(estimator):
        labels = check_labels(problem.y, n, name)
    elif is_regressor(estimator):
        check_targets(problem.y, n, name)
    if scoring is None and labels is not None:
        right = Scorer("1 - error rate", _accuracy, "error_rate")
        return _Accuracy(right.name, right, best=1.0), labels
    if scoring is None and is_regressor(estimator):
        less = Scorer("MSE0 - MSE", _less_error, "mean_squared_error")
        return _LessThanConstant(less.name, less), labels
    if isinstance(scoring, dict | list | tuple | set):
        raise ValueError(f"A learning curve is of one score. Got {scoring!r}.")
    given = metric_scorer(scoring, problem.y)
    (scorer,) = read_scoring(given, estimator)
    if not isinstance(given, MetricScorer):
        best = 0.0 if isinstance(scoring, str) and scoring.startswith("neg_") else math.inf
        return Units(scorer.name, scorer, best=best), labels
    given.check(estimator)
    better = given.metric.greater_is_better
    return Units(scorer.name, scorer, better, 1.0 if better else 0.0), labels


def _accuracy(who: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
    return 1.0 - error_rate(y, who.predict(X), sample_weight=sample_weight)


def _less_error(who: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
    return -_squared_error(y, who.predict(X), sample_weight)


def _squared_error(y: Any, predicted: Any, weight: Floats | None) -> float:
    y_true = np.asarray(y, dtype=np.float64)
    apart = (y_true - np.asarray(predicted).reshape(y_true.shape)) ** 2
    return float(np.average(apart.reshape(len(apart), -1).mean(axis=1), weights=weight))
