"""Rows with target and weights; their values checked, and centered in dense blocks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from separable._core import native
from separable.data.row_operations import distinct_rows
from separable.data.rows import Rows, as_rows, check_indices, column_names, core_rows
from separable.fitting.targets import RowWeights

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from separable.data.rows import Rows
    from separable.statistics.sums import Sums
    from separable.typing import Floats

__all__ = ["Data", "blocks_about", "checked_rows", "fourth_powers", "refuse_outside"]


@dataclass(frozen=True)
class Data:
    """Training rows; all but the values of X is checked.

    Parameters
    ----------
    rows : Rows
        X.
    y : ndarray
        Labels, or numbers, (n,) or (n, t).
    counted : RowWeights
        Weights of the rows.
    X : object
        The user's input, for messages.
    """

    rows: Rows
    y: Any
    counted: RowWeights
    X: Any

    @property
    def n_counted(self) -> int:
        """The number of rows of non-zero weight."""
        return self.rows.n_rows if self.counted.rows is None else len(self.counted.rows)

    @property
    def is_wide(self) -> bool:
        """Whether there are more columns than rows of non-zero weight."""
        return self.rows.n_features > self.n_counted

    @property
    def numbers(self) -> NDArray[np.float64]:
        """The regression targets as columns, (n, t)."""
        columns: NDArray[np.float64] = self.y.reshape(len(self.y), -1)
        return columns

    def counting(self, chosen: NDArray[np.intp] | None = None) -> NDArray[np.intp] | None:
        """Return the rows, or the chosen rows, of positive weight; None: all rows."""
        if chosen is None or self.counted.weight is None:
            return self.counted.rows if chosen is None else chosen
        return chosen[self.counted.weight[chosen] > 0]

    def present(self, chosen: NDArray[np.intp] | None = None) -> Data:
        """Return the rows, or the chosen rows, without those of weight 0."""
        chosen = self.counting(chosen)
        if chosen is None:
            return self
        weight = self.counted.weight
        counted = RowWeights(None, None if weight is None else weight[chosen])
        return Data(self.rows.take(chosen), self.y[chosen], counted, self.X)

    def without(self, row: int) -> Data:
        """Return all rows but one, without those of weight 0."""
        return self.present(np.delete(np.arange(self.rows.n_rows), row))


def checked_rows(X: Any) -> Rows:
    """Return X as rows with checked indices; values are checked when added."""
    rows = as_rows(X, check_values=False)
    check_indices(rows)
    return rows


#: Numbers in a block: one megabyte, so that it stays in the cache.
BLOCK_VALUES = 1 << 17


def blocks_about(
    rows: Rows, point: Floats, scale: Floats | None = None, step: int | None = None
) -> Iterator[tuple[slice, Floats]]:
    """Yield row slices and dense float64 blocks of (x - point) scale.

    The next block overwrites the previous one.

    Parameters
    ----------
    rows : Rows
    point : ndarray, shape (d,)
    scale : ndarray, shape (d,), optional
        None: 1.
    step : int, optional
        Number of rows per block; None: as many as fit in the cache.
    """
    n, d = rows.shape
    step = max(1, min(n, step or BLOCK_VALUES // d))
    if scale is not None and (scale == 1).all():
        scale = None
    buffer = np.empty((step, d))
    core = core_rows(rows) if rows.is_sparse else None
    columns = np.arange(d, dtype=np.int64)
    for start in range(0, n, step):
        stop = min(n, start + step)
        block = buffer[: stop - start]
        if core is None:
            np.subtract(rows.values[start:stop], point, out=block)
        else:
            block[:] = 0.0
            native.spread_columns(core, start, stop - start, columns, block)
            block -= point
        if scale is not None:
            block *= scale
        yield slice(start, stop), block


def fourth_powers(sums: Sums, data: Data, unit: float) -> float:
    """Return sum of w |u|^4 / unit^2, u the rows centered by class, in units of z."""
    _, label = np.unique(data.y, return_inverse=True)
    weight, total = data.counted.weight, 0.0
    for part, block in blocks_about(data.rows, sums.origin, sums.scale):
        block -= sums.offset[label[part]]
        squares = np.einsum("ij,ij->i", block, block) / unit
        total += float(squares @ (squares if weight is None else weight[part] * squares))
    return total


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
