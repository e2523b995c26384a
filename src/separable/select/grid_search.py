"""Grid search with cross-validation, with shared work by lanes or sums where possible."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid
from sklearn.pipeline import Pipeline

from separable.certified.fold_lanes import all_rows, has_lanes
from separable.fitting.best_candidate import one_error_place, standard_errors
from separable.fitting.folds import read_folds
from separable.fitting.predictions import Answers, ask
from separable.fitting.scorers import read_scoring
from separable.fitting.splits import take
from separable.select.cross_validation import noting, read_problem, run_folds, score_fold
from separable.select.fit_warnings import Notices
from separable.select.fits import FittedFold, FromSums, Lanes, fits_of, refit
from separable.select.search_results import Search, results_table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from separable.fitting.scorers import Scorer
    from separable.fitting.splits import Split
    from separable.select.cross_validation import Found
    from separable.select.fits import Problem
    from separable.typing import Floats


__all__ = ["penalties_of", "search"]

#: Answers are not kept.
NOTHING = Answers(np.empty(0))
#: Penalty level by parameter name: it grows with regularization.
PENALTIES: dict[str, Callable[[Floats], Floats]] = {"C": lambda C: 1.0 / C, "alpha": lambda a: a}


def search(
    estimator: Any,
    grid: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Sequence[Any]]],
    X: Any,
    y: Any,
    cv: Any = 5,
    scoring: Any = None,
    *,
    refit: bool | str = True,
    select: str = "min",
    sample_weight: Any = None,
    groups: Any = None,
    score_weight: Any = None,
    n_jobs: int | None = None,
    return_train_score: bool = False,
    shuffle: bool = False,
    random_state: int = 0,
) -> Search:
    """Search a parameter grid by cross-validation and refit the best candidate to all rows.

    The scores are those of independent fits, as in ``GridSearchCV``, at a lower cost:

    - certified learners (``LogisticRegression``, ``LinearSVM``, ``LinearSVR``): all C and folds
      are lanes, fitted side by side; equal to independent fits within their certificates. At the
      end of a pipeline, whose other steps are fitted once per fold, all C of a fold are lanes.
    - moment learners (``Ridge``, naive Bayes, ...): the sums of the folds are computed once for all
      alphas; equal to 1e-8.
    - all others are cloned and fitted for each candidate and fold.

    Parameters
    ----------
    estimator : estimator
        Any estimator with ``fit`` and ``predict``, also pipelines. It is not modified.
    grid : dict of str to sequence, or a list of such dicts
        As ``GridSearchCV``'s ``param_grid``.
    X : array-like, sparse matrix or data frame of shape (n, d)
    y : array-like of shape (n,) or (n, t)
    cv : int, splitter or iterable of (train, test), default 5
        As in scikit-learn: a number of folds follows the order of the rows, and is stratified for
        classifiers.
    scoring : str, callable, list, dict or None, default None
        scikit-learn's scorers, one or several. None: accuracy, R2, or the estimator's own score.
    refit : bool or str, default True
        Refit the best candidate to all rows. With several scores, the name of the selecting one.
    select : {"min", "1se"}, default "min"
        The best mean score (ties: the first); or, in a grid of C or alpha only, the most
        regularized candidate within one standard error of the best.
    sample_weight : array-like of shape (n,), optional
        For training only: scores count every held-out row once.
    groups : array-like of shape (n,), optional
        Rows of one group are held out together, by a number of folds and by splitters of groups.
    score_weight : array-like of shape (n,), optional
        Weights of the rows in scores; ``GridSearchCV`` takes ``sample_weight`` for both.
    n_jobs : int or None, default None
        Number of threads for lanes; None: as set in the estimator.
    return_train_score : bool, default False
        Also score the training rows of each fold.
    shuffle : bool, default False
        Shuffle the rows before a number of folds is made. Otherwise folds follow the order of the
        rows, and an `OrderedRowsWarning` says if that is the order of y.
    random_state : int, default 0
        Seed of the shuffle.

    Returns
    -------
    Search
        With the attributes of a fitted ``GridSearchCV``.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from separable import LogisticRegression
    >>> from separable.select import search
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> grid = {"C": [0.1, 1, 10], "class_weight": [None, "balanced"]}
    >>> found = search(LogisticRegression(standardize=True), grid, X, y)
    >>> found
    LogisticRegression, 6 candidates, 5 folds
    rank     by     C  class_weight  mean score         std
    1     lanes   1.0          None    0.980686  0.00653944
    2     lanes   0.1      balanced    0.977177   0.0118805
    3     lanes   0.1          None    0.977162  0.00699449
    4     lanes   1.0      balanced    0.975408  0.00653133
    5     lanes  10.0          None     0.97016   0.0142298
    5     lanes  10.0      balanced     0.97016   0.0162494
    >>> found.best_params_
    {'C': 1, 'class_weight': None}
    """
    problem, weight = read_problem(estimator, X, y, sample_weight, score_weight)
    candidates = _candidates(estimator, grid)
    scorers = read_scoring(scoring, estimator)
    several = isinstance(scoring, dict | list | tuple | set)
    splits = read_folds(
        cv,
        estimator,
        problem.X,
        problem.y,
        groups,
        problem.n_rows,
        shuffle=shuffle,
        random_state=random_state,
    )
    strength = _strength(candidates, select)
    work = _Work(problem, splits, scorers, weight, n_jobs, bool(return_train_score))
    found = work.run(candidates)
    several = several or len(found[0][0].scores) > 1
    names = list(found[0][0].scores) if several else ["score"]
    decides = _decides(refit, names, several)
    table = results_table([each.parameters for each in candidates], found, names)
    result = Search(
        cv_results_=table,
        how_=tuple(_how(each) for each in found),
        scorer_={each.name: each.call for each in scorers} if several else scorers[0].call,
        n_splits_=len(splits),
        multimetric_=several,
        _learner=type(estimator).__name__,
        _scored=tuple(names if decides is None else [decides, *names]),
    )
    if decides is None:
        return result
    best = int(table[f"rank_test_{decides}"].argmin())
    if strength is not None:
        best = _within_one_error(table, decides, len(splits), strength)
    result.best_index_ = best
    result.best_params_ = table["params"][best]
    result.best_score_ = float(table[f"mean_test_{decides}"][best])
    if refit:
        start = perf_counter()
        result.best_estimator_ = work.refit(candidates[best])
        result.refit_time_ = perf_counter() - start
    return result


@dataclass(frozen=True, eq=False)
class _Candidate:
    """Parameters of the grid, and a clone of the estimator with them."""

    parameters: dict[str, Any]
    estimator: Any

    def alike(self, name: str) -> tuple[Any, ...]:
        """Return what candidates share that differ in one parameter alone."""
        others = sorted((key, id(each)) for key, each in self.parameters.items() if key != name)
        return (name, *others)


def _candidates(estimator: Any, grid: Any) -> list[_Candidate]:
    points = list(ParameterGrid(grid))
    if not points:
        raise ValueError("The grid is empty. Give a dict of parameters, or a list with such dicts.")
    return [
        _Candidate(
            point,
            clone(estimator).set_params(
                **{name: clone(value, safe=False) for name, value in point.items()}
            ),
        )
        for point in points
    ]


def _strength(candidates: list[_Candidate], select: str) -> Floats | None:
    """Return the penalty of each candidate, where ``select`` needs it."""
    if select not in ("min", "1se"):
        raise ValueError(f"select must be 'min' or '1se'. Got {select!r}.")
    if select == "min":
        return None
    names = {name for each in candidates for name in each.parameters}
    name = next(iter(names)) if len(names) == 1 else ""
    if name.rpartition("__")[2] not in PENALTIES:
        raise ValueError(
            "select='1se' compares strengths of one penalty, so the grid has to be of nothing but "
            f"C or alpha. It is of {sorted(names)}."
        )
    values = np.array([each.parameters[name] for each in candidates], dtype=np.float64)
    return PENALTIES[name.rpartition("__")[2]](values)


def penalties_of(grid: Mapping[str, Any]) -> Floats | None:
    """Return the penalty of each candidate of a grid of nothing but C or alpha; None of others."""
    name = next(iter(grid)) if len(grid) == 1 else ""
    if name.rpartition("__")[2] not in PENALTIES:
        return None
    values = np.array(list(grid[name]), dtype=np.float64)
    return PENALTIES[name.rpartition("__")[2]](values)


def _within_one_error(table: dict[str, Any], name: str, n_folds: int, penalty: Floats) -> int:
    folds = np.stack([table[f"split{k}_test_{name}"] for k in range(n_folds)])
    return one_error_place(table[f"mean_test_{name}"], standard_errors(folds), penalty)


def _decides(refit: bool | str, names: list[str], several: bool) -> str | None:
    """Return the score that selects the best candidate; None if there are several."""
    if not several:
        return names[0]
    if refit is False:
        return None
    if refit not in names:
        raise ValueError(
            f"Of several scores one has to decide: refit must be one of {names}, or False. Got "
            f"{refit!r}."
        )
    return str(refit)


def _how(folds: Sequence[Found]) -> str:
    kinds = list(dict.fromkeys(fold.how for fold in folds))
    return kinds[0] if len(kinds) == 1 else "mixed"


@dataclass(frozen=True)
class _Work:
    """Validation of candidates, together where that saves work."""

    problem: Problem
    splits: Sequence[Split]
    scorers: list[Scorer]
    weight: Floats | None
    n_jobs: int | None
    train_scores: bool

    def run(self, candidates: list[_Candidate]) -> list[list[Found]]:
        """Return the result of each candidate and fold."""
        notices = Notices("fit")
        result: list[list[Found]] = [[] for _ in candidates]
        for run, indices in self._groups(candidates):
            mine = [candidates[index].estimator for index in indices]
            for index, folds in zip(indices, run(mine, indices, notices), strict=True):
                result[index] = folds
        notices.tell(len(candidates) * len(self.splits))
        return result

    def refit(self, candidate: _Candidate) -> Any:
        """Return the estimator of a candidate, fitted to all rows."""
        problem = replace(self.problem, estimator=candidate.estimator)
        return refit(problem, np.arange(problem.n_rows))

    def _groups(self, candidates: list[_Candidate]) -> list[tuple[Any, list[int]]]:
        """Return the groups of candidates that are validated together, and how."""
        together: dict[tuple[Any, ...], tuple[Any, list[int]]] = {}
        for index, candidate in enumerate(candidates):
            run, name = self._way(candidate.estimator)
            key = (index,) if name is None else candidate.alike(name)
            together.setdefault(key, (run, []))[1].append(index)
        return list(together.values())

    def _way(self, estimator: Any) -> tuple[Any, str | None]:
        """Return how a candidate is validated, and by which parameter others may differ."""
        if has_lanes(estimator):
            return self._by_lanes, estimator._regularization_name
        if isinstance(estimator, Pipeline) and has_lanes(estimator.steps[-1][1]):
            name, last = estimator.steps[-1]
            return self._by_piped_lanes, f"{name}__{last._regularization_name}"
        if "alpha" in estimator.get_params(deep=False):
            return self._by_sums, "alpha"
        return self._one_by_one, None

    def _number(self, place: int, fold: int) -> int:
        return place * len(self.splits) + fold

    # ------------------------------------------------------------------ ways

    def _one_by_one(
        self, estimators: list[Any], places: list[int], notices: Notices
    ) -> list[list[Found]]:
        """Validate each candidate by itself."""
        result = []
        for estimator, index in zip(estimators, places, strict=True):
            problem = replace(self.problem, estimator=estimator)
            number = partial(self._number, index)
            folds = run_folds(
                problem,
                self.splits,
                notices,
                self.scorers,
                self.weight,
                number,
                train_scores=self.train_scores,
            )
            result.append([replace(one, answers=NOTHING) for one in folds])
        return result

    def _by_sums(
        self, estimators: list[Any], places: list[int], notices: Notices
    ) -> list[list[Found]]:
        """Accumulate the sums of each fold once, and solve all candidates from them."""
        start = perf_counter()
        problems = [replace(self.problem, estimator=each) for each in estimators]
        fits = [fits_of(problems[0], self.splits)] if len(estimators) > 1 else []
        first = fits[0] if fits else None
        if not isinstance(first, FromSums):
            return self._one_by_one(estimators, places, notices)
        every = [first, *(first.beside(problem) for problem in problems[1:])]
        result: list[list[Found]] = [[] for _ in estimators]
        shared = perf_counter() - start
        for k, split in enumerate(self.splits):
            start = perf_counter()
            sums = next(first.each_sums())
            shared += perf_counter() - start
            for index, (problem, each) in enumerate(zip(problems, every, strict=True)):
                fit = partial(each.fit_from, sums, k)
                with notices.of_fold(self._number(places[index], k)), noting(k, len(self.splits)):
                    one = self._scored(problem, split, fit)
                result[index].append(one)
        more = shared / (len(estimators) * len(self.splits))
        return [[replace(one, fit_time=one.fit_time + more) for one in folds] for folds in result]

    def _by_lanes(
        self, estimators: list[Any], places: list[int], notices: Notices
    ) -> list[list[Found]]:
        """Train all folds and candidates as lanes."""
        start = perf_counter()
        with_rows = any(scorer.metric is None for scorer in self.scorers)  # others see answers
        lanes = Lanes(
            self.problem,
            self.splits,
            [self._threaded(each) for each in estimators],
            certified=with_rows or self.train_scores,
        )
        result: list[list[Any]] = [[None] * len(self.splits) for _ in estimators]
        scoring = 0.0
        for learned in lanes.learn():
            fold, index = learned.fold, learned.place
            with notices.of_fold(self._number(places[index], fold)), noting(fold, len(self.splits)):
                asked = perf_counter()
                fit = partial(lanes.fold, learned, with_rows=with_rows)
                one = result[index][fold] = self._scored(self.problem, self.splits[fold], fit)
            scoring += perf_counter() - asked - one.fit_time
        each_time = (perf_counter() - start - scoring) / (len(estimators) * len(self.splits))
        return [[replace(one, fit_time=each_time) for one in folds] for folds in result]

    def _by_piped_lanes(
        self, estimators: list[Any], places: list[int], notices: Notices
    ) -> list[list[Found]]:
        """Fit what comes before the learner once a fold, then all candidates side by side."""
        result: list[list[Found]] = [[] for _ in estimators]
        for k, split in enumerate(self.splits):
            start = perf_counter()
            with notices.of_fold(self._number(places[0], k)), noting(k, len(self.splits)):
                piped = _Piped(self.problem, split, estimators, self._threaded)
            each_time = (perf_counter() - start) / len(estimators)
            for index, number in enumerate(places):
                with notices.of_fold(self._number(number, k)), noting(k, len(self.splits)):
                    one = self._scored(self.problem, split, partial(piped.fold, index))
                result[index].append(replace(one, fit_time=one.fit_time + each_time))
        return result

    def _scored(self, problem: Problem, split: Split, fit: Callable[[], FittedFold]) -> Found:
        """Fit and score one fold of one candidate; answers are not kept."""
        weight, own = self.weight, self.train_scores
        one = score_fold(problem, split, fit, self.scorers, weight, train_scores=own)
        return replace(one, answers=NOTHING)

    def _threaded(self, estimator: Any) -> Any:
        """Return a learner with lanes, with the threads that were asked for."""
        if self.n_jobs is None:
            return estimator
        return clone(estimator).set_params(n_jobs=self.n_jobs)


class _Piped:
    """Pipelines that differ in the regularization of their last step, fitted to one fold."""

    def __init__(
        self,
        problem: Problem,
        split: Split,
        estimators: list[Any],
        threaded: Callable[[Any], Any],
    ) -> None:
        self._problem, self._split, self._estimators = problem, split, estimators
        train = split.train
        X, y = take(problem.X, train), take(problem.y, train)
        self._steps = clone(estimators[0]).steps[:-1]
        if self._steps:
            X = Pipeline(self._steps).fit_transform(X, y)
        weight = None if problem.weight is None else problem.weight[train]
        learners = [threaded(each.steps[-1][1]) for each in estimators]
        own = replace(problem, estimator=learners[0], X=X, y=y, n_rows=len(train), weight=weight)
        self._lanes = Lanes(own, [all_rows(len(train))], learners)
        self._learned = {each.place: each for each in self._lanes.learn()}

    def fold(self, place: int) -> FittedFold:
        """Return the fold of one candidate."""
        last = self._lanes.estimator(self._learned.pop(place))
        fitted = clone(self._estimators[place])
        fitted.steps = [*self._steps, (fitted.steps[-1][0], last)]
        X_test = take(self._problem.X, self._split.test)
        return FittedFold(fitted, "lanes", ask(fitted, X_test), X_test)
