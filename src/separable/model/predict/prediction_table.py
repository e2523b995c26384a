"""Predictions and their largest contributions as a table, in CSV, JSON lines or Parquet."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from separable.data.arrow_arrays import mask, number_array, one_chunk, strings
from separable.model.predict.probability import (
    classes_of,
    model_probabilities,
    predicted_numbers,
)
from separable.model.words import feature_name, shown, signed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    import pyarrow as pa
    from numpy.typing import NDArray

    from separable.data.rows import Rows
    from separable.model.explain.explanation import Explanation
    from separable.model.kinds import Model

__all__ = [
    "OutputFormat",
    "output_format",
    "prediction_records",
    "prediction_table",
    "reason_texts",
    "reasons",
    "written",
]


OutputFormat: TypeAlias = Literal["csv", "jsonl", "parquet"]

#: Output format by file extension.
ENDINGS: dict[str, OutputFormat] = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
}


def output_format(path: str | None) -> OutputFormat:
    """Return the output format of a file by its extension, CSV by default."""
    ending = "" if path is None else f".{path.lower().rpartition('.')[2]}"
    return ENDINGS.get(ending, "csv")


def prediction_table(
    model: Model, rows: Rows, *, probabilities: bool = True, explain: int = 0
) -> pa.Table:
    """Return the predictions of rows as a table.

    Classes: ``prediction``; ``score``, or with three or more classes ``score_<class>`` for each;
    and ``probability_<class>`` for each where the model gives probabilities. Numbers:
    ``prediction`` alone, or with several targets ``prediction_0`` and so on.

    Parameters
    ----------
    model : LinearModel or VotedModel
    rows : Rows
    probabilities : bool, default True
        Whether to include probabilities, if the model has them.
    explain : int, default 0
        Number of largest contributions in the column ``because``.

    Returns
    -------
    pyarrow.Table
    """
    import pyarrow as pa

    explanation = model.explain(rows)
    scores = explanation.all_scores  # computed once, used below
    columns: dict[str, Any] = {}
    if model.classes is not None:
        codes = number_array(_class_codes(model, scores))
        columns["prediction"] = _label_array(model.classes).take(codes)
    numbers = _numbers(model, scores, probabilities=probabilities)
    columns |= {name: number_array(values) for name, values in numbers.items()}
    if explain:
        columns["because"] = reasons(explanation, explain)
    return pa.table(columns)


def prediction_records(model: Model, scores: NDArray[np.float64]) -> list[dict[str, Any]]:
    """Return the same columns row by row, from the scores of a few rows.

    Parameters
    ----------
    model : LinearModel or VotedModel
    scores : ndarray, shape (n, k)

    Returns
    -------
    list of dict
    """
    columns: dict[str, list[Any]] = {}
    if model.classes is not None:
        columns["prediction"] = model.classes[_class_codes(model, scores)].tolist()
    numbers = _numbers(model, scores, probabilities=True)
    columns |= {name: values.tolist() for name, values in numbers.items()}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _numbers(
    model: Model, scores: NDArray[np.float64], *, probabilities: bool
) -> dict[str, NDArray[np.float64]]:
    """Return scores and probabilities by name; in regression the predictions."""
    if model.classes is None:
        return _named("prediction", range(scores.shape[1]), predicted_numbers(model, scores))
    labels = model.classes.tolist()
    numbers = _named("score", labels, scores)
    chances = model_probabilities(model, scores) if probabilities else None
    if chances is not None:
        names = (f"probability_{label}" for label in labels)
        numbers |= dict(zip(names, chances.T, strict=True))
    return numbers


def _label_array(classes: NDArray[Any]) -> Any:
    """Return the classes as an Arrow array."""
    if classes.dtype.kind == "U":
        return strings(tuple(classes.tolist()))
    return mask(classes) if classes.dtype.kind == "b" else number_array(classes)


def _class_codes(model: Model, scores: NDArray[np.float64]) -> NDArray[Any]:
    assert model.classes is not None
    return classes_of(scores, np.arange(len(model.classes)), model.score_threshold)


def _named(
    what: str, labels: Iterable[Any], values: NDArray[np.float64]
) -> dict[str, NDArray[np.float64]]:
    """Name the columns of an array, by class if there are several."""
    if values.shape[1] == 1:
        return {what: values[:, 0]}
    return {f"{what}_{label}": each for label, each in zip(labels, values.T, strict=True)}


def written(tables: Iterable[pa.Table], form: OutputFormat) -> Iterator[bytes]:
    """Yield the bytes of tables that all have the same columns.

    Parameters
    ----------
    tables : iterable of pyarrow.Table
    form : {"csv", "jsonl", "parquet"}
    """
    write: dict[OutputFormat, Callable[[Iterable[pa.Table]], Iterator[bytes]]] = {
        "csv": _csv,
        "jsonl": _json_lines,
        "parquet": _parquet,
    }
    return write[form](tables)


def _csv(tables: Iterable[pa.Table]) -> Iterator[bytes]:
    """Yield lines of CSV, vectorized; numbers have the fewest digits that round-trip."""
    first = True
    for table in tables:
        header = b""
        if first:
            header = _lines([_quoted(strings([name])) for name in table.column_names])
        yield header + _lines([_cells(one_chunk(table[name])) for name in table.column_names])
        first = False


def _cells(column: Any) -> Any:
    """Return a column as texts, quoted if necessary."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_list(column.type):
        column = reason_texts(column)
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    is_text = pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
    return _quoted(column) if is_text else pc.cast(column, pa.string())


def _quoted(texts: Any) -> Any:
    import pyarrow.compute as pc

    odd = pc.match_substring_regex(texts, '[",\r\n]')
    if not pc.any(odd).as_py():
        return texts
    inside = pc.replace_substring(texts, '"', '""')
    quote, nothing = (_scalar(each, texts.type) for each in ('"', ""))
    return pc.if_else(odd, pc.binary_join_element_wise(quote, inside, quote, nothing), texts)


def _scalar(text: str, kind: Any) -> Any:
    """Return a text for Arrow to compute with; ``pyarrow.scalar`` would import pandas."""
    return strings([text]).cast(kind)[0]


def _lines(cells: list[Any]) -> bytes:
    """Return columns of texts as lines; a missing value is empty."""
    import pyarrow as pa
    import pyarrow.compute as pc

    text = pa.large_string()
    comma, newline, nothing = (_scalar(each, text) for each in (",", "\n", ""))
    columns = [pc.cast(column, text) for column in cells]
    joined = pc.binary_join_element_wise(
        *columns, comma, null_handling="replace", null_replacement=""
    )
    lines = pc.binary_join_element_wise(joined, nothing, newline)
    size = pc.sum(pc.binary_length(lines)).as_py() or 0
    return bytes(memoryview(lines.buffers()[2])[:size])


def _json_lines(tables: Iterable[pa.Table]) -> Iterator[bytes]:
    """Yield one JSON object per row."""
    import msgspec

    encoder = msgspec.json.Encoder()
    for table in tables:
        yield encoder.encode_lines(table.to_pylist())


def _parquet(tables: Iterable[pa.Table]) -> Iterator[bytes]:
    """Yield a Parquet file, with one row group per table."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = _Sink()
    writer = None
    for table in tables:
        if writer is None:
            writer = pq.ParquetWriter(pa.PythonFile(sink, mode="w"), table.schema)
        writer.write_table(table)
        yield sink.taken()
    if writer is not None:
        writer.close()
    yield sink.taken()


class _Sink(io.RawIOBase):
    """A file object that returns the bytes written to it."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0

    def write(self, data: Any) -> int:
        part = bytes(data)
        self._parts.append(part)
        self._size += len(part)
        return len(part)

    def tell(self) -> int:
        return self._size

    def writable(self) -> bool:
        return True

    def taken(self) -> bytes:
        """Return the bytes written since the last call."""
        parts, self._parts = self._parts, []
        return b"".join(parts)


def reasons(explanation: Explanation, n: int) -> pa.Array[Any]:
    """Return the n largest non-zero contributions of each row, largest first.

    Parameters
    ----------
    explanation : Explanation
        With three or more classes the contributions are to the score of the predicted class.
    n : int

    Returns
    -------
    pyarrow.Array
        Lists of feature, value and contribution; the value is the raw one if the encoder knows
        it.
    """
    import pyarrow as pa

    row, feature, value, part = _strongest(explanation, n)
    names, raw = explanation.feature_names, getattr(explanation.model.encoder, "shown", None)
    features = feature.tolist()
    labels = [feature_name(names, j) for j in features]
    values: list[Any] = [f"{each:.6g}" for each in value.tolist()]
    if raw is not None:
        pairs = zip(features, value.tolist(), values, strict=True)
        values = [raw(j, each) or text for j, each, text in pairs]
    terms = pa.StructArray.from_arrays(
        [strings(labels), strings(values), number_array(part)],
        ["feature", "value", "contribution"],
    )
    ends = np.searchsorted(row, np.arange(len(explanation) + 1))
    return pa.ListArray.from_arrays(number_array(ends.astype(np.int32)), terms)


def reason_texts(column: Any) -> Any:
    """Return lists of reasons as text: ``age 39 +0.52; city=Rome -0.3``."""
    return strings("; ".join(map(_text, terms)) for terms in column.to_pylist())


def _text(term: dict[str, Any]) -> str:
    value = "" if term["value"] == "1" else f" {term['value']}"
    return f"{shown(term['feature'])}{value} {signed(term['contribution'])}"


def _strongest(
    explanation: Explanation, n: int
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return row, feature, value and contribution of the terms, row by row."""
    rows, parts = explanation.rows, explanation.contributions()
    if rows.indptr is None or rows.indices is None:
        row = np.repeat(np.arange(rows.n_rows), rows.n_features)
        feature = np.tile(np.arange(rows.n_features), rows.n_rows)
    else:
        row, feature = np.repeat(np.arange(rows.n_rows), np.diff(rows.indptr)), rows.indices
    value, part = rows.values.reshape(-1), parts.values.reshape(-1)
    order = np.lexsort((-np.abs(part), row))
    order = order[part[order] != 0]
    counts = np.bincount(row[order], minlength=rows.n_rows)
    rank = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
    order = order[rank < n]
    return row[order], feature[order], value[order].astype(np.float64), part[order]
