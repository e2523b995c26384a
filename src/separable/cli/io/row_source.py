"""Rows of a data source in chunks: files, globs, standard input and pipes that are still open.

A pipe is read in whole records, as soon as no more bytes are waiting: ``tail -f log.csv |
separable predict model -`` predicts row by row, and a large file in a pipe comes in large blocks.
Rows without a target are kept. `separable.workflow.stream.stream_rows` reads rows for training.
"""

from __future__ import annotations

import io
import select
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from separable.cli.render.messages import note
from separable.data.io.encodings import LONGEST_LINE
from separable.data.io.sources import Input
from separable.data.table import TableError
from separable.errors import Option
from separable.workflow.input_tables import skipped_text
from separable.workflow.options import file_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pyarrow as pa

    from separable.data.dataset import Dataset
    from separable.data.io.csv.dialect import Dialect
    from separable.data.io.formats import Format
    from separable.data.io.sources import Once
    from separable.data.reading_report import Progress, ReadingReport
    from separable.workflow.options import ReadingOptions


__all__ = ["RowSource"]

#: Bytes per read; a block ends at this length, or when no bytes arrive for a moment.
PIECE_BYTES = 1 << 16
BLOCK_BYTES = 1 << 23
PAUSE = 0.02

#: Bytes at the start that are kept for the detection of the format.
START_BYTES = 1 << 20

#: Approximate bytes of a file per chunk.
CHUNK_BYTES = 1 << 23


class LiveInput:
    """A pipe whose first bytes have arrived.

    Parameters
    ----------
    stream : binary file
    name : str
        The name in messages.
    skip_rows, comment
        As in `separable.data.read`.
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
        """The bytes that have arrived so far."""
        return self._data

    def as_input(self) -> Input:
        """Return the whole input, which can be read once."""
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
        """Return the first rows without consuming them."""
        return self._read(self._start, kind, options)

    def datasets(self, kind: Format, options: dict[str, Any]) -> Iterator[Dataset]:
        """Yield rows as they arrive; the format of the first block applies to all.

        Parameters
        ----------
        kind : {"csv", "jsonl"}
        options : dict
            Those of `separable.data.read`.
        """
        prefix, line, dialect = b"", 0, None
        if not self._start.strip():
            self._read(self._start, kind, options)  # refuses it as it does an empty file
        while True:
            block = self._block(dialect)
            if not block:
                return
            if self._has_rows(block, first=dialect is None):
                with _counting_lines(line):
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
        """Return the complete records that have arrived, at least one; empty at the end."""
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
                "damaged or not text, or a quote is open that is never closed: say ",
                Option("quoting", False),
                " if quotes are text.",
            )

    def _fill(self) -> None:
        """Wait for bytes, and take all that are available."""
        pieces, size = [self._data], 0
        read = getattr(self._stream, "read1", self._stream.read)  # what is available
        while True:
            piece = read(PIECE_BYTES)
            self._ended = not piece
            pieces.append(piece)
            size += len(piece)
            if self._ended or size >= BLOCK_BYTES or not _is_waiting(self._stream):
                break
        self._data = b"".join(pieces)

    def _has(self, lines: int) -> bool:
        """Whether this many non-empty lines have arrived."""
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
    """Bytes, followed by the rest of a stream."""

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
    """Whether more bytes arrive within a moment; True if that cannot be determined."""
    try:
        return bool(select.select([stream], [], [], PAUSE)[0])
    except (OSError, ValueError, TypeError):  # not a file of the system, or not selectable
        return True


def _whole(data: bytes, dialect: Dialect | None) -> int:
    """Return the number of bytes in complete records."""
    from separable.data.io.csv.records import Records

    end = data.rfind(b"\n") + 1
    if not end:
        return 0
    if dialect is not None:
        return Records(data[:end], dialect.delimiter, dialect.quoting).complete
    return 0 if data.count(b'"', 0, end) % 2 else end


def _settled(options: dict[str, Any], dialect: Dialect | None) -> dict[str, Any]:
    """Return options that apply the format of the first block to later ones."""
    assert dialect is not None
    names = ("delimiter", "quoting", "header", "decimal")
    return {**options, **{name: getattr(dialect, name) for name in names}}


def _preamble(block: bytes, options: dict[str, Any]) -> bytes:
    """Return the lines above the rows: the header, and skipped lines."""
    from separable.data.io.csv.sniff import Sample, sniff_csv
    from separable.data.io.encodings import UTF8_MARK
    from separable.data.io.reading import checked_options

    text = block.removeprefix(UTF8_MARK)
    layout = sniff_csv(Sample("", text, (), True), checked_options(**options).csv)
    return text[: layout.start]


@contextmanager
def _counting_lines(before: int) -> Iterator[None]:
    """Count lines in errors from the start of the input, not of the block."""
    from separable.data.table import TableError

    try:
        yield
    except TableError as error:
        raise (error if error.line is None else error.at(line=error.line + before)) from None


class RowSource:
    """A source of rows that knows its column names before it is read.

    Parameters
    ----------
    data : str
        As the user named it.
    reading : ReadingOptions

    Attributes
    ----------
    kind : {"csv", "jsonl", "parquet", "svmlight", "vw"}
    """

    def __init__(self, data: str, reading: ReadingOptions) -> None:
        from separable.data.io.formats import checked_format, formats_of
        from separable.data.io.sources import inputs_of

        self.data, self._reading, self._options = data, reading, reading.for_read()
        requested = checked_format(self._options.pop("format", None))
        self._live: LiveInput | None = None
        for name in ("table", "query"):
            self._options.pop(name, None)
        self._given = self._inputs = inputs_of(data, reading.table, reading.query)
        once = self._inputs[0].once
        if len(self._inputs) == 1 and once is not None:
            self.kind = self._of_stream(once, requested, reading)
        else:
            self.kind = requested or formats_of(self._inputs)

    def _of_stream(self, once: Once, requested: Format | None, reading: ReadingOptions) -> Format:
        """Read standard input or a pipe as it arrives, if the format allows it."""
        from separable.data.io.compression import compression_of
        from separable.data.io.formats import format_of_text, formats_of

        live = LiveInput(once.take(), once.name, reading.skip_rows, reading.comment)
        packed = compression_of(live.head) is not None or reading.encoding is not None
        marked = live.head[:2] in (b"\xff\xfe", b"\xfe\xff")
        if not packed and not marked:
            kind = requested or format_of_text(live.name, live.head)
            listed = kind == "jsonl" and live.head.lstrip()[:1] == b"["
            selects = reading.table is not None or reading.query is not None
            if kind in ("csv", "jsonl") and not listed and not selects:
                self._live = live
                live.wait_for_rows(2 if kind == "csv" and reading.header is not False else 1)
                return kind
        self._inputs = [replace(live.as_input(), table=reading.table, query=reading.query)]
        self._inputs[0].keep()  # its column names are needed before it is read
        return requested or formats_of(self._inputs)

    @property
    def is_table(self) -> bool:
        """Whether it has named columns."""
        return self.kind not in ("svmlight", "vw")

    @property
    def again(self) -> bool:
        """Whether it can be read again."""
        return self._live is not None or all(one.again for one in self._inputs)

    def names(self) -> list[str]:
        """Return the names of the columns, without consuming rows."""
        first = self._first()
        assert first.table is not None
        return list(first.table.column_names)

    def _first(self) -> Dataset:
        """Return the first rows."""
        if self._live is not None:
            return self._live.peeked(self.kind, self._options)
        first: Dataset = next(self._files({}).datasets(CHUNK_BYTES, 1))
        return first

    def datasets(
        self,
        n_rows: int,
        options: dict[str, Any],
        progress: Callable[[Progress], None] | None = None,
    ) -> Iterator[Dataset]:
        """Yield the rows in chunks of at most n_rows.

        Parameters
        ----------
        n_rows : int
        options : dict
            Those of `separable.data.read`, in addition to the user's.
        progress : callable, optional
        """
        from separable.workflow.input_tables import remember_lines

        reports: list[ReadingReport] = []
        for dataset in self._datasets(n_rows, options, progress):
            if not reports or reports[-1] is not dataset.report:
                reports.append(dataset.report)
                if self._live is None:
                    remember_lines(self.data, self._inputs, dataset.report, self._reading)
            yield dataset
        self._note_skipped(reports)

    def _datasets(self, n_rows: int, options: dict[str, Any], progress: Any) -> Iterator[Dataset]:
        if self._live is None:
            yield from self._files(options, progress).datasets(CHUNK_BYTES, n_rows)
            return
        from separable.data.dataset import Dataset
        from separable.data.table import require_columns

        given = {**self._options, **options}
        wanted = given.pop("columns", None) if self.kind == "jsonl" else None
        if wanted is not None and not {*self.names()} & {*wanted}:
            require_columns(wanted, self.names(), file_name(self.data))
        for whole in self._live.datasets(self.kind, given):
            assert whole.table is not None
            table = whole.table if wanted is None else _with_columns(whole.table, wanted)
            for start in range(0, table.num_rows, n_rows):
                yield Dataset(table.slice(start, n_rows), None, None, whole.report)

    def _files(self, options: dict[str, Any], progress: Any = None) -> Any:
        from separable.data.io.reading import checked_options, files_of

        given = checked_options(**{**self._options, **options})
        files: Any = files_of(self._inputs, None, self.kind, given, progress)
        files.keep_unlabelled = True  # every row gets a prediction
        return files

    def _note_skipped(self, reports: list[ReadingReport]) -> None:
        for message in dict.fromkeys(message for report in reports for message in report.notes):
            note(message)
        skipped = sum(report.skipped for report in reports)
        if skipped:
            first = next(report.examples[0] for report in reports if report.examples)
            note(skipped_text(self.data, skipped, first))


def _with_columns(table: pa.Table, wanted: list[str]) -> pa.Table:
    """Return the wanted columns; one that is absent from a block is missing there."""
    import pyarrow as pa

    absent = pa.nulls(table.num_rows)
    has = set(table.column_names)
    return pa.Table.from_arrays(
        [table[name] if name in has else absent for name in wanted], list(wanted)
    )
