"""The different texts of an Arrow column, numbered by the compiled core."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from separable._core import native

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["text_codes"]


def text_codes(array: Any) -> tuple[NDArray[np.int32], list[str]]:
    """Return the code of each text, -1 where it is missing, and the texts by code.

    Parameters
    ----------
    array : pyarrow.StringArray or pyarrow.LargeStringArray

    Returns
    -------
    codes : ndarray of int32
    texts : list of str
        In the order in which they first appear.
    """
    import pyarrow as pa

    valid, offsets, data = array.buffers()
    wide: Any = np.int64 if pa.types.is_large_string(array.type) else np.int32
    starts: NDArray[Any] = np.frombuffer(bytes(8) if offsets is None else offsets, wide)
    starts = starts[array.offset : array.offset + len(array) + 1]
    letters = np.frombuffer(b"" if data is None else data, np.uint8)
    has_missing = valid is not None and array.null_count > 0
    bits = np.frombuffer(valid, np.uint8) if has_missing else None
    codes = np.empty(len(array), np.int32)
    firsts = native.factorize_texts(starts, letters, bits, array.offset, codes)
    view = letters.data
    ends = zip(starts[firsts].tolist(), starts[firsts + 1].tolist(), strict=True)
    return codes, [str(view[start:stop], "utf-8") for start, stop in ends]
