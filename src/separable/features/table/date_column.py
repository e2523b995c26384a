"""Date columns: the day as a number, and the parts of the date that vary.

For a column ``when`` the features are, if they vary in the training data: ``when``, the days since
1970-01-01 with the time of day as a fraction, ``when.year`` and ``when.day`` (of the month), all
three standardized; and one-hot ``when.month=3``, ``when.weekday=Sun`` and ``when.hour=17`` for the
values that occur. One-hot rather than cyclic: each month has its own interpretable weight, and July
need not be opposite to January.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from separable.data.columns import stacked
from separable.data.ingest.dates import dates_from, read_date
from separable.features.encoding_report import ColumnReport
from separable.features.row_assembly import NumberSlot, OneHotSlot, Slot
from separable.features.table.number_column import NumberColumn, NumberState

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.data.ingest.conversions.conversion import Conversion
    from separable.data.ingest.dates import TypedColumn

__all__ = ["CYCLES", "NUMBERS", "DateColumn", "DateState"]

#: Numeric parts; the first is the whole date.
NUMBERS = ("", ".year", ".day")
#: Cyclic parts with their values.
CYCLES: dict[str, tuple[str, ...]] = {
    ".month": tuple(str(month) for month in range(1, 13)),
    ".weekday": ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"),
    ".hour": tuple(str(hour) for hour in range(24)),
}
_DAY = 86_400_000_000  # microseconds


@dataclass(frozen=True, slots=True)
class _Parts:
    """Parts of dates, NaN or -1 for missing dates."""

    numbers: tuple[NDArray[np.float64], ...]
    cycles: tuple[NDArray[np.int32], ...]
    missing: NDArray[np.bool_]

    @classmethod
    def of(cls, dates: NDArray[np.datetime64]) -> _Parts:
        missing = np.isnat(dates)
        filled = np.where(missing, np.datetime64(0, "us"), dates)
        moment = filled.astype(np.int64)
        days, months = filled.astype("datetime64[D]"), filled.astype("datetime64[M]")
        day = days.astype(np.int64)
        numbers = (
            moment / _DAY,
            filled.astype("datetime64[Y]").astype(np.int64) + 1970.0,
            (days - months).astype(np.int64) + 1.0,
        )
        cycles = (
            months.astype(np.int64) % 12,
            (day + 3) % 7,  # 1970-01-01 was a Thursday
            (moment - day * _DAY) // (_DAY // 24),
        )
        return cls(
            tuple(np.where(missing, np.nan, each) for each in numbers),
            tuple(np.where(missing, -1, each).astype(np.int32) for each in cycles),
            missing,
        )


@dataclass(frozen=True, slots=True)
class DateState:
    """Sufficient statistics of a date column; merges exactly.

    Parameters
    ----------
    numbers : tuple of NumberState
    counts : tuple of ndarray of int
        Count of each value of each cycle.
    """

    numbers: tuple[NumberState, ...]
    counts: tuple[NDArray[np.int64], ...]

    @classmethod
    def of(cls, name: str, column: TypedColumn) -> DateState:
        """Fit to values."""
        parts = _Parts.of(dates_from(name, column))
        return cls(
            tuple(NumberState.of_each(stacked(parts.numbers))),
            tuple(
                np.bincount(codes[codes >= 0], minlength=len(values))
                for codes, values in zip(parts.cycles, CYCLES.values(), strict=True)
            ),
        )

    def merge(self, other: DateState) -> DateState:
        """Return the state for the rows of both."""
        return DateState(
            tuple(a.merge(b) for a, b in zip(self.numbers, other.numbers, strict=True)),
            tuple(a + b for a, b in zip(self.counts, other.counts, strict=True)),
        )

    def finish(self, name: str) -> DateColumn | str:
        """Return the fitted column, or the reason to drop it."""
        whole = self.numbers[0]
        if not whole.count:
            return "every value is missing"
        if whole.least == whole.most and not whole.missing:
            day = np.datetime64(round(whole.least * _DAY), "us")
            return f"constant: every value is {str(day).removesuffix('T00:00:00.000000')}"
        pairs = [
            (state.mean, state.deviation if state.least < state.most else 0.0)
            for state in self.numbers
        ]
        values_met = [np.flatnonzero(counts) for counts in self.counts]
        kept = [indices if len(indices) > 1 else indices[:0] for indices in values_met]
        return DateColumn(
            name,
            tuple(mean for mean, _ in pairs),
            tuple(deviation for _, deviation in pairs),
            tuple(tuple(indices.tolist()) for indices in kept),
            whole.missing > 0,
        )


@dataclass(frozen=True, slots=True)
class DateColumn:
    """Encoder of a date column.

    Parameters
    ----------
    name : str
        Raw column.
    means, scales : tuple of float
        Of days, year and day of the month; the scale is 0 if a part does not vary.
    cycles : tuple of tuple of int
        Months, weekdays and hours with their own indicator, counted from 0; empty if the part does
        not vary.
    missing : bool
        Whether training values were missing, which adds an indicator ``name=(missing)``.
    conversion : Conversion or None
        How texts are converted to dates; None: ISO dates only.
    """

    name: str
    means: tuple[float, ...]
    scales: tuple[float, ...]
    cycles: tuple[tuple[int, ...], ...]
    missing: bool
    conversion: Conversion | None = None

    kind: ClassVar[str] = "date"

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Output feature names."""
        names = [self.name + part for part, s in zip(NUMBERS, self.scales, strict=True) if s]
        for (part, values), kept in zip(CYCLES.items(), self.cycles, strict=True):
            names += [f"{self.name}{part}={values[index]}" for index in kept]
        return (*names, *((f"{self.name}=(missing)",) if self.missing else ()))

    @property
    def width(self) -> int:
        """Number of output features."""
        return sum(s > 0 for s in self.scales) + sum(map(len, self.cycles)) + self.missing

    def encode(self, column: TypedColumn) -> tuple[list[Slot], ColumnReport]:
        """Return the slots of the column, and the missing values."""
        parts = _Parts.of(dates_from(self.name, column))
        slots: list[Slot] = []
        for values, number in zip(parts.numbers, self._numbers(), strict=True):
            if number.scale:
                filled = np.where(parts.missing, number.mean, values)
                slots.append(NumberSlot((filled - number.mean) / number.scale))
        for codes, kept, cycle in zip(parts.cycles, self.cycles, CYCLES.values(), strict=True):
            if kept:
                indices = np.full(len(cycle) + 1, -1, np.int32)
                indices[np.array(kept) + 1] = np.arange(len(kept), dtype=np.int32)
                slots.append(OneHotSlot(codes, indices, len(kept)))
        if self.missing:
            slots.append(NumberSlot(parts.missing.astype(np.float64)))
        return slots, ColumnReport.of_missing(self.name, parts.missing, self.missing)

    def encode_one(self, value: Any) -> list[tuple[int, float]] | None:
        """Return index and value of the non-zeros of one record.

        None: the value is unusual, and `encode` must handle it.
        """
        if value is None:
            return [(len(self.feature_names) - 1, 1.0)] if self.missing else []
        moment = None if self.conversion and isinstance(value, str) else read_date(value)
        if moment is None:
            return None
        dates = np.array([moment], dtype=np.int64).view("datetime64[us]")
        parts = _Parts.of(dates)
        out, at = [], 0
        for values, number in zip(parts.numbers, self._numbers(), strict=True):
            if number.scale:
                out.append((at, (float(values[0]) - number.mean) / number.scale))
                at += 1
        for codes, kept in zip(parts.cycles, self.cycles, strict=True):
            if codes[0] in kept:
                out.append((at + kept.index(int(codes[0])), 1.0))
            at += len(kept)
        return out

    def shown(self, index: int, value: float) -> str | None:
        """Return the raw value of an output feature."""
        numbers = [number for number in self._numbers() if number.scale]
        if index >= len(numbers):
            return None
        number = numbers[index]
        raw = value * number.scale + number.mean
        if number.name != self.name:
            return f"{raw:.6g}"
        moment = str(np.datetime64(round(raw * 1440), "m"))
        return moment.replace("T", " ").removesuffix(" 00:00")

    def _numbers(self) -> list[NumberColumn]:
        return [
            NumberColumn(self.name + part, mean, scale, missing=False)
            for part, mean, scale in zip(NUMBERS, self.means, self.scales, strict=True)
        ]
