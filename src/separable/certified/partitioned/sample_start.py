"""A first solution from a sample of the rows, so that fewer passes over all rows are needed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from separable.certified.partitioned.quasi_newton import solve_lanes
from separable.statistics.partitions import InMemoryPartitions

if TYPE_CHECKING:
    from separable.certified.partitioned.lane_problem import LaneProblem
    from separable.certified.partitioned.quasi_newton import PartitionedOptions
    from separable.certified.partitioned.summed_objective import LanePoint
    from separable.statistics.row_sample import RowSample

__all__ = ["sample_start"]

#: The relative gap to which the problem of a sample is solved, far below what sampling adds.
SAMPLE_TOL = 1e-4
#: Rows of each class that a sample must have in each fold; with fewer it says little.
FEWEST = 10


def sample_start(
    sample: RowSample, lanes: LaneProblem, options: PartitionedOptions, unit: float = 1.0
) -> LanePoint | None:
    """Return the solution of all lanes for a sample of the rows, None if it has too few of a class.

    Parameters
    ----------
    sample : RowSample
    lanes : LaneProblem
        Of all rows; C times the stride weighs the sample as these.
    options : PartitionedOptions
    unit : float
        As in `solve_lanes`.
    """
    if not _has_all_classes(sample, lanes):
        return None
    weighed = tuple(replace(lane, C=sample.stride * lane.C) for lane in lanes.lanes)
    tol = options.tol if sample.stride == 1 else max(options.tol, SAMPLE_TOL)
    options = replace(options, tol=tol, callback=None)
    problem = replace(lanes, lanes=weighed)
    return solve_lanes(InMemoryPartitions([sample.rows]), problem, options, unit=unit)[0]


def _has_all_classes(sample: RowSample, lanes: LaneProblem) -> bool:
    """Return whether every lane sees enough rows of each class, or of numbers."""
    rows = sample.rows
    y = np.zeros(len(rows), np.int32) if lanes.loss.is_regression else rows.y
    size = 1 if lanes.loss.is_regression else lanes.n_classes
    counts = [
        np.bincount(y if rows.fold is None else y[rows.fold != fold], minlength=size)
        for fold in {lane.fold for lane in lanes.lanes}
    ]
    return min(int(each.min()) for each in counts) >= FEWEST
