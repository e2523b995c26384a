"""Folds and held-out rows by hash, so that retries and the order of rows change nothing.

With a key column all rows of a key go together. Without one, the hash is that of the encoded row,
its target and its weight, and of how many equal rows the partition had before: equal rows spread
over the folds, and which of them is which makes no difference.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.arrow_arrays import one_chunk
from separable.data.rows import core_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa
    from numpy.typing import NDArray

    from separable.spark.cluster_jobs import Frame
    from separable.statistics.partitions import Batch

    Hashes = NDArray[np.uint64]

__all__ = ["HASH", "RowParts", "mixed"]

#: Column of the hash of a key.
HASH = "__separable_key_hash"

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
#: The seed of the held-out rows, apart from those of folds.
HELD_OUT = 0x5E9A


def mixed(values: Hashes, seed: int = 0) -> Hashes:
    """Return 64 random-looking bits of each value (Steele et al., SplitMix64, 2014)."""
    with np.errstate(over="ignore"):
        z = values + GOLDEN * np.uint64(seed + 1)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@dataclass(frozen=True)
class RowParts:
    """Which rows are held out, and the fold of each of the others.

    Parameters
    ----------
    n_folds : int
        0: no folds.
    test_size : float
        Fraction of rows to hold out.
    seed : int
    key : str, optional
        Rows with equal keys go together.
    fold_column : str, optional
        Column with the fold of each row, instead of a hash.
    """

    n_folds: int = 0
    test_size: float = 0.0
    seed: int = 0
    key: str | None = None
    fold_column: str | None = None

    def with_hash(self, frame: Frame) -> Frame:
        """Return a frame with the hash of the key, if there is one."""
        if self.key is None:
            return frame
        functions = import_module("pyspark.sql.functions")
        return frame.withColumn(HASH, functions.xxhash64(frame[self.key]))

    def start(self) -> _Divider:
        """Return what divides the rows of a partition, batch by batch."""
        return _Divider(self)


class _Divider:
    """The rows of a partition so far, as far as hashes need them."""

    def __init__(self, parts: RowParts) -> None:
        self._parts = parts
        self._met = np.empty(0, np.uint64)
        self._counts = np.empty(0, np.int64)

    def divided(self, batch: Batch, table: pa.Table) -> Iterator[tuple[bool, Batch]]:
        """Yield the rows to learn from, with folds, and the held-out ones; True: held out."""
        parts = self._parts
        is_divided = parts.test_size > 0 or (parts.n_folds and parts.fold_column is None)
        hashes = self._hashes(batch, table) if is_divided else None
        if parts.fold_column is not None:
            fold = one_chunk(table[parts.fold_column]).to_numpy(zero_copy_only=False)
            batch = replace(batch, fold=np.ascontiguousarray(fold, np.int32))
        elif parts.n_folds:
            assert hashes is not None
            fold = mixed(hashes, parts.seed) % np.uint64(parts.n_folds)
            batch = replace(batch, fold=fold.astype(np.int32))
        if not parts.test_size:
            yield False, batch
            return
        assert hashes is not None
        random = mixed(hashes, parts.seed + HELD_OUT) >> np.uint64(11)
        is_held = random.astype(np.float64) * 2.0**-53 < parts.test_size
        for held_out in (False, True):
            chosen = np.flatnonzero(is_held == held_out)
            if len(chosen):
                yield held_out, batch.take(chosen)

    def _hashes(self, batch: Batch, table: pa.Table) -> Hashes:
        if self._parts.key is not None:
            hashed: Any = one_chunk(table[HASH]).to_numpy(zero_copy_only=False)
            return np.asarray(hashed, np.int64).view(np.uint64)
        hashes = np.empty(len(batch), np.uint64)
        core_rows(batch.rows).hashes(hashes)
        for values in (batch.y, batch.weight):
            if values is not None:
                hashes = mixed(hashes ^ values.astype(np.float64).view(np.uint64))
        return mixed(hashes ^ self._occurrence(hashes).view(np.uint64))

    def _occurrence(self, hashes: Hashes) -> NDArray[np.int64]:
        """Return how many equal rows came before each row of the partition."""
        order = np.argsort(hashes, kind="stable")
        distinct, start, counts = np.unique(hashes[order], return_index=True, return_counts=True)
        before = np.zeros(len(distinct), np.int64)
        if len(self._met):
            place = np.minimum(np.searchsorted(self._met, distinct), len(self._met) - 1)
            known = self._met[place] == distinct
            before[known] = self._counts[place[known]]
        occurrence = np.empty(len(hashes), np.int64)
        occurrence[order] = np.arange(len(hashes)) - np.repeat(start - before, counts)
        whole = np.concatenate([self._met, distinct])
        self._met, inverse = np.unique(whole, return_inverse=True)
        total = np.concatenate([self._counts, counts])
        self._counts = np.bincount(inverse, total, len(self._met)).astype(np.int64)
        return occurrence
