"""The texts that stand for a missing value."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pyarrow as pa

__all__ = ["MISSING", "checked_markers", "strings"]

#: The texts that stand for a missing value, after trimming.
MISSING = ("", "NA", "N/A", "NaN", "nan", "NAN", "null", "NULL", "Null", "None", "?", "-")


def checked_markers(missing: Iterable[str] | None) -> tuple[str, ...]:
    """Return the markers to use: `MISSING` for None, else those given, trimmed."""
    if missing is None:
        return MISSING
    if isinstance(missing, str) or not all(isinstance(marker, str) for marker in missing):
        raise ValueError(
            "The 'missing' parameter must be a list of texts, such as ['', 'NA']. Got "
            f"{missing!r} instead."
        )
    return tuple(dict.fromkeys(marker.strip() for marker in missing))


def strings(texts: Iterable[str]) -> pa.Array[Any]:
    """Return texts as an Arrow array; ``pyarrow.array`` would import pandas."""
    return _strings_once(texts) if isinstance(texts, tuple) else _strings(texts)


@lru_cache(maxsize=64)
def _strings_once(texts: tuple[str, ...]) -> pa.Array[Any]:
    return _strings(texts)


def _strings(texts: Iterable[str]) -> pa.Array[Any]:
    import pyarrow as pa

    encoded = [text.encode() for text in texts]
    offsets = np.cumsum([0] + [len(text) for text in encoded], dtype=np.int32)
    buffers = [None, pa.py_buffer(offsets.tobytes()), pa.py_buffer(b"".join(encoded))]
    return pa.Array.from_buffers(pa.string(), len(encoded), buffers)
