"""Comparison of several learners on the same folds."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.estimator import clone, convergence_warning
from separable.fitting.best_candidate import best_index
from separable.fitting.scorers import MetricScorer, metric_scorer, read_scoring
from separable.select.cross_validation import read_problem
from separable.select.grid_search import penalties_of, search
from separable.select.leaderboard import Leaderboard, Standing

if TYPE_CHECKING:
    from collections.abc import Callable


__all__ = ["best_parameters", "check_one_score", "compare", "metric_of", "standings_of"]


def compare(
    estimators: Mapping[str, Any],
    X: Any,
    y: Any,
    *,
    cv: Any = 5,
    scoring: Any = None,
    sample_weight: Any = None,
    groups: Any = None,
    score_weight: Any = None,
    n_jobs: int | None = None,
    progress: Callable[[int, int, str], Any] | None = None,
    shuffle: bool = False,
    random_state: int = 0,
) -> Leaderboard:
    """Compare several learners by cross-validation on the same folds.

    Every learner is validated as by `search`: all values of C and all folds of a certified learner
    in one pass, moment learners from sums, all others by refitting. A learner that fails is listed
    with the reason; the others continue.

    If the grid varies only C or alpha, the best mean is selected, and ties take the largest
    penalty; in any other grid ties take the first. Learners are ranked by the selected mean, ties
    in the given order. ``Standing.differs`` says which differences to the best are significant. The
    best of several scores is optimistic: evaluate the selected learner on other rows, or use
    `nested_cross_validate`.

    Parameters
    ----------
    estimators : dict of str to estimator, or to (estimator, grid)
        By name; a grid is a dict of parameters to try, as in `search`. They are not modified.
    X : array-like, sparse matrix or data frame of shape (n, d)
    y : array-like of shape (n,)
    cv : int, splitter or iterable of (train, test), default 5
        As in scikit-learn: a number of folds follows the order of the rows, and is stratified for
        classifiers; with ``groups`` a number of folds that keep each group together.
    scoring : str, callable or None, default None
        A name of ``separable.model.metrics.METRICS``, such as "log_loss" or "rmse", in its own
        direction; or one of scikit-learn's scorers. None: accuracy or R2.
    sample_weight : array-like of shape (n,), optional
        For training only: scores count every held-out row once.
    groups : array-like of shape (n,), optional
        Rows of one group are held out together.
    score_weight : array-like of shape (n,), optional
        Weights of the rows in scores.
    n_jobs : int or None, default None
        Number of threads for learners that support it; None: as set in each estimator.
    progress : callable, optional
        Called as ``progress(done, total, name)`` before each learner.
    shuffle : bool, default False
        Shuffle the rows before a number of folds is made. Otherwise folds follow the order of the
        rows, and an `OrderedRowsWarning` says if that is the order of y.
    random_state : int, default 0
        Seed of the shuffle.

    Returns
    -------
    Leaderboard

    Raises
    ------
    ValueError
        All learners fail, or the arguments are inconsistent.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from separable import LDA, LogisticRegression
    >>> from separable.select import compare
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> logistic = LogisticRegression(standardize=True)
    >>> board = compare({"logistic": (logistic, {"C": [0.01, 0.1, 1, 10]}), "lda": LDA()}, X, y)
    >>> board
    accuracy, mean of 5 folds
    rank  learner   parameters      mean  std. error  to the best  std. error  significant ...
    1     logistic  C=1         0.980686  0.0032...                                         ...
    2     lda                   0.959587  0.0034...    -0.0210...   0.0035...           yes ...
    >>> board.best.estimator.fit(X, y).C
    1
    """
    check_one_score(scoring)
    scorer = metric_scorer(scoring, y)
    given = {
        "sample_weight": sample_weight,
        "groups": groups,
        "score_weight": score_weight,
        "n_jobs": n_jobs,
        "progress": progress,
        "shuffle": shuffle,
        "random_state": random_state,
    }
    standings = standings_of(estimators, X, y, cv=cv, scorer=scorer, **given)
    metric, greater_is_better = metric_of(scorer, standings[0].estimator)
    return Leaderboard.of(standings, metric, greater_is_better)


def check_one_score(scoring: Any) -> None:
    """Refuse several scores: one has to rank the learners."""
    if isinstance(scoring, Mapping | list | tuple | set):
        raise ValueError(f"scoring must be one score, which selects. Got several: {scoring!r}.")


def metric_of(scorer: Any, estimator: Any) -> tuple[str, bool]:
    """Return the name of the metric and whether greater is better."""
    better = not isinstance(scorer, MetricScorer) or scorer.metric.greater_is_better
    return read_scoring(scorer, estimator)[0].name, better


def standings_of(
    estimators: Mapping[str, Any],
    X: Any,
    y: Any,
    *,
    cv: Any,
    scorer: Any,
    chooser: Any = None,
    sample_weight: Any = None,
    groups: Any = None,
    score_weight: Any = None,
    n_jobs: int | None = None,
    progress: Callable[[int, int, str], Any] | None = None,
    shuffle: bool = False,
    random_state: int = 0,
) -> list[Standing]:
    """Return the standing of each learner in the given order; see `compare`.

    ``chooser`` is a scorer of probabilities. It selects the parameters of learners that have
    probabilities, instead of the scorer by which learners are compared.
    """
    if not isinstance(estimators, Mapping) or not estimators:
        raise ValueError(
            "compare takes a dict of estimators by name, such as {'lda': LDA()}, with at least one."
        )
    candidates = {str(name): _candidate(name, each) for name, each in estimators.items()}
    if scorer is None:
        _check_one_kind({name: estimator for name, (estimator, _) in candidates.items()})
    first = next(iter(candidates.values()))[0]
    problem, _ = read_problem(first, X, y, sample_weight, score_weight)
    splits = problem.folds(cv, groups, shuffle=shuffle, random_state=random_state)
    given = {
        "X": problem.X,
        "y": problem.y,
        "cv": [(split.train, split.test) for split in splits],
        "sample_weight": sample_weight,
        "score_weight": score_weight,
        "n_jobs": n_jobs,
    }
    standings = []
    for done, (name, (estimator, grid)) in enumerate(candidates.items()):
        if progress is not None:
            progress(done, len(candidates), name)
        chooses = chooser is not None and grid and hasattr(estimator, "predict_proba")
        scorers = {"score": scorer, "choice": chooser} if chooses else {"score": scorer}
        standings.append(_standing(name, estimator, grid, scorers, given))
    return standings


def _check_one_kind(estimators: Mapping[str, Any]) -> None:
    """Refuse a mix of classifiers and regressors, whose default scores differ."""
    kinds = {read_scoring(None, each)[0].name: name for name, each in estimators.items()}
    if {"accuracy", "r2"} <= set(kinds):
        raise ValueError(
            f"{kinds['accuracy']!r} is scored by accuracy and {kinds['r2']!r} by R2, which cannot "
            "be compared. Give learners of one kind, or a scoring that suits both."
        )


def _candidate(name: Any, given: Any) -> tuple[Any, Mapping[str, Any]]:
    """Return an estimator and its grid."""
    if not isinstance(given, tuple):
        return given, {}
    if len(given) != 2 or not isinstance(given[1], Mapping | None):
        raise ValueError(
            f"{name!r} must be an estimator or a pair (estimator, grid) with a dict of parameters. "
            f"Got {given!r}."
        )
    return given[0], given[1] or {}


def _standing(
    name: str,
    estimator: Any,
    grid: Mapping[str, Any],
    scorers: dict[str, Any],
    given: dict[str, Any],
) -> Standing:
    """Return the standing of one learner, or why it failed; the last scorer selects parameters."""
    start, scorer = perf_counter(), scorers["score"]
    scoring, decides = (scorer, "score") if len(scorers) == 1 else (scorers, "choice")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            if isinstance(scorer, MetricScorer):
                scorer.check(estimator)
            result = search(estimator, dict(grid), scoring=scoring, refit=False, **given)
            index = best_parameters(result.cv_results_[f"mean_test_{decides}"], grid)
        except Exception as error:  # any error: the other learners continue
            reason = " ".join(str(error).split()) or type(error).__name__
            return Standing(name, clone(estimator), failed=reason, seconds=perf_counter() - start)
    table, n_folds = result.cv_results_, result.n_splits_
    folds, *choice = [
        (each.sign if isinstance(each, MetricScorer) else 1.0)
        * np.stack([table[f"split{k}_test_{called}"] for k in range(n_folds)])
        for called, each in scorers.items()
    ]
    params = dict(table["params"][index])
    return Standing(
        name,
        clone(estimator).set_params(**params),
        params=params,
        scores=folds[:, index],
        how=result.how_[index],
        seconds=perf_counter() - start,
        fit_seconds=float(table["mean_fit_time"][index]),
        tried=tuple(dict(each) for each in table["params"]),
        tried_scores=folds,
        warnings=tuple(dict.fromkeys(" ".join(str(each.message).split()) for each in caught)),
        test_per_train=float(np.mean([len(test) / len(train) for train, test in given["cv"]])),
        choice_scores=choice[0] if choice else None,
        converged=not any(issubclass(each.category, convergence_warning()) for each in caught),
    )


def best_parameters(means: Any, grid: Mapping[str, Any]) -> int:
    """Return the index of the best parameters."""
    mean = np.asarray(means, dtype=np.float64)
    if not np.isfinite(mean).any():
        raise ValueError(f"Its mean score over the folds is {float(mean[0])}.")
    known = np.where(np.isfinite(mean), mean, -math.inf)
    penalty = penalties_of(grid)
    return int(known.argmax()) if penalty is None else best_index(known, penalty)
