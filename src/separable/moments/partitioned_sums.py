"""Sums of any moment learner over partitions, from one pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.estimator import clone
from separable.statistics.partitions import Task

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.moments.base import MomentEstimator, RowSums
    from separable.statistics.partitions import Batch, Partitions, TaskSums

__all__ = ["SumsTask", "partition_sums"]


@dataclass(frozen=True)
class SumsTask(Task):
    """The sums of a moment learner, as an array of one object: addition merges them exactly.

    Parameters
    ----------
    learner : MomentEstimator
        Its parameters decide which sums it needs.
    classes : ndarray or None
        The label of each code of `Batch.y`; None in regression.
    """

    learner: MomentEstimator[Any]
    classes: NDArray[Any] | None = None

    def __call__(self, batch: Batch) -> TaskSums:
        """Return the sums of one batch."""
        y = batch.y if self.classes is None else self.classes[batch.y]
        data = self.learner._read(batch.rows, y, batch.weight)
        sums = np.empty(1, dtype=object)
        sums[0] = self.learner._new_sums().add_data(data)
        return {"sums": sums}


def partition_sums(
    partitions: Partitions, learner: MomentEstimator[Any], classes: NDArray[Any] | None = None
) -> RowSums:
    """Return the sums of all rows, for `MomentEstimator.fit_sums`.

    Parameters
    ----------
    partitions : Partitions
    learner : MomentEstimator
        Not fitted here.
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
    sums: RowSums = partitions.sums(SumsTask(prepared, classes))["sums"][0]
    return sums
