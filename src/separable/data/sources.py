"""Where data comes from: files, globs, folders, standard input, file objects."""

from __future__ import annotations

import glob
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from separable.data.compression import (
    BrokenStreamError,
    Stream,
    compression_of,
    decompressed,
)
from separable.data.formats import format_by_name
from separable.data.table import TableError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable

    from separable.data.compression import Compression, Readable

__all__ = ["Input", "OpenInput", "inputs_of", "is_file_source"]

#: How many bytes tell what a file is.
HEAD_BYTES = 1 << 12


@dataclass(frozen=True)
class Input:
    """One file, or something that is read like one.

    Parameters
    ----------
    name : str
        What to call it in messages.
    open_bytes : callable
        Returns a new stream of its bytes, from the start.
    size : int, optional
        How many bytes it has, where that is known.
    again : bool
        Whether it can be opened more than once.
    path : pathlib.Path, optional
        Where it is, if it is a file on disk.
    passed_over : tuple of str
        Files of its folder that are not read; the first file of a folder knows them.
    """

    name: str
    open_bytes: Callable[[], Readable]
    size: int | None = None
    again: bool = True
    path: Path | None = None
    passed_over: tuple[str, ...] = ()

    def open(self) -> OpenInput:
        """Open it, and see whether it is compressed."""
        return OpenInput(self)

    def head(self) -> bytes:
        """Return the first bytes of what is in it, decompressed; it can still be opened."""
        with self.open() as opened:
            head = opened.peek()
            opened.unread()
        return head


class OpenInput:
    """An input that is open: what is in it, decompressed, and how far it was read.

    Attributes
    ----------
    compression : str or None
    """

    def __init__(self, source: Input) -> None:
        self.source = source
        self._raw = _Counting(source.open_bytes())
        start = _read_full(self._raw, HEAD_BYTES)
        self.compression: Compression | None = compression_of(start)
        self._stream = decompressed(_Chained(start, self._raw), self.compression)
        self.head: bytes | None = None

    @property
    def bytes_read(self) -> int:
        """How many bytes of the file itself were read."""
        return self._raw.count

    def peek(self) -> bytes:
        """Return the first bytes of what is in it, without passing them."""
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
        """Return up to so many bytes, none at the end."""
        return self._stream.read(size)

    def unread(self) -> None:
        """Take back what was read, from an input that can be read only once."""
        if isinstance(self._raw.stream, _Once):
            self._raw.stream.unread()

    def close(self) -> None:
        """Close the file, unless it was open before."""
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
        data: Any = self.stream.read(size)
        if isinstance(data, str):
            raise TypeError(
                f"{_name_of(self.stream)} is open as text. Open it in binary mode: open(..., 'rb')."
            )
        given: bytes = data or b""
        self.count += len(given)
        return given

    def close(self) -> None:
        if not isinstance(self.stream, (_Kept, _Once)):
            self.stream.close()


class _Once(Stream):
    """A stream that can be read once, but for its start, which can be looked at before."""

    def __init__(self, stream: Any, name: str) -> None:
        self._stream, self.name = stream, name
        self._seen: list[bytes] | None = []
        self._given: list[bytes] = []
        self._open = False

    def open(self) -> _Once:
        if self._open:
            raise TableError(
                f"{self.name} can be read only once. Save it in a file to read it again."
            )
        self._open = True
        return self

    def unread(self) -> None:
        self._given, self._seen, self._open = self._seen or [], None, False

    def read(self, size: int = -1) -> bytes:
        if self._given:
            return self._given.pop(0)
        data: bytes = self._stream.read(size)
        if self._seen is not None:
            if sum(map(len, self._seen)) > 1 << 20:  # nobody looks: it is being read
                self._seen = None
            else:
                self._seen.append(data)
        return data


class _Kept(Stream):
    """A stream of the user's, which is not closed."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    @property
    def name(self) -> str:
        return _name_of(self._stream)

    def read(self, size: int = -1) -> bytes:
        data: bytes = self._stream.read(size)
        return data


class _Chained(Stream):
    """Some bytes, and then the rest of the stream they were read from."""

    def __init__(self, first: bytes, rest: Readable) -> None:
        self._first, self._rest = first, rest

    def read(self, size: int = -1) -> bytes:
        if not self._first:
            return self._rest.read(size)
        size = len(self._first) if size < 0 else size
        given, self._first = self._first[:size], self._first[size:]
        return given


class _Broken(Stream):
    """What is left of a stream that broke."""

    def __init__(self, error: BrokenStreamError) -> None:
        self._error = error

    def read(self, size: int = -1) -> bytes:  # noqa: ARG002
        raise self._error


def _read_full(stream: Readable, size: int) -> bytes:
    """Read until there are so many bytes, or the end."""
    data = b""
    while len(data) < size and (piece := stream.read(size - len(data))):
        data += piece
    return data


def is_file_source(source: Any) -> bool:
    """Whether something is a path, several, or an open file, and not a table in memory."""
    if isinstance(source, (list, tuple)):
        return bool(source) and all(isinstance(one, (str, Path)) for one in source)
    return isinstance(source, (str, Path)) or hasattr(source, "read")


def inputs_of(source: Any) -> list[Input]:
    """Return what to read.

    Parameters
    ----------
    source : path, glob, folder, "-", binary file, or list of paths
        Of a folder the files whose names end as those of a format do, or where there are none all
        files, but for those whose name begins with ``.`` or ``_``; these and those of a glob in the
        order of their names.
    """
    if isinstance(source, (list, tuple)):
        return [one for each in source for one in inputs_of(each)]
    if isinstance(source, str) and source == "-":
        return [
            Input("standard input", _Once(sys.stdin.buffer, "standard input").open, again=False)
        ]
    if not isinstance(source, (str, Path)):
        return [_of_file_object(source)]
    path = Path(source)
    if path.is_dir():
        return _of_folder(path)
    if not path.exists() and glob.has_magic(str(source)):
        return _of_glob(str(source))
    return [_of_path(path)]


def _of_path(path: Path) -> Input:
    try:
        with path.open("rb"):
            size = path.stat().st_size if path.is_file() else None
    except FileNotFoundError:
        siblings = [entry.name for entry in path.parent.glob("*")] if path.parent.is_dir() else []
        raise TableError(f"{path}: no such file{did_you_mean(path.name, siblings)}") from None
    except OSError as error:
        raise TableError(f"{path}: cannot be read ({error.strerror}).") from None
    return Input(str(path), lambda: path.open("rb"), size, again=path.is_file(), path=path)


def _of_folder(path: Path) -> list[Input]:
    files = sorted(p for p in path.iterdir() if p.is_file() and p.name[0] not in "._")
    if not files:
        raise TableError(f"{path}: the folder has no files to read. Name another, or a file.")
    named = [file for file in files if format_by_name(file.name) is not None] or files
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
    seekable = hasattr(file, "seekable") and bool(file.seekable())
    if not seekable:
        return Input(_name_of(file), _Once(file, _name_of(file)).open, again=False)
    start = file.tell()

    def again() -> Readable:
        file.seek(start)
        return _Kept(file)

    return Input(_name_of(file), again)


def _name_of(file: Any) -> str:
    name = getattr(file, "name", None)
    return name if isinstance(name, str) else "the file"
