"""Text of any encoding as UTF-8 bytes without a byte-order mark."""

from __future__ import annotations

import codecs
import re
from typing import TYPE_CHECKING, Any

from separable.data.table import TableError
from separable.errors import Option

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

#: Maximum length of a line, and of a CSV record: 256 MiB.
LONGEST_LINE = 1 << 28

#: Bytes validated at a time.
_CHECKED_BYTES = 1 << 20

_NOT_TEXT = re.compile("[\0\udc80-\udcff]")

#: Byte-order marks of other encodings; that of UTF-32 starts like that of UTF-16.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def checked_encoding(encoding: str | None) -> str | None:
    """Return Python's name of an encoding; raise if it is unknown."""
    if encoding is None:
        return None
    try:
        "".encode(encoding)  # also rejects codecs that do not produce text
        return codecs.lookup(encoding).name
    except (LookupError, TypeError):
        raise ValueError(
            f"The 'encoding' parameter must name an encoding, such as 'utf-8' or 'latin-1'. Got "
            f"{encoding!r} instead."
        ) from None


class LineLimit:
    """Limit on the length of a line, checked as bytes arrive, so memory is bounded too.

    Parameters
    ----------
    name : str
        Name of the file.
    ends : tuple of bytes
        Line terminators.
    """

    def __init__(self, name: str, ends: tuple[bytes, ...] = (b"\n",)) -> None:
        self._name, self._ends = name, ends
        self._seen = self._start = 0

    def check(self, piece: bytes) -> None:
        """Raise if the next bytes make a line too long; ``piece`` is shorter than the limit."""
        ends = [offset for end in self._ends if (offset := piece.find(end)) >= 0]
        self._refuse(self._seen + min(ends, default=len(piece)))
        if ends:
            self._start = self._seen + max(piece.rfind(end) for end in self._ends) + 1
        self._seen += len(piece)

    def _refuse(self, end: int) -> None:
        if end - self._start > LONGEST_LINE:
            raise TableError(
                f"{self._name}: the line that begins at byte {self._start} has more than "
                f"{LONGEST_LINE >> 20} MiB. The file is damaged or not text: write one row per "
                "line."
            )


class Utf8Text:
    """An open input as UTF-8.

    Parameters
    ----------
    source : OpenInput
    encoding : str, optional
        By default from the byte-order mark, else UTF-8. UTF-8 is passed on unchanged and validated
        by the parser.
    ends : tuple of bytes
        Line terminators; see `LineLimit`.

    Attributes
    ----------
    name : str
    encoding : str
        Python's name of the encoding.
    mark_bytes : int
        Length of the UTF-8 byte-order mark that was removed.
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
        """Whether the text equals the file, apart from a byte-order mark."""
        return self._decoder is None and self.source.compression is None

    def read(self, size: int) -> bytes:
        """Return about ``size`` bytes, none at the end."""
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
                f"not valid {self.encoding} ({error}). Give the encoding of the file: ",
                Option("encoding", ...),
                file=self.name,
                line=line,
            ) from None
        self._lines += data.count(b"\n")
        return data


def line_of_byte(data: bytes, offset: int) -> int:
    """Return the 1-based line of a byte."""
    lines = 1 + data.count(b"\n", 0, offset)
    if data.find(b"\r", 0, offset) < 0:
        return lines
    return lines + data.count(b"\r", 0, offset) - data.count(b"\r\n", 0, offset)


def _place(name: str, data: bytes, line: int, offset: int) -> dict[str, Any]:
    """Return the place of a byte of a text that begins on the given line, for an error."""
    start = max(data.rfind(b"\n", 0, offset), data.rfind(b"\r", 0, offset)) + 1
    at = line + line_of_byte(data, offset) - 1
    return {"file": name, "line": at, "position": offset - start + 1}


def is_utf8(data: bytes) -> bool:
    """Return whether bytes are valid UTF-8."""
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
    r"""Return the offsets of NUL bytes and of bytes that are not valid UTF-8.

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
    """Return valid text of the same length, with ``?`` for each invalid byte."""
    if is_utf8(data) and b"\0" not in data:
        return data
    marked = bytearray(data)
    for offset in bytes_not_text(data):
        marked[offset] = ord("?")
    return bytes(marked)


def refuse_invalid_utf8(name: str, data: bytes, line: int, first_byte: int | None) -> None:
    """Raise if a text is not UTF-8, naming the first invalid byte.

    Parameters
    ----------
    name : str
        Name of the file.
    data : bytes
    line : int
        Line on which the text begins, counted from 1.
    first_byte : int or None
        Number of bytes before it, if known.
    """
    try:
        data.decode()
    except UnicodeDecodeError as error:
        offset, shown = error.start, f"0x{data[error.start]:02x}"
        byte = f"byte {shown}" if first_byte is None else f"byte {first_byte + offset} ({shown})"
        raise TableError(
            f"{byte} is not valid UTF-8. Give the encoding of the file, for example ",
            Option("encoding", "windows-1252"),
            ", or save it as UTF-8, for example with: iconv -f WINDOWS-1252 -t UTF-8",
            **_place(name, data, line, offset),
        ) from None


def refuse_nul(name: str, data: bytes, line: int, first_byte: int) -> None:
    """Raise if a text has a NUL byte; see `refuse_invalid_utf8`."""
    offset = data.find(b"\0")
    if offset >= 0:
        raise TableError(
            f"a NUL byte at byte {first_byte + offset}. The file is damaged or not text: write it "
            "again as UTF-8 text.",
            **_place(name, data, line, offset),
        )
