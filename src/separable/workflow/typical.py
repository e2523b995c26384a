"""A typical row of the training data, and how much each feature varies in it.

The what-if form starts at the row, and features are ranked by the effect of their variation: a rare
level has a small one, whatever its weight.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.arrow_arrays import floats, number_array
from separable.model.words import feature_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

    from separable.data.rows import Rows
    from separable.model.kinds import Model
    from separable.typing import Floats

__all__ = ["feature_spread", "of_rows", "of_table", "typical_row"]

#: Rows encoded to measure the variation of features, evenly spaced.
SAMPLE_ROWS = 5000

#: Significant digits of what a model file keeps.
DIGITS = 4

#: Maximum features whose spread is kept.
MOST_FEATURES = 1000


def of_table(model: Model, table: pa.Table) -> dict[str, Any]:
    """Return the typical row and the spread of features, as fields of `Data`.

    Parameters
    ----------
    model : LinearModel or VotedModel
    table : pyarrow.Table
        Its training rows, with the columns of its encoder.
    """
    encoder: Any = model.encoder
    if getattr(encoder, "kind", None) != "table" or not table.num_rows:
        return {}
    kinds = {row.column: row.type for row in encoder.columns_ if row.column in table.column_names}
    count = min(table.num_rows, SAMPLE_ROWS)
    chosen = np.linspace(0, table.num_rows - 1, count).astype(np.int64)
    spread = feature_spread(encoder.encode(table.take(number_array(chosen))))
    return {"typical": typical_row(table, kinds), "spread": _rounded(spread)}


def of_rows(model: Model, rows: Rows) -> dict[str, Any]:
    """Return the same for a model without an encoder, whose rows are numbers."""
    if not rows.n_rows:
        return {}
    spread = _rounded(feature_spread(rows))
    if model.encoder is not None or rows.indices is not None:
        return {"spread": spread}
    names = [feature_name(model.feature_names, j) for j in range(rows.n_features)]
    middle = (rows.n_rows - 1) // 2
    medians = np.partition(rows.values, middle, axis=0)[middle]
    return {"typical": dict(zip(names, map(float, medians), strict=True)), "spread": spread}


def _rounded(values: Floats) -> tuple[float, ...]:
    if len(values) > MOST_FEATURES:
        return ()
    return tuple(float(f"{value:.{DIGITS}g}") for value in values.tolist())


def typical_row(table: pa.Table, kinds: Mapping[str, str]) -> dict[str, Any]:
    """Return medians of numbers and dates, and the most common levels of other columns.

    Parameters
    ----------
    table : pyarrow.Table
    kinds : mapping of str to str
        Type of each column in the model: "number", "category", "boolean" or "date"; others are
        left out.

    Returns
    -------
    dict
        JSON values; dates in ISO format. Columns without any value are left out.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"x": [1.0, 9.0, 2.0, None], "s": ["b", "a", "b", None]})
    >>> typical_row(table, {"x": "number", "s": "category"})
    {'x': 2.0, 's': 'b'}
    """
    makers = {"number": _median, "date": _middle_date, "category": _mode, "boolean": _mode}
    row = {}
    for name, kind in kinds.items():
        column = table.column(name).drop_null() if kind in makers else ()
        value = makers[kind](column) if len(column) else None
        if value is not None:
            row[name] = value
    return row


def _median(column: Any) -> float | None:
    """Return the median; of two in the middle the smaller one, which occurs."""
    from pyarrow import types

    if not (types.is_integer(column.type) or types.is_floating(column.type)):
        return None  # durations and decimals keep their means
    values = floats(column)
    values = values[np.isfinite(values)]
    middle = (len(values) - 1) // 2
    return float(np.partition(values, middle)[middle]) if len(values) else None


def _middle_date(column: Any) -> str | None:
    from pyarrow import compute, types

    if not (types.is_timestamp(column.type) or types.is_date(column.type)):
        return None
    order = compute.sort_indices(column)
    return str(column[order[(len(order) - 1) // 2].as_py()].as_py().isoformat())


def _mode(column: Any) -> Any:
    """Return the most common value, the first of several."""
    from pyarrow import compute, types

    kind = column.type
    column = column.cast(kind.value_type) if types.is_dictionary(kind) else column
    counts = compute.value_counts(column)
    index = int(np.argmax(floats(counts.field("counts"))))
    value = counts.field("values")[index].as_py()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))  # a level is a text
    return value if isinstance(value, (str, bool)) else str(value)


def feature_spread(rows: Rows) -> Floats:
    """Return the standard deviation of each feature over encoded rows."""
    n, d = rows.shape
    if rows.indices is None:
        dense: Floats = rows.values.astype(np.float64).std(axis=0)
        return dense
    values = rows.values.astype(np.float64)
    mean = np.bincount(rows.indices, values, minlength=d) / n
    square = np.bincount(rows.indices, values**2, minlength=d) / n
    spread: Floats = np.sqrt(np.maximum(square - mean**2, 0.0))
    return spread
