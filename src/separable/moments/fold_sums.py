"""Fits of moment learners to folds, from the sums of their rows.

The rows of each test fold are summed once. The sums of the training rows are merged from the folds
before and after it, never subtracted. Folds whose sums lack digits are fitted to the rows.
"""

from __future__ import annotations

import math
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.resources import available_bytes
from separable.data.rows import Rows, as_rows
from separable.estimator import clone, is_classifier, is_regressor
from separable.fitting.fold_fits import FittedFold, FoldFit, LeftOut, held_back, refit, refit_fold
from separable.fitting.predictions import ask, predictions_from_scores
from separable.fitting.splits import runs_of, take
from separable.model.predict.scores import linear_scores
from separable.moments.base import MomentEstimator
from separable.moments.base_classifier import MomentClassifier
from separable.statistics.held_out import each_complement

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from separable.fitting.fold_fits import Problem
    from separable.fitting.splits import Split
    from separable.model.metrics.metric_registry import Predictions
    from separable.moments.base import RowSums
    from separable.statistics.weighted_rows import Data

__all__ = ["fold_fits", "growing_fits", "left_out"]

EPS = float(np.finfo(np.float64).eps)
#: The error that sums may leave in what is not explained of y, relative to that.
ALLOWED = 1e-9
#: Below this fraction of y not explained, errors of sums show in the scores.
EXPLAINED = 1e-6
#: Sums held at once, times the number of folds: of each, and of those after it.
MATRICES = 2.5


def fold_fits(
    problem: Problem, candidates: Sequence[Any], splits: Sequence[Split]
) -> Iterator[FoldFit] | None:
    """Return the fits of all folds from sums; None if some are better solved from rows."""
    base, data = _read(problem, candidates[0])
    if base._solves_together(data):
        return _fits_together(problem, base, data, candidates, splits)
    if any(_is_solved_from_rows(problem, split) for split in splits):
        return None
    fits = _SummedFits(problem, candidates, splits)
    return fits.each(fits.merged_sums())


def growing_fits(problem: Problem, splits: Sequence[Split]) -> Iterator[FoldFit]:
    """Return the fits to more and more rows, from the sums of the rows so far."""
    fits = _SummedFits(problem, [problem.estimator], splits)
    return fits.each(fits.growing_sums())


def _fits_together(
    problem: Problem,
    base: MomentEstimator[Any],
    data: Data,
    candidates: Sequence[Any],
    splits: Sequence[Split],
) -> Iterator[FoldFit]:
    """Yield the fits of all candidates, solved side by side from the rows of each fold."""
    bases = [base, *(_prepared(problem, each) for each in candidates[1:])]
    for fold, split in enumerate(splits):
        solutions = base._solve_together(data.present(split.train), bases)
        if solutions is None:
            for index, each in enumerate(bases):
                yield FoldFit(fold, index, partial(refit_fold, problem, each, split))
            continue
        weights = np.concatenate([each.weights for each in solutions])
        intercept = np.concatenate([each.intercept for each in solutions])
        scores = linear_scores(data.rows.take(split.test), weights, intercept)
        parts = np.split(scores, len(bases), axis=1)
        for index, (each, solution) in enumerate(zip(bases, solutions, strict=True)):
            predictions = predictions_from_scores(each, parts[index], None)
            fitted = FittedFold(each._with_solution(solution), "lanes", predictions)
            yield FoldFit(fold, index, partial(_same, fitted))


def _same(fitted: FittedFold) -> FittedFold:
    return fitted


class _SummedFits:
    """Solutions of candidates on each fold from the sums of its training rows."""

    def __init__(
        self, problem: Problem, candidates: Sequence[Any], splits: Sequence[Split]
    ) -> None:
        self._problem, self._candidates, self._splits = problem, candidates, splits
        self._first, self._data = _read(problem, candidates[0])
        self._spread: Any = None
        if is_regressor(self._first):  # squares in a unit in which they neither vanish nor overflow
            largest = np.abs(self._data.y).max(initial=0.0)
            self._unit = -np.clip(np.frexp(largest)[1], -1000, 1000)
            self._spread = np.var(np.ldexp(self._data.y, self._unit), axis=0)

    def each(self, sums: Iterator[RowSums | None]) -> Iterator[FoldFit]:
        """Yield the fits of all candidates, fold by fold."""
        bases = [self._first, *(_prepared(self._problem, each) for each in self._candidates[1:])]
        for fold, own in enumerate(sums):
            few = None
            if own is not None and _is_solvable(own):
                few = self._first._few_rows(own, self._data.rows.take(self._splits[fold].test))
            for index, base in enumerate(bases):
                yield FoldFit(fold, index, partial(self._fit, base, own, fold, few))

    def _fit(
        self, base: MomentEstimator[Any], sums: RowSums | None, fold: int, few: Any
    ) -> FittedFold:
        split = self._splits[fold]
        scores = None if few is None else base._scores_of(few)
        if scores is not None:  # the weights of all columns are made if they are asked for
            assert sums is not None
            lazy = base._with_sums(sums)
            predictions = predictions_from_scores(lazy, scores, sums.classes)
            return FittedFold(lazy, "sums", predictions)
        made = None if sums is None else _solved(base, sums)
        if made is not None:
            predictions = _ask_once(made, take(self._problem.X, split.test))
            if self._has_digits(made, predictions, split.test):
                return FittedFold(made, "sums", predictions)
        return refit_fold(self._problem, base, split)

    def merged_sums(self) -> Iterator[RowSums | None]:
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

    def growing_sums(self) -> Iterator[RowSums | None]:
        """Yield the sums of the rows so far; None where rows are better than sums."""
        sums, done = self._first._new_sums(), 0
        for split in self._splits:
            if _is_solved_from_rows(self._problem, split):
                yield None
                continue
            sums.add_data(self._data, split.train[done:])
            done = split.n_train
            yield sums

    def _added(self, rows: NDArray[np.intp]) -> RowSums:
        sums: RowSums = self._first._new_sums().add_data(self._data, rows)
        return sums

    def _parts(self, tests: list[NDArray[np.intp]]) -> list[RowSums] | None:
        parts: list[RowSums] = []
        for rows in tests:
            parts.append(self._added(rows))
            if len(parts) == 1 and MATRICES * len(tests) * _bytes(parts[0]) > available_bytes():
                return None
        return parts

    def _has_digits(
        self, made: MomentEstimator[Any], predictions: Predictions, test: NDArray[np.intp]
    ) -> bool:
        """Say whether errors of the sums stay far below what is not explained of y."""
        error = float(10.0 ** -_digits(made._solved().evidence))  # nothing that was deferred
        if self._spread is None:
            return error <= ALLOWED
        errors = np.ldexp(predictions.predicted - self._data.y[test], self._unit)
        left = np.mean(errors**2, axis=0)
        if not self._spread.all() or (left < EXPLAINED * self._spread).any():
            return False
        model, row = made._weights_only(), self._data.rows.take(test[:1])
        sizes = Rows(np.abs(row.values), row.n_features, row.indices, row.indptr)
        terms = linear_scores(sizes, np.abs(model.weights), np.abs(model.intercept))
        terms = np.ldexp(terms[0], self._unit)
        most = np.maximum(error * np.sqrt(self._spread), EPS * terms)
        return bool((most <= ALLOWED * np.sqrt(left)).all())


def left_out(problem: Problem) -> LeftOut | None:
    """Return leave-one-out predictions in closed form; None if the learner has none."""
    base, data = _read(problem, problem.estimator)
    present, sums = data.present(), base._new_sums()
    with held_back() as caught:
        if not (_solves_rows(base) and data.is_wide):
            sums.add_data(present)
        scores = base._left_out_scores(sums, present) if data.n_counted > 1 else None
        if scores is None:
            caught.clear()
            return None
    classes = sums.classes
    if classes is None and is_classifier(base):  # there are no sums
        classes = np.unique(present.y)
    if data.counted.rows is not None:  # rows of weight 0 are not in the fit, only predicted
        fitted = refit(problem, np.arange(problem.n_rows))
        score = fitted.decision_function if is_classifier(fitted) else fitted.predict
        every = np.array(score(problem.X), dtype=np.float64).reshape(problem.n_rows, -1)
        every[data.counted.rows] = scores
        scores = every
    missing = np.isnan(scores).any(axis=1)
    predictions = predictions_from_scores(
        problem.estimator, np.where(np.isnan(scores), 0.0, scores), classes
    )
    return LeftOut(
        predictions, np.flatnonzero(missing), np.zeros(len(scores)), np.asarray(~missing)
    )


def _is_solved_from_rows(problem: Problem, split: Split) -> bool:
    """Say whether a learner trains on so few rows that it solves without sums."""
    if not _solves_rows(problem.estimator):
        return False
    counted = split.n_train
    if problem.weight is not None:
        counted = int(np.count_nonzero(problem.weight[split.train]))
    columns = as_rows(take(problem.X, split.test[:1]), check_values=False).n_features
    return columns > counted


def _solves_rows(learner: MomentEstimator[Any]) -> bool:
    return type(learner)._solve_rows is not MomentEstimator._solve_rows


def _read(problem: Problem, estimator: Any) -> tuple[MomentEstimator[Any], Data]:
    """Return a clone of a learner that knows its columns, and the data as it reads it."""
    base = clone(estimator)
    base.check_parameters()
    data = base._read(problem.X, problem.y, problem.weight)
    base._remember_columns(problem.X)
    return base, data


def _prepared(problem: Problem, estimator: Any) -> MomentEstimator[Any]:
    """Return a clone of a learner that knows its columns."""
    base: MomentEstimator[Any] = clone(estimator)
    base.check_parameters()
    base._remember_columns(problem.X)
    return base


def _solved(base: MomentEstimator[Any], sums: RowSums) -> MomentEstimator[Any] | None:
    """Return the estimator that has learned from sums; None where they do not tell enough."""
    if not _is_solvable(sums):
        return None  # a fit refuses these, and says why
    made = base._with_sums(sums)
    with held_back() as caught:
        try:
            made._solved()
        except ValueError:
            caught.clear()
            return None
    return made


def _is_solvable(sums: RowSums) -> bool:
    return not sums.is_empty and (sums.classes is None or len(sums.classes) >= 2)


def _ask_once(made: MomentEstimator[Any], X: Any) -> Predictions:
    """Return what ``ask`` does, with one product of rows and weights."""
    if not isinstance(made, MomentClassifier) or type(made).predict is not MomentClassifier.predict:
        return ask(made, X)
    scores = made.decision_function(X)
    return predictions_from_scores(made, scores.reshape(len(scores), -1), made.classes_)


def _digits(evidence: Mapping[str, Any]) -> float:
    """Return the correct digits that a solution from sums claims."""
    if "digits" in evidence:
        return float(evidence["digits"])
    condition = evidence.get("condition_number", 1.0)
    return 0.0 if condition is None else -math.log10(max(condition, 1.0) * EPS)


def _bytes(sums: RowSums) -> int:
    return 0 if sums.is_empty else sum(a.nbytes for a in sums.to_state().tensors.values())
