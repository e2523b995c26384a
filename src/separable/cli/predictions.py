"""Predictions as columns of a table, and these as CSV, JSON lines and Parquet."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from separable.data.arrow_arrays import mask, number_array, one_chunk, strings
from separable.model.probability import model_probabilities

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from separable.data.rows import Rows
    from separable.model.kinds import Model

__all__ = ["OutputFormat", "output_format", "prediction_table", "written"]

OutputFormat: TypeAlias = Literal["csv", "jsonl", "parquet"]

#: What the end of a file's name says.
ENDINGS: dict[str, OutputFormat] = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
}


def output_format(path: str | None) -> OutputFormat:
    """Return what the name of a file asks for, CSV where it says nothing else."""
    ending = "" if path is None else f".{path.lower().rpartition('.')[2]}"
    return ENDINGS.get(ending, "csv")


def prediction_table(
    model: Model, rows: Rows, *, probabilities: bool = True, explain: int = 0
) -> pa.Table:
    """Return the predictions of some rows and what belongs to them, by name.

    Classes: ``prediction``; ``score``, or with three or more classes ``score_<class>`` for each;
    and ``probability_<class>`` for each where the model gives probabilities. Numbers:
    ``prediction`` alone, or with several targets ``prediction_0`` and so on.

    Parameters
    ----------
    model : LinearModel or VotedModel
    rows : Rows
    probabilities : bool, default True
        Whether to give those there are.
    explain : int, default 0
        So many of the strongest contributions are in the column ``because``.

    Returns
    -------
    pyarrow.Table
    """
    import pyarrow as pa

    explanation = model.explain(rows)
    scores = explanation.all_scores  # computed once, for all that follows
    columns: dict[str, Any]
    if model.classes is None:
        columns = _named("prediction", range(scores.shape[1]), scores)
    else:
        labels = model.classes.tolist()
        codes = number_array(_class_codes(scores, len(labels)))
        columns = {"prediction": _label_array(model.classes).take(codes)}
        columns |= _named("score", labels, scores)
        chances = model_probabilities(model, scores) if probabilities else None
        if chances is not None:
            names = (f"probability_{label}" for label in labels)
            columns |= dict(zip(names, map(number_array, chances.T), strict=True))
    if explain:
        from separable.cli.reasons import reasons

        columns["because"] = reasons(explanation, explain)
    return pa.table(columns)


def _label_array(classes: NDArray[Any]) -> Any:
    """Return the classes as an Arrow array."""
    if classes.dtype.kind == "U":
        return strings(tuple(classes.tolist()))
    return mask(classes) if classes.dtype.kind == "b" else number_array(classes)


def _class_codes(scores: NDArray[np.float64], n_classes: int) -> NDArray[Any]:
    import numpy as np

    from separable.model.probability import classes_of

    return classes_of(scores, np.arange(n_classes))


def _named(what: str, labels: Iterable[Any], values: NDArray[np.float64]) -> dict[str, Any]:
    """Name the columns of an array, by label where there are several."""
    if values.shape[1] == 1:
        return {what: number_array(values[:, 0])}
    columns = zip(labels, map(number_array, values.T), strict=True)
    return {f"{what}_{label}": column for label, column in columns}


def written(tables: Iterable[pa.Table], form: OutputFormat) -> Iterator[bytes]:
    """Give what is to be written of some tables, which all have the same columns.

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
    """Give lines of CSV; numbers in the fewest digits that give them back, nothing row by row."""
    first = True
    for table in tables:
        header = b""
        if first:
            header = _lines([_quoted(strings([name])) for name in table.column_names])
        yield header + _lines([_cells(one_chunk(table[name])) for name in table.column_names])
        first = False


def _cells(column: Any) -> Any:
    """Return a column as texts, in quotes where they need them."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_list(column.type):
        from separable.cli.reasons import reason_texts

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
    """Return columns of texts as lines, a missing one as nothing."""
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
    """Give one JSON object a row."""
    import msgspec

    encoder = msgspec.json.Encoder()
    for table in tables:
        yield encoder.encode_lines(table.to_pylist())


def _parquet(tables: Iterable[pa.Table]) -> Iterator[bytes]:
    """Give a Parquet file, with a group of rows for each table."""
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
    """A file that hands on what was written to it."""

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
        """Return what was written since."""
        parts, self._parts = self._parts, []
        return b"".join(parts)
