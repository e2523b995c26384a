"""One column of numbers: standardised, with an indicator where values may be missing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from separable.data.columns import Categories, Column, Numbers
from separable.data.table import CellError, is_number
from separable.features.encoding_report import EXAMPLES, ColumnReport
from separable.features.slot import Slot

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["NumberColumn", "numbers_of"]


@dataclass(frozen=True, slots=True)
class NumberColumn:
    """How one column of numbers is encoded: (x - mean) / scale, a missing x as the mean.

    Parameters
    ----------
    name : str
        The raw column.
    mean : float
        The mean of the training values.
    scale : float
        Their standard deviation (the root of the mean square); 0 where they are all the same, and
        then only the indicator of missing values is given out.
    missing : bool
        Whether training values were missing, which gives an indicator ``name=(missing)``.
    """

    name: str
    mean: float
    scale: float
    missing: bool

    @classmethod
    def fit(cls, name: str, column: Column, *, scale: bool = True) -> NumberColumn | str:
        """Learn from the training values; or return the reason why there is nothing to learn.

        Without ``scale`` values stay as they are: mean 0, scale 1.
        """
        values = numbers_of(name, column)
        there = values[~np.isnan(values)]
        if not len(there):
            return "every value is missing"
        missing = len(there) < len(values)
        if there.min() == there.max():
            if not missing:
                return f"constant: every value is {there[0]:g}"
            return cls(name, float(there[0]), 0.0, missing=True)
        mean, deviation = mean_and_deviation(there) if scale else (0.0, 1.0)
        return cls(name, mean, deviation, missing)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The names of the numbers out."""
        names = (self.name, f"{self.name}=(missing)")
        return names[0 if self.scale else 1 : 2 if self.missing else 1]

    def encode(self, column: Column) -> tuple[list[Slot], ColumnReport]:
        """Return the slots of the column's numbers out, and what was missing."""
        values = numbers_of(self.name, column)
        missing = np.isnan(values)
        slots = []
        if self.scale:
            slots.append(Slot(0, self._standardise(values, missing)))
        if self.missing:
            slots.append(Slot(len(slots), missing.astype(np.float64)))
        rows = tuple(np.flatnonzero(missing)[:EXAMPLES].tolist())
        count = int(np.count_nonzero(missing))
        return slots, ColumnReport(self.name, count, rows, self.missing)

    def _standardise(
        self, values: NDArray[np.float64], missing: NDArray[np.bool_]
    ) -> NDArray[np.float64]:
        with np.errstate(over="ignore"):
            out = (values - self.mean) / self.scale
        out[missing] = 0.0
        if not np.isfinite(out).all():
            row = int(np.flatnonzero(~np.isfinite(out))[0])
            raise CellError(
                self.name,
                row,
                f"{values[row]:g} is too far from the training values (mean {self.mean:g}, "
                f"standard deviation {self.scale:g}) to compute with. Correct it.",
            )
        return out


def numbers_of(name: str, column: Column) -> NDArray[np.float64]:
    """Return a column as numbers, NaN where missing; refuse text and infinity by row."""
    values = column.values if isinstance(column, Numbers) else _parse(name, column)
    infinite = np.isinf(values)
    if infinite.any():
        raise CellError(
            name,
            int(np.flatnonzero(infinite)[0]),
            "infinity, or a number too large for float64. Correct it, or leave it empty if it is "
            "missing.",
        )
    return values


def _parse(name: str, column: Categories) -> NDArray[np.float64]:
    """Read texts as numbers, level by level."""
    readable = [is_number(level) for level in column.levels]
    bad = np.isin(column.codes, np.flatnonzero(~np.array(readable, dtype=np.bool_)))
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise CellError(
            name,
            row,
            f"{column.levels[column.codes[row]]!r} is not a number. Correct it, leave it empty if "
            "it is missing, or train with the column as a category.",
        )
    by_code = [float(t) if ok else np.nan for t, ok in zip(column.levels, readable, strict=True)]
    return np.array([*by_code, np.nan])[column.codes]  # -1 finds the NaN at the end


def mean_and_deviation(values: NDArray[np.float64]) -> tuple[float, float]:
    """Return the mean and the root mean square around it, safe from overflow and cancellation.

    The values are first divided by a power of two, which is exact; the mean is corrected by the
    mean of what is left around it; squares are taken only of the differences, scaled likewise.
    """
    unit = _power_of_two(values)
    scaled = values / unit
    mean = scaled.mean()
    mean += (scaled - mean).mean()
    rest = scaled - mean
    rest_unit = _power_of_two(rest)
    deviation = np.sqrt(np.mean(np.square(rest / rest_unit))) * rest_unit
    smallest = float(np.nextafter(0.0, 1.0))  # they differ, so their deviation is not 0
    return float(mean * unit), max(float(deviation * unit), smallest)


def _power_of_two(values: NDArray[np.float64]) -> float:
    _, exponent = np.frexp(np.abs(values).max())
    return float(np.ldexp(1.0, max(int(exponent) - 1, -1022)))
