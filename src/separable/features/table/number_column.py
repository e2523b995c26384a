"""Numeric columns, standardized, and boolean columns; with an indicator of missing values."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from separable._core import portable
from separable.data.checks.dominant_values import dominant_in
from separable.data.columns import Categories, Numbers, stacked
from separable.data.ingest.dates import Dates, booleans_from
from separable.data.table import CellError, is_number, plain_number
from separable.errors import Option
from separable.features.encoding_report import ColumnReport
from separable.features.row_assembly import NumberSlot, Slot

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from separable.data.checks.dominant_values import DominantValue
    from separable.data.ingest.conversions.conversion import Conversion
    from separable.data.ingest.dates import TypedColumn
    from separable.features.spline.value_counts import ValueCounts

__all__ = [
    "BooleanColumn",
    "BooleanState",
    "NumberColumn",
    "NumberState",
    "encode_numbers",
    "numbers_of",
    "numbers_of_each",
]

#: Minimum values to judge what is ordinary in a column.
MIN_VALUES = 5
#: Largest possible mean square, relative to the maximum, with three equal outliers in seven values.
MAX_MEAN_SQUARE = 6.0


@dataclass(frozen=True, slots=True)
class NumberState:
    """Sufficient statistics of a numeric column; merges exactly.

    Parameters
    ----------
    count, missing : int
        Numbers of present and missing values.
    least, most : float
    mean, deviation : float
        Mean and population standard deviation.
    low : float
        Low-order part of the mean: means far from 0 are merged without rounding.
    dominant : DominantValue or None
        Outlier that hides the other values after standardization.
    values : ValueCounts or None
        Counts of the values, for a column that may become a curve.
    """

    count: int = 0
    missing: int = 0
    least: float = np.inf
    most: float = -np.inf
    mean: float = 0.0
    deviation: float = 0.0
    low: float = 0.0
    dominant: DominantValue | None = None
    values: ValueCounts | None = None

    @classmethod
    def of(cls, values: NDArray[np.float64]) -> NumberState:
        """Fit to values, NaN for missing ones."""
        return cls.of_each(stacked([values]))[0]

    @classmethod
    def of_each(cls, columns: NDArray[np.float64]) -> list[NumberState]:
        """Fit to columns, given as the rows of a matrix."""
        n_rows = columns.shape[1]
        moments = np.empty((len(columns), 6))
        portable.number_moments(columns, moments)
        odd = _dominant(columns, moments)
        return [
            cls(int(count), n_rows - int(count), least, most, mean, deviation, low, odd.get(index))
            for index, (count, least, most, mean, low, deviation) in enumerate(moments.tolist())
        ]

    def merge(self, other: NumberState) -> NumberState:
        """Return the state for the rows of both."""
        total = self.count + other.count
        if not self.count or not other.count:
            whole = self if self.count else other
            missing = self.missing + other.missing
            return replace(
                whole,
                missing=missing,
                dominant=self._dominant_with(other),
                values=self._values_with(other),
            )
        fraction, complement = other.count / total, self.count / total
        gap = (other.mean / 2 - self.mean / 2) + (other.low / 2 - self.low / 2)
        unit = max(self.deviation / 2, other.deviation / 2, abs(gap)) or 1.0
        squares = (
            complement * (self.deviation / 2 / unit) ** 2
            + fraction * (other.deviation / 2 / unit) ** 2
        )
        spread = 2 * unit * float(np.sqrt(squares + fraction * complement * (gap / unit) ** 2))
        mean, low = _two_sum(self.mean, self.low + 2 * (fraction * gap))
        return NumberState(
            total,
            self.missing + other.missing,
            min(self.least, other.least),
            max(self.most, other.most),
            mean,
            spread,
            low,
            self._dominant_with(other),
            self._values_with(other),
        )

    def _values_with(self, other: NumberState) -> ValueCounts | None:
        if self.values is None or other.values is None:
            return None
        return self.values.merge(other.values)

    def _dominant_with(self, other: NumberState) -> DominantValue | None:
        """Return the first dominant value; rows of ``other`` come after these."""
        if self.dominant is not None or other.dominant is None:
            return self.dominant
        return replace(other.dominant, row=other.dominant.row + self.count + self.missing)

    def finish(self, name: str, *, scale: bool = True) -> NumberColumn | str:
        """Return the fitted column, or the reason to drop it.

        Without ``scale``, values are unchanged: mean 0, scale 1.
        """
        if not self.count:
            return "every value is missing"
        if self.least == self.most:
            if not self.missing:
                return f"constant: every value is {self.least:g}"
            return NumberColumn(name, self.least, 0.0, missing=True)
        mean, deviation = (self.mean, self.deviation) if scale else (0.0, 1.0)
        return NumberColumn(name, mean, deviation, self.missing > 0)


@dataclass(frozen=True, slots=True)
class NumberColumn:
    """Encoder of a numeric column: (x - mean) / scale, with a missing x as the mean.

    Parameters
    ----------
    name : str
        Raw column.
    mean : float
        Mean of the training values.
    scale : float
        Population standard deviation; 0 if all values are equal, in which case only the indicator
        of missing values is output.
    missing : bool
        Whether training values were missing, which adds an indicator ``name=(missing)``.
    conversion : Conversion or None
        How texts are converted to numbers; None: plain numbers only.
    """

    name: str
    mean: float
    scale: float
    missing: bool
    conversion: Conversion | None = None

    kind: ClassVar[str] = "number"

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Output feature names."""
        names = (self.name, f"{self.name}=(missing)")
        return names[0 if self.scale else 1 : 2 if self.missing else 1]

    @property
    def width(self) -> int:
        """Number of output features."""
        return (self.scale > 0) + self.missing

    def encode_one(self, value: Any) -> list[tuple[int, float]] | None:
        """Return index and value of the non-zeros of one record.

        None: the value is unusual, and `encode` must handle it.
        """
        value = plain_number(value)
        if value is None:
            return None
        if value != value:
            return [(1 if self.scale else 0, 1.0)] if self.missing else []
        if not self.scale:
            return []
        out = (value - self.mean) / self.scale
        return [(0, out)] if -math.inf < out < math.inf else None

    def shown(self, index: int, value: float) -> str | None:
        """Return the raw value of an output feature."""
        if index or not self.scale:
            return None
        return f"{value * self.scale + self.mean:.6g}"


def encode_numbers(
    encoders: Sequence[NumberColumn], columns: Sequence[TypedColumn]
) -> tuple[NumberSlot, list[ColumnReport]]:
    """Encode consecutive numeric columns together.

    Parameters
    ----------
    encoders : sequence of NumberColumn
        At least one.
    columns : sequence of TypedColumn
        One per encoder.

    Returns
    -------
    slot : NumberSlot
        Output features.
    reports : list of ColumnReport
        For columns with missing values.
    """
    values = numbers_of_each([each.name for each in encoders], columns)
    missing = np.isnan(values)
    counts = np.count_nonzero(missing, axis=1)
    reports = [
        ColumnReport.of_missing(encoders[index].name, missing[index], encoders[index].missing)
        for index in np.flatnonzero(counts).tolist()
    ]
    scales = np.array([each.scale for each in encoders])
    out = _standardised(encoders, values, missing, scales)
    indicated = np.array([each.missing for each in encoders])
    varying = scales > 0
    if varying.all() and not indicated.any():
        return NumberSlot(out), reports
    widths = varying.astype(np.int64) + indicated
    ends = np.cumsum(widths)
    placed = np.empty((int(ends[-1]), values.shape[1]))
    placed[(ends - widths)[varying]] = out[varying]
    placed[(ends - 1)[indicated]] = missing[indicated]
    return NumberSlot(placed), reports


def _standardised(
    encoders: Sequence[NumberColumn],
    values: NDArray[np.float64],
    missing: NDArray[np.bool_],
    scales: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return (x - mean) / scale, 0 where x is missing or the scale is 0."""
    means = np.array([each.mean for each in encoders])
    with np.errstate(over="ignore"):
        out: NDArray[np.float64] = values - means[:, None]
        out /= np.where(scales > 0, scales, 1.0)[:, None]
    out[missing] = 0.0
    out[scales == 0] = 0.0
    if not np.isfinite(out).all():
        index, row = np.argwhere(~np.isfinite(out))[0].tolist()
        far = encoders[index]
        raise CellError(
            far.name,
            row,
            f"{values[index, row]:g} is too far from the training values (mean {far.mean:g}, "
            f"standard deviation {far.scale:g}) to compute with. Correct it.",
        )
    return out


def numbers_of(name: str, column: TypedColumn) -> NDArray[np.float64]:
    """Return a column as numbers, NaN where missing; reject text and infinity, naming the row."""
    values: NDArray[np.float64] = numbers_of_each([name], [column])[0]
    return values


def numbers_of_each(names: Sequence[str], columns: Sequence[TypedColumn]) -> NDArray[np.float64]:
    """Return `numbers_of` of columns as the rows of a matrix."""
    pairs = zip(names, columns, strict=True)
    values = stacked(
        [c.values if isinstance(c, Numbers) else _as_numbers(name, c) for name, c in pairs]
    )
    infinite = np.isinf(values)
    if infinite.any():
        index, row = np.argwhere(infinite)[0].tolist()
        raise CellError(
            names[index],
            row,
            "infinity, or a number too large for float64. Correct it, or leave it empty if it is "
            "missing.",
        )
    return values


def _as_numbers(name: str, column: TypedColumn) -> NDArray[np.float64]:
    if isinstance(column, Dates):
        raise CellError(name, 0, "a date is not a number. Use the column as a date.")
    if isinstance(column, Categories):
        return _parse(name, column)
    values: NDArray[np.float64] = column.values
    return values


def _dominant(
    columns: NDArray[np.float64], moments: NDArray[np.float64]
) -> dict[int, DominantValue]:
    """Return the dominant value of each column; most columns are cleared without a scan."""
    count, least, most, mean, _, deviation = moments.T
    with np.errstate(all="ignore"):
        squares = count * (deviation / np.maximum(most - mean, mean - least)) ** 2
    indices = np.flatnonzero((count >= MIN_VALUES) & (squares <= MAX_MEAN_SQUARE))
    if not len(indices):
        return {}
    chosen = columns[indices]
    middle = np.nanmedian(chosen, axis=1)
    dominant = dominant_in(chosen.T, middle, columns=indices)
    return {one.column: one for one in dominant if 2 * one.count < count[one.column]}


def _parse(name: str, column: Categories) -> NDArray[np.float64]:
    """Parse texts as numbers, level by level."""
    readable = [is_number(level) for level in column.levels]
    bad = np.isin(column.codes, np.flatnonzero(~np.array(readable, dtype=np.bool_)))
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        level = column.levels[column.codes[row]]
        raise CellError(
            name,
            row,
            f"{level!r} is not a number. Correct it, leave it empty if it is missing, or train "
            "with the column as a category: ",
            Option("category", name),
            ".",
            value=level,
        )
    by_code = [float(t) if ok else np.nan for t, ok in zip(column.levels, readable, strict=True)]
    return np.array([*by_code, np.nan])[column.codes]  # -1 selects the NaN at the end


def _two_sum(a: float, b: float) -> tuple[float, float]:
    """Return a + b and its rounding error."""
    total = a + b
    back = total - a
    return total, (a - (total - back)) + (b - back)


@dataclass(frozen=True, slots=True)
class BooleanState:
    """Counts of a boolean column; merges exactly.

    Parameters
    ----------
    false, true, missing : int
        Count of each.
    """

    false: int = 0
    true: int = 0
    missing: int = 0

    @classmethod
    def of(cls, name: str, column: TypedColumn) -> BooleanState:
        """Fit to values."""
        values = booleans_from(name, column)
        missing, true = int(np.isnan(values).sum()), int((values == 1).sum())
        return cls(len(values) - missing - true, true, missing)

    def merge(self, other: BooleanState) -> BooleanState:
        """Return the state for the rows of both."""
        return BooleanState(
            self.false + other.false, self.true + other.true, self.missing + other.missing
        )

    def finish(self, name: str) -> BooleanColumn | str:
        """Return the fitted column, or the reason to drop it."""
        if not self.false + self.true:
            return "every value is missing"
        varies = self.false > 0 and self.true > 0
        if not varies and not self.missing:
            return f"constant: every value is {self.true > 0}"
        return BooleanColumn(name, varies, self.missing > 0)


@dataclass(frozen=True, slots=True)
class BooleanColumn:
    """Encoder of a boolean column: 1 for true, 0 for false and missing.

    Parameters
    ----------
    name : str
        Raw column.
    varies : bool
        Whether the training data had both values; else only missing values are encoded.
    missing : bool
        Whether training values were missing, which adds an indicator ``name=(missing)``.
    """

    name: str
    varies: bool
    missing: bool

    kind: ClassVar[str] = "boolean"

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Output feature names."""
        names = (f"{self.name}=True", f"{self.name}=(missing)")
        return names[0 if self.varies else 1 : 2 if self.missing else 1]

    @property
    def width(self) -> int:
        """Number of output features."""
        return self.varies + self.missing

    def encode(self, column: TypedColumn) -> tuple[list[Slot], ColumnReport]:
        """Return the slots of the column, and the missing values."""
        values = booleans_from(self.name, column)
        missing = np.isnan(values)
        slots: list[Slot] = []
        if self.varies:
            slots.append(NumberSlot(np.where(missing, 0.0, values)))
        if self.missing:
            slots.append(NumberSlot(missing.astype(np.float64)))
        return slots, ColumnReport.of_missing(self.name, missing, self.missing)

    def encode_one(self, value: Any) -> list[tuple[int, float]] | None:
        """Return index and value of the non-zeros of one record.

        None: the value is unusual, and `encode` must handle it.
        """
        if value is None:
            return [(int(self.varies), 1.0)] if self.missing else []
        if type(value) is not bool:
            return None
        return [(0, 1.0)] if value and self.varies else []

    def shown(self, index: int, value: float) -> str | None:
        """Return None: the name of the feature is its raw value."""
        del index, value
        return None
