"""CSV files to Arrow tables, with errors that say where and what to do.

``pyarrow`` does the parsing. Around it stands what it leaves out: the delimiter is sniffed, a
column's type comes from a look at the whole column, missing values may be written in several ways,
and a file that cannot be read is looked at a second time so that the message names the line.

Nothing here converts through ``pyarrow.array`` or ``to_numpy``: both import pandas where it is
installed, and predicting must not.
"""

from __future__ import annotations

import csv
import difflib
import io
import re
import sys
from collections import Counter
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    import pyarrow as pa

    Texts = pa.ChunkedArray[Any]

__all__ = [
    "MISSING",
    "CellError",
    "ColumnType",
    "NotANumberError",
    "TableError",
    "did_you_mean",
    "is_number",
    "list_names",
    "missing_counts",
    "read_csv",
    "require_columns",
]

ColumnType = Literal["number", "category"]

#: The texts that stand for a missing value, after trimming.
MISSING = ("", "NA", "N/A", "NaN", "nan", "NAN", "null", "NULL", "Null", "None", "?", "-")

DELIMITERS = (",", ";", "\t", "|")

#: How much of a file is parsed at a time.
BLOCK_BYTES = 1 << 22

#: How other kinds of file begin, what they are, and what to do about it.
_SIGNATURES = (
    (b"\x1f\x8b", "is compressed with gzip", "decompress it first (gunzip)"),
    (b"BZh91AY&SY", "is compressed with bzip2", "decompress it first (bunzip2)"),
    (b"\xfd7zXZ\x00", "is compressed with xz", "decompress it first (unxz)"),
    (b"\x28\xb5\x2f\xfd", "is compressed with zstd", "decompress it first (unzstd)"),
    (b"PK\x03\x04", "is a zip archive or a workbook", "unpack it, or export the sheet as CSV"),
    (b"PAR1\x15", "is a Parquet file", "write it as CSV first"),
    (b"\xff\xfe", "is written in UTF-16", "save it as UTF-8"),
    (b"\xfe\xff", "is written in UTF-16", "save it as UTF-8"),
)

_NUMBER = re.compile(r"[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|inf|infinity)", re.ASCII | re.I)


class TableError(ValueError):
    """A table that cannot be used: says where, what was found and what to do."""


class CellError(TableError):
    """One value that cannot be used.

    Parameters
    ----------
    column : str
        The column it is in.
    row : int
        Its row, counted from 0.
    problem : str
        What was found and what to do about it.
    """

    def __init__(self, column: str, row: int, problem: str) -> None:
        super().__init__(f"Column {column!r}, row {row}: {problem}")
        self.column = column
        self.row = row
        self.problem = problem

    def __reduce__(self) -> tuple[type[CellError], tuple[str, int, str]]:
        return type(self), (self.column, self.row, self.problem)


class NotANumberError(TableError):
    """A text in a column that is to be read as numbers.

    Parameters
    ----------
    message : str
    column : str
        The column it is in.
    """

    def __init__(self, message: str, column: str) -> None:
        super().__init__(message, column)
        self.column = column

    def __str__(self) -> str:
        return str(self.args[0])


def read_csv(
    source: str | Path | BinaryIO, column_types: Mapping[str, ColumnType] | None = None
) -> pa.Table:
    """Read a CSV file with a header line.

    A column is a number when every value of the whole column that is not missing reads as a
    decimal number (``inf`` included, for the encoder to refuse by name); every other column,
    booleans too, is a category and keeps its text. Spaces around values are trimmed. Empty lines
    are skipped; but in a file of one column each is a missing value, those at the end left out.

    Parameters
    ----------
    source : path, "-" or binary file
        UTF-8, with or without a byte-order mark; ``-`` is standard input. The delimiter, one of
        comma, semicolon, tab and bar, is found by looking at the first lines.
    column_types : mapping, optional
        ``"number"`` or ``"category"`` by column name, instead of what the column looks like. Names
        that the file does not have are passed over.

    Returns
    -------
    pyarrow.Table
        Columns of float64 and of string. What was taken as missing (`MISSING`) is null; see
        `missing_counts`.

    Raises
    ------
    TableError
        The file cannot be read as a table.
    """
    name, data = _read_bytes(source)
    return _CsvText(name, data).table(column_types or {})


def missing_counts(table: pa.Table) -> dict[str, int]:
    """Count what was taken as missing in each column; columns without any are left out."""
    counts = {name: table[name].null_count for name in table.column_names}
    return {name: count for name, count in counts.items() if count}


def require_columns(names: Iterable[str], present: Iterable[str], where: str) -> None:
    """Refuse names that are not among the present ones, suggesting what was meant.

    Parameters
    ----------
    names : iterable of str
        The names asked for.
    present : iterable of str
        The names there are.
    where : str
        What has them, to begin the message: a file or "the table".
    """
    columns = list(present)
    for name in names:
        if name not in columns:
            raise TableError(
                f"{where} has no column {name!r}{did_you_mean(name, columns)}. "
                f"Its columns are {list_names(columns)}.{_headerless_hint(columns)}"
            )


def did_you_mean(name: str, candidates: Iterable[str]) -> str:
    """Return a clause that suggests names like the one given, or nothing."""
    by_lower = {candidate.lower(): candidate for candidate in candidates}
    close = difflib.get_close_matches(name.lower(), by_lower, n=3)
    meant = " or ".join(repr(by_lower[match]) for match in close)
    return f" (did you mean {meant}?)" if meant else ""


def list_names(names: Iterable[str], limit: int = 20) -> str:
    """Return names in quotes with commas, the first ones where there are many."""
    quoted = [repr(name) for name in names]
    more = f" and {len(quoted) - limit} more" if len(quoted) > limit else ""
    return ", ".join(quoted[:limit]) + more


def is_number(text: str) -> bool:
    """Whether a text is a decimal number, or infinity."""
    return _NUMBER.fullmatch(text) is not None


def _headerless_hint(columns: list[str]) -> str:
    """Return a remark where the header line reads like data."""
    if sum(is_number(name) for name in columns) * 2 < max(len(columns), 1):
        return ""
    return " The first line reads like data, not like names: a header line may be missing."


def _read_bytes(source: str | Path | BinaryIO) -> tuple[str, bytes]:
    """Return what to call the source in messages, and its content."""
    if source == "-":
        return "standard input", sys.stdin.buffer.read()
    if not isinstance(source, (str, Path)):
        return str(getattr(source, "name", "the file")), source.read()
    path = Path(source)
    try:
        return str(source), path.read_bytes()
    except FileNotFoundError:
        siblings = [entry.name for entry in path.parent.glob("*")] if path.parent.is_dir() else []
        raise TableError(f"{source}: no such file{did_you_mean(path.name, siblings)}") from None
    except IsADirectoryError:
        raise TableError(f"{source}: a folder, not a file. Give one of the files in it.") from None
    except OSError as error:
        raise TableError(f"{source}: cannot be read ({error.strerror}).") from None


class _CsvText:
    """The bytes of one CSV file and how to read and to find places in them."""

    def __init__(self, name: str, data: bytes) -> None:
        self.name = name
        self.data = data
        self._refuse_other_formats()
        self.header: list[str] = []
        self.delimiter = self._sniff_delimiter()
        self.header = self._read_header()

    # --- what the file is ---

    def _refuse_other_formats(self) -> None:
        if not self.data.strip(b"\xef\xbb\xbf \t\r\n"):
            raise TableError(f"{self.name}: the file is empty. It needs a header line and rows.")
        for signature, what, remedy in _SIGNATURES:
            if self.data.startswith(signature):
                raise TableError(f"{self.name} {what}, not a plain CSV file: {remedy}.")
        place = self.data.find(b"\0")
        if place >= 0:
            raise TableError(
                f"{self.name}, line {self._line_of_byte(place)}: a NUL byte at byte {place}. The "
                "file is damaged or not text: write it again as UTF-8 text."
            )

    def _line_of_byte(self, place: int) -> int:
        before = self.data[:place]
        return 1 + before.count(b"\n") + before.count(b"\r") - before.count(b"\r\n")

    def _text(self) -> str:
        try:
            return self.data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            # the codec counts from behind the byte-order mark
            place = error.start + (3 if self.data.startswith(b"\xef\xbb\xbf") else 0)
            raise TableError(
                f"{self.name}, line {self._line_of_byte(place)}: byte {place} "
                f"(0x{self.data[place]:02x}) is not valid UTF-8. Save the file as UTF-8, for "
                "example with: iconv -f WINDOWS-1252 -t UTF-8"
            ) from None

    def _records(self, text: str, delimiter: str | None = None) -> Iterator[tuple[int, list[str]]]:
        """Give each record with the line on which it starts; no empty lines, as `read_csv` says."""
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter or self.delimiter)
        line, begun = 1, False
        for record in reader:
            begun = begun or bool(record)
            if record or (begun and len(self.header) == 1):
                yield line, record or [""]
            line = reader.line_num + 1

    def _sniff_delimiter(self) -> str:
        """Choose the delimiter that splits the first lines into most columns most evenly."""
        size = 1 << 16
        sample = self.data[:size].decode("utf-8-sig", errors="replace")
        best, best_score = DELIMITERS[0], (0.0, 0)
        for delimiter in DELIMITERS:
            widths = self._widths(sample, delimiter)
            if len(widths) > 1 and len(self.data) > size:
                widths.pop()  # may be cut
            if not widths or widths[0] == 1:
                continue
            score = (widths.count(widths[0]) / len(widths), widths[0])
            if score > best_score:
                best, best_score = delimiter, score
        return best

    def _widths(self, sample: str, delimiter: str) -> list[int]:
        """Return how many values the first records have, up to one that csv cannot read."""
        widths = []
        with suppress(csv.Error):
            for _, record in islice(self._records(sample, delimiter), 50):
                widths.append(len(record))
        return widths

    def _read_header(self) -> list[str]:
        # the first line alone is decoded: the rest is checked while it is parsed
        end = max(1 << 20, self.data.find(b"\n") + 1)
        try:
            sample = self.data[:end].decode("utf-8-sig", errors="replace")
            _, record = next(self._records(sample))
        except csv.Error as error:
            raise TableError(f"{self.name}, line 1: not a header line ({error}).") from None
        if any("\ufffd" in cell for cell in record):
            self._text()
        names = [cell.strip() for cell in record]
        self._refuse_duplicates(names)
        return _all_named(names)

    def _refuse_duplicates(self, names: list[str]) -> None:
        twice = [name for name, count in Counter(names).items() if name and count > 1]
        if twice:
            places = [str(i) for i, name in enumerate(names, start=1) if name == twice[0]]
            more = ", ..." if len(places) > 5 else ""
            raise TableError(
                f"{self.name}: {len(twice)} column name(s) appear more than once: "
                f"{list_names(twice, 5)} (columns {', '.join(places[:5])}{more}). Rename them, or "
                "add a header line if the file has none."
            )

    # --- the table ---

    def table(self, column_types: Mapping[str, ColumnType]) -> pa.Table:
        import pyarrow as pa

        texts = self._parse().columns[::-1]
        columns = [
            self._typed(name, texts.pop(), column_types.get(name))  # its text is then let go
            for name in self.header
        ]
        return pa.Table.from_arrays(columns, names=self.header)

    def _parse(self) -> pa.Table:
        """Parse every column as text."""
        import pyarrow as pa

        quotes = self.data.count(b'"')
        if quotes % 2:
            self._refuse_open_quote()
        try:
            table = self._parse_blocks(BLOCK_BYTES, quotes > 0)
        except pa.ArrowInvalid as error:
            if "straddl" not in str(error):
                raise self._diagnosis(str(error)) from None
            table = self._parse_whole(quotes > 0)
        if not table.num_rows:
            raise TableError(f"{self.name}: only a header line, no rows. Add the data below it.")
        return table

    def _parse_whole(self, quotes: bool) -> pa.Table:
        """Parse as one block, for a line that is longer than a block."""
        import pyarrow as pa

        try:
            return self._parse_blocks(len(self.data), quotes)
        except (pa.ArrowInvalid, OverflowError) as error:
            raise self._diagnosis(str(error)) from None

    def _parse_blocks(self, block_bytes: int, quotes: bool) -> pa.Table:
        import pyarrow as pa
        from pyarrow import csv as arrow_csv

        places = [str(place) for place in range(len(self.header))]
        lines = self.data
        if len(places) == 1:  # an empty line is a value, but not around the table
            lines = lines.removeprefix(b"\xef\xbb\xbf").strip(b"\r\n")
        return arrow_csv.read_csv(
            pa.BufferReader(lines),  # type: ignore[arg-type] # the stubs leave it out
            read_options=arrow_csv.ReadOptions(column_names=places, block_size=block_bytes),
            parse_options=arrow_csv.ParseOptions(
                delimiter=self.delimiter,
                newlines_in_values=quotes,
                ignore_empty_lines=len(places) > 1,
            ),
            convert_options=arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(places, pa.string()), strings_can_be_null=False
            ),
        ).slice(1)

    def _diagnosis(self, message: str) -> TableError:
        """Look at the file a second time and say which line the parser could not read."""
        width = len(self.header)
        try:
            for line, record in self._records(self._text()):
                if len(record) != width:
                    return self._ragged(line, record, width)
        except csv.Error as error:
            message = f"{message}; {error}"
        return TableError(f"{self.name}: not readable as CSV: {message}")

    def _ragged(self, line: int, record: list[str], width: int) -> TableError:
        delimiter = {"\t": "tab"}.get(self.delimiter, repr(self.delimiter))
        return TableError(
            f"{self.name}, line {line}: expected {width} values (as in the header), found "
            f"{len(record)}. Put quotes around values that contain the delimiter {delimiter}, or "
            "complete or remove the line."
        )

    def _refuse_open_quote(self) -> None:
        text = self._text()
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=self.delimiter, strict=True)
        line = 1
        try:
            for _ in reader:
                line = reader.line_num + 1
        except csv.Error as error:
            if "unexpected end of data" in str(error):
                raise TableError(
                    f"{self.name}, line {line}: a quote is opened and never closed. Close it, or "
                    'write "" for a quote inside a quoted value.'
                ) from None

    def _typed(self, name: str, text: Texts, wanted: ColumnType | None) -> pa.ChunkedArray[Any]:
        import pyarrow as pa
        from pyarrow import compute

        text = compute.utf8_trim_whitespace(text)
        missing = compute.is_in(text, value_set=_missing_markers())
        text = compute.if_else(missing, pa.nulls(1, pa.string())[0], text)
        if wanted == "category":
            return text
        try:
            return text.cast(pa.float64())
        except pa.ArrowInvalid:
            if wanted == "number":
                raise self._not_a_number(name, text) from None
            return text

    def _not_a_number(self, name: str, text: Texts) -> NotANumberError:
        bad = ((i, v) for i, v in enumerate(text.to_pylist()) if v is not None)
        place, value = next((i, v) for i, v in bad if not is_number(v))
        records = islice(self._records(self._text()), place + 1, None)
        line, _ = next(records)
        return NotANumberError(
            f"{self.name}, line {line}, column {name!r}: {value!r} is not a number. Correct it, or "
            "leave it empty if it is missing.",
            name,
        )


def _all_named(names: list[str]) -> list[str]:
    """Return the names, a column without one called by its place, as no other column is."""
    taken = set(names)
    out = []
    for place, name in enumerate(names, start=1):
        new = name or f"c{place}"
        while not name and new in taken:
            new += "_"
        out.append(new)
    return out


def _missing_markers() -> pa.Array[Any]:
    import numpy as np
    import pyarrow as pa

    offsets = np.cumsum([0] + [len(marker) for marker in MISSING], dtype=np.int32)
    buffers = [None, pa.py_buffer(offsets.tobytes()), pa.py_buffer("".join(MISSING).encode())]
    return pa.Array.from_buffers(pa.string(), len(MISSING), buffers)
