"""Held-out predictions of fitted estimators, fold by fold and joined."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.model.predict.probability import classes_of, probabilities

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from separable.fitting.base import LinearEstimator
    from separable.typing import Floats


__all__ = ["Answers", "answers_of", "ask", "join", "spread"]


@dataclass(frozen=True, eq=False)
class Answers:
    """Predictions for some rows.

    Parameters
    ----------
    predictions : ndarray, shape (m,) or, for t targets, (m, t)
    decision : ndarray, shape (m,) or (m, k), or None
        What ``decision_function`` returns, where there is one.
    probabilities : ndarray, shape (m, K), or None
        What ``predict_proba`` returns, where there is one.
    classes : ndarray, shape (K,), or None
        The classes of the columns.
    """

    predictions: NDArray[Any]
    decision: Floats | None = None
    probabilities: Floats | None = None
    classes: NDArray[Any] | None = None


def ask(fitted: Any, X: Any) -> Answers:
    """Return everything a fitted estimator says of rows."""
    classes = getattr(fitted, "classes_", None)
    if classes is not None:
        classes = np.asarray(classes) if len({np.ndim(c) for c in classes}) == 1 else None
        classes = classes if classes is not None and classes.ndim == 1 else None
    return Answers(
        np.asarray(fitted.predict(X)),
        _array_of(fitted, "decision_function", X, (1, 2)),
        _array_of(fitted, "predict_proba", X, (2,)) if classes is not None else None,
        classes,
    )


def _array_of(fitted: Any, method: str, X: Any, dimensions: tuple[int, ...]) -> Floats | None:
    if not hasattr(fitted, method):
        return None
    answer = getattr(fitted, method)(X)
    return answer if isinstance(answer, np.ndarray) and answer.ndim in dimensions else None


def answers_of(learner: LinearEstimator, scores: Floats, classes: NDArray[Any] | None) -> Answers:
    """Return the answers that scores of a learner mean, as its own methods would.

    Parameters
    ----------
    learner : LinearEstimator
    scores : ndarray, shape (m, k)
    classes : ndarray or None
        None in regression.
    """
    one = scores[:, 0] if scores.shape[1] == 1 else scores
    if classes is None:
        return Answers(one)
    link, shares = learner._link(), None
    if hasattr(type(learner), "predict_proba") and link in ("logistic", "softmax"):
        shares = probabilities(scores, len(classes), link)
    return Answers(classes_of(scores, classes), one, shares, classes)


def join(parts: Sequence[Answers]) -> Answers:
    """Return the answers of all folds as one, with a column for every class that any fold knows.

    A class that a fold has not learned has probability 0 there and the decision score -inf. Of two
    classes among more, the scores are 0 and the score itself; of one among two, infinite.
    """
    known = [part.classes for part in parts if part.classes is not None]
    every = reduce(np.union1d, known) if len(known) == len(parts) else None
    parts = [spread(part, every) for part in parts]
    return Answers(
        np.concatenate([part.predictions for part in parts]),
        _stack([part.decision for part in parts]),
        _stack([part.probabilities for part in parts]),
        every,
    )


def spread(part: Answers, every: NDArray[Any] | None) -> Answers:
    """Return answers with a column for each of some classes that include those it knows."""
    scores, shares = _spread_scores(part, every), _spread_shares(part, every)
    return Answers(part.predictions, scores, shares, every)


def _stack(parts: list[Floats | None]) -> Floats | None:
    there = [part for part in parts if part is not None]
    if len(there) < len(parts) or len({part.shape[1:] for part in there}) > 1:
        return None
    return np.concatenate(there)


def _spread_shares(part: Answers, every: NDArray[Any] | None) -> Floats | None:
    shares = part.probabilities
    if shares is None or part.classes is None or every is None or len(part.classes) == len(every):
        return shares
    spread = np.zeros((len(shares), len(every)))
    spread[:, np.searchsorted(every, part.classes)] = shares
    return spread


def _spread_scores(part: Answers, every: NDArray[Any] | None) -> Floats | None:
    scores = part.decision
    if scores is None or part.classes is None or every is None or len(part.classes) == len(every):
        return scores
    place = np.searchsorted(every, part.classes)
    if len(every) == 2:
        return np.full(len(scores), np.inf if place[0] == 1 else -np.inf)
    if scores.ndim == 1 and len(place) == 2:
        scores = np.stack([np.zeros(len(scores)), scores], axis=1)
    if scores.shape != (len(scores), len(place)):
        return None
    spread = np.full((len(scores), len(every)), -np.inf)
    spread[:, place] = scores
    return spread
