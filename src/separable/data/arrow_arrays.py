"""Conversions between Arrow and NumPy.

Arrow's buffers are read directly: ``to_numpy`` and ``pyarrow.array`` would import pandas.

`text_codes` factorizes text columns in the compiled core.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from separable._core import portable
from separable.data.strings import pack_strings

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pyarrow as pa
    from numpy.typing import DTypeLike, NDArray

__all__ = [
    "as_arrow",
    "bits",
    "flat",
    "float_columns",
    "floats",
    "integers",
    "is_float_column",
    "is_text",
    "mask",
    "nulls",
    "number_array",
    "one_chunk",
    "strings",
    "text_buffers",
    "text_codes",
]


# --- from Arrow ---


def as_arrow(values: Any) -> Any:
    """Return any object with Arrow's interface as an Arrow array, chunked or not."""
    import pyarrow as pa

    if isinstance(values, (pa.Array, pa.ChunkedArray)):
        return values
    if not hasattr(values, "__arrow_c_stream__"):
        return pa.array(values)
    try:
        return pa.chunked_array(values)
    except OSError:  # polars up to at least 1.30 exports categories and times as integers
        return values.to_arrow()


def one_chunk(values: Any) -> Any:
    """Return any object with Arrow's interface as one contiguous Arrow array."""
    import pyarrow as pa

    values = as_arrow(values)
    if isinstance(values, pa.Array):
        return values
    if values.num_chunks == 1:
        return values.chunk(0)
    if pa.types.is_string(values.type):  # a chunk of more than 2 GB of text needs 64-bit offsets
        values = values.cast(pa.large_string())
    return values.combine_chunks()


def is_text(kind: pa.DataType) -> bool:
    """Return whether an Arrow type is text."""
    from pyarrow import types

    return (
        types.is_string(kind)
        or types.is_large_string(kind)
        or str(kind) == "string_view"  # older pyarrow has no predicate for it
    )


def flat(array: Any, dtype: DTypeLike) -> NDArray[Any]:
    """Return the values of a fixed-width array without a copy; nulls have arbitrary values."""
    values: NDArray[Any] = np.frombuffer(array.buffers()[1] or b"", dtype)
    return values[array.offset : array.offset + len(array)]


def bits(array: Any, buffer: int) -> NDArray[np.bool_]:
    """Return the bits of a buffer of an array, one per value."""
    packed = np.frombuffer(array.buffers()[buffer] or b"", np.uint8)
    unpacked = np.unpackbits(packed, bitorder="little", count=array.offset + len(array))
    return unpacked[array.offset :].astype(np.bool_)


def nulls(column: Any) -> NDArray[np.bool_]:
    """Return the null mask of a column."""
    parts = [np.zeros(0, np.bool_)]
    for chunk in getattr(column, "chunks", [column]):
        known = chunk.null_count and chunk.buffers()[0] is not None
        parts.append(~bits(chunk, 0) if known else np.full(len(chunk), chunk.null_count > 0))
    return np.concatenate(parts)


def floats(column: Any) -> NDArray[np.float64]:
    """Return a numeric column as float64, NaN where null."""
    import pyarrow as pa

    chunks = getattr(column, "chunks", [column])
    if not pa.types.is_float64(column.type):
        chunks = (chunk.cast(pa.float64(), safe=False) for chunk in chunks)
    values = np.concatenate([np.zeros(0), *(flat(chunk, np.float64) for chunk in chunks)])
    if column.null_count:
        values[nulls(column)] = np.nan
    return values


def float_columns(columns: Sequence[Any]) -> NDArray[np.float64]:
    """Return `floats` of float64 columns of equal length as the rows of a matrix.

    Parameters
    ----------
    columns : sequence of pyarrow.ChunkedArray
        At least one.
    """
    import pyarrow as pa

    table: Any = pa.Table.from_arrays(list(columns), names=[""] * len(columns))
    parts = [
        np.asarray(batch.to_tensor(null_to_nan=True, row_major=False)).T
        for batch in table.to_batches()
        if batch.num_rows
    ]
    return parts[0] if len(parts) == 1 else np.hstack([np.zeros((len(columns), 0)), *parts])


def is_float_column(column: Any) -> bool:
    """Return whether `float_columns` accepts a column."""
    import pyarrow as pa

    return isinstance(column, pa.ChunkedArray) and column.type.id == pa.lib.Type_DOUBLE


def integers(array: Any) -> NDArray[np.int32]:
    """Return an int32 array, -1 where null."""
    values = flat(array, np.int32).copy()
    if array.null_count:
        values[nulls(array)] = -1
    return values


def text_buffers(array: Any) -> tuple[NDArray[np.uint8], NDArray[Any]]:
    """Return the UTF-8 bytes of a string or large_string array, and the offsets of its texts."""
    import pyarrow as pa

    dtype: Any = np.int64 if pa.types.is_large_string(array.type) else np.int32
    _, starts_buffer, letters = array.buffers()
    if starts_buffer is None or len(array) == 0:
        return np.zeros(0, np.uint8), np.zeros(1, dtype)
    offsets = np.frombuffer(starts_buffer, dtype)[array.offset : array.offset + len(array) + 1]
    return np.frombuffer(b"" if letters is None else letters, np.uint8), offsets


# --- to Arrow ---


def mask(keep: NDArray[np.bool_]) -> Any:
    """Return a boolean mask as an Arrow array."""
    import pyarrow as pa

    packed = pa.py_buffer(np.packbits(keep, bitorder="little").tobytes())
    return pa.Array.from_buffers(pa.bool_(), len(keep), [None, packed])


def number_array(values: NDArray[Any]) -> Any:
    """Return numbers as an Arrow array of the same dtype, without a copy if contiguous."""
    import pyarrow as pa

    held: Any = np.ascontiguousarray(values)
    kind = pa.from_numpy_dtype(held.dtype)
    return pa.Array.from_buffers(kind, len(held), [None, pa.py_buffer(held)])


def strings(texts: Iterable[str]) -> pa.Array[Any]:
    """Return texts as an Arrow array; tuples are cached."""
    return _strings_once(texts) if isinstance(texts, tuple) else _strings(texts)


@lru_cache(maxsize=64)
def _strings_once(texts: tuple[str, ...]) -> pa.Array[Any]:
    return _strings(texts)


def _strings(texts: Iterable[str]) -> pa.Array[Any]:
    import pyarrow as pa

    letters, offsets = pack_strings(list(texts))
    starts_buffer = offsets.astype(np.int32)
    buffers = [None, pa.py_buffer(starts_buffer.tobytes()), pa.py_buffer(letters.tobytes())]
    return pa.Array.from_buffers(pa.string(), len(offsets) - 1, buffers)


def text_codes(array: Any) -> tuple[NDArray[np.int32], list[str]]:
    """Factorize texts: return the code of each (-1 where missing) and the texts by code.

    Parameters
    ----------
    array : pyarrow.StringArray or pyarrow.LargeStringArray

    Returns
    -------
    codes : ndarray of int32
    texts : list of str
        In order of first appearance.
    """
    letters, starts = text_buffers(array)
    valid = array.buffers()[0] if array.null_count else None
    bits = None if valid is None else np.frombuffer(valid, np.uint8)
    codes = np.empty(len(array), np.int32)
    firsts = portable.factorize_texts(starts, letters, bits, array.offset, codes)
    ends = zip(starts[firsts].tolist(), starts[firsts + 1].tolist(), strict=True)
    view = letters.data
    return codes, [str(view[start:stop], "utf-8") for start, stop in ends]
