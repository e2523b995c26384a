"""Record boundaries of delimited text, found with array operations.

A record is a line, except that a newline inside quotes does not end it. A quote opens a quoted
value only at the start of a value, and ``""`` inside one is a quote. pyarrow's parser does the
same, but does not report positions.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Records"]

QUOTE, LF, CR = 34, 10, 13


@dataclass(frozen=True)
class Records:
    """The records of a text; empty lines are records too.

    Parameters
    ----------
    data : bytes
    delimiter : str
    quoting : bool
        Whether quotes delimit values, rather than being text.
    """

    data: bytes | memoryview
    delimiter: str
    quoting: bool

    @cached_property
    def _bytes(self) -> NDArray[np.uint8]:
        return np.frombuffer(self.data, dtype=np.uint8)

    @cached_property
    def _newlines(self) -> NDArray[np.int64]:
        """Offset of the last character of each line end, inside quotes too."""
        text = self._bytes
        lf = np.flatnonzero(text == LF)
        cr = np.flatnonzero(text == CR)
        if not len(cr):
            return lf
        alone = text[np.minimum(cr + 1, len(text) - 1)] != LF
        return np.union1d(lf, cr[alone])

    @cached_property
    def _spans(self) -> tuple[NDArray[np.int64], NDArray[np.int64], int | None]:
        """Offsets where quoted parts open and close, and of one that never closes."""
        quotes = np.flatnonzero(self._bytes == QUOTE) if self.quoting else np.empty(0, np.int64)
        before = np.where(quotes > 0, self._bytes[quotes - 1], LF) if len(quotes) else quotes
        starts = _among(before, ord(self.delimiter), LF, CR)
        if np.all(
            starts[::2] | (before[::2] == QUOTE)
        ):  # quotes that are only characters are excluded
            unclosed = int(quotes[-1]) if len(quotes) % 2 else None
            closed = len(quotes) - len(quotes) % 2
            return quotes[:closed:2], quotes[1:closed:2], unclosed
        return _spans_one_by_one(quotes.tolist(), starts.tolist())

    def _outside(self, offsets: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the offsets that are not inside quotes."""
        opens, closes, unclosed = self._spans
        if unclosed is not None:
            offsets = offsets[offsets < unclosed]
        if not len(opens):
            return offsets
        span = np.searchsorted(opens, offsets, side="right") - 1
        return offsets[(span < 0) | (offsets > closes[span])]

    @cached_property
    def ends(self) -> NDArray[np.int64]:
        """Offset after the line end of each record; the last record may have none."""
        ends = self._outside(self._newlines) + 1
        if len(self.data) and (not len(ends) or ends[-1] < len(self.data)):
            ends = np.append(ends, len(self.data))
        return ends

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """Offset of each record."""
        return np.concatenate([[0], self.ends[:-1]]) if len(self.ends) else self.ends

    @cached_property
    def empty(self) -> NDArray[np.bool_]:
        """Mask of empty lines."""
        return _among(self._bytes[self.starts], LF, CR)

    @cached_property
    def widths(self) -> NDArray[np.int64]:
        """Number of values of each record."""
        delimiters = self._outside(np.flatnonzero(self._bytes == ord(self.delimiter)))
        return np.searchsorted(delimiters, self.ends) - np.searchsorted(delimiters, self.starts) + 1

    @property
    def unclosed(self) -> int | None:
        """Offset of a quote that opens a value and is never closed."""
        return self._spans[2]

    @property
    def complete(self) -> int:
        """Number of bytes of complete records, with their line ends."""
        ends = self._outside(self._newlines)
        return int(ends[-1]) + 1 if len(ends) else 0

    def closings_that_go_on(self) -> int:
        """Count closing quotes that are followed by more of the value, which is rarely intended."""
        closes = self._spans[1]
        behind = self._bytes[np.minimum(closes + 1, len(self._bytes) - 1)]
        ends = _among(behind, ord(self.delimiter), LF, CR, QUOTE)
        return int(np.count_nonzero(~ends & (closes + 1 < len(self._bytes))))

    @property
    def n_lines(self) -> int:
        """Number of line ends, inside quotes too."""
        return len(self._newlines)

    def line_of_byte(self, offset: int) -> int:
        """Return the line of a byte, counted from 0."""
        return int(np.searchsorted(self._newlines, offset))

    def column_of_byte(self, offset: int) -> int:
        """Return the position of a byte in its line, counted from 0."""
        line = self.line_of_byte(offset)
        return offset - (int(self._newlines[line - 1]) + 1 if line else 0)

    def start_of(self, record: int, value: int) -> int:
        """Return the offset of a value of a record."""
        start, end = int(self.starts[record]), int(self.ends[record])
        own = Records(self.data[start:end], self.delimiter, self.quoting)
        delimiters = own._outside(np.flatnonzero(own._bytes == ord(self.delimiter)))
        return start + (int(delimiters[value - 1]) + 1 if value else 0)

    def joined(self, chosen: NDArray[np.int64]) -> bytes:
        """Return the texts of the chosen records, concatenated."""
        starts, lengths = self.starts[chosen], (self.ends - self.starts)[chosen]
        if not len(chosen):
            return b""
        before = np.cumsum(lengths) - lengths
        offsets = np.repeat(starts - before, lengths) + np.arange(int(lengths.sum()))
        text = self._bytes[offsets].tobytes()
        return text if text.endswith((b"\n", b"\r")) else text + b"\n"

    def line_of(self, record: int) -> int:
        """Return the line on which a record starts, counted from 0."""
        return int(np.searchsorted(self._newlines, self.starts[record]))

    def text_of(self, record: int, limit: int = 80) -> str:
        """Return the text of a record, shortened."""
        start, end = int(self.starts[record]), int(self.ends[record])
        text = bytes(self.data[start : min(end, start + 4 * limit)]).decode("utf-8", "replace")
        text = text.rstrip("\r\n")
        return text if len(text) <= limit else text[: limit - 3] + "..."


def _among(values: NDArray[Any], *wanted: int) -> NDArray[np.bool_]:
    """Return which values are among a few; `numpy.isin` is slower and imports masked arrays."""
    mask: NDArray[np.bool_] = values == wanted[0]
    for each in wanted[1:]:
        mask |= values == each
    return mask


def _spans_one_by_one(
    quotes: list[int], starts: list[bool]
) -> tuple[NDArray[np.int64], NDArray[np.int64], int | None]:
    opens: list[int] = []
    closes: list[int] = []
    offset, last = 0, len(quotes)
    while offset < last:
        if not starts[offset]:
            offset += 1
            continue
        opens.append(quotes[offset])
        offset += 1
        while offset + 1 < last and quotes[offset + 1] == quotes[offset] + 1:
            offset += 2
        if offset == last:
            unclosed = opens.pop()
            return np.array(opens, np.int64), np.array(closes, np.int64), unclosed
        closes.append(quotes[offset])
        offset += 1
    return np.array(opens, np.int64), np.array(closes, np.int64), None
