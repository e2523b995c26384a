"""Text of any encoding as UTF-8 bytes without a byte-order mark."""

from __future__ import annotations

import codecs
import re
from typing import TYPE_CHECKING

from separable.data.table import TableError, at_place

if TYPE_CHECKING:
    from separable.data.io.sources import OpenInput

__all__ = [
    "LONGEST_LINE",
    "LineLimit",
    "Utf8Text",
    "bytes_not_text",
    "checked_encoding",
    "is_utf8",
    "line_of_byte",
    "marked_as_text",
    "refuse_invalid_utf8",
    "refuse_nul",
]

UTF8_MARK = codecs.BOM_UTF8

#: No line, and no record of a CSV file, is longer than this: 256 MiB.
LONGEST_LINE = 1 << 28

#: How much is decoded at a time to see whether it is valid.
_CHECKED_BYTES = 1 << 20

_NOT_TEXT = re.compile("[\0\udc80-\udcff]")

#: Byte-order marks of other encodings; that of UTF-32 begins like that of UTF-16.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def checked_encoding(encoding: str | None) -> str | None:
    """Return the name of an encoding as Python has it, or refuse one that it does not know."""
    if encoding is None:
        return None
    try:
        "".encode(encoding)  # refuses codecs of other things than text, too
        return codecs.lookup(encoding).name
    except (LookupError, TypeError):
        raise ValueError(
            f"The 'encoding' parameter must name an encoding, such as 'utf-8' or 'latin-1'. Got "
            f"{encoding!r} instead."
        ) from None


class LineLimit:
    """The bound on the length of a line. It is checked as bytes come, so memory is bounded too.

    Parameters
    ----------
    name : str
        The file.
    ends : tuple of bytes
        What ends a line.
    """

    def __init__(self, name: str, ends: tuple[bytes, ...] = (b"\n",)) -> None:
        self._name, self._ends = name, ends
        self._seen = self._start = 0

    def check(self, piece: bytes) -> None:
        """Refuse a line that the next bytes, fewer than a line may have, make too long."""
        ends = [offset for end in self._ends if (offset := piece.find(end)) >= 0]
        self._refuse(self._seen + min(ends, default=len(piece)))
        if ends:
            self._start = self._seen + max(piece.rfind(end) for end in self._ends) + 1
        self._seen += len(piece)

    def _refuse(self, end: int) -> None:
        if end - self._start > LONGEST_LINE:
            raise TableError(
                f"{self._name}: the line that begins at byte {self._start} has more than "
                f"{LONGEST_LINE >> 20} MiB. The file is damaged or not text: write one row a line."
            )


class Utf8Text:
    """An open input as UTF-8.

    Parameters
    ----------
    source : OpenInput
    encoding : str, optional
        By default what the byte-order mark says, else UTF-8. UTF-8 is handed on as it is: that it
        is valid is seen where it is parsed.
    ends : tuple of bytes
        What ends a line; see `LineLimit`.

    Attributes
    ----------
    name : str
    encoding : str
        As Python has it.
    mark_bytes : int
        The length of the UTF-8 byte-order mark that was taken away.
    """

    def __init__(
        self, source: OpenInput, encoding: str | None = None, ends: tuple[bytes, ...] = (b"\n",)
    ) -> None:
        self.source = source
        self.name = source.source.name
        head = source.peek()
        marked = next((name for mark, name in _MARKS if head.startswith(mark)), None)
        self.encoding = encoding or marked or "utf-8"
        self.mark_bytes = 0
        self._decoder: codecs.IncrementalDecoder | None = None
        self._lines = 1
        self._limit = LineLimit(self.name, ends)
        if self.encoding not in ("utf-8", "utf-8-sig", "ascii"):
            self._decoder = codecs.getincrementaldecoder(self.encoding)()
        elif head.startswith(UTF8_MARK):
            self.mark_bytes = len(source.read(len(UTF8_MARK)))

    @property
    def is_plain(self) -> bool:
        """Whether the text is the file as it is, but for a byte-order mark."""
        return self._decoder is None and self.source.compression is None

    def read(self, size: int) -> bytes:
        """Return up to about so many bytes, none at the end."""
        piece = self._next(size)
        self._limit.check(piece)
        return piece

    def _next(self, size: int) -> bytes:
        if self._decoder is None:
            return self.source.read(size)
        while piece := self.source.read(size):
            if text := self._decoded(piece, final=False):
                return text
        return self._decoded(b"", final=True)

    def _decoded(self, piece: bytes, *, final: bool) -> bytes:
        assert self._decoder is not None
        try:
            text = self._decoder.decode(piece, final).removeprefix("\ufeff")
            data = text.encode()
        except UnicodeError as error:
            before = piece[: getattr(error, "start", 0)].decode(self.encoding, "ignore")
            line = self._lines + before.count("\n")
            raise TableError(
                f"{at_place(self.name, line)}: not valid {self.encoding} ({error}). Give the "
                "encoding that the file is written in: encoding=..."
            ) from None
        self._lines += data.count(b"\n")
        return data


def line_of_byte(data: bytes, offset: int) -> int:
    """Return the line, counted from 1, on which a byte of a text is."""
    lines = 1 + data.count(b"\n", 0, offset)
    if data.find(b"\r", 0, offset) < 0:
        return lines
    return lines + data.count(b"\r", 0, offset) - data.count(b"\r\n", 0, offset)


def _where(name: str, data: bytes, line: int, offset: int) -> str:
    """Return where a byte of a text is that begins with the given line of a file."""
    start = max(data.rfind(b"\n", 0, offset), data.rfind(b"\r", 0, offset)) + 1
    return at_place(name, line + line_of_byte(data, offset) - 1, offset - start + 1)


def is_utf8(data: bytes) -> bool:
    """Whether bytes are valid UTF-8."""
    if data.isascii():
        return True
    decoder = codecs.getincrementaldecoder("utf-8")()
    view = memoryview(data)
    try:
        for start in range(0, len(view), _CHECKED_BYTES):
            decoder.decode(view[start : start + _CHECKED_BYTES])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def bytes_not_text(data: bytes) -> list[int]:
    r"""Return the places of the bytes that are no UTF-8 text: invalid ones, and NUL.

    Examples
    --------
    >>> bytes_not_text(b"caf\xe9,\0,\xc3\xa9\xff")
    [3, 5, 9]
    """
    text = data.decode("utf-8", "surrogateescape")
    offsets, byte, character = [], 0, 0
    for match in _NOT_TEXT.finditer(text):
        byte += len(text[character : match.start()].encode("utf-8", "surrogateescape"))
        character = match.start()
        offsets.append(byte)
    return offsets


def marked_as_text(data: bytes) -> bytes:
    """Return bytes as valid text of the same length, ``?`` for each that is none."""
    if is_utf8(data) and b"\0" not in data:
        return data
    marked = bytearray(data)
    for offset in bytes_not_text(data):
        marked[offset] = ord("?")
    return bytes(marked)


def refuse_invalid_utf8(name: str, data: bytes, line: int, first_byte: int | None) -> None:
    """Refuse text that is not UTF-8, naming the first byte that is not.

    Parameters
    ----------
    name : str
        The file.
    data : bytes
    line : int
        The line on which the text begins, counted from 1.
    first_byte : int or None
        How many bytes come before it, where that is known.
    """
    try:
        data.decode()
    except UnicodeDecodeError as error:
        offset, shown = error.start, f"0x{data[error.start]:02x}"
        byte = f"byte {shown}" if first_byte is None else f"byte {first_byte + offset} ({shown})"
        raise TableError(
            f"{_where(name, data, line, offset)}: {byte} is not valid UTF-8. Give the encoding "
            "that the file is written in, for example encoding='latin-1', or save it as UTF-8, "
            "for example with: iconv -f WINDOWS-1252 -t UTF-8"
        ) from None


def refuse_nul(name: str, data: bytes, line: int, first_byte: int) -> None:
    """Refuse text with a NUL byte; see `refuse_invalid_utf8`."""
    offset = data.find(b"\0")
    if offset >= 0:
        raise TableError(
            f"{_where(name, data, line, offset)}: a NUL byte at byte {first_byte + offset}. The "
            "file is damaged or not text: write it again as UTF-8 text."
        )
