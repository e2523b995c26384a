"""Data sources: files, archives, databases, pipes, globs, folders, standard input, file objects.

A source that is not a regular file (a FIFO, ``/dev/stdin``, ``<(command)``, a terminal) can be read
once. It is opened once, and the bytes read to detect its format are replayed.
"""

from __future__ import annotations

import errno
import glob
import io
import os
import re
import select
import shlex
import stat
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from separable.data.io.compression import (
    BrokenStreamError,
    Stream,
    compression_of,
    decompressed,
)
from separable.data.io.formats import format_by_name
from separable.data.table import TableError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable

    from separable.data.io.compression import Compression, Readable
    from separable.data.io.formats import Format

__all__ = ["Input", "OpenInput", "copied", "inputs_of", "is_file_source", "standard_input"]

#: Bytes needed to detect the format.
HEAD_BYTES = 1 << 12

#: A copy of a one-time source stays in memory up to this size; a larger one is a temporary file.
COPY_BYTES = 1 << 26

#: Maximum bytes of a one-time source that can be peeked before reading.
LOOK_BYTES = 1 << 22

#: Formats of files of which a folder may hold many parts.
_ROW_FORMATS = ("csv", "jsonl", "parquet", "svmlight", "vw")

#: Start of a URL or of the address of a database.
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")

#: Paths that name an open descriptor.
_DESCRIPTORS = re.compile(r"/dev/(?:fd/(\d+)|std(in))|/proc/self/fd/(\d+)")


@dataclass(frozen=True)
class Input:
    """A file, or a stream that is read like one.

    Parameters
    ----------
    name : str
        Name in messages.
    open_bytes : callable
        Returns a new stream of its bytes, from the start.
    size : int, optional
        Size in bytes, if known.
    path : pathlib.Path, optional
        Path of a regular file.
    once : Once, optional
        One-time source, if it is not a regular file.
    passed_over : tuple of str
        Files of its folder that are not read; set for the first file of a folder.
    format : str, optional
        Format, if it is known without the first bytes.
    table, query : str, optional
        Part of it to read: a sheet of a workbook, a table of a database, or the result of a query.
    address : str, optional
        Connection string of a database server.
    """

    name: str
    open_bytes: Callable[[], Readable]
    size: int | None = None
    path: Path | None = None
    once: Once | None = None
    passed_over: tuple[str, ...] = ()
    format: Format | None = None
    table: str | None = None
    query: str | None = None
    address: str | None = None

    @classmethod
    def of_stream(cls, open_stream: Callable[[], Any], name: str, *, closes: bool) -> Input:
        """Return an input that can be read once. See `Once`."""
        once = Once(open_stream, name, closes=closes)
        return cls(name, once.open, once=once)

    @property
    def again(self) -> bool:
        """Whether it can be opened more than once."""
        return self.once is None or self.once.kept

    def keep(self) -> None:
        """Make it possible to open it again: a one-time source is copied while it is read."""
        if self.once is not None:
            self.once.kept = True

    def open(self) -> OpenInput:
        """Open it and detect its compression."""
        return OpenInput(self)

    def start(self) -> bytes:
        """Return the first four bytes of a source that can be read again."""
        stream = self.open_bytes()
        try:
            return _read_full(stream, 4)
        finally:
            stream.close()

    def seekable(self) -> Any:
        """Return its path, or a seekable copy of its decompressed bytes."""
        with self.open() as opened:
            if self.path is not None and opened.compression is None:
                return self.path
            return copied(opened)

    def head(self) -> bytes:
        """Return the first decompressed bytes without consuming them."""
        with self.open() as opened:
            head = opened.peek()
            if self.once is not None:
                self.once.in_use = False
        return head


class OpenInput:
    """An open input: decompressed bytes and read position.

    Attributes
    ----------
    compression : str or None
    """

    def __init__(self, source: Input) -> None:
        self.source = source
        self._raw = _Counting(source.open_bytes())
        rest: Readable = self._raw
        start = b""
        try:
            start = _read_full(self._raw, HEAD_BYTES)
        except BrokenStreamError as error:  # a damaged file in an archive
            rest = _Broken(error)
        self.compression: Compression | None = compression_of(start)
        self._stream = decompressed(_Chained(start, rest), self.compression)
        self.head: bytes | None = None

    @property
    def bytes_read(self) -> int:
        """Bytes read of the file itself."""
        return self._raw.count

    def peek(self) -> bytes:
        """Return the first decompressed bytes without consuming them."""
        if self.head is None:
            self.head, broken = b"", None
            try:
                while len(self.head) < HEAD_BYTES and (piece := self._stream.read(HEAD_BYTES)):
                    self.head += piece
            except BrokenStreamError as error:
                broken = error
            self._stream = _Chained(self.head, _Broken(broken) if broken else self._stream)
        return self.head

    def read(self, size: int) -> bytes:
        """Return up to ``size`` bytes, none at the end."""
        return self._stream.read(size)

    def close(self) -> None:
        """Close the file if it was opened here."""
        self._raw.close()

    def __enter__(self) -> OpenInput:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Counting(Stream):
    """A stream that counts the bytes read from it."""

    def __init__(self, stream: Readable) -> None:
        self.stream = stream
        self.count = 0

    def read(self, size: int = -1) -> bytes:
        data = _bytes_of(self.stream, size)
        self.count += len(data)
        return data

    def close(self) -> None:
        self.stream.close()


class Once:
    """A one-time source: a stream that is opened and read once.

    A copy of its start, or of all of it if kept, can be read again.

    Parameters
    ----------
    open_stream : callable
        Opens the stream.
    name : str
    closes : bool
        Whether to close it at its end.

    Attributes
    ----------
    kept : bool
        Whether all of it is copied, in memory or, above 64 MiB, to a temporary file.
    in_use : bool
        Whether it is being read; peeking resets it.
    """

    def __init__(self, open_stream: Callable[[], Any], name: str, *, closes: bool) -> None:
        self._open_stream, self.name, self._closes = open_stream, name, closes
        self._stream: Any = None
        self._copy: _Copy | None = _Copy()
        self._copied = 0
        self.kept = self.in_use = False

    def open(self) -> Readable:
        """Return its bytes from the start."""
        if (self.in_use and not self.kept) or self._copy is None:
            raise TableError(
                f"{self.name} can be read only once. Save it in a file to read it again."
            )
        self.in_use = True
        if self._stream is None:
            self._stream = self._open_stream()
        return _FromStart(self)

    def take(self) -> Any:
        """Return the stream itself, for unbuffered reading."""
        self.open()
        return self._stream

    def read(self, offset: int, size: int) -> bytes:
        """Return bytes from an earlier offset, or the next ones of the stream."""
        if self._copy is not None and offset < self._copied:
            self._copy.seek(offset)
            return self._copy.read(size)
        if offset != self._copied:
            raise TableError(f"{self.name} can be read only once. Save it in a file.")
        data = _bytes_of(self._stream, size)
        self._copied += len(data)
        if not self.kept and self._copied > LOOK_BYTES:
            self._copy = None
        if self._copy is not None:
            self._copy.seek(offset)
            self._copy.write(data)
        return data

    def __del__(self) -> None:
        if self._closes and self._stream is not None:
            self._stream.close()


class _FromStart(Stream):
    """The bytes of a one-time source, from its start."""

    def __init__(self, once: Once) -> None:
        self._once, self._offset = once, 0

    def read(self, size: int = -1) -> bytes:
        data = self._once.read(self._offset, size)
        self._offset += len(data)
        return data


class _Kept(Stream):
    """A stream of the user, which is not closed."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    @property
    def name(self) -> str:
        return _name_of(self._stream)

    def read(self, size: int = -1) -> bytes:
        return _bytes_of(self._stream, size)


class _Chained(Stream):
    """Bytes already read, then the rest of their stream."""

    def __init__(self, first: bytes, rest: Readable) -> None:
        self._first, self._rest = first, rest

    def read(self, size: int = -1) -> bytes:
        if not self._first:
            return self._rest.read(size)
        size = len(self._first) if size < 0 else size
        given, self._first = self._first[:size], self._first[size:]
        return given


class _Broken(Stream):
    """The remainder of a broken stream."""

    def __init__(self, error: BrokenStreamError) -> None:
        self._error = error

    def read(self, size: int = -1) -> bytes:  # noqa: ARG002
        raise self._error


class _Copy(tempfile.SpooledTemporaryFile[bytes]):
    """Bytes in memory or, if many, in an anonymous temporary file."""

    def __init__(self) -> None:
        super().__init__(COPY_BYTES)

    def __del__(self) -> None:
        self.close()


def copied(stream: Readable) -> _Copy:
    """Copy the rest of a stream to a seekable file."""
    copy = _Copy()
    while piece := stream.read(1 << 20):
        copy.write(piece)
    copy.seek(0)
    return copy


def _bytes_of(stream: Any, size: int) -> bytes:
    """Read from a stream of the user; wait if it does not block."""
    while True:
        data: Any = "" if isinstance(stream, io.TextIOBase) else stream.read(size)
        if isinstance(data, str):
            raise TypeError(
                f"{_name_of(stream)} is open as text. Open it in binary mode: open(..., 'rb')."
            )
        if data is not None:
            return bytes(data)
        select.select([stream], [], [])  # non-blocking, and no data yet


def _read_full(stream: Readable, size: int) -> bytes:
    """Read ``size`` bytes, or fewer at the end."""
    data = b""
    while len(data) < size and (piece := stream.read(size - len(data))):
        data += piece
    return data


def is_file_source(source: Any) -> bool:
    """Return whether a source is a path, several paths or an open file, not a table in memory."""
    if isinstance(source, (list, tuple)):
        return bool(source) and all(isinstance(one, (str, Path)) for one in source)
    return isinstance(source, (str, Path)) or hasattr(source, "read")


def inputs_of(source: Any, table: str | None = None, query: str | None = None) -> list[Input]:
    """Return the inputs of a source.

    Parameters
    ----------
    source : path, glob, folder, "-", binary file, address of a database, or list of paths
        In a folder: the files with a known extension or, if there are none, all files except those
        whose names start with ``.`` or ``_``. Files of folders and globs are sorted by name. A zip
        archive stands for the table in it.
    table : str, optional
        File in a zip archive, sheet of a workbook or table of a database.
    query : str, optional
        Query whose result is read from a database.
    """
    if table is not None and query is not None:
        raise ValueError("table and query exclude each other: a query names its tables itself.")
    return [one for each in _found(source) for one in _opened_archive(each, table, query)]


def _opened_archive(source: Input, table: str | None, query: str | None) -> list[Input]:
    """Return the tables of a zip archive; any other input itself."""
    if source.once is None and source.address is None and source.start() == b"PK\x03\x04":
        from separable.data.io.archives import archive_inputs

        inside = archive_inputs(source, table)
        if inside is not None:
            return [replace(one, query=query) for one in inside]
    return [replace(source, table=table, query=query)]


def _found(source: Any) -> list[Input]:
    """Return the files of a source as they are."""
    if isinstance(source, (list, tuple)):
        return [one for each in source for one in _found(each)]
    if isinstance(source, str) and source == "-":
        return [Input.of_stream(standard_input, "standard input", closes=False)]
    if not isinstance(source, (str, Path)):
        return [_of_file_object(source)]
    if isinstance(source, str) and _ADDRESS.match(source):
        return [_of_address(source)]
    path = Path(source)
    if path.is_dir():
        return _of_folder(path)
    if not path.exists() and glob.has_magic(str(source)):
        return _of_glob(str(source))
    return [_of_path(path)]


def _of_address(address: str) -> Input:
    """Return the input of a database server; raise for an address of the web."""
    scheme, _, rest = address.partition("://")
    if scheme.lower() in ("postgres", "postgresql"):
        account, at, place = rest.rpartition("@")
        name = f"{scheme}://{account.partition(':')[0]}{at}{place.partition('?')[0]}"
        return Input(name, _no_bytes, format="postgres", address=address)
    if scheme.lower() == "file":
        raise TableError(f"{address}: a URL. Name the file by its path: /{rest.lstrip('/')}.")
    shown = address.partition("?")[0]
    if scheme.lower() in ("http", "https", "ftp"):
        raise TableError(
            f"{shown}: a URL, which is not read directly. Download it first (curl -LO "
            f"{shlex.quote(address)}) and name the file."
        )
    raise TableError(
        f"{shown}: an address, which is not read directly. Copy the file to this computer first "
        "and name it. Databases: postgresql://user@host/database, or a file of SQLite or DuckDB."
    )


def _no_bytes() -> Readable:
    raise TableError("A database server has no bytes to read.")


def standard_input() -> Any:
    """Return standard input as a binary file; raise if it is closed."""
    if sys.stdin is None or getattr(sys.stdin, "closed", False):
        raise TableError("standard input is closed. Pipe data into it, or name a file.")
    return getattr(sys.stdin, "buffer", sys.stdin)


def _of_path(path: Path) -> Input:
    """Return the input of a path. A special file is opened when it is read, once."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode) and not stat.S_ISDIR(status.st_mode):
            return Input.of_stream(lambda: _opened_device(path), str(path), closes=True)
        with path.open("rb"):
            pass
    except FileNotFoundError:
        siblings = [entry.name for entry in path.parent.glob("*")] if path.parent.is_dir() else []
        raise TableError(f"{path}: no such file{did_you_mean(path.name, siblings)}") from None
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from None
    return Input(str(path), lambda: path.open("rb"), status.st_size, path=path)


def _opened_device(path: Path) -> Any:
    """Open a pipe, a terminal or a socket; a socket only through an open descriptor."""
    try:
        return path.open("rb")
    except OSError as error:
        named = _DESCRIPTORS.fullmatch(str(path))
        if named is None or error.errno != errno.ENXIO:
            raise _unreadable(path, error) from None
    return os.fdopen(os.dup(int(named[1] or named[3] or 0)), "rb")


def _unreadable(path: Path, error: OSError | ValueError) -> TableError:
    reason = getattr(error, "strerror", None) or error
    return TableError(f"{path}: cannot be read ({reason}).")


def _of_folder(path: Path) -> list[Input]:
    files = sorted(p for p in path.iterdir() if p.is_file() and p.name[0] not in "._")
    if not files:
        raise TableError(f"{path}: the folder has no files to read. Name another, or a file.")
    known = [file for file in files if format_by_name(file.name) is not None]
    # a workbook, a database or a JSON document beside files of rows describes them
    rows = [file for file in known if format_by_name(file.name) in _ROW_FORMATS]
    named = [file for file in rows if file.suffix != ".json"] or known or files
    others = tuple(file.name for file in files if file not in named)
    first, *rest = map(_of_path, named)
    return [replace(first, passed_over=others), *rest]


def _of_glob(pattern: str) -> list[Input]:
    files = sorted(Path(name) for name in glob.glob(pattern, recursive=True))  # noqa: PTH207
    files = [file for file in files if file.is_file()]
    if not files:
        raise TableError(f"{pattern}: no file matches. Correct the pattern or the folder.")
    return [_of_path(file) for file in files]


def _of_file_object(file: Any) -> Input:
    if getattr(file, "closed", False) is True:
        raise TableError(f"{_name_of(file)} is closed. Open it, or give its path.")
    seekable = hasattr(file, "seekable") and bool(file.seekable())
    if not seekable:
        return Input.of_stream(lambda: file, _name_of(file), closes=False)
    start = file.tell()

    def again() -> Readable:
        file.seek(start)
        return _Kept(file)

    return Input(_name_of(file), again)


def _name_of(file: Any) -> str:
    name = getattr(file, "name", None)
    return name if isinstance(name, str) else "the file"
