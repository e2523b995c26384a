"""Rows of a file for a model, in chunks: shared by predict, evaluate and explain.

How a model takes rows depends on what it was trained on: see `separable.cli.io.model_feeds`.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from separable.cli.io.model_feeds import feed_of
from separable.cli.io.output import counted, file_name, naming_file, report_lines
from separable.cli.options.options import load_trusted
from separable.cli.render.messages import note, step

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    import pyarrow as pa
    from numpy.typing import NDArray

    from separable.cli.io.row_source import RowSource
    from separable.data.dataset import Dataset
    from separable.data.rows import Rows
    from separable.data.table import ColumnType
    from separable.features.encoding_report import EncodingReport
    from separable.model.kinds import Model

__all__ = ["PART_ROWS", "ModelRows", "Part", "load_model", "tell_reports", "text_column_of"]

#: How many rows are encoded and scored at a time.
PART_ROWS = 1 << 14


@dataclass(frozen=True)
class Part:
    """Some rows of a file.

    Parameters
    ----------
    first_row : int
        The place of the first in the file, counted from 0.
    rows : Rows
        As the model takes them.
    table : pyarrow.Table or None
        The columns they were made from and those asked for besides; None of sparse text.
    report : EncodingReport or None
        What the encoder met.
    labels, weights : ndarray or None
        What sparse text says of each row.
    """

    first_row: int
    rows: Rows
    table: pa.Table | None = None
    report: EncodingReport | None = None
    labels: NDArray[Any] | None = None
    weights: NDArray[Any] | None = None


class ModelRows:
    """The rows of a file, for a model. Iterating gives `Part` after `Part`.

    Parameters
    ----------
    model : LinearModel or VotedModel
    source : RowSource
        A file, a glob, a folder or standard input.
    besides : mapping of str to str, optional
        Columns to read that the model does not need, with their types; None: as text from text
        files, else as they are.
    column : str, optional
        Where the model takes texts: the column that has them.
    doing : str
        What is being done, for the line that shows progress.
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
        """The columns of the file that the model takes, where it has named ones."""
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
        """Return a single row, the only one that is encoded.

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
        """Where a file cannot be read because it lacks columns, name all of them."""
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
    """Load a model whose rows can come from a file."""
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


def tell_reports(
    model: Model, reports: Iterable[EncodingReport | None], first_row: int = 0
) -> None:
    """Tell what an encoder met: what was missing, and levels that training did not have.

    Parameters
    ----------
    model : LinearModel or VotedModel
    reports : iterable of EncodingReport or None
        Those of one part after the other.
    first_row : int
        The place of the first row in its file, counted from 0.
    """
    from separable.features.encoding_report import EncodingReport

    mask = [report for report in reports if report is not None]
    if model.encoder is not None and mask:
        whole = EncodingReport.joined(mask, model.encoder.sources)
        for line in report_lines(whole, first_row):
            note(line)


def text_column_of(model: Model, column: str | None) -> str:
    """Return the column of texts that a model takes, the only one or the one named."""
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
