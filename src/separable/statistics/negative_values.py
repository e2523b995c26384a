"""Values that naive Bayes cannot count with, told by their place."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from separable.data.indicators import distinct_rows
from separable.data.rows import column_names

if TYPE_CHECKING:
    from separable.data.rows import Rows
    from separable.statistics.weighted_rows import Data

__all__ = ["refuse_outside"]


def refuse_outside(data: Data, rows: Rows, largest: float) -> None:
    """Refuse the first value of the rows that count below 0 or above the largest, by its place.

    A column that stands twice in a row has the sum of its values.
    """
    rows = distinct_rows(rows)
    if _all_within(rows, largest):
        return
    whole = distinct_rows(data.rows)  # rows that do not count are passed over
    counts = np.ones(whole.n_rows, np.bool_)
    if data.counted.rows is not None:
        counts[:] = False
        counts[data.counted.rows] = True
    if whole.indptr is None or whole.indices is None:
        row_of, column_of = np.divmod(np.arange(whole.values.size), whole.n_features)
    else:
        row_of, column_of = np.repeat(np.arange(whole.n_rows), np.diff(whole.indptr)), whole.indices
    values = whole.values.reshape(-1)
    bad = np.flatnonzero(~((values >= 0) & (values <= largest)) & counts[row_of])[0]
    names, column = column_names(data.X), int(column_of[bad])
    what = "Negative values" if values[bad] < 0 else f"Values above {largest:g}"
    needed = (
        "Counts or other values >= 0 are needed: drop or shift the column, or use LDA, "
        "LinearGaussianNB, or BernoulliNB with a threshold"
        if largest == np.inf
        else "Without a threshold values from 0 to 1 are needed: give one, for example binarize=0.0"
    )
    raise ValueError(
        f"{what} in data passed to naive Bayes (input X): row {row_of[bad]}, column "
        f"{column if names is None else repr(names[column])} holds {values[bad]:g}. {needed}."
    )


def _all_within(rows: Rows, largest: float) -> bool:
    """Return whether all values are from 0 to the largest; NaN is not."""
    return not rows.values.size or bool(rows.values.min() >= 0 and rows.values.max() <= largest)
