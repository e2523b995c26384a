"""Fits to more and more rows, each of which goes on from the one before where that is exact."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.estimator import is_classifier
from separable.fitting.fold_fits import FoldFit, fold_of, refit, refits
from separable.fitting.splits import Split, take
from separable.online.base import OnlineEstimator

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from separable.fitting.fold_fits import FittedFold, Problem
    from separable.select.curves.training_sizes import Repetition

__all__ = ["growing_fits"]


def growing_fits(problem: Problem, made: Repetition, sizes: NDArray[np.intp]) -> Iterator[FoldFit]:
    """Return the fits of an estimator to the first rows of a repetition, size by size.

    Moment learners add the new rows to their sums; certified learners start from the weights and
    the dual point of the size before; online learners that pass once over the rows, in their
    order, go on with the new ones. All others are fitted to each size.
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
    """Yield fits that learn the new rows alone."""
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
