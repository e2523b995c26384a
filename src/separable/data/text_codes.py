"""The different texts of an Arrow column, numbered by the compiled core."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from separable._core import portable
from separable.data.arrow_arrays import text_buffers

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
    letters, starts = text_buffers(array)
    valid = array.buffers()[0] if array.null_count else None
    bits = None if valid is None else np.frombuffer(valid, np.uint8)
    codes = np.empty(len(array), np.int32)
    firsts = portable.factorize_texts(starts, letters, bits, array.offset, codes)
    ends = zip(starts[firsts].tolist(), starts[firsts + 1].tolist(), strict=True)
    view = letters.data
    return codes, [str(view[start:stop], "utf-8") for start, stop in ends]
