"""Boolean columns: 1 for true, with an indicator of missing values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from separable.data.ingest.dates import booleans_from
from separable.features.encoding_report import ColumnReport
from separable.features.row_assembly import NumberSlot, Slot

if TYPE_CHECKING:
    from separable.data.ingest.dates import TypedColumn

__all__ = ["BooleanColumn", "BooleanState"]


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
