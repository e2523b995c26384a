"""One column of dates: its day as a number, and the parts of the date that vary.

Of a column ``when`` come, where the training data lets them vary: ``when``, the days since
1970-01-01 with the time of day as a fraction, ``when.year`` and ``when.day`` (of the month), all
three standardised; and one-hot ``when.month=3``, ``when.weekday=Sun`` and ``when.hour=17``, for
those values that occurred. One-hot and not cyclic: each month has a weight of its own that can be
read, and nothing forces July to lie opposite January.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from separable.data.column_blocks import stacked
from separable.data.ingest.dates import dates_from, read_date
from separable.features.encoding_report import ColumnReport
from separable.features.row_assembly import NumberSlot, OneHotSlot, Slot
from separable.features.table.number_column import NumberColumn, NumberState

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.data.ingest.dates import TypedColumn

__all__ = ["CYCLES", "NUMBERS", "DateColumn", "DateState"]

#: The parts that are numbers; the first is the whole date.
NUMBERS = ("", ".year", ".day")
#: The parts that come again, each with its values.
CYCLES: dict[str, tuple[str, ...]] = {
    ".month": tuple(str(month) for month in range(1, 13)),
    ".weekday": ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"),
    ".hour": tuple(str(hour) for hour in range(24)),
}
_DAY = 86_400_000_000  # microseconds


@dataclass(frozen=True, slots=True)
class _Parts:
    """The parts of dates, NaN or -1 where one is missing."""

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
    """What has been learned of a column of dates: merges exactly.

    Parameters
    ----------
    numbers : tuple of NumberState
    counts : tuple of ndarray of int
        How often each value of each cycle occurs.
    """

    numbers: tuple[NumberState, ...]
    counts: tuple[NDArray[np.int64], ...]

    @classmethod
    def of(cls, name: str, column: TypedColumn) -> DateState:
        """Learn from values."""
        parts = _Parts.of(dates_from(name, column))
        return cls(
            tuple(NumberState.of_each(stacked(parts.numbers))),
            tuple(
                np.bincount(codes[codes >= 0], minlength=len(values))
                for codes, values in zip(parts.cycles, CYCLES.values(), strict=True)
            ),
        )

    def merge(self, other: DateState) -> DateState:
        """Return what both have learned, as if from all rows at once."""
        return DateState(
            tuple(a.merge(b) for a, b in zip(self.numbers, other.numbers, strict=True)),
            tuple(a + b for a, b in zip(self.counts, other.counts, strict=True)),
        )

    def finish(self, name: str) -> DateColumn | str:
        """Return the fitted column; or the reason why there is nothing to learn."""
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
    """How one column of dates is encoded.

    Parameters
    ----------
    name : str
        The raw column.
    means, scales : tuple of float
        Of days, year and day of the month; the scale is 0 where a part does not vary.
    cycles : tuple of tuple of int
        The months, weekdays and hours that have a number of their own, each counted from 0; none
        where the part does not vary.
    missing : bool
        Whether training values were missing, which gives an indicator ``name=(missing)``.
    """

    name: str
    means: tuple[float, ...]
    scales: tuple[float, ...]
    cycles: tuple[tuple[int, ...], ...]
    missing: bool

    kind: ClassVar[str] = "date"

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The names of the numbers out."""
        names = [self.name + part for part, s in zip(NUMBERS, self.scales, strict=True) if s]
        for (part, values), kept in zip(CYCLES.items(), self.cycles, strict=True):
            names += [f"{self.name}{part}={values[index]}" for index in kept]
        return (*names, *((f"{self.name}=(missing)",) if self.missing else ()))

    @property
    def width(self) -> int:
        """How many numbers out there are."""
        return sum(s > 0 for s in self.scales) + sum(map(len, self.cycles)) + self.missing

    def encode(self, column: TypedColumn) -> tuple[list[Slot], ColumnReport]:
        """Return the slots of the column's numbers out, and what was missing."""
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
        """Return place and value of each number of one record that is not 0.

        None: the value is unusual, and `encode` is to deal with it.
        """
        if value is None:
            return [(len(self.feature_names) - 1, 1.0)] if self.missing else []
        moment = read_date(value)
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
        """Return the raw value behind a number out."""
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
