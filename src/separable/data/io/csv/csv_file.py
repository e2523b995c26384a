"""CSV text to Arrow tables, whole or in blocks, with errors that name line and remedy.

``pyarrow`` parses. This module adds detection of the dialect, counts of missing markers, and a
second pass over unreadable text to name the line in the error.

``pyarrow.array`` and ``to_numpy`` are avoided: both import pandas if installed, which prediction
must not do.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.arrow_arrays import integers, mask, nulls, strings
from separable.data.ingest.column_types import converted
from separable.data.io.csv.dialect import delimiter_name, parse, parse_texts
from separable.data.io.csv.records import Records
from separable.data.io.csv.sniff import without_comments
from separable.data.io.encodings import (
    bytes_not_text,
    is_utf8,
    line_of_byte,
    refuse_invalid_utf8,
    refuse_nul,
)
from separable.data.table import NotANumberError, TableError
from separable.errors import Option

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from separable.data.io.csv.sniff import CsvLayout, CsvOptions
    from separable.data.reading_report import ReadingReport
    from separable.errors import Part

__all__ = ["Block", "CsvReader", "RetypeError", "without_missing", "wrong_texts"]

#: Bytes per part of the second pass.
LOOK_BYTES = 1 << 23

#: Longest value shown in full in a message.
MAX_SHOWN = 80

_NOUNS = {"number": "a number", "boolean": "true or false", "date": "an ISO date"}


class RetypeError(Exception):
    """Columns whose inferred type is wrong, with the plans to use instead."""

    def __init__(self, plans: dict[str, Any]) -> None:
        super().__init__(plans)
        self.plans = plans


@dataclass(frozen=True)
class Block:
    """Whole records of a text.

    Parameters
    ----------
    name : str
        Name of the file.
    data : bytes
    start : int
        Offset in ``data`` at which the records begin.
    line : int
        Line, counted from 1, on which they begin.
    first_byte : int
        Number of bytes of the file before ``data``.
    strip : (bool, bool)
        With a single column: whether empty lines at its start and at its end are not values.
    """

    name: str
    data: bytes
    start: int = 0
    line: int = 1
    first_byte: int = 0
    strip: tuple[bool, bool] = (True, True)

    @property
    def first_line(self) -> int:
        """Line on which ``data`` begins."""
        return self.line - line_of_byte(self.data, self.start) + 1

    def parts(self, layout: CsvLayout, size: int) -> Iterator[tuple[Records, int]]:
        """Yield the records in parts, with the line on which each part begins."""
        dialect, line, begin = layout.dialect, self.line, self.start
        view, take = memoryview(self.data), size
        while begin < len(view):
            end = min(begin + take, len(view))
            records = Records(view[begin:end], dialect.delimiter, dialect.quoting)
            if end < len(view):
                if end > begin and view[end - 1] == 13:  # its newline may follow
                    records = Records(view[begin : end - 1], dialect.delimiter, dialect.quoting)
                whole = records.complete
                if not whole:
                    take *= 2
                    continue
                records = Records(view[begin : begin + whole], dialect.delimiter, dialect.quoting)
            yield records, line
            line += records.n_lines
            begin, take = begin + len(records.data), size


class CsvReader:
    """Reader of blocks of CSV text with a common layout.

    Parameters
    ----------
    layout : CsvLayout
    columns : sequence of str
        Columns to read.
    options : CsvOptions
    report : ReadingReport
        Receives skipped lines and missing counts.
    retype : bool
        Whether a wrong inferred type raises `RetypeError`; otherwise it is an error that names the
        location.
    """

    def __init__(
        self,
        layout: CsvLayout,
        columns: Sequence[str],
        options: CsvOptions,
        report: ReadingReport,
        *,
        retype: bool,
    ) -> None:
        self.layout, self.columns, self.options = layout, columns, options
        self.report, self.retype = report, retype
        markers = options.missing
        padded = [f"{a}{m}{b}" for m in markers for a, b in (("", " "), (" ", ""), (" ", " "))]
        self._null_values = [*markers, *(padded if layout.padded else [])]

    def table(self, block: Block) -> pa.Table:
        """Return a block as a table; raise if it is not readable."""
        import pyarrow as pa

        if self.options.skip and (b"\0" in block.data or not is_utf8(block.data)):
            block = self._without_bad_bytes(block)
        refuse_nul(block.name, block.data, block.first_line, block.first_byte)
        block = self._without_comments(block)
        self._refuse_open_quote(block)
        plans = self.layout.plans
        types = {n: pa.string() if plans[n].by_text else plans[n].arrow for n in self.columns}
        try:
            table, skipped = self._parse(block, types)
        except pa.ArrowInvalid as error:
            return self._second_look(block, str(error))
        good = self._report_skipped(block) if skipped else None
        return self._finished(block, table, good)

    # --- the normal way ---

    def _parse(self, block: Block, types: Mapping[str, pa.DataType]) -> tuple[pa.Table, int]:
        layout = self.layout
        return parse(
            block.data,
            layout.names,
            layout.dialect,
            types,
            self._null_values,
            start=block.start,
            skip=self.options.skip,
            strip=block.strip,
        )

    def _finished(self, block: Block, table: pa.Table, good: NDArray[np.bool_] | None) -> pa.Table:
        """Replace missing markers by null, convert texts, and count."""
        import pyarrow as pa

        plans, columns, bad = self.layout.plans, {}, np.zeros(table.num_rows, dtype=bool)
        counts: dict[str, Counter[str | None]] = {}
        any_nan = self._has_nan(table)
        parsed = dict(zip(table.column_names, table.itercolumns(), strict=True))
        texts = {n for n in self.columns if plans[n].type == "category" or plans[n].by_text}
        as_they_are = all_present([parsed[name] for name in texts], self.options.missing)
        for name in self.columns:
            column, plan = parsed[name], plans[name]
            if name in texts and as_they_are:
                counts[name] = Counter()
                column = _with_one_dictionary(column)
            elif name in texts:
                column, counts[name] = without_missing(column, self.options.missing)
            if plan.by_text and plan.type != "category":
                column = self._converted(block, name, column, bad)
            elif plan.type == "number" and any_nan:
                column = _nan_as_null(column)
            columns[name] = column
        made = pa.Table.from_arrays(list(columns.values()), names=list(columns))
        counts |= self._missing_among_numbers(block, made, good, counts)
        by_name = {column.name: column for column in self.report.columns}
        for name, count in counts.items():
            by_name[name].missing.update(count)
        if bad.any():
            made = made.filter(mask(~bad))
        return made

    def _has_nan(self, table: pa.Table) -> bool:
        """Return whether a numeric column has a NaN, by one pass over all."""
        import pyarrow as pa
        from pyarrow import compute

        numbers = [column for column in table.columns if pa.types.is_floating(column.type)]
        chunks = [chunk for column in numbers for chunk in column.chunks]
        together = pa.chunked_array(chunks, pa.float64())
        return bool(compute.any(compute.is_nan(together)).as_py())

    def _converted(self, block: Block, name: str, texts: Any, bad: NDArray[np.bool_]) -> Any:
        """Convert texts to the type of their plan; mark the rows where that fails, or raise."""
        plan, decimal = self.layout.plans[name], self.layout.dialect.decimal
        out = converted(texts, plan.arrow, decimal, given=plan.given)
        if out is not None:
            return out
        wrong = wrong_texts(texts, plan, decimal)
        rows = np.flatnonzero(wrong)
        if not self.options.skip:
            raise self._not_of_type(block, name, int(rows[0]), texts[int(rows[0])].as_py())
        fresh = np.flatnonzero(wrong & ~bad)
        examples = fresh[: self.report.n_free_examples]  # finding a line scans the block
        for record in examples.tolist():
            line, text = self._position(block, record)
            reason = f"column {name!r}: {_cut(texts[record].as_py())} is not {_NOUNS[plan.type]}"
            self.report.skip(block.name, line, reason, text)
        self.report.skipped += len(fresh) - len(examples)
        bad |= wrong
        import pyarrow as pa
        from pyarrow import compute

        kept = compute.if_else(mask(~wrong), texts, pa.nulls(1, pa.string())[0])
        return converted(kept, plan.arrow, decimal, given=plan.given)

    # --- what is missing ---

    def _missing_among_numbers(
        self,
        block: Block,
        table: pa.Table,
        good: NDArray[np.bool_] | None,
        known: Mapping[str, Any],
    ) -> dict[str, Counter[str | None]]:
        """Count the markers of missing numbers in a second pass: the parser drops them."""
        markers = set(self.options.missing)
        names = [n for n in self.columns if n not in known and table.column(n).null_count]
        if not names:
            return {}
        rows = np.zeros(table.num_rows, dtype=bool)
        for name in names:
            rows |= nulls(table.column(name))
        if len(self.layout.names) == 1:
            layout = self.layout
            texts, _ = parse_texts(
                block.data,
                layout.names,
                layout.dialect,
                start=block.start,
                skip=self.options.skip,
                strip=block.strip,
            )
        else:
            data = b"".join(self._records_of(block, rows, good))
            texts, _ = parse_texts(data, self.layout.names, self.layout.dialect, only=names)
        out = {}
        for name in names:
            by_name: Counter[str | None] = Counter()
            for pair in texts.column(name).value_counts():
                marker = pair["values"].as_py().strip()
                if marker in markers or marker.lower().strip("+-") == "nan":
                    by_name[marker] += pair["counts"].as_py()
            out[name] = by_name
        return out

    def _records_of(
        self, block: Block, rows: NDArray[np.bool_], good: NDArray[np.bool_] | None
    ) -> Iterator[bytes]:
        """Yield the text of the chosen rows of a block."""
        first = record = 0
        for records, _ in block.parts(self.layout, LOOK_BYTES):
            present = ~records.empty
            if good is not None:
                present[present] = good[record : record + np.count_nonzero(present)]
                record += int(np.count_nonzero(~records.empty))
            count = int(np.count_nonzero(present))
            yield records.joined(np.flatnonzero(present)[rows[first : first + count]])
            first += count

    # --- second looks ---

    def _without_comments(self, block: Block) -> Block:
        comment = self.options.comment
        if comment is None:
            return block
        single = len(self.layout.names) == 1  # an empty line would be a value
        data = without_comments(block.data[block.start :], comment, newlines=single)
        return replace(block, data=data, start=0)

    def _without_bad_bytes(self, block: Block) -> Block:
        """Skip, and count, the records with invalid bytes; line numbers stay the same."""
        single = len(self.layout.names) == 1  # an empty line would be a value
        kept = []
        for records, line in block.parts(self.layout, LOOK_BYTES):
            data = bytes(records.data)
            wrong = np.array(bytes_not_text(data), dtype=np.int64)
            starts = np.concatenate([[0], records.ends])
            bad, first = np.unique(np.searchsorted(records.ends, wrong, "right"), return_index=True)
            begin = 0
            for record, byte in zip(bad.tolist(), wrong[first].tolist(), strict=True):
                start, end = int(starts[record]), int(starts[record + 1])
                where = line + records.line_of_byte(byte), records.column_of_byte(byte) + 1
                reason = f"byte 0x{data[byte]:02x} is not valid UTF-8 text"
                self.report.skip(block.name, where[0], reason, records.text_of(record), where[1])
                ends = b"" if single else bytes(c for c in data[start:end] if c in b"\r\n")
                kept += [data[begin:start], ends]
                begin = end
            kept.append(data[begin:])
        return replace(block, data=b"".join(kept), start=0)

    def _refuse_open_quote(self, block: Block) -> None:
        first = block.data.find(b'"', block.start) if self.layout.dialect.quoting else -1
        if first < 0 or block.data.count(b'"', first) % 2 == 0:
            return
        for records, line in block.parts(self.layout, LOOK_BYTES):
            if records.unclosed is not None:
                raise TableError(
                    'a quote is opened and never closed. Close it, write "" for a quote inside a '
                    "quoted value, or pass ",
                    Option("quoting", False),
                    " if quotes are text.",
                    **_place(block, records, line, records.unclosed),
                )

    def _report_skipped(self, block: Block) -> NDArray[np.bool_]:
        """Report the skipped rows; return a mask of the rows that were kept."""
        width, kept = len(self.layout.names), []
        for records, line in block.parts(self.layout, LOOK_BYTES):
            present = np.flatnonzero(~records.empty) if width > 1 else np.arange(len(records.ends))
            good = records.widths[present] == width
            kept.append(good)
            for record in present[~good]:
                reason = f"expected {width} values, found {records.widths[record]}"
                at = line + records.line_of(int(record))
                self.report.skip(block.name, at, reason, records.text_of(int(record)))
        return np.concatenate(kept)

    def _second_look(self, block: Block, message: str) -> pa.Table:
        """Raise if the parser cannot read the text; parse columns of a wrong type as text."""
        import pyarrow as pa

        refuse_invalid_utf8(block.name, block.data, block.first_line, block.first_byte)
        if not self.options.skip:
            self._refuse_ragged(block)
        try:
            texts, skipped = parse_texts(
                block.data,
                self.layout.names,
                self.layout.dialect,
                start=block.start,
                skip=self.options.skip,
                only=self.columns,
                strip=block.strip,
            )
        except pa.ArrowInvalid:
            raise TableError(f"{block.name}: not readable as CSV: {message}") from None
        plans = self._revised(block, texts)
        if self.retype:
            raise RetypeError(plans)
        reader = CsvReader(
            self.layout.with_plans(plans), self.columns, self.options, self.report, retype=False
        )
        good = self._report_skipped(block) if skipped else None
        return reader._finished(block, texts, good)

    def _refuse_ragged(self, block: Block) -> None:
        width, dialect = len(self.layout.names), self.layout.dialect
        for records, line in block.parts(self.layout, LOOK_BYTES):
            wrong = records.widths != width
            if width > 1:
                wrong &= ~records.empty
            if wrong.any():
                record = int(np.flatnonzero(wrong)[0])
                first = "header" if dialect.header else "first line"
                raise TableError(
                    f"expected {width} values (as in the {first}), found "
                    f"{records.widths[record]}. Put quotes around values that contain the "
                    f"delimiter {delimiter_name(dialect.delimiter)}, complete or remove the line, "
                    "or skip such lines with ",
                    Option("on_error", "skip"),
                    ".",
                    file=block.name,
                    line=line + records.line_of(record),
                )

    def _revised(self, block: Block, texts: pa.Table) -> dict[str, Any]:
        """Return new plans for the columns whose type is wrong."""
        decimal, plans = self.layout.dialect.decimal, {}
        names = [n for n in self.columns if self.layout.plans[n].type != "category"]
        parsed = [n for n in names if not self.layout.plans[n].by_text]
        for name in self._unparsable(texts, parsed) or names:
            plan = self.layout.plans[name]
            trimmed, _ = without_missing(texts.column(name), self.options.missing)
            if converted(trimmed, plan.arrow, decimal, given=plan.given) is not None or plan.given:
                plans[name] = replace(plan, by_text=True)
                continue
            record = int(np.flatnonzero(wrong_texts(trimmed, plan, decimal))[0])
            value = trimmed[record].as_py()
            if not self.retype:
                raise self._not_of_type(block, name, record, value)
            line, _ = self._position(block, record)
            plans[name] = replace(
                plan,
                type="category",
                arrow=_dictionary(),
                why=f"text: line {line} has {_cut(value)}, other values are {_plural(plan.type)}",
            )
        return plans

    def _unparsable(self, texts: pa.Table, names: list[str]) -> list[str]:
        """Return the columns that the parser cannot read as planned; many are tested at once."""
        import pyarrow as pa
        from pyarrow import compute

        numbers = all(self.layout.plans[name].type == "number" for name in names)
        if numbers and names:
            chunks = [chunk for name in names for chunk in texts.column(name).chunks]
            values = pa.chunked_array(chunks, pa.string())
            missing = compute.is_in(values, value_set=strings(self._null_values))
            present = compute.utf8_trim_whitespace(values.filter(compute.invert(missing)))
            if converted(present, pa.float64(), self.layout.dialect.decimal) is not None:
                return []
        if len(names) < 2:
            return names
        half = len(names) // 2
        return self._unparsable(texts, names[:half]) + self._unparsable(texts, names[half:])

    def _position(self, block: Block, row: int) -> tuple[int, str]:
        """Return the line and the text of a row."""
        records, line, record = self._record(block, row)
        return line + records.line_of(record), records.text_of(record)

    def _record(self, block: Block, row: int) -> tuple[Records, int, int]:
        """Return the records that contain a row, the line on which they begin, and its index."""
        width, first = len(self.layout.names), 0
        for records, line in block.parts(self.layout, LOOK_BYTES):
            present = np.flatnonzero(~records.empty) if width > 1 else np.arange(len(records.ends))
            if self.options.skip:
                present = present[records.widths[present] == width]
            if width == 1 and first == 0 and block.strip[0]:  # empty lines before it are not rows
                present = present[np.argmax(~records.empty) :]
            if row < first + len(present):
                return records, line, int(present[row - first])
            first += len(present)
        raise AssertionError("a row that is not there")

    def _not_of_type(self, block: Block, name: str, row: int, value: str) -> NotANumberError:
        plan = self.layout.plans[name]
        records, line, record = self._record(block, row)
        remedy: tuple[Part, ...] = ("Correct it, or leave it empty if it is missing.",)
        if not plan.given:
            remedy = (
                f"The column was inferred as {_plural(plan.type)} from a sample of the file. "
                "Correct the value, or pass ",
                Option("column_types", {name: "category"}),
                ".",
            )
        return NotANumberError(
            f"{_cut(value)} is not {_NOUNS[plan.type]}. ",
            *remedy,
            **_place(block, records, line, records.start_of(record, self.layout.names.index(name))),
            column=name,
            value=value,
        )


def _place(block: Block, records: Records, line: int, byte: int) -> dict[str, Any]:
    """Return the place of a byte of records that begin on the given line, for an error."""
    return {
        "file": block.name,
        "line": line + records.line_of_byte(byte),
        "position": records.column_of_byte(byte) + 1,
    }


def all_present(columns: Sequence[Any], markers: tuple[str, ...]) -> bool:
    """Return whether no text of the columns is a marker or padded, by one pass over all.

    Parameters
    ----------
    columns : sequence of pyarrow.ChunkedArray of string, or of a dictionary of strings
    markers : tuple of str
    """
    import pyarrow as pa
    from pyarrow import compute

    chunks = [getattr(chunk, "dictionary", chunk) for each in columns for chunk in each.chunks]
    together = pa.chunked_array(chunks, pa.string())
    if compute.any(compute.is_in(together, value_set=strings(markers))).as_py():
        return False
    return compute.utf8_trim_whitespace(together).equals(together)


def _with_one_dictionary(column: Any) -> Any:
    import pyarrow as pa

    return column.unify_dictionaries() if pa.types.is_dictionary(column.type) else column


def without_missing(texts: Any, markers: tuple[str, ...]) -> tuple[Any, Counter[str | None]]:
    """Return trimmed texts with null for each marker, and the number of each marker.

    Parameters
    ----------
    texts : pyarrow.ChunkedArray of string, or of a dictionary of strings
    markers : tuple of str
    """
    import pyarrow as pa
    from pyarrow import compute

    if pa.types.is_dictionary(texts.type):
        return _levels_without_missing(texts, markers)
    trimmed = compute.utf8_trim_whitespace(texts)
    missing = compute.is_in(trimmed, value_set=strings(markers))
    counts = _counted(trimmed.filter(missing))
    if counts:
        trimmed = compute.if_else(missing, pa.nulls(1, trimmed.type)[0], trimmed)
    return trimmed, counts


def _levels_without_missing(column: Any, markers: tuple[str, ...]) -> tuple[Any, Any]:
    """Apply `without_missing` once per level."""
    import pyarrow as pa
    from pyarrow import compute

    column = _with_one_dictionary(column)
    if not column.num_chunks:
        return column, _counted(column)
    levels = column.chunk(0).dictionary
    trimmed, counts = without_missing(levels, markers)
    if not counts and trimmed.equals(levels):
        return column, counts
    new = trimmed.dictionary_encode()
    chunks = [
        pa.DictionaryArray.from_arrays(compute.take(new.indices, chunk.indices), new.dictionary)
        for chunk in column.chunks
    ]
    if counts:
        gone = levels.filter(compute.is_in(compute.utf8_trim_whitespace(levels), strings(markers)))
        lost = column.filter(compute.is_in(column.cast(pa.string()), value_set=gone))
        counts = _counted(compute.utf8_trim_whitespace(lost.cast(pa.string())))
    return pa.chunked_array(chunks), counts


def _nan_as_null(column: Any) -> Any:
    """Return numbers with null for NaN: a marker may be padded with spaces."""
    import pyarrow as pa
    from pyarrow import compute

    lost = compute.is_nan(column)
    if not compute.any(lost).as_py():
        return column
    return compute.if_else(lost, pa.nulls(1, pa.float64())[0], column)


def _counted(texts: Any) -> Counter[str | None]:
    return Counter(
        {pair["values"].as_py(): pair["counts"].as_py() for pair in texts.value_counts()}
    )


def wrong_texts(texts: Any, plan: Any, decimal: str) -> NDArray[np.bool_]:
    """Return which texts do not have the type of a plan, by a slow test of each distinct text."""
    encoded = texts.combine_chunks().dictionary_encode()
    if not hasattr(encoded, "indices"):
        encoded = encoded.chunk(0)
    bad = [
        level is not None
        and converted(strings([level]), plan.arrow, decimal, given=plan.given) is None
        for level in encoded.dictionary.to_pylist()
    ]
    codes = integers(encoded.indices)
    return np.append(np.array(bad, dtype=bool), False)[codes]


def _dictionary() -> Any:
    import pyarrow as pa

    return pa.dictionary(pa.int32(), pa.string())


def _cut(value: str) -> str:
    """Return a quoted value, shortened."""
    return repr(value) if len(value) <= MAX_SHOWN else f"{value[:MAX_SHOWN]!r}..."


def _plural(kind: str) -> str:
    return {"number": "numbers", "boolean": "true and false", "date": "dates"}.get(kind, "texts")
