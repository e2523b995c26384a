"""A sample of rows as a sum over rows: what is merged stays below a size."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from separable.statistics.partitions import Batch, joined

__all__ = ["SAMPLE_BYTES", "RowSample"]

#: Bytes that a sample has at most: each partition of a cluster returns one.
SAMPLE_BYTES = 1 << 20
#: Rows that are kept whatever their size.
FEWEST = 2


@dataclass(frozen=True)
class RowSample:
    """About one of every so many rows.

    Parameters
    ----------
    rows : Batch
    stride : int
        A power of 2: of about so many rows one is here.
    n_bytes : int
        That the sample may have.

    Examples
    --------
    >>> from separable.data.rows import as_rows
    >>> ones = Batch(as_rows(np.ones((100_000, 4))), np.ones(100_000))
    >>> sample = RowSample.of(ones) + RowSample.of(ones.slice(0, 1000))
    >>> sample.stride, len(sample.rows)
    (4, 25250)
    """

    rows: Batch
    stride: int = 1
    n_bytes: int = SAMPLE_BYTES

    @classmethod
    def of(cls, batch: Batch, n_bytes: int = SAMPLE_BYTES) -> RowSample:
        """Return the sample of one batch, a copy."""
        size, stride = _size(batch), 1
        while size > stride * n_bytes and stride < len(batch):
            stride *= 2
        return cls(batch.take(np.arange(0, len(batch), stride)), stride, n_bytes)

    def __add__(self, other: RowSample) -> RowSample:
        stride = max(self.stride, other.stride)
        while True:
            both = [one.thinned(stride) for one in (self, other)]
            if sum(map(_size, both)) <= self.n_bytes or sum(map(len, both)) <= FEWEST:
                return RowSample(joined(both), stride, self.n_bytes)
            stride *= 2

    def thinned(self, stride: int) -> Batch:
        """Return the rows of a larger stride."""
        if stride == self.stride:
            return self.rows
        return self.rows.take(np.arange(0, len(self.rows), stride // self.stride))


def _size(batch: Batch) -> int:
    """Return the bytes of rows."""
    return sum(each.nbytes for each in batch.rows.arrays()) + 8 * len(batch)
