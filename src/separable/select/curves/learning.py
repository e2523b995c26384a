"""Learning curves: performance against the number of training rows.

A curve shows 1 - error rate, MSE0 - MSE, or any score (`Units`). Fits to more rows continue from
the fit before them if that gives the same model (`growing_fits`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.estimator import is_classifier, is_regressor
from separable.fitting.fold_fits import FoldFit, Notices, fold_of, refit, refits
from separable.fitting.scorers import MetricScorer, Scorer, metric_scorer, read_scoring
from separable.fitting.splits import Split, take
from separable.fitting.targets import check_labels, check_targets
from separable.online.base import OnlineEstimator
from separable.select.cross_validation import read_problem, score_fold
from separable.select.curves.learning_results import LearningCurve
from separable.select.curves.training_sizes import read_sizes, repetitions
from separable.select.holdout import error_rate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from separable.fitting.fold_fits import FittedFold, Problem
    from separable.select.curves.training_sizes import Repetition
    from separable.typing import Floats

__all__ = ["growing_fits", "learning_curve"]


def learning_curve(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    sizes: Any = None,
    repeats: int = 5,
    test_size: float = 0.3,
    scoring: Any = None,
    random_state: int = 0,
    n_jobs: int | None = None,
    sample_weight: Any = None,
    groups: Any = None,
    score_weight: Any = None,
) -> LearningCurve:
    """Measure the performance on held-out rows against the number of training rows.

    In each repetition a random part of the rows is held out, and the estimator learns from the
    first 10, 20, 40, ... of the others in random order. So the training sets of one repetition are
    nested, and all sizes are scored on the same rows. Performance is

    - 1 - error rate for classifiers;
    - MSE0 - MSE for regressors, where MSE is the mean squared error on the held-out rows, and MSE0
      is that of the best constant: the mean of y over all training rows of the repetition. It is 0
      for a learner that is no better than that constant;
    - or any score.

    A fit continues from that of the smaller size if this gives the same model: moment learners add
    the new rows to their sums (equal to 1e-8), certified learners start from the last weights and
    dual point (equal within the certificates), online learners that pass once over the rows in the
    given order, ``max_iter=1, shuffle=False``, train on the new rows alone (the same bits). All
    others, also pipelines and scikit-learn's, are fitted to each size. ``how`` says which.

    Parameters
    ----------
    estimator : estimator
        Any estimator with ``fit`` and ``predict``. It is not modified.
    X : array-like, sparse matrix or data frame of shape (n, d)
    y : array-like of shape (n,) or (n, t)
    sizes : sequence of int or of float, optional
        Numbers of rows, or fractions of the training rows. None: nine sizes in a geometric
        sequence up to all training rows, from 1/256 of them, but at least two rows of each class.
    repeats : int, default 5
        Random splits to average over.
    test_size : float, default 0.3
        Fraction of rows held out; for classifiers the same fraction of each class.
    scoring : str, callable or None, default None
        A name of ``separable.model.metrics.METRICS``, in its own direction, or one of
        scikit-learn's scorers. None: as above.
    random_state : int, default 0
    n_jobs : int or None, default None
        Number of processes for repetitions; None: one, -1: one per core.
    sample_weight : array-like of shape (n,), optional
        For training only. Sizes also count rows of weight 0.
    groups : array-like of shape (n,), optional
        Rows of one group are held out together, and are consecutive among the training rows. The
        split is then not stratified.
    score_weight : array-like of shape (n,), optional
        Weights of the rows in scores.

    Returns
    -------
    LearningCurve

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from separable import LogisticRegression
    >>> from separable.select import learning_curve
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> learner = LogisticRegression(standardize=True)
    >>> curve = learning_curve(learner, X, y, sizes=[25, 50, 100, 200, 398])
    >>> curve.sizes, curve.scores.shape, curve.how[-1]
    (array([ 25,  50, 100, 200, 398]), (5, 5), 'warm')
    >>> bool(curve.mean[-1] > curve.mean[0] > curve.baseline)
    True
    """
    problem, weight = read_problem(estimator, X, y, sample_weight, score_weight)
    units, labels = _units_of(scoring, problem)
    made = repetitions(
        problem.n_rows,
        labels,
        groups,
        repeats=repeats,
        test_size=test_size,
        random_state=random_state,
    )
    counts = read_sizes(sizes, made, labels)
    run = partial(_run, problem, counts, units, weight)
    from joblib import Parallel, delayed  # type: ignore[import-untyped] # imports asyncio

    results: list[_Measured] = Parallel(n_jobs=n_jobs)(
        delayed(run)(each, number) for number, each in enumerate(made)
    )
    notices = Notices("fit")
    for each in results:
        notices.include(each.notices)
    notices.issue(len(made) * len(counts))
    scores = np.stack([each.scores for each in results], axis=1)
    ceiling = units.ceiling(np.array([each.constant for each in results]))
    return LearningCurve(
        learner=type(estimator).__name__,
        metric=units.name,
        sizes=counts,
        scores=scores,
        how=tuple(_same([each.how[k] for each in results]) for k in range(len(counts))),
        n_test=round(float(np.mean([len(each.test) for each in made]))),
        greater_is_better=units.greater_is_better,
        baseline=units.baseline([each.constant for each in results]),
        constant_errors=units.constant_errors([each.constant for each in results]),
        ceiling=ceiling,
    )


@dataclass(frozen=True)
class _Measured:
    """Result of a repetition: scores and methods by size, the error of a constant, warnings."""

    scores: Floats
    how: list[str]
    constant: float
    notices: Notices


def _run(
    problem: Problem,
    sizes: NDArray[np.intp],
    units: Units,
    weight: Floats | None,
    made: Repetition,
    number: int,
) -> _Measured:
    """Measure all sizes of one repetition."""
    notices, result = Notices("fit"), []
    split = Split(problem.n_rows, made.test, made.train, False)
    for one in growing_fits(problem, made, sizes):
        with notices.of_fold(number * len(sizes) + one.fold):
            try:
                result.append(score_fold(problem, split, one.fit, [units.scorer], weight))
            except Exception as error:
                error.add_note(
                    f"This was a fit to {sizes[one.fold]} rows, in repetition {number}, counted "
                    "from 0. A row it names may be counted among these."
                )
                raise
    test_weight = None if weight is None else weight[made.test]
    constant = units.constant_error(
        take(problem.y, made.train), take(problem.y, made.test), test_weight
    )
    scores = np.array([next(iter(each.scores.values())) for each in result])
    return _Measured(
        units.shown(scores, constant), [each.how for each in result], constant, notices
    )


def _same(ways: list[str]) -> str:
    kinds = set(ways)
    return ways[0] if len(kinds) == 1 else "mixed"


@dataclass(frozen=True)
class Units:
    """Units of a learning curve; here those of a scorer.

    Parameters
    ----------
    name : str
    scorer : Scorer
        Larger scores are better.
    greater_is_better : bool, default True
        False: the curve shows the negative score.
    best : float, default inf
        Upper bound on the shown values.
    """

    name: str
    scorer: Scorer
    greater_is_better: bool = True
    best: float = math.inf

    def constant_error(self, y_train: Any, y_test: Any, weight: Floats | None) -> float:
        """Return the error of the best constant prediction on held-out rows; NaN if undefined."""
        del y_train, y_test, weight
        return math.nan

    def shown(self, scores: Floats, constant: float) -> Floats:
        """Return scores of a repetition in these units."""
        del constant
        return scores if self.greater_is_better else -scores

    def baseline(self, constants: list[float]) -> float | None:
        """Return the performance of the best constant prediction in these units."""
        del constants
        return None

    def constant_errors(self, constants: list[float]) -> Floats | None:
        """Return the error of the best constant prediction, by repetition."""
        return None if math.isnan(constants[0]) else np.array(constants)

    def ceiling(self, constants: Floats) -> float:
        """Return an upper bound on the performance in these units."""
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


def _units_of(scoring: Any, problem: Problem) -> tuple[Units, NDArray[Any] | None]:
    """Return the units of ``scoring``, and the checked labels of a classifier."""
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
        raise ValueError(f"A learning curve has one score. Got {scoring!r}.")
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


def growing_fits(problem: Problem, made: Repetition, sizes: NDArray[np.intp]) -> Iterator[FoldFit]:
    """Return the fits of an estimator to the first rows of a repetition, size by size.

    Moment learners add the new rows to their sums; certified learners start from the weights and
    the dual point of the previous size; online learners that pass once over the rows in order
    continue with the new ones. All others are fitted to each size.
    """
    splits = [Split(problem.n_rows, made.test, made.train[:m], False) for m in sizes.tolist()]
    offer = getattr(problem.estimator, "growing_fits", None)
    fits: Iterator[FoldFit] | None = None if offer is None else offer(problem, splits)
    if fits is not None:
        return fits
    if isinstance(problem.estimator, OnlineEstimator) and _passes_once(problem, splits):
        return _streams(problem, splits)
    return refits(problem, [problem.estimator], splits)


def _streams(problem: Problem, splits: list[Split]) -> Iterator[FoldFit]:
    """Yield fits that train on the new rows alone."""
    fitted: Any = None

    def fit(fold: int) -> FittedFold:
        nonlocal fitted
        split = splits[fold]
        if fold == 0:
            fitted = refit(problem, split.train)
            return fold_of(fitted, problem, split, "refit")
        new = split.train[splits[fold - 1].n_train :]
        weight = {} if problem.weight is None else {"sample_weight": problem.weight[new]}
        fitted.partial_fit(take(problem.X, new), take(problem.y, new), **weight)
        return fold_of(fitted, problem, split, "stream")

    for fold in range(len(splits)):
        yield FoldFit(fold, 0, partial(fit, fold))


def _passes_once(problem: Problem, splits: list[Split]) -> bool:
    """Return whether a fit is one pass in row order, and the smallest size has all classes."""
    given = problem.estimator.get_params(deep=False)
    once = given.get("max_iter") == 1 and given.get("shuffle") is False
    odd = given.get("early_stopping") or given.get("warm_start") or given.get("pocket")
    if not once or odd or isinstance(given.get("class_weight"), str):
        return False
    if not hasattr(problem.estimator, "partial_fit"):
        return False
    if not is_classifier(problem.estimator):
        return True
    first, last = (np.unique(_counted(problem, split)) for split in (splits[0], splits[-1]))
    return np.array_equal(first, last)


def _counted(problem: Problem, split: Split) -> NDArray[Any]:
    """Return the labels of the training rows of positive weight."""
    rows = split.train
    if problem.weight is not None:
        rows = rows[problem.weight[rows] > 0]
    return np.asarray(take(problem.y, rows))
