"""Held-out predictions of fitted estimators, fold by fold and joined."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.model.metrics.metric_registry import Predictions
from separable.model.predict.probability import classes_of, probabilities

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from separable.fitting.base import LinearEstimator
    from separable.typing import Floats


__all__ = ["ask", "join", "predictions_from_scores", "spread"]


def ask(fitted: Any, X: Any) -> Predictions:
    """Return the predictions, decision scores and probabilities of a fitted estimator."""
    classes = getattr(fitted, "classes_", None)
    if classes is not None:
        classes = np.asarray(classes) if len({np.ndim(c) for c in classes}) == 1 else None
        classes = classes if classes is not None and classes.ndim == 1 else None
    return Predictions(
        np.asarray(fitted.predict(X)),
        _array_of(fitted, "decision_function", X, (1, 2)),
        _array_of(fitted, "predict_proba", X, (2,)) if classes is not None else None,
        classes,
    )


def _array_of(fitted: Any, method: str, X: Any, dimensions: tuple[int, ...]) -> Floats | None:
    if not hasattr(fitted, method):
        return None
    values = getattr(fitted, method)(X)
    return values if isinstance(values, np.ndarray) and values.ndim in dimensions else None


def predictions_from_scores(
    learner: LinearEstimator, scores: Floats, classes: NDArray[Any] | None
) -> Predictions:
    """Return the predictions that follow from the scores of a learner, as its methods return them.

    Parameters
    ----------
    learner : LinearEstimator
    scores : ndarray, shape (m, k)
    classes : ndarray or None
        None in regression.
    """
    one = scores[:, 0] if scores.shape[1] == 1 else scores
    if classes is None:
        return Predictions(one)
    link, proba = learner._link(), None
    if hasattr(type(learner), "predict_proba") and link in ("logistic", "softmax"):
        proba = probabilities(scores, len(classes), link)
    return Predictions(classes_of(scores, classes), one, proba, classes)


def join(parts: Sequence[Predictions]) -> Predictions:
    """Join the predictions of all folds, with one column for each class of any fold.

    A class missing from a fold gets probability 0 and decision score -inf there. A fold with two of
    more classes gets the scores 0 and its own score; a fold with one of two classes, infinite ones.
    """
    known = [part.classes for part in parts if part.classes is not None]
    every = reduce(np.union1d, known) if len(known) == len(parts) else None
    parts = [spread(part, every) for part in parts]
    return Predictions(
        np.concatenate([part.predicted for part in parts]),
        _stack([part.scores for part in parts]),
        _stack([part.probabilities for part in parts]),
        every,
    )


def spread(part: Predictions, every: NDArray[Any] | None) -> Predictions:
    """Return the predictions with one column for each class in ``every``."""
    scores, proba = _spread_scores(part, every), _spread_probabilities(part, every)
    return Predictions(part.predicted, scores, proba, every)


def _stack(parts: list[Floats | None]) -> Floats | None:
    known_parts = [part for part in parts if part is not None]
    if len(known_parts) < len(parts) or len({part.shape[1:] for part in known_parts}) > 1:
        return None
    return np.concatenate(known_parts)


def _spread_probabilities(part: Predictions, every: NDArray[Any] | None) -> Floats | None:
    proba = part.probabilities
    if proba is None or part.classes is None or every is None or len(part.classes) == len(every):
        return proba
    spread = np.zeros((len(proba), len(every)))
    spread[:, np.searchsorted(every, part.classes)] = proba
    return spread


def _spread_scores(part: Predictions, every: NDArray[Any] | None) -> Floats | None:
    scores = part.scores
    if scores is None or part.classes is None or every is None or len(part.classes) == len(every):
        return scores
    columns = np.searchsorted(every, part.classes)
    if len(every) == 2:
        return np.full(len(scores), np.inf if columns[0] == 1 else -np.inf)
    if scores.ndim == 1 and len(columns) == 2:
        scores = np.stack([np.zeros(len(scores)), scores], axis=1)
    if scores.shape != (len(scores), len(columns)):
        return None
    spread = np.full((len(scores), len(every)), -np.inf)
    spread[:, columns] = scores
    return spread
