"""Range check of values for naive Bayes, with row and column in the message."""

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
    """Raise for the first value below 0 or above ``largest`` in rows of positive weight.

    Duplicate columns of a sparse row are summed.
    """
    rows = distinct_rows(rows)
    if _all_within(rows, largest):
        return
    whole = distinct_rows(data.rows)  # rows of weight 0 are skipped
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
    """Return whether all values are from 0 to ``largest``; False for NaN."""
    return not rows.values.size or bool(rows.values.min() >= 0 and rows.values.max() <= largest)
