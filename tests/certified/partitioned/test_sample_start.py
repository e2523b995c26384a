"""Solutions of a sample: fewer passes over all rows, and the same certified answers."""

from __future__ import annotations

import numpy as np
import pytest

from separable.certified.partitioned.lane_problem import LaneProblem, column_sums
from separable.certified.partitioned.quasi_newton import PartitionedOptions, solve_lanes
from separable.certified.partitioned.sample_start import sample_start
from separable.certified.problem import Lane
from separable.data.rows import as_rows
from separable.losses.loss import HINGE, LOGISTIC, Loss
from separable.statistics.partitions import Batch, InMemoryPartitions
from separable.statistics.row_sample import RowSample


def rows(n: int = 20_000, d: int = 6) -> Batch:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    y = (X[:, 0] - X[:, 1] + rng.logistic(size=n) > 0).astype(np.int32)
    return Batch(as_rows(X), y)


@pytest.mark.parametrize("loss", [LOGISTIC, HINGE])
def test_a_sample_saves_passes_and_changes_no_optimum(loss: Loss) -> None:
    whole = rows()
    data = InMemoryPartitions([whole.slice(0, 9000), whole.slice(9000, 20_000)])
    problem = LaneProblem.prepare(
        column_sums(data, 2), loss, [Lane(0.01), Lane(1.0)], is_sparse=False
    )
    options = PartitionedOptions(tol=1e-8)
    sample = RowSample.of(whole, 1 << 17)
    assert sample.stride > 1
    zero, passes = solve_lanes(data, problem, options)
    near, fewer = solve_lanes(data, problem, options, sample_start(sample, problem, options))
    assert max(fewer) < max(passes)
    np.testing.assert_allclose(near.u, zero.u, atol=2e-3)


def test_a_sample_that_lacks_a_class_is_not_used() -> None:
    whole = rows(400)
    one_class = whole.take(np.flatnonzero(whole.y == 1))
    problem = LaneProblem.prepare(
        column_sums(InMemoryPartitions([whole]), 2), LOGISTIC, [Lane(1.0)], is_sparse=False
    )
    options = PartitionedOptions()
    assert sample_start(RowSample.of(whole), problem, options) is not None
    assert sample_start(RowSample.of(one_class), problem, options) is None


def test_lanes_whose_sums_do_not_fit_together_share_no_pass() -> None:
    whole = rows(400)
    data = InMemoryPartitions([whole], most_numbers=1)
    problem = LaneProblem.prepare(
        column_sums(InMemoryPartitions([whole]), 2),
        LOGISTIC,
        [Lane(1.0), Lane(0.1), Lane(0.5)],
        is_sparse=False,
    )
    seen: list[int] = []
    options = PartitionedOptions(callback=lambda number, _: seen.append(number))
    alone, _ = solve_lanes(data, problem, options)
    assert seen.count(1) == 3
    together, _ = solve_lanes(InMemoryPartitions([whole]), problem, PartitionedOptions())
    np.testing.assert_allclose(alone.u, together.u, rtol=1e-9)
