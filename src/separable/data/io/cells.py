"""Tables whose cells have types of their own, such as workbooks and SQLite, to Arrow tables.

Cells of one type become a column of that type. Cells of several types, and texts, become texts,
whose type is then inferred as in a CSV file.
"""

from __future__ import annotations

import datetime as dt
from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.arrow_arrays import is_text, mask, strings
from separable.data.dataset import chosen_columns
from separable.data.ingest.column_types import (
    ColumnPlan,
    arrow_type,
    column_type,
    converted,
    guess,
    with_given_types,
)
from separable.data.io.csv.csv_file import without_missing, wrong_texts
from separable.data.io.readers import TableFiles
from separable.data.reading_report import ColumnSource
from separable.data.table import NotANumberError, TableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import pyarrow as pa

    from separable.data.io.sources import Input

__all__ = ["CellFiles", "CellTable"]

#: Rows converted at a time.
BATCH_ROWS = 1 << 14

#: Largest whole number written without an exponent.
_WHOLE = 1e15

_NUMBERS = {int, float}
_DAYS = {dt.date}
_MOMENTS = {dt.date, dt.datetime}


@dataclass(frozen=True)
class CellTable:
    """A table of cells.

    Parameters
    ----------
    where : str
        Name in messages.
    names : sequence of str
        Names of the columns.
    types : mapping of str to set of type
        Python types of the cells of each column, without that of missing ones.
    n_rows : int
    row_bytes : float
        Approximate bytes of a row.
    batches : callable
        Called with names of columns and a number of rows; yields lists of column values, None where
        missing.
    row_number : callable
        Number of a row in the file, by its index.
    """

    where: str
    names: Sequence[str]
    types: Mapping[str, set[type]]
    n_rows: int
    row_bytes: float
    batches: Callable[[Sequence[str], int], Iterator[list[Sequence[Any]]]]
    row_number: Callable[[int], int] = lambda index: index + 1


class CellFiles(TableFiles):
    """Files of typed cells. See `Files`."""

    selects = True

    @abstractmethod
    def _open(self, source: Input) -> CellTable:
        """Open a file."""

    def read(self) -> pa.Table:
        """Return all rows of all files."""
        import pyarrow as pa

        tables = self._opened()
        raw = [part for table in tables for part in self._raw(table, BATCH_ROWS)]
        self._settle(tables[0], pa.concat_tables(raw))
        table = self._finished(tables, pa.concat_tables(raw), 0)
        self.report.rows = table.num_rows
        return table

    def chunks(self, chunk_bytes: int) -> Iterator[pa.Table]:
        """Yield the rows in chunks."""
        tables = self._opened()
        for table in tables:
            rows = max(1, min(BATCH_ROWS, int(chunk_bytes / table.row_bytes)))
            for raw in self._raw(table, rows):
                if not self.report.columns:
                    self._settle(table, raw)
                    self.report.sniffed = f"the first {raw.num_rows} rows"
                out = self._finished(tables, raw, self.report.rows)
                self.report.rows += raw.num_rows
                done = sum(each.n_rows for each in tables) or 1
                size = sum(each.size or 0 for each in self.inputs)
                self.report_progress(size * self.report.rows // done)
                yield out

    def _opened(self) -> list[CellTable]:
        """Open the files and compare their columns."""
        tables = []
        for source in self.inputs:
            tables.append(self._open(source))
            self.report.sources.append(source.name)
        first = tables[0]
        self.columns, self.label = chosen_columns(
            first.names, self.options.columns, self.target, first.where
        )
        for table in tables[1:]:
            for name in self.columns:
                if name not in table.names:
                    raise TableError(
                        f"{table.where} has no column {name!r}, which {first.where} has."
                    )
        self._types = {
            name: set().union(*(table.types[name] for table in tables)) for name in self.columns
        }
        for name, types in self._types.items():
            if bytes in types and self.options.named_types.get(name) is None:
                raise TableError(
                    f"{first.where}, column {name!r}: holds bytes, not a single value. Convert "
                    "it, or name the columns to read: columns=[...]."
                )
        if not sum(table.n_rows for table in tables):
            raise TableError(f"{first.where}: no rows.")
        return tables

    def _raw(self, table: CellTable, rows: int) -> Iterator[pa.Table]:
        """Yield the rows of a file as typed columns and texts."""
        import pyarrow as pa

        for columns in table.batches(self.columns, rows):
            arrays = [
                cell_array(values, self._types[name])
                for name, values in zip(self.columns, columns, strict=True)
            ]
            yield pa.Table.from_arrays(arrays, names=list(self.columns))

    def _settle(self, table: CellTable, raw: pa.Table) -> None:
        """Determine the types of the columns that hold texts."""
        options = self.options
        self._plans: dict[str, ColumnPlan] = {}
        self.report.columns = []
        for field in raw.schema:
            kind = options.named_types.get(field.name)
            if not is_text(field.type):
                source = column_type(field, table.where, options)
                self.report.columns.append(
                    ColumnSource(source.name, source.type, "given" if kind else "typed cells")
                )
                continue
            texts, _ = without_missing(raw.column(field.name), options.csv.missing)
            plan = guess(texts, options.csv.decimal or ".")
            if kind is not None:
                plan = ColumnPlan(kind, arrow_type(kind, texts), "given", True)
            self._plans[field.name] = plan
            self.report.columns.append(ColumnSource(field.name, plan.type, plan.why))

    def _finished(self, tables: list[CellTable], raw: pa.Table, first_row: int) -> pa.Table:
        """Convert texts, and count missing values."""
        where = tables[0].where
        for index, name in enumerate(self.columns):
            column, report = raw.column(name), self.report.found(name)
            if column.null_count:
                report.missing[None] += column.null_count
            if name not in self._plans:
                continue
            plan, decimal = self._plans[name], self.options.csv.decimal or "."
            column, counts = without_missing(column, self.options.csv.missing)
            report.missing.update({m: n for m, n in counts.items() if m is not None})
            out = converted(column, plan.arrow, decimal, given=plan.given)
            if out is None:
                at = int(wrong_texts(column, plan, decimal).argmax())
                raise NotANumberError(
                    f"{_place(tables, first_row + at)}, column {name!r}: {column[at].as_py()!r} is "
                    f"not {plan.type}. Correct it, or pass column_types={{{name!r}: 'category'}}.",
                    name,
                )
            raw = raw.set_column(index, name, out)
        return with_given_types(raw, where, self.options)


def _place(tables: list[CellTable], row: int) -> str:
    """Return the file and the row of it for a row of all files."""
    for table in tables:
        if row < table.n_rows:
            return f"{table.where}, row {table.row_number(row)}"
        row -= table.n_rows
    return tables[-1].where


def cell_array(values: Sequence[Any], types: set[type]) -> Any:
    """Return cells as an Arrow array: of their type if they have one, else of texts.

    Parameters
    ----------
    values : sequence
        None where missing.
    types : set of type
        Types of the column, of which these cells may be a part.

    Examples
    --------
    >>> cell_array([1, 2.5, None], {int, float}).to_pylist()
    [1.0, 2.5, None]
    >>> cell_array([1.0, "n/a", True], {float, str, bool}).to_pylist()
    ['1', 'n/a', 'true']
    """
    import pyarrow as pa

    if types <= _NUMBERS:
        return _fixed(pa.float64(), np.array(values, dtype=np.float64), np.isnan)
    if types == {bool}:
        missing = np.array([value is None for value in values], dtype=bool)
        held = mask(np.array(values, dtype=object).astype(bool))
        return pa.Array.from_buffers(
            pa.bool_(), len(values), [mask(~missing).buffers()[1], held.buffers()[1]]
        )
    if types == _DAYS:
        days = np.array(values, dtype="datetime64[D]")
        return _fixed(pa.date32(), days, np.isnat, np.int32)
    if types <= _MOMENTS:
        return _fixed(pa.timestamp("us"), np.array(values, dtype="datetime64[us]"), np.isnat)
    if types == {dt.timedelta}:
        return _fixed(pa.duration("us"), np.array(values, dtype="timedelta64[us]"), np.isnat)
    if types == {str}:
        return _texts(values)
    return _texts([value if value is None else _text(value) for value in values])


def _fixed(kind: Any, values: Any, is_missing: Any, dtype: Any = None) -> Any:
    """Return numbers as an Arrow array with nulls."""
    import pyarrow as pa

    missing = is_missing(values)
    if dtype is not None:
        values = values.astype(np.int64).astype(dtype)
    validity = mask(~missing).buffers()[1] if missing.any() else None
    data = pa.py_buffer(np.ascontiguousarray(values).tobytes())
    return pa.Array.from_buffers(kind, len(values), [validity, data])


def _texts(values: Sequence[Any]) -> Any:
    import pyarrow as pa
    from pyarrow import compute

    array = strings([value or "" for value in values])
    present = np.array([value is not None for value in values], dtype=bool)
    if present.all():
        return array
    return compute.if_else(mask(present), array, pa.nulls(1, pa.string())[0])


def _text(value: Any) -> str:
    """Return a cell as text: whole numbers without a fraction, dates in ISO format."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < _WHOLE:
        return str(int(value))
    if isinstance(value, dt.datetime):
        return value.isoformat(sep=" ")
    if isinstance(value, (dt.date, dt.time)):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.decode(errors="backslashreplace")
    return str(value)
