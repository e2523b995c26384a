"""Workbooks of Excel and OpenDocument to Arrow tables, by python-calamine."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

from separable.data.io.archives import choice_error
from separable.data.io.cells import BATCH_ROWS, CellFiles, CellTable
from separable.data.io.csv.sniff import column_names
from separable.data.table import TableError, did_you_mean, is_number, list_names
from separable.errors import require_packages

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa

    from separable.data.io.sources import Input

__all__ = ["ExcelFiles"]

#: Rows among which the header is looked for, and the fraction of the columns that it fills.
HEADER_ROWS, FILLED = 50, 0.6

#: Approximate bytes of a cell in a chunk.
_CELL_BYTES = 16


class ExcelFiles(CellFiles):
    """Workbooks. See `Files`. A sheet has at most 1 048 576 rows, and is read whole."""

    format = "excel"

    def chunks(self, chunk_bytes: int) -> Iterator[pa.Table]:
        """Yield the rows in chunks."""
        table = self.read()
        rows = max(1, min(BATCH_ROWS, chunk_bytes // (_CELL_BYTES * max(1, table.num_columns))))
        for start in range(0, table.num_rows, rows):
            part = table.slice(start, rows)
            self.report.rows = start + part.num_rows
            self.report_progress(sum(each.size or 0 for each in self.inputs))
            yield part

    def _open(self, source: Input) -> CellTable:
        require_packages("A workbook", python_calamine="python-calamine")
        if source.query is not None:
            raise TableError(f"{source.name}: a workbook takes no query. Name a sheet of it.")
        workbook = _workbook(source)
        sheet, rows = _sheet(source, workbook)
        return self._table(f"{source.name}, sheet {sheet!r}", rows)

    def _table(self, where: str, rows: list[list[Any]]) -> CellTable:
        """Return the table in a sheet."""
        options = self.options.csv
        filled = [len(row) - row.count("") for row in rows]
        first = _first_row(filled, options.skip_rows)
        if first is None:
            raise TableError(f"{where}: the sheet is empty. It needs a header and rows.")
        above = sum(count > 0 for count in filled[options.skip_rows : first])
        if above:
            self.report.notes.append(f"{where}: {above} row(s) above the table were ignored")
        header = options.header
        if header is None:
            header = _is_header(rows[first], rows[first + 1 : first + 1 + HEADER_ROWS], options)
        numbers = [n for n in range(first + header, len(rows)) if filled[n]]
        columns = list(zip(*(rows[n] for n in numbers), strict=True)) if numbers else []
        width = len(rows[first])
        columns = columns or [()] * width
        used = [
            k
            for k in range(width)
            if (header and rows[first][k] != "") or any(map(_is_filled, columns[k]))
        ]
        cells = [str(_plain(rows[first][k])) for k in used]
        names = column_names(where, cells, options) if header else _numbered(len(used))
        values = {
            name: [None if cell == "" else cell for cell in columns[k]]
            for name, k in zip(names, used, strict=True)
        }
        types = {name: {*map(type, cells)} - {type(None)} for name, cells in values.items()}

        def batches(chosen: Sequence[str], size: int) -> Iterator[list[Sequence[Any]]]:
            for start in range(0, len(numbers), size):
                yield [values[name][start : start + size] for name in chosen]

        size = _CELL_BYTES * len(names)
        return CellTable(
            where, names, types, len(numbers), size, batches, lambda index: numbers[index] + 1
        )


def _is_filled(cell: Any) -> bool:
    return bool(cell != "")


def _plain(cell: Any) -> Any:
    """Return a whole number without its fraction: a year as a name."""
    return int(cell) if isinstance(cell, float) and cell.is_integer() else cell


def _numbered(width: int) -> tuple[str, ...]:
    return tuple(f"c{index}" for index in range(1, width + 1))


def _first_row(filled: list[int], skip: int) -> int | None:
    """Return the first row that fills most of the columns: titles above a table do not."""
    widest = max(filled[skip : skip + HEADER_ROWS], default=0)
    rows = range(skip, len(filled))
    return next((n for n in rows if filled[n] and filled[n] >= FILLED * widest), None)


def _is_header(cells: list[Any], below: list[list[Any]], options: Any) -> bool:
    """Return whether a row has the names of the columns."""
    texts = [cell for cell in cells if cell != ""]
    if options.names & {*map(str, texts)}:
        return True
    if not all(isinstance(cell, str) and not is_number(cell) for cell in texts):
        return False
    columns = list(zip(*below, strict=True))
    if any(cell != "" and not isinstance(cell, str) for column in columns for cell in column):
        return True  # a word above numbers or dates
    return len({*texts}) == len(texts) and not any(
        cell != "" and cell in column for cell, column in zip(cells, columns, strict=False)
    )


def _workbook(source: Input) -> Any:
    """Open a workbook."""
    import python_calamine as calamine

    place = source.seekable()
    try:
        return calamine.load_workbook(
            place if isinstance(place, Path) else io.BytesIO(place.read())
        )
    except calamine.PasswordError:
        raise TableError(
            f"{source.name}: protected by a password. Save a copy without one, or as CSV."
        ) from None
    except (calamine.CalamineError, OSError, ValueError) as error:
        raise _damaged(source, error) from None


def _damaged(source: Input, error: Exception) -> TableError:
    reason = (str(error).splitlines() or [type(error).__name__])[0]
    return TableError(
        f"{source.name}: not readable as a workbook ({reason}). It may be truncated or damaged: "
        "get it again, or save it as CSV."
    )


def _sheet(source: Input, workbook: Any) -> tuple[str, list[list[Any]]]:
    """Return the sheet to read: the requested one, or the only one with a table."""
    import python_calamine as calamine

    names = list(workbook.sheet_names)
    if source.table is not None:
        if source.table not in names:
            raise TableError(
                f"{source.name}: has no sheet {source.table!r}{did_you_mean(source.table, names)}. "
                f"It has {list_names(names, 10)}."
            )
        return source.table, _rows(source, workbook, source.table)
    shown = calamine.SheetVisibleEnum.Visible
    visible = [each.name for each in workbook.sheets_metadata if each.visible == shown] or names
    sheets = {name: _rows(source, workbook, name) for name in visible}
    tables = [name for name, rows in sheets.items() if len(rows) > 1] or visible
    if len(tables) > 1:
        raise choice_error(source.name, "sheet", tables)
    return tables[0], sheets[tables[0]]


def _rows(source: Input, workbook: Any, name: str) -> list[list[Any]]:
    """Return the cells of a sheet by row; the empty text where there is none."""
    try:
        rows: list[list[Any]] = workbook.get_sheet_by_name(name).to_python(skip_empty_area=False)
    except Exception as error:  # its errors have no common base class
        raise _damaged(source, error) from None
    return rows
