"""Rows for the compiled core."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from separable._core import portable
from separable.data.rows import check_indices

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.data.rows import Rows

__all__ = ["core_rows", "index_of_columns"]


def core_rows(rows: Rows) -> portable.Rows:
    """Return the rows for the compiled core, with checked indices."""
    try:
        return portable.Rows(rows.values, rows.n_features, rows.indices, rows.indptr)
    except ValueError:
        check_indices(rows)  # names the row
        raise


def index_of_columns(columns: NDArray[np.intp], n_features: int) -> NDArray[np.int64]:
    """Return the index of each column within ``columns``, -1 if absent."""
    index = np.full(n_features, -1, np.int64)
    index[columns] = np.arange(len(columns))
    return index
