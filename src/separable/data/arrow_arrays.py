"""Small steps between Arrow and NumPy that import no pandas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["floats", "integers", "mask", "nulls", "number_array"]


def mask(keep: NDArray[np.bool_]) -> Any:
    """Return a mask as an Arrow array."""
    import pyarrow as pa

    packed = pa.py_buffer(np.packbits(keep, bitorder="little").tobytes())
    return pa.Array.from_buffers(pa.bool_(), len(keep), [None, packed])


def nulls(column: Any) -> NDArray[np.bool_]:
    """Return where a column is null."""
    parts = [np.zeros(0, dtype=bool)]
    for chunk in getattr(column, "chunks", [column]):
        valid = chunk.buffers()[0] if chunk.null_count else None
        if valid is None:
            parts.append(np.full(len(chunk), chunk.null_count > 0))
            continue
        bits = np.frombuffer(valid, np.uint8)
        bits = np.unpackbits(bits, bitorder="little", count=chunk.offset + len(chunk))
        parts.append(bits[chunk.offset :] == 0)
    return np.concatenate(parts)


def floats(column: Any) -> NDArray[np.float64]:
    """Return a column of numbers as float64; nulls are any number."""
    import pyarrow as pa

    parts = [np.zeros(0)]
    for chunk in getattr(column, "chunks", [column]):
        values = chunk.cast(pa.float64(), safe=False)
        data = np.frombuffer(values.buffers()[1] or b"", dtype=np.float64)
        parts.append(data[values.offset : values.offset + len(values)])
    return np.concatenate(parts)


def integers(array: Any) -> NDArray[np.int32]:
    """Return an array of int32, -1 where it is null."""
    values = np.frombuffer(array.buffers()[1] or b"", dtype=np.int32)
    values = values[array.offset : array.offset + len(array)].copy()
    values[nulls(array)] = -1
    return values


def number_array(values: NDArray[Any]) -> Any:
    """Return numbers as an Arrow array of the same type, without a copy where they lie together."""
    import pyarrow as pa

    held: Any = np.ascontiguousarray(values)
    kind = pa.from_numpy_dtype(held.dtype)
    return pa.Array.from_buffers(kind, len(held), [None, pa.py_buffer(held)])
