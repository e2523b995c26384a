"""Reading report: format, columns and types, missing values, skipped lines."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from separable.data.io.lines import SkippedLine

if TYPE_CHECKING:
    from separable.data.io.csv.dialect import Dialect
    from separable.data.io.lines import SkippedLines
    from separable.data.table import ColumnType

__all__ = ["ColumnSource", "ReadingReport"]

#: Skipped lines kept as examples.
EXAMPLES = 5


@dataclass
class ColumnSource:
    """A column that was read.

    Parameters
    ----------
    name : str
    type : {"number", "category", "boolean", "date"}
    why : str
        Reason for the type.
    missing : dict of str to int
        Number of missing values by marker. None stands for null, as in JSON or Parquet.
    """

    name: str
    type: ColumnType
    why: str
    missing: Counter[str | None] = field(default_factory=Counter)

    @property
    def n_missing(self) -> int:
        """Number of missing values."""
        return sum(self.missing.values())


@dataclass
class ReadingReport:
    """Report of a reader. ``str(report)`` is meant for people.

    Parameters
    ----------
    sources : list of str
        Files read so far.
    format : str
        ``"csv"``, ``"jsonl"``, ``"parquet"``, ``"svmlight"``, ``"vw"`` or ``"memory"``.
    compression : str or None
    dialect : Dialect or None
        Dialect of a CSV file.
    sniffed : str
        Extent of the sample that determined the column types.
    rows : int
        Rows read so far.
    columns : list of ColumnSource
    n_features : int or None
        Number of columns of sparse rows, which have no names.
    skipped : int
        Number of lines that could not be read.
    examples : list of SkippedLine
        The first skipped lines.
    rows_without_target : int
        Rows dropped because their target was missing.
    notes : list of str
        Further remarks.
    """

    sources: list[str] = field(default_factory=list)
    format: str = ""
    compression: str | None = None
    dialect: Dialect | None = None
    sniffed: str = ""
    rows: int = 0
    columns: list[ColumnSource] = field(default_factory=list)
    n_features: int | None = None
    skipped: int = 0
    examples: list[SkippedLine] = field(default_factory=list)
    rows_without_target: int = 0
    notes: list[str] = field(default_factory=list)

    @property
    def column_types(self) -> dict[str, ColumnType]:
        """Type of each column, in the form that `read` accepts."""
        return {column.name: column.type for column in self.columns}

    @property
    def missing(self) -> dict[str, dict[str | None, int]]:
        """Number of missing values by column and marker."""
        return {c.name: dict(c.missing) for c in self.columns if c.missing}

    @property
    def n_free_examples(self) -> int:
        """Number of skipped lines that may still be kept as examples."""
        return EXAMPLES - len(self.examples)

    def skip(
        self, source: str, line: int, reason: str, text: str, column: int | None = None
    ) -> None:
        """Count a skipped line, and keep it if it is one of the first."""
        self.skipped += 1
        if len(self.examples) < EXAMPLES:
            self.examples.append(SkippedLine(source, line, reason, text, column))

    def skip_all(self, lines: SkippedLines) -> None:
        """Count the lines that a reader skipped."""
        self.skipped += lines.count
        self.examples += lines.examples[: EXAMPLES - len(self.examples)]

    def found(self, name: str) -> ColumnSource:
        """Return the entry of a column."""
        return next(column for column in self.columns if column.name == name)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON values; a missing value that is not text is ``null``."""
        dialect = None if self.dialect is None else vars(self.dialect)
        columns = [
            {"name": c.name, "type": c.type, "why": c.why, "missing": _markers(c.missing)}
            for c in self.columns
        ]
        examples = [asdict(example) for example in self.examples]
        return vars(self) | {"dialect": dialect, "columns": columns, "examples": examples}

    def __str__(self) -> str:
        lines = [self._title()]
        if self.dialect is not None:
            lines.append(f"  {self.dialect}")
        if self.sniffed:
            lines.append(f"  column types from {self.sniffed}")
        width = max((len(column.name) for column in self.columns), default=0)
        lines += [_column_line(column, width) for column in self.columns]
        if self.rows_without_target:
            lines.append(f"  {_counted(self.rows_without_target, 'row')} without a target left out")
        if self.skipped:
            lines.append(f"  {_counted(self.skipped, 'line')} left out:")
            lines += [f"    {e.where}: {e.reason}" for e in self.examples]
            lines += ["    ..."] * (self.skipped > len(self.examples))
        return "\n".join([*lines, *(f"  Note: {note}" for note in self.notes)])

    def _title(self) -> str:
        if len(self.sources) == 1:
            where = self.sources[0]
        else:
            where = f"{len(self.sources)} files ({', '.join(self.sources[:3])}"
            where += ", ...)" if len(self.sources) > 3 else ")"
        packed = f", {self.compression}" if self.compression else ""
        width = self.n_features or len(self.columns)
        size = f"{_counted(self.rows, 'row')}, {_counted(width, 'column')}"
        return f"{where}: {self.format}{packed}, {size}"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"


def _markers(missing: Counter[str | None]) -> dict[str, int]:
    return {"null" if marker is None else marker: count for marker, count in missing.items()}


def _column_line(column: ColumnSource, width: int) -> str:
    line = f"  {column.name.ljust(width)}  {column.type:<8}  {column.why}"
    if column.missing:
        causes = ", ".join(
            f"{count} {'null' if marker is None else repr(marker) if marker else 'empty'}"
            for marker, count in column.missing.most_common()
        )
        line += f"; {column.n_missing} missing ({causes})"
    return line
