"""Probabilities for learners that give scores only: Platt scaling of out-of-fold scores.

Cross-validation scores every row by a model that was not trained on it. The sigmoid that is fitted
to the scores of the other folds gives the probabilities of a fold, so that learners with and
without probabilities compete by the same proper score; the sigmoid of all out-of-fold scores goes
into the model. Other rescalings of scores, such as exponentials, go the same way.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from separable.model.metrics.metric_registry import Predictions
from separable.model.predict.probability import calibrated, probabilities

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from separable.fitting.scorers import MetricScorer
    from separable.select.leaderboard import Standing
    from separable.typing import Floats
    from separable.workflow.holdout_splits import Folds

__all__ = [
    "Calibrated",
    "Rescaling",
    "Sigmoids",
    "calibrated_standing",
    "finite_scores",
    "out_of_fold",
    "sigmoids_of",
]


#: Relative precision of the log loss of a calibration.
TOL = 1e-9


class Rescaling(Protocol):
    """How out-of-fold scores become predictions."""

    def learn(self, scores: Floats, y: NDArray[Any], weight: Floats | None) -> Any:
        """Return what the scores of rows with known targets tell."""

    def predictions(self, scores: Floats, learned: Any) -> Predictions:
        """Return the predictions of other rows."""

    def y_true(self, y: NDArray[Any]) -> NDArray[Any]:
        """Return the targets as the metric takes them."""


@dataclass(frozen=True)
class Sigmoids:
    """Platt scaling of scores of classes, coded as 0, 1, ..."""

    classes: NDArray[Any]

    def learn(self, scores: Floats, y: NDArray[Any], weight: Floats | None) -> Floats:
        """Return slope and offset of each score."""
        return sigmoids_of(scores, y, weight)

    def predictions(self, scores: Floats, learned: Floats) -> Predictions:
        """Return classes and probabilities."""
        odds = calibrated(scores, learned)
        chances = probabilities(odds, len(self.classes), "logistic")
        first = odds[:, 0] if odds.shape[1] == 1 else odds
        return Predictions(self.classes[chances.argmax(axis=1)], first, chances, self.classes)

    def y_true(self, y: NDArray[Any]) -> NDArray[Any]:
        """Return the codes."""
        return y


@dataclass(frozen=True)
class Calibrated:
    """The standing of a learner whose scores are rescaled, and the rescaling.

    Parameters
    ----------
    standing : Standing
        By the predictions from rescaled scores.
    calibration : object
        What the rescaling learned from all out-of-fold scores of the chosen parameters; slope and
        offset of each score for `Sigmoids`. None if the learner failed.
    """

    standing: Standing
    calibration: Any


def calibrated_standing(
    name: str,
    estimator: Any,
    grid: Mapping[str, Sequence[float]],
    X: Any,
    y: NDArray[Any],
    cv: Folds,
    scorer: MetricScorer,
    weight: Floats | None,
    rescaling: Rescaling,
) -> Calibrated:
    """Cross-validate a learner over its grid, with scores rescaled out of fold.

    Parameters
    ----------
    name : str
    estimator : estimator
    grid : mapping of str to sequence of float
        One parameter, or empty.
    X, y : array-like
        y as learners are fitted to it: codes of classes, or numbers.
    cv : list of (train, test)
    scorer : MetricScorer
    weight : ndarray or None
        Sample weights, for training and metrics.
    rescaling : Rescaling
        Learned from the scores of the other folds for each fold.
    """
    from separable.estimator import clone, convergence_warning
    from separable.select.comparison import best_parameters
    from separable.select.leaderboard import Standing

    start = perf_counter()
    tried = [{key: value} for key, values in grid.items() for value in values] or [{}]
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            known = out_of_fold(estimator, tried, X, y, cv, scorer.classes, weight, certified=False)
        folds = [[finite_scores(_raw(fold)) for fold in each] for each in known]
        scores = np.array([_scores(each, y, cv, scorer, weight, rescaling) for each in folds]).T
        index = best_parameters(scorer.sign * scores.mean(axis=0), grid)
    except Exception as error:  # whatever it is, the other learners go on
        reason = " ".join(str(error).split()) or type(error).__name__
        failed = Standing(name, clone(estimator), failed=reason, seconds=perf_counter() - start)
        return Calibrated(failed, None)
    rows = np.concatenate([test for _, test in cv])
    learned = rescaling.learn(np.concatenate(folds[index]), y[rows], _taken(weight, rows))
    standing = Standing(
        name,
        clone(estimator).set_params(**tried[index]),
        params=tried[index],
        scores=scores[:, index],
        how="calibrated on out-of-fold scores",
        seconds=perf_counter() - start,
        tried=tuple(tried),
        tried_scores=scores,
        test_per_train=float(np.mean([len(test) / len(train) for train, test in cv])),
        converged=not any(issubclass(each.category, convergence_warning()) for each in caught),
    )
    return Calibrated(standing, learned)


def out_of_fold(
    estimator: Any,
    tried: list[dict[str, float]],
    X: Any,
    y: NDArray[Any],
    cv: Folds,
    classes: NDArray[Any] | None,
    weight: Floats | None,
    *,
    certified: bool = True,
) -> list[list[Predictions]]:
    """Return the predictions of held-out rows for each parameter and fold; it warns as they do."""
    from separable.estimator import clone
    from separable.fitting.fold_fits import Notices
    from separable.fitting.predictions import spread
    from separable.fitting.splits import read_folds
    from separable.select.cross_validation import read_problem, validate

    if len(cv) < 2:
        raise ValueError("Out-of-fold predictions need two folds or more.")
    problem, _ = read_problem(estimator, X, y, weight, None)
    candidates = [clone(estimator).set_params(**each) for each in tried]
    given = (problem.X, problem.y, None, problem.n_rows)
    splits = read_folds(cv, estimator, *given, shuffle=False, random_state=0)
    notices = Notices("fit")
    result = validate(problem, candidates, splits, notices, [], None, certified=certified)
    notices.issue(len(candidates) * len(splits))
    return [[spread(fold.predictions, classes) for fold in folds] for folds in result]


def _raw(fold: Predictions) -> Floats | None:
    """Return the scores of a fold; in regression its numbers."""
    return fold.predicted if fold.classes is None else fold.scores


def finite_scores(scores: Floats | None) -> Floats:
    """Return scores of shape (n, k); a class that a fold does not know is the least likely."""
    if scores is None:
        raise ValueError("The learner gives neither probabilities nor scores.")
    columns = scores.reshape(len(scores), -1)
    known = columns[np.isfinite(columns)]
    low, high = (known.min() - 1.0, known.max() + 1.0) if len(known) else (-1.0, 1.0)
    return np.nan_to_num(columns, neginf=low, posinf=high)


def _taken(weight: Floats | None, rows: Any) -> Floats | None:
    return None if weight is None else weight[rows]


def sigmoids_of(scores: Floats, codes: NDArray[Any], weight: Floats | None = None) -> Floats:
    """Return slope and offset of each score, shape (k, 2), by Platt scaling.

    Parameters
    ----------
    scores : ndarray, shape (n, k)
        One for two classes, else one for each class.
    codes : ndarray of int, shape (n,)
    weight : ndarray, optional
    """
    from separable.certified.inference.platt_scaling import sigmoid_of_scores

    positive = [1] if scores.shape[1] == 1 else range(scores.shape[1])
    pairs = [
        sigmoid_of_scores(scores[:, column], codes == code, weight, TOL)
        for column, code in enumerate(positive)
    ]
    return np.array(pairs)


def _scores(
    folds: list[Floats],
    y: NDArray[Any],
    cv: Folds,
    scorer: MetricScorer,
    weight: Floats | None,
    rescaling: Rescaling,
) -> list[float]:
    """Return the metric of each fold, rescaled by the scores of the other folds."""
    result = []
    for k, (_, test) in enumerate(cv):
        others = [j for j in range(len(cv)) if j != k]
        rows = np.concatenate([cv[j][1] for j in others])
        learned = rescaling.learn(
            np.concatenate([folds[j] for j in others]), y[rows], _taken(weight, rows)
        )
        given, y_true = rescaling.predictions(folds[k], learned), rescaling.y_true(y[test])
        part = _taken(weight, test)
        result.append(float(scorer.metric(y_true, given, weight=part, positive=scorer.positive)))
    return result
