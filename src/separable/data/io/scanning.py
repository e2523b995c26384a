"""`scan`: a source of any size in chunks of bounded memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from separable.data.dataset import Dataset
from separable.data.io.reading import checked_options, files_of, read
from separable.data.io.sources import inputs_of, is_file_source
from separable.data.progress import ProgressLine
from separable.data.reading_report import ReadingReport

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from separable.data.progress import Progress
    from separable.data.table import ColumnType

__all__ = ["Scan", "scan"]

#: Approximate bytes of text per chunk.
CHUNK_BYTES = 1 << 23


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
        size = chunk_rows or max(1, chunk_bytes // 64)
        return Scan(lambda: _memory_chunks(source, target, size, reader_options))
    options = checked_options(target=target, **reader_options)
    inputs = inputs_of(source)
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
