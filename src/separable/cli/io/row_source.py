"""Where the rows to be answered come from: files, or a pipe as it comes, in parts.

Every row is kept, with a target or without. `separable.cli.stream.stream_rows` is the other
reader in parts, of rows that are learned from.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from separable.cli.io.input_tables import in_options, skipped_text
from separable.cli.io.output import file_name
from separable.cli.render.messages import note

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pyarrow as pa

    from separable.cli.io.live_input import LiveInput
    from separable.cli.options.options import ReadingOptions
    from separable.data.dataset import Dataset
    from separable.data.io.formats import Format
    from separable.data.io.sources import Once
    from separable.data.progress import Progress
    from separable.data.reading_report import ReadingReport

__all__ = ["RowSource"]

#: About how much of a file is read at a time.
CHUNK_BYTES = 1 << 23


class RowSource:
    """Where rows come from; it can be asked for the names of its columns before it is read.

    Parameters
    ----------
    data : str
        As the user named it.
    reading : ReadingOptions

    Attributes
    ----------
    kind : {"csv", "jsonl", "parquet", "svmlight", "vw"}
    """

    def __init__(self, data: str, reading: ReadingOptions) -> None:
        from separable.data.io.formats import checked_format, formats_of
        from separable.data.io.sources import inputs_of

        self.data, self._reading, self._options = data, reading, reading.for_read()
        requested = checked_format(self._options.pop("format", None))
        self._live: LiveInput | None = None
        self._given = self._inputs = inputs_of(data)
        once = self._inputs[0].once
        if len(self._inputs) == 1 and once is not None:
            self.kind = self._of_stream(once, requested, reading)
        else:
            self.kind = requested or formats_of(self._inputs)

    def _of_stream(self, once: Once, requested: Format | None, reading: ReadingOptions) -> Format:
        """Read standard input or a pipe as it comes, where its format allows it."""
        from separable.cli.io.live_input import LiveInput
        from separable.data.io.compression import compression_of
        from separable.data.io.formats import format_of_text, formats_of

        live = LiveInput(once.take(), once.name, reading.skip_rows, reading.comment)
        packed = compression_of(live.head) is not None or reading.encoding is not None
        marked = live.head[:2] in (b"\xff\xfe", b"\xfe\xff")
        if not packed and not marked:
            kind = requested or format_of_text(live.name, live.head)
            listed = kind == "jsonl" and live.head.lstrip()[:1] == b"["
            if kind in ("csv", "jsonl") and not listed:
                self._live = live
                live.wait_for_rows(2 if kind == "csv" and reading.header is not False else 1)
                return kind
        self._inputs = [live.as_input()]
        self._inputs[0].keep()  # the names of its columns are looked at before it is read
        return requested or formats_of(self._inputs)

    @property
    def is_table(self) -> bool:
        """Whether it has named columns."""
        return self.kind not in ("svmlight", "vw")

    @property
    def again(self) -> bool:
        """Whether it can be looked at again."""
        return self._live is not None or all(one.again for one in self._inputs)

    def names(self) -> list[str]:
        """Return the names of the columns; what is looked at for that is still to be read."""
        from separable.data.table import TableError

        try:
            first = self._first()
        except TableError as error:
            raise TableError(in_options(str(error))) from None
        assert first.table is not None
        return list(first.table.column_names)

    def _first(self) -> Dataset:
        """Return some rows."""
        if self._live is not None:
            return self._live.peeked(self.kind, self._options)
        first: Dataset = next(self._files({}).datasets(CHUNK_BYTES, 1))
        return first

    def datasets(
        self,
        n_rows: int,
        options: dict[str, Any],
        progress: Callable[[Progress], None] | None = None,
    ) -> Iterator[Dataset]:
        """Yield the rows in chunks of at most n_rows.

        Parameters
        ----------
        n_rows : int
        options : dict
            As those of `separable.data.read`, besides what the user said.
        progress : callable, optional
        """
        from separable.cli.io.row_lines import remember_lines
        from separable.data.table import NotANumberError, TableError

        reports: list[ReadingReport] = []
        try:
            for dataset in self._datasets(n_rows, options, progress):
                if not reports or reports[-1] is not dataset.report:
                    reports.append(dataset.report)
                    if self._live is None:
                        remember_lines(self.data, self._inputs, dataset.report, self._reading)
                yield dataset
        except NotANumberError:
            raise
        except TableError as error:
            raise TableError(in_options(str(error))) from None
        self._tell(reports)

    def _datasets(self, n_rows: int, options: dict[str, Any], progress: Any) -> Iterator[Dataset]:
        if self._live is None:
            yield from self._files(options, progress).datasets(CHUNK_BYTES, n_rows)
            return
        from separable.data.dataset import Dataset
        from separable.data.table import require_columns

        given = {**self._options, **options}
        wanted = given.pop("columns", None) if self.kind == "jsonl" else None
        if wanted is not None and not {*self.names()} & {*wanted}:
            require_columns(wanted, self.names(), file_name(self.data))
        for whole in self._live.datasets(self.kind, given):
            assert whole.table is not None
            table = whole.table if wanted is None else _with_columns(whole.table, wanted)
            for start in range(0, table.num_rows, n_rows):
                yield Dataset(table.slice(start, n_rows), None, None, whole.report)

    def _files(self, options: dict[str, Any], progress: Any = None) -> Any:
        from separable.data.io.reading import checked_options, files_of

        given = checked_options(**{**self._options, **options})
        files: Any = files_of(self._inputs, None, self.kind, given, progress)
        files.keep_unlabelled = True  # each line is answered
        return files

    def _tell(self, reports: list[ReadingReport]) -> None:
        for message in dict.fromkeys(message for report in reports for message in report.notes):
            note(in_options(message))
        skipped = sum(report.skipped for report in reports)
        if skipped:
            first = next(report.examples[0] for report in reports if report.examples)
            note(skipped_text(self.data, skipped, first))


def _with_columns(table: pa.Table, wanted: list[str]) -> pa.Table:
    """Return the columns that are wanted; one that no object of a block has is missing there."""
    import pyarrow as pa

    absent = pa.nulls(table.num_rows)
    has = set(table.column_names)
    return pa.Table.from_arrays(
        [table[name] if name in has else absent for name in wanted], list(wanted)
    )
