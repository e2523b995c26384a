"""What `check` finds in a table, for people and for programs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, overload

__all__ = ["Finding", "Findings", "Severity", "listed", "quoted"]

Severity = Literal["warning", "note"]

#: So many findings of a kind are told one by one; the columns of the others are named together.
ONE_BY_ONE = 4

#: So many rows are given as examples.
EXAMPLES = 5

WIDEST = 40


@dataclass(frozen=True)
class Finding:
    """Something about a table that is worth a look.

    Parameters
    ----------
    kind : str
        What it is, in one word or two: ``"leakage"``, ``"constant"``, ...
    severity : {"warning", "note"}
        A warning is about what makes a model, or its measured error, wrong.
    columns : tuple of str
        The columns it is about.
    rows : tuple of int
        The first rows that show it, counted from 0.
    text : str
        What was found, what it means and what to do. Data rows are counted from 1 in it.
    options : mapping of str to tuple of str
        What to do as options of the command line: ``{"drop": ("duration",)}``.
    """

    kind: str
    severity: Severity
    columns: tuple[str, ...]
    rows: tuple[int, ...]
    text: str
    options: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return vars(self) | {"options": {name: list(v) for name, v in self.options.items()}}

    def __str__(self) -> str:
        return f"{self.severity}: {self.text}"


class Findings(Sequence[Finding]):
    """What `check` found, warnings first.

    Parameters
    ----------
    findings : iterable of Finding
    n_rows : int
        Rows of the table.
    n_sampled : int
        Rows that the dearer checks looked at.
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
        """Those that make a model, or its measured error, wrong."""
        return [each for each in self if each.severity == "warning"]

    @property
    def notes(self) -> list[Finding]:
        """The others."""
        return [each for each in self if each.severity == "note"]

    def of_kind(self, kind: str) -> list[Finding]:
        """Return those of one kind."""
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
        """Return everything as JSON values."""
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
    """Return the first findings of each kind, and the others of it as one."""
    merged: list[Finding] = []
    for key in dict.fromkeys((each.severity, each.kind) for each in findings):
        repeated = [each for each in findings if (each.severity, each.kind) == key]
        more = repeated[ONE_BY_ONE:] if len(repeated) > ONE_BY_ONE + 1 else []
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
    """Return a name or a value in quotes, on one line and not too long."""
    text = repr(str(value)[: 2 * WIDEST])
    return text if len(text) <= WIDEST else text[: WIDEST - 4] + "..." + text[-1]


def listed(values: Sequence[object], limit: int = 5) -> str:
    """Return names or values in quotes with commas, the first where there are many."""
    first = ", ".join(quoted(value) for value in values[:limit])
    return first + (f" and {len(values) - limit} more" if len(values) > limit else "")
