"""Lists of text as a pair of tensors: all the UTF-8 bytes, and where each text starts."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["cut_strings", "pack_strings", "unpack_strings"]


def pack_strings(texts: Sequence[str]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return the bytes of all texts and the n + 1 offsets between them."""
    encoded = [text.encode() for text in texts]
    offsets = np.zeros(len(encoded) + 1, dtype=np.int64)
    np.cumsum([len(text) for text in encoded], out=offsets[1:])
    return np.frombuffer(b"".join(encoded), dtype=np.uint8), offsets


def unpack_strings(utf8: NDArray[Any], offsets: NDArray[Any], name: str) -> tuple[str, ...]:
    """Return the texts, or refuse tensors that ``pack_strings`` cannot have made."""
    if utf8.dtype != np.uint8 or utf8.ndim != 1:
        raise ValueError(f"the bytes of {name} must be uint8 in one row, not {_kind(utf8)}")
    if offsets.dtype != np.int64 or offsets.ndim != 1 or len(offsets) == 0:
        raise ValueError(f"the offsets of {name} must be int64 in one row, not {_kind(offsets)}")
    if offsets[0] != 0 or offsets[-1] != len(utf8) or (offsets[1:] < offsets[:-1]).any():
        raise ValueError(f"the offsets of {name} must rise from 0 to {len(utf8)}, and do not")
    try:
        return cut_strings(utf8, offsets)
    except UnicodeDecodeError as error:
        raise ValueError(f"{name} holds bytes that are not UTF-8 ({error.reason})") from error


def cut_strings(utf8: NDArray[np.uint8], offsets: NDArray[np.int64]) -> tuple[str, ...]:
    """Return the texts of tensors that are known to be good."""
    data, ends = utf8.tobytes(), offsets.tolist()
    if data.isascii():
        text = data.decode("ascii")
        return tuple(text[start:stop] for start, stop in pairwise(ends))
    return tuple(data[start:stop].decode() for start, stop in pairwise(ends))


def _kind(array: NDArray[Any]) -> str:
    return f"{array.dtype} of shape {array.shape}"
