"""Fits to more and more rows, each of which goes on from the one before where that is exact."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone, is_classifier

from separable.certified.estimators.base import CertifiedEstimator
from separable.fitting.predictions import ask
from separable.fitting.splits import Split, take
from separable.moments.base import MomentEstimator
from separable.online.base import OnlineEstimator
from separable.select.fits import FittedFold, FromSums, Refits, solved_from_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from separable.moments.base import RowSums
    from separable.select.curves.training_sizes import Repetition
    from separable.select.fits import Problem

__all__ = ["growing_fits"]


def growing_fits(problem: Problem, made: Repetition, sizes: NDArray[np.intp]) -> Refits:
    """Return what fits an estimator to the first rows of a repetition, size by size.

    Moment learners add the new rows to their sums; certified learners start from the weights and
    the dual point of the size before; online learners that pass once over the rows, in their
    order, go on with the new ones. All others are fitted to each size.
    """
    splits = [Split(problem.n_rows, made.test, made.train[:m], False) for m in sizes.tolist()]
    estimator = problem.estimator
    if isinstance(estimator, MomentEstimator) and not estimator._needs_rows():
        return _AddedSums(problem, splits)
    if isinstance(estimator, CertifiedEstimator) and estimator._grows():
        return _WarmStarts(problem, splits)
    if isinstance(estimator, OnlineEstimator) and _passes_once(problem, splits):
        return _Streams(problem, splits)
    return Refits(problem, splits)


class _AddedSums(FromSums):
    """Solves from the sums of the rows so far."""

    def _sums_to_train(self) -> Iterator[RowSums | None]:
        sums, done = self._base._new_sums(), 0
        for split in self._splits:
            if solved_from_rows(self._problem, split):
                yield None
                continue
            sums.add_data(self._data, split.train[done:])
            done = split.n_train
            yield sums


class _GoesOn(Refits):
    """Keeps the estimator of the size before."""

    def fit(self, fold: int) -> FittedFold:
        """Return the next size; to be called for one after the other."""
        split = self._splits[fold]
        if fold:
            how = self._go_on(split.train, self._splits[fold - 1].n_train)
        else:
            self._fitted, how = self._begin(split.train), "refit"
        X_test = take(self._problem.X, split.test)
        return FittedFold(self._fitted, how, ask(self._fitted, X_test), X_test)

    def _begin(self, rows: NDArray[np.intp]) -> Any:
        return clone(self._problem.estimator).fit(*self._given(rows), **self._weights(rows))

    def _go_on(self, rows: NDArray[np.intp], n_known: int) -> str:
        """Learn rows, of which the first are known, and say how."""
        raise NotImplementedError

    def _given(self, rows: NDArray[np.intp]) -> tuple[Any, Any]:
        return take(self._problem.X, rows), take(self._problem.y, rows)

    def _weights(self, rows: NDArray[np.intp]) -> dict[str, Any]:
        weight = self._problem.weight
        return {} if weight is None else {"sample_weight": weight[rows]}


class _WarmStarts(_GoesOn):
    """Starts from the weights and the dual point of the size before."""

    def _begin(self, rows: NDArray[np.intp]) -> Any:
        made = clone(self._problem.estimator).set_params(warm_start=True)
        return made.fit(*self._given(rows), **self._weights(rows))

    def _go_on(self, rows: NDArray[np.intp], n_known: int) -> str:
        self._fitted._meet_rows(len(rows) - n_known)
        self._fitted.fit(*self._given(rows), **self._weights(rows))
        return "warm"


class _Streams(_GoesOn):
    """Learns the new rows alone."""

    def _go_on(self, rows: NDArray[np.intp], n_known: int) -> str:
        new = rows[n_known:]
        self._fitted.partial_fit(*self._given(new), **self._weights(new))
        return "stream"


def _passes_once(problem: Problem, splits: list[Split]) -> bool:
    """Say whether a fit is one pass over the rows in their order, and all classes come early."""
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
    """Return the labels of the rows that a split learns from."""
    rows = split.train
    if problem.weight is not None:
        rows = rows[problem.weight[rows] > 0]
    return np.asarray(take(problem.y, rows))
