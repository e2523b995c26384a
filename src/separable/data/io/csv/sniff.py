"""Detection of the dialect, the column names and the column types of a CSV file.

The sample is the first `HEAD_BYTES` of the text and, if the file is seekable, `PIECE_BYTES` each
from the middle and the end. The result does not change while the file is read.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from separable.data.arrow_arrays import bits, nulls, strings, text_codes
from separable.data.columns import blocks_of
from separable.data.ingest.column_types import ColumnPlan, arrow_type, guess, sure_guesses
from separable.data.ingest.conversions.number_texts import MIN_GROUPED
from separable.data.io.csv.dialect import (
    Dialect,
    delimiter_name,
    sniff_delimiter,
    sniff_quoting,
)
from separable.data.io.csv.records import Records
from separable.data.io.encodings import (
    bytes_not_text,
    marked_as_text,
    refuse_invalid_utf8,
    refuse_nul,
)
from separable.data.table import MISSING, TableError, is_number, list_names
from separable.errors import Option

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from separable.data.table import ColumnType

__all__ = [
    "HEAD_BYTES",
    "LONG_HEAD_BYTES",
    "PIECE_BYTES",
    "SAMPLE_LINES",
    "CsvLayout",
    "CsvOptions",
    "Sample",
    "column_names",
    "sniff_csv",
    "without_comments",
]

#: Bytes of the sample: from the start, and from each of two other positions.
HEAD_BYTES = 1 << 20
PIECE_BYTES = 1 << 18

#: If lines are long, the head has this many, up to about this many bytes; the other pieces have
#: four times the length of a line.
SAMPLE_LINES = 32
LONG_HEAD_BYTES = 1 << 25

#: Longer texts, or texts of more words, are not column names.
_LONGEST_NAME = 80
_NAME_WORDS = 8


#: Rows that suffice to see that points are decimal marks, and values that leave it open.
_FIRST_ROWS = 64
MAY_BE_GROUPED = r"^[0-9]{1,3}(\.[0-9]{3})*$|^[^0-9]*$"

#: A line with its end, and Excel's line that names the delimiter.
_LINE = rb"[^\r\n]*(?:\r\n|\n|\r|$)"
_SEPARATOR_LINE = rb"\"?[sS][eE][pP]=([^\w\r\n])\"?(?:\r\n|\n|\r)"

#: Lines that show what a header lacks, and fewest of them.
MOST_SHIFTED, MIN_SHIFTED = 200, 3

#: Columns whose types are inferred together.
_GUESSED_TOGETHER = 1024


@dataclass(frozen=True)
class CsvOptions:
    """CSV options of the user; None means detect."""

    delimiter: str | None = None
    quoting: bool | None = None
    header: bool | None = None
    decimal: Literal[".", ","] | None = None
    missing: tuple[str, ...] = MISSING
    comment: str | None = None
    skip_rows: int = 0
    column_types: Mapping[str, ColumnType] | None = None
    names: frozenset[str] = frozenset()
    skip: bool = False


@dataclass(frozen=True)
class Sample:
    """Parts of a text, each of whole lines.

    Parameters
    ----------
    name : str
        Name of the file.
    head : bytes
        Start of the text.
    others : sequence of bytes
        Pieces from other positions.
    whole : bool
        Whether the head is the whole text.
    encoding : str
    mark_bytes : int
        Length of the byte-order mark before it.
    """

    name: str
    head: bytes
    others: Sequence[bytes] = ()
    whole: bool = True
    encoding: str = "utf-8"
    mark_bytes: int = 0


@dataclass(frozen=True)
class CsvLayout:
    """How a CSV file is read.

    Parameters
    ----------
    dialect : Dialect
    names : tuple of str
        All columns of the file.
    plans : dict of str to ColumnPlan
    padded : bool
        Whether values are padded with spaces.
    start, start_line : int
        Offset and line number at which rows begin.
    remarks : int
        Lines with ``#`` above the header that were ignored unasked.
    """

    dialect: Dialect
    names: tuple[str, ...]
    plans: Mapping[str, ColumnPlan]
    padded: bool
    start: int
    start_line: int
    remarks: int = 0

    def with_plans(self, plans: Mapping[str, ColumnPlan]) -> CsvLayout:
        """Return the layout with some plans replaced."""
        return replace(self, plans={**self.plans, **plans})


def sniff_csv(sample: Sample, options: CsvOptions) -> CsvLayout:
    """Detect the layout of a file from a sample."""
    text = sample.head
    if options.skip:  # lines with invalid bytes are skipped when parsed
        sample = replace(sample, head=marked_as_text(sample.head))
    above = lines_above(sample.head, options)
    start, start_line = above.bytes, above.lines
    head = without_comments(sample.head[start:], options.comment)
    if not head.strip():
        raise TableError(f"{sample.name}: the file is empty. It needs a header line and rows.")
    refuse_invalid_utf8(sample.name, sample.head, 1, sample.mark_bytes)
    quoting, delimiter = options.quoting, options.delimiter or above.delimiter
    if delimiter is None:
        delimiter = sniff_delimiter(head[: 1 << 16], quoting)
    if quoting is None:
        quoting = sniff_quoting(head, delimiter)
    records = Records(head, delimiter, quoting)
    first = int(np.flatnonzero(~records.empty)[0])
    shift = header_shift(records, first, options.header)
    width = int(records.widths[first]) + abs(shift)
    if not shift:
        width = _width(sample.name, records, first, start_line, options)
    dialect = Dialect(delimiter, quoting, encoding=sample.encoding, shift=shift, above=start_line)
    others = [
        without_comments(piece.decode("utf-8", "replace").encode(), options.comment)
        for piece in sample.others
    ]
    if sample.head is not text:
        wrong = bytes_not_text(without_comments(text[start:], options.comment))
        bad = np.searchsorted(records.ends, wrong, "right")
        chosen = np.setdiff1d(np.arange(len(records.ends)), bad[bad != first])
        head = records.joined(chosen)
    if shift:
        head = _completed(head, Records(head, delimiter, quoting), shift)
    texts = _texts([head, *others], dialect, width)
    trimmed, padded = _trimmed(texts)
    if not trimmed.num_rows:
        raise TableError(
            f"{sample.name}: no line could be read as CSV (delimiter: "
            f"{delimiter_name(delimiter)}). The file is damaged or not text."
        )
    body = trimmed.slice(1)
    decimal = options.decimal or _decimal(body, delimiter, options.missing)
    plans = _guesses(body.columns, decimal, options.missing)
    cells = [column[0].as_py() for column in trimmed.columns]
    header = bool(shift) or options.header
    if header is None:
        header = _has_header(cells, plans, body, options)
    names = column_names(sample.name, cells, options) if header else _numbered(width)
    if not header:
        body = trimmed
        plans = _guesses(body.columns, decimal, options.missing)
    if header:
        start += int(records.ends[first])
        refuse_invalid_utf8(sample.name, text[:start], 1, sample.mark_bytes)
        refuse_nul(sample.name, text[:start], 1, sample.mark_bytes)
        start_line += records.line_of(first + 1) if first + 1 < len(records.ends) else 1
    return CsvLayout(
        replace(dialect, header=header, decimal=decimal),
        names,
        _with_given(names, plans, body, options),
        padded,
        start,
        start_line,
        above.remarks,
    )


# --- where it begins ---


@dataclass(frozen=True)
class LinesAbove:
    """The lines above the header that are no rows.

    Parameters
    ----------
    bytes, lines : int
    delimiter : str or None
        That a line such as ``sep=;`` names, as Excel writes and reads it.
    remarks : int
        Lines that begin with ``#``, although no comments were announced.
    """

    bytes: int = 0
    lines: int = 0
    delimiter: str | None = None
    remarks: int = 0


def lines_above(head: bytes, options: CsvOptions) -> LinesAbove:
    """Return the lines above the first line that counts."""
    start = line = 0
    comment = options.comment and options.comment.encode()
    for match in re.finditer(_LINE, head):
        skipped = line < options.skip_rows or (comment and match.group().startswith(comment))
        if not skipped:
            break
        start, line = match.end(), line + 1
    if line or options.header is False:
        return LinesAbove(start, line)
    named = re.match(_SEPARATOR_LINE, head)
    if named is not None:
        return LinesAbove(named.end(), 1, named.group(1).decode())
    return _remarks(head, options) if comment is None and head.startswith(b"#") else LinesAbove()


def _remarks(head: bytes, options: CsvOptions) -> LinesAbove:
    """Return the first lines with ``#`` that are narrower or wider than the rows below them."""
    remarks = re.match(rb"(?:#" + _LINE + rb")+", head)
    below = b"" if remarks is None else head[remarks.end() :]
    if remarks is None or not below.strip():
        return LinesAbove()
    delimiter = options.delimiter or sniff_delimiter(below[: 1 << 16], options.quoting)
    rows = Records(below[: 1 << 16], delimiter, options.quoting is not False)
    width = int(rows.widths[~rows.empty][0])
    lines = [each for each in re.findall(_LINE, remarks.group()) if each]
    widths = [line.count(delimiter.encode()) + 1 for line in lines]
    n = next((at for at, each in enumerate(widths) if each == width), len(lines))
    return LinesAbove(sum(map(len, lines[:n])), n, remarks=n)


def without_comments(data: bytes, comment: str | None, *, newlines: bool = False) -> bytes:
    """Return a text with comment lines made empty.

    Parameters
    ----------
    data : bytes
    comment : str or None
    newlines : bool
        Whether to remove the ends of these lines too.
    """
    if comment is None:
        return data
    pattern = rb"(?:(?<=[\r\n])|\A)" + re.escape(comment.encode()) + rb"[^\r\n]*"
    return re.sub(pattern + rb"(?:\r\n|\n|\r|$)" * newlines, b"", data)


def header_shift(records: Records, first: int, header: bool | None) -> int:
    """Return the values that a header lacks in all lines below it, if it is clear which.

    Parameters
    ----------
    records : Records
    first : int
        The header.
    header : bool or None
        As the user says.

    Returns
    -------
    int
        1: the last values below are empty, as each line ends with a delimiter; -1: the first
        values are different from each other, as names of rows are; 0: neither.
    """
    rows = np.flatnonzero(~records.empty)[1 : MOST_SHIFTED + 1]
    wider = records.widths[rows] == records.widths[first] + 1
    if header is False or len(rows) < MIN_SHIFTED or not wider.all():
        return 0
    data, delimiter = bytes(records.data), records.delimiter.encode()
    lines = [(int(records.starts[row]), int(records.ends[row])) for row in rows]
    if all(data[start:end].rstrip(b"\r\n ").endswith(delimiter) for start, end in lines):
        return 1
    ends = [records.start_of(int(row), 1) - 1 for row in rows]
    names = {data[start:end].strip(b' "') for (start, _), end in zip(lines, ends, strict=True)}
    return -1 if len(names) == len(rows) and b"" not in names else 0


def _completed(head: bytes, records: Records, shift: int) -> bytes:
    """Return a text with an unnamed column added to its header line."""
    first = int(np.flatnonzero(~records.empty)[0])
    start, end = int(records.starts[first]), int(records.ends[first])
    line, mark = head[start:end], records.delimiter.encode()
    text = line.rstrip(b"\r\n")
    whole = mark + text if shift < 0 else text + mark
    return head[:start] + whole + line[len(text) :] + head[end:]


def _width(name: str, records: Records, first: int, line: int, options: CsvOptions) -> int:
    """Return the number of values per record, from the first one, which others must confirm."""
    widths = records.widths[~records.empty]
    width, others = int(widths[0]), widths[1:1000]
    if len(others) < 3 or not np.all(others == others[0]) or others[0] == width:
        return width
    if options.skip:
        return int(others[0])
    start = records.text_of(first, 40)
    mark = start[:1] if not start[:1].isalnum() and start[:1] not in ('"', "") else ""
    comment = (", or ", Option("comment", mark), " if it is a comment") if mark else ()
    raise TableError(
        f"{width} value(s), but the lines below it have {int(others[0])} (delimiter: "
        f"{delimiter_name(records.delimiter)}). The line is {start!r}. Skip it with ",
        Option("skip_rows", 1),
        *comment,
        ", or correct it.",
        file=name,
        line=line + records.line_of(first) + 1,
    )


# --- the texts of a sample ---


def _texts(pieces: Sequence[bytes], dialect: Dialect, width: int) -> pa.Table:
    """Parse pieces of a file as text, without lines of another width."""
    import pyarrow as pa

    from separable.data.io.csv.dialect import parse_texts

    names = [str(index) for index in range(width)]
    if len(pieces) > 1 and not any(b'"' in piece for piece in pieces):
        ended = [piece if piece.endswith((b"\n", b"\r")) else piece + b"\n" for piece in pieces]
        pieces = [b"".join(ended)]  # each piece has whole lines
    return pa.concat_tables([parse_texts(p, names, dialect, skip=True)[0] for p in pieces])


def _trimmed(texts: pa.Table) -> tuple[pa.Table, bool]:
    import pyarrow as pa
    from pyarrow import compute

    together = _together(texts.columns)
    if compute.utf8_trim_whitespace(together).equals(together):
        return texts, False
    trimmed = [compute.utf8_trim_whitespace(column) for column in texts.columns]
    pairs = zip(texts.columns, trimmed, strict=True)
    padded = any(not old.equals(new) for old, new in pairs)
    return pa.Table.from_arrays(trimmed, names=texts.column_names), padded


def _present(texts: Any, missing: tuple[str, ...]) -> Any:
    from pyarrow import compute

    present = texts.drop_null()
    return present.filter(compute.invert(compute.is_in(present, value_set=strings(missing))))


def _together(columns: Sequence[Any]) -> Any:
    """Return text columns concatenated, so that one call processes all."""
    import pyarrow as pa

    chunks = [chunk for each in columns for chunk in getattr(each, "chunks", [each])]
    return pa.chunked_array(chunks, pa.string())


def _guesses(columns: Sequence[Any], decimal: str, missing: tuple[str, ...]) -> list[ColumnPlan]:
    """Infer the types of columns of equal length, similar ones together."""
    size = _GUESSED_TOGETHER
    blocks = [columns[start : start + size] for start in range(0, len(columns), size)]
    return [plan for block in blocks for plan in _block_guesses(block, decimal, missing)]


def _block_guesses(
    columns: Sequence[Any], decimal: str, missing: tuple[str, ...]
) -> list[ColumnPlan]:
    from pyarrow import compute

    if len(columns) == 1:
        return [guess(_present(columns[0], missing), decimal)]
    texts = _together(columns)
    gone = compute.or_(
        compute.is_null(texts), compute.is_in(texts, value_set=strings(missing))
    ).combine_chunks()
    plan = guess(texts.filter(compute.invert(gone)), decimal)
    present = ~bits(gone, 1).reshape(len(columns), -1)
    if plan.type == "number":  # the type of every value is the type of every column
        empty = replace(plan, why="every value is missing")
        kept: list[bool] = np.any(present, axis=1).tolist()
        plans = [plan if each else empty for each in kept]
        for index in _may_be_grouped(columns, texts, present) if decimal == "." else ():
            plans[index] = guess(_present(columns[index], missing), decimal)
        return plans
    sure = sure_guesses(columns, present)
    left = [index for index, plan in enumerate(sure) if plan is None]
    half = len(left) // 2 if len(left) == len(columns) else len(left)
    for indices in filter(None, (left[:half], left[half:])):
        guesses = _block_guesses([columns[index] for index in indices], decimal, missing)
        for index, plan in zip(indices, guesses, strict=True):
            sure[index] = plan
    return [plan for plan in sure if plan is not None]


def _may_be_grouped(columns: Sequence[Any], texts: Any, present: Any) -> list[int]:
    """Return the numeric columns whose points may be thousands marks: some values have none."""
    from pyarrow import compute

    points = compute.match_substring(texts, ".").combine_chunks()
    pointed = bits(points, 1).reshape(len(columns), -1) & present
    plain = (present & ~pointed).any(axis=1)
    some = np.flatnonzero(plain & (pointed.sum(axis=1) >= MIN_GROUPED)).tolist()
    if not some:
        return []
    first = _together([columns[index].slice(0, _FIRST_ROWS) for index in some])
    fits = bits(compute.match_substring_regex(first, MAY_BE_GROUPED).combine_chunks(), 1)
    rows = np.all(fits.reshape(len(some), -1) | ~present[some, :_FIRST_ROWS], axis=1)
    return [index for index, is_open in zip(some, rows, strict=True) if is_open]


def _decimal(body: pa.Table, delimiter: str, missing: tuple[str, ...]) -> Literal[".", ","]:
    """Return the comma if some column has decimal commas rather than groups of three digits."""
    from pyarrow import compute

    if delimiter == ",":
        return "."
    commas = compute.match_substring(_together(body.columns), ",").combine_chunks()
    with_commas = (bits(commas, 1) & ~nulls(commas)).reshape(body.num_columns, body.num_rows)
    for index in np.flatnonzero(with_commas.any(axis=1)).tolist():
        texts = _present(body.column(index), missing)
        if guess(texts, ",").type != "number" or guess(texts).type == "number":
            continue
        grouped = compute.match_substring_regex(texts, r"^[+-]?\d{1,3}(,\d{3})+$|^[^,]*$")
        if not compute.all(grouped).as_py():
            return ","
    return "."


# --- names ---


def _has_header(
    cells: list[str], plans: list[ColumnPlan], body: pa.Table, options: CsvOptions
) -> bool:
    """Return whether the first record is a header, that is, differs from the records below."""
    requested = options.names & {cell.strip() for cell in cells}
    if requested and not all(is_number(name) for name in requested):
        return True
    pairs = zip(cells, plans, strict=True)
    parsed = [(c, p) for c, p in pairs if c not in options.missing and p.type != "category"]
    if any(not _looks_like(cell, plan) for cell, plan in parsed):
        return True  # a word above numbers
    if any(is_number(cell) for cell in cells) or (parsed and body.num_rows):
        return False
    if not body.num_rows:
        return True
    words = _NAME_WORDS if len(cells) > 1 else 3
    if any(len(cell) > _LONGEST_NAME or cell.count(" ") >= words for cell in cells):
        return False
    recur, fail = _recurring(cells, body)
    return recur <= fail


def _looks_like(cell: str, plan: ColumnPlan) -> bool:
    """Return whether a first cell has the type of the cells below it."""
    if plan.why == "every value is missing" or is_number(cell):
        return True
    return guess(strings([cell])).type == plan.type


def _recurring(cells: list[str], body: pa.Table) -> tuple[int, int]:
    """Count first cells that recur below, and those that do not although most values do."""
    recur = fail = 0
    for block in blocks_of(range(len(cells)), body.num_rows + 1):
        firsts = [strings([cells[index]]) for index in block]
        columns = [body.column(index) for index in block]
        codes = text_codes(_together([*firsts, *columns]).combine_chunks())[0]
        first, values = codes[: len(block)], codes[len(block) :].reshape(len(block), -1)
        ranked = np.sort(values, axis=1)
        distinct = 1 + np.count_nonzero(ranked[:, 1:] != ranked[:, :-1], axis=1)
        most = 2 * distinct <= values.shape[1]
        again = (values == first[:, None]).any(axis=1)
        recur += int(np.count_nonzero(most & again))
        fail += int(np.count_nonzero(most & ~again))
    return recur, fail


def column_names(where: str, cells: list[str], options: CsvOptions) -> tuple[str, ...]:
    """Return the names in a header; raise if one occurs twice."""
    names = [cell.strip().strip("\ufeff") for cell in cells]
    twice = [name for name, count in Counter(names).items() if name and count > 1]
    if twice:
        indices = [str(i) for i, name in enumerate(names, start=1) if name == twice[0]]
        more = ", ..." if len(indices) > 5 else ""
        remedy = (", or pass ", Option("header", False), " if the file has none")
        raise TableError(
            f"{where}: {len(twice)} column name(s) appear more than once: "
            f"{list_names(twice, 5)} (columns {', '.join(indices[:5])}{more}). Rename them in the "
            "header line",
            *(() if options.header else remedy),
            ".",
        )
    return _all_named(names)


def _all_named(names: list[str]) -> tuple[str, ...]:
    """Return the names; unnamed columns get a unique name from their number."""
    taken = set(names)
    out = []
    for index, name in enumerate(names, start=1):
        new = name or f"c{index}"
        while not name and new in taken:
            new += "_"
        out.append(new)
    return tuple(out)


def _numbered(width: int) -> tuple[str, ...]:
    return tuple(f"c{index}" for index in range(1, width + 1))


def _with_given(
    names: tuple[str, ...], plans: list[ColumnPlan], body: pa.Table, options: CsvOptions
) -> dict[str, ColumnPlan]:
    """Return the plan of each column, with the types chosen by the user."""
    out = dict(zip(names, plans, strict=True))
    text = options.column_types or {}
    numbers = ColumnPlan("number", arrow_type("number", strings([])), "given", True)
    for index, name in enumerate(names):
        kind = text.get(name)
        if kind == "number":  # stored in one way only
            out[name] = numbers
        elif kind is not None:
            texts = _present(body.column(index), options.missing)
            by_text = kind in ("boolean", "date")
            out[name] = ColumnPlan(kind, arrow_type(kind, texts), "given", True, by_text)
    return out
