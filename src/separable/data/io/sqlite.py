"""SQLite databases to Arrow tables.

SQLite stores a type with each value, not with each column. Queries list the types of all values of
a column before rows are read, so a chunk has the same types as the whole table.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from separable.data.io.archives import choice_error
from separable.data.io.cells import CellFiles, CellTable
from separable.data.io.csv.sniff import column_names
from separable.data.table import TableError, did_you_mean, list_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from separable.data.io.sources import Input

__all__ = ["SqliteFiles"]

#: Columns whose types are listed in one query: more have too many combinations with nulls.
_COLUMNS = 8

#: float64 represents all integers up to this one.
_EXACT = 2**53

#: Bytes of the header of a database.
_HEAD_BYTES = 100

#: Actions of a query that only reads.
_READS = {
    sqlite3.SQLITE_SELECT,
    sqlite3.SQLITE_READ,
    sqlite3.SQLITE_FUNCTION,
    sqlite3.SQLITE_RECURSIVE,
}


class SqliteFiles(CellFiles):
    """SQLite databases. See `Files`."""

    format = "sqlite"

    def _open(self, source: Input) -> CellTable:
        with _explained(source):
            connection = _connected(source)
            table = None if source.query is not None else _table(source, connection)
            declared = _declared(connection, table)
            _allow_reading_only(connection)
            what = "the query" if table is None else f"table {table!r}"
            query = (source.query or "").strip().rstrip(";")
            selection = f"({query}\n)" if table is None else _quoted(table)
            cursor = connection.execute(f"SELECT * FROM {selection} LIMIT 0")
            given = [str(column[0]) for column in cursor.description]
            where = f"{source.name}, {what}"
            names = column_names(where, given, self.options.csv)
            n_rows, types = _types(connection, selection, names, given, declared)
        row_bytes = max(1.0, (source.size or 0) / max(n_rows, 1))

        def batches(chosen: Sequence[str], size: int) -> Iterator[list[Sequence[Any]]]:
            columns = [given[names.index(name)] for name in chosen]
            with _explained(source), closing(connection):
                rows = connection.execute(
                    f"SELECT {', '.join(map(_quoted, columns))} FROM {selection}"
                )
                while batch := rows.fetchmany(size):
                    values = [list(column) for column in zip(*batch, strict=True)]
                    yield [
                        [value if value is None else bool(value) for value in column]
                        if types[name] == {bool}
                        else column
                        for name, column in zip(chosen, values, strict=True)
                    ]

        return CellTable(where, names, types, n_rows, row_bytes, batches)


def _connected(source: Input) -> sqlite3.Connection:
    """Open a database for reading; one that is not a file is copied to memory."""
    place = source.seekable()
    if hasattr(place, "read"):
        data = place.read()
        _refuse_truncated(source, data[:_HEAD_BYTES], len(data))
        connection = sqlite3.connect(":memory:")
        connection.deserialize(data)
        return connection
    with place.open("rb") as file:
        _refuse_truncated(source, file.read(_HEAD_BYTES), place.stat().st_size)
    return sqlite3.connect(f"file:{quote(str(place.resolve()))}?mode=ro", uri=True)


def _refuse_truncated(source: Input, head: bytes, size: int) -> None:
    """Raise if a file is shorter than its header says; SQLite would read the rest as nulls."""
    page = int.from_bytes(head[16:18]) if head[16:18] != b"\0\1" else 1 << 16
    is_valid = head[24:28] == head[92:96]  # the count of pages is up to date
    expected = page * int.from_bytes(head[28:32])
    if len(head) < _HEAD_BYTES or (is_valid and size < expected):
        raise TableError(
            f"{source.name}: the database is truncated: it has {size} of {expected} bytes. Get the "
            "file again."
        )


@contextmanager
def _explained(source: Input) -> Iterator[None]:
    """Raise errors of SQLite as errors about the file or the query."""
    try:
        yield
    except (sqlite3.Error, sqlite3.Warning, OverflowError, UnicodeDecodeError) as error:
        if "not authorized" in str(error) or "prohibited" in str(error):
            problem = "a query may only read: use a single SELECT"
        elif source.query is not None and "malformed" not in str(error):
            problem = f"the query failed ({error}). Correct it"
        else:
            problem = f"not readable as an SQLite database ({error}). Get the file again"
        raise TableError(f"{source.name}: {problem}.") from None


def _table(source: Input, connection: sqlite3.Connection) -> str:
    """Return the requested table, or the only one; views count if there is no table."""
    listed = connection.execute(
        "SELECT name, type FROM sqlite_master WHERE type IN ('table', 'view') "
        "AND name NOT LIKE 'sqlite~_%' ESCAPE '~' ORDER BY name"
    ).fetchall()
    tables = [name for name, kind in listed if kind == "table"]
    names = tables or [name for name, _ in listed]
    if source.table is not None:
        every = [name for name, _ in listed]
        if source.table not in every:
            raise TableError(
                f"{source.name}: has no table {source.table!r}{did_you_mean(source.table, every)}. "
                f"It has {list_names(every, 10)}."
            )
        names = [source.table]
    if not names:
        raise TableError(f"{source.name}: the database has no tables.")
    if len(names) > 1:
        raise choice_error(source.name, "table", names)
    return str(names[0])


def _allow_reading_only(connection: sqlite3.Connection) -> None:
    """Refuse everything but reading: a query may come from anywhere."""
    connection.execute("PRAGMA query_only = ON")

    def decide(action: int, first: str | None, second: str | None, *_: Any) -> int:
        loads = action == sqlite3.SQLITE_FUNCTION and "load_extension" in (first, second)
        return sqlite3.SQLITE_OK if action in _READS and not loads else sqlite3.SQLITE_DENY

    connection.set_authorizer(decide)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _declared(connection: sqlite3.Connection, table: str | None) -> dict[str, str]:
    """Return the declared types of the columns of a table."""
    if table is None:
        return {}
    rows = connection.execute("SELECT name, type FROM pragma_table_info(?)", (table,))
    return {column: str(kind).upper() for column, kind in rows}


def _types(
    connection: sqlite3.Connection,
    selection: str,
    names: Sequence[str],
    given: Sequence[str],
    declared: dict[str, str],
) -> tuple[int, dict[str, set[type]]]:
    """Return the number of rows, and the types of the values of each column."""
    (n_rows,) = connection.execute(f"SELECT count(*) FROM {selection}").fetchone()
    types: dict[str, set[type]] = {}
    for start in range(0, len(names), _COLUMNS):
        block = given[start : start + _COLUMNS]
        kinds = ", ".join(f"typeof({_quoted(column)})" for column in block)
        rows = connection.execute(f"SELECT DISTINCT {kinds} FROM {selection}").fetchall()
        columns = zip(*rows, strict=True) if rows else [()] * len(block)
        for name, here in zip(names[start : start + _COLUMNS], columns, strict=True):
            types[name] = {_STORED[kind] for kind in here if kind in _STORED}
    for name, column in zip(names, given, strict=True):
        if int in types[name]:
            low, high = connection.execute(
                f"SELECT {_RANGE.format(column=_quoted(column))} FROM {selection}"
            ).fetchone()
            is_boolean = declared.get(column, "").startswith("BOOL") and low >= 0 and high <= 1
            if max(high, -low) > _EXACT:
                types[name].add(str)  # digits that float64 would lose
            elif is_boolean and types[name] == {int}:
                types[name] = {bool}
    return n_rows, types


#: Python types of the storage classes; null is missing.
_STORED: dict[str, type] = {"integer": int, "real": float, "text": str, "blob": bytes}

#: The range of the integers of a column.
_RANGE = (
    "min(CASE typeof({column}) WHEN 'integer' THEN {column} END), "
    "max(CASE typeof({column}) WHEN 'integer' THEN {column} END)"
)
