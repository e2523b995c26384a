"""Parquet files to Arrow tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from separable.data.columns import pandas_index_columns
from separable.data.dataset import chosen_columns
from separable.data.ingest.column_types import column_type, count_nulls, with_given_types
from separable.data.io.compression import BrokenStreamError
from separable.data.io.readers import TableFiles
from separable.data.io.sources import copied
from separable.data.table import TableError, list_names

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from separable.data.io.sources import Input

__all__ = ["ParquetFiles"]

#: Exceptions of pyarrow, besides its own, for damaged files.
_DAMAGE = (
    BrokenStreamError,
    OSError,
    ValueError,
    KeyError,
    IndexError,
    TypeError,
    OverflowError,
    MemoryError,
)

#: Rows read at a time, fewer if they are wide.
BATCH_ROWS = 1 << 16


class ArrowFiles(TableFiles):
    """Sources that have an Arrow schema: Parquet files and databases. See `Files`."""

    def _settle(self, source: Input, schema: pa.Schema, compression: Any = None) -> None:
        """Record the columns of the first source, or compare others with them."""
        import pyarrow as pa

        if not self.report.sources:
            index = set() if self.options.columns else pandas_index_columns(schema.metadata or {})
            names = [name for name in schema.names if name not in index or name == self.target]
            self.columns, self.label = chosen_columns(
                names, self.options.columns, self.target, source.name
            )
            if len(names) < len(schema.names):
                self.report.notes.append(f"not read: the pandas index {list_names(index, 5)}")
            self.report.compression = compression
            self.schema = pa.schema([schema.field(name) for name in self.columns])
            self.report.columns = [
                column_type(field, source.name, self.options) for field in self.schema
            ]
        else:
            self._refuse_other_columns(schema, source.name)
        self.report.sources.append(source.name)

    def _refuse_other_columns(self, schema: pa.Schema, name: str) -> None:
        first = self.report.sources[0]
        for field in self.schema:
            if field.name not in schema.names:
                raise TableError(f"{name} has no column {field.name!r}, which {first} has.")
            other = schema.field(field.name).type
            if other != field.type:
                raise TableError(
                    f"{name}: column {field.name!r} is {other}, but {field.type} in {first}."
                )

    def _finished(self, source: Input, table: pa.Table) -> pa.Table:
        table = table.select(self.columns).replace_schema_metadata()
        table.validate(full=True)  # text that is not UTF-8, codes outside a dictionary
        table = with_given_types(table, source.name, self.options)
        count_nulls(table, self.report)
        return table


class ParquetFiles(ArrowFiles):
    """Parquet files. See `Files`."""

    format = "parquet"

    def read(self) -> pa.Table:
        """Return all rows of all files."""
        import pyarrow as pa

        tables = []
        for source in self.inputs:
            file = self._open(source)
            tables.append(
                self._checked(
                    source,
                    lambda f=file, s=source: self._finished(s, f.read(columns=self.columns)),
                )
            )
        table = pa.concat_tables(tables)
        if not table.num_rows:
            raise TableError(f"{self.where}: no rows.")
        self.report.rows = table.num_rows
        return table

    def chunks(self, chunk_bytes: int) -> Iterator[pa.Table]:
        """Yield the rows in chunks."""
        import pyarrow as pa

        for source in self.inputs:
            file = self._open(source)
            n_rows, size = self._checked(source, lambda f=file: _extent(f.metadata))
            rows = max(1, min(chunk_bytes * max(n_rows, 1) // max(size, 1), BATCH_ROWS))
            seen = 0
            batches = self._checked(
                source, lambda f=file, n=rows: f.iter_batches(n, columns=self.columns)
            )
            while True:
                batch = self._checked(source, lambda b=batches: next(b, None))
                if batch is None:
                    break
                table = self._checked(
                    source,
                    lambda b=batch, s=source: self._finished(s, pa.Table.from_batches([b])),
                )
                self.report.rows += table.num_rows
                seen += table.num_rows
                self.report_progress((source.size or 0) * seen // max(n_rows, 1))
                yield table

    def _open(self, source: Input) -> Any:
        """Open a file; record its columns, or compare them with the first file's."""
        import pyarrow as pa
        from pyarrow import parquet

        with source.open() as opened:
            location: Any = source.path
            if opened.compression is not None or location is None:
                location = pa.PythonFile(self._checked(source, lambda: copied(opened)), "r")
            compression = opened.compression
        file = self._checked(source, lambda: parquet.ParquetFile(location))
        schema = self._checked(source, lambda: _readable_schema(file))
        self._settle(source, schema, compression)
        return file

    def _checked(self, source: Input, step: Any) -> Any:
        """Run a step that fails on a damaged file."""
        import pyarrow as pa

        try:
            return step()
        except TableError:
            raise
        except (*_DAMAGE, pa.ArrowException) as error:
            reason = (str(error).splitlines() or [type(error).__name__])[0]
            raise TableError(
                f"{source.name}: not readable as Parquet ({reason}). The file may be truncated or "
                "damaged: get or write it again."
            ) from None


def _extent(metadata: Any) -> tuple[int, int]:
    """Return the number of rows of a file, and its uncompressed size."""
    groups = range(metadata.num_row_groups)
    return metadata.num_rows, sum(metadata.row_group(i).total_byte_size for i in groups)


def _readable_schema(file: Any) -> pa.Schema:
    """Return the schema of a file; raise if a name is not valid text."""
    schema: pa.Schema = file.schema_arrow
    list(schema.names)
    return schema
