"""Datasets: the features, the target and the reading report that `read` returns."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.arrow_arrays import floats, is_text, mask, nulls
from separable.data.labels import label_array, text_array, whole_array
from separable.data.reading_report import ReadingReport
from separable.data.table import TableError, list_names, require_columns

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from separable.data.rows import Rows

__all__ = [
    "Dataset",
    "chosen_columns",
    "column_name",
    "split_target",
    "target_array",
    "whole_numbers",
]


@dataclass(frozen=True)
class Dataset:
    """Features and target of a data source.

    ``X, y = dataset`` unpacks both.

    Parameters
    ----------
    table : pyarrow.Table or None
        Features of sources with named columns.
    rows : Rows or None
        Features of sparse sources and SciPy matrices.
    y : ndarray or None
        Target: int64 for integers, float64 for other numbers, str for text, bool for booleans,
        datetime64 for dates.
    report : ReadingReport
        Format, column types, missing values and skipped lines.
    weights : ndarray or None
        Sample weights, if the format has them (Vowpal Wabbit).
    tags : list of str or None
        Tags, if the format has them (Vowpal Wabbit).
    qid : ndarray or None
        Query ids, if the format has them (svmlight).
    feature_names : tuple of str or None
        Column names of ``rows``, if the format has names.
    """

    table: pa.Table | None
    rows: Rows | None
    y: NDArray[Any] | None
    report: ReadingReport = field(default_factory=ReadingReport)
    weights: NDArray[Any] | None = None
    tags: Sequence[str] | None = None
    qid: NDArray[Any] | None = None
    feature_names: tuple[str, ...] | None = None

    @property
    def X(self) -> Any:  # noqa: N802
        """Features: the table, or the rows as an ndarray or a SciPy ``csr_array``."""
        return self.table if self.rows is None else self.rows.to_matrix()

    def __iter__(self) -> Iterator[Any]:
        return iter((self.X, self.y))

    def __len__(self) -> int:
        if self.rows is not None:
            return self.rows.n_rows
        return 0 if self.table is None else self.table.num_rows

    def __repr__(self) -> str:
        kind = "rows" if self.rows is not None else "table"
        shape = self.rows.shape if self.rows is not None else getattr(self.table, "shape", None)
        return f"Dataset({kind} of shape {shape}, y={'None' if self.y is None else self.y.dtype})"


def column_name(column: str | int, names: Sequence[str], where: str) -> str:
    """Return the name of a column given by name or by its 1-based number.

    Negative numbers count from the end: -1 is the last column.
    """
    if isinstance(column, str):
        require_columns([column], names, where)
        return column
    if isinstance(column, bool) or not isinstance(column, (int, np.integer)):
        raise TypeError(
            f"A column must be a name (str) or a 1-based number (int). Got {column!r} instead."
        )
    number = int(column)
    if not 1 <= abs(number) <= len(names):
        raise TableError(
            f"{where} has no column number {number}: it has {len(names)} columns, counted from 1 "
            "(-1 is the last)."
        )
    return names[number - 1 if number > 0 else number]


def chosen_columns(
    names: Sequence[str], columns: Sequence[str | int] | None, target: Any, where: str
) -> tuple[list[str], str | None]:
    """Return the columns to read, in table order or as requested, and the name of the target."""
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise TableError(
            f"{where}: {len(twice)} column name(s) appear more than once: {list_names(twice, 5)}. "
            "Rename them."
        )
    label = None
    if isinstance(target, (str, int, np.integer)) and not isinstance(target, bool):
        label = column_name(target, names, where)  # type: ignore[arg-type]
    if columns is None:
        return list(names), label
    if isinstance(columns, str):
        raise TypeError(
            f"The 'columns' parameter must be a list of columns. Got {columns!r} instead."
        )
    known = set(names)
    resolved = (
        each if isinstance(each, str) and each in known else column_name(each, names, where)
        for each in columns
    )
    chosen = list(dict.fromkeys(resolved))
    more = [label] if label is not None and label not in chosen else []
    return chosen + more, label


def split_target(table: pa.Table, target: Any, label: str | None, report: ReadingReport) -> Dataset:
    """Split a table into features and target.

    Rows with a missing target are dropped and counted in the report.

    Parameters
    ----------
    table : pyarrow.Table
    target : object
        Target as passed by the user: None, a column, or an array.
    label : str or None
        Name of the target column.
    report : ReadingReport
    """
    if label is not None:
        column = table.column(label)
        table = table.drop_columns([label])
        present = _is_present(column)
        if not present.all():
            report.rows_without_target += int(np.count_nonzero(~present))
            table, column = table.filter(mask(present)), column.filter(mask(present))
        return Dataset(table, None, target_values(column, label), report)
    if target is None:
        return Dataset(table, None, None, report)
    return Dataset(table, None, target_array(target, table.num_rows), report)


def target_array(target: Any, n_rows: int) -> NDArray[Any]:
    """Return a target passed as an array."""
    values = label_array(target)
    if values.shape != (n_rows,):
        raise TableError(
            f"The target has shape {values.shape}, but the data has {n_rows} rows. Give one value "
            "per row, or the name or number of a column."
        )
    return values


def _is_present(column: Any) -> NDArray[np.bool_]:
    from pyarrow import types

    return ~np.isnan(floats(column)) if types.is_floating(column.type) else ~nulls(column)


def target_values(column: Any, name: str) -> NDArray[Any]:
    """Return a column without missing values as an array."""
    from pyarrow import types

    from separable.data.columns import Categories, as_columns

    kind = column.type
    if types.is_boolean(kind):
        return np.array(column.to_pylist(), dtype=bool)
    if types.is_timestamp(kind) or types.is_date(kind):
        unit = "ns" if getattr(kind, "unit", "us") == "ns" else "us"
        return np.asarray(column.cast(f"timestamp[{unit}]").cast("int64")).astype(f"M8[{unit}]")
    if types.is_dictionary(kind) and not is_text(kind.value_type):
        return target_values(column.cast(kind.value_type), name)
    if types.is_integer(kind):
        return whole_array(column.to_pylist())
    values = as_columns({name: column})[name]
    if isinstance(values, Categories):
        return text_array(values.levels or ("",))[values.codes]
    if types.is_decimal(kind) and len(np.unique(values.values)) < len(column.unique()):
        raise TableError(
            f"The target {name!r} has decimal numbers that are equal in float64 but different as "
            "written. Round them, or convert them to text."
        )
    return whole_numbers(values.values)


def whole_numbers(numbers: NDArray[np.float64]) -> NDArray[Any]:
    """Return integral numbers as int64, others unchanged."""
    whole = np.all(np.abs(numbers) < 2**53) and np.all(numbers == np.floor(numbers))
    return numbers.astype(np.int64) if whole else numbers
