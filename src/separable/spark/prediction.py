"""Prediction and explanation of the rows of a DataFrame, by a model of any origin."""

from __future__ import annotations

import tempfile
from functools import lru_cache, partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.arrow_arrays import one_chunk
from separable.data.table import require_columns
from separable.model.files.model_file import load
from separable.spark.cluster_jobs import mapped
from separable.spark.encoded_blocks import rows_of_vectors
from separable.spark.row_survey import at_row

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pyarrow as pa

    from separable.spark.cluster_jobs import Frame

__all__ = ["explain", "predict"]


def predict(model: Any, df: Frame, *, features: str | None = None) -> Frame:
    """Return a DataFrame with predictions.

    Parameters
    ----------
    model : LinearModel, TrainingRun or fitted learner
    df : DataFrame
        With the columns of the model; others are kept as they are.
    features : str, optional
        The column of vectors (``VectorUDT``) of a model without an encoder.

    Returns
    -------
    DataFrame
        Lazy. ``prediction`` is the class or the number of each row; of classifiers,
        ``scores`` are those of ``decision_function`` and ``probability`` has one number a class
        if the model has probabilities.
    """
    linear = _model_of(model)
    kind = _type_of(linear)
    fields = [("prediction", kind)]
    if linear.classes is not None:
        fields.append(("scores", "array<double>"))
        if _has_probabilities(linear):
            fields.append(("probability", "array<double>"))
    return _with_columns(linear, df, fields, features, _predictions)


def explain(model: Any, df: Frame) -> Frame:
    """Return a DataFrame with the exact contribution of each raw column to the prediction.

    Parameters
    ----------
    model : LinearModel, TrainingRun or fitted learner
        With an encoder.
    df : DataFrame

    Returns
    -------
    DataFrame
        Lazy. ``prediction``; ``score`` of the predicted class, or of the second of two;
        ``intercept``; and ``contributions``, a map from raw column to its part of the score. The
        intercept and the contributions add up to the score.
    """
    linear = _model_of(model)
    if linear.classes is None and len(linear.weights) > 1:
        raise ValueError(
            "Models of several targets are explained one row at a time: model.explain."
        )
    fields = [
        ("prediction", _type_of(linear)),
        ("score", "double"),
        ("intercept", "double"),
        ("contributions", "map<string,double>"),
    ]
    return _with_columns(linear, df, fields, None, _explanations)


def _model_of(model: Any) -> Any:
    for name in ("model_", "model"):
        model = getattr(model, name, model)
    if not hasattr(model, "save") or not hasattr(model, "weights"):
        raise TypeError(
            f"Expected a LinearModel, a TrainingRun or a fitted learner of separable. Got "
            f"{type(model).__name__}."
        )
    return model


def _type_of(model: Any) -> str:
    """Return Spark's type of a prediction."""
    if model.classes is None:
        return "double" if len(model.weights) == 1 else "array<double>"
    return {"i": "bigint", "b": "boolean", "f": "double"}.get(model.classes.dtype.kind, "string")


def _has_probabilities(model: Any) -> bool:
    return model.link in ("logistic", "softmax") or model.calibration is not None


def _with_columns(
    model: Any,
    df: Frame,
    fields: list[tuple[str, str]],
    features: str | None,
    compute: Callable[[Any, Any], list[Any]],
) -> Frame:
    """Return a frame with further columns, computed batch by batch."""
    taken = [name for name, _ in fields if name in df.columns]
    if taken:
        raise ValueError(
            f"The DataFrame has a column {taken[0]!r} already. Rename it: "
            f"df.withColumnRenamed({taken[0]!r}, ...)."
        )
    if features is not None:
        require_columns([features], df.columns, "The DataFrame")
    elif model.encoder is None:
        raise ValueError(
            "The model has no encoder, so it needs a column of vectors: features='features'."
        )
    else:
        needed = [row.column for row in model.encoder.columns_ if row.type != "dropped"]
        require_columns(needed, df.columns, "The DataFrame")
    added = import_module("pyspark.sql.types").StructType.fromDDL(
        ", ".join(f"{name} {kind}" for name, kind in fields)
    )
    schema = type(added)([*df.schema.fields, *added.fields])
    run = partial(_batches, _bytes_of(model), features, [name for name, _ in fields], compute)

    def job(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from run(batches)

    return mapped(df, job, schema)


def _bytes_of(model: Any) -> bytes:
    """Return the model file, which executors load once."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.safetensors"
        model.save(path)
        return path.read_bytes()


@lru_cache(maxsize=4)
def _loaded(content: bytes) -> Any:
    """Return the model of a file; workers that Spark uses again keep it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.safetensors"
        path.write_bytes(content)
        return load(path, allow_patterns=True)


def _batches(
    content: bytes,
    features: str | None,
    names: list[str],
    compute: Callable[[Any, Any], list[Any]],
    batches: Iterator[pa.RecordBatch],
) -> Iterator[pa.RecordBatch]:
    """Yield the batches of a partition with further columns."""
    import pyarrow as pa

    model, first = _loaded(content), 0
    for batch in batches:
        if not batch.num_rows:
            continue
        table: Any = pa.Table.from_batches([batch])
        with at_row(first):
            if features is not None:
                column = one_chunk(table[features])
                table = rows_of_vectors(column, model.n_features, features, first)
            made = compute(model, table)
        first += batch.num_rows
        yield pa.RecordBatch.from_arrays(
            [*batch.columns, *made], names=[*batch.schema.names, *names]
        )


def _predictions(model: Any, table: Any) -> list[Any]:
    columns = [_array(model.predict(table))]
    if model.classes is not None:
        columns.append(_lists(model.decision_function(table)))
        if _has_probabilities(model):
            columns.append(_lists(model.predict_proba(table)))
    return columns


def _explanations(model: Any, table: Any) -> list[Any]:
    import pyarrow as pa

    explanation = model.explain(table)
    parts = explanation.by_column()
    n, names = len(explanation), list(parts)
    values = np.column_stack([parts[name] for name in names])
    intercepts = explanation.intercepts()
    keys = pa.DictionaryArray.from_arrays(
        np.tile(np.arange(len(names), dtype=np.int32), n), pa.array(names, pa.string())
    ).dictionary_decode()
    offsets = np.arange(n + 1, dtype=np.int32) * np.int32(len(names))
    scores = np.asarray(explanation.scores).reshape(n, -1).max(axis=1)  # of the predicted class
    return [
        _array(explanation.predicted),
        pa.array(scores, pa.float64()),
        pa.array(np.ascontiguousarray(intercepts), pa.float64()),
        pa.MapArray.from_arrays(pa.array(offsets), keys, pa.array(values.ravel(), pa.float64())),
    ]


def _array(values: Any) -> Any:
    """Return predictions as a column."""
    import pyarrow as pa

    values = np.asarray(values)
    if values.ndim == 2:
        return _lists(values)
    kinds = {"i": pa.int64(), "b": pa.bool_(), "f": pa.float64()}
    return pa.array(values.tolist(), kinds.get(values.dtype.kind, pa.string()))


def _lists(values: Any) -> Any:
    """Return rows of numbers as a column of lists."""
    import pyarrow as pa

    table = np.asarray(values, np.float64).reshape(len(values), -1)
    offsets = np.arange(len(table) + 1, dtype=np.int32) * np.int32(table.shape[1])
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(table.ravel(), pa.float64()))
