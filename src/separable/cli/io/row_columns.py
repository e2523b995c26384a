"""Columns that describe rows and are no features: weight, group and time.

Errors count rows among those asked for; `separable.cli.io.output.naming_file` says where they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.columns import Categories, Numbers
from separable.data.ingest.dates import Booleans, Dates, dates_from, typed_column
from separable.data.table import CellError, TableError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.cli.training.target import Rows
    from separable.data.columns import Columns

__all__ = ["groups_of", "refuse_no_weight", "times_of", "weights_of"]


def weights_of(columns: Columns, name: str, rows: Rows) -> NDArray[np.float64]:
    """Return the weights of some rows: finite numbers >= 0."""
    column = columns[name]
    if not isinstance(column, Numbers):
        raise TableError(f"--weight {name}: the column has to hold numbers.")
    weight = column.values[rows]
    bad = np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))
    if len(bad):
        index = int(bad[0])
        missing = np.isnan(weight[index])
        problem = "a weight is missing" if missing else f"{weight[index]:g} is not a weight"
        raise CellError(
            name, index, f"{problem}. Weights are finite numbers >= 0; 0 leaves a row out."
        )
    return weight


def refuse_no_weight(name: str, weight: NDArray[np.float64]) -> None:
    """Refuse weights that leave every row out."""
    if not weight.any():
        raise TableError(f"--weight {name}: all weights are 0, so no row is left.")


def groups_of(columns: Columns, name: str, rows: Rows) -> NDArray[np.int64]:
    """Return the group of some rows as a number; all that miss one are a group too."""
    column: Any = typed_column(columns, name)
    texts = column if isinstance(column, Categories) else column.as_categories()
    codes = texts.codes[rows].astype(np.int64)
    result, groups = np.unique(codes, return_inverse=True)
    if len(result) < 2:
        raise TableError(
            f"--group {name}: all rows are in one group, so none can be held out. Name a column "
            "with two or more groups."
        )
    return groups.astype(np.int64)


def times_of(columns: Columns, name: str, rows: Rows) -> NDArray[Any]:
    """Return when some rows are from: dates, or numbers that grow with time."""
    column = typed_column(columns, name)
    times: NDArray[Any]
    if isinstance(column, Numbers | Dates):
        times = column.values[rows]
    elif isinstance(column, Booleans):
        raise TableError(
            f"--time {name}: true and false are not times. Name a column of dates or numbers."
        )
    else:
        times = dates_from(name, column)[rows]
    missing = np.flatnonzero(np.isnan(times) if times.dtype.kind == "f" else np.isnat(times))
    if len(missing):
        raise CellError(
            name, int(missing[0]), "the time is missing. Fill it in, or leave the row out."
        )
    if times.min() == times.max():
        raise TableError(
            f"--time {name}: all rows have the same time, so none is later than the others."
        )
    return times
