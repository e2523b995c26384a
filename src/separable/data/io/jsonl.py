"""JSON lines files, one object per line, and JSON arrays of objects, to Arrow tables.

``pyarrow`` parses with the types inferred from the first lines. If it fails, because a line is not
JSON or a value has another type, the text is parsed again line by line here: slower, but errors
name the line.
"""

from __future__ import annotations

import re
import shlex
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.arrow_arrays import mask, strings
from separable.data.dataset import chosen_columns
from separable.data.ingest.column_types import ColumnPlan, arrow_type, converted, guess
from separable.data.io.compression import BrokenStreamError
from separable.data.io.csv.csv_file import RetypeError, without_missing, wrong_texts
from separable.data.io.encodings import Utf8Text, is_utf8, refuse_invalid_utf8
from separable.data.io.json_arrays import JsonLines
from separable.data.io.readers import TableFiles, cut_off
from separable.data.reading_report import ColumnSource
from separable.data.table import COLUMNS_REMEDY, NotANumberError, TableError, list_names
from separable.errors import Message, Option, by_spelling

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pyarrow as pa

    from separable.data.io.sources import Input

__all__ = ["JsonlFiles"]

#: What to do on the command line about a column that the first lines do not have.
FIRST_LINE = "Add it to the first line, as null."

#: Bytes of the sample that determines names and types.
HEAD_BYTES = 1 << 20

BLOCK_BYTES = 1 << 20

#: An object that begins with a list of rows.
_ROWS_WITHIN = re.compile(rb'\s*\{\s*"((?:[^"\\]|\\.)*)"\s*:\s*\[\s*[\[{]')

_KINDS = {int: "number", float: "number", bool: "boolean", str: "text"}


class JsonlFiles(TableFiles):
    """JSON lines files. See `Files`."""

    format = "jsonl"
    _revised: Mapping[str, ColumnPlan] = MappingProxyType({})

    def read(self) -> pa.Table:
        """Return all rows of all files."""
        import pyarrow as pa

        for source in self.inputs:
            source.keep()  # a late value may change a type
        while True:
            try:
                tables = [
                    self._table(source.name, data, line, retype=True)
                    for source in self.inputs
                    for data, line in self._blocks(source, None)
                ]
                break
            except RetypeError as error:
                self._revised = {**self._revised, **error.plans}
                self.start_again()
        if not tables:
            raise TableError(f"{self.where}: the file is empty. It needs one JSON object per line.")
        table = pa.concat_tables(tables)
        self.report.rows = table.num_rows
        return table

    def chunks(self, chunk_bytes: int) -> Iterator[pa.Table]:
        """Yield the rows in chunks."""
        for source in self.inputs:
            for data, line in self._blocks(source, chunk_bytes):
                table = self._table(source.name, data, line, retype=False)
                self.report.rows += table.num_rows
                yield table
        if not self.report.rows:
            raise TableError(f"{self.where}: the file is empty. It needs one JSON object per line.")

    def _blocks(self, source: Input, size: int | None) -> Iterator[tuple[bytes, int]]:
        """Yield blocks of whole lines with the number of the first line; all at once for None."""
        line, rest = 1, b""
        with source.open() as opened:
            text = JsonLines(Utf8Text(opened, self.options.encoding))
            self.report.format = "json" if text.is_array else self.format
            pieces: list[bytes] = []
            ended = False
            while not ended:
                have = len(rest)
                pieces = [rest]
                try:
                    while size is None or have < max(size, HEAD_BYTES):
                        piece = text.read(1 << 22)
                        if not piece:
                            ended = True
                            break
                        pieces.append(piece)
                        have += len(piece)
                except BrokenStreamError as error:
                    pieces = [self._rescued(source.name, b"".join(pieces), line, str(error))]
                    ended = True
                data = b"".join(pieces)
                whole = len(data) if ended else data.rfind(b"\n") + 1
                block, rest = data[:whole], data[whole:]
                if not whole and not ended:
                    size = 2 * have
                    continue
                if block.strip():
                    if source.name not in self.report.sources:
                        self._settle(text, block[: max(HEAD_BYTES, block.find(b"\n") + 1)])
                    self.report_progress(opened.bytes_read)
                    yield block, line
                line += block.count(b"\n")

    def _rescued(self, name: str, data: bytes, line: int, problem: str) -> bytes:
        whole = data[: data.rfind(b"\n") + 1]
        rows = self.report.rows + whole.count(b"\n")
        at = line + whole.count(b"\n")
        if not self.options.skip:
            raise cut_off(name, problem, rows, at)
        self.report.skip(name, at, problem, "")
        return whole

    # --- names and types ---

    def _settle(self, text: JsonLines, head: bytes) -> None:
        if self.report.sources:
            self.report.sources.append(text.name)
            return
        records = self._sample(text.name, head)
        names = list(dict.fromkeys(name for record in records for name in record))
        self.columns, self.label = chosen_columns(
            names, self.options.columns, self.target, text.name
        )
        self.names = names
        self.plans = {
            name: self._plan(text.name, name, [record.get(name) for record in records])
            for name in self.columns
        }
        self.plans |= {n: plan for n, plan in self._revised.items() if n in self.plans}
        report = self.report
        report.sources.append(text.name)
        report.compression = text.source.compression
        report.sniffed = f"the first {len(records)} lines"
        report.columns = [ColumnSource(n, p.type, p.why) for n, p in self.plans.items()]

    def _sample(self, name: str, head: bytes) -> list[dict[str, Any]]:
        lines = head.splitlines()
        if len(head) >= HEAD_BYTES and len(lines) > 1:
            lines.pop()
        first = next((line for line in lines if line.strip()), b"")
        if first.lstrip().startswith(b"["):
            raise TableError(
                f"{name}: holds lists, whose values have no names. Write each row as an object, "
                'such as {"age": 31, "city": "Rome"}.'
            )
        within = _ROWS_WITHIN.match(head)
        if within is not None:
            key = within[1].decode(errors="replace")
            raise TableError(
                f"{name}: one JSON object, whose rows are in {key!r}. Write that list to a file of "
                f"its own, for example: jq '.[\"{key}\"]' {shlex.quote(name)} > rows.json"
            )
        if first.strip() in (b"{", b"{}") or first.rstrip().endswith((b"{", b"[", b",")):
            raise TableError(
                f"{name}: one JSON document over several lines, and not JSON lines. Write one "
                "object per line, or load it with json.load and pass a list of dicts to read."
            )
        records = []
        for line_number, line in enumerate(lines, start=1):
            record = self._decoded(name, line_number, line, report=False)
            if record is not None:
                records.append(record)
        if not records:
            raise TableError(f"{name}: no line is a JSON object. Write one object per line.")
        return records

    def _plan(self, where: str, name: str, values: list[Any]) -> ColumnPlan:
        import pyarrow as pa

        kinds = {_KINDS.get(type(value), "nested") for value in values if value is not None}
        given = self.options.named_types.get(name)
        if "nested" in kinds:
            value = next(v for v in values if v is not None and type(v) not in _KINDS)
            row = next(i for i, v in enumerate(values, start=1) if v is value)
            raise TableError(
                f"{where}, object {row}, column {name!r}: holds {_json_kind(value)}, not a single "
                "value. Flatten it, or ",
                COLUMNS_REMEDY,
            )
        texts = strings([_text(value) for value in values if value is not None])
        if given is not None:
            return ColumnPlan(given, arrow_type(given, texts), "given", True)
        if kinds == {"number"} and any(map(_is_long, values)):
            return ColumnPlan("category", pa.string(), "integers with more digits than float64")
        if kinds <= {"number"}:
            why = "every value is a number" if kinds else "every value is missing"
            return ColumnPlan("number", pa.float64(), why)
        if kinds == {"boolean"}:
            return ColumnPlan("boolean", pa.bool_(), "every value is true or false")
        guessed = guess(texts)
        if kinds == {"text"} and guessed.type == "date":
            return guessed
        return ColumnPlan("category", pa.string(), "text")

    # --- rows ---

    def _table(self, name: str, data: bytes, line: int, *, retype: bool) -> pa.Table:
        import pyarrow as pa
        from pyarrow import json

        fast = {
            n: p.arrow if p.type in ("number", "boolean") else pa.string()
            for n, p in self.plans.items()
        }
        if not is_utf8(data):
            return self._line_by_line(name, data, line, retype=retype)
        try:
            table = json.read_json(
                pa.BufferReader(data),  # type: ignore[arg-type] # the stubs leave it out
                read_options=json.ReadOptions(block_size=max(BLOCK_BYTES, _longest(data))),
                parse_options=json.ParseOptions(
                    explicit_schema=pa.schema(list(fast.items())),
                    unexpected_field_behavior="infer",
                ),
            )
        except (pa.ArrowInvalid, OverflowError):
            return self._line_by_line(name, data, line, retype=retype)
        if self._has_long_numbers(table):
            return self._line_by_line(name, data, line, retype=retype)
        late = [n for n in table.column_names if n not in self.names]
        if late:
            self._late(name, late, data, line, retype=retype)
        if self.options.skip and not self._all_dates(table):
            return self._line_by_line(name, data, line, retype=retype)
        columns = [self._finished(name, n, table.column(n), line) for n in self.columns]
        return pa.Table.from_arrays(columns, names=self.columns)

    def _has_long_numbers(self, table: pa.Table) -> bool:
        """Return whether some numbers are beyond the exact integer range of float64."""
        from pyarrow import compute

        for name, plan in self.plans.items():
            if plan.type == "number" and not plan.given:
                extremes = compute.min_max(table.column(name))
                low, high = extremes["min"].as_py(), extremes["max"].as_py()
                if low is not None and max(high, -low) >= 2**53:
                    return True
        return False

    def _all_dates(self, table: pa.Table) -> bool:
        """Return whether all texts of the date columns are dates."""
        missing = self.options.csv.missing
        for name, plan in self.plans.items():
            if plan.type == "date":
                texts, _ = without_missing(table.column(name), missing)
                if converted(texts, plan.arrow, given=plan.given) is None:
                    return False
        return True

    def _late(self, name: str, late: list[str], data: bytes, line: int, *, retype: bool) -> None:
        if self.options.columns is not None:
            return
        note = f"{list_names(late, 5)} first appeared after the lines that determined the columns"
        if not retype:
            key = f'"{late[0]}"'.encode()
            at = line + data[: data.find(key)].count(b"\n")
            raise TableError(
                f"new column {late[0]!r}, which the first lines do not have. ",
                by_spelling("Name the columns to read: columns=[...].", FIRST_LINE),
                file=name,
                line=at,
            )
        remedy = by_spelling("Name them in columns=[...] to read them.", FIRST_LINE)
        message = Message(note, ", and were ignored. ", remedy)
        if message not in self.report.notes:
            self.report.notes.append(message)

    def _finished(self, where: str, name: str, column: Any, line: int) -> Any:
        """Replace missing markers by null, convert, and count."""
        import pyarrow as pa

        plan, column_report = self.plans[name], self.report.found(name)
        if column.null_count:
            column_report.missing[None] += column.null_count
        if not pa.types.is_string(column.type):
            return column
        column, counts = without_missing(column, self.options.csv.missing)
        column_report.missing.update(
            {marker: count for marker, count in counts.items() if marker is not None}
        )
        if plan.type == "category":
            return column
        out = converted(column, plan.arrow, given=plan.given)
        if out is None:
            index = int(wrong_texts(column, plan, ".").argmax())
            raise NotANumberError(
                f"{column[index].as_py()!r} is not {plan.type}. Correct it, or pass ",
                Option("column_types", {name: "category"}),
                ".",
                file=f"{where}, object {index + 1} from line {line}",
                column=name,
                value=column[index].as_py(),
            )
        return out

    # --- the slower way ---

    def _decoded(
        self, name: str, line: int, text: bytes, *, report: bool, check_keys: bool = False
    ) -> dict[str, Any] | None:
        """Return the object of a line; None if it is empty or skipped."""
        import msgspec

        if not text.strip():
            return None
        column = None
        try:
            text.decode()
            record = msgspec.json.decode(text)
            twice = _key_twice(text, record) if check_keys else None
            if twice is not None:
                raise _KeyTwiceError(f"the key {twice!r} appears twice in the object")
            problem = "" if isinstance(record, dict) else f"{_json_kind(record)}, not an object"
        except UnicodeDecodeError as error:
            problem = f"byte 0x{text[error.start]:02x} is not valid UTF-8"
            column = error.start + 1
        except _KeyTwiceError as error:
            problem = str(error)
        except (msgspec.DecodeError, RecursionError) as error:
            problem = f"not JSON ({error})"
            column = _byte_named(problem)
        if not problem:
            return record  # type: ignore[no-any-return]
        if self.options.skip:
            if report:
                shown = text[:80].decode("utf-8", "replace")
                self.report.skip(name, line, problem, shown, column)
            return None
        refuse_invalid_utf8(name, text, line, None)
        raise TableError(
            f"{problem}. The line begins {text[:40]!r}. Correct or remove it, or skip such lines "
            "with ",
            Option("on_error", "skip"),
            ".",
            file=name,
            line=line,
            position=column,
        )

    def _without_wrong(
        self, name: str, records: list[dict[str, Any]], lines: list[int], *, retype: bool
    ) -> tuple[list[dict[str, Any]], list[int]]:
        """Skip, and count, lines with a value that does not fit its column."""
        kept = []
        for record, line in zip(records, lines, strict=True):
            problem = self._problem(record, retype=retype)
            if problem is None:
                kept.append((record, line))
            else:
                self.report.skip(name, line, problem, str(record)[:80])
        return [record for record, _ in kept], [line for _, line in kept]

    def _problem(self, record: dict[str, Any], *, retype: bool) -> str | None:
        for column, plan in self.plans.items():
            value = record.get(column)
            if value is not None and type(value) not in _KINDS:
                return f"column {column!r}: holds {_json_kind(value)}, not a single value"
            settled = plan.given or not retype or plan.type == "date"
            if settled and _is_wrong(value, plan, self.options.csv.missing):
                return f"column {column!r}: {str(value)[:80]!r} is not {plan.type}"
        return None

    def _line_by_line(self, name: str, data: bytes, line: int, *, retype: bool) -> pa.Table:
        import pyarrow as pa

        records, lines = [], []
        for at, text in enumerate(data.split(b"\n"), start=line):
            record = self._decoded(name, at, text, report=True, check_keys=True)
            if record is not None:
                records.append(record)
                lines.append(at)
        if self.options.skip:
            records, lines = self._without_wrong(name, records, lines, retype=retype)
        columns = []
        for column in self.columns:
            values = [record.get(column) for record in records]
            texts = [None if value is None else _text(value) for value in values]
            plan = self.plans[column]
            kinds = {_KINDS.get(type(value), "nested") for value in values if value is not None}
            wrong = _first_wrong(values, plan)
            if wrong is not None and (plan.given or not retype):
                raise NotANumberError(
                    f"{values[wrong]!r} is not {plan.type}. Correct it, or pass ",
                    Option("column_types", {column: "category"}),
                    ".",
                    file=name,
                    line=lines[wrong],
                    column=column,
                    value=values[wrong],
                )
            if wrong is not None or "nested" in kinds:
                self._plan(name, column, values)  # rejects nested values
                why = f"text: line {lines[wrong or 0]} has {values[wrong or 0]!r}, others are "
                revised = ColumnPlan("category", pa.string(), f"{why}{plan.type}")
                raise RetypeError({column: revised})
            array: Any = pa.chunked_array([_with_nulls(texts)])
            array = self._finished(name, column, array, line)
            if pa.types.is_string(array.type) and plan.type in ("number", "boolean"):
                array = converted(array, plan.arrow, given=True)
            columns.append(array)
        return pa.Table.from_arrays(columns, names=self.columns)


def _first_wrong(values: list[Any], plan: ColumnPlan) -> int | None:
    """Return the first value that does not have the type of a plan; texts may be dates."""
    if plan.type == "date":
        return None
    return next((index for index, value in enumerate(values) if _is_wrong(value, plan)), None)


def _is_wrong(value: Any, plan: ColumnPlan, missing: tuple[str, ...] = ()) -> bool:
    kinds: dict[str, tuple[type, ...]] = {"number": (int, float), "boolean": (bool,)}
    if plan.type == "number" and not plan.given and _is_long(value):
        return True
    if plan.type == "category" or value is None or type(value) in kinds.get(plan.type, ()):
        return False
    if isinstance(value, str) and (plan.given or plan.type == "date"):
        text = value.strip()
        return text not in missing and not _converts(text, plan.arrow)
    return True


@lru_cache(maxsize=4096)
def _converts(text: str, arrow: pa.DataType) -> bool:
    """Return whether a text is valid for a type; cached, because texts often repeat."""
    return converted(strings([text]), arrow, given=True) is not None


def _with_nulls(texts: list[str | None]) -> Any:
    import pyarrow as pa
    from pyarrow import compute

    present = np.array([text is not None for text in texts], dtype=bool)
    array = strings([text or "" for text in texts])
    return compute.if_else(mask(present), array, pa.nulls(1, pa.string())[0])


class _KeyTwiceError(Exception):
    """An object with a duplicate key."""


def _key_twice(text: bytes, record: object) -> str | None:
    """Return a duplicate key of an object, ignoring nested objects."""
    import json

    if isinstance(record, dict) and text.count(b":") == len(record):
        return None  # each pair has its own colon
    pairs: list[tuple[str, Any]] = []

    def keep(items: list[tuple[str, Any]]) -> None:
        pairs[:] = items  # the outermost object comes last

    json.loads(text, object_pairs_hook=keep)
    seen: set[str] = set()
    for key, _ in pairs:
        if key in seen:
            return key
        seen.add(key)
    return None


def _is_long(value: Any) -> bool:
    """Return whether a value is an integer with more digits than float64 represents exactly."""
    return type(value) is int and abs(value) > 2**53


def _text(value: Any) -> str:
    """Return a value as the text of a category, as written in the file."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else str(value)


def _byte_named(problem: str) -> int | None:
    """Return the byte named in a JSON error, counted from 1."""
    named = re.search(r"\(byte (\d+)\)", problem)
    return None if named is None else int(named[1]) + 1


def _json_kind(value: Any) -> str:
    kinds: dict[type, str] = {dict: "an object", list: "a list", str: "a text"}
    return kinds.get(type(value), "a value")


def _longest(data: bytes) -> int:
    """Return the length of the longest line, or of a short text."""
    ends = np.flatnonzero(np.frombuffer(data, dtype=np.uint8) == 10)
    return min(len(data), int(np.diff(ends, prepend=-1, append=len(data)).max())) + 1
