"""Scorers of held-out rows: those of scikit-learn, and the metrics of `separable.model.metrics`."""

from __future__ import annotations

import math
import numbers
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.estimator import (
    Estimator,
    available_if,
    is_classifier,
    is_pipeline,
    is_regressor,
)
from separable.fitting.predictions import ask, spread
from separable.model.metrics.metric_registry import METRICS
from separable.model.parameters import Requirement

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.model.metrics.metric_registry import Metric, Predictions

__all__ = [
    "SCORING",
    "MetricScorer",
    "Predicted",
    "Scorer",
    "metric_scorer",
    "read_scoring",
    "score_rows",
]

SCORING = Requirement(
    "None, the name of a scorer or a callable",
    lambda v: v is None or isinstance(v, str) or callable(v),
)

#: scikit-learn's scorers that square numbers, with the power of the unit of y in their values.
SQUARED_SCORERS = {
    "r2": 0,
    "explained_variance": 0,
    "neg_root_mean_squared_error": 1,
    "neg_mean_squared_error": 2,
}
#: Sums of squares of numbers from 2^-MAX_EXPONENT to 2^MAX_EXPONENT stay in the range of float64.
MAX_EXPONENT = 400


@dataclass(frozen=True)
class Scorer:
    """A scorer under the name it is shown with.

    Parameters
    ----------
    name : str
    call : callable
        ``call(estimator, X, y)``, a number, or a dict of several.
    metric : str or None
        scikit-learn's name; such scorers need only predictions.
    """

    name: str
    call: Callable[..., Any]
    metric: str | None


class Predicted:
    """A stand-in for a fitted estimator whose predictions are known already."""

    def __init__(self, estimator: Any, held_out: Predictions) -> None:
        self._estimator, self._held_out = estimator, held_out

    def __sklearn_tags__(self) -> Any:
        return self._estimator.__sklearn_tags__()

    @property
    def held_out(self) -> Predictions:
        """The known predictions."""
        return self._held_out

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the predictions for the held-out rows."""
        del X
        return self._held_out.predicted

    @available_if(lambda self: self._held_out.scores is not None)
    def decision_function(self, X: Any) -> NDArray[np.float64] | None:
        """Return the scores of the held-out rows."""
        del X
        return self._held_out.scores

    @available_if(lambda self: self._held_out.probabilities is not None)
    def predict_proba(self, X: Any) -> NDArray[np.float64] | None:
        """Return the probabilities of the held-out rows."""
        del X
        return self._held_out.probabilities

    def __getattr__(self, name: str) -> Any:
        held_out = self.__dict__["_held_out"]
        if name == "classes_" and held_out.classes is not None:
            return held_out.classes
        raise AttributeError(
            f"The scorer needs {name!r} of the fitted "
            f"{type(self.__dict__['_estimator']).__name__}, but only the predictions for the "
            "held-out rows are known. Use a scorer that needs only those, or cross_validate."
        )


def read_scoring(scoring: Any, estimator: Any) -> list[Scorer]:
    """Return the scorers that ``scoring`` means.

    Parameters
    ----------
    scoring : None, str, callable, or a list, tuple, set or dict of several
        None: accuracy or R2, or what the estimator's own ``score`` returns.
    estimator : estimator
    """
    if isinstance(scoring, Mapping):
        named = dict(scoring)
    elif isinstance(scoring, list | tuple | set):
        named = {_name_of(each): each for each in scoring}
        if len(named) < len(scoring):
            raise ValueError("scoring names the same scorer twice. Give a dict with other names.")
    else:
        named = {_name_of(scoring, estimator): scoring}
    if not named:
        raise ValueError("scoring is empty. Give at least one scorer, or None for the default.")
    return [_scorer(str(name), each, estimator) for name, each in named.items()]


def _name_of(scoring: Any, estimator: Any = None) -> str:
    if isinstance(scoring, str):
        return scoring
    if scoring is None:
        return _default(estimator) or "score"
    score_func = getattr(scoring, "_score_func", scoring)  # what make_scorer was given
    return str(getattr(score_func, "__name__", "score"))


def _default(estimator: Any) -> str | None:
    """Return the scorer that equals the estimator's own score, if it is the usual one."""
    while is_pipeline(estimator):
        estimator = estimator.steps[-1][1]
    score = getattr(type(estimator), "score", None)
    mixins: Any = sys.modules.get("sklearn.base")
    usual = [Estimator.score]
    if mixins is not None:
        usual += [mixins.ClassifierMixin.score, mixins.RegressorMixin.score]
    if score not in usual:
        return None
    return "accuracy" if is_classifier(estimator) else "r2" if is_regressor(estimator) else None


def _scorer(name: str, scoring: Any, estimator: Any) -> Scorer:
    if scoring is None:
        scoring = _default(estimator)
    metric = scoring if isinstance(scoring, str) else None
    if getattr(scoring, "needs_predictions_only", False):
        return Scorer(name, scoring, name)
    if metric is not None:
        _check_name(metric)
    return Scorer(name, check_scoring(estimator, scoring), metric)


def check_scoring(estimator: Any, scoring: Any) -> Callable[..., Any]:
    """Return scikit-learn's scorer of a name or callable."""
    scorer: Callable[..., Any] = import_module("sklearn.metrics").check_scoring(
        estimator, scoring=scoring
    )
    return scorer


def _check_name(name: str) -> None:
    known = import_module("sklearn.metrics").get_scorer_names()
    if name not in known:
        near = get_close_matches(name, known, 1)
        meant = f" Did you mean {near[0]!r}?" if near else ""
        raise ValueError(
            f"scoring={name!r} is not the name of a scorer.{meant} sklearn.metrics."
            "get_scorer_names() has all of them; a callable (estimator, X, y) will do, too."
        )


def score_rows(
    scorers: list[Scorer],
    fitted: Any,
    held_out: Predictions,
    X: Any,
    y: Any,
    weight: NDArray[np.float64] | None,
) -> dict[str, float]:
    """Return the scores of held-out rows by name.

    Parameters
    ----------
    scorers : list of Scorer
    fitted : estimator
        For scorers that are not scikit-learn's own.
    held_out : Predictions
        Its predictions for the held-out rows.
    X, y
        The held-out rows.
    weight : ndarray or None
        Passed to the scorers as ``sample_weight``.
    """
    more: dict[str, Any] = {} if weight is None else {"sample_weight": weight}
    scores: dict[str, float] = {}
    for scorer in scorers:
        try:
            if scorer.metric is None:
                value = scorer.call(fitted, X, y, **more)
            else:
                value = _score_predictions(scorer, fitted, held_out, X, y, more)
        except AttributeError as error:
            owner = fitted._estimator if isinstance(fitted, Predicted) else fitted
            reason = str(error).replace("Predicted has", f"{type(owner).__name__} has")
            raise AttributeError(f"The scorer {scorer.name!r} does not fit: {reason}") from None
        several = value if isinstance(value, Mapping) else {scorer.name: value}
        for name, each in several.items():
            if not isinstance(each, numbers.Real | np.number | np.bool_):
                raise ValueError(
                    f"The scorer {scorer.name!r} returned {type(each).__name__}, not a number."
                )
            scores[str(name)] = float(each)
    return scores


def _score_predictions(
    scorer: Scorer, fitted: Any, held_out: Predictions, X: Any, y: Any, more: dict[str, Any]
) -> Any:
    """Return a score of predictions; y is rescaled if its squares would under- or overflow."""
    power = SQUARED_SCORERS.get(str(scorer.metric))
    exponent = 0 if power is None else _exponent_of(y, held_out.predicted)
    if exponent == 0 or power is None:
        return scorer.call(Predicted(fitted, held_out), X, y, **more)
    held_out = replace(held_out, predicted=np.ldexp(held_out.predicted, -exponent))
    scaled = np.ldexp(np.asarray(y, np.float64), -exponent)
    value = float(scorer.call(Predicted(fitted, held_out), X, scaled, **more))
    with np.errstate(over="ignore", under="ignore"):
        score = float(np.ldexp(value, power * exponent))
    if (score == 0) != (value == 0) or math.isinf(score) != math.isinf(value):
        raise ValueError(
            f"The score {scorer.name!r} of numbers around {2.0**exponent:.0e} is beyond the range "
            "of float64. Divide y by its size, or use scoring='r2'."
        )
    return score


def _exponent_of(y: Any, predictions: Any) -> int:
    """Return the exponent of the largest number, 0 where squares of such numbers are ordinary."""
    sizes = [np.abs(each).max(initial=0.0) for each in (np.asarray(y), np.asarray(predictions))]
    largest = max(float(each) for each in sizes)
    exponent = math.frexp(largest)[1] if 0 < largest < math.inf else 0
    return max(exponent, -1000) if abs(exponent) > MAX_EXPONENT else 0


#: Finite replacement of an infinite score.
LARGEST_SCORE = 1e300


@dataclass(frozen=True, eq=False)
class MetricScorer:
    """A scorer that needs only the predictions for held-out rows; larger is better.

    Parameters
    ----------
    metric : Metric
    classes : ndarray or None
        All classes, also those missing from the training rows of a fold.
    positive : object
        Positive class for precision, recall, f1, roc_auc and average_precision.
    """

    metric: Metric
    classes: NDArray[Any] | None = None
    positive: Any = None

    #: Whether predictions are enough, without the fitted estimator.
    needs_predictions_only = True

    @property
    def __name__(self) -> str:
        return self.metric.name

    @property
    def sign(self) -> float:
        """-1 where less is better."""
        return 1.0 if self.metric.greater_is_better else -1.0

    def check(self, estimator: Any) -> None:
        """Raise before anything is fitted if the estimator lacks the method the metric needs."""
        if self.metric.needs == "probabilities" and not hasattr(estimator, "predict_proba"):
            raise ValueError(
                f"{type(estimator).__name__} gives no probabilities, which {self.metric.name} "
                "needs."
            )

    def __call__(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the score of an estimator, or of its known predictions, on held-out rows."""
        held_out: Predictions = getattr(estimator, "held_out", None) or ask(estimator, X)
        held_out = spread(held_out, self.classes)
        scores = held_out.scores
        if scores is not None and self.classes is not None:  # -inf: a class that was not learned
            scores = np.nan_to_num(scores, nan=np.nan, neginf=-LARGEST_SCORE, posinf=LARGEST_SCORE)
        held_out = replace(held_out, scores=scores)
        value = self.metric(np.asarray(y), held_out, weight=sample_weight, positive=self.positive)
        return self.sign * float(value)


def metric_scorer(scoring: Any, y: Any) -> Any:
    """Return the scorer of a metric given by name; return anything else unchanged.

    Parameters
    ----------
    scoring : object
    y : array-like
        The whole target, which has all classes.
    """
    metric = METRICS.get(scoring) if isinstance(scoring, str) else None
    if metric is None:
        return scoring
    classes = np.unique(np.asarray(y)) if metric.task == "classification" else None
    return MetricScorer(metric, classes)
