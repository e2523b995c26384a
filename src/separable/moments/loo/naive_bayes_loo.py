"""Exact leave-one-out scores of naive Bayes from one fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.row_operations import distinct_rows, indicator_rows
from separable.fitting.targets import find_classes
from separable.model.predict.scores import linear_scores, row_blocks, segment_sums
from separable.moments.base_classifier import without_lone_classes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from separable.data.rows import Rows
    from separable.moments.naive_bayes.base_counts import NaiveBayes
    from separable.statistics.class_counts import ClassCounts
    from separable.statistics.weighted_rows import Data
    from separable.typing import Floats


__all__ = ["Doubtful", "NonZeros", "Without", "left_out_scores"]

#: Smallest fraction of a sum that must be left without a row; otherwise the row is refitted.
MIN_FRACTION_LEFT = 1e-6
#: Maximum number of refits.
MAX_REFITS = 64


@dataclass(frozen=True)
class NonZeros:
    """Non-zeros of some rows, each column at most once per row.

    Parameters
    ----------
    label : ndarray of int, shape (n,)
        The class of each row.
    weight : ndarray, shape (n,)
        Its weight.
    row, column, value : ndarray, shape (nnz,)
        The non-zeros.
    indptr : ndarray, shape (n + 1,)
        Start of each row.
    """

    label: NDArray[np.intp]
    weight: Floats
    row: NDArray[np.intp]
    column: NDArray[np.integer[Any]]
    value: Floats
    indptr: NDArray[np.integer[Any]]

    def total(self, terms: Floats) -> Floats:
        """Return the sum over the non-zeros of each row, (n,)."""
        return segment_sums(terms, self.indptr)


class Doubtful:
    """Subtraction of rows from sums, with a mask of the rows that lose too much precision."""

    def __init__(self, n_rows: int, *, exact: bool) -> None:
        self.rows = np.zeros(n_rows, np.bool_)
        self._exact = exact

    def smoothed(
        self, whole: Floats, taken: Floats, alpha: float | Floats, row: NDArray[np.intp] | None
    ) -> Floats:
        """Return whole - taken + alpha; ``row`` is the row of each entry, None: in order."""
        left = np.maximum(whole - taken, 0.0) + alpha
        if not self._exact:
            lost = (left < MIN_FRACTION_LEFT * whole) & (taken != 0)
            self.rows[np.flatnonzero(lost) if row is None else row[lost]] = True
        return left


class Without:
    """Leave-one-out scores from counts."""

    def __init__(self, counts: ClassCounts, alpha: float) -> None:
        self.counts, self.alpha = counts, alpha

    def joint(self, block: NonZeros, joint: Floats, doubtful: Doubtful) -> None:
        """Replace in ``joint``, (n, K), the scores that change."""
        raise NotImplementedError


def left_out_scores(learner: NaiveBayes, counts: ClassCounts, data: Data) -> Floats | None:
    """Return the leave-one-out scores, (n, k), or None."""
    assert counts.classes is not None
    n = data.rows.n_rows
    weight = np.ones(n) if data.counted.weight is None else data.counted.weight
    index = find_classes(data.y, counts.classes)
    weight = np.where(index < 0, 0.0, weight)  # rows of unknown classes are ignored
    label = np.maximum(index, 0).astype(np.intp)
    alpha = learner._alpha()
    without = learner._without(counts, alpha, weight)
    if without is None:
        return None
    rows = data.rows if counts.threshold is None else indicator_rows(data.rows, counts.threshold)
    full = learner._joint(counts, alpha)
    joint = linear_scores(rows, full.weights, full.intercept)
    doubtful = Doubtful(n, exact=counts.is_whole)
    for part, block in _blocks(distinct_rows(rows), label, weight):
        own = Doubtful(len(block.label), exact=counts.is_whole)
        without.joint(block, joint[part], own)
        doubtful.rows[part] = own.rows
    alone = (counts.rows[label] == 1) & (weight > 0)
    if learner._uses_prior(len(counts.classes)):
        joint += _log_priors(learner, counts, label, weight, alone, doubtful)
    again = np.flatnonzero(doubtful.rows & ~alone)
    if len(again) > MAX_REFITS:
        return None
    learner._refit_scores(data, counts.classes, joint, again)
    if len(counts.classes) == 2:
        scores = joint[:, 1:] - joint[:, :1]
    else:  # relative to the mean of the remaining classes
        left = np.ones_like(joint)
        left[alone, label[alone]] = 0.0
        scores = joint - ((joint * left).sum(axis=1) / left.sum(axis=1))[:, None]
    return without_lone_classes(scores, label, alone)


def _log_priors(
    learner: NaiveBayes,
    counts: ClassCounts,
    label: NDArray[np.intp],
    weight: Floats,
    alone: NDArray[np.bool_],
    doubtful: Doubtful,
) -> Floats:
    """Return the log-priors without each row, (n, K)."""
    n, k = len(label), len(counts.weight)
    if learner.class_prior is not None or not learner.fit_prior:
        return np.broadcast_to(learner._log_prior(counts), (n, k))
    prior = np.tile(np.log(counts.weight), (n, 1))
    left = doubtful.smoothed(counts.weight[label], weight, 0.0, None)
    doubtful.rows |= (left <= 0) & ~alone
    prior[np.arange(n), label] = np.log(np.where(left > 0, left, 1.0))
    rest = counts.weight.sum() - weight
    return prior - np.log(np.where(rest > 0, rest, 1.0))[:, None]


def _blocks(
    rows: Rows, label: NDArray[np.intp], weight: Floats
) -> Iterator[tuple[slice, NonZeros]]:
    """Yield the non-zeros of rows in blocks that fit in the cache."""
    for start, stop in row_blocks(rows):
        part = rows.slice(start, stop)
        if part.indptr is None or part.indices is None:
            row, column = np.nonzero(part.values)
            value = part.values[row, column]
            indptr = np.searchsorted(row, np.arange(part.n_rows + 1))
        else:
            row = np.repeat(np.arange(part.n_rows), np.diff(part.indptr))
            column, value, indptr = part.indices, part.values, part.indptr
        cut = slice(start, stop)
        values = value.astype(np.float64, copy=False)
        yield cut, NonZeros(label[cut], weight[cut], row, column, values, indptr)
