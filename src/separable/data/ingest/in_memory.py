"""Tables in memory as an Arrow table or as rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.arrow_arrays import number_array, strings
from separable.data.columns import Categories, as_columns, table_of_stream, with_text_names
from separable.data.rows import as_rows, is_scipy_sparse
from separable.data.table import TableError

if TYPE_CHECKING:
    import pyarrow as pa

    from separable.data.rows import Rows

__all__ = ["table_or_rows"]


def table_or_rows(data: Any) -> pa.Table | Rows:
    """Return an Arrow table, or rows for a SciPy sparse matrix.

    Parameters
    ----------
    data : object
        A NumPy array (columns ``c1``, ``c2``, ...), a structured one, a SciPy sparse matrix, a
        data frame, a pyarrow Table, RecordBatch or reader, a DuckDB relation, anything with
        ``__arrow_c_stream__``, a dict of columns or a list of dicts.
    """
    import pyarrow as pa

    if is_scipy_sparse(data):
        return as_rows(data)
    if isinstance(data, memoryview) and data.ndim > 1:
        data = np.asarray(data)
    if isinstance(data, np.ndarray):
        return _from_array(data)
    if isinstance(data, pa.RecordBatch):
        data = pa.Table.from_batches([data])
    if isinstance(data, pa.RecordBatchReader):
        data = data.read_all()
    if not hasattr(data, "__arrow_c_stream__") and hasattr(data, "fetch_arrow_table"):
        data = data.fetch_arrow_table()  # a DuckDB relation before version 1.2
    if isinstance(data, Mapping) or (
        isinstance(data, Sequence) and not isinstance(data, (str, bytes, bytearray, memoryview))
    ):
        return _from_columns(data)
    if not hasattr(data, "__arrow_c_stream__"):
        raise TableError(
            f"Cannot read a {type(data).__name__}. Give a path, a file, a data frame, a pyarrow "
            "Table, an array, a dict of columns or a list of dicts, one per row."
        )
    if isinstance(data, pa.Table):
        return data
    data = with_text_names(data)
    try:
        return table_of_stream(data)
    except (pa.ArrowException, ValueError, OverflowError, TypeError):
        return _from_columns(data)


def _from_array(data: np.ndarray[Any, Any]) -> pa.Table:
    import pyarrow as pa

    if data.dtype.names is not None:
        return _from_columns({name: data[name] for name in data.dtype.names})
    if data.ndim != 2:
        raise TableError(
            f"Expected a 2D array, got {data.ndim} dimension(s). For a single column give "
            "array.reshape(-1, 1)."
        )
    names = [f"c{number}" for number in range(1, data.shape[1] + 1)]
    if data.dtype.kind in "iuf" and data.dtype.itemsize in (1, 2, 4, 8):
        values = data.astype(data.dtype.newbyteorder("="), copy=False)
        if values.dtype == np.float16:
            values = values.astype(np.float32)
        return pa.Table.from_arrays([number_array(column) for column in values.T], names=names)
    return _from_columns({name: data[:, number] for number, name in enumerate(names)})


def _from_columns(data: Any) -> pa.Table:
    """Convert column by column, as encoders do."""
    import pyarrow as pa

    columns = as_columns(data)
    return pa.Table.from_arrays(
        [_arrow_column(columns, name, columns.raw(name)) for name in columns.names],
        names=list(columns.names),
    )


def _arrow_column(columns: Any, name: str, raw: Any) -> Any:
    import pyarrow as pa

    if isinstance(raw, (pa.Array, pa.ChunkedArray)):
        return raw
    kind = getattr(getattr(raw, "dtype", None), "kind", None)
    present = [value for value in raw if value is not None] if kind in (None, "O") else []
    if kind in ("i", "u") or (present and set(map(type, present)) == {int}):
        whole = _large_whole_numbers(raw, present)
        if whole is not None:
            return whole
    if kind in ("b", "M") or (present and _all_plain(present)):
        return pa.array(raw)  # booleans and dates keep their type
    column = columns[name]
    if isinstance(column, Categories):
        codes: Any = pa.array(column.codes, mask=column.codes < 0)
        return pa.DictionaryArray.from_arrays(codes, strings(column.levels))
    return number_array(column.values)


def _large_whole_numbers(raw: Any, present: list[int]) -> Any:
    """Return integers beyond the exact range of float64 unchanged; None if there are none."""
    import pyarrow as pa

    if isinstance(raw, np.ndarray) and raw.dtype.kind in "iu":
        large = len(raw) and max(int(raw.max()), -int(raw.min())) > 2**53
        return pa.array(raw) if large else None
    low, high = min(present), max(present)
    if max(high, -low) <= 2**53:
        return None
    if low < -(2**63) or high >= 2**64 or (low < 0 and high >= 2**63):
        fits = max(high, -low) < 10**76
        return pa.array(list(map(_decimal, raw)), pa.decimal256(76)) if fits else None
    return pa.array(list(raw), pa.uint64() if high >= 2**63 else pa.int64())


def _decimal(value: int | None) -> Decimal | None:
    return None if value is None else Decimal(value)


def _all_plain(values: list[Any]) -> bool:
    """Return whether all values are booleans, or all are dates."""
    import datetime as dt

    kinds = {type(value) for value in values}
    return kinds == {bool} or kinds in ({dt.date}, {dt.datetime})
