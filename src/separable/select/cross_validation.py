"""k-fold cross-validation, and any other splits."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.fitting.fit_progress import fit_done
from separable.fitting.fold_fits import Notices, Problem, fold_fits
from separable.fitting.predictions import ask, join
from separable.fitting.scorers import read_scoring, score_rows
from separable.fitting.splits import Split, paired, take
from separable.fitting.targets import check_sample_weight
from separable.model.metrics.metric_registry import Predictions
from separable.select.results import CrossValidation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from separable.fitting.fold_fits import FittedFold, FoldFit
    from separable.fitting.scorers import Scorer
    from separable.typing import Floats


__all__ = ["FoldResult", "cross_validate", "noting", "read_problem", "score_fold", "validate"]

#: Placeholder of predictions that are not kept.
NO_PREDICTIONS = Predictions(np.empty(0))


def cross_validate(
    estimator: Any,
    X: Any,
    y: Any,
    cv: Any = 5,
    scoring: Any = None,
    sample_weight: Any = None,
    groups: Any = None,
    score_weight: Any = None,
    *,
    shuffle: bool = False,
    random_state: int = 0,
) -> CrossValidation:
    """Score an estimator on held-out rows by cross-validation.

    Moment learners (least squares, ridge, discriminant analysis, naive Bayes, ...) are not fitted
    k times: the sums of each fold are computed once and merged. Scores and predictions equal those
    of k fits to 1e-8; if the sums are not precise enough, the fold is refitted, and ``how`` says
    so. Folds of certified learners (logistic regression, SVM) are lanes, fitted side by side,
    within their certificates. Other estimators are cloned and fitted k times.

    Parameters
    ----------
    estimator : estimator
        Any estimator with ``fit`` and ``predict``, also pipelines. It is not modified.
    X : array-like, sparse matrix or data frame of shape (n, d)
    y : array-like of shape (n,) or (n, t)
    cv : int, splitter or iterable of (train, test), default 5
        As in scikit-learn: a number of folds follows the order of the rows, and is stratified for
        classifiers.
    scoring : str, callable, list, dict or None, default None
        scikit-learn's scorers, one or several. None: accuracy, R2, or the estimator's own score.
    sample_weight : array-like of shape (n,), optional
        For training only: scores count every held-out row once, as in scikit-learn.
    groups : array-like of shape (n,), optional
        Rows of one group are held out together, by a number of folds and by splitters of groups.
    score_weight : array-like of shape (n,), optional
        Weights of the rows in scores; give ``sample_weight`` again if weights are frequencies.
        Folds have equal weight in the mean.
    shuffle : bool, default False
        Shuffle the rows before a number of folds is made. Otherwise folds follow the order of the
        rows, and an `OrderedRowsWarning` says if that is the order of y.
    random_state : int, default 0
        Seed of the shuffle.

    Returns
    -------
    CrossValidation

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from separable import LeastSquares
    >>> from separable.select import cross_validate
    >>> X, y = load_diabetes(return_X_y=True)
    >>> cross_validate(LeastSquares(), X, y, cv=3, scoring=["r2", "neg_mean_squared_error"])
    LeastSquares, 3 folds, 442 held-out rows
    fold        train  test    by         r2  neg_mean_squared_error
    0             294   148  sums   0.469304                -3034.24
    1             295   147  sums   0.487253                -3253.21
    2             295   147  sums    0.50955                -2793.99
    mean                            0.488702                -3027.15
    std. error                     0.0116404                 132.611
    """
    problem, weight = read_problem(estimator, X, y, sample_weight, score_weight)
    scorers = read_scoring(scoring, estimator)
    splits = problem.folds(cv, groups, shuffle=shuffle, random_state=random_state)
    notices = Notices()
    (result,) = validate(problem, [estimator], splits, notices, scorers, weight)
    notices.issue(len(splits))
    predictions = join([fold.predictions for fold in result])
    rows = np.concatenate([split.test for split in splits])
    fold = np.repeat(np.arange(len(splits)), [len(split.test) for split in splits])
    order = np.lexsort((fold, rows))
    return CrossValidation(
        learner=type(estimator).__name__,
        scores={
            name: np.array([each.scores[name] for each in result]) for name in result[0].scores
        },
        n_train=np.array([split.n_train for split in splits]),
        n_test=np.array([len(split.test) for split in splits]),
        how=tuple(each.how for each in result),
        rows=rows[order],
        fold=fold[order],
        predictions=predictions.predicted[order],
        decision_scores=None if predictions.scores is None else predictions.scores[order],
        probabilities=None
        if predictions.probabilities is None
        else predictions.probabilities[order],
        classes=predictions.classes,
    )


def read_problem(
    estimator: Any, X: Any, y: Any, sample_weight: Any, score_weight: Any
) -> tuple[Problem, Floats | None]:
    """Return the validation problem and the sample weights of the scores."""
    name = type(estimator).__name__
    if isinstance(estimator, type) or not hasattr(estimator, "fit"):
        raise TypeError(f"Expected an estimator with fit and predict, got {estimator!r}.")
    if not hasattr(estimator, "predict"):
        raise TypeError(f"{name} has no predict method, which validation needs.")
    if y is None:
        raise ValueError("Validation compares predictions with y, but y is None.")
    X, y, n = paired(X, y)
    given = {"sample_weight": sample_weight, "score_weight": score_weight}
    weights = [
        None if each is None else check_sample_weight(each, np.empty(n), called)
        for called, each in given.items()
    ]
    return Problem(estimator, X, y, n, weights[0]), weights[1]


@dataclass(frozen=True)
class FoldResult:
    """Result of a fold, with the times of fitting and scoring in seconds.

    ``train_scores`` are the scores on the training rows, if requested.
    """

    how: str
    predictions: Predictions
    scores: dict[str, float]
    fit_time: float
    score_time: float
    train_scores: dict[str, float] = field(default_factory=dict)


def validate(
    problem: Problem,
    candidates: Sequence[Any],
    splits: Sequence[Split],
    notices: Notices,
    scorers: list[Scorer],
    weight: Floats | None,
    *,
    fits: Iterable[FoldFit] | None = None,
    number: Callable[[int, int], int] = lambda _, fold: fold,
    train_scores: bool = False,
    keep_predictions: bool = True,
    certified: bool | None = None,
) -> list[list[FoldResult]]:
    """Fit, predict and score all candidates on all folds.

    Parameters
    ----------
    problem, candidates, splits
        As `separable.fitting.fold_fits` has them.
    notices : Notices
        Collects the warnings of fits.
    scorers : list of Scorer
    weight : ndarray or None
        Weights of the rows in scores.
    fits : iterable of FoldFit, optional
        Of these candidates and folds; by default `fold_fits`.
    number : callable
        Number of a candidate and a fold in warnings; by default the fold.
    train_scores : bool, default False
        Also score the training rows of each fold.
    keep_predictions : bool, default True
        Keep the predictions. If not, and if scorers need only predictions, fits may stop when
        predictions hardly change.
    certified : bool, optional
        Whether fits have certificates; by default unless predictions are scored and not kept.
    """
    start, scoring = perf_counter(), 0.0
    if fits is None:
        if certified is None:
            needs_estimator = train_scores or any(each.metric is None for each in scorers)
            certified = keep_predictions or needs_estimator
        fits = fold_fits(problem, candidates, splits, certified=certified)
    result: list[list[Any]] = [[None] * len(splits) for _ in candidates]
    for fit in fits:
        fold, begun = fit.fold, perf_counter()
        with notices.of_fold(number(fit.candidate, fold)), noting(fold, len(splits)):
            one = score_fold(
                problem, splits[fold], fit.fit, scorers, weight, train_scores=train_scores
            )
        scoring += perf_counter() - begun - one.fit_time
        result[fit.candidate][fold] = (
            one if keep_predictions else replace(one, predictions=NO_PREDICTIONS)
        )
        fit_done()
    if all(one.how == "refit" for folds in result for one in folds):
        return result
    each_time = (perf_counter() - start - scoring) / (len(candidates) * len(splits))
    return [[replace(one, fit_time=each_time) for one in folds] for folds in result]


@contextmanager
def noting(fold: int, n_folds: int) -> Iterator[None]:
    """Add the number of the fold to an error."""
    try:
        yield
    except Exception as error:
        error.add_note(f"This was fold {fold} of {n_folds}, counted from 0.")
        raise


def score_fold(
    problem: Problem,
    split: Split,
    fit: Callable[[], FittedFold],
    scorers: list[Scorer],
    weight: Floats | None,
    *,
    train_scores: bool = False,
) -> FoldResult:
    """Fit, predict and score one fold."""
    start = perf_counter()
    fold = fit()
    fitted = perf_counter()
    scores = _scores(problem, split, fold, scorers, weight)
    scored = perf_counter()
    own = _train_scores(problem, split, fold, scorers, weight) if train_scores else {}
    return FoldResult(fold.how, fold.predictions, scores, fitted - start, scored - fitted, own)


def _scores(
    problem: Problem, split: Split, fold: FittedFold, scorers: list[Scorer], weight: Floats | None
) -> dict[str, float]:
    if not scorers:
        return {}
    if weight is not None:
        weight = weight[split.test]
        if not weight.any():
            raise ValueError("All held-out rows of the fold have score_weight 0.")
    X_test = None
    if any(scorer.metric is None for scorer in scorers):  # others see predictions alone
        X_test = take(problem.X, split.test)
    y_test = take(problem.y, split.test)
    return score_rows(scorers, fold.estimator, fold.predictions, X_test, y_test, weight)


def _train_scores(
    problem: Problem, split: Split, fold: FittedFold, scorers: list[Scorer], weight: Floats | None
) -> dict[str, float]:
    """Return the scores on the training rows of a fold."""
    own = replace(fold, predictions=ask(fold.estimator, take(problem.X, split.train)))
    return _scores(problem, Split(split.n_rows, split.train), own, scorers, weight)
