"""Rows of a file as input of a model, in chunks: shared by predict, evaluate and explain.

What a model reads depends on what it was trained on: a table goes through the encoder, texts are
one column of a table, numbers are columns of a table or sparse text.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from separable.cli.io.output import report_lines
from separable.cli.options.options import load_trusted
from separable.cli.render.messages import note, step
from separable.model.words import counted
from separable.workflow.input_tables import naming_file
from separable.workflow.options import file_name
from separable.workflow.training_record import trained_on

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from separable.cli.io.row_source import RowSource
    from separable.data.dataset import Dataset
    from separable.data.rows import Rows
    from separable.data.table import ColumnType
    from separable.features.encoding_report import EncodingReport
    from separable.model.kinds import Model


__all__ = [
    "PART_ROWS",
    "Feed",
    "ModelRows",
    "Part",
    "feed_of",
    "load_model",
    "note_reports",
    "text_column_of",
]


#: Rows per chunk.
PART_ROWS = 1 << 14


@dataclass(frozen=True)
class Feed(ABC):
    """Conversion of the rows of a file to the input of a model.

    Parameters
    ----------
    model : LinearModel or VotedModel
    columns : mapping of str to str
        The columns to read, with their types; empty for sparse text.
    options : dict
        More options of `separable.data.read`.
    """

    model: Model
    columns: Mapping[str, ColumnType]
    options: dict[str, Any] = field(default_factory=dict)

    @abstractmethod
    def rows(self, dataset: Dataset) -> tuple[Rows, EncodingReport | None]:
        """Return the rows of a chunk, and the report of the encoder."""


class _TableFeed(Feed):
    """Tables for a model with a table encoder."""

    def rows(self, dataset: Dataset) -> tuple[Rows, EncodingReport | None]:
        from separable.features.table.table_encoder import TableEncoder

        assert isinstance(self.model.encoder, TableEncoder)
        return self.model.encoder.encode_with_report(dataset.table)


class _TextFeed(Feed):
    """A column of texts for a model with a text encoder."""

    def rows(self, dataset: Dataset) -> tuple[Rows, EncodingReport | None]:
        from separable.data.arrow_arrays import nulls, one_chunk
        from separable.features.encoding_report import ColumnReport, EncodingReport

        assert dataset.table is not None
        assert self.model.encoder is not None
        (name,) = self.columns
        texts = one_chunk(dataset.table[name])
        missing = nulls(texts)
        report = ColumnReport.of_missing("text", missing, trained=False)
        rows = self.model.encoder.encode(texts.fill_null("") if missing.any() else texts)
        return rows, EncodingReport(len(texts), (report,) if report.missing else ())


class _NumberFeed(Feed):
    """Columns of numbers for a model without an encoder."""

    def rows(self, dataset: Dataset) -> tuple[Rows, EncodingReport | None]:
        import numpy as np

        from separable.data.arrow_arrays import floats
        from separable.data.rows import as_rows
        from separable.data.table import CellError

        assert dataset.table is not None
        values = np.empty((dataset.table.num_rows, len(self.columns)))
        for index, name in enumerate(self.columns):
            values[:, index] = floats(dataset.table[name])
            if not np.isfinite(values[:, index]).all():
                row = int(np.flatnonzero(~np.isfinite(values[:, index]))[0])
                raise CellError(
                    name,
                    row,
                    "it is missing or not finite. This model has no encoder and needs finite "
                    "numbers. Fill it in.",
                )
        return as_rows(values), None


class _SparseFeed(Feed):
    """Sparse text for a model without an encoder."""

    def rows(self, dataset: Dataset) -> tuple[Rows, EncodingReport | None]:
        assert dataset.rows is not None
        names = self.model.feature_names
        if dataset.feature_names is None or names is None:
            return dataset.rows, None
        return _by_name(dataset.rows, dataset.feature_names, names), None


def feed_of(model: Model, source: RowSource, besides: Sequence[str], column: str | None) -> Feed:
    """Return the conversion for a model and a file.

    Parameters
    ----------
    model : LinearModel or VotedModel
    source : RowSource
    besides : sequence of str
        Columns that are read for other purposes.
    column : str or None
        Where the model takes texts: the column that has them.
    """
    kind = getattr(model.encoder, "kind", None)
    if not source.is_table:
        return _sparse_feed(model, source, kind, besides)
    if kind != "text" and column is not None:
        from click import UsageError

        raise UsageError("--column is for a model of texts only.")
    if kind == "table":
        from separable.features.table.table_encoder import TableEncoder

        assert isinstance(model.encoder, TableEncoder)
        return _TableFeed(model, model.encoder.column_types)
    if kind == "text":
        return _TextFeed(model, {_text_name(source, besides, column): "category"})
    return _NumberFeed(model, dict.fromkeys(_number_names(model, source, besides), "number"))


def _sparse_feed(
    model: Model, source: RowSource, kind: str | None, besides: Sequence[str]
) -> _SparseFeed:
    from separable.data.table import TableError

    if kind is not None or besides:
        needed = "the model needs" if kind is not None else f"{besides[0]!r} would be one of"
        raise TableError(
            f"{file_name(source.data)}: {source.kind} text has no named columns, which {needed}. "
            "Use a table: CSV, JSON lines or Parquet."
        )
    if source.kind == "vw" and model.feature_names is not None:
        return _SparseFeed(model, {})
    options: dict[str, Any] = {"n_features": model.n_features}
    if source.kind == "svmlight":
        base = trained_on(model).get("index_base", "auto")
        options |= {"index_base": base, "labels": _labels(model)}
    return _SparseFeed(model, {}, options)


def _labels(model: Model) -> str:
    if model.classes is not None and model.classes.dtype.kind == "U":
        return "text"
    return "auto"


def _text_name(source: RowSource, besides: Sequence[str], column: str | None) -> str:
    from separable.data.table import TableError, list_names, require_columns

    names = source.names()
    if column is not None:
        require_columns([column], names, file_name(source.data))
        return column
    others = [name for name in names if name not in besides]
    if len(others) != 1 and "text" not in others:
        raise TableError(
            f"{file_name(source.data)}: the model takes one text column, and there are "
            f"{len(others)}: {list_names(others, 10)}. Name it with --column."
        )
    return others[0] if len(others) == 1 else "text"


def _number_names(model: Model, source: RowSource, besides: Sequence[str]) -> list[str]:
    """Return the columns of the features, matched by name if model and file have names."""
    from separable.data.table import TableError, list_names, require_columns

    names, where = source.names(), file_name(source.data)
    if model.feature_names is not None:
        require_columns(model.feature_names, names, where)
        return list(model.feature_names)
    others = [name for name in names if name not in besides]
    if len(others) != model.n_features:
        raise TableError(
            f"{where}: this {model.learner} model takes {model.n_features} numbers a row and does "
            f"not name them, so the columns are taken in order; there are {len(others)}: "
            f"{list_names(others, 10)}. Remove the others (predict does not count those of --keep)."
        )
    note(f"The model does not name its features: it takes the columns of {where} in order.")
    return others


def _by_name(rows: Rows, names: Sequence[str], wanted: Sequence[str]) -> Rows:
    """Return rows with the wanted columns; other columns are dropped."""
    import numpy as np

    from separable.data.rows import Rows as RowsClass

    assert rows.indices is not None
    assert rows.indptr is not None
    index_of = {name: number for number, name in enumerate(wanted)}
    new_index = np.array([index_of.get(name, -1) for name in names], dtype=np.int64)
    new = new_index[rows.indices]
    keep = new >= 0
    starts = np.concatenate([[0], np.cumsum(keep)])[rows.indptr]
    return RowsClass(rows.values[keep], len(wanted), new[keep], starts.astype(np.int64))


@dataclass(frozen=True)
class Part:
    """A chunk of rows of a file.

    Parameters
    ----------
    first_row : int
        Index of its first row in the file.
    rows : Rows
        The input of the model.
    table : pyarrow.Table or None
        The columns that were read; None for sparse text.
    report : EncodingReport or None
        The report of the encoder.
    labels, weights : ndarray or None
        From sparse text.
    """

    first_row: int
    rows: Rows
    table: pa.Table | None = None
    report: EncodingReport | None = None
    labels: NDArray[Any] | None = None
    weights: NDArray[Any] | None = None


class ModelRows:
    """The rows of a file as input of a model; iteration yields `Part` after `Part`.

    Parameters
    ----------
    model : LinearModel or VotedModel
    source : RowSource
        A file, a glob, a folder or standard input.
    besides : mapping of str to str, optional
        Columns to read that the model does not need, with their types; None: as text from text
        files, otherwise with the type of the file.
    column : str, optional
        Where the model takes texts: the column that has them.
    doing : str
        The action, for the progress line.
    """

    def __init__(
        self,
        model: Model,
        source: RowSource,
        besides: Mapping[str, ColumnType | None] | None = None,
        column: str | None = None,
        doing: str = "Reading",
    ) -> None:
        self.model, self.source, self.doing = model, source, doing
        self.data = source.data
        self._besides = dict(besides or {})
        self.feed = feed_of(model, source, tuple(self._besides), column)

    @property
    def raw_columns(self) -> tuple[str, ...]:
        """The columns of the file that the model uses, if they have names."""
        return tuple(self.feed.columns)

    def __iter__(self) -> Iterator[Part]:
        first_row = 0
        with (
            step(f"{self.doing} {file_name(self.data)}") as running,
            self._naming_missing_columns(),
        ):
            for dataset in self.source.datasets(PART_ROWS, self._options(), running.reading):
                yield self._part(dataset, first_row)
                first_row += len(dataset)

    def row(self, index: int) -> Part:
        """Return one row; only this row is encoded.

        Parameters
        ----------
        index : int
            Counted from 0.
        """
        first_row = 0
        with step(f"Reading {file_name(self.data)}") as running, self._naming_missing_columns():
            for dataset in self.source.datasets(PART_ROWS, self._options(), running.reading):
                if index < first_row + len(dataset):
                    return self._part(_one_row(dataset, index - first_row), index)
                first_row += len(dataset)
        raise ValueError(
            f"{file_name(self.data)} has {counted(first_row, 'data row')}, so there is no row "
            f"{index + 1}. Rows are counted from 1 below the header line."
        )

    def _part(self, dataset: Dataset, first_row: int) -> Part:
        with naming_file(self.data, range(first_row, first_row + len(dataset))):
            rows, report = self.feed.rows(dataset)
        return Part(first_row, rows, dataset.table, report, dataset.y, dataset.weights)

    @contextmanager
    def _naming_missing_columns(self) -> Iterator[None]:
        """Name all missing columns if a file lacks some."""
        from separable.data.table import TableError, headerless_hint, list_names

        try:
            yield
        except TableError as error:
            if "has no column" in str(error) and self.source.again:
                names = self.source.names()
                absent = [name for name in self.feed.columns if name not in names]
                if absent:
                    raise TableError(
                        f"{file_name(self.data)} lacks {counted(len(absent), 'column')} that the "
                        f"model was trained with: {list_names(absent, 5)}. It has "
                        f"{list_names(names, 10)}. Add them, empty where the values are unknown."
                        f"{headerless_hint(names)}"
                    ) from None
            raise

    def _options(self) -> dict[str, Any]:
        if not self.source.is_table:
            return self.feed.options
        types: dict[str, ColumnType] = {}
        for name, kind in self._besides.items():
            if kind is None and self.source.kind in ("csv", "jsonl"):
                kind = "category"
            if kind is not None:
                types[name] = kind
        types |= self.feed.columns
        names = list(dict.fromkeys([*self.feed.columns, *self._besides]))
        return {"columns": names, "column_types": types}


def load_model(path: str) -> Model:
    """Load a model that accepts rows of a file."""
    model = load_trusted(path)
    kind = getattr(model.encoder, "kind", None)
    if kind not in (None, "table", "text"):
        raise ValueError(
            f"{path}: this {model.learner} model takes rows through a "
            f"{type(model.encoder).__name__}, which the command line does not support. Load it in "
            "Python with separable.load."
        )
    texts: Any = getattr(model.encoder, "text_encoders", {"text": model.encoder})
    for encoder in texts.values() if model.encoder is not None else ():
        if encoder.input != "content":
            raise ValueError(
                f"{path}: this {model.learner} model reads its texts from files by name, which the "
                "command line does not support. Load it in Python with separable.load."
            )
    return model


def note_reports(
    model: Model, reports: Iterable[EncodingReport | None], first_row: int = 0
) -> None:
    """Note missing values and unseen levels that the encoder has reported.

    Parameters
    ----------
    model : LinearModel or VotedModel
    reports : iterable of EncodingReport or None
        Those of all chunks, in order.
    first_row : int
        Index of the first row in its file.
    """
    from separable.features.encoding_report import EncodingReport

    mask = [report for report in reports if report is not None]
    if model.encoder is not None and mask:
        whole = EncodingReport.joined(mask, model.encoder.sources)
        for line in report_lines(whole, first_row):
            note(line)


def text_column_of(model: Model, column: str | None) -> str:
    """Return the text column of a model: the only one, or the named one."""
    encoder: Any = model.encoder
    kind = getattr(encoder, "kind", None)
    if kind == "text":
        return column or "text"
    texts = list(encoder.text_encoders) if kind == "table" else []
    if not texts:
        raise ValueError(
            f"This {model.learner} model has no text column. Explain a row of a file instead: DATA "
            "--row N."
        )
    if column is None and len(texts) > 1:
        raise ValueError(f"The model has several text columns: {', '.join(texts)}. "
                         "Name one with --column.")  # fmt: skip
    if column is not None and column not in texts:
        raise ValueError(
            f"{column!r} is not a text column of this model. Text columns: {', '.join(texts)}."
        )
    return column or texts[0]


def _one_row(dataset: Dataset, index: int) -> Dataset:
    table = None if dataset.table is None else dataset.table.slice(index, 1)
    rows = None if dataset.rows is None else dataset.rows.slice(index, index + 1)
    return replace(dataset, table=table, rows=rows, y=None, weights=None)
