"""DuckDB files and Postgres servers to Arrow tables, through their own Arrow interfaces."""

from __future__ import annotations

from abc import abstractmethod
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from separable.data.io.archives import choice_error
from separable.data.io.parquet import BATCH_ROWS, ArrowFiles
from separable.data.table import TableError, did_you_mean, list_names
from separable.errors import require_packages

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from separable.data.io.sources import Input

__all__ = ["DuckdbFiles", "PostgresFiles"]

#: Metadata of the driver for a column of Postgres' type numeric, which arrives as text.
_NUMERIC = (b"ADBC:postgresql:typname", b"numeric")


class _DatabaseFiles(ArrowFiles):
    """Databases that return the result of a query as Arrow batches."""

    selects = True

    def read(self) -> pa.Table:
        """Return all rows of all databases."""
        import pyarrow as pa

        tables = list(self.chunks(0))
        if not tables:
            raise TableError(f"{self.where}: no rows.")
        return pa.concat_tables(tables)

    def chunks(self, chunk_bytes: int) -> Iterator[pa.Table]:
        """Yield the rows in chunks: as many rows as arrive together, cut to about this size."""
        import pyarrow as pa

        for source in self.inputs:
            with self._explained(source), self._reader(source) as reader:
                self._settle(source, pa.schema([_plain(field) for field in reader.schema]))
                for batch in reader:
                    table = pa.Table.from_batches([batch]).cast(
                        pa.schema([_plain(field) for field in reader.schema])
                    )
                    whole = self._finished(source, table)
                    for part in _parts(whole, chunk_bytes):
                        self.report.rows += part.num_rows
                        self.report_progress(source.size or 0)
                        yield part

    @abstractmethod
    def _reader(self, source: Input) -> Any:
        """Return a context manager for a reader of Arrow batches."""

    @contextmanager
    def _explained(self, source: Input) -> Iterator[None]:
        """Raise errors of a database as errors about the source or its query."""
        import pyarrow as pa

        try:
            yield
        except (TableError, ImportError, GeneratorExit):
            raise
        except Exception as error:
            if isinstance(error, (MemoryError, AssertionError)):
                raise
            reason = (str(error).splitlines() or [type(error).__name__])[0]
            what = "the query failed" if source.query is not None else "the database failed"
            if isinstance(error, pa.ArrowException):
                what = "its columns cannot be read"
            raise TableError(f"{source.name}: {what} ({reason}).") from None


class DuckdbFiles(_DatabaseFiles):
    """DuckDB files. See `Files`."""

    format = "duckdb"

    @contextmanager
    def _reader(self, source: Input) -> Iterator[Any]:
        require_packages("A DuckDB file", duckdb="duckdb")
        import duckdb

        place = source.seekable()
        if hasattr(place, "read"):
            raise TableError(
                f"{source.name}: a DuckDB file is read from a file of its own, not from an "
                "archive or a stream. Unpack or save it first."
            )
        with duckdb.connect(str(place), read_only=True) as connection:
            connection.execute("SET enable_external_access = false")
            query = source.query
            if query is None:
                query = f"SELECT * FROM {self._table(source, connection)}"
            elif [str(each.type) for each in connection.extract_statements(query)] != [
                "StatementType.SELECT"
            ]:
                raise TableError(f"{source.name}: a query may only read: use a single SELECT.")
            relation: Any = connection.sql(query)
            read = getattr(relation, "to_arrow_reader", None) or relation.fetch_arrow_reader
            yield read(BATCH_ROWS)

    def _table(self, source: Input, connection: Any) -> str:
        """Return the table to read, as SQL."""
        listed = connection.execute(
            "SELECT schema_name, table_name, true FROM duckdb_tables() WHERE NOT internal UNION "
            "ALL SELECT schema_name, view_name, false FROM duckdb_views() WHERE NOT internal"
        ).fetchall()
        sql = {_name(schema, name): _quoted(schema, name) for schema, name, _ in listed}
        names = [_name(schema, name) for schema, name, stored in listed if stored] or list(sql)
        if source.table is not None:
            if source.table not in sql:
                raise TableError(
                    f"{source.name}: has no table {source.table!r}"
                    f"{did_you_mean(source.table, sql)}. It has {list_names(sql, 10)}."
                )
            return sql[source.table]
        if not names:
            raise TableError(f"{source.name}: the database has no tables.")
        if len(names) > 1:
            raise choice_error(source.name, "table", sorted(names))
        return sql[names[0]]


class PostgresFiles(_DatabaseFiles):
    """Tables and queries of Postgres servers. See `Files`."""

    format = "postgres"

    @contextmanager
    def _reader(self, source: Input) -> Iterator[Any]:
        require_packages("Reading from Postgres", adbc_driver_postgresql="adbc-driver-postgresql")
        from adbc_driver_postgresql import dbapi

        if source.table is None and source.query is None:
            raise TableError(f"{source.name}: name a table of it, or give a query.")
        query = source.query
        if source.table is not None:
            query = f"SELECT * FROM {_quoted(*source.table.split('.', 1))}"
        with dbapi.connect(source.address) as connection, connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION READ ONLY")
            cursor.execute(query)
            yield cursor.fetch_record_batch()


def _plain(field: Any) -> Any:
    """Return a field without extension types; numeric of Postgres as a number."""
    import pyarrow as pa

    kind = getattr(field.type, "storage_type", field.type)
    key, value = _NUMERIC
    if (field.metadata or {}).get(key) == value:
        kind = pa.float64()
    return pa.field(field.name, kind)


def _parts(table: pa.Table, chunk_bytes: int) -> Iterator[pa.Table]:
    """Yield a table in parts of about this size; whole for 0."""
    rows = table.num_rows
    if chunk_bytes and table.nbytes > chunk_bytes:
        rows = max(1, chunk_bytes * rows // table.nbytes)
    for start in range(0, table.num_rows, max(rows, 1)):
        yield table.slice(start, rows)


def _name(schema: str, name: str) -> str:
    return name if schema == "main" else f"{schema}.{name}"


def _quoted(*names: str) -> str:
    return ".".join('"' + name.replace('"', '""') + '"' for name in names)
