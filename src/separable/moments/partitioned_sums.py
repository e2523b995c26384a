"""Sums of moment learners over partitions: of all rows, or of every fold, from one pass."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.estimator import clone
from separable.fitting.targets import RowWeights
from separable.statistics.moments import Moments
from separable.statistics.partitions import Task
from separable.statistics.weighted_rows import Data

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from separable.moments.base import MomentEstimator, RowSums
    from separable.statistics.moments import Target
    from separable.statistics.partitions import Batch, Partitions, TaskSums

__all__ = ["SumsTask", "fold_moments", "partition_sums"]


@dataclass(frozen=True)
class SumsTask(Task):
    """Sums that add exactly, named by fold, each as an array of one object.

    Parameters
    ----------
    sums_of : callable
        Returns the sums of a batch; picklable.
    by_fold : bool
        Whether each fold has its own; otherwise all rows are fold 0.
    """

    sums_of: Callable[[Batch], Any]
    by_fold: bool = False

    def __call__(self, batch: Batch) -> TaskSums:
        """Return the sums of one batch."""
        if batch.fold is None or not self.by_fold:
            return {"0": _boxed(self.sums_of(batch))}
        return {
            str(fold): _boxed(self.sums_of(batch.take(np.flatnonzero(batch.fold == fold))))
            for fold in np.unique(batch.fold).tolist()
        }

    def merge(self, total: TaskSums, part: TaskSums) -> TaskSums:
        """Add the sums of folds that both have."""
        for fold, sums in part.items():
            total[fold] = total[fold] + sums if fold in total else sums
        return total


def _boxed(sums: Any) -> NDArray[Any]:
    """Return an object as an array, which is added and pickled like others."""
    box = np.empty(1, dtype=object)
    box[0] = sums
    return box


def _moments(target: Target, batch: Batch) -> Moments:
    data = Data(batch.rows, batch.y, RowWeights(None, batch.weight), batch.rows)
    return Moments(target, products=True).add_data(data, is_whole=True)


def fold_moments(partitions: Partitions, target: Target) -> dict[int, Moments]:
    """Return the sums of each fold from one pass; without folds of fold 0.

    Parameters
    ----------
    partitions : Partitions
    target : "numbers" or "classes"

    Examples
    --------
    >>> from separable.data.rows import as_rows
    >>> from separable.statistics.partitions import Batch, InMemoryPartitions
    >>> rows = as_rows([[1.0], [2.0], [6.0]])
    >>> batch = Batch(rows, np.zeros(3), fold=np.array([0, 0, 1], np.int32))
    >>> moments = fold_moments(InMemoryPartitions([batch]), "numbers")
    >>> moments[0].mean, (moments[0] + moments[1]).mean
    (array([1.5]), array([3.]))
    """
    sums = partitions.sums(SumsTask(partial(_moments, target), by_fold=True))
    return {int(fold): sums[fold][0] for fold in sorted(sums, key=int)}


def _sums_of(learner: MomentEstimator[Any], classes: NDArray[Any] | None, batch: Batch) -> RowSums:
    y = batch.y if classes is None else classes[batch.y]
    sums: RowSums = learner._new_sums().add_data(learner._read(batch.rows, y, batch.weight))
    return sums


def partition_sums(
    partitions: Partitions, learner: MomentEstimator[Any], classes: NDArray[Any] | None = None
) -> RowSums:
    """Return the sums of all rows that a learner needs, for `MomentEstimator.fit_sums`.

    Parameters
    ----------
    partitions : Partitions
    learner : MomentEstimator
        Its parameters decide which sums; not fitted here.
    classes : ndarray or None
        The label of each code of `Batch.y`; None in regression.

    Examples
    --------
    >>> import numpy as np
    >>> from separable import Ridge
    >>> from separable.data.rows import as_rows
    >>> from separable.statistics.partitions import Batch, InMemoryPartitions
    >>> batch = Batch(as_rows([[1.0], [2.0], [4.0]]), np.array([2.0, 4.0, 8.0]))
    >>> rows = InMemoryPartitions([batch.slice(0, 2), batch.slice(2, 3)])
    >>> Ridge(alpha=1e-9).fit_sums(partition_sums(rows, Ridge())).coef_.round(6)
    array([2.])
    """
    prepared: MomentEstimator[Any] = clone(learner)
    prepared.check_parameters()
    prepared._check_sums_suffice()
    prepared.n_features_in_ = partitions.n_features
    prepared._column_names = prepared._encoder = None
    sums: RowSums = partitions.sums(SumsTask(partial(_sums_of, prepared, classes)))["0"][0]
    return sums
