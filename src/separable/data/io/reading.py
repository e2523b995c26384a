"""`read` and `scan`: a source as one data set, or in chunks of bounded memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, get_args

from separable.data.dataset import Dataset, chosen_columns, split_target, target_array
from separable.data.io.csv.sniff import CsvOptions
from separable.data.io.encodings import checked_encoding
from separable.data.io.formats import check_choice, checked_format, formats_of
from separable.data.io.readers import Options
from separable.data.io.sources import inputs_of, is_file_source
from separable.data.reading_report import ProgressLine, ReadingReport
from separable.data.table import ColumnType, TableError, checked_markers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from separable.data.io.formats import Format
    from separable.data.io.readers import Files
    from separable.data.io.sources import Input
    from separable.data.reading_report import Progress


__all__ = ["Scan", "checked_options", "files_of", "read", "read_inputs", "scan"]

#: Approximate bytes of text per chunk.
CHUNK_BYTES = 1 << 23


def read(
    source: Any,
    target: Any = None,
    *,
    columns: Sequence[str | int] | None = None,
    table: str | None = None,
    query: str | None = None,
    format: str | None = None,  # noqa: A002 # the word users look for
    delimiter: str | None = None,
    quoting: bool | None = None,
    header: bool | None = None,
    encoding: str | None = None,
    decimal: Literal[".", ","] | None = None,
    missing: Sequence[str] | None = None,
    column_types: Mapping[str, ColumnType] | None = None,
    comment: str | None = None,
    skip_rows: int = 0,
    on_error: Literal["raise", "skip"] = "raise",
    index_base: Literal["auto", 0, 1] = "auto",
    n_features: int | None = None,
    labels: Literal["auto", "number", "text"] = "auto",
) -> Dataset:
    r"""Read a table from a file, a stream or memory.

    Parameters
    ----------
    source : path, glob, folder, "-", binary file, address, list of paths, or a table in memory
        CSV, JSON (lines or an array of objects), Parquet, workbooks, SQLite, DuckDB, svmlight or
        Vowpal Wabbit text, plain, in a zip archive, or compressed with gzip, bz2, xz or zstd; ``-``
        is standard input; ``postgresql://user@host/database`` is a server. In a folder, files with
        a known extension (.csv, .parquet, ...) are read in the order of their names; if there are
        none, all files. In memory: NumPy and SciPy arrays, data frames, pyarrow tables, anything
        with ``__arrow_c_stream__``, dicts of columns, lists of dicts.
    target : str, int or array, optional
        Column to predict, by name or by its 1-based number (-1 is the last); or one value per row.
        Rows of a file with a missing target are dropped and counted.
    columns : sequence of str or int, optional
        Columns to read, given in the same way.
    table : str, optional
        File of a zip archive (or a pattern for several), sheet of a workbook or table of a
        database. Needed if there are several.
    query : str, optional
        SELECT statement whose result is read from a database, instead of a table. It cannot write.
    format : "csv", "jsonl", "parquet", "svmlight", "vw", "excel", "sqlite" or "duckdb", optional
        By default detected from name and content.
    delimiter : str, optional
        Delimiter of a CSV file; detected by default.
    quoting : bool, optional
        Whether values may be quoted; False treats quotes as text. Detected by default.
    header : bool, optional
        Whether the first line has the column names; detected by default. Without a header the
        columns are named ``c1``, ``c2``, ...
    encoding : str, optional
        By default UTF-8, or according to the byte-order mark.
    decimal : "." or ",", optional
        Decimal separator; detected by default.
    missing : sequence of str, optional
        Markers of missing values in CSV and JSON, instead of the empty text, NA, N/A, NaN, null,
        None, ? and -.
    column_types : mapping, optional
        ``"number"``, ``"category"``, ``"boolean"`` or ``"date"`` by column name, instead of the
        inferred type. Names that the table does not have are ignored.
    comment : str, optional
        Prefix of lines to ignore.
    skip_rows : int, default 0
        Number of lines to skip at the start of a file.
    on_error : {"raise", "skip"}, default "raise"
        What to do with invalid lines. Skipped lines are counted in the report, which lists the
        first of them.
    index_base : {"auto", 0, 1}, default "auto"
        Number of the first column of an svmlight file; "auto": 0 if a column 0 occurs, else 1.
    n_features : int, optional
        Number of columns of an svmlight file, by default as many as occur. For Vowpal Wabbit text a
        power of 2: columns are then hashes instead of names.
    labels : {"auto", "number", "text"}, default "auto"
        Type of the labels of an svmlight file; "auto": numbers, unless one is not a number. Text
        labels are kept as written, and a line without a label has the empty text.

    Returns
    -------
    Dataset
        ``X, y = read(...)`` unpacks features and target; ``report`` describes what was read.

    Raises
    ------
    TableError
        With location, problem and remedy.

    Examples
    --------
    >>> import io
    >>> from separable.data import read
    >>> text = b"age;city;member\n31;Rome;yes\n1,5;?;no\n"
    >>> data = read(io.BytesIO(text), target="member")
    >>> data.table.to_pydict()
    {'age': [31.0, 1.5], 'city': ['Rome', None]}
    >>> data.y
    array(['yes', 'no'], dtype='<U3')
    >>> print(data.report)
    the file: csv, 2 rows, 3 columns
      ';' between values, a header line, decimal comma
      column types from the whole file
      age     number    every value is a number
      city    category  text; 1 missing (1 '?')
      member  category  text
    """
    options = checked_options(
        target=target,
        columns=columns,
        delimiter=delimiter,
        quoting=quoting,
        header=header,
        encoding=encoding,
        decimal=decimal,
        missing=missing,
        column_types=column_types,
        comment=comment,
        skip_rows=skip_rows,
        on_error=on_error,
        index_base=index_base,
        n_features=n_features,
        labels=labels,
    )
    if not is_file_source(source):
        _refuse_selection(table, query)
        return _read_memory(source, target, options)
    return files_of(inputs_of(source, table, query), target, format, options).dataset()


def _refuse_selection(table: str | None, query: str | None) -> None:
    if table is not None or query is not None:
        raise ValueError("table and query are for files and databases, not for data in memory.")


def read_inputs(inputs: list[Input], kind: Format, **options: Any) -> Dataset:
    """Read files of a known format, with the other arguments of `read`."""
    return files_of(inputs, None, kind, checked_options(**options)).dataset()


def files_of(
    inputs: list[Input],
    target: Any,
    format: str | None,  # noqa: A002
    options: Options,
    progress: Callable[[Progress], None] | None = None,
) -> Files:
    """Return the reader of the files."""
    requested = checked_format(format)
    reader = _files_class(requested or formats_of(inputs))
    if not reader.selects:
        for one in inputs:
            if one.table is not None or one.query is not None:
                what = "table" if one.table is not None else "query"
                raise TableError(
                    f"{one.name}: has one table, and takes no {what}. Leave it out; zip archives, "
                    "workbooks and databases have several tables."
                )
    return reader(inputs, target, options, progress)


def _files_class(kind: Format) -> type[Files]:
    if kind == "csv":
        from separable.data.io.csv.csv_files import CsvFiles

        return CsvFiles
    if kind == "jsonl":
        from separable.data.io.jsonl import JsonlFiles

        return JsonlFiles
    if kind == "parquet":
        from separable.data.io.parquet import ParquetFiles

        return ParquetFiles
    if kind == "excel":
        from separable.data.io.excel import ExcelFiles

        return ExcelFiles
    if kind == "sqlite":
        from separable.data.io.sqlite import SqliteFiles

        return SqliteFiles
    if kind in ("duckdb", "postgres"):
        from separable.data.io.databases import DuckdbFiles, PostgresFiles

        return DuckdbFiles if kind == "duckdb" else PostgresFiles
    from separable.data.io.svmlight import SvmlightFiles
    from separable.data.io.vw import VwFiles

    return SvmlightFiles if kind == "svmlight" else VwFiles


def _read_memory(source: Any, target: Any, options: Options) -> Dataset:
    from separable.data.ingest.column_types import column_type, count_nulls, with_given_types
    from separable.data.ingest.in_memory import table_or_rows
    from separable.data.rows import Rows

    content = table_or_rows(source)
    report = ReadingReport(sources=[type(source).__name__], format="memory")
    if isinstance(content, Rows):
        if isinstance(target, (str, int)):
            raise TableError("A sparse matrix has no named columns: pass the target as an array.")
        report.rows, report.n_features = content.shape
        y = None if target is None else target_array(target, content.n_rows)
        return Dataset(None, content, y, report)
    columns, label = chosen_columns(content.column_names, options.columns, target, "The table")
    table = with_given_types(content.select(columns), "The table", options)
    report.columns = [column_type(field, "The table", options) for field in table.schema]
    count_nulls(table, report)
    dataset = split_target(table, target, label, report)
    report.rows = len(dataset)
    return dataset


def checked_options(
    *,
    target: Any = None,
    columns: Any = None,
    delimiter: Any = None,
    quoting: Any = None,
    header: Any = None,
    encoding: Any = None,
    decimal: Any = None,
    missing: Any = None,
    column_types: Any = None,
    comment: Any = None,
    skip_rows: Any = 0,
    on_error: Any = "raise",
    index_base: Any = "auto",
    n_features: Any = None,
    labels: Any = "auto",
) -> Options:
    """Validate the reading options."""
    check_choice("on_error", on_error, ("raise", "skip"))
    check_choice("decimal", decimal, (".", ",", None))
    check_choice("labels", labels, ("auto", "number", "text"))
    check_choice("quoting", quoting, (True, False, None))
    check_choice("header", header, (True, False, None))
    if delimiter is not None and (not isinstance(delimiter, str) or len(delimiter.encode()) != 1):
        raise ValueError(
            f"The 'delimiter' parameter must be one ASCII character. Got {delimiter!r} instead."
        )
    types = dict(column_types or {})
    for name, kind in types.items():
        check_choice(f"column_types[{name!r}]", kind, get_args(ColumnType))
    if not isinstance(skip_rows, int) or skip_rows < 0:
        raise ValueError(
            f"The 'skip_rows' parameter must be an int >= 0. Got {skip_rows!r} instead."
        )
    skip = on_error == "skip"
    named = (target, *types, *(columns or ()))
    csv = CsvOptions(
        delimiter=delimiter,
        quoting=quoting,
        header=header,
        decimal=decimal,
        missing=checked_markers(missing),
        comment=comment or None,
        skip_rows=skip_rows,
        column_types=types,
        names=frozenset(name for name in named if isinstance(name, str)),
        skip=skip,
    )
    sparse = (index_base, n_features, labels)
    return Options(csv, columns, checked_encoding(encoding), skip, *sparse)


class Scan:
    """Chunks of a source, each a `Dataset`. Created by `scan`.

    Iterating again reads the source again if possible; standard input is read once.

    Attributes
    ----------
    report : ReadingReport
        Report of the current or the last pass.
    """

    def __init__(self, make: Callable[[], Iterator[tuple[Dataset, ReadingReport]]]) -> None:
        self._make = make
        self.report = ReadingReport()

    def __iter__(self) -> Iterator[Dataset]:
        for dataset, report in self._make():
            self.report = report
            yield dataset


def scan(
    source: Any,
    target: Any = None,
    *,
    columns: Sequence[str | int] | None = None,
    table: str | None = None,
    query: str | None = None,
    format: str | None = None,  # noqa: A002 # the word users look for
    delimiter: str | None = None,
    quoting: bool | None = None,
    header: bool | None = None,
    encoding: str | None = None,
    decimal: Literal[".", ","] | None = None,
    missing: Sequence[str] | None = None,
    column_types: Mapping[str, ColumnType] | None = None,
    comment: str | None = None,
    skip_rows: int = 0,
    on_error: Literal["raise", "skip"] = "raise",
    index_base: Literal["auto", 0, 1] = "auto",
    n_features: int | None = None,
    labels: Literal["auto", "number", "text"] = "auto",
    chunk_bytes: int = CHUNK_BYTES,
    chunk_rows: int | None = None,
    progress: Callable[[Progress], None] | bool | None = None,
) -> Scan:
    r"""Read a source in chunks, holding only a few in memory.

    Parameters are those of `read`, and:

    Parameters
    ----------
    chunk_bytes : int, default 8 MiB
        Approximate bytes of text, or of uncompressed Parquet data, per chunk.
    chunk_rows : int, optional
        Rows per chunk instead; the last chunk may have fewer.
    progress : callable or bool, optional
        Called with a `Progress` for each chunk of a file; True shows one line on standard error.

    Returns
    -------
    Scan
        An iterable of `Dataset`. Column types are fixed before the first chunk, from a sample: the
        first MiB and, in an uncompressed file, 256 KiB each from the middle and the end. A later
        value of another type is an error that names its location.

    Examples
    --------
    >>> import io
    >>> from separable.data import scan
    >>> text = b"x,y\n" + b"".join(b"%d,a\n" % i for i in range(5))
    >>> chunks = scan(io.BytesIO(text), target="y", chunk_rows=2)
    >>> [chunk.table["x"].to_pylist() for chunk in chunks]
    [[0.0, 1.0], [2.0, 3.0], [4.0]]
    >>> chunks.report.rows
    5
    """
    for name, value in (("chunk_bytes", chunk_bytes), ("chunk_rows", chunk_rows)):
        if value is not None and (not isinstance(value, int) or value < 1):
            raise ValueError(f"The {name!r} parameter must be an int >= 1. Got {value!r} instead.")
    if not (target is None or isinstance(target, (str, int))) and is_file_source(source):
        raise TypeError("scan takes the target as the name or the number of a column.")
    reader_options = {
        "columns": columns,
        "delimiter": delimiter,
        "quoting": quoting,
        "header": header,
        "encoding": encoding,
        "decimal": decimal,
        "missing": missing,
        "column_types": column_types,
        "comment": comment,
        "skip_rows": skip_rows,
        "on_error": on_error,
        "index_base": index_base,
        "n_features": n_features,
        "labels": labels,
    }
    if not is_file_source(source):
        _refuse_selection(table, query)
        size = chunk_rows or max(1, chunk_bytes // 64)
        return Scan(lambda: _memory_chunks(source, target, size, reader_options))
    options = checked_options(target=target, **reader_options)
    inputs = inputs_of(source, table, query)
    shown = ProgressLine() if progress is True else progress or None

    def chunks() -> Iterator[tuple[Dataset, ReadingReport]]:
        files = files_of(inputs, target, format, options, shown)
        for dataset in files.datasets(chunk_bytes, chunk_rows):
            yield dataset, files.report

    return Scan(chunks)


def _memory_chunks(
    source: Any, target: Any, size: int, reader_options: dict[str, Any]
) -> Iterator[tuple[Dataset, ReadingReport]]:
    """Split a table in memory into chunks; a stream is read batch by batch."""
    import pyarrow as pa

    if isinstance(source, pa.RecordBatchReader):
        for batch in source:
            dataset = read(batch, target, **reader_options)
            yield dataset, dataset.report
        return
    whole = read(source, target, **reader_options)
    for start in range(0, len(whole), size):
        y = None if whole.y is None else whole.y[start : start + size]
        table = None if whole.table is None else whole.table.slice(start, size)
        stop = min(start + size, len(whole))
        rows = None if whole.rows is None else whole.rows.slice(start, stop)
        yield Dataset(table, rows, y, whole.report), whole.report
