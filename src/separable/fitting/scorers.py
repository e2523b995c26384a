"""Scores of held-out rows, by scikit-learn's scorers."""

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

import separable.estimator as estimators
from separable.estimator import available_if, is_pipeline
from separable.model.parameters import Requirement

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.model.metrics.metric_registry import Predictions

__all__ = ["SCORING", "Predicted", "Scorer", "read_scoring", "score_rows"]

SCORING = Requirement(
    "None, the name of a scorer or a callable",
    lambda v: v is None or isinstance(v, str) or callable(v),
)

#: scikit-learn's scorers that square numbers, and by which power they grow with the unit of y.
SQUARING = {
    "r2": 0,
    "explained_variance": 0,
    "neg_root_mean_squared_error": 1,
    "neg_mean_squared_error": 2,
}
#: Sums of squares of numbers from 2^-EXPONENT to 2^EXPONENT stay in the range of float64.
EXPONENT = 400


@dataclass(frozen=True)
class Scorer:
    """A scorer under the name it is shown with.

    Parameters
    ----------
    name : str
    call : callable
        ``call(estimator, X, y)``, a number, or a dict of several.
    metric : str or None
        scikit-learn's name of it; those scorers ask only for predictions.
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
            f"The scorer asks for {name!r} of the fitted "
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
    for mixins in (estimators, sys.modules.get("sklearn.base", estimators)):
        if score is mixins.ClassifierMixin.score:
            return "accuracy"
        if score is mixins.RegressorMixin.score:
            return "r2"
    return None


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
    power = SQUARING.get(str(scorer.metric))
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
    return max(exponent, -1000) if abs(exponent) > EXPONENT else 0
