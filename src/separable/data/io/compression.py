"""Compressed files, known by how they begin, read as a stream of what they hold.

A file may be several compressed pieces one after the other, as ``cat a.gz b.gz`` makes them. One
that was cut off gives all that can be had of it, and then a `BrokenStreamError`.
"""

from __future__ import annotations

import bz2
import lzma
import zlib
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "BrokenStreamError",
    "Compression",
    "Readable",
    "Stream",
    "compression_of",
    "decompressed",
]

Compression: TypeAlias = Literal["gzip", "bz2", "xz", "zstd"]

#: How compressed files begin. A bz2 file has its block size, 1 to 9, behind these letters.
_SIGNATURES: tuple[tuple[bytes, Compression], ...] = (
    (b"\x1f\x8b\x08", "gzip"),
    (b"BZh", "bz2"),
    (b"\xfd7zXZ\x00", "xz"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
)

_BZ2_BLOCKS = (b"1AY&SY", b"\x17rE8P\x90")  # a block, or the end of an empty file

#: How much is read from the file, and given out, at a time.
_PIECE_BYTES = 1 << 16
_OUT_BYTES = 1 << 20

#: pyarrow gives nothing of a read during which the data end too early.
_ZSTD_BYTES = 1 << 17


class Readable(Protocol):
    """What can be read, up to so many bytes at a time; none are the end."""

    def read(self, size: int, /) -> bytes:
        """Read."""

    def close(self) -> None:
        """Give back what is behind it."""


class Stream:
    """A stream made of another one, which it does not own."""

    def close(self) -> None:
        """Do nothing."""


class BrokenStreamError(Exception):
    """Compressed data that end too early or are damaged; what came before them is good."""


def compression_of(head: bytes) -> Compression | None:
    """Return how a file is compressed.

    Parameters
    ----------
    head : bytes
        Its first bytes, ten or more where it has them.

    Returns
    -------
    {"gzip", "bz2", "xz", "zstd"} or None

    Examples
    --------
    >>> import gzip
    >>> compression_of(gzip.compress(b"a,b"))
    'gzip'
    >>> compression_of(b"BZhang,18,10")  # a name, not a file of bzip2
    """
    for signature, kind in _SIGNATURES:
        if head.startswith(signature) and (kind != "bz2" or _is_bz2(head)):
            return kind
    return None


def _is_bz2(head: bytes) -> bool:
    return head[3:4].isdigit() and any(head[4:10] == block[:6] for block in _BZ2_BLOCKS)


def decompressed(stream: Readable, kind: Compression | None) -> Readable:
    """Return a stream of what a compressed stream holds; for None the stream itself.

    Its ``read(n)`` gives up to n bytes, one or more until the end.
    """
    if kind is None:
        return stream
    if kind == "zstd":
        return _Zstd(stream)
    makers: dict[str, Callable[[], Any]] = {
        "gzip": _GzipMember,
        "bz2": bz2.BZ2Decompressor,
        "xz": lzma.LZMADecompressor,
    }
    return _Members(stream, makers[kind], kind)


class _GzipMember:
    """One member of a gzip file, with the methods that bz2's and lzma's decompressors have."""

    def __init__(self) -> None:
        self._zlib = zlib.decompressobj(wbits=31)

    @property
    def eof(self) -> bool:
        return self._zlib.eof

    @property
    def unused_data(self) -> bytes:
        return self._zlib.unused_data

    @property
    def needs_input(self) -> bool:
        return not self._zlib.unconsumed_tail

    def decompress(self, data: bytes, max_length: int) -> bytes:
        return self._zlib.decompress(self._zlib.unconsumed_tail + data, max_length)


class _Members(Stream):
    """What one compressed piece after the other holds."""

    def __init__(self, stream: Readable, make: Callable[[], Any], kind: str) -> None:
        self._stream, self._make, self._kind = stream, make, kind
        self._member = make()
        self._pending = b""
        self._begun = False

    def read(self, size: int = -1) -> bytes:
        size = _OUT_BYTES if size < 0 else size
        while True:
            if self._member.eof and not self._next_member():
                return b""
            data, self._pending = self._pending, b""
            if not data and self._member.needs_input:
                data = self._stream.read(_PIECE_BYTES)
                if not data:
                    if not self._begun:
                        return b""
                    raise BrokenStreamError(f"the {self._kind} data end too early")
            self._begun = True
            try:
                out: bytes = self._member.decompress(data, size)
            except (zlib.error, OSError, lzma.LZMAError, EOFError) as error:
                raise BrokenStreamError(f"the {self._kind} data are damaged ({error})") from None
            if out:
                return out

    def _next_member(self) -> bool:
        """Begin the next piece; zeros that pad the end of the file are passed over."""
        rest = self._member.unused_data.lstrip(b"\0")
        while not rest:
            piece = self._stream.read(_PIECE_BYTES)
            if not piece:
                return False
            rest = piece.lstrip(b"\0")
        while len(rest) < 10 and (more := self._stream.read(_PIECE_BYTES)):
            rest += more
        if compression_of(rest) != self._kind:
            raise BrokenStreamError(f"the {self._kind} data are followed by something else")
        self._member, self._pending, self._begun = self._make(), rest, False
        return True


class _Opened:
    """A stream as pyarrow wants it: with a mark for being closed."""

    closed = False

    def __init__(self, stream: Readable) -> None:
        self.read = stream.read

    def close(self) -> None:
        self.closed = True


class _Zstd(Stream):
    """What a zstd file holds, by pyarrow."""

    def __init__(self, stream: Readable) -> None:
        import pyarrow as pa

        opened: Any = _Opened(stream)
        self._stream = pa.CompressedInputStream(pa.PythonFile(opened, "r"), "zstd")

    def read(self, size: int = -1) -> bytes:
        try:
            return self._stream.read(_ZSTD_BYTES if size < 0 else min(size, _ZSTD_BYTES))
        except OSError as error:
            problem = f"the zstd data end too early or are damaged ({error})"
            raise BrokenStreamError(problem) from None
