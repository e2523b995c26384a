"""Test rows from the user, as plain values in the order of a plan's columns."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.missing import is_missing
from separable.data.rows import as_rows
from separable.data.table import TableError, list_names

if TYPE_CHECKING:
    from collections.abc import Iterable

    from separable.export.plan.plan import Plan

__all__ = ["MOST_ROWS", "given_rows"]

#: Maximum number of test rows in a file.
MOST_ROWS = 20


def given_rows(plan: Plan, rows: Any) -> list[Any]:
    """Return the first rows as tuples by column, texts or dicts.

    Parameters
    ----------
    plan : Plan
    rows : object
        As the model's ``predict`` takes them.
    """
    if plan.takes == "text":
        return [str(text) for text in list(rows)[:MOST_ROWS]]
    if plan.takes == "record":
        return [
            {key: _plain_feature(value) for key, value in record.items()}
            for record in list(rows)[:MOST_ROWS]
        ]
    named = _records(rows)
    if named is not None:
        return [_by_name(plan, record) for record in named]
    if plan.takes == "numbers":
        return [tuple(row) for row in _dense(rows)]
    return [tuple(map(_plain, row)) for row in np.asarray(rows, dtype=object)[:MOST_ROWS].tolist()]


def _records(rows: Any) -> list[Mapping[str, Any]] | None:
    """Return the rows of a table with named columns; None without names."""
    if isinstance(rows, Mapping):
        columns = [list(values)[:MOST_ROWS] for values in rows.values()]
        return [dict(zip(map(str, rows), row, strict=True)) for row in zip(*columns, strict=True)]
    if hasattr(rows, "__arrow_c_stream__"):
        import pyarrow as pa

        table = pa.table(rows).slice(0, MOST_ROWS)
        return list(table.to_pylist())
    if isinstance(rows, (list, tuple)) and rows and isinstance(rows[0], Mapping):
        return list(rows[:MOST_ROWS])
    return None


def _by_name(plan: Plan, record: Mapping[str, Any]) -> tuple[Any, ...]:
    absent = [name for name in plan.columns if name not in record]
    if absent and plan.takes == "columns" and len(absent) < len(plan.columns):
        record = {**dict.fromkeys(absent), **record}  # an object of JSON lines may lack a value
    elif absent:
        raise TableError(
            f"The rows lack {list_names(absent, 5)}, which the model takes. They have "
            f"{list_names(map(str, record), 10)}."
        )
    return tuple(_plain(record[name]) for name in plan.columns)


def _plain(value: Any) -> Any:
    """Return a value as None, a bool, a number or a text."""
    if is_missing(value):
        return None
    if isinstance(value, np.datetime64):
        value = value.astype("datetime64[us]").item()
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, dt.datetime):
        return value.replace(tzinfo=None).isoformat(" ")
    if isinstance(value, dt.date):
        return value.isoformat()
    if isinstance(value, Decimal):
        return float(value)
    for plain in (bool, int, float, str):  # a subclass may write itself in another way
        if isinstance(value, plain):
            return plain(value)
    return value


def _plain_feature(value: Any) -> Any:
    """Return the value of a feature in a dict: a plain value, or a list of them."""
    if isinstance(value, (set, frozenset)):
        return sorted(map(_plain, value))
    if isinstance(value, (list, tuple, np.ndarray)):
        return [_plain(each) for each in value]
    return _plain(value)


def _dense(rows: Any) -> Iterable[list[float]]:
    X = as_rows(rows)
    X = X.slice(0, min(MOST_ROWS, X.n_rows))
    if X.indptr is None or X.indices is None:
        return list(X.values.astype(np.float64).tolist())
    out = np.zeros(X.shape)
    row = np.repeat(np.arange(X.n_rows), np.diff(X.indptr))
    np.add.at(out, (row, X.indices), X.values)
    return list(out.tolist())
