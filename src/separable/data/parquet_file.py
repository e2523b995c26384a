"""Parquet files to Arrow tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from separable.data.dataset import chosen_columns
from separable.data.files import TableFiles
from separable.data.schema import column_type, count_nulls, with_given_types
from separable.data.sources import copied
from separable.data.table import TableError

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from separable.data.sources import Input

__all__ = ["ParquetFiles"]

#: Rows are read so many at a time, fewer where they are wide.
BATCH_ROWS = 1 << 16


class ParquetFiles(TableFiles):
    """Parquet files. See `Files`."""

    format = "parquet"

    def read(self) -> pa.Table:
        """Return all rows of all files."""
        import pyarrow as pa

        tables = []
        for source in self.inputs:
            file = self._open(source)
            tables.append(
                self._finished(
                    source, self._checked(source, lambda f=file: f.read(columns=self.columns))
                )
            )
        table = pa.concat_tables(tables)
        if not table.num_rows:
            raise TableError(f"{self.where}: no rows.")
        self.report.rows = table.num_rows
        return table

    def chunks(self, chunk_bytes: int) -> Iterator[pa.Table]:
        """Give the rows some at a time."""
        import pyarrow as pa

        for source in self.inputs:
            file = self._open(source)
            metadata = file.metadata
            size = sum(
                metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups)
            )
            rows = chunk_bytes * max(metadata.num_rows, 1) // max(size, 1)
            seen = 0
            batches = file.iter_batches(max(1, min(rows, BATCH_ROWS)), columns=self.columns)
            while True:
                batch = self._checked(source, lambda b=batches: next(b, None))
                if batch is None:
                    break
                table = self._finished(source, pa.Table.from_batches([batch]))
                self.report.rows += table.num_rows
                seen += table.num_rows
                self.tell_progress((source.size or 0) * seen // metadata.num_rows)
                yield table

    def _open(self, source: Input) -> Any:
        """Open a file and settle or compare its columns."""
        import pyarrow as pa
        from pyarrow import parquet

        with source.open() as opened:
            place: Any = source.path
            if opened.compression is not None or place is None:
                place = pa.PythonFile(self._checked(source, lambda: copied(opened)), "r")
            compression = opened.compression
        file = self._checked(source, lambda: parquet.ParquetFile(place))
        schema = file.schema_arrow
        if not self.report.sources:
            self.columns, self.label = chosen_columns(
                schema.names, self.options.columns, self.target, source.name
            )
            self.report.compression = compression
            self.schema = pa.schema([schema.field(name) for name in self.columns])
            self.report.columns = [
                column_type(field, source.name, self.options) for field in self.schema
            ]
        else:
            self._refuse_other_columns(schema, source.name)
        self.report.sources.append(source.name)
        return file

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
        table = with_given_types(table, source.name, self.options)
        count_nulls(table, self.report)
        return table

    def _checked(self, source: Input, step: Any) -> Any:
        """Do something that fails on a damaged file."""
        import pyarrow as pa

        try:
            return step()
        except (pa.ArrowException, OSError) as error:
            raise TableError(
                f"{source.name}: not readable as Parquet ({str(error).splitlines()[0]}). The file "
                "may be cut off: get or write it again."
            ) from None
