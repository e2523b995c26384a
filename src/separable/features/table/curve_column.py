"""Numeric columns as curves: linear B-splines (tents) on knots of the training values."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from separable.data.rows import Rows
from separable.features.encoding_report import ColumnReport
from separable.features.row_assembly import BlockSlot, Slot
from separable.features.spline.knots import choose_knots
from separable.features.spline.smooth_basis import monotone_basis, smooth_basis
from separable.features.spline.spline_column import SplineColumn
from separable.features.table.number_column import numbers_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.data.ingest.conversions.conversion import Conversion
    from separable.data.ingest.dates import TypedColumn
    from separable.features.spline.value_counts import ValueCounts

__all__ = ["MIN_VALUES", "CurveColumn", "curve_of"]

#: Fewest distinct values of a curve; three or fewer are better levels than points of a curve.
MIN_VALUES = 4
#: Most quantile knots, and rows for each of them.
MOST_KNOTS, ROWS_PER_KNOT = 32, 10


@dataclass(frozen=True)
class CurveColumn:
    """Encoder of a numeric column as a piecewise linear curve, constant beyond its outer knots.

    Parameters
    ----------
    name : str
        Raw column.
    knots : ndarray of float64
        Ascending, at least two.
    rows : ndarray of float64
        Training rows at each knot; a row between two knots is shared between them.
    missing : bool
        Whether training values were missing, which adds an indicator ``name=(missing)``. If none
        were, a missing value has no features.
    conversion : Conversion or None
        How texts are converted to numbers; None: plain numbers only.
    """

    name: str
    knots: NDArray[np.float64]
    rows: NDArray[np.float64]
    missing: bool
    conversion: Conversion | None = None

    kind: ClassVar[str] = "number"

    @cached_property
    def spline(self) -> SplineColumn:
        """The tents of the column."""
        return SplineColumn(self.name, self.knots, self.missing)

    @property
    def basis(self) -> NDArray[np.float64]:
        """Basis of the features in which a ridge penalty smooths the curve."""
        made = np.eye(self.width)
        n = len(self.knots)
        made[:n, :n] = smooth_basis(self.knots, self.rows)
        return made

    @property
    def monotone_basis(self) -> NDArray[np.float64]:
        """Increasing functions of the features, and the indicator of missing values."""
        made = monotone_basis(self.knots, self.rows)
        n, m = made.shape
        whole = np.zeros((self.width, m + self.missing))
        whole[:n, :m] = made
        whole[n:, m:] = 1.0
        return whole

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Output feature names: the range in which each tent is not 0, such as ``age[32-41]``."""
        return self.spline.feature_names

    @property
    def width(self) -> int:
        """Number of output features."""
        return self.spline.width

    def encode(self, column: TypedColumn) -> tuple[list[Slot], ColumnReport]:
        """Return the slots of the column, and the missing values."""
        values = numbers_of(self.name, column)
        left, right, t = self.spline.encode(values)
        cells = np.column_stack([1.0 - t, t])
        cells[left < 0] = 0.0
        kept = cells != 0.0
        indptr = np.concatenate([[0], np.cumsum(kept.sum(axis=1))])
        features = np.column_stack([left, right])[kept]
        slot = BlockSlot(Rows(cells[kept], self.width, features, indptr))
        return [slot], ColumnReport.of_missing(self.name, np.isnan(values), self.missing)

    def encode_one(self, value: Any) -> list[tuple[int, float]] | None:
        """Return index and value of the non-zeros of one record.

        None: the value is unusual, and `encode` must handle it.
        """
        return self.spline.encode_one(value)

    def shown(self, index: int, value: float) -> str | None:
        """Return None: the name of the feature has the range of its raw values."""
        del index, value
        return None


def curve_of(
    name: str, counts: ValueCounts, n_knots: int = MOST_KNOTS, least_values: int = MIN_VALUES
) -> CurveColumn | None:
    """Return the curve of a column; None if it has too few values.

    Parameters
    ----------
    name : str
    counts : ValueCounts
        Of the training rows.
    n_knots : int
        Most quantile knots.
    least_values : int
        Fewest distinct values, and knots.
    """
    n_knots = min(n_knots, max(least_values, int(counts.counts.sum()) // ROWS_PER_KNOT))
    knots = choose_knots(counts, n_knots) if len(counts.values) >= least_values else np.empty(0)
    if len(knots) < least_values or not np.isfinite(knots[-1] - knots[0]):
        return None
    left, right, t = SplineColumn(name, knots, missing=False).encode(counts.values)
    parts = (left, 1.0 - t), (right, t)
    first, second = (np.bincount(at, part * counts.counts, len(knots)) for at, part in parts)
    return CurveColumn(name, knots, np.add(first, second, dtype=np.float64), counts.missing > 0)
