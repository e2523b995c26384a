"""Nested cross-validation: the error of the model that a search would choose."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.fitting.best_candidate import standard_errors
from separable.fitting.fold_fits import Notices, refit
from separable.fitting.predictions import ask
from separable.fitting.scorers import MetricScorer, metric_scorer, read_scoring, score_rows
from separable.fitting.splits import read_folds, take
from separable.model.words import lined_up
from separable.select.comparison import check_one_score, metric_of
from separable.select.cross_validation import noting, read_problem
from separable.select.grid_search import search
from separable.select.results import shown_number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from separable.fitting.fold_fits import Problem
    from separable.fitting.splits import Split
    from separable.typing import Floats


__all__ = ["NestedValidation", "nested_cross_validate"]

#: Attributes with the parameters that a self-tuning estimator selected.
SELECTED = ("C_", "alpha_", "l1_ratio_")
#: Remedy for rows sorted by y.
NESTED_REMEDY = "Give splitters with shuffle=True, such as KFold, as cv and inner_cv"


@dataclass(frozen=True, eq=False, repr=False)
class NestedValidation:
    """Scores of selected models on rows that were not used to select them.

    Parameters
    ----------
    learner : str
        The class of the estimator.
    metric : str
        Name of the score.
    greater_is_better : bool
    scores : ndarray, shape (k,)
        Score of the model selected in each outer fold, on the rows that this fold held out.
    inner_scores : ndarray, shape (k,)
        The best mean over the inner folds, by which that model was selected; NaN for an estimator
        that tunes itself.
    chosen : tuple of dict
        The parameters selected in each outer fold.
    n_candidates : int
        Number of candidates in each outer fold; 0: the estimator tunes itself.
    """

    learner: str
    metric: str
    greater_is_better: bool
    scores: Floats
    inner_scores: Floats
    chosen: tuple[dict[str, Any], ...]
    n_candidates: int

    @property
    def mean(self) -> float:
        """Mean of the outer scores: the expected performance of a model selected this way."""
        return float(np.mean(self.scores))

    @property
    def standard_error(self) -> float:
        """Standard error of the mean, s / sqrt(k); NaN for one fold."""
        return float(standard_errors(self.scores[:, None])[0])

    @property
    def inner_mean(self) -> float:
        """Mean of the scores that selected the models: optimistic, more so with more candidates."""
        return float(np.mean(self.inner_scores))

    @property
    def optimism(self) -> float:
        """Difference by which the inner mean is better than the outer mean."""
        sign = 1.0 if self.greater_is_better else -1.0
        return sign * (self.inner_mean - self.mean)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as lists, numbers and text; parameters as they were given."""
        return {
            "learner": self.learner,
            "metric": self.metric,
            "greater_is_better": self.greater_is_better,
            "scores": self.scores.tolist(),
            "inner_scores": self.inner_scores.tolist(),
            "chosen": [dict(each) for each in self.chosen],
            "n_candidates": self.n_candidates,
            "mean": self.mean,
            "standard_error": self.standard_error,
            "inner_mean": self.inner_mean,
            "optimism": self.optimism,
        }

    def to_text(self) -> str:
        """Return a table of the selected parameters and scores by outer fold."""
        table = [["fold", "chosen", self.metric, "inner"]]
        for k, params in enumerate(self.chosen):
            text = ", ".join(f"{name}={value}" for name, value in params.items())
            figures = [float(self.scores[k]), float(self.inner_scores[k])]
            table.append([str(k), text, *map(shown_number, figures)])
        table.append(["mean", "", shown_number(self.mean), shown_number(self.inner_mean)])
        table.append(["std. error", "", shown_number(self.standard_error), ""])
        n, k = self.n_candidates, len(self.chosen)
        itself = "self-tuning" if any(self.chosen) else "selection unknown"
        by = f"best of {n} candidate{'s' * (n > 1)}" if n else itself
        lines = [f"{self.learner}, {by}, {k} outer fold{'s' * (k > 1)}", lined_up(table, left=2)]
        if not math.isnan(self.optimism):
            than = "better" if self.optimism >= 0 else "worse"
            lines.append(
                f"The inner scores, which selected the models, are {than} than the outer ones by "
                f"{shown_number(abs(self.optimism))}."
            )
        return "\n".join(lines)

    def __repr__(self) -> str:
        return self.to_text()


def nested_cross_validate(
    estimator: Any,
    grid: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Sequence[Any]]] | None,
    X: Any,
    y: Any,
    *,
    cv: Any = 5,
    inner_cv: Any = 5,
    scoring: Any = None,
    select: str = "min",
    sample_weight: Any = None,
    groups: Any = None,
    score_weight: Any = None,
    n_jobs: int | None = None,
) -> NestedValidation:
    """Estimate the performance of the model that a search selects, by nested cross-validation.

    The best score of a search is optimistic: it is the maximum of many noisy scores. Here every
    outer fold is held out from a whole `search` on the other rows, which has its own inner folds,
    and then scores the selected model. This estimates the search as a whole; the model to use is
    that of ``search(estimator, grid, X, y)``.

    Parameters
    ----------
    estimator : estimator
        Any estimator with ``fit`` and ``predict``. It is not modified.
    grid : dict of str to sequence, a list of such dicts, or None
        As in `search`. None: the estimator tunes itself, like `LassoCV`, `LogisticRegressionCV` or
        scikit-learn's searches. Plain `cross_validate` of such an estimator is already nested and
        gives the same scores; this function also lists the parameters selected in each fold.
    X : array-like, sparse matrix or data frame of shape (n, d)
    y : array-like of shape (n,) or (n, t)
    cv : int, splitter or iterable of (train, test), default 5
        The outer folds, as in `cross_validate`; with ``groups`` a number of folds that keep each
        group together.
    inner_cv : int or splitter, default 5
        The folds of each search, within the training rows of the outer fold. Not for
        ``grid=None``.
    scoring : str, callable or None, default None
        A name of ``separable.model.metrics.METRICS``, in its own direction, or one of
        scikit-learn's scorers. It selects candidates and scores the outer folds. None: accuracy,
        R2, or the estimator's own score.
    select : {"min", "1se"}, default "min"
        As in `search`. Not for ``grid=None``.
    sample_weight : array-like of shape (n,), optional
        For training only.
    groups : array-like of shape (n,), optional
        Rows of one group are held out together, in outer and in inner folds.
    score_weight : array-like of shape (n,), optional
        Weights of the rows in scores.
    n_jobs : int or None, default None
        Number of threads for lanes; None: as set in the estimator. Not for ``grid=None``.

    Returns
    -------
    NestedValidation

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from separable import LogisticRegression
    >>> from separable.select import nested_cross_validate
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> grid = {"C": [0.01, 0.1, 1, 10]}
    >>> nested_cross_validate(LogisticRegression(standardize=True), grid, X, y, cv=3)
    LogisticRegression, best of 4 candidates, 3 outer folds
    ...
    """
    problem, weight = read_problem(estimator, X, y, sample_weight, score_weight)
    check_one_score(scoring)
    if grid is None:
        _refuse_given(type(estimator).__name__, inner_cv=inner_cv, select=select, n_jobs=n_jobs)
    scorer = metric_scorer(scoring, problem.y)
    if isinstance(scorer, MetricScorer):
        scorer.check(estimator)
    splits = problem.folds(cv, groups, remedy=NESTED_REMEDY)
    work = _Work(problem, scorer, weight, grid, inner_cv, select, groups, n_jobs)
    notices, result = Notices("outer fold"), []
    for k, split in enumerate(splits):
        with notices.of_fold(k), noting(k, len(splits)):
            result.append(work.fold(split))
    notices.issue(len(splits))
    metric, better = metric_of(scorer, estimator)
    sign = scorer.sign if isinstance(scorer, MetricScorer) else 1.0
    return NestedValidation(
        learner=type(estimator).__name__,
        metric=metric,
        greater_is_better=better,
        scores=sign * np.array([each.score for each in result]),
        inner_scores=sign * np.array([each.inner for each in result]),
        chosen=tuple(each.chosen for each in result),
        n_candidates=result[0].n_candidates,
    )


def _selected_parameters(fitted: Any) -> dict[str, Any]:
    """Return the parameters that a self-tuning estimator selected."""
    best = getattr(fitted, "best_params_", None)  # of scikit-learn's searches
    if best is not None:
        return dict(best)
    return {name[:-1]: getattr(fitted, name) for name in SELECTED if hasattr(fitted, name)}


def _refuse_given(owner: str, *, inner_cv: Any, select: str, n_jobs: int | None) -> None:
    """Refuse arguments of a search if the estimator tunes itself."""
    given = {"inner_cv": inner_cv != 5, "select": select != "min", "n_jobs": n_jobs is not None}
    for name, mask in given.items():
        if mask:
            raise ValueError(
                f"Without a grid {owner} tunes itself, and {name} has no effect. Set its own "
                "parameters, or give a grid."
            )


@dataclass(frozen=True)
class _Chosen:
    """Selection of an outer fold: the parameters, their inner score and their outer score."""

    score: float
    inner: float
    chosen: dict[str, Any]
    n_candidates: int


@dataclass(frozen=True)
class _Work:
    """Selection on the training rows of an outer fold, and scores of its held-out rows."""

    problem: Problem
    scorer: Any
    weight: Floats | None
    grid: Any
    inner_cv: Any
    select: str
    groups: Any
    n_jobs: int | None

    def fold(self, split: Split) -> _Chosen:
        """Return the selection and the scores of one outer fold."""
        if self.grid is None:
            fitted = refit(self.problem, split.train)
            return _Chosen(self._score(fitted, split), math.nan, _selected_parameters(fitted), 0)
        result = self._search(split.train)
        score = self._score(result.best_estimator_, split)
        n_candidates = len(result.cv_results_["params"])
        return _Chosen(score, result.best_score_, dict(result.best_params_), n_candidates)

    def _search(self, train: NDArray[np.intp]) -> Any:
        weight, groups, score_weight = (
            None if each is None else np.asarray(each)[train]
            for each in (self.problem.weight, self.groups, self.weight)
        )
        X, y = take(self.problem.X, train), take(self.problem.y, train)
        folds = read_folds(
            self.inner_cv,
            self.problem.estimator,
            X,
            y,
            groups,
            len(train),
            remedy=NESTED_REMEDY,
        )
        return search(
            self.problem.estimator,
            self.grid,
            X,
            y,
            [(split.train, split.test) for split in folds],
            self.scorer,
            select=self.select,
            sample_weight=weight,
            groups=groups,
            score_weight=score_weight,
            n_jobs=self.n_jobs,
        )

    def _score(self, fitted: Any, split: Split) -> float:
        X, y = take(self.problem.X, split.test), take(self.problem.y, split.test)
        weight = None if self.weight is None else self.weight[split.test]
        scorers = read_scoring(self.scorer, fitted)
        return next(iter(score_rows(scorers, fitted, ask(fitted, X), X, y, weight).values()))
