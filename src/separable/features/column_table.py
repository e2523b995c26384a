"""What the columns of a table were taken for, to look at and to print."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self

__all__ = ["ColumnRow", "ColumnTable"]


@dataclass(frozen=True, slots=True)
class ColumnRow:
    """What one column was taken for.

    Parameters
    ----------
    column : str
    type : str
        ``"number"``, ``"category"``, ``"boolean"``, ``"date"``, ``"text"`` or ``"dropped"``.
    numbers_out : int
        How many numbers come out of it.
    why : str
        What speaks for the type, or why the column is dropped.
    """

    column: str
    type: str
    numbers_out: int
    why: str


@dataclass(frozen=True, repr=False)
class ColumnTable(Sequence[ColumnRow]):
    """One row for each column of a table; it prints as one.

    Parameters
    ----------
    rows : tuple of ColumnRow
    """

    rows: tuple[ColumnRow, ...]

    @classmethod
    def of(
        cls,
        names: Sequence[str],
        encoders: Mapping[str, Any],
        dropped: Mapping[str, str],
        states: Mapping[str, Any],
    ) -> Self:
        """Make the table of fitted columns; one from a file does not know why any more."""
        rows = []
        for name in names:
            if name in dropped:
                rows.append(ColumnRow(name, "dropped", 0, dropped[name]))
                continue
            why = states[name].why if name in states else "fitted before"
            encoder = encoders[name]
            rows.append(ColumnRow(name, encoder.kind, encoder.width, why))
        return cls(tuple(rows))

    @overload
    def __getitem__(self, place: int) -> ColumnRow: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[ColumnRow, ...]: ...
    def __getitem__(self, place: int | slice) -> ColumnRow | tuple[ColumnRow, ...]:
        return self.rows[place]

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        lines = [("column", "type", "numbers out", "why")]
        lines += [(r.column, r.type, str(r.numbers_out), r.why) for r in self.rows]
        wide = [max(len(line[place]) for line in lines) for place in range(3)]
        return "\n".join(
            f"{a.ljust(wide[0])}  {b.ljust(wide[1])}  {c.rjust(wide[2])}  {d}"
            for a, b, c, d in lines
        )
