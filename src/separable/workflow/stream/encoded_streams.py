"""Streams of encoded rows: of tables, and of svmlight or Vowpal Wabbit text."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.columns import Categories, as_columns
from separable.data.labels import text_array
from separable.data.table import NotANumberError, TableError, require_columns
from separable.errors import Message, Option, OptionError
from separable.workflow.columns.role_columns import weights_of
from separable.workflow.input_tables import naming_file
from separable.workflow.options import file_name
from separable.workflow.progress import step, warn
from separable.workflow.stream.stream_rows import RowStream, Targets
from separable.workflow.stream.stream_target import settled_target, target_of
from separable.workflow.training_problem import refuse_negative

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa
    from numpy.typing import NDArray

    from separable.data.dataset import Dataset
    from separable.data.rows import Rows
    from separable.data.table import ColumnType
    from separable.features.encoding_report import EncodingReport
    from separable.features.table.table_encoder import TableEncoder
    from separable.workflow.stream.stream_rows import Source, Wanted
    from separable.workflow.stream.stream_target import StreamTarget


__all__ = ["SparseStream", "TableStream", "target_counts"]

#: Vowpal Wabbit's own default.
BITS = 18


class TableStream(RowStream):
    """Encoded rows of tables; see `RowStream`.

    Parameters
    ----------
    encoder : TableEncoder, optional
        If known.
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
            raise OptionError(
                Option("features", wanted.features), ": it is for svmlight files. Leave it out."
            )
        self.encoder = encoder
        self.name = wanted.target or ""
        self._types: dict[str, ColumnType] = {}
        for kind in ("number", "category", "boolean", "date"):
            self._types |= dict.fromkeys(wanted.columns.get(kind, ()), kind)
        self._types |= dict.fromkeys(wanted.conversions, "category")
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
        """Determine target and encoder from the first rows."""
        import pyarrow as pa

        with step(f"Looking at the first rows of {file_name(self.source.data)}"):
            first = [chunk.table for chunk in self._first() if chunk.table is not None]
            table = pa.concat_tables(first)
            self._check_columns(table.column_names)
            self._target = settled_target(
                self._where,
                target_counts(table, self.name),
                self.wanted.task,
                self.wanted.classes,
                texts=self.name in self.wanted.columns.get("category", ()),
            )
            y, _ = target_of(self.target, table, self.name, 0)
            apart = [name for name in (self.name, self.wanted.weight) if name is not None]
            features = table.slice(0, self.wanted.encode_rows).drop_columns(apart)
            with naming_file(self.source.data):
                self.encoder = self._fitted(features)
        self._warn_of_order(y)

    def _check_columns(self, names: list[str]) -> None:
        where, wanted = file_name(self.source.data), self.wanted
        required = [self.name, *([wanted.weight] if wanted.weight else [])]
        for each in (required, *wanted.columns.values()):
            require_columns(each, names, where)
        if self.name in wanted.columns.get("drop", ()):
            raise OptionError(Option("drop", self.name), ": the target cannot be dropped.")
        if not set(names) - set(required):
            raise TableError(
                f"{where}: no feature columns: {', '.join(map(repr, names))} is all. Add the "
                "columns to predict the target from."
            )

    def _fitted(self, table: pa.Table) -> TableEncoder:
        apart = {self.name, self.wanted.weight}
        chosen: dict[str, Any] = {
            kind: [name for name in names if name not in apart] or None
            for kind, names in self.wanted.columns.items()
        }
        chosen["conversions"] = self.wanted.conversions or None
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            encoder = self._encoder(table, chosen)
        for text in dict.fromkeys(" ".join(str(one.message).split()) for one in caught):
            warn(text)
        return encoder.without_state()

    def _encoder(self, table: pa.Table, chosen: dict[str, Any]) -> TableEncoder:
        """Return an encoder fitted to the first rows."""
        from separable.features.table.table_encoder import TableEncoder

        encoder = TableEncoder(scale=not self.wanted.counts, n_jobs=self.wanted.threads, **chosen)
        if self.wanted.bits is not None:
            texts = [row.column for row in encoder.guess(table) if row.type == "text"]
            if not texts:
                raise OptionError(
                    Option("bits", self.wanted.bits), ": no column is free text. Leave it out."
                )
            signs = not self.wanted.counts
            hashing = {"n_features": 1 << self.wanted.bits, "alternate_sign": signs}
            encoder.set_params(text=dict.fromkeys(texts, hashing) or None)
        return encoder.fit(table)

    def _chunks(self) -> Iterator[Dataset]:
        try:
            yield from self.source.chunks(self._types)
        except NotANumberError as error:
            if error.column == self.name:
                remedy = Message("For classification use ", Option("model", "sgd-classifier"), ".")
            elif error.column in self.wanted.columns.get("number", ()):
                category = Option("category", error.column)
                remedy = Message("Or use it as a category: ", category, ".")
            else:  # it says to correct the value
                raise
            raise error.with_problem(*error.args, " ", remedy) from None

    def _targets(self, chunk: Dataset, first_row: int) -> Targets:
        table = chunk.table
        assert table is not None
        require_columns([self.name], table.column_names, file_name(self.source.data))
        y, mask = target_of(self.target, table, self.name, first_row)
        weight = self._weight(table, mask, first_row)
        if weight is None:
            return Targets(mask, mask, y, None)
        keep = mask.copy()
        keep[mask] = weight > 0
        return Targets(mask, keep, y[weight > 0], weight[weight > 0])

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

    def _weight(
        self, table: pa.Table, is_present: NDArray[np.bool_], first_row: int
    ) -> NDArray[np.float64] | None:
        """Return the weights of the rows that have a target."""
        name = self.wanted.weight
        if name is None:
            return None
        require_columns([name], table.column_names, file_name(self.source.data))
        rows = np.flatnonzero(is_present)
        with naming_file(self.source.data, rows + first_row):
            return weights_of(as_columns(table.select([name])), name, rows)


def target_counts(table: pa.Table, name: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the distinct values of a column and their counts."""
    column = as_columns(table.select([name]))[name]
    if isinstance(column, Categories):
        counts = np.bincount(column.codes[column.codes >= 0], minlength=len(column.levels))
        met = np.flatnonzero(counts)
        return text_array(column.levels)[met], counts[met]
    values = column.values[~np.isnan(column.values)]
    return np.unique(values, return_counts=True)


class SparseStream(RowStream):
    """Rows of svmlight or Vowpal Wabbit text; see `RowStream`."""

    def __init__(
        self,
        source: Source,
        wanted: Wanted,
        target: StreamTarget | None = None,
        n_features: int | None = None,
    ) -> None:
        super().__init__(source, wanted, target)
        self._width = n_features
        named: dict[str, Any] = {"target": wanted.target, "weight": wanted.weight}
        named |= wanted.columns
        if source.format == "vw" and wanted.features is not None:
            raise OptionError(
                Option("features", wanted.features), ": it is for svmlight files. Use bits."
            )
        if source.format == "svmlight" and wanted.bits is not None:
            raise OptionError(
                Option("bits", wanted.bits), ": the columns of svmlight files are numbers already."
            )
        odd = next((Option(*each) for each in named.items() if each[1]), None)
        if odd is not None:
            raise OptionError(
                odd,
                f": {source.format} text has no named columns, and each line begins with its "
                "target. Leave the option out.",
            )

    @property
    def n_features(self) -> int:
        """How many numbers a row has."""
        assert self._width is not None
        return self._width

    def begin(self) -> None:
        """Determine the number of columns and the target from the first rows."""
        if self.source.format == "vw":
            self._width = 1 << (self.wanted.bits or BITS)
        else:
            self._width = self.wanted.features or self._counted_width()
        result = [chunk.y for chunk in self._first() if chunk.y is not None]
        values = np.concatenate(result) if result else np.zeros(0)
        self._target = settled_target(
            f"{file_name(self.source.data)}: the target of each line",
            np.unique(values, return_counts=True),
            self.wanted.task,
            self.wanted.classes,
        )
        self._warn_of_order(values)

    def _counted_width(self) -> int:
        if not self.source.again:
            raise OptionError(
                f"The number of columns of {file_name(self.source.data)} must be known before "
                "reading: give ",
                Option("features"),
                ".",
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
        y, mask = self.target.of_values(chunk.y, first_row)
        if chunk.weights is None:
            return Targets(mask, mask, y, None)
        weight = chunk.weights.astype(np.float64)
        keep = weight > 0
        return Targets(mask, keep, y[keep], weight[keep])

    def _encoded(
        self, chunk: Dataset, kept: NDArray[np.intp], first_row: int
    ) -> tuple[Rows, EncodingReport | None]:
        del first_row
        assert chunk.rows is not None
        start, stop = int(kept[0]), int(kept[-1]) + 1
        rows = chunk.rows.slice(start, stop)
        return (rows if len(kept) == stop - start else rows.take(kept - start)), None
