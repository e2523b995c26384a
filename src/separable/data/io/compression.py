"""Decompression of streams, with the format detected from the first bytes.

A file may consist of several compressed members, as from ``cat a.gz b.gz``. A truncated file yields
all recoverable data and then a `BrokenStreamError`.
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

#: Magic bytes of compressed files. In bz2 the block size, 1 to 9, follows.
_SIGNATURES: tuple[tuple[bytes, Compression], ...] = (
    (b"\x1f\x8b\x08", "gzip"),
    (b"BZh", "bz2"),
    (b"\xfd7zXZ\x00", "xz"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
)

_BZ2_BLOCKS = (b"1AY&SY", b"\x17rE8P\x90")  # a block, or the end of an empty file

#: Bytes read from the file, and returned, at a time.
_PIECE_BYTES = 1 << 16
_OUT_BYTES = 1 << 20

#: pyarrow returns nothing from a read in which the data end too early.
_ZSTD_BYTES = 1 << 17


class Readable(Protocol):
    """A readable byte stream; an empty result is the end."""

    def read(self, size: int, /) -> bytes:
        """Read up to ``size`` bytes."""

    def close(self) -> None:
        """Release the underlying resource."""


class Stream:
    """A stream on top of another one that it does not own."""

    def close(self) -> None:
        """Do nothing."""


class BrokenStreamError(Exception):
    """Compressed data that are truncated or damaged; the data before are valid."""


def compression_of(head: bytes) -> Compression | None:
    """Return the compression format.

    Parameters
    ----------
    head : bytes
        First bytes of the file, at least ten if it has them.

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
    """Return the decompressed stream; the stream itself for None.

    ``read(n)`` returns up to n bytes, at least one until the end.
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
    """One gzip member, with the interface of bz2's and lzma's decompressors."""

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
    """Concatenated decompressed members."""

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
        """Start the next member; skip zero padding at the end of the file."""
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
    """A stream with the ``closed`` flag that pyarrow expects."""

    closed = False

    def __init__(self, stream: Readable) -> None:
        self.read = stream.read

    def close(self) -> None:
        self.closed = True


class _Zstd(Stream):
    """Decompressed zstd data, by pyarrow."""

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
