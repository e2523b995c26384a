"""Folds and held-out rows by hash: even, the same for any order of rows, together by key."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from separable.data.rows import as_rows
from separable.spark.row_parts import HASH, RowParts
from separable.statistics.partitions import Batch


def divided(parts: RowParts, X: Any, y: Any, table: pa.Table, cuts: int = 1) -> Any:
    """Return held-out marks and folds of rows, in their order (found by a last column)."""
    divider, n = parts.start(), len(y)
    held, fold = np.zeros(n, bool), np.full(n, -1)
    for index in np.array_split(np.arange(n), cuts):
        batch = Batch(as_rows(X[index]), y[index])
        for held_out, part in divider.divided(batch, table.take(pa.array(index))):
            for row, one in zip(part.rows.values, part.fold, strict=True):
                number = int(np.flatnonzero((row == X).all(axis=1))[0])
                held[number], fold[number] = held_out, one
    return held, fold


def test_parts_are_even_and_the_same_in_any_order() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((4000, 2)), rng.integers(0, 2, 4000).astype(np.int32)
    table = pa.table({"x": X[:, 0]})
    parts = RowParts(n_folds=5, test_size=0.25)
    held, fold = divided(parts, X, y, table)
    assert abs(held.mean() - 0.25) < 4 * np.sqrt(0.25 * 0.75 / 4000)
    share = np.bincount(fold) / 4000
    assert np.abs(share - 0.2).max() < 4 * np.sqrt(0.2 * 0.8 / 4000)
    assert abs(np.corrcoef(held, fold == 0)[0, 1]) < 0.07
    order = rng.permutation(4000)
    again, other = divided(parts, X[order], y[order], table, cuts=7)
    np.testing.assert_array_equal(again, held[order])
    np.testing.assert_array_equal(other, fold[order])


def test_equal_rows_spread_over_folds() -> None:
    divider = RowParts(n_folds=4).start()
    folds = []
    for _ in range(2):  # counted across batches
        batch = Batch(as_rows(np.ones((2000, 1))), np.zeros(2000, np.int32))
        ((_, part),) = divider.divided(batch, pa.table({"x": np.ones(2000)}))
        folds.append(part.fold)
    counts = np.bincount(np.concatenate(folds))
    assert np.abs(counts - 1000).max() < 4 * np.sqrt(4000 * 0.25 * 0.75)
    assert (folds[0] != folds[1]).any()


def test_rows_of_a_key_stay_together() -> None:
    rng = np.random.default_rng(1)
    key = rng.integers(0, 300, 3000)
    X, y = rng.standard_normal((3000, 1)), np.zeros(3000, np.int32)
    table = pa.table({HASH: pa.array(key * 7919)})
    held, fold = divided(RowParts(n_folds=3, test_size=0.3, key="key"), X, y, table, cuts=4)
    for one in range(300):
        assert len(set(held[key == one])) <= 1
        assert len(set(fold[key == one])) <= 1
    assert 0.2 < held.mean() < 0.4
