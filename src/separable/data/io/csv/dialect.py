"""CSV dialects (delimiter, quoting, decimal separator, encoding) and calls of pyarrow's parser."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from separable.data.io.csv.records import Records
from separable.data.table import is_number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray


__all__ = [
    "BLOCK_BYTES",
    "DELIMITERS",
    "Dialect",
    "delimiter_name",
    "parse",
    "parse_texts",
    "sniff_delimiter",
    "sniff_quoting",
]

#: Delimiters in order of preference. A space only between numbers.
DELIMITERS = (",", ";", "\t", "|", " ")

#: Records used for detection.
SNIFF_RECORDS = 200

#: Minimum fraction of the records with the same number of values.
_SAME_WIDTH = 0.5

#: Given more than this many records with commas, a smaller fraction means running text.
_PROSE_RECORDS = 20
_PROSE_WIDTH = 0.75

#: No delimiter: each line is one value. No text has this character.
NO_DELIMITER = "\x1f"

#: Minimum bytes parsed at a time.
BLOCK_BYTES = 1 << 20

#: Minimum per column: each block makes a chunk of every column, which has a fixed cost.
_BLOCK_BYTES_OF_COLUMN = 256

#: Minimum bytes of a column to be worth a thread task.
_BYTES_FOR_THREADS = 1024

_LARGEST_BLOCK = (1 << 31) - 1


@dataclass(frozen=True)
class Dialect:
    """Dialect of a delimited text.

    Parameters
    ----------
    delimiter : str
        Separator of values.
    quoting : bool
        Whether ``"`` around a value is removed, and delimiters and newlines inside are text.
    header : bool
        Whether the first line has the column names.
    decimal : {".", ","}
        Decimal separator.
    encoding : str
        Character encoding.
    shift : {0, 1, -1}
        1: the header lacks a name for an empty last value of each row; -1: for the first value,
        the name of a row.
    above : int
        Lines above the header that are ignored.
    """

    delimiter: str = ","
    quoting: bool = True
    header: bool = True
    decimal: Literal[".", ","] = "."
    encoding: str = "utf-8"
    shift: int = 0
    above: int = 0

    def __str__(self) -> str:
        quotes = "" if self.quoting else ", quotes are text"
        header = "a header line" if self.header else "no header line"
        decimal = ", decimal comma" if self.decimal == "," else ""
        values = f"{delimiter_name(self.delimiter)} between values"
        if self.delimiter == NO_DELIMITER:
            values = "one value a line"
        return f"{values}, {header}{quotes}{decimal}"


def delimiter_name(delimiter: str) -> str:
    """Return the name of a delimiter for messages."""
    return {"\t": "tab", " ": "space", NO_DELIMITER: "none"}.get(delimiter, repr(delimiter))


def sniff_delimiter(sample: bytes, quoting: bool | None) -> str:
    """Return the delimiter that splits most records into the same number of values.

    Parameters
    ----------
    sample : bytes
        Whole records.
    quoting : bool, optional
        None: not known yet.
    """
    best, best_score, prose = DELIMITERS[0], (0.0, 0), False
    for delimiter in DELIMITERS:
        widths = _widths(sample, delimiter, quoting is not False)
        if not len(widths):
            continue
        fraction, width = _common_width(widths)
        if fraction < _PROSE_WIDTH and len(widths) > _PROSE_RECORDS:
            prose = prose or delimiter == ","
            continue
        if width < 2 or fraction < _SAME_WIDTH:
            continue
        if delimiter == " " and (fraction < 1 or not _mostly_numbers(sample)):
            continue
        if (fraction, width) > best_score:
            best, best_score = delimiter, (fraction, width)
    return NO_DELIMITER if prose and not best_score[1] else best


def sniff_quoting(sample: bytes, delimiter: str) -> bool:
    """Return whether quotes in a sample of whole records delimit values.

    They do not if values continue after a closing quote while, with quotes as text, all lines have
    the same number of values.
    """
    if b'"' not in sample:
        return True
    quoted = Records(sample, delimiter, quoting=True)
    if not quoted.closings_that_go_on():
        return True
    plain = Records(sample, delimiter, quoting=False)
    widths = plain.widths[~plain.empty]
    return not (len(widths) > 1 and bool(np.all(widths == widths[0])))


def _widths(sample: bytes, delimiter: str, quoting: bool) -> NDArray[np.int64]:
    records = Records(sample, delimiter, quoting)
    return records.widths[~records.empty][:SNIFF_RECORDS]


def _common_width(widths: NDArray[np.int64]) -> tuple[float, int]:
    """Return the fraction of the most common width, and that width; the largest in a tie."""
    values, counts = np.unique(widths, return_counts=True)
    index = len(values) - 1 - int(counts[::-1].argmax())
    return float(counts[index]) / len(widths), int(values[index])


def _mostly_numbers(sample: bytes) -> bool:
    lines = sample.decode("utf-8", "replace").splitlines()[1:SNIFF_RECORDS]
    cells = [cell for line in lines for cell in line.split(" ")]
    return bool(cells) and 2 * sum(is_number(cell) for cell in cells) > len(cells)


def parse_texts(
    data: bytes,
    names: Sequence[str],
    dialect: Dialect,
    *,
    start: int = 0,
    skip: bool = False,
    only: Sequence[str] | None = None,
    strip: tuple[bool, bool] = (True, True),
) -> tuple[pa.Table, int]:
    """Parse columns as text, without missing markers. See `parse`."""
    import pyarrow as pa

    types: dict[str, pa.DataType] = dict.fromkeys(names if only is None else only, pa.string())
    return parse(data, names, dialect, types, (), start=start, skip=skip, strip=strip)


def parse(
    data: bytes,
    names: Sequence[str],
    dialect: Dialect,
    types: Mapping[str, pa.DataType],
    null_values: Sequence[str],
    *,
    start: int = 0,
    skip: bool = False,
    strip: tuple[bool, bool] = (True, True),
) -> tuple[pa.Table, int]:
    """Parse a text of rows.

    Parameters
    ----------
    data : bytes
    names : sequence of str
        Names of all columns.
    dialect : Dialect
    types : mapping of str to pyarrow.DataType
        Columns to keep, with their types.
    null_values : sequence of str
        Missing markers of columns other than text.
    start : int
        Offset at which rows begin.
    skip : bool
        Whether to skip rows of the wrong width.
    strip : (bool, bool)
        With a single column: whether empty lines at the start and at the end are not values.

    Returns
    -------
    table : pyarrow.Table
    skipped : int
        Number of skipped rows.
    """
    import pyarrow as pa

    if len(names) == 1:  # an empty line is a value, except around the table
        data, start = data[start:], 0
        data = data.lstrip(b"\r\n") if strip[0] else data
        data = data.rstrip(b"\r\n") if strip[1] else data
    if start >= len(data):
        return pa.schema(list(types.items())).empty_table(), 0
    call = _Call(data, start, list(names), dialect, types, null_values, skip)
    try:
        size = max(BLOCK_BYTES, _BLOCK_BYTES_OF_COLUMN * len(names))
        return call.table(min(size, _LARGEST_BLOCK)), call.skipped
    except pa.ArrowInvalid as error:
        if "straddl" not in str(error):
            raise
    try:
        return call.table(min(len(data), _LARGEST_BLOCK)), call.skipped  # a very long line
    except OverflowError as error:
        raise pa.ArrowInvalid(str(error)) from None


@dataclass
class _Call:
    """A parser call that can be retried with larger blocks."""

    data: bytes
    start: int
    names: list[str]
    dialect: Dialect
    types: Mapping[str, pa.DataType]
    null_values: Sequence[str]
    skip: bool
    skipped: int = 0

    def table(self, block_bytes: int) -> pa.Table:
        import pyarrow as pa
        from pyarrow import csv

        self.skipped = 0
        dialect = self.dialect
        keys = [str(number) for number in range(len(self.names))]
        key_of = dict(zip(self.names, keys, strict=True))
        kept = {key_of[name]: kind for name, kind in self.types.items()}
        quotes = dialect.quoting and self.data.find(b'"', self.start) >= 0
        return csv.read_csv(
            pa.BufferReader(pa.py_buffer(self.data).slice(self.start)),  # type: ignore[arg-type]
            read_options=csv.ReadOptions(
                column_names=keys,
                block_size=block_bytes,
                use_threads=len(self.data) > _BYTES_FOR_THREADS * len(keys),
            ),
            parse_options=csv.ParseOptions(
                delimiter=dialect.delimiter,
                quote_char='"' if dialect.quoting else False,
                newlines_in_values=quotes,
                ignore_empty_lines=len(keys) > 1,
                invalid_row_handler=self._skipping if self.skip else None,
            ),
            convert_options=csv.ConvertOptions(
                column_types=kept,
                include_columns=list(kept),
                null_values=list(self.null_values),
                strings_can_be_null=False,
                decimal_point=dialect.decimal,
            ),
        ).rename_columns(list(self.types))

    def _skipping(self, _: Any) -> Literal["skip"]:
        self.skipped += 1
        return "skip"
