"""Packed strings: one array of UTF-8 bytes and one of offsets."""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.lazy_texts import PackedTexts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["pack_strings", "unpack_strings"]

#: Bytes validated at a time.
CHUNK = 1 << 20
#: The two highest bits of a UTF-8 continuation byte are 10.
INSIDE, MASK = 0x80, 0xC0


def pack_strings(texts: Sequence[str]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return the UTF-8 bytes of all texts and the n + 1 offsets between them."""
    if isinstance(texts, PackedTexts):
        return texts.utf8, texts.offsets
    try:
        encoded = [text.encode() for text in texts]
    except UnicodeEncodeError as error:
        raise ValueError(
            f"{error.object!r:.80} has a lone surrogate and is not valid Unicode text. Decode the "
            "text again, for example with errors='replace'."
        ) from error
    offsets = np.zeros(len(encoded) + 1, dtype=np.int64)
    np.cumsum([len(text) for text in encoded], out=offsets[1:])
    return np.frombuffer(b"".join(encoded), dtype=np.uint8), offsets


def unpack_strings(utf8: NDArray[Any], offsets: NDArray[Any], name: str) -> PackedTexts:
    """Return the packed texts after validating the tensors."""
    if utf8.dtype != np.uint8 or utf8.ndim != 1:
        raise ValueError(f"the bytes of {name} must be a 1D array of uint8, not {_kind(utf8)}")
    if offsets.dtype != np.int64 or offsets.ndim != 1 or len(offsets) == 0:
        raise ValueError(f"the offsets of {name} must be a 1D array of int64, not {_kind(offsets)}")
    if offsets[0] != 0 or offsets[-1] != len(utf8) or (offsets[1:] < offsets[:-1]).any():
        raise ValueError(f"the offsets of {name} must increase from 0 to {len(utf8)}, and do not")
    _check_utf8(utf8, offsets, name)
    return PackedTexts(utf8, offsets)


def _check_utf8(utf8: NDArray[np.uint8], offsets: NDArray[np.int64], name: str) -> None:
    """Reject bytes that are not UTF-8, and texts that end inside a character."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for start in range(0, len(utf8), CHUNK):
            decoder.decode(utf8[start : start + CHUNK].tobytes())
        decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        raise ValueError(f"{name} holds bytes that are not UTF-8 ({error.reason})") from error
    starts = offsets[offsets < len(utf8)]
    if ((utf8[starts] & MASK) == INSIDE).any():
        raise ValueError(f"{name} holds bytes that are not UTF-8 (a text ends inside a character)")


def _kind(array: NDArray[Any]) -> str:
    return f"{array.dtype} of shape {array.shape}"
