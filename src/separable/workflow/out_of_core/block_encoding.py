"""Two passes over files: one fits the encoder and finds the classes, one encodes rows into blocks.

Rows are held out, and assigned to folds, by a hash of their number: whatever was done before a
process was killed, the same rows end up in the same blocks.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.table import TableError
from separable.errors import Message, Option
from separable.features.table.table_encoder import TableEncoder
from separable.model.words import byte_text, counted
from separable.statistics.partitions import Batch
from separable.workflow.input_tables import naming_file
from separable.workflow.options import file_name
from separable.workflow.progress import say, step, warn
from separable.workflow.stream.encoded_streams import TableStream, target_counts
from separable.workflow.stream.stream_rows import FIRST_BYTES
from separable.workflow.stream.stream_target import Labels, Quantities, settled_target

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa
    from numpy.typing import NDArray

    from separable.data.dataset import Dataset
    from separable.workflow.out_of_core.block_store import BlockStore

__all__ = ["BlockStream", "EncodedBlocks", "RowSplit", "encode_blocks"]

#: Maximum number of classes.
MOST_CLASSES = 1000
#: Bytes of a stored value and its column, and of target, weight and fold of a row.
CELL, INDEX, ROW = 8, 4, 24
#: Constants of the SplitMix64 generator (Steele, Lea and Flood, 2014).
GOLDEN = 0x9E3779B97F4A7C15
MIX = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1))


@dataclass(frozen=True)
class RowSplit:
    """Held-out rows and folds by a hash of the row number.

    Parameters
    ----------
    test_size : float
        The fraction of rows that are held out.
    n_folds : int
    seed : int

    Examples
    --------
    >>> split = RowSplit(0.25, 5)
    >>> rows = np.arange(100_000)
    >>> float(split.is_test(rows).mean().round(2))
    0.25
    >>> int(np.bincount(split.folds(rows)).min()) > 19_000
    True
    """

    test_size: float
    n_folds: int
    seed: int = 0

    def _hashes(self, rows: NDArray[np.int64], stream: int) -> NDArray[np.uint64]:
        start = np.uint64((2 * self.seed + stream + 1) * GOLDEN % (1 << 64))
        with np.errstate(over="ignore"):
            x = rows.astype(np.uint64) * np.uint64(GOLDEN) + start
            for shift, factor in MIX:
                x = (x ^ (x >> np.uint64(shift))) * np.uint64(factor)
        return x

    def is_test(self, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which rows are held out."""
        return (self._hashes(rows, 0) >> np.uint64(11)) < np.uint64(self.test_size * 2**53)

    def folds(self, rows: NDArray[np.int64]) -> NDArray[np.int32]:
        """Return the fold of each row."""
        return ((self._hashes(rows, 1) >> np.uint64(11)) % np.uint64(self.n_folds)).astype(np.int32)


@dataclass(frozen=True)
class EncodedBlocks:
    """What the passes over the files found.

    Parameters
    ----------
    encoder : TableEncoder
    classes : ndarray or None
        Sorted labels; None: numbers.
    rows : int
        Rows of the files.
    missing : int
        Rows without a target.
    """

    encoder: TableEncoder
    classes: NDArray[Any] | None
    rows: int
    missing: int


class BlockStream(TableStream):
    """A table whose encoder is fitted to all training rows, and whose classes are all there are."""

    chosen: dict[str, Any]

    def _warn_of_order(self, y: NDArray[Any]) -> None:
        """Say nothing: order does not matter here."""

    def _fitted(self, table: pa.Table) -> TableEncoder:
        """Return an encoder that has seen nothing yet."""
        del table
        apart = {self.name, self.wanted.weight}
        columns: dict[str, Any] = {
            kind: [name for name in names if name not in apart] or None
            for kind, names in self.wanted.columns.items()
        }
        columns["conversions"] = self.wanted.conversions or None
        return TableEncoder(n_jobs=self.wanted.threads, **columns)

    def fit(self, split: RowSplit) -> EncodedBlocks:
        """Fit the encoder to the training rows of all chunks, and find all classes."""
        assert self.encoder is not None
        counts: dict[Any, int] = {}
        waiting: list[pa.Table] = []
        first_row, missing = 0, 0
        chunks, self._begun = self._begun or self._chunks(), None
        for chunk in chunks:
            assert chunk.table is not None
            n = len(chunk)
            found, times = target_counts(chunk.table, self.name)
            missing += n - int(times.sum())
            if self.target.classes is not None:
                self._add_classes(counts, found, times)
            rows = np.arange(first_row, first_row + n)
            waiting.append(self._training_rows(chunk.table, ~split.is_test(rows)))
            if sum(table.nbytes for table in waiting) >= FIRST_BYTES:
                self._learn(waiting)
                waiting = []
            first_row += n
        if waiting:
            self._learn(waiting)
        classes = None
        if self.target.classes is not None:
            classes = self._settle_classes(counts)
        encoder = self.encoder.without_state()
        self.use(encoder, classes)
        return EncodedBlocks(encoder, classes, first_row, missing)

    def _add_classes(
        self, counts: dict[Any, int], found: NDArray[Any], times: NDArray[Any]
    ) -> None:
        for label, count in zip(found.tolist(), times.tolist(), strict=True):
            counts[label] = counts.get(label, 0) + count
        if len(counts) > MOST_CLASSES:
            raise TableError(
                f"{self._where} has more than {MOST_CLASSES} different values. For numbers use ",
                Option("task", "regression"),
                "; or name another column.",
            )

    def _settle_classes(self, counts: dict[Any, int]) -> NDArray[Any]:
        labels = np.array(sorted(counts, key=str))
        texts = self.name in self.wanted.columns.get("category", ())
        values = labels, np.array([counts[one] for one in labels.tolist()])
        target = settled_target(self._where, values, "classification", None, texts=texts)
        assert target.classes is not None
        return target.classes

    def _training_rows(self, table: pa.Table, mask: NDArray[np.bool_]) -> pa.Table:
        apart = [name for name in (self.name, self.wanted.weight) if name is not None]
        return table.drop_columns(apart).filter(mask)

    def _learn(self, tables: list[pa.Table]) -> None:
        import pyarrow as pa

        assert self.encoder is not None
        table = pa.concat_tables(tables)
        if not table.num_rows:
            return
        with warnings.catch_warnings(record=True) as caught, naming_file(self.source.data):
            warnings.simplefilter("always")
            self.encoder.partial_fit(table)
        for text in dict.fromkeys(" ".join(str(one.message).split()) for one in caught):
            warn(text)

    def use(self, encoder: TableEncoder, classes: NDArray[Any] | None) -> None:
        """Encode with what the first pass found, in this run or an earlier one."""
        self.encoder = encoder
        self._types = encoder.column_types | self._types
        self._target = Quantities(self._where)
        if classes is not None:
            self._target = Labels(self._where, classes, "of the first pass over the rows")

    def pieces(self) -> Iterator[tuple[int, Dataset]]:
        """Yield the chunks of the source and the numbers of their first rows."""
        chunks, self._begun = self._begun or self._chunks(), None
        first_row = 0
        for chunk in chunks:
            yield first_row, chunk
            first_row += len(chunk)

    def encoded(self, chunk: Dataset, first_row: int) -> tuple[Batch, NDArray[np.int64]]:
        """Return the encoded rows of a chunk that have a target, and their numbers."""
        targets = self._targets(chunk, first_row)
        kept = np.flatnonzero(targets.keep)
        if len(kept):
            rows, _ = self._encoded(chunk, kept, first_row)
        else:  # an empty block of the same kind
            rows, _ = self._encoded(chunk, np.arange(1), first_row)
            rows = rows.slice(0, 0)
        y = targets.y
        if self.target.classes is not None:
            y = np.searchsorted(self.target.classes, y).astype(np.int32)
        weight = targets.weight
        batch = Batch(rows.canonical(), y, None if weight is None else weight.astype(np.float64))
        return batch, kept + first_row


def encode_blocks(stream: BlockStream, store: BlockStore, split: RowSplit) -> EncodedBlocks:
    """Return what two passes over the files found; blocks that are there are kept.

    Parameters
    ----------
    stream : BlockStream
    store : BlockStore
    split : RowSplit
    """
    found = _first_pass(stream, store, split)
    name = file_name(stream.source.data)
    if store.has("end"):
        say(f"Using the blocks of {store.folder}, {byte_text(store.n_bytes)}.")
        return found
    with step(f"Encoding {name} into blocks") as progress:
        stream.source.progress = progress.reading
        is_first = True
        for number, (first_row, chunk) in enumerate(stream.pieces()):
            names = [f"{part}-{number:06d}" for part in ("train", "test")]
            if not is_first and all(map(store.has, names)):
                continue
            batch, rows = stream.encoded(chunk, first_row)
            if is_first:
                _state_space(store, batch, found)
                is_first = False
            batch = replace(batch, fold=split.folds(rows))
            is_test = split.is_test(rows)
            for part, mask in zip(names, (~is_test, is_test), strict=True):
                store.write(part, batch.take(np.flatnonzero(mask)))
    _write_end(store)
    return found


def _first_pass(stream: BlockStream, store: BlockStore, split: RowSplit) -> EncodedBlocks:
    kept = store.encoder()
    if kept is not None:
        encoder, values = kept
        classes = None if values["classes"] is None else np.array(values["classes"])
        stream.use(encoder, classes)
        return EncodedBlocks(encoder, classes, values["rows"], values["missing"])
    stream.begin()
    with step(f"Fitting the encoder to {file_name(stream.source.data)}") as progress:
        stream.source.progress = progress.reading
        found = stream.fit(split)
    classes = None if found.classes is None else found.classes.tolist()
    values = {"classes": classes, "rows": found.rows, "missing": found.missing}
    store.keep_encoder(found.encoder, values)
    return found


def _state_space(store: BlockStore, batch: Batch, found: EncodedBlocks) -> None:
    """Say how much space the blocks will take, and refuse more than there is."""
    cells = CELL * batch.rows.n_features
    if batch.rows.is_sparse:
        cells = int((CELL + INDEX) * batch.rows.values.size / max(1, len(batch))) + 8
    n_bytes = (cells + ROW) * (found.rows - found.missing)
    say(
        f"{counted(found.rows, 'row')}: the encoded blocks take about {byte_text(n_bytes)} in "
        f"{store.folder}."
    )
    store.check_space(n_bytes)


def _write_end(store: BlockStore) -> None:
    """Mark the blocks as complete."""
    from separable.data.rows import as_rows

    store.write("end", Batch(as_rows(np.zeros((1, 1))), np.zeros(1)))


def note_of_rows(found: EncodedBlocks) -> Message | None:
    """Return what to say of rows without a target."""
    if not found.missing:
        return None
    return Message(f"{counted(found.missing, 'row')} without a target were skipped.")
