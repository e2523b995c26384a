"""Encoded rows as blocks: rows of a DataFrame that hold the arrays of many rows.

A pass reads few large binary values, which Arrow passes to Python without a copy.
"""

from __future__ import annotations

import pickle
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np

from separable.data.arrow_arrays import one_chunk
from separable.data.rows import Rows, check_finite, check_indices
from separable.data.table import CellError
from separable.spark.cluster_jobs import mapped, portable
from separable.spark.row_survey import at_row
from separable.statistics.partitions import Batch

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pyarrow as pa
    from numpy.typing import NDArray

    from separable.features.table.table_encoder import TableEncoder
    from separable.spark.cluster_jobs import Frame
    from separable.spark.row_parts import RowParts
    from separable.spark.row_survey import RowSource, Survey, TargetCodes
    from separable.typing import Floats

__all__ = ["batch_of", "encoded_frame", "rows_of_vectors"]

#: Bytes of a block: large enough that Python costs little, small enough for any Arrow batch.
BLOCK_BYTES = 1 << 22

BLOCKS = (
    "n_rows int, held_out boolean, n_features bigint, single boolean, checksum bigint, "
    "values binary, indices binary, indptr binary, y binary, weight binary, fold binary, "
    "problem binary"
)
NAMES = [each.split()[0] for each in BLOCKS.split(", ")]


def encoded_frame(
    frame: Frame, source: RowSource, found: Survey, parts: RowParts, n_features: int | None = None
) -> Frame:
    """Return the lazy DataFrame of blocks of encoded rows.

    Parameters
    ----------
    frame : DataFrame
        With the column of `RowParts`, if it has one.
    source : RowSource
    found : Survey
    parts : RowParts
        Folds and held-out rows.
    n_features : int, optional
        Of vectors.
    """
    encoder = None if found.encoder is None else found.encoder.without_state()
    compute = partial(_blocks, source, encoder, found.target, parts, n_features)

    def job(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from compute(batches)

    return mapped(source.chosen(frame), job, BLOCKS)


def _blocks(
    source: RowSource,
    encoder: TableEncoder | None,
    target: TargetCodes,
    parts: RowParts,
    n_features: int | None,
    batches: Iterator[pa.RecordBatch],
) -> Iterator[pa.RecordBatch]:
    """Yield the encoded blocks of a partition, or the error of its rows."""
    import pyarrow as pa

    first, seen = 0, parts.start()
    try:
        for raw in batches:
            table = pa.Table.from_batches([raw])
            kept = source.has_target(table, first)
            chosen = table if kept.all() else table.filter(pa.array(kept))
            if chosen.num_rows:
                with at_row(first):
                    batch = _encoded(source, encoder, target, n_features, chosen, first)
                for held_out, part in seen.divided(batch, chosen):
                    for block in _cut(part):
                        yield _record(block, held_out)
            first += table.num_rows
    except ValueError as error:  # of the rows: a retry would raise it again
        yield _record(None, problem=pickle.dumps(portable(error)))


def _encoded(
    source: RowSource,
    encoder: TableEncoder | None,
    target: TargetCodes,
    n_features: int | None,
    table: pa.Table,
    first: int,
) -> Batch:
    y = target.of(table[source.target], source.target)
    if encoder is not None:
        rows = encoder.encode(source.features(table))
    else:
        assert source.vector is not None
        assert n_features is not None
        rows = rows_of_vectors(one_chunk(table[source.vector]), n_features, source.vector, first)
    return Batch(rows, y, source.weights(table, first))


def rows_of_vectors(column: Any, n_features: int, name: str, first: int = 0) -> Rows:
    """Return a column of vectors, dense and sparse ones, as rows."""
    kind = column.field("type").to_numpy(zero_copy_only=False)
    values, indices = column.field("values"), column.field("indices")
    lengths = np.diff(values.offsets.to_numpy())
    numbers = values.flatten().to_numpy(zero_copy_only=False).astype(np.float64, copy=False)
    if (kind == 1).all():
        odd = np.flatnonzero(lengths != n_features)
        if len(odd):
            raise _other_length(name, first + int(odd[0]), int(lengths[odd[0]]), n_features)
        rows = Rows(np.ascontiguousarray(numbers.reshape(-1, n_features)), n_features)
    else:
        rows = _sparse_vectors(kind, lengths, numbers, indices, n_features)
        sizes = column.field("size").to_numpy(zero_copy_only=False)
        length = np.where(kind == 1, lengths, sizes)
        odd = np.flatnonzero(length != n_features)
        if len(odd):
            raise _other_length(name, first + int(odd[0]), int(length[odd[0]]), n_features)
        check_indices(rows)
    check_finite(rows, None)
    return rows


def _other_length(name: str, row: int, length: int, n_features: int) -> CellError:
    return CellError(
        name, row, f"a vector of {length} numbers, where others have {n_features}. Make them alike."
    )


def _sparse_vectors(
    kind: NDArray[Any], lengths: NDArray[Any], numbers: Floats, indices: Any, n_features: int
) -> Rows:
    """Return vectors as CSR; the zeros of dense ones among them are kept."""
    indptr = np.zeros(len(kind) + 1, np.int64)
    np.cumsum(lengths, out=indptr[1:])
    columns = np.arange(indptr[-1], dtype=np.int64) - np.repeat(indptr[:-1], lengths)
    is_sparse = np.repeat(kind == 0, lengths)
    columns[is_sparse] = indices.flatten().to_numpy(zero_copy_only=False)
    small = np.int32 if n_features < 2**31 and indptr[-1] < 2**31 else np.int64
    return Rows(numbers, n_features, columns.astype(small), indptr.astype(small))


def _cut(batch: Batch) -> Iterator[Batch]:
    """Yield parts of at most `BLOCK_BYTES`, or single rows."""
    size = sum(each.nbytes for each in batch.rows.arrays())
    step = max(1, len(batch) * BLOCK_BYTES // max(size, 1))
    yield from batch.tiles(step)


def _record(batch: Batch | None, held_out: bool = False, problem: bytes | None = None) -> Any:
    """Return a block as a row of the DataFrame."""
    import pyarrow as pa

    if batch is None:
        values: list[Any] = [0, False, 0, False, 0, *[None] * 6, problem]
    else:
        rows, single = _narrow(batch.rows)
        arrays = (
            rows.values,
            rows.indices,
            rows.indptr,
            batch.y,
            batch.weight,
            batch.fold,
        )
        parts = [None if each is None else np.ascontiguousarray(each).tobytes() for each in arrays]
        checksum = 0
        for part in parts:
            checksum = crc32(part or b"", checksum)
        values = [len(batch), held_out, rows.n_features, single, checksum, *parts, None]
    types = [pa.int32(), pa.bool_(), pa.int64(), pa.bool_(), pa.int64(), *[pa.binary()] * 7]
    return pa.RecordBatch.from_arrays(
        [pa.array([value], kind) for value, kind in zip(values, types, strict=True)], NAMES
    )


def _narrow(rows: Rows) -> tuple[Rows, bool]:
    """Return rows with offsets from 0, in 32 bits where that changes no number."""
    if rows.indptr is not None:
        rows = replace(rows, indptr=(rows.indptr - rows.indptr[0]).astype(rows.indptr.dtype))
    with np.errstate(over="ignore"):
        single = rows.values.astype(np.float32)
    is_single = bool((single == rows.values).all())
    return (replace(rows, values=single) if is_single else rows), is_single


def batch_of(block: Mapping[str, Any], is_classification: bool) -> Batch:
    """Return the rows of a block, as views of its bytes.

    Parameters
    ----------
    block : mapping
        Name to buffer or number.
    is_classification : bool
    """
    if block["problem"] is not None:
        error: ValueError = pickle.loads(block["problem"])
        raise error
    n, d = block["n_rows"], block["n_features"]
    values = np.frombuffer(block["values"], np.float32 if block["single"] else np.float64)
    values = values.astype(np.float64) if block["single"] else values
    if block["indptr"] is None:
        rows = Rows(values.reshape(n, d), d)
    else:
        size = np.dtype(np.int32 if len(block["indptr"]) == 4 * (n + 1) else np.int64)
        rows = Rows(
            values, d, np.frombuffer(block["indices"], size), np.frombuffer(block["indptr"], size)
        )
    y: Any = np.frombuffer(block["y"], np.int32 if is_classification else np.float64)
    weight, fold = block["weight"], block["fold"]
    return Batch(
        rows,
        y,
        None if weight is None else np.frombuffer(weight, np.float64),
        None if fold is None else np.frombuffer(fold, np.int32),
    )
