"""Fitted estimators of all folds: from sums where that is exact, else fitted to the rows."""

from __future__ import annotations

import math
from copy import copy
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone, is_regressor
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from separable.certified.fold_lanes import has_lanes, lanes_of
from separable.data.memory import available_bytes
from separable.data.rows import Rows, as_rows, column_names
from separable.fitting.predictions import Answers, answers_of, ask
from separable.fitting.separation_error import naming_columns
from separable.fitting.splits import runs_of, take
from separable.model.predict.scores import linear_scores
from separable.moments.base import MomentEstimator
from separable.moments.base_classifier import MomentClassifier
from separable.select.fit_warnings import held_back
from separable.statistics.complements import each_complement

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from separable.certified.fold_lanes import Learned
    from separable.fitting.splits import Split
    from separable.moments.base import RowSums
    from separable.statistics.weighted_rows import Data
    from separable.typing import Floats


__all__ = [
    "FittedFold",
    "FromSums",
    "Lanes",
    "Problem",
    "Refits",
    "fits_of",
    "prepared",
    "refit",
    "solved_from_rows",
]

EPS = float(np.finfo(np.float64).eps)
#: The error that sums may leave in what is not explained of y, relative to that.
ALLOWED = 1e-9
#: Below this share of y not explained, errors of sums show in the scores.
EXPLAINED = 1e-6
#: Sums held at once, times the number of folds: of each, and of those after it.
MATRICES = 2.5


@dataclass(frozen=True)
class Problem:
    """Validation problem: the estimator and the data.

    Parameters
    ----------
    estimator : estimator
        Not fitted here, but cloned.
    X, y
        All rows.
    n_rows : int
        Their number.
    weight : ndarray of float64, shape (n,), or None
        For learning.
    """

    estimator: Any
    X: Any
    y: Any
    n_rows: int
    weight: Floats | None


@dataclass(frozen=True)
class FittedFold:
    """A fold after fitting and predicting."""

    estimator: Any
    how: str
    answers: Answers
    X_test: Any


def refit(problem: Problem, train: NDArray[np.intp]) -> Any:
    """Return a clone of the estimator that is fitted to some rows."""
    weight: dict[str, Floats] = {}
    if problem.weight is not None:
        weight = {weight_parameter(problem.estimator): problem.weight[train]}
    return clone(problem.estimator).fit(take(problem.X, train), take(problem.y, train), **weight)


def weight_parameter(estimator: Any) -> str:
    """Return the name under which ``fit`` takes weights."""
    if isinstance(estimator, Pipeline):
        name, last = estimator.steps[-1]
        return f"{name}__{weight_parameter(last)}"
    if not has_fit_parameter(estimator, "sample_weight"):
        raise ValueError(
            f"{type(estimator).__name__} learns without sample_weight. Leave it out, or repeat "
            "rows."
        )
    return "sample_weight"


class Refits:
    """Fits of a clone of the estimator to the training rows of each fold."""

    def __init__(self, problem: Problem, splits: Sequence[Split]) -> None:
        self._problem, self._splits = problem, splits

    def fit(self, fold: int) -> FittedFold:
        """Return a fold; to be called for one after the other."""
        split = self._splits[fold]
        fitted, X_test = refit(self._problem, split.train), take(self._problem.X, split.test)
        return FittedFold(fitted, "refit", ask(fitted, X_test), X_test)


class FromSums(Refits):
    """Solutions of each fold from the sums of its training rows.

    The rows of each test fold are summed once. What trains is merged from the folds before and
    after it, never subtracted. Folds whose sums lack digits are fitted to the rows.
    """

    def __init__(self, problem: Problem, splits: Sequence[Split]) -> None:
        super().__init__(problem, splits)
        self._base, self._data = prepared(problem)
        self._spread: Any = None
        if is_regressor(self._base):  # squares in a unit in which they neither vanish nor overflow
            largest = np.abs(self._data.y).max(initial=0.0)
            self._unit = -np.clip(np.frexp(largest)[1], -1000, 1000)
            self._spread = np.var(np.ldexp(self._data.y, self._unit), axis=0)
        self._sums = self._sums_to_train()

    def fit(self, fold: int) -> FittedFold:
        """Return a fold; to be called for one after the other."""
        return self.fit_from(next(self._sums), fold)

    def beside(self, problem: Problem) -> FromSums:
        """Return the same for an estimator that differs in what does not change the sums."""
        made = copy(self)
        made._problem, made._base = problem, clone(problem.estimator)
        made._base._check_parameters()
        made._base._remember_columns(problem.X)
        return made

    def each_sums(self) -> Iterator[RowSums | None]:
        """Return the sums of what the folds train on, one after the other."""
        return self._sums

    def fit_from(self, sums: RowSums | None, fold: int) -> FittedFold:
        """Return a fold from its sums."""
        made = None if sums is None else _solved(self._base, sums)
        if made is None:
            return super().fit(fold)
        test = self._splits[fold].test
        X_test = take(self._problem.X, test)
        predictions = _ask_once(made, X_test)
        if not self._has_digits(made, predictions, test):
            return super().fit(fold)
        return FittedFold(made, "sums", predictions, X_test)

    def _sums_to_train(self) -> Iterator[RowSums | None]:
        """Yield the sums of what each fold trains on; None where they do not fit in memory."""
        splits = self._splits
        for run in runs_of(splits):
            if len(run) == 1:
                yield self._added(splits[run[0]].train)
                continue
            tests = [splits[k].test for k in run]
            rest = np.ones(self._data.rows.n_rows, np.bool_)
            rest[np.concatenate(tests)] = False
            parts = self._parts([*tests, np.flatnonzero(rest)] if rest.any() else tests)
            if parts is None:
                yield from [None] * len(run)
            else:
                yield from islice(each_complement(parts), len(run))

    def _added(self, rows: NDArray[np.intp]) -> RowSums:
        sums: RowSums = self._base._new_sums().add_data(self._data, rows)
        return sums

    def _parts(self, places: list[NDArray[np.intp]]) -> list[RowSums] | None:
        parts: list[RowSums] = []
        for rows in places:
            parts.append(self._added(rows))
            if len(parts) == 1 and MATRICES * len(places) * _bytes(parts[0]) > available_bytes():
                return None
        return parts

    def _has_digits(
        self, made: MomentEstimator[Any], answers: Answers, test: NDArray[np.intp]
    ) -> bool:
        """Say whether errors of the sums stay far below what is not explained of y."""
        error = float(10.0 ** -_digits(made.evidence_))
        if self._spread is None:
            return error <= ALLOWED
        errors = np.ldexp(answers.predictions - self._data.y[test], self._unit)
        left = np.mean(errors**2, axis=0)
        if not self._spread.all() or (left < EXPLAINED * self._spread).any():
            return False
        model, row = made._weights_only(), self._data.rows.take(test[:1])
        sizes = Rows(np.abs(row.values), row.n_features, row.indices, row.indptr)
        terms = linear_scores(sizes, np.abs(model.weights), np.abs(model.intercept))
        terms = np.ldexp(terms[0], self._unit)
        most = np.maximum(error * np.sqrt(self._spread), EPS * terms)
        return bool((most <= ALLOWED * np.sqrt(left)).all())


class FromLanes(Refits):
    """Fits of all folds side by side, as lanes of one problem."""

    def __init__(self, problem: Problem, splits: Sequence[Split]) -> None:
        super().__init__(problem, splits)
        lanes = Lanes(problem, splits, [problem.estimator])
        self._lanes, self._learned = lanes, {each.fold: each for each in lanes.learn()}

    def fit(self, fold: int) -> FittedFold:
        """Return a fold."""
        return self._lanes.fold(self._learned.pop(fold))


class Lanes:
    """Folds x estimators that differ in C, or alpha, alone, as lanes.

    Parameters
    ----------
    problem : Problem
    splits : sequence of Split
    estimators : list of CertifiedEstimator
        Not fitted.
    certified : bool, default True
        False, in a search: without ``tol``, models may stop where their scores do not change much,
        and have no certificate.
    """

    def __init__(
        self,
        problem: Problem,
        splits: Sequence[Split],
        estimators: list[Any],
        *,
        certified: bool = True,
    ) -> None:
        self._problem, self._splits, self._estimators = problem, splits, estimators
        self._certified = certified or estimators[0].tol is not None
        for each in estimators:
            each._check_parameters()
        self._fold_data = estimators[0]._fold_data(problem.X, problem.y, problem.weight)

    def learn(self) -> Iterator[Learned]:
        """Yield the models of each fold and estimator, some at a time."""
        first = self._estimators[0]
        strengths = np.array(
            [getattr(each, first._regularization_name) for each in self._estimators]
        )
        options = first._solver_options()
        if not self._certified:
            options = replace(options, certified=False)
        lanes = lanes_of(
            first, self._fold_data, self._splits, strengths.astype(np.float64), options
        )
        with naming_columns(column_names(self._problem.X)):
            yield from lanes.learn()

    def fold(self, learned: Learned, *, with_rows: bool = True) -> FittedFold:
        """Return what was learned as a fold, without its rows where nobody asks for them."""
        is_certified = bool(learned.fitted.certificates)
        made = self.estimator(learned) if is_certified else self._estimators[learned.place]
        scores, classes = learned.scores, learned.classes(self._fold_data)
        X_test = take(self._problem.X, self._splits[learned.fold].test) if with_rows else None
        return FittedFold(made, "lanes", answers_of(made, scores, classes), X_test)

    def estimator(self, learned: Learned) -> Any:
        """Return the estimator as fitted to a fold."""
        made = clone(self._estimators[learned.place])
        return learned.give(made, self._fold_data, self._problem.X, warn=True)


def fits_of(problem: Problem, splits: Sequence[Split]) -> Refits:
    """Return what fits the folds: lanes or sums if the estimator can, else row by row."""
    if has_lanes(problem.estimator):
        return FromLanes(problem, splits)
    if not isinstance(problem.estimator, MomentEstimator) or problem.estimator._needs_rows():
        return Refits(problem, splits)
    if any(solved_from_rows(problem, split) for split in splits):
        return Refits(problem, splits)
    return FromSums(problem, splits)


def solved_from_rows(problem: Problem, split: Split) -> bool:
    """Say whether a moment learner trains on so few rows that it solves without sums."""
    if type(problem.estimator)._solve_rows is MomentEstimator._solve_rows:
        return False
    counted = split.n_train
    if problem.weight is not None:
        counted = int(np.count_nonzero(problem.weight[split.train]))
    columns = as_rows(take(problem.X, split.test[:1]), check_values=False).n_features
    return columns > counted


def prepared(problem: Problem) -> tuple[MomentEstimator[Any], Data]:
    """Return a clone of a moment learner that knows its columns, and the data as it reads it."""
    base = clone(problem.estimator)
    base._check_parameters()
    data = base._read(problem.X, problem.y, problem.weight)
    base._remember_columns(problem.X)
    return base, data


def _solved(base: MomentEstimator[Any], sums: RowSums) -> MomentEstimator[Any] | None:
    """Return the estimator that has learned from sums; None where they do not tell enough."""
    if sums.is_empty or (sums.classes is not None and len(sums.classes) < 2):
        return None  # a fit refuses these, and says why
    made = base._with_sums(sums)
    with held_back() as caught:
        try:
            made._solved()
        except ValueError:
            caught.clear()
            return None
    return made


def _ask_once(made: MomentEstimator[Any], X: Any) -> Answers:
    """Return what ``ask`` does, with one product of rows and weights."""
    if not isinstance(made, MomentClassifier) or type(made).predict is not MomentClassifier.predict:
        return ask(made, X)
    scores = made.decision_function(X)
    return answers_of(made, scores.reshape(len(scores), -1), made.classes_)


def _digits(evidence: Mapping[str, Any]) -> float:
    """Return the correct digits that a solution from sums claims."""
    if "digits" in evidence:
        return float(evidence["digits"])
    condition = evidence.get("condition_number", 1.0)
    return 0.0 if condition is None else -math.log10(max(condition, 1.0) * EPS)


def _bytes(sums: RowSums) -> int:
    return 0 if sums.is_empty else sum(a.nbytes for a in sums.to_state().tensors.values())
