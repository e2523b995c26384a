"""Conversion of the rows of a file to the input of a model: columns to read, and their encoding.

A table goes through the encoder, texts are one column of it, numbers are columns or sparse text.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from separable.cli.io.output import file_name
from separable.cli.io.saving import remembered
from separable.cli.render.messages import note

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from separable.cli.io.row_source import RowSource
    from separable.data.dataset import Dataset
    from separable.data.rows import Rows
    from separable.data.table import ColumnType
    from separable.features.encoding_report import EncodingReport
    from separable.model.kinds import Model

__all__ = ["Feed", "feed_of"]


@dataclass(frozen=True)
class Feed(ABC):
    """Makes the rows of a model from those of a file.

    Parameters
    ----------
    model : LinearModel or VotedModel
    columns : mapping of str to str
        The columns to read, with their types; none of sparse text.
    options : dict
        More options of `separable.data.read`.
    """

    model: Model
    columns: Mapping[str, ColumnType]
    options: dict[str, Any] = field(default_factory=dict)

    @abstractmethod
    def rows(self, dataset: Dataset) -> tuple[Rows, EncodingReport | None]:
        """Return the rows of a part of a file, and what an encoder met in them."""


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
    """Return what makes the rows of a model from those of a file.

    Parameters
    ----------
    model : LinearModel or VotedModel
    source : RowSource
    besides : sequence of str
        Columns that are read for something else.
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
        base = remembered(model).get("index_base", "auto")
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
    """Return the columns for the features, by name where the model and the file have the names."""
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
    """Return rows with the columns that are wanted; values under other names are left out."""
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
