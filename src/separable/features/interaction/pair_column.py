"""PairColumn: the products of the features of two columns, so that a model fits a surface to them.

A number is a few linear B-splines (tents), a category its levels, a boolean its indicator. The
features of a pair are all products of one of each (the tensor product of two bases).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from separable.data.rows import Rows
from separable.features.row_assembly import BlockSlot, Slot, rows_from_slots
from separable.features.spline.smooth_basis import hats

if TYPE_CHECKING:
    from typing import TypeAlias

    from separable.data.ingest.dates import TypedColumn
    from separable.features.table.category_column import CategoryColumn
    from separable.features.table.curve_column import CurveColumn
    from separable.features.table.number_column import BooleanColumn
    from separable.typing import Floats

    #: One side of a pair.
    Axis: TypeAlias = CurveColumn | CategoryColumn | BooleanColumn

__all__ = ["PairColumn"]


@dataclass(frozen=True)
class PairColumn:
    """Encoder of two columns as the products of their features.

    Feature ``i * second.width + j`` is the product of feature i of the first and feature j of the
    second column. A missing value takes part where training values were missing too; if not, the
    pair has no features in that row.

    Parameters
    ----------
    first, second : CurveColumn, CategoryColumn or BooleanColumn
        The features of each column within the pair: fewer knots and levels than it has alone.
    """

    first: Axis
    second: Axis

    kind: ClassVar[str] = "pair"

    @property
    def name(self) -> str:
        """Both raw columns: ``age x sex``."""
        return f"{self.first.name} x {self.second.name}"

    @property
    def columns(self) -> tuple[str, str]:
        """The raw columns."""
        return self.first.name, self.second.name

    @property
    def width(self) -> int:
        """Number of output features."""
        return self.first.width * self.second.width

    @cached_property
    def feature_names(self) -> tuple[str, ...]:
        """Output feature names, such as ``age[32-41] x sex=male``."""
        seconds = tuple(self.second.feature_names)
        return tuple(f"{a} x {b}" for a in self.first.feature_names for b in seconds)

    @cached_property
    def basis(self) -> Floats:
        """Basis of the features in which a ridge penalty smooths the surface."""
        return np.asarray(np.kron(_axis_basis(self.first), _axis_basis(self.second)), np.float64)

    def encode(self, first: TypedColumn, second: TypedColumn, n_rows: int) -> list[Slot]:
        """Return the slots of the pair."""
        parts = [
            rows_from_slots(axis.encode(column)[0], n_rows, dense=False)
            for axis, column in ((self.first, first), (self.second, second))
        ]
        return [BlockSlot(row_products(*parts))]

    @staticmethod
    def key_of(axis: Axis) -> tuple[Any, ...]:
        """Return a key that two sides share if they encode a value in the same way."""
        knots = getattr(axis, "knots", None)
        names = tuple(axis.feature_names) if knots is None else knots.tobytes()
        return axis.name, names, bool(getattr(axis, "missing", False))

    def shown(self, index: int, value: float) -> str | None:
        """Return None: the name of the feature has its raw values."""
        del index, value
        return None


def _axis_basis(axis: Axis) -> Floats:
    """Return the basis of one side: lines and hats over knots, each level for itself."""
    made = np.eye(axis.width)
    n = len(getattr(axis, "knots", ()))
    if n > 1:
        line = np.linspace(-1.0, 1.0, n)
        made[:n, :n] = np.column_stack([np.ones(n), line, *hats(n, decay=0.5)])
    return made


def row_products(first: Rows, second: Rows) -> Rows:
    """Return the products of the features of two sparse matrices, row by row.

    Parameters
    ----------
    first, second : Rows
        CSR, with the same rows.

    Returns
    -------
    Rows
        CSR of ``first.n_features * second.n_features`` features (the row-wise Kronecker product).
    """
    values, indices, indptr = first.arrays()
    others, other_indices, other_indptr = second.arrays()
    assert indices is not None
    assert indptr is not None
    assert other_indices is not None
    assert other_indptr is not None
    n_rows, width = first.n_rows, first.n_features * second.n_features
    lengths = np.diff(other_indptr)
    rows = np.repeat(np.arange(n_rows), np.diff(indptr))
    repeats = lengths[rows]  # of each non-zero of the first: one for each of the second
    left = np.repeat(np.arange(len(values)), repeats)
    within = np.arange(len(left)) - np.repeat(np.cumsum(repeats) - repeats, repeats)
    right = np.repeat(np.asarray(other_indptr, np.int64)[rows], repeats) + within
    counts = np.bincount(rows, repeats, n_rows).astype(np.int64)
    places = np.asarray(indices, np.int64)[left] * second.n_features + other_indices[right]
    return Rows(values[left] * others[right], width, places, np.append(0, np.cumsum(counts)))
