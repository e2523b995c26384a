"""Grid search with cross-validation, with shared work by lanes or sums where possible."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from itertools import product
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.estimator import clone, is_pipeline
from separable.fitting.best_candidate import one_standard_error_index, standard_errors
from separable.fitting.fold_fits import FoldFit, Notices, Problem, fold_of, refit
from separable.fitting.scorers import read_scoring
from separable.fitting.splits import Split, take
from separable.select.cross_validation import read_problem, validate
from separable.select.search_results import Search, results_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from separable.fitting.fold_fits import FittedFold
    from separable.fitting.scorers import Scorer
    from separable.select.cross_validation import FoldResult
    from separable.typing import Floats


__all__ = ["penalties_of", "search"]

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
    >>> result = search(LogisticRegression(standardize=True), grid, X, y)
    >>> result
    LogisticRegression, 6 candidates, 5 folds
    rank     by     C  class_weight  mean score         std
    1     lanes   1.0          None    0.980686  0.00653944
    2     lanes   0.1      balanced    0.977177   0.0118805
    3     lanes   0.1          None    0.977162  0.00699449
    4     lanes   1.0      balanced    0.975408  0.00653133
    5     lanes  10.0          None     0.97016   0.0142298
    5     lanes  10.0      balanced     0.97016   0.0162494
    >>> result.best_params_
    {'C': 1, 'class_weight': None}
    """
    problem, weight = read_problem(estimator, X, y, sample_weight, score_weight)
    candidates = _candidates(estimator, grid)
    scorers = read_scoring(scoring, estimator)
    several = isinstance(scoring, dict | list | tuple | set)
    splits = problem.folds(cv, groups, shuffle=shuffle, random_state=random_state)
    penalty = _penalty(candidates, select)
    work = _Work(problem, splits, scorers, weight, n_jobs, bool(return_train_score))
    results = work.run(candidates)
    several = several or len(results[0][0].scores) > 1
    names = list(results[0][0].scores) if several else ["score"]
    decides = _decides(refit, names, several)
    table = results_table([each.parameters for each in candidates], results, names)
    result = Search(
        cv_results_=table,
        how_=tuple(_how(each) for each in results),
        scorer_={each.name: each.call for each in scorers} if several else scorers[0].call,
        n_splits_=len(splits),
        multimetric_=several,
        _learner=type(estimator).__name__,
        _scored=tuple(names if decides is None else [decides, *names]),
    )
    if decides is None:
        return result
    best = int(table[f"rank_test_{decides}"].argmin())
    if penalty is not None:
        best = _within_one_error(table, decides, len(splits), penalty)
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
        """Return a key that is equal for candidates that differ only in the given parameter."""
        others = sorted((key, id(each)) for key, each in self.parameters.items() if key != name)
        return (name, *others)


def parameter_grid(grid: Any) -> Iterator[dict[str, Any]]:
    """Yield every combination of values, in the order of scikit-learn's ``ParameterGrid``.

    Parameters
    ----------
    grid : dict of str to sequence, or list of such dicts
        Values of each parameter.
    """
    for each in [grid] if isinstance(grid, Mapping) else grid:
        if not isinstance(each, Mapping):
            raise TypeError(
                f"Parameter grid: give a dict of parameters, or a list of such dicts. Got {each!r}."
            )
        for name, values in each.items():
            if isinstance(values, str) or not isinstance(values, Sequence | np.ndarray):
                raise TypeError(
                    f"The grid of {name!r} needs to be a list or a numpy array. Got {values!r}; "
                    f"write [{values!r}] for a single value."
                )
            if np.ndim(values) > 1 and isinstance(values, np.ndarray):
                raise ValueError(f"The grid of {name!r} must have one dimension.")
            if len(values) == 0:
                raise ValueError(f"The grid of {name!r} has no values. Give at least one.")
        names = sorted(each)
        for values in product(*(each[name] for name in names)):
            yield dict(zip(names, values, strict=True))


def _candidates(estimator: Any, grid: Any) -> list[_Candidate]:
    points = list(parameter_grid(grid))
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


def _penalty(candidates: list[_Candidate], select: str) -> Floats | None:
    """Return the penalty level of each candidate if ``select`` needs it."""
    if select not in ("min", "1se"):
        raise ValueError(f"select must be 'min' or '1se'. Got {select!r}.")
    if select == "min":
        return None
    names = sorted({name for each in candidates for name in each.parameters})
    grid = {name: [each.parameters.get(name) for each in candidates] for name in names}
    penalty = penalties_of(grid)
    if penalty is None:
        raise ValueError(
            "select='1se' compares values of one penalty, so the grid must have only C or alpha. "
            f"It has {names}."
        )
    return penalty


def penalties_of(grid: Mapping[str, Any]) -> Floats | None:
    """Return the penalty level of each candidate of a grid of C or alpha alone; None for others."""
    name = next(iter(grid)) if len(grid) == 1 else ""
    if name.rpartition("__")[2] not in PENALTIES:
        return None
    values = np.array(list(grid[name]), dtype=np.float64)
    return PENALTIES[name.rpartition("__")[2]](values)


def _within_one_error(table: dict[str, Any], name: str, n_folds: int, penalty: Floats) -> int:
    folds = np.stack([table[f"split{k}_test_{name}"] for k in range(n_folds)])
    return one_standard_error_index(table[f"mean_test_{name}"], standard_errors(folds), penalty)


def _decides(refit: bool | str, names: list[str], several: bool) -> str | None:
    """Return the score that selects the best candidate; None if there are several."""
    if not several:
        return names[0]
    if refit is False:
        return None
    if refit not in names:
        raise ValueError(
            f"With several scores refit must name the one that selects: one of {names}, or False. "
            f"Got {refit!r}."
        )
    return str(refit)


def _how(folds: Sequence[FoldResult]) -> str:
    kinds = list(dict.fromkeys(fold.how for fold in folds))
    return kinds[0] if len(kinds) == 1 else "mixed"


@dataclass(frozen=True)
class _Work:
    """Validation of candidates, together if that saves work."""

    problem: Problem
    splits: Sequence[Split]
    scorers: list[Scorer]
    weight: Floats | None
    n_jobs: int | None
    train_scores: bool

    def run(self, candidates: list[_Candidate]) -> list[list[FoldResult]]:
        """Return the result of each candidate and fold."""
        notices = Notices("fit")
        result: list[list[FoldResult]] = [[] for _ in candidates]
        for indices in _groups(candidates):
            estimators = [self._threaded(candidates[index].estimator) for index in indices]
            results = self._validate(estimators, indices, notices)
            for index, folds in zip(indices, results, strict=True):
                result[index] = folds
        notices.issue(len(candidates) * len(self.splits))
        return result

    def refit(self, candidate: _Candidate) -> Any:
        """Return the estimator of a candidate, fitted to all rows."""
        return refit(self.problem, np.arange(self.problem.n_rows), candidate.estimator)

    def _validate(
        self, estimators: list[Any], indices: list[int], notices: Notices
    ) -> list[list[FoldResult]]:
        """Validate candidates that share work."""
        fits = None
        if is_pipeline(estimators[0]) and _shared_parameter(estimators[0]):
            fits = _piped_fits(self.problem, estimators, self.splits)
        return validate(
            self.problem,
            estimators,
            self.splits,
            notices,
            self.scorers,
            self.weight,
            fits=fits,
            number=lambda candidate, fold: indices[candidate] * len(self.splits) + fold,
            train_scores=self.train_scores,
            keep_predictions=False,
        )

    def _threaded(self, estimator: Any) -> Any:
        """Return an estimator with the requested number of threads, if it has such a parameter."""
        shared = _shared_parameter(estimator) or ""
        name = f"{shared.rpartition('__')[0]}__n_jobs" if "__" in shared else "n_jobs"
        if self.n_jobs is None or not shared or name not in estimator.get_params():
            return estimator
        return clone(estimator).set_params(**{name: self.n_jobs})


def _shared_parameter(estimator: Any) -> str | None:
    """Return the parameter in which candidates with shared work may differ, if there is one."""
    if is_pipeline(estimator):
        name, last = estimator.steps[-1]
        return f"{name}__{last.regularization}" if hasattr(last, "path_solver") else None
    return estimator.regularization if hasattr(estimator, "fold_fits") else None


def _groups(candidates: list[_Candidate]) -> list[list[int]]:
    """Return the groups of candidates that are validated together."""
    together: dict[tuple[Any, ...], list[int]] = {}
    for index, candidate in enumerate(candidates):
        name = _shared_parameter(candidate.estimator)
        key = (index,) if name is None else candidate.alike(name)
        together.setdefault(key, []).append(index)
    return list(together.values())


def _piped_fits(
    problem: Problem, pipelines: list[Any], splits: Sequence[Split]
) -> Iterator[FoldFit] | None:
    """Return fits of pipelines that differ in the regularization of their last step.

    The other steps are fitted once per fold. None if the last steps cannot share work.
    """
    learners = [each.steps[-1][1] for each in pipelines]
    if learners[0].fold_fits(problem, learners, splits) is None:
        return None
    folds = [_PipedFold(problem, split, pipelines) for split in splits]
    return (
        FoldFit(fold, index, partial(one.fit, index))
        for fold, one in enumerate(folds)
        for index in range(len(pipelines))
    )


class _PipedFold:
    """Pipelines that differ in the regularization of their last step, fitted to one fold."""

    def __init__(self, problem: Problem, split: Split, pipelines: list[Any]) -> None:
        self._problem, self._split, self._pipelines = problem, split, pipelines
        self._steps: list[Any] = []
        self._fitted: dict[int, Any] = {}

    def _solve(self) -> None:
        """Fit the steps before the learners once, then the learners together."""
        problem, train = self._problem, self._split.train
        X, y = take(problem.X, train), take(problem.y, train)
        self._steps = clone(self._pipelines[0]).steps[:-1]
        if self._steps:
            X = import_module("sklearn.pipeline").Pipeline(self._steps).fit_transform(X, y)
        weight = None if problem.weight is None else problem.weight[train]
        learners = [each.steps[-1][1] for each in self._pipelines]
        own = Problem(learners[0], X, y, len(train), weight)
        every = Split(len(train), np.empty(0, np.intp), np.arange(len(train)))
        for one in learners[0].fold_fits(own, learners, [every]):
            self._fitted[one.candidate] = one.fit().estimator

    def fit(self, position: int) -> FittedFold:
        """Return the fold of one pipeline."""
        if not self._steps and not self._fitted:
            self._solve()
        fitted = clone(self._pipelines[position])
        fitted.steps = [*self._steps, (fitted.steps[-1][0], self._fitted.pop(position))]
        return fold_of(fitted, self._problem, self._split, "lanes")
