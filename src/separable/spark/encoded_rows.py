"""The rows of a DataFrame, encoded once and persisted while a fit lasts."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from separable.data.table import require_columns
from separable.spark.cluster_jobs import collected
from separable.spark.encoded_blocks import encoded_frame
from separable.spark.row_parts import HASH, RowParts
from separable.spark.row_survey import RowSource, survey
from separable.spark.spark_partitions import SparkPartitions
from separable.workflow.out_of_core.partition_learners import PartitionData

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from separable.features.table.table_encoder import TableEncoder
    from separable.model.linear_model import LinearModel
    from separable.spark.cluster_jobs import Frame
    from separable.spark.row_survey import Survey

__all__ = ["EncodedRows", "encoded_rows", "row_source"]


@dataclass(frozen=True)
class EncodedRows:
    """The rows of a DataFrame, encoded and persisted.

    Parameters
    ----------
    blocks : DataFrame
    found : Survey
    source : RowSource
    parts : RowParts
    """

    blocks: Frame
    found: Survey
    source: RowSource
    parts: RowParts

    @property
    def classes(self) -> NDArray[Any] | None:
        """The sorted classes; None in regression."""
        return self.found.target.classes

    def partitions(self, *, held_out: bool | None = None) -> SparkPartitions:
        """Return all rows, only the held-out ones, or only the others."""
        is_classification = self.classes is not None
        return SparkPartitions(
            self.blocks,
            is_classification=is_classification,
            held_out=held_out,
            most_partitions=self.found.n_partitions,
        )

    def data(self, *, held_out: bool | None = None) -> PartitionData:
        """Return the same as learners over partitions take it."""
        rows = self.partitions(held_out=held_out)
        n_folds = 0 if held_out else self.parts.n_folds
        return PartitionData(rows, self.classes, n_folds)

    def with_encoder(self, model: LinearModel) -> LinearModel:
        """Return a model with the encoder of these rows."""
        if self.found.encoder is None:
            return model
        return replace(model, encoder=self.found.encoder.without_state(), feature_names=None)


@contextmanager
def encoded_rows(
    df: Frame, source: RowSource, parts: RowParts, encoder: TableEncoder | None = None
) -> Iterator[EncodedRows]:
    """Encode the rows of a DataFrame, keep them while the context lasts.

    Parameters
    ----------
    df : DataFrame
    source : RowSource
    parts : RowParts
    encoder : TableEncoder, optional
        Its parameters; by default ``TableEncoder()``.
    """
    n_features = None if source.vector is None else _length_of(df, source)
    frame = parts.with_hash(df)
    found = survey(frame, source, encoder)
    blocks = encoded_frame(frame, source, found, parts, n_features).persist()
    try:
        yield EncodedRows(blocks, found, source, parts)
    finally:
        blocks.unpersist()


def _length_of(df: Frame, source: RowSource) -> int:
    """Return the length of the vectors of the first row."""
    require_columns([source.vector or ""], df.columns, "The DataFrame")
    first = collected(df.select(source.vector).limit(1))
    vector = first.column(0)[0].as_py() if first.num_rows else None
    if not isinstance(vector, dict) or "values" not in vector:
        raise TypeError(
            f"The column {source.vector!r} has no vectors. Make them with pyspark.ml's "
            "VectorAssembler or HashingTF, or leave out `features` to learn from all columns."
        )
    return int(vector["size"] if vector["type"] == 0 else len(vector["values"]))


def row_source(df: Frame, target: str, task: str, **columns: Any) -> RowSource:
    """Return how rows are read, from names of columns."""
    names = {k: v for k, v in columns.items() if k in ("weight", "key", "folds") and v is not None}
    require_columns([target, *names.values()], df.columns, "The DataFrame")
    return RowSource(
        target,
        task,
        columns.get("weight"),
        columns.get("features"),
        (target, *names.values(), HASH),
        bool(columns.get("skips_missing")),
    )
