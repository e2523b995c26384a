"""Findings of `check`, as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, overload

__all__ = ["Finding", "Findings", "Severity", "listed", "quoted"]

Severity = Literal["warning", "note"]

#: Findings of one kind reported individually; the columns of the others are listed together.
MAX_INDIVIDUAL = 4

#: Example rows per finding.
EXAMPLES = 5

MAX_WIDTH = 40


@dataclass(frozen=True)
class Finding:
    """A problem of a table that is worth a look.

    Parameters
    ----------
    kind : str
        Kind of problem: ``"leakage"``, ``"constant"``, ...
    severity : {"warning", "note"}
        A warning means that the model, or its measured error, would be wrong.
    columns : tuple of str
        Columns concerned.
    rows : tuple of int
        First affected rows, counted from 0.
    text : str
        Problem, consequence and remedy. Data rows are counted from 1 in the text.
    options : mapping of str to tuple of str
        Remedy as command-line options: ``{"drop": ("duration",)}``.
    """

    kind: str
    severity: Severity
    columns: tuple[str, ...]
    rows: tuple[int, ...]
    text: str
    options: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as JSON values."""
        return vars(self) | {"options": {name: list(v) for name, v in self.options.items()}}

    def __str__(self) -> str:
        return f"{self.severity}: {self.text}"


class Findings(Sequence[Finding]):
    """Findings of `check`, warnings first.

    Parameters
    ----------
    findings : iterable of Finding
    n_rows : int
        Rows of the table.
    n_sampled : int
        Rows sampled by the expensive checks.
    """

    def __init__(self, findings: Iterable[Finding], n_rows: int, n_sampled: int) -> None:
        order = {"warning": 0, "note": 1}
        self._findings = sorted(
            _merge_repeated(list(findings)), key=lambda each: order[each.severity]
        )
        self.n_rows = n_rows
        self.n_sampled = n_sampled

    @property
    def warnings(self) -> list[Finding]:
        """Problems that make a model, or its measured error, wrong."""
        return [each for each in self if each.severity == "warning"]

    @property
    def notes(self) -> list[Finding]:
        """All other findings."""
        return [each for each in self if each.severity == "note"]

    def of_kind(self, kind: str) -> list[Finding]:
        """Return the findings of one kind."""
        return [each for each in self if each.kind == kind]

    @overload
    def __getitem__(self, index: int) -> Finding: ...

    @overload
    def __getitem__(self, index: slice) -> list[Finding]: ...

    def __getitem__(self, index: int | slice) -> Finding | list[Finding]:
        return self._findings[index]

    def __len__(self) -> int:
        return len(self._findings)

    def to_dict(self) -> dict[str, Any]:
        """Return all findings as JSON values."""
        return {
            "rows": self.n_rows,
            "rows_sampled": self.n_sampled,
            "findings": [each.to_dict() for each in self],
        }

    def __str__(self) -> str:
        return "\n".join(map(str, self)) if self else "nothing found"

    def __repr__(self) -> str:
        return f"Findings({len(self.warnings)} warnings, {len(self.notes)} notes)"


def _merge_repeated(findings: list[Finding]) -> list[Finding]:
    """Return the first findings of each kind, and the others merged into one."""
    merged: list[Finding] = []
    for key in dict.fromkeys((each.severity, each.kind) for each in findings):
        repeated = [each for each in findings if (each.severity, each.kind) == key]
        more = repeated[MAX_INDIVIDUAL:] if len(repeated) > MAX_INDIVIDUAL + 1 else []
        merged += repeated[: len(repeated) - len(more)]
        if more:
            merged.append(_summarize(more))
    return merged


def _summarize(findings: list[Finding]) -> Finding:
    columns = tuple(dict.fromkeys(name for each in findings for name in each.columns))
    options = {
        name: tuple(dict.fromkeys(c for each in findings for c in each.options.get(name, ())))
        for name in dict.fromkeys(name for each in findings for name in each.options)
    }
    text = f"The same in {len(findings)} more places: columns {listed(columns)}."
    first = findings[0]
    return Finding(first.kind, first.severity, columns, first.rows, text, options)


def quoted(value: object) -> str:
    """Return a quoted name or value on one line, shortened if long."""
    text = repr(str(value)[: 2 * MAX_WIDTH])
    return text if len(text) <= MAX_WIDTH else text[: MAX_WIDTH - 4] + "..." + text[-1]


def listed(values: Sequence[object], limit: int = 5) -> str:
    """Return quoted names or values separated by commas, at most ``limit``."""
    first = ", ".join(quoted(value) for value in values[:limit])
    return first + (f" and {len(values) - limit} more" if len(values) > limit else "")
