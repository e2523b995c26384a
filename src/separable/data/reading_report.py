"""Progress of reading, and its report: format, columns and types, missing values, skipped lines."""

from __future__ import annotations

import sys
import time
from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import IO, TYPE_CHECKING, Any

from separable.data.table import file_position

if TYPE_CHECKING:
    from separable.data.io.csv.dialect import Dialect
    from separable.data.table import ColumnType
    from separable.errors import Message

__all__ = [
    "ColumnSource",
    "Progress",
    "ProgressLine",
    "ReadingReport",
    "SkippedLine",
    "SkippedLines",
]

#: Skipped lines kept as examples.
EXAMPLES = 5


@dataclass(frozen=True, slots=True)
class SkippedLine:
    """A line that cannot be read, with the reason.

    Parameters
    ----------
    source : str
        Name of the file.
    line : int
        Line number, from 1.
    reason : str
        Reason and remedy.
    text : str
        Offending text, shortened.
    column : int, optional
        Byte of the line where the problem starts, from 1, if known.
    kind : str, optional
        Machine-readable reason: ``"value_malformed"``.
    """

    source: str
    line: int
    reason: str
    text: str
    column: int | None = None
    kind: str = ""

    @property
    def where(self) -> str:
        """File, line and byte, as ``train.svm:3:7``."""
        return file_position(self.source, self.line, self.column)

    def __str__(self) -> str:
        byte = "" if self.column is None else f", byte {self.column}"
        return f"line {self.line}{byte}: {self.reason}"


@dataclass(frozen=True, slots=True)
class SkippedLines:
    """Lines skipped while reading: their number and the first ten.

    Parameters
    ----------
    count : int
        Total number.
    examples : tuple of SkippedLine
        The first skipped lines, in file order.
    """

    count: int = 0
    examples: tuple[SkippedLine, ...] = ()

    def __bool__(self) -> bool:
        return self.count > 0


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
    notes : list of str or Message
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
    notes: list[Message | str] = field(default_factory=list)

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
        notes = [str(note) for note in self.notes]
        values = {"dialect": dialect, "columns": columns, "examples": examples, "notes": notes}
        return vars(self) | values

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


@dataclass(frozen=True)
class Progress:
    """Progress of a reader.

    Parameters
    ----------
    bytes_read : int
        Bytes read, before decompression.
    bytes_total : int or None
        Total size; None if unknown, as for standard input.
    rows : int
    """

    bytes_read: int
    bytes_total: int | None
    rows: int

    @property
    def share(self) -> float | None:
        """Fraction read, from 0 to 1."""
        return self.bytes_read / self.bytes_total if self.bytes_total else None

    def __str__(self) -> str:
        share = "" if self.share is None else f"{self.share:4.0%}  "
        return f"{share}{self.bytes_read / 1e6:.0f} MB  {self.rows} rows"


class ProgressLine:
    """Progress display on a single line that overwrites itself.

    Parameters
    ----------
    stream : text file, optional
        Standard error by default.
    every : float, default 0.2
        Seconds between updates.

    Examples
    --------
    >>> import sys
    >>> line = ProgressLine(sys.stdout, every=0)
    >>> line(Progress(5_000_000, 10_000_000, 1000))  # doctest: +SKIP
     50%  5 MB  1000 rows
    """

    def __init__(self, stream: IO[str] | None = None, every: float = 0.2) -> None:
        self._stream = stream or sys.stderr
        self._every = every
        self._last = float("-inf")
        self._width = 0

    def __call__(self, progress: Progress) -> None:
        """Update the line, at most every ``every`` seconds."""
        ended = progress.share is not None and progress.share >= 1
        now = time.monotonic()
        if now - self._last < self._every and not ended:
            return
        self._last = now
        text = str(progress)
        self._stream.write("\r" + text.ljust(self._width) + "\n" * ended)
        self._stream.flush()
        self._width = len(text)
