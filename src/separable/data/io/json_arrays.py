"""JSON arrays of objects as JSON lines, without parsing them.

A JSON array becomes lines of the same length in bytes: the commas between its elements and its
closing bracket become line feeds, its opening bracket and other white space become blanks. Strings,
escapes and depth are found with array operations, block by block.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.io.compression import BrokenStreamError
from separable.data.io.encodings import UTF8_MARK

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.data.io.encodings import Utf8Text

__all__ = ["JsonLines"]

#: Bytes converted at a time, which bounds the memory for masks.
_BLOCK_BYTES = 1 << 20

_QUOTE, _BACKSLASH, _COMMA, _LINE, _BLANK = b'"\\,\n '
_OPEN, _CLOSE = (np.frombuffer(pair, np.uint8) for pair in (b"[{", b"]}"))


class JsonLines:
    """The text of a JSON lines file; an array is converted to lines.

    Parameters
    ----------
    text : Utf8Text

    Attributes
    ----------
    name : str
        Name of the file.
    is_array : bool
        Whether the file is one array. Lines then count its elements.
    """

    def __init__(self, text: Utf8Text) -> None:
        self._text = text
        self.name, self.source = text.name, text.source
        self._start, self._broken = b"", ""
        try:
            while not self._start.strip() and (more := text.read(_BLOCK_BYTES)):
                self._start += more
        except BrokenStreamError as error:  # raised by `read`, after the bytes before it
            self._broken = str(error)
        self.is_array = self._start.removeprefix(UTF8_MARK).lstrip()[:1] == b"["
        self._depth, self._inside, self._escaped = 0, False, False
        self._ended, self._problem = False, ""

    def read(self, size: int) -> bytes:
        """Return up to ``size`` bytes, none at the end."""
        if self._broken and not self._start:
            raise BrokenStreamError(self._broken)
        size = size if not self.is_array else min(size, _BLOCK_BYTES)
        data = self._start[:size] if self._start else self._text.read(size)
        self._start = self._start[size:]
        if not self.is_array:
            return data
        if not data and not self._ended:
            self._problem = "the JSON array ends too early, without its bracket"
        if self._problem:
            raise BrokenStreamError(self._problem)
        return self._lines(data)

    def _lines(self, data: bytes) -> bytes:
        """Return the next bytes of the array as lines."""
        out = np.frombuffer(data, np.uint8).copy()
        free = ~self._in_strings(out)
        change = np.zeros(len(out), np.int8)
        change[free & np.isin(out, _OPEN)] = 1
        change[free & np.isin(out, _CLOSE)] = -1
        depth = self._depth + np.cumsum(change, dtype=np.int64)
        before = depth - change
        outer = free & (np.minimum(depth, before) <= 0) & (change != 0)
        ends = np.flatnonzero(outer & (change < 0))
        after = data if self._ended else data[int(ends[0]) + 1 :] if len(ends) else b""
        if after.strip():
            self._problem = "the JSON array is followed by something else"
        self._ended = self._ended or len(ends) > 0
        out[(free & (out < _BLANK)) | (outer & (change > 0))] = _BLANK
        out[(outer & (change < 0)) | (free & (out == _COMMA) & (depth == 1))] = _LINE
        self._depth = int(depth[-1]) if len(depth) else self._depth
        return out.tobytes()

    def _in_strings(self, data: NDArray[np.uint8]) -> Any:
        """Return the mask of bytes inside strings, with their opening quotes."""
        quotes = data == _QUOTE
        slashes = data == _BACKSLASH
        if self._escaped or slashes.any():
            quotes &= ~self._escaped_bytes(slashes)
        inside = (np.cumsum(quotes) + int(self._inside)) % 2 == 1
        self._inside = bool(inside[-1]) if len(inside) else self._inside
        return inside

    def _escaped_bytes(self, slashes: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return the mask of bytes after an odd number of backslashes."""
        index = np.arange(len(slashes))
        starts = slashes & ~np.append(self._escaped, slashes[:-1])  # a run may begin earlier
        first = np.maximum.accumulate(np.where(starts, index, -1))
        odd = slashes & ((index - first) % 2 == 0)
        escaped = np.append(self._escaped, odd[:-1])
        self._escaped = bool(odd[-1]) if len(odd) else self._escaped
        return escaped
