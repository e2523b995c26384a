"""Standard input or a pipe as it comes: whole records, as soon as nothing more is waiting.

``tail -f log.csv | separable predict model -`` answers row by row, while a large file that is piped
in is taken in large blocks.
"""

from __future__ import annotations

import io
import re
import select
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from separable.data.io.encodings import LONGEST_LINE
from separable.data.io.sources import Input
from separable.data.table import TableError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from separable.data.dataset import Dataset
    from separable.data.io.csv.dialect import Dialect
    from separable.data.io.formats import Format

__all__ = ["LiveInput"]

#: So much is taken at once, and a block ends when it is this long or nothing comes for a moment.
PIECE_BYTES = 1 << 16
BLOCK_BYTES = 1 << 23
PAUSE = 0.02

#: So much of the start is kept, to be looked at.
START_BYTES = 1 << 20


class LiveInput:
    """A pipe whose first bytes have arrived.

    Parameters
    ----------
    stream : binary file
    name : str
        What to call it in messages.
    skip_rows, comment
        As in `separable.data.read`: what to leave out.
    """

    def __init__(
        self, stream: Any, name: str, skip_rows: int = 0, comment: str | None = None
    ) -> None:
        self._stream, self.name, self._skip_rows = stream, name, skip_rows
        self._comment = comment.encode() if comment else None
        self._data, self._start, self._ended = b"", b"", False
        self._fill()

    @property
    def head(self) -> bytes:
        """What has come so far."""
        return self._data

    def as_input(self) -> Input:
        """Return everything, from its first byte to its last, to be read once."""
        whole = _Chained(self._data, self._stream)
        return Input.of_stream(lambda: whole, self.name, closes=False)

    def wait_for_rows(self, lines: int) -> None:
        """Wait for this many non-empty lines, or the end."""
        while not self._ended and not self._has(lines):
            self._refuse_endless()
            self._fill()
        end = self._data.rfind(b"\n", 0, START_BYTES) + 1
        is_complete = self._ended and len(self._data) <= START_BYTES
        self._start = self._data if is_complete or not end else self._data[:end]

    def peeked(self, kind: Format, options: dict[str, Any]) -> Dataset:
        """Return the first rows, without taking them."""
        return self._read(self._start, kind, options)

    def datasets(self, kind: Format, options: dict[str, Any]) -> Iterator[Dataset]:
        """Give the rows as they come; those of later blocks are read as the first one is.

        Parameters
        ----------
        kind : {"csv", "jsonl"}
        options : dict
            As those of `separable.data.read`.
        """
        prefix, line, dialect = b"", 0, None
        if not self._start.strip():
            self._read(self._start, kind, options)  # refuses it as it does an empty file
        while True:
            block = self._block(dialect)
            if not block:
                return
            if self._has_rows(block, first=dialect is None):
                with _counting_lines(self.name, line):
                    dataset = self._read(prefix + block, kind, options)
                yield dataset
                if dialect is None and kind == "csv":
                    dialect = dataset.report.dialect
                    options = _settled(options, dialect)
                    prefix = _preamble(block, options)
                    line -= prefix.count(b"\n")
            line += block.count(b"\n")

    def _read(self, text: bytes, kind: Format, options: dict[str, Any]) -> Dataset:
        from separable.data.io.reading import read_inputs

        return read_inputs([Input(self.name, lambda: io.BytesIO(text))], kind, **options)

    def _block(self, dialect: Dialect | None) -> bytes:
        """Return the whole records that are there, waiting for one; nothing at the end."""
        while True:
            end = _whole(self._data, dialect)
            if self._ended:
                end = len(self._data)
            if end:
                block, self._data = self._data[:end], self._data[end:]
                return block
            if self._ended:
                return b""
            self._refuse_endless()
            self._fill()

    def _refuse_endless(self) -> None:
        if len(self._data) > LONGEST_LINE:
            raise TableError(
                f"{self.name}: a record of more than {LONGEST_LINE >> 20} MiB. The file is "
                "damaged or not text, or a quote is open that is never closed: say quoting=False "
                "if quotes are text."
            )

    def _fill(self) -> None:
        """Wait for some bytes, and take all that come at once."""
        pieces, size = [self._data], 0
        read = getattr(self._stream, "read1", self._stream.read)  # what is there, not all
        while True:
            piece = read(PIECE_BYTES)
            self._ended = not piece
            pieces.append(piece)
            size += len(piece)
            if self._ended or size >= BLOCK_BYTES or not _is_waiting(self._stream):
                break
        self._data = b"".join(pieces)

    def _has(self, lines: int) -> bool:
        """Whether this many non-empty lines have arrived; the first bytes may be enough to tell."""
        return any(
            len(self._lines(self._data[: self._data.rfind(b"\n", 0, size) + 1], self._skip_rows))
            >= lines
            for size in (PIECE_BYTES, len(self._data))
        )

    def _has_rows(self, block: bytes, *, first: bool) -> bool:
        if self._comment is None and not (first and self._skip_rows):
            return bool(block.strip())
        return bool(self._lines(block, self._skip_rows if first else 0))

    def _lines(self, text: bytes, skip: int) -> list[bytes]:
        lines = [line for line in text.splitlines()[skip:] if line.strip()]
        if self._comment is None:
            return lines
        return [line for line in lines if not line.startswith(self._comment)]


class _Chained(io.RawIOBase):
    """Some bytes and what comes after them."""

    def __init__(self, first: bytes, rest: Any) -> None:
        self._first, self._rest = first, rest

    def read(self, size: int = -1) -> bytes:
        if not self._first:
            data: bytes = self._rest.read(size)
            return data
        size = len(self._first) if size < 0 else size
        given, self._first = self._first[:size], self._first[size:]
        return given


def _is_waiting(stream: Any) -> bool:
    """Whether more comes within a moment; where that cannot be asked, say so."""
    try:
        return bool(select.select([stream], [], [], PAUSE)[0])
    except (OSError, ValueError, TypeError):  # no file of the system, or one that cannot be asked
        return True


def _whole(data: bytes, dialect: Dialect | None) -> int:
    """Return how many bytes are whole records."""
    from separable.data.io.csv.records import Records

    end = data.rfind(b"\n") + 1
    if not end:
        return 0
    if dialect is not None:
        return Records(data[:end], dialect.delimiter, dialect.quoting).complete
    return 0 if data.count(b'"', 0, end) % 2 else end


def _settled(options: dict[str, Any], dialect: Dialect | None) -> dict[str, Any]:
    """Return options that read later blocks as the first one was."""
    assert dialect is not None
    names = ("delimiter", "quoting", "header", "decimal")
    return {**options, **{name: getattr(dialect, name) for name in names}}


def _preamble(block: bytes, options: dict[str, Any]) -> bytes:
    """Return what stands above the rows: the header line, and lines that are left out."""
    from separable.data.io.csv.sniff import Sample, sniff_csv
    from separable.data.io.encodings import UTF8_MARK
    from separable.data.io.reading import checked_options

    text = block.removeprefix(UTF8_MARK)
    layout = sniff_csv(Sample("", text, (), True), checked_options(**options).csv)
    return text[: layout.start]


@contextmanager
def _counting_lines(name: str, before: int) -> Iterator[None]:
    """Count lines in errors from the start of the input instead of that of the block."""
    from separable.data.table import NotANumberError, TableError

    try:
        yield
    except TableError as error:
        mask = rf"(?<={re.escape(name)}:)\d+"
        message = re.sub(mask, lambda line: str(int(line[0]) + before), str(error))
        if isinstance(error, NotANumberError):
            raise NotANumberError(message, error.column) from None
        raise TableError(message) from None
