"""CSV files, read whole or in chunks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from separable.data.dataset import chosen_columns
from separable.data.io.compression import BrokenStreamError
from separable.data.io.csv.csv_file import Block, CsvReader, RetypeError
from separable.data.io.csv.records import Records
from separable.data.io.csv.sniff import (
    HEAD_BYTES,
    LONG_HEAD_BYTES,
    PIECE_BYTES,
    SAMPLE_LINES,
    Sample,
    sniff_csv,
)
from separable.data.io.encodings import LONGEST_LINE, Utf8Text, line_of_byte, refuse_nul
from separable.data.io.readers import TableFiles, cut_off
from separable.data.reading_report import ColumnSource
from separable.data.table import TableError, list_names
from separable.errors import Option

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from separable.data.io.csv.sniff import CsvLayout, CsvOptions
    from separable.data.io.sources import Input

__all__ = ["CsvFiles"]

#: Line terminators.
ENDS = (b"\n", b"\r")


class CsvFiles(TableFiles):
    """CSV files. See `Files`."""

    format = "csv"

    @property
    def _options(self) -> CsvOptions:
        return self.options.csv

    # --- whole ---

    def read(self) -> pa.Table:
        """Return all rows of all files."""
        import pyarrow as pa

        layout: CsvLayout | None = None
        kept: dict[int, tuple[Utf8Text, bytes]] = {}
        while True:
            tables, first = [], layout
            try:
                for offset, source in enumerate(self.inputs):
                    text, data = kept.get(offset) or self._whole(source)
                    if len(self.inputs) == 1 or not source.again:
                        kept[offset] = text, data
                    own = sniff_csv(_sample_of(text, data), self._options)
                    if first is None:
                        first = own
                    tables.append(self._table(text, data, first, own))
                break
            except RetypeError as error:
                assert first is not None
                layout = first.with_plans(error.plans)
                self.start_again()
        table = pa.concat_tables(tables)
        if not table.num_rows:
            raise self._without_rows(tables[0].column_names)
        self.report.rows = table.num_rows
        return table

    def _without_rows(self, names: list[str]) -> TableError:
        if names and names[0].lower().startswith(("<!doctype", "<html", "<?xml")):
            return TableError(
                f"{self.where}: a web page or XML, not a table. Download the file itself, or save "
                "the table as CSV."
            )
        return TableError(f"{self.where}: only a header line, no rows. Add the data below it.")

    def _whole(self, source: Input) -> tuple[Utf8Text, bytes]:
        """Return the text of a file."""
        pieces = []
        with source.open() as opened:
            text = Utf8Text(opened, self.options.encoding, ENDS)
            try:
                if text.is_plain and source.path is not None:
                    if (source.size or 0) > LONGEST_LINE:  # before it is in memory
                        while text.read(1 << 24):
                            pass
                    return text, source.path.read_bytes()[text.mark_bytes :]
                while piece := text.read(1 << 24):
                    pieces.append(piece)
            except BrokenStreamError as error:
                return text, self._rescued(source, b"".join(pieces), str(error))
        return text, pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def _rescued(self, source: Input, data: bytes, problem: str) -> bytes:
        """Return the whole lines of a truncated file if errors are skipped; else raise."""
        whole = data[: data.rfind(b"\n") + 1]
        line = whole.count(b"\n") + 1
        rows = 0
        if whole.strip():
            layout = sniff_csv(_cut(source.name, whole), self._options)
            parts = Block(source.name, whole, layout.start).parts(layout, 1 << 23)
            rows = sum(int((~records.empty).sum()) for records, _ in parts)
        if not self.options.skip or not rows:
            raise cut_off(source.name, problem, rows, line)
        self.report.skip(source.name, line, problem, "")
        return whole

    def _table(self, text: Utf8Text, data: bytes, layout: CsvLayout, own: CsvLayout) -> pa.Table:
        self._settle(text, layout, sniffed=_describe_sample(data))
        self._add_source(layout, own, text.name)
        strip = not own.dialect.header, True
        block = Block(text.name, data, own.start, own.start_line + 1, text.mark_bytes, strip)
        reader = self._reader(own, layout, retype=True)
        return reader.table(block).select(self.columns)

    def _add_source(self, first: CsvLayout, own: CsvLayout, name: str) -> None:
        self.report.sources.append(name)
        _refuse_other_columns(first, own, self.report.sources[0], name)

    def _reader(self, own: CsvLayout, layout: CsvLayout, *, retype: bool) -> CsvReader:
        """Return the reader of a file: its own dialect and order, the types of the first file."""
        planned = own.with_plans(layout.plans)
        return CsvReader(planned, self.columns, self._options, self.report, retype=retype)

    def _settle(self, text: Utf8Text, layout: CsvLayout, sniffed: str) -> None:
        """Record what is known after the first file was sniffed."""
        if self.report.sources:
            return
        self.columns, self.label = chosen_columns(
            layout.names, self.options.columns, self.target, text.name
        )
        report = self.report
        report.format, report.dialect, report.sniffed = "csv", layout.dialect, sniffed
        report.compression = text.source.compression
        plans = layout.plans
        if layout.remarks:
            lines = "line that begins" if layout.remarks == 1 else "lines that begin"
            report.notes.append(
                f"{text.name}: {layout.remarks} {lines} with '#' above the header ignored"
            )
        report.columns = [ColumnSource(n, plans[n].type, plans[n].why) for n in self.columns]

    # --- in chunks ---

    def chunks(self, chunk_bytes: int) -> Iterator[pa.Table]:
        """Yield the rows in chunks."""
        first: CsvLayout | None = None
        for source in self.inputs:
            with source.open() as opened:
                text = Utf8Text(opened, self.options.encoding, ENDS)
                stream = _Buffered(text)
                head = _head(stream)
                if stream.broken is not None and b"\n" not in head:
                    self._rescued_end(stream, text.name, 1)
                sample = _cut(text.name, head, whole=stream.ended, encoding=text.encoding)
                others = () if stream.ended else _other_pieces(source, text, head)
                own = sniff_csv(_with_others(sample, others, text.mark_bytes), self._options)
                first = first or own
                message = (
                    "the whole file"
                    if stream.ended
                    else _describe_pieces(head, len(head), len(others))
                )
                self._settle(text, first, message)
                self._add_source(first, own, text.name)
                reader = self._reader(own, first, retype=False)
                for block in self._blocks(stream, own, text, chunk_bytes):
                    table = reader.table(block).select(self.columns)
                    self.report.rows += table.num_rows
                    self.report_progress(opened.bytes_read)
                    yield table
        if not self.report.rows:
            raise self._without_rows(list(self.columns or []))

    def _blocks(
        self, stream: _Buffered, layout: CsvLayout, text: Utf8Text, size: int
    ) -> Iterator[Block]:
        """Split a text into blocks of whole records."""
        stream.take(layout.start)
        line, offset = layout.start_line + 1, text.mark_bytes + layout.start
        dialect, want, first = layout.dialect, size, not layout.dialect.header
        while True:
            data = stream.peek(want)
            if stream.broken is not None and len(data) <= want:
                data = self._rescued_end(stream, text.name, line)
            if not data:
                return
            if not stream.ended or len(data) > want:
                end = len(data) - data.endswith(b"\r")  # its newline may follow
                records = Records(data[:end], dialect.delimiter, dialect.quoting)
                whole = records.complete
                if not whole:
                    if want > LONGEST_LINE:
                        refuse_nul(text.name, data, line, offset)
                        raise TableError(
                            f"a record of more than {len(data)} bytes. A quote may be unclosed: "
                            "close it, or pass ",
                            Option("quoting", False),
                            " if quotes are text.",
                            file=text.name,
                            line=line,
                        )
                    want *= 2
                    continue
                data = data[:whole]
            stream.take(len(data))
            yield Block(text.name, data, 0, line, offset, (first, stream.at_end))
            first = False
            line += line_of_byte(data, len(data)) - 1
            offset, want = offset + len(data), size

    def _rescued_end(self, stream: _Buffered, name: str, line: int) -> bytes:
        """Return the last whole lines of a truncated file if errors are skipped; else raise."""
        data = stream.peek(0)
        line += data.count(b"\n")
        if not self.options.skip:
            rows = self.report.rows + data.count(b"\n")
            raise cut_off(name, stream.broken, rows, line)
        self.report.skip(name, line, str(stream.broken), "")
        stream.broken = None
        stream.cut(data.rfind(b"\n") + 1)
        return stream.peek(0)


class _Buffered:
    """A text that can be peeked before it is consumed."""

    def __init__(self, text: Utf8Text) -> None:
        self._text, self._data = text, b""
        self.ended = False
        self.broken: BrokenStreamError | None = None

    def peek(self, size: int) -> bytes:
        """Return the next ``size`` bytes, or all that remain, without consuming them."""
        pieces, have = [self._data], len(self._data)
        try:
            while have < size and not self.ended:
                piece = self._text.read(min(size - have, 1 << 22))
                self.ended = not piece
                pieces.append(piece)
                have += len(piece)
        except BrokenStreamError as error:
            self.ended, self.broken = True, error
        if len(pieces) > 1:
            self._data = b"".join(pieces)
        return self._data

    @property
    def at_end(self) -> bool:
        """Whether nothing remains."""
        return self.ended and not self._data

    def take(self, size: int) -> None:
        """Consume bytes that were peeked."""
        self._data = self._data[size:]

    def cut(self, size: int) -> None:
        """Drop all but the next bytes."""
        self._data = self._data[:size]


# --- samples ---


def _cut(name: str, data: bytes, *, whole: bool = True, encoding: str = "utf-8") -> Sample:
    """Return a sample without an incomplete last line."""
    if not whole:
        end = max(data.rfind(b"\n"), data.rfind(b"\r", 0, len(data) - 1)) + 1
        data = data[:end] or data
    return Sample(name, data, (), whole, encoding)


def _with_others(sample: Sample, others: tuple[bytes, ...], mark_bytes: int) -> Sample:
    return Sample(sample.name, sample.head, others, sample.whole, sample.encoding, mark_bytes)


def _sample_of(text: Utf8Text, data: bytes) -> Sample:
    """Return the head of a text, and pieces from its middle and its end."""
    size, piece = _sample_sizes(data)
    if len(data) <= size + 2 * piece:
        return _with_others(_cut(text.name, data, encoding=text.encoding), (), text.mark_bytes)
    sample = _cut(text.name, data[:size], whole=False, encoding=text.encoding)
    others = tuple(
        _inner_lines(data[offset : offset + piece], at_end=offset + piece == len(data))
        for offset in ((len(data) - piece) // 2, len(data) - piece)
    )
    return _with_others(sample, others, text.mark_bytes)


def _sample_sizes(data: bytes) -> tuple[int, int]:
    """Return the bytes of the head and of each other piece: several lines, however long."""
    newline = b"\n" if b"\n" in data else b"\r"
    end = count = 0
    while count < SAMPLE_LINES and (count < 2 or end < LONG_HEAD_BYTES):
        offset = data.find(newline, end)
        if offset < 0:
            break
        end, count = offset + 1, count + 1
    return max(HEAD_BYTES, end), max(PIECE_BYTES, 4 * end // max(count, 1))


def _head(stream: _Buffered) -> bytes:
    """Return the head of a stream without consuming it."""
    head = stream.peek(HEAD_BYTES)
    while not stream.ended and len(head) < LONG_HEAD_BYTES:
        if max(head.count(b"\n"), head.count(b"\r")) >= SAMPLE_LINES:
            break
        head = stream.peek(2 * len(head))
    return head


def _other_pieces(source: Input, text: Utf8Text, head: bytes) -> tuple[bytes, ...]:
    """Return pieces from the middle and the end of a file on disk, if it is plain UTF-8."""
    length = _sample_sizes(head)[1]
    if source.path is None or not text.is_plain or (source.size or 0) < len(head) + 2 * length:
        return ()
    size, pieces = source.size or 0, []
    with source.path.open("rb") as file:
        for offset in ((size - length) // 2, size - length):
            file.seek(offset)
            piece = file.read(length)
            pieces.append(_inner_lines(piece, at_end=offset + length == size))
    return tuple(pieces)


def _inner_lines(piece: bytes, *, at_end: bool) -> bytes:
    """Return the lines of a piece without the first and, except at the end, the last."""
    start = piece.find(b"\n") + 1
    return piece[start:] if at_end else piece[start : max(piece.rfind(b"\n") + 1, start)]


def _describe_sample(data: bytes) -> str:
    size, piece = _sample_sizes(data)
    if len(data) <= size + 2 * piece:
        return "the whole file"
    return _describe_pieces(data, size, 2)


def _describe_pieces(data: bytes, head: int, others: int) -> str:
    piece = _sample_sizes(data)[1] >> 10
    more = f" and {piece} KiB each from the middle and the end" if others else ""
    return f"the first {head >> 10} KiB{more}"


def _refuse_other_columns(first: CsvLayout, own: CsvLayout, first_name: str, name: str) -> None:
    if first.names == own.names:
        return
    lacks = [column for column in first.names if column not in own.names]
    has = [column for column in own.names if column not in first.names]
    if not lacks and not has:
        return  # different order
    message = [f"lacks {list_names(lacks, 5)}"] * bool(lacks)
    message += [f"has {list_names(has, 5)} besides"] * bool(has)
    raise TableError(
        f"{name} and {first_name} have different columns: {name} {' and '.join(message)}. Make "
        "them the same, or read the files one by one."
    )
