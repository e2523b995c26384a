"""CSV files to Arrow tables, whole or in blocks, with errors that say where and what to do.

``pyarrow`` does the parsing. Around it stands what it leaves out: how the file is written is
sniffed, missing values may be written in several ways and are counted, and a file that cannot be
read is looked at a second time so that the message names the line.

Nothing here converts through ``pyarrow.array`` or ``to_numpy``: both import pandas where it is
installed, and predicting must not.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.arrow_arrays import integers, mask, nulls, strings
from separable.data.ingest.column_types import converted
from separable.data.io.csv.dialect import delimiter_name
from separable.data.io.csv.parse import parse, parse_texts
from separable.data.io.csv.records import Records
from separable.data.io.csv.sniff import without_comments
from separable.data.io.encodings import (
    bytes_not_text,
    is_utf8,
    line_of_byte,
    refuse_invalid_utf8,
    refuse_nul,
)
from separable.data.table import NotANumberError, TableError, at_place

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from separable.data.io.csv.sniff import CsvLayout, CsvOptions
    from separable.data.reading_report import ReadingReport

__all__ = ["Block", "CsvReader", "RetypeError", "without_missing", "wrong_texts"]

#: The second look takes the text in parts of about this size.
LOOK_BYTES = 1 << 23

#: Of longer values a message shows the start.
LONGEST_SHOWN = 80

_NOUNS = {"number": "a number", "boolean": "true or false", "date": "an ISO date"}


class RetypeError(Exception):
    """Columns that are not what the sniff took them for, each with what they are instead."""

    def __init__(self, plans: dict[str, Any]) -> None:
        super().__init__(plans)
        self.plans = plans


@dataclass(frozen=True)
class Block:
    """Whole records of a text.

    Parameters
    ----------
    name : str
        The file.
    data : bytes
    start : int
        Where in ``data`` the records begin.
    line : int
        The line, counted from 1, on which they begin.
    first_byte : int
        How many bytes of the file come before ``data``.
    strip : (bool, bool)
        Whether empty lines at its start and at its end are no values, where there is one column.
    """

    name: str
    data: bytes
    start: int = 0
    line: int = 1
    first_byte: int = 0
    strip: tuple[bool, bool] = (True, True)

    @property
    def first_line(self) -> int:
        """The line on which ``data`` begins."""
        return self.line - line_of_byte(self.data, self.start) + 1

    def parts(self, layout: CsvLayout, size: int) -> Iterator[tuple[Records, int]]:
        """Give the records some at a time, with the line on which each part begins."""
        dialect, line, begin = layout.dialect, self.line, self.start
        view, take = memoryview(self.data), size
        while begin < len(view):
            end = min(begin + take, len(view))
            records = Records(view[begin:end], dialect.delimiter, dialect.quoting)
            if end < len(view):
                if end > begin and view[end - 1] == 13:  # its newline may come next
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
    """Reads blocks of CSV text, all by one layout.

    Parameters
    ----------
    layout : CsvLayout
    columns : sequence of str
        Those to read.
    options : CsvOptions
    report : ReadingReport
        Is told what is skipped and what is missing.
    retype : bool
        Whether a column may turn out to be something else than its plan says (`RetypeError`); else
        that is an error that names the place.
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
        """Return a block as a table, or say why it cannot be one."""
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
        good = self._told_of_skipped(block) if skipped else None
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
        """Take what is missing out of texts, convert those that are to be, and count."""
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
        """Whether a column of numbers has a NaN: one look at all of them."""
        import pyarrow as pa
        from pyarrow import compute

        numbers = [column for column in table.columns if pa.types.is_floating(column.type)]
        chunks = [chunk for column in numbers for chunk in column.chunks]
        together = pa.chunked_array(chunks, pa.float64())
        return bool(compute.any(compute.is_nan(together)).as_py())

    def _converted(self, block: Block, name: str, texts: Any, bad: NDArray[np.bool_]) -> Any:
        """Convert texts to the type of their plan; mark rows where that fails, or refuse them."""
        plan, decimal = self.layout.plans[name], self.layout.dialect.decimal
        out = converted(texts, plan.arrow, decimal, given=plan.given)
        if out is not None:
            return out
        wrong = wrong_texts(texts, plan, decimal)
        rows = np.flatnonzero(wrong)
        if not self.options.skip:
            raise self._not_of_type(block, name, int(rows[0]), texts[int(rows[0])].as_py())
        fresh = np.flatnonzero(wrong & ~bad)
        examples = fresh[
            : self.report.n_free_examples
        ]  # finding a line costs a look through the block
        for record in examples.tolist():
            line, text = self._place(block, record)
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
        """Count what stood where numbers are missing: the parser does not say, so look again."""
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
        """Give the text of some rows of a block."""
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
        """Leave out, and count, the records with bytes that are no text; their lines stay."""
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
                where = _where(block, records, line, records.unclosed)
                raise TableError(
                    f"{where}: a quote is opened and never closed. Close it, write "
                    '"" for a quote inside a quoted value, or say quoting=False if quotes are text.'
                )

    def _told_of_skipped(self, block: Block) -> NDArray[np.bool_]:
        """Tell the report which rows were skipped; return for each row whether it was kept."""
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
        """Say what the parser could not read; or read by way of text what is not as planned."""
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
        good = self._told_of_skipped(block) if skipped else None
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
                where = at_place(block.name, line + records.line_of(record))
                raise TableError(
                    f"{where}: expected {width} values (as in the {first}), found "
                    f"{records.widths[record]}. Put quotes around values "
                    f"that contain the delimiter {delimiter_name(dialect.delimiter)}, complete or "
                    "remove the line, or leave such lines out with on_error='skip'."
                )

    def _revised(self, block: Block, texts: pa.Table) -> dict[str, Any]:
        """Return other plans for columns that are not as planned."""
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
            line, _ = self._place(block, record)
            plans[name] = replace(
                plan,
                type="category",
                arrow=_dictionary(),
                why=f"text: line {line} has {_cut(value)}, other values are {_plural(plan.type)}",
            )
        return plans

    def _unparsable(self, texts: pa.Table, names: list[str]) -> list[str]:
        """Return the columns that the parser cannot read as planned: many are looked at as one."""
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

    def _place(self, block: Block, row: int) -> tuple[int, str]:
        """Return the line and the text of a row."""
        records, line, record = self._record(block, row)
        return line + records.line_of(record), records.text_of(record)

    def _record(self, block: Block, row: int) -> tuple[Records, int, int]:
        """Return the records that have a row, the line on which they begin, and its place."""
        width, first = len(self.layout.names), 0
        for records, line in block.parts(self.layout, LOOK_BYTES):
            present = np.flatnonzero(~records.empty) if width > 1 else np.arange(len(records.ends))
            if self.options.skip:
                present = present[records.widths[present] == width]
            if width == 1 and first == 0 and block.strip[0]:  # empty lines before it are no rows
                present = present[np.argmax(~records.empty) :]
            if row < first + len(present):
                return records, line, int(present[row - first])
            first += len(present)
        raise AssertionError("a row that is not there")

    def _not_of_type(self, block: Block, name: str, row: int, value: str) -> NotANumberError:
        plan = self.layout.plans[name]
        records, line, record = self._record(block, row)
        where = _where(
            block, records, line, records.start_of(record, self.layout.names.index(name))
        )
        remedy = (
            "Correct it, or leave it empty if it is missing."
            if plan.given
            else f"The column was taken for one of {_plural(plan.type)} from a look at part of the "
            f"file. Correct the value, or say column_types={{{name!r}: 'category'}}."
        )
        return NotANumberError(
            f"{where}: column {name!r}: {_cut(value)} is not {_NOUNS[plan.type]}. {remedy}",
            name,
        )


def _where(block: Block, records: Records, line: int, record: int) -> str:
    """Return where a byte of records is that begin on the given line."""
    at = line + records.line_of_byte(record), records.column_of_byte(record) + 1
    return at_place(block.name, *at)


def all_present(columns: Sequence[Any], markers: tuple[str, ...]) -> bool:
    """Whether no text of some columns is a marker or has spaces around it: one look at all.

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
    """Return texts, trimmed, with null for each marker; and how often each marker was there.

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
    """Do it once for each level."""
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
    """Return numbers with null for each NaN: its marker may stand among spaces."""
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
    """Return which texts are not of the type of a plan; a slow look at each different one."""
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
    """Return a value in quotes, cut where it is long."""
    return repr(value) if len(value) <= LONGEST_SHOWN else f"{value[:LONGEST_SHOWN]!r}..."


def _plural(kind: str) -> str:
    return {"number": "numbers", "boolean": "true and false", "date": "dates"}.get(kind, "texts")
