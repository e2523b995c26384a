"""One version of a model: read from its file, tested on its own rows, ready to predict."""

from __future__ import annotations

import hashlib
import math
import time
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.arrow_arrays import number_array
from separable.data.columns import Categories, Columns, Numbers, as_columns
from separable.data.ingest.dates import TypedColumns
from separable.data.rows import Rows, as_rows
from separable.data.table import CellError, TableError, is_number, list_names
from separable.features.encoding_report import EXAMPLES
from separable.features.table.table_encoder import TableEncoder
from separable.features.table.unconvertible import without_unconvertible
from separable.model.column_statistics import rows_outside
from separable.model.feature_sums import FeatureSums
from separable.model.files.model_file import ModelFileError, check_regular, model_from_bytes
from separable.model.input_schema import LARGEST_NUMBER, input_schema
from separable.model.linear_model import LinearModel
from separable.model.predict.inputs import WeightColumns, pair_scores
from separable.model.predict.prediction_table import prediction_records, prediction_table, reasons
from separable.serve.json_columns import json_columns

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pyarrow as pa

    from separable.features.table.column_states import ColumnEncoder
    from separable.features.table.unconvertible import UnconvertibleCells
    from separable.model.column_statistics import ColumnStatistics
    from separable.model.input_schema import InputColumn
    from separable.model.kinds import Model
    from separable.typing import Floats

__all__ = ["Predicted", "ServedModel", "Warned"]

#: Contributions in the answer to the example.
EXAMPLE_REASONS = 10
TOO_LARGE = (
    f"it is larger than {LARGEST_NUMBER:g}, and the score might not be finite. Correct it, or send "
    "null if it is missing."
)


@dataclass(frozen=True)
class Warned:
    """Values of one column that the model answers by a policy.

    Parameters
    ----------
    column : str
    kind : {"missing", "unseen", "out_of_range", "unconvertible"}
        A cell that the encoder cannot convert counts as missing.
    count : int
    rows : tuple of int
        The first of them, counted from 0.
    values : tuple
        Their values; () of missing ones.
    """

    column: str
    kind: str
    count: int
    rows: tuple[int, ...]
    values: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Predicted:
    """The predictions of a request.

    Parameters
    ----------
    model : Model
    scores : ndarray, shape (n, k)
    rows : Rows or None
        The encoded rows; None of a single record, which needs none.
    warnings : tuple of Warned
    explain : int
        Number of contributions of each row.
    """

    model: Model
    scores: Floats
    rows: Rows | None
    warnings: tuple[Warned, ...]
    explain: int = 0

    def records(self) -> list[dict[str, Any]]:
        """Return the predictions row by row."""
        records = prediction_records(self.model, self.scores)
        if self.explain and self.rows is not None:
            terms = reasons(self.model.explain(self.rows), self.explain).to_pylist()
            for record, because in zip(records, terms, strict=True):
                record["because"] = because
        return records

    def table(self) -> pa.Table:
        """Return the predictions as a table, as the command ``predict`` writes them."""
        assert self.rows is not None
        return prediction_table(self.model, self.rows, explain=self.explain)


@dataclass(frozen=True, eq=False)
class ServedModel:
    """A model that is ready to predict.

    Parameters
    ----------
    name, version : str
    digest : str
        SHA-256 of the file.
    model : LinearModel or VotedModel
    columns : tuple of InputColumn or None
        The raw columns; None if records may have any keys.
    loaded : float
        Seconds since the epoch.
    """

    name: str
    version: str
    digest: str
    model: Model
    columns: tuple[InputColumn, ...] | None
    loaded: float = field(default_factory=time.time)
    sums: FeatureSums = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "sums", FeatureSums(self.model))

    @classmethod
    def load(
        cls, path: str | Path, name: str, version: str = "1", *, allow_patterns: bool = False
    ) -> ServedModel:
        """Read a file once, into memory, and test the model on the rows that the file has.

        Raises
        ------
        ModelFileError
            The file is not a model, or its model computes other scores than those in the file.
        """
        path = Path(path)
        try:
            check_regular(path)
        except ValueError as error:
            raise ModelFileError(f"Cannot load {str(path)!r}: {error}") from None
        data = path.read_bytes()
        model = model_from_bytes(data, str(path), allow_patterns=allow_patterns)
        test = model.self_test if isinstance(model, LinearModel) else None
        if test is not None and isinstance(model, LinearModel):
            row = test.differing_row(model)
            if row is not None:
                raise ModelFileError(
                    f"Cannot serve {str(path)!r}: it computes other scores for its test row {row} "
                    "than its file has. Train it again with this version of separable."
                )
        return cls(name, version, hashlib.sha256(data).hexdigest(), model, input_schema(model))

    @cached_property
    def column_types(self) -> dict[str, Any] | None:
        """Types with which a text of this model's rows is read."""
        encoder = self.model.encoder
        if isinstance(encoder, TableEncoder):
            return dict(encoder.column_types)
        return None

    @cached_property
    def statistics(self) -> Mapping[str, ColumnStatistics]:
        """Statistics of the columns on the training rows."""
        return {each.name: each for each in getattr(self.model, "column_statistics", ())}

    @cached_property
    def _weights(self) -> WeightColumns:
        assert isinstance(self.model, LinearModel)
        return WeightColumns(self.model)

    # ------------------------------------------------------------------ predicting

    def predict(self, data: Any, explain: int = 0) -> Predicted:
        """Predict raw rows.

        Parameters
        ----------
        data : list of dict, dict of lists, or pyarrow.Table
        explain : int, default 0

        Raises
        ------
        ValueError
            A value that the model cannot use; the message says where and what to do.
        """
        if not explain and isinstance(data, list) and len(data) == 1:
            quick = self._predict_record(data[0])
            if quick is not None:
                return quick
        predicted = self._predicted(data, explain)
        assert predicted.rows is not None
        self.sums.add_rows(predicted.rows)
        return predicted

    def example(self) -> tuple[dict[str, Any], dict[str, Any]] | None:
        """Return the typical row of training and its answer, which no metric counts."""
        row = {column.name: column.example for column in self.columns or ()}
        if not row or all(value is None for value in row.values()):
            return None
        return row, self._predicted([row], EXAMPLE_REASONS).records()[0]

    def _predicted(self, data: Any, explain: int) -> Predicted:
        rows, warnings = self._encoded(data)
        scores = self.model.explain(rows).all_scores
        return Predicted(self.model, scores, rows, warnings, explain)

    def _predict_record(self, record: dict[str, Any]) -> Predicted | None:
        """Predict one ordinary record without NumPy per column; None if it is not ordinary."""
        model, encoder = self.model, self.model.encoder
        if not isinstance(model, LinearModel) or model.threshold is not None:
            return None
        if not isinstance(encoder, TableEncoder):
            return None
        pairs = encoder.encode_one(record)
        scores = None if pairs is None else pair_scores(model, pairs, self._weights)
        if pairs is None or scores is None:
            return None
        warnings = tuple(self._warnings_of_record(record))
        self.sums.add_pairs(pairs)
        return Predicted(model, np.array([scores]), None, warnings)

    def _warnings_of_record(self, record: dict[str, Any]) -> list[Warned]:
        warnings = []
        for column in self.columns or ():
            value = record[column.name]
            if column.kind == "number" and value is not None and abs(value) > LARGEST_NUMBER:
                raise CellError(column.name, 0, TOO_LARGE)
            if value is None or value != value:
                warnings.append(Warned(column.name, "missing", 1, (0,)))
            elif column.low is not None and not column.low <= value <= (column.high or 0.0):
                warnings.append(Warned(column.name, "out_of_range", 1, (0,), (value,)))
        return warnings

    def _encoded(self, data: Any) -> tuple[Rows, tuple[Warned, ...]]:
        """Return encoded rows, and what is unusual in them."""
        encoder: Any = self.model.encoder
        if isinstance(encoder, TableEncoder):
            return self._encoded_table(encoder, data)
        if self.columns is None:
            return _encoded_records(encoder, data), ()
        columns = self._columns_of(data)[0]
        if encoder is None:
            return as_rows(self._numbers(columns)), ()
        if encoder.kind == "polynomial":
            return encoder.encode(self._number_table(columns)), ()
        names = [column.name for column in self.columns]
        if encoder.kind == "text":
            return encoder.encode(_texts(columns, names[0])), ()
        return encoder.encode({name: columns.raw(name) for name in names}), ()

    def _encoded_table(self, encoder: TableEncoder, data: Any) -> tuple[Rows, tuple[Warned, ...]]:
        """Return encoded rows; if a cell cannot be converted, all such cells as missing ones."""
        columns, found = self._columns_of(data)
        try:
            rows, report = encoder.encode_with_report(columns)
        except CellError:
            columns, more = without_unconvertible(encoder.column_encoders, columns)
            if not more:
                raise
            found = [*found, *more]
            rows, report = encoder.encode_with_report(columns)
        return rows, (
            *_of_report(report, {cells.column: cells for cells in found}),
            *_of_cells(found),
            *self._out_of_range(columns),
        )

    def _columns_of(self, data: Any) -> tuple[Columns, list[UnconvertibleCells]]:
        """Return the columns of the model, and the cells that were made missing for that."""
        assert self.columns is not None
        if isinstance(data, list | dict):
            columns, found = json_columns(data, self.columns, self._encoders)
        else:
            columns, found = TypedColumns(as_columns(data)), []
            self._require(columns)
        self._refuse_huge(columns)
        return columns, found

    def _refuse_huge(self, columns: Columns) -> None:
        for column in self.columns or ():
            cells = columns[column.name] if column.kind == "number" else None
            if isinstance(cells, Numbers):
                huge = np.abs(cells.values) > LARGEST_NUMBER
            elif isinstance(cells, Categories):
                huge = np.array([*map(_is_huge, cells.levels), False])[cells.codes]
            else:
                continue
            if huge.any():
                raise CellError(column.name, int(np.argmax(huge)), TOO_LARGE)

    @cached_property
    def _encoders(self) -> dict[str, ColumnEncoder]:
        encoder = self.model.encoder
        table = encoder.column_encoders if isinstance(encoder, TableEncoder) else ()
        return {each.name: each for each in table}

    def _require(self, columns: Columns) -> None:
        absent = [each.name for each in self.columns or () if each.name not in columns]
        if absent:
            raise TableError(
                f"The rows lack {len(absent)} column(s) that the model reads: "
                f"{list_names(absent, 5)}. They have {list_names(columns.names, 10)}."
            )

    def _number_table(self, columns: Columns) -> Any:
        """Return columns of numbers under their names, if the encoder was fitted with names."""
        values = self._numbers(columns)
        names = getattr(self.model.encoder, "feature_names_in_", None)
        if names is None:
            return values
        import pyarrow as pa

        arrays = [number_array(np.ascontiguousarray(column)) for column in values.T]
        return pa.Table.from_arrays(arrays, [str(name) for name in names])

    def _numbers(self, columns: Columns) -> Floats:
        """Return columns of numbers as a matrix."""
        assert self.columns is not None
        values = np.empty((columns.n_rows, len(self.columns)))
        for j, column in enumerate(self.columns):
            numbers = columns[column.name]
            if not isinstance(numbers, Numbers) or not np.isfinite(numbers.values).all():
                raise CellError(
                    column.name,
                    _first_odd(numbers, columns.raw(column.name)),
                    "it is missing or not a finite number. Fill it in.",
                )
            values[:, j] = numbers.values
        return values

    def _out_of_range(self, columns: Columns) -> list[Warned]:
        warnings = []
        for each in self.statistics.values():
            outside = rows_outside(each, columns)
            if len(outside):
                first = outside[:EXAMPLES]
                values = tuple(columns[each.name].values[first].tolist())  # type: ignore[union-attr]
                rows = tuple(first.tolist())
                warnings.append(Warned(each.name, "out_of_range", len(outside), rows, values))
        return warnings


def _of_report(report: Any, unconvertible: Mapping[str, UnconvertibleCells]) -> list[Warned]:
    """Return missing and unseen values of a report of the encoder."""
    warnings = []
    for each in report.columns:
        cells = unconvertible.get(each.column)
        odd: set[int] = set() if cells is None else set(cells.rows.tolist())
        missing = each.missing - len(odd)
        if missing > 0:
            rows = tuple(row for row in each.missing_rows if row not in odd)
            warnings.append(Warned(each.column, "missing", missing, rows))
        if each.unseen:
            rows, values = zip(*each.unseen_examples, strict=True)
            warnings.append(Warned(each.column, "unseen", each.unseen, rows, values))
    return warnings


def _of_cells(found: list[UnconvertibleCells]) -> Iterator[Warned]:
    for cells in found:
        rows = tuple(cells.rows[:EXAMPLES].tolist())
        yield Warned(cells.column, "unconvertible", len(cells.rows), rows, cells.examples)


def _encoded_records(encoder: Any, data: Any) -> Rows:
    """Return encoded records of any keys; the encoder says of what type a value must be."""
    try:
        rows: Rows = encoder.encode(data if isinstance(data, list) else _records_of(data))
    except (TypeError, OverflowError) as error:
        raise TableError(f"{error}") from error
    return rows


def _records_of(data: Any) -> list[dict[str, Any]]:
    """Return a table as records, for a model whose records may have any keys."""
    if isinstance(data, dict):
        return [dict(zip(data, row, strict=True)) for row in zip(*data.values(), strict=True)]
    records: list[dict[str, Any]] = data.to_pylist()
    return records


def _texts(columns: Columns, name: str) -> Sequence[str]:
    """Return the texts of a column; a missing one is the empty text."""
    raw = columns.raw(name)
    values = raw.to_pylist() if hasattr(raw, "to_pylist") else list(raw)
    odd = next((i for i, each in enumerate(values) if not isinstance(each, str | None)), None)
    if odd is not None:
        raise CellError(name, odd, f"{values[odd]!r:.40} is not a text. Send texts.")
    return ["" if each is None else each for each in values]


def _is_huge(text: str) -> bool:
    """Return whether a text is a finite number that is too large."""
    return is_number(text) and LARGEST_NUMBER < abs(float(text)) < math.inf


def _first_odd(column: Any, raw: Any) -> int:
    """Return the first row whose value is not a finite number."""
    if isinstance(column, Numbers):
        return int(np.flatnonzero(~np.isfinite(column.values))[0])
    values = raw.to_pylist() if hasattr(raw, "to_pylist") else raw
    return next((i for i, value in enumerate(values) if type(value) not in (int, float)), 0)
