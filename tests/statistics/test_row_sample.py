"""Samples of rows that are merged: bounded, of one stride, the same whatever the cuts."""

from __future__ import annotations

from functools import reduce
from itertools import pairwise
from operator import add

import numpy as np
import pytest
from scipy.sparse import random_array

from separable.data.rows import as_rows
from separable.statistics.partitions import Batch
from separable.statistics.row_sample import RowSample

LIMIT = 4096


@pytest.mark.parametrize("is_sparse", [False, True])
def test_a_sample_is_bounded_and_of_one_stride(is_sparse: bool) -> None:
    n = 5000
    X = np.column_stack([np.arange(n), np.ones(n)])
    if is_sparse:
        X = random_array((n, 50), density=0.1, rng=np.random.default_rng(0), format="csr")
    whole = Batch(as_rows(X), np.arange(n, dtype=float), fold=np.arange(n, dtype=np.int32) % 3)
    cuts = [0, 700, 701, 3000, n]
    parts = [whole.slice(*pair) for pair in pairwise(cuts)]
    sample = reduce(add, [RowSample.of(part, LIMIT) for part in parts])
    y = np.asarray(sample.rows.y).astype(int)
    assert (np.diff(y) > 0).all()  # rows in order, none twice
    assert abs(len(y) - n / sample.stride) <= len(parts)
    np.testing.assert_array_equal(sample.rows.rows.values, whole.take(y).rows.values)
    assert sample.rows.fold is not None
    np.testing.assert_array_equal(sample.rows.fold, y % 3)
    arrays = sum(each.nbytes for each in sample.rows.rows.arrays())
    assert LIMIT / 8 < arrays + 8 * len(y) <= LIMIT


def test_rows_larger_than_the_bound_end() -> None:
    batch = Batch(as_rows(np.ones((40, 100))), np.ones(40))
    sample = RowSample.of(batch, 10) + RowSample.of(batch, 10)
    assert 1 <= len(sample.rows) <= 2
