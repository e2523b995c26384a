"""Sparse text files (svmlight, Vowpal Wabbit), parsed by the compiled core."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from separable.data.dataset import Dataset, target_array, whole_numbers
from separable.data.io.compression import BrokenStreamError
from separable.data.io.encodings import Utf8Text
from separable.data.io.tables import Files, cut_off
from separable.data.stacking import stack_rows
from separable.data.table import TableError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from separable.data.io.lines import SparseBatch
    from separable.data.io.sources import Input

__all__ = ["SvmlightFiles", "VwFiles"]

PIECE_BYTES = 1 << 22


class SparseFiles(Files):
    """Files of sparse rows. See `Files`; the label of each row is the target."""

    #: Whether unlabelled rows are kept, with the label NaN.
    keep_unlabelled = False

    def dataset(self) -> Dataset:
        """Return all rows of all files."""
        batches = list(self._batches(None))
        if not batches:
            raise TableError(f"{self.where}: no rows.")
        dataset = self._joined(batches)
        self.report.rows = len(dataset)
        return dataset

    def datasets(self, chunk_bytes: int, chunk_rows: int | None) -> Iterator[Dataset]:
        """Yield the rows in chunks; later chunks may have more columns."""
        for batch in self._batches(chunk_rows or 0, chunk_bytes):
            dataset = self._joined([batch])
            self.report.rows += len(dataset)
            yield dataset

    @abstractmethod
    def _reader(self, name: str) -> Any:
        """Return a reader for the next file."""

    def _batches(self, rows: int | None, piece: int = PIECE_BYTES) -> Iterator[SparseBatch]:
        """Yield batches: whole files for None, everything available for 0, else this many rows."""
        self._refuse_columns()
        for source in self.inputs:
            reader = self._reader(source.name)
            self.report.sources.append(source.name)
            for waiting in self._fed(source, reader, piece):
                if rows is None and waiting:
                    continue
                while True:
                    if rows and waiting and reader.n_waiting < rows:
                        break
                    batch = reader.take(rows or None)
                    if batch is None:
                        break
                    yield batch
            self.report.skip_all(reader.skipped)

    def _fed(self, source: Input, reader: Any, size: int) -> Iterator[bool]:
        """Feed a file to a reader; yield True after each piece and False at the end."""
        with source.open() as opened:
            text = Utf8Text(opened, self.options.encoding)
            self.report.compression = opened.compression
            try:
                while piece := text.read(size):
                    reader.feed(piece)
                    self.report_progress(opened.bytes_read)
                    yield True
            except BrokenStreamError as error:
                rows = self.report.rows + reader.n_waiting
                if not self.options.skip:
                    raise cut_off(source.name, error, rows) from None
                self.report.notes.append(f"{source.name}: {error}, after {rows} rows")
        reader.finish()
        yield False

    def _refuse_columns(self) -> None:
        by_name = self.options.columns is not None or isinstance(self.target, (str, int))
        if by_name or self.options.named_types:
            raise TableError(
                f"{self.where}: {self.format} files have no named columns, and each line begins "
                "with its target. Omit target=, columns= and column_types=."
            )

    def _joined(self, batches: list[SparseBatch]) -> Dataset:
        rows = batches[0].rows
        if len(batches) > 1:
            width = max(batch.rows.n_features for batch in batches)
            rows = stack_rows([batch.rows for batch in batches], width)
        texts = isinstance(batches[0].labels, tuple)
        if any(isinstance(batch.labels, tuple) != texts for batch in batches):
            raise TableError(
                f"{self.where}: labels are numbers in some files and texts in others. Pass "
                "labels='text' to read all of them as text."
            )
        labels = np.concatenate([np.asarray(batch.labels) for batch in batches])
        weights = _together([batch.weights for batch in batches])
        qid = _queries(batches)
        tags = [tag for batch in batches for tag in batch.tags or ()] or None
        self.report.n_features = max(self.report.n_features or 0, rows.n_features)
        y: NDArray[Any] | None = labels if texts else whole_numbers(labels)
        if self.target is not None:
            y = target_array(self.target, rows.n_rows)
        elif not texts and not self.keep_unlabelled and np.isnan(labels).any():
            kept = np.flatnonzero(~np.isnan(labels))
            if not len(kept):
                y = None
            else:
                self.report.rows_without_target += len(labels) - len(kept)
                rows, y = rows.take(kept), whole_numbers(labels[kept])
                weights = None if weights is None else weights[kept]
                qid = None if qid is None else qid[kept]
                tags = None if tags is None else [tags[row] for row in kept]
        return Dataset(None, rows, y, self.report, weights, tags, qid, self._names())

    def _names(self) -> tuple[str, ...] | None:
        return None


class SvmlightFiles(SparseFiles):
    """svmlight files. The first file determines whether columns are counted from 0 or 1."""

    format = "svmlight"
    _last: Any = None

    @property
    def index_base(self) -> Literal["auto", 0, 1]:
        """Number of the first column, as far as it is known."""
        base: Literal["auto", 0, 1] = self.options.index_base
        return base if self._last is None else self._last.index_base

    def _reader(self, name: str) -> Any:
        from separable.data.io.svmlight import SvmlightReader

        on_error: Literal["raise", "skip"] = "skip" if self.options.skip else "raise"
        self._last = SvmlightReader(
            self.index_base, self.options.n_features, on_error, name, labels=self.options.labels
        )
        return self._last


class VwFiles(SparseFiles):
    """Vowpal Wabbit text; several files share the names of their columns."""

    format = "vw"
    _last: Any = None

    def _reader(self, name: str) -> Any:
        from separable.data.io.vw import VwReader

        if self._last is not None and self.options.n_features is None:
            raise TableError(
                "Several files of Vowpal Wabbit text share columns only by hashing. Give "
                "n_features, a power of 2 such as 2**18, or read the files one by one."
            )
        on_error: Literal["raise", "skip"] = "skip" if self.options.skip else "raise"
        self._last = VwReader(self.options.n_features, on_error, name)
        return self._last

    def _names(self) -> tuple[str, ...] | None:
        names: tuple[str, ...] | None = self._last.feature_names
        return names


def _queries(batches: list[SparseBatch]) -> NDArray[np.int64] | None:
    """Return the query ids, -1 in files without any; None if no file has any."""
    if all(batch.qid is None for batch in batches):
        return None
    return np.concatenate(
        [np.full(len(b), -1) if b.qid is None else b.qid for b in batches], dtype=np.int64
    )


def _together(parts: list[NDArray[Any] | None]) -> NDArray[Any] | None:
    kept = [part for part in parts if part is not None]
    return np.concatenate(kept) if len(kept) == len(parts) else None
