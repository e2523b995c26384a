"""`Moments` of folds as a task over partitions: exact sums of every fold from one pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from separable.fitting.targets import RowWeights
from separable.model.linear_model import TrainingState
from separable.statistics.moments import Moments
from separable.statistics.partitions import Task
from separable.statistics.weighted_rows import Data

if TYPE_CHECKING:
    from separable.statistics.moments import Target
    from separable.statistics.partitions import Batch, Partitions, TaskSums

__all__ = ["FoldMomentsTask", "fold_moments"]


@dataclass(frozen=True)
class FoldMomentsTask(Task):
    """The sums of the rows of each fold, named FOLD/TENSOR.

    Parameters
    ----------
    target : "numbers" or "classes"
    products : bool
        Whether products of columns are summed, d^2 numbers.
    """

    target: Target
    products: bool = True

    def __call__(self, batch: Batch) -> TaskSums:
        """Return the sums of one batch."""
        fold = np.zeros(len(batch), np.int32) if batch.fold is None else batch.fold
        sums: TaskSums = {}
        for one in np.unique(fold).tolist():
            part = batch.take(np.flatnonzero(fold == one)) if (fold != one).any() else batch
            data = Data(part.rows, part.y, RowWeights(None, part.weight), part.rows)
            moments = Moments(self.target, products=self.products)
            sums |= self._tensors(one, moments.add_data(data, is_whole=True))
        return sums

    def merge(self, total: TaskSums, part: TaskSums) -> TaskSums:
        """Merge the sums of folds that both have."""
        for fold in folds_of(part):
            moments = self.moments(part, fold)
            if fold in folds_of(total):
                moments = self.moments(total, fold) + moments
            total |= self._tensors(fold, moments)
        return total

    def _tensors(self, fold: int, moments: Moments) -> TaskSums:
        tensors = dict(moments.to_state().tensors)
        if moments.classes is not None:
            tensors["classes"] = moments.classes
        return {f"{fold}/{name}": values for name, values in tensors.items()}

    def moments(self, sums: TaskSums, fold: int) -> Moments:
        """Return the sums of one fold."""
        start = f"{fold}/"
        tensors = {k.removeprefix(start): v for k, v in sums.items() if k.startswith(start)}
        classes = tensors.pop("classes", None)
        values = {"target": self.target, "n_targets": None}
        if classes is not None:
            values["classes"] = classes.tolist()
        return Moments.from_state(TrainingState(tensors, values))


def folds_of(sums: TaskSums) -> list[int]:
    """Return the folds of named sums."""
    return sorted({int(name.partition("/")[0]) for name in sums})


def fold_moments(
    partitions: Partitions, target: Target, *, products: bool = True
) -> dict[int, Moments]:
    """Return the sums of each fold from one pass; without folds of fold 0.

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
    task = FoldMomentsTask(target, products)
    sums = partitions.sums(task)
    return {fold: task.moments(sums, fold) for fold in folds_of(sums)}
