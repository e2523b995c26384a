"""The rows of a stream as learners take them: encoded, with their targets and weights."""

from __future__ import annotations

import shlex
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import click
import numpy as np

from separable.cli.number_use import refuse_negative
from separable.cli.output import file_name, naming_file
from separable.cli.stream_target import order_warning, settled_target, target_of
from separable.cli.talk import step, warn
from separable.data.columns import Categories, as_columns
from separable.data.table import NotANumberError, TableError, require_columns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pyarrow as pa
    from numpy.typing import NDArray

    from separable.cli.learners import Task
    from separable.cli.stream_source import Source
    from separable.cli.stream_target import StreamTarget
    from separable.data.dataset import Dataset
    from separable.data.rows import Rows
    from separable.data.table import ColumnType
    from separable.features.encoding_report import EncodingReport
    from separable.features.table_encoder import TableEncoder

__all__ = ["Lesson", "RowStream", "SparseStream", "TableStream", "Wanted"]

#: The first part, by which columns are encoded, is not larger than this.
FIRST_BYTES = 16_000_000
#: Vowpal Wabbit's own default.
BITS = 18


class Lesson(NamedTuple):
    """Some rows to learn from; all that is known of them.

    Parameters
    ----------
    rows : Rows or None
        None: no row of this stretch is to be learned from.
    y, weight : ndarray
        Their targets, and their weights where there are some.
    end : int
        How many rows of the files have been read with them.
    missing : int
        How many rows were left out because their target is missing.
    report : EncodingReport or None
        What the encoder met in them.
    """

    rows: Rows | None
    y: NDArray[Any]
    weight: NDArray[np.float64] | None
    end: int
    missing: int
    report: EncodingReport | None = None


class Targets(NamedTuple):
    """The targets of a chunk, for each row: which have one, which count, and theirs."""

    there: NDArray[np.bool_]
    keep: NDArray[np.bool_]
    y: NDArray[Any]
    weight: NDArray[np.float64] | None


@dataclass(frozen=True)
class Wanted:
    """What the user wants to be learned, and from which columns."""

    target: str | None
    task: Task | None = None
    classes: str | None = None
    weight: str | None = None
    columns: dict[str, list[str]] = field(default_factory=dict)
    encode_rows: int = 100_000
    bits: int | None = None
    features: int | None = None
    #: Whether the learner adds up counts, and under which name it is known.
    counts: bool = False
    learner: str | None = None
    threads: int = 1


class RowStream(ABC):
    """A source whose rows are learned from.

    Parameters
    ----------
    source : Source
    wanted : Wanted
    target : Labels or Quantities, optional
        What is predicted, where it is known; otherwise `begin` settles it.
    """

    encoder: TableEncoder | None = None

    def __init__(self, source: Source, wanted: Wanted, target: StreamTarget | None = None) -> None:
        self.source, self.wanted = source, wanted
        self._target = target
        self._begun: Iterator[Dataset] | None = None

    @property
    def target(self) -> StreamTarget:
        """What is predicted."""
        assert self._target is not None
        return self._target

    @property
    @abstractmethod
    def n_features(self) -> int:
        """How many numbers a row has."""

    @abstractmethod
    def begin(self) -> None:
        """Look at the first rows and settle what is predicted, and from which numbers."""

    @abstractmethod
    def _chunks(self) -> Iterator[Dataset]:
        """Read the source from its start."""

    @abstractmethod
    def _targets(self, chunk: Dataset, first_row: int) -> Targets:
        """Return the targets of a chunk that begins with the given row of the files."""

    @abstractmethod
    def _encoded(
        self, chunk: Dataset, kept: NDArray[np.intp], first_row: int
    ) -> tuple[Rows, EncodingReport | None]:
        """Return some rows of a chunk as numbers, and what the encoder met."""

    def lessons(self, room: Callable[[], int], done: int = 0) -> Iterator[Lesson]:
        """Give the rows of one pass, some at a time.

        Parameters
        ----------
        room : callable
            Returns how many rows the next lesson may have.
        done : int
            So many rows of the files were learned from already.
        """
        chunks, self._begun = self._begun or self._chunks(), None
        first_row = 0
        for chunk in chunks:
            skip = min(max(0, done - first_row), len(chunk))
            if skip < len(chunk):
                yield from self._cut(chunk, skip, first_row, room)
            first_row += len(chunk)

    def _cut(
        self, chunk: Dataset, start: int, first_row: int, room: Callable[[], int]
    ) -> Iterator[Lesson]:
        """Cut a chunk into lessons; rows without a target go with those before them."""
        targets, n = self._targets(chunk, first_row), len(chunk)
        kept = np.flatnonzero(targets.keep)
        at = int(np.searchsorted(kept, start))
        while start < n:
            stop = min(at + room(), len(kept))
            end = n if stop == len(kept) else int(kept[stop - 1]) + 1
            rows, report = None, None
            if stop > at:
                rows, report = self._encoded(chunk, kept[at:stop], first_row)
            weight = None if targets.weight is None else targets.weight[at:stop]
            missing = int(np.count_nonzero(~targets.there[start:end]))
            yield Lesson(rows, targets.y[at:stop], weight, first_row + end, missing, report)
            start, at = end, stop

    def _tell_order(self, y: NDArray[Any]) -> None:
        told = order_warning(self.target, y)
        if told:
            warn(told)

    def _first(self) -> list[Dataset]:
        """Return the first chunks; they will be given again."""
        chunks, first, rows, size = self._chunks(), [], 0, 0
        for chunk in chunks:
            first.append(chunk)
            rows += len(chunk)
            size += chunk.table.nbytes if chunk.table is not None else _bytes_of(chunk.rows)
            if rows >= self.wanted.encode_rows or size >= FIRST_BYTES:
                break
        self._begun = chain(first, chunks)
        return first


class TableStream(RowStream):
    """Rows of tables, encoded. See `RowStream`.

    Parameters
    ----------
    encoder : TableEncoder, optional
        Where it is known.
    """

    def __init__(
        self,
        source: Source,
        wanted: Wanted,
        target: StreamTarget | None = None,
        encoder: TableEncoder | None = None,
    ) -> None:
        super().__init__(source, wanted, target)
        if wanted.features is not None:
            raise click.UsageError("--features is for svmlight files. Leave it out.")
        self.encoder = encoder
        self.name = wanted.target or ""
        self._types: dict[str, ColumnType] = {}
        for kind in ("number", "category", "boolean", "date"):
            self._types |= dict.fromkeys(wanted.columns.get(kind, ()), kind)
        if encoder is not None:
            encoder.set_params(n_jobs=wanted.threads)
            self._types |= encoder.column_types
        task = wanted.task if target is None else target.task
        self._types[self.name] = "number" if task == "regression" else "category"
        if wanted.weight is not None:
            self._types[wanted.weight] = "number"

    @property
    def n_features(self) -> int:
        """How many numbers a row has."""
        assert self.encoder is not None
        return len(self.encoder.feature_names)

    @property
    def _where(self) -> str:
        return f"{file_name(self.source.data)}: the target column {self.name!r}"

    def begin(self) -> None:
        """Settle target and encoder by the first rows."""
        import pyarrow as pa

        with step(f"Looking at the first rows of {file_name(self.source.data)}"):
            first = [chunk.table for chunk in self._first() if chunk.table is not None]
            table = pa.concat_tables(first)
            self._check_columns(table.column_names)
            self._target = settled_target(
                self._where,
                _counts(table, self.name),
                self.wanted.task,
                self.wanted.classes,
                texts=self.name in self.wanted.columns.get("category", ()),
            )
            y, _ = target_of(self.target, table, self.name, 0)
            apart = [name for name in (self.name, self.wanted.weight) if name is not None]
            features = table.slice(0, self.wanted.encode_rows).drop_columns(apart)
            with naming_file(self.source.data):
                self.encoder = self._fitted(features)
        self._tell_order(y)

    def _check_columns(self, names: list[str]) -> None:
        where, wanted = file_name(self.source.data), self.wanted
        asked = [self.name, *([wanted.weight] if wanted.weight else [])]
        for each in (asked, *wanted.columns.values()):
            require_columns(each, names, where)
        if self.name in wanted.columns.get("drop", ()):
            raise click.UsageError(f"--drop {self.name}: the target cannot be left out.")
        if not set(names) - set(asked):
            raise TableError(
                f"{where}: there is no column to learn from: {', '.join(map(repr, names))} is all. "
                "Add the columns that the target is to be predicted from."
            )

    def _fitted(self, table: pa.Table) -> TableEncoder:
        from separable.features.table_encoder import TableEncoder

        apart = {self.name, self.wanted.weight}
        chosen: dict[str, Any] = {
            kind: [name for name in names if name not in apart] or None
            for kind, names in self.wanted.columns.items()
        }
        encoder = TableEncoder(scale=not self.wanted.counts, n_jobs=self.wanted.threads, **chosen)
        if self.wanted.bits is not None:
            texts = [row.column for row in encoder.guess(table) if row.type == "text"]
            if not texts:
                raise click.UsageError("--bits: no column is free text. Leave it out.")
            signs = not self.wanted.counts
            hashing = {"n_features": 1 << self.wanted.bits, "alternate_sign": signs}
            encoder.set_params(text=dict.fromkeys(texts, hashing) or None)
        return encoder.fit(table).without_state()

    def _chunks(self) -> Iterator[Dataset]:
        try:
            yield from self.source.chunks(self._types)
        except NotANumberError as error:
            remedy = "Correct it, or leave it empty."
            if error.column == self.name:
                remedy = "For classes name a classifier with --model sgd-classifier."
            elif error.column in self.wanted.columns.get("number", ()):
                remedy = f"Or use it as a category: --category {shlex.quote(error.column)}."
            raise TableError(f"{error} {remedy}") from None

    def _targets(self, chunk: Dataset, first_row: int) -> Targets:
        table = chunk.table
        assert table is not None
        require_columns([self.name], table.column_names, file_name(self.source.data))
        y, there = target_of(self.target, table, self.name, first_row)
        weight = self._weight(table, first_row)
        if weight is None:
            return Targets(there, there, y, None)
        keep = there & (weight > 0)
        return Targets(there, keep, y[keep[there]], weight[keep])

    def _encoded(
        self, chunk: Dataset, kept: NDArray[np.intp], first_row: int
    ) -> tuple[Rows, EncodingReport | None]:
        assert chunk.table is not None
        assert self.encoder is not None
        start, stop = int(kept[0]), int(kept[-1]) + 1
        table = chunk.table.slice(start, stop - start)
        if len(kept) < len(table):
            table = table.take(kept - start)
        with naming_file(self.source.data, kept + first_row):
            rows, report = self.encoder.encode_with_report(table)
            if self.wanted.counts:
                refuse_negative(rows, self.encoder, self.wanted.learner or "")
        return rows, report

    def _weight(self, table: pa.Table, first_row: int) -> NDArray[np.float64] | None:
        name = self.wanted.weight
        if name is None:
            return None
        require_columns([name], table.column_names, file_name(self.source.data))
        column = as_columns(table.select([name]))[name]
        assert not isinstance(column, Categories)
        odd = np.flatnonzero(~((column.values >= 0) & np.isfinite(column.values)))
        if len(odd):
            found = column.values[odd[0]]
            told = "nothing" if np.isnan(found) else f"{found:g}"
            raise TableError(
                f"{file_name(self.source.data)}, data row {first_row + int(odd[0]) + 1}, column "
                f"{name!r}: {told} is no weight. Write a number >= 0; 0 leaves the row out."
            )
        return column.values


class SparseStream(RowStream):
    """Rows of svmlight or Vowpal Wabbit text, which are numbers already. See `RowStream`."""

    def __init__(
        self,
        source: Source,
        wanted: Wanted,
        target: StreamTarget | None = None,
        n_features: int | None = None,
    ) -> None:
        super().__init__(source, wanted, target)
        self._width = n_features
        named: dict[str, Any] = {"--target": wanted.target, "--weight": wanted.weight}
        named |= {f"--{kind}": names for kind, names in wanted.columns.items()}
        if source.format == "vw" and wanted.features is not None:
            raise click.UsageError("--features is for svmlight files. Use --bits.")
        if source.format == "svmlight" and wanted.bits is not None:
            raise click.UsageError("--bits: the columns of svmlight files are numbers already.")
        odd = next((option for option, given in named.items() if given), None)
        if odd is not None:
            raise click.UsageError(
                f"{odd}: {source.format} text has no named columns, and each line begins with its "
                "target. Leave the option out."
            )

    @property
    def n_features(self) -> int:
        """How many numbers a row has."""
        assert self._width is not None
        return self._width

    def begin(self) -> None:
        """Settle the width, and what is predicted by the first rows."""
        if self.source.format == "vw":
            self._width = 1 << (self.wanted.bits or BITS)
        else:
            self._width = self.wanted.features or self._counted_width()
        found = [chunk.y for chunk in self._first() if chunk.y is not None]
        values = np.concatenate(found) if found else np.zeros(0)
        self._target = settled_target(
            f"{file_name(self.source.data)}: the target of each line",
            np.unique(values, return_counts=True),
            self.wanted.task,
            self.wanted.classes,
        )
        self._tell_order(values)

    def _counted_width(self) -> int:
        if not self.source.again:
            raise click.UsageError(
                f"How many columns {file_name(self.source.data)} has must be known before it is "
                "read: give --features N."
            )
        with step(f"Counting the columns of {file_name(self.source.data)}"):
            return max(chunk.rows.n_features for chunk in self.source.chunks() if chunk.rows)

    def _chunks(self) -> Iterator[Dataset]:
        return self.source.chunks(n_features=self._width)

    def _targets(self, chunk: Dataset, first_row: int) -> Targets:
        n = len(chunk)
        if chunk.y is None:
            none = np.zeros(n, dtype=np.bool_)
            return Targets(none, none, np.zeros(0), None)
        y, there = self.target.of_values(chunk.y, first_row)
        if chunk.weights is None:
            return Targets(there, there, y, None)
        weight = chunk.weights.astype(np.float64)
        keep = weight > 0
        return Targets(there, keep, y[keep], weight[keep])

    def _encoded(
        self, chunk: Dataset, kept: NDArray[np.intp], first_row: int
    ) -> tuple[Rows, EncodingReport | None]:
        del first_row
        assert chunk.rows is not None
        start, stop = int(kept[0]), int(kept[-1]) + 1
        rows = chunk.rows.slice(start, stop)
        return (rows if len(kept) == stop - start else rows.take(kept - start)), None


def _bytes_of(rows: Rows | None) -> int:
    return 0 if rows is None else sum(array.nbytes for array in rows.arrays())


def _counts(table: pa.Table, name: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the different values of a column and how often each occurs."""
    column = as_columns(table.select([name]))[name]
    if isinstance(column, Categories):
        counts = np.bincount(column.codes[column.codes >= 0], minlength=len(column.levels))
        met = np.flatnonzero(counts)
        return np.array(column.levels, dtype=np.str_)[met], counts[met]
    values = column.values[~np.isnan(column.values)]
    return np.unique(values, return_counts=True)
