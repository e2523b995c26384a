"""Small steps between Arrow and NumPy that import no pandas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["floats", "mask", "nulls", "number_array"]


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


def number_array(values: NDArray[Any]) -> Any:
    """Return numbers as an Arrow array of the same type, without a copy where they lie together."""
    import pyarrow as pa

    values = np.ascontiguousarray(values)
    kind = pa.from_numpy_dtype(values.dtype)
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(values)])
